// The list of past questions: loaded when it is first opened.

import { byId, el, patch } from "./dom.js";
import { currentLanguage, t } from "./i18n.js";
import { forget, forgetAll, past } from "./past.js";

const fold = (text) => text.toLowerCase().replaceAll("ё", "е");
let askAgain = () => undefined;

function row(one) {
  const when = new Intl.DateTimeFormat(currentLanguage(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(one.at));
  const about = [when, t(`past_${one.outcome}`), one.verdict && t(`verdict_${one.verdict}`)].filter(Boolean).join(" · ");
  return el("li", {},
    el("button", { type: "button", class: "past", onclick: () => { byId("history").close(); askAgain(one.question); } }, one.question),
    el("span", { class: "quiet" }, about),
    el("button", { type: "button", class: "quiet-button", "aria-label": t("forget_one", { question: one.question }), onclick: () => { forget(one.question); draw(); byId("history-find").focus(); } }, t("forget")));
}

function draw() {
  const wanted = fold(byId("history-find").value.trim());
  const found = past().filter((one) => fold(one.question).includes(wanted));
  patch(byId("history-list"), found.length ? found.map(row) : [el("li", { class: "quiet" }, t("history_empty"))]);
  byId("history-clear").hidden = past().length === 0;
}

byId("history-find").addEventListener("input", draw);
byId("history-clear").addEventListener("click", () => { forgetAll(); draw(); });
byId("history-close").addEventListener("click", () => byId("history").close());

/** Open the list; `ask(question)` asks one of them again. */
export function openHistory(ask) {
  askAgain = ask;
  byId("history-find").value = "";
  draw();
  byId("history").showModal();
}
