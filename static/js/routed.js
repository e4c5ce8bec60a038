// An answer over tables: which way it went, the result, the statement; or what a person has to decide first.

import { chartOf } from "./chart.js";
import { byId, el, patch } from "./dom.js";
import { currentLanguage, duration, has, t } from "./i18n.js";
import { standsAlone } from "./reply.js";
import { resultTable, shownValue } from "./result-table.js";

let drawn = "";

/** Show what a reply says of its route; `act` = {ask(text, route), confirm(id, sql), decline()}. */
export function showRouted(reply, act) {
  const key = reply?.route ? `${currentLanguage()} ${reply.request_id}` : "";
  if (key === drawn) return; // a statement that is being edited stays
  drawn = key;
  byId("routed").hidden = !key;
  patch(byId("routed"), key ? parts(reply, act) : []);
}

function parts(reply, act) {
  return [
    el("header", {}, el("h3", { class: "label voice-name" }, t("route_heading"), el("span", { class: "badge" }, t(`route_${reply.route}`)))),
    standsAlone(reply) && el("p", { class: "said" }, reply.answer),
    reply.clarify && options(reply.clarify, act),
    reply.confirm && decision(reply, act),
    ...(reply.table ? result(reply) : []),
    reply.sql && !reply.confirm && el("details", { class: "statement" }, el("summary", {}, t("statement")), el("pre", { tabindex: 0 }, reply.sql)),
    reply.steps?.length && steps(reply.steps),
  ].filter(Boolean);
}

function options(clarify, act) {
  return el("div", { class: "actions", role: "group", "aria-label": clarify.question },
    ...clarify.options.map((option) => el("button", { type: "button", class: "quiet-button", onclick: () => act.ask(option.question, option.route) }, option.label)));
}

function decision({ confirm, sql }, act) {
  const box = el("textarea", { id: "statement", rows: Math.min(12, sql.split("\n").length + 2), spellcheck: "false", "aria-describedby": "statement-note" });
  box.value = sql;
  const row = el("div", { class: "actions" });
  const able = (on) => row.querySelectorAll("button").forEach((button) => { button.disabled = !on; });
  const done = async (then) => { able(false); await then(); able(true); };
  row.append(
    el("button", { type: "button", class: "go", id: "confirm", onclick: () => done(() => act.confirm(confirm.id, box.value)) }, t("statement_run")),
    el("button", { type: "button", class: "quiet-button", id: "decline", onclick: () => done(act.decline) }, t("statement_drop")));
  return el("div", { class: "decision" },
    el("label", { class: "label", for: "statement" }, t("statement")), box,
    el("p", { class: "quiet", id: "statement-note" }, t("statement_note", { count: Math.max(1, Math.round(confirm.expires_s / 60)) })), row);
}

function result(reply) {
  const { table, chart } = reply;
  const caption = t("result_caption", { count: table.rows.length });
  return [
    ...resultTable(table, caption),
    chart && chartOf(chart, table, shownValue),
    table.csv && el("p", {}, el("a", { class: "quiet-button", id: "csv", href: new URL(table.csv, location.href).pathname, download: "" }, t("csv"))),
  ];
}

function steps(found) {
  const sum = (field) => found.reduce((total, step) => total + (step[field] ?? 0), 0);
  const row = (step) => el("tr", {},
    el("th", { scope: "row" }, has(`step_${step.name}`) ? t(`step_${step.name}`) : step.name),
    el("td", { class: "number-cell" }, duration(step.seconds * 1000)),
    el("td", { class: "number-cell" }, step.tokens_in || step.tokens_out ? t("tokens_both", { in: step.tokens_in, out: step.tokens_out }) : ""),
    el("td", {}, step.detail ?? ""));
  return el("details", { class: "steps" },
    el("summary", {}, t("steps_summary", { time: duration(sum("seconds") * 1000), in: sum("tokens_in"), out: sum("tokens_out") })),
    el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": t("steps") },
      el("table", {}, el("caption", { class: "unseen" }, t("steps")), el("tbody", {}, ...found.map(row)))));
}
