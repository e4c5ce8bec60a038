// Averages over sets of questions: a picture of one measure over time, and the last comparison in numbers.

import { read } from "../js/api.js";
import { byId, el, patch } from "../js/dom.js";
import { currentLanguage, decimal, t } from "../js/i18n.js";

const SURE = 0.05;
const SHOWN = ["hit@1", "hit@3", "mrr", "recall", "refused_wrongly", "refused_rightly", "tokens", "ms"];
const WHOLE_NUMBERS = ["tokens", "ms"];
let known = null;

function offer(select, options) {
  const chosen = select.value;
  select.replaceChildren(...options.map(([value, title]) => el("option", { value }, title)));
  if (options.some(([value]) => value === chosen)) select.value = chosen;
}

/** The picture that the server draws, as nodes: its classes take the colours of the page. */
async function picture(set, measure) {
  const address = `/compare/plot.svg?${new URLSearchParams({ set, measure })}`;
  const response = await fetch(address, { headers: { "Accept-Language": currentLanguage() }, credentials: "same-origin" });
  const drawn = new DOMParser().parseFromString(await response.text(), "image/svg+xml").documentElement;
  return response.ok && drawn.localName === "svg" ? document.importNode(drawn, true) : null;
}

const share = (value) => new Intl.NumberFormat(currentLanguage(), { minimumFractionDigits: 3, maximumFractionDigits: 3 }).format(value);

function figure(entry, name) {
  const found = entry.figures.find(({ measure }) => measure === name);
  if (!found) return "—";
  const said = (value) => (WHOLE_NUMBERS.includes(name) ? decimal(Math.round(value * 10) / 10) : share(value));
  if (WHOLE_NUMBERS.includes(name)) return said(found.value);
  const mark = found.p !== null && found.p < SURE ? " !" : "";
  return el("span", {}, `${said(found.value)}${mark}`, el("span", { class: "note" }, `[${said(found.low)}\u2026${said(found.high)}]`));
}

function lastTable(entries, measures) {
  const titles = new Map(measures.map(({ name, title }) => [name, title]));
  return el(
    "table", { class: "grid" },
    el("caption", { class: "unseen" }, t("last")),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("column_way")), ...SHOWN.map((name) => el("th", { scope: "col", title: titles.get(name) }, titles.get(name)?.match(/\(([^)]+)\)$/)?.[1] ?? titles.get(name))))),
    el("tbody", {}, ...entries.map((entry) => el(
      "tr", { class: entry.default ? "usual" : undefined },
      el("th", { scope: "row" }, `${entry.strategy} + ${entry.reranker} `, entry.default && el("span", { class: "badge" }, t("default"))),
      ...SHOWN.map((name) => el("td", { "data-name": titles.get(name) }, figure(entry, name))),
    ))),
  );
}

export async function drawHistory() {
  known = await read("/compare/history");
  byId("no-history").hidden = known.entries.length > 0;
  byId("history").hidden = known.entries.length === 0;
  if (!known.entries.length) return;
  offer(byId("set"), known.sets.map((name) => [name, name]));
  const before = byId("measure").value;
  offer(byId("measure"), known.measures.map(({ name, title }) => [name, title]));
  if (!before) byId("measure").value = "mrr";
  await drawSet();
}

const moment = (when) => new Intl.DateTimeFormat(currentLanguage(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(when));

/** What the runs differ in, one from the one before: index and settings. */
function runRows(entries) {
  const runs = [...new Map(entries.map((entry) => [entry.when, entry])).values()];
  return runs.map((run, place) => {
    const before = runs[place - 1];
    const settings = Object.keys({ ...before?.settings, ...run.settings }).filter((key) => before && before.settings[key] !== run.settings[key]);
    const said = settings.map((key) => `${key} ${before.settings[key] ?? "—"} → ${run.settings[key] ?? "—"}`);
    if (before && before.kb_version !== run.kb_version) said.push(t("run_kb", { kb: run.kb_version }));
    const words = !before ? t("run_first") : said.join(", ") || t("run_same");
    return el("li", {}, el("time", { datetime: run.when }, moment(run.when)), " ", words);
  });
}

async function drawSet() {
  const set = byId("set").value;
  const entries = known.entries.filter((entry) => entry.questions === set);
  const newest = entries.at(-1);
  const last = entries.filter(({ when }) => when === newest.when);
  const drawn = await picture(set, byId("measure").value);
  byId("plot").replaceChildren(...(drawn ? [drawn] : []));
  patch(byId("runs"), runRows(entries));
  byId("last-about").textContent = t("last_about", { when: moment(newest.when), count: newest.count, kb: newest.kb_version });
  patch(byId("last"), [lastTable(last, known.measures)]);
}

export function listenToHistory(guarded) {
  for (const name of ["set", "measure"]) byId(name).addEventListener("change", () => guarded(drawSet));
}
