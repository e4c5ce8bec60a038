// The parts of the debug drawer as nodes.

import { el } from "./dom.js";
import { decimal, duration, has, t } from "./i18n.js";

const named = (prefix, name) => (has(`${prefix}_${name}`) ? t(`${prefix}_${name}`) : name);
const LEVELS = 5;

function part(title, ...nodes) {
  return el("section", { class: "part" }, el("h3", { class: "label" }, title), ...nodes);
}

/** A wide table or text that may be moved sideways, with the keyboard too. */
const wide = (label, ...nodes) => el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, ...nodes);

/** Times of the stages as bars; what is a moment and no stretch (the first word) has none. */
export function times(values) {
  const { total, first_token: first, ...stages } = values;
  const longest = Math.max(...Object.values(stages), 0.001);
  const rows = Object.entries(stages).map(([name, ms]) => {
    const bar = el("span", { class: "bar", "aria-hidden": "true" });
    bar.style.inlineSize = `${(100 * ms) / longest}%`;
    return el("tr", {}, el("th", { scope: "row" }, named("time", name)), el("td", { class: "number-cell" }, duration(ms)), el("td", { class: "bar-cell" }, bar));
  });
  const moments = [first !== undefined && `${t("time_first_token")} ${duration(first)}`, total !== undefined && t("time_total", { time: duration(total) })];
  return part(t("debug_times"), el("table", { class: "times" }, el("caption", { class: "unseen" }, t("debug_times")), el("tbody", {}, ...rows)), el("p", { class: "quiet" }, moments.filter(Boolean).join(" · ")));
}

export function speeds(found, { pieces, reply }) {
  const said = [t(found.refused ? "debug_refused" : "debug_relevant", { value: decimal(found.relevance) })];
  if (found.read_tokens_per_s) said.push(t("debug_reads", { value: decimal(found.read_tokens_per_s) }));
  if (found.write_tokens_per_s) said.push(t("debug_writes", { value: decimal(found.write_tokens_per_s) }));
  const { total = 0, check = 0, first_token: first = 0 } = reply?.timings_ms ?? {};
  const took = total - check - first; // from the first word to the last
  if (pieces > 1 && took > 0) said.push(t("debug_this", { value: decimal((1000 * pieces) / took) }));
  const terms = found.terms.map((term) => el("li", {}, el("code", { class: "flag" }, term.text), ` ${decimal(term.weight)}`, term.found_as.length === 1 && term.found_as[0] === term.text ? "" : ` → ${term.found_as.join(", ") || t("debug_no_term")}`));
  return part(t("debug_understood"), el("p", { class: "quiet" }, said.join(" · ")), el("ul", { class: "terms" }, ...terms));
}

export function candidatesTable(found, chosen, choose) {
  const names = [...new Set(found.candidates.flatMap((one) => one.stages.map((stage) => stage.name)))];
  const head = ["№", t("debug_passage"), ...names.map((name) => named("stage", name))];
  const row = (one) => el("tr", { class: one.shown ? "shown" : "", "aria-current": one.chunk_id === chosen ? "true" : null },
    el("td", { class: "number-cell" }, one.rank),
    el("th", { scope: "row" }, el("button", { type: "button", class: "more", "aria-pressed": String(one.chunk_id === chosen), onclick: () => choose(one.chunk_id) }, one.title), el("span", { class: "quiet" }, one.file)),
    ...names.map((name) => {
      const stage = one.stages.find((other) => other.name === name);
      return el("td", { class: "number-cell" }, stage ? decimal(stage.score) : "–", stage && el("span", { class: "quiet" }, ` ${t("rank", { rank: stage.rank })}`));
    }));
  const table = el("table", { class: "candidates" }, el("caption", { class: "unseen" }, t("debug_candidates")),
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, ...found.candidates.map(row)));
  return part(t("debug_candidates"), found.candidates.length ? wide(t("debug_candidates"), table) : el("p", { class: "quiet" }, t("found_none")));
}

/** Which word of the passage each word of the question met; the passage shaded by how well it was met. */
export function matches(words) {
  const low = Math.min(...words.words.map((word) => word.strength), 1);
  const high = Math.max(...words.words.map((word) => word.strength), low + 0.001);
  const points = Array.from(words.text);
  const cut = (start, end) => points.slice(start, end).join("");
  const nodes = [];
  let from = 0;
  for (const { start, end, strength } of words.words) {
    const level = Math.round(((strength - low) / (high - low)) * (LEVELS - 1));
    nodes.push(cut(from, start), el("span", { class: `heat heat-${level}`, "data-start": start, title: decimal(strength) }, cut(start, end)));
    from = end;
  }
  const passage = el("blockquote", { class: "quote heated" }, ...nodes, cut(from));
  const light = (start, on) => passage.querySelector(`[data-start="${start}"]`)?.classList.toggle("met", on);
  const list = el("ul", { class: "terms" }, ...words.matches.map((match) => {
    const item = el("li", { tabindex: 0 }, el("strong", {}, match.word), ` → ${match.found ?? t("debug_topic", { topic: words.topic })} `, el("span", { class: "quiet" }, decimal(match.cosine)));
    for (const [name, on] of [["pointerenter", true], ["focus", true], ["pointerleave", false], ["blur", false]]) item.addEventListener(name, () => light(match.found_start, on));
    return item;
  }));
  return part(t("debug_words"), list, passage);
}

export function prompt(found) {
  const turns = found.prompt.flatMap(({ role, content }) => [el("h4", {}, t(`role_${role}`)), el("p", { class: "said" }, content)]);
  const title = found.prompt.length ? t("debug_prompt", { count: found.prompt_tokens }) : t("debug_no_prompt");
  return found.prompt.length ? el("details", { class: "part prompt" }, el("summary", {}, title), ...turns) : el("p", { class: "quiet" }, title);
}
