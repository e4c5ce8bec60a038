// What can be done with an answer that is there: ask again, print it, look where its question lies.

import { byId, el, patch } from "./dom.js";
import { currentLanguage, t } from "./i18n.js";
import { thumbs } from "./opinion.js";

const button = (name, text, onclick) => el("button", { type: "button", class: `quiet-button ${name}`, onclick }, text);

let again = () => undefined;
let drawn = "";

/** The row under an answer; `ask` asks its question once more. */
export function showActions({ phase, asked, reply, found }, ask) {
  again = ask;
  const shown = ["answered", "stopped"].includes(phase) ? reply ?? found : null;
  // An answer keeps its row, and what is being written below it, however often the page is drawn.
  const key = shown ? `${currentLanguage()} ${shown.request_id} ${phase}` : "";
  if (key === drawn) return;
  drawn = key;
  byId("opinion")?.remove();
  const nodes = shown ? [
    button("again", t("again"), () => again()),
    button("print", t("print"), () => window.print()),
    el("a", { class: "quiet-button", href: `/map?q=${encodeURIComponent(shown.question)}` }, t("on_map")),
    ...(reply ? thumbs(asked, reply) : []),
  ] : [];
  byId("actions").hidden = nodes.length === 0;
  patch(byId("actions"), nodes);
}
