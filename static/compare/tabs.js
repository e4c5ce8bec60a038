// Tabs as the ARIA pattern has them: one of them is in the order of the keyboard, arrows go to the others.

import { byId } from "../js/dom.js";

const tabs = [...document.querySelectorAll("[role=tab]")];

function choose(tab, then, focus = true) {
  for (const one of tabs) {
    const chosen = one === tab;
    one.setAttribute("aria-selected", String(chosen));
    one.tabIndex = chosen ? 0 : -1;
    byId(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (focus) tab.focus();
  then(tab.id.replace("tab-", ""));
}

/** `then` is told the name of the tab that was chosen; the one named in the address is chosen at once. */
export function listenToTabs(then) {
  const step = { ArrowRight: 1, ArrowLeft: -1 };
  for (const [place, tab] of tabs.entries()) {
    tab.addEventListener("click", () => choose(tab, then));
    tab.addEventListener("keydown", ({ key }) => {
      if (key in step) choose(tabs[(place + step[key] + tabs.length) % tabs.length], then);
      else if (key === "Home") choose(tabs[0], then);
      else if (key === "End") choose(tabs.at(-1), then);
    });
  }
  const named = tabs.find((tab) => tab.id === `tab-${location.hash.slice(1)}`);
  if (named) choose(named, then, false);
}
