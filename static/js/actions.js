// What can be done with an answer that is there: ask again, print it, look where its question lies.

import { byId, el, patch } from "./dom.js";
import { t } from "./i18n.js";

const button = (name, text, onclick) => el("button", { type: "button", class: `quiet-button ${name}`, onclick }, text);

let again = () => undefined;

/** The row under an answer; `ask` asks its question once more. */
export function showActions({ phase, reply, found }, ask) {
  again = ask;
  const shown = ["answered", "stopped"].includes(phase) ? reply ?? found : null;
  const nodes = shown ? [
    button("again", t("again"), () => again()),
    button("print", t("print"), () => window.print()),
    el("a", { class: "quiet-button", href: `/map?q=${encodeURIComponent(shown.question)}` }, t("on_map")),
  ] : [];
  byId("actions").hidden = nodes.length === 0;
  patch(byId("actions"), nodes);
}
