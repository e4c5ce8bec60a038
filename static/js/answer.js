// The answer panel: the documents' own words, the model's words, what to know about them, and how long it took.

import { copyText } from "./clipboard.js";
import { byId, el, patch } from "./dom.js";
import { duration, has, t } from "./i18n.js";
import { standsAlone } from "./reply.js";
import { answerNodes, markedTexts } from "./words.js";

// What the server calls the model of an answer that no model wrote.
const NO_MODEL = "extractive";

let current = null; // the reply that the copy button takes

const TIPS = ["tip_words", "tip_short", "tip_keyword", "tip_base"];

function voice(kind, name, badges, actions) {
  const box = el("div", { class: `voice ${kind}` },
    el("header", {}, el("h3", { class: "label voice-name" }, name, ...badges), ...actions),
    el("div", { class: "words" }));
  return box;
}

function copyButton() {
  return el("button", { type: "button", class: "quiet-button copy", onclick: (event) => copyText(current, event.currentTarget) }, t("copy"));
}

const badge = (text, warning = false) => el("span", { class: warning ? "badge warning" : "badge" }, text);

const BADGES = {
  partial: () => [badge(t("badge_partial"), true)],
  generated: () => [badge(t("badge_generated"))],
  stopped: () => [badge(t("badge_stopped"), true)],
};

/** Show {found, draft, reply}; what `found` says is always in the documents' words. See app.js for the phases. */
export function showAnswer({ phase, found, draft, reply, useRag }) {
  const visible = ["asking", "answered", "stopped", "failed"].includes(phase) && (found || reply || phase === "asking");
  byId("answer").hidden = !visible;
  if (!visible) return;
  current = reply;
  const last = reply ?? found;
  const routed = standsAlone(reply);
  const refused = last?.outcome === "not_found" && !routed;
  const quoted = reply && (reply.model === NO_MODEL || reply.outcome === "sources");
  const quotes = quoted ? reply : found;
  const panels = [];
  if (routed) return showPanels(panels, last, refused, reply);
  if (quotes?.answer && !refused) panels.push(documentsVoice(quotes, quoted));
  const modelWords = reply && !quoted && !refused ? reply : null;
  if (useRag && !refused && (modelWords || phase === "asking" || (draft && !reply))) panels.push(modelVoice(phase, draft, modelWords, last));
  showPanels(panels, last, refused, reply);
}

function showPanels(panels, last, refused, reply) {
  keepPanels(panels);
  patch(byId("notices"), notices(last, refused));
  patch(byId("timings"), reply ? timings(reply.timings_ms) : []);
}

function documentsVoice(reply, final) {
  const box = voice("documents", t("voice_documents"), [], final ? [copyButton()] : []);
  box.lastChild.append(...answerNodes(reply.answer, reply.sources));
  return box;
}

function modelVoice(phase, draft, reply, last) {
  const outcome = phase === "stopped" ? "stopped" : reply?.outcome;
  const box = voice("model", t("voice_model"), BADGES[outcome]?.() ?? [], reply ? [copyButton()] : []);
  if (phase === "asking" && draft) box.classList.add("writing");
  const text = reply ? reply.answer : draft;
  const nodes = text ? answerNodes(text, last?.sources ?? [], reply?.marks ?? []) : [el("p", { class: "waiting" }, t("waiting"))];
  if (reply?.outcome === "partial") nodes.push(partial(reply));
  box.lastChild.append(...nodes);
  return box;
}

// A panel that stays keeps its nodes, so that text already read is not built anew with every word.
function keepPanels(panels) {
  const parent = byId("voices");
  parent.hidden = panels.length === 0;
  parent.classList.toggle("both", panels.length > 1);
  const same = panels.length === parent.children.length && panels.every((panel, i) => {
    const old = parent.children[i];
    return old.firstChild.isEqualNode(panel.firstChild) && old.classList[1] === panel.classList[1];
  });
  if (!same) return parent.replaceChildren(...panels);
  panels.forEach((panel, i) => {
    parent.children[i].className = panel.className;
    patch(parent.children[i].lastChild, [...panel.lastChild.childNodes]);
  });
}

function notices(last, refused) {
  const found = [];
  if (refused) found.push(notFound(last));
  for (const note of last?.notes ?? []) found.push(el("div", { class: "notice" }, el("p", {}, note)));
  return found;
}

function notFound(reply) {
  const tips = TIPS.map((key) => el("li", {}, t(key)));
  return el("div", { class: "notice" },
    el("h3", {}, t("not_found")), reply.answer && el("p", {}, reply.answer),
    el("p", {}, t(reply.sources.length ? "not_found_try" : "not_found_try_none")), el("ul", {}, ...tips));
}

function partial(reply) {
  const marked = markedTexts(reply.answer, reply.marks ?? []);
  if (!marked.length) return el("div", { class: "notice warning" }, el("h3", {}, t("cut_short")), el("p", {}, t("cut_short_hint")));
  const items = marked.map(({ text, reason }) => el("li", {}, `${t("quoted", { text: text.trim() })}: ${t(`mark_${reason}`)}`));
  return el("div", { class: "notice warning" }, el("h3", {}, t("partial")), el("ul", {}, ...items), el("p", { class: "small" }, t("partial_hint")));
}

function timings(values = {}) {
  const { total, total_ms: totalMs, ...stages } = values;
  const named = Object.entries(stages).map(([name, ms]) =>
    el("span", {}, `${has(`time_${name}`) ? t(`time_${name}`) : name} ${duration(ms)}`));
  const whole = total ?? totalMs;
  return whole === undefined ? named : [el("strong", {}, t("time_total", { time: duration(whole) })), ...named];
}
