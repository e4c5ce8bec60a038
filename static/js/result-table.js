// A result of a statement: rows as they are, numbers and dates as the reader's language writes them.

import { el } from "./dom.js";
import { currentLanguage, t } from "./i18n.js";

const FIRST = 30;

/** A value of a column of this kind, as text. */
export function shownValue(value, kind) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (typeof value === "number" && kind !== "id") return new Intl.NumberFormat(currentLanguage(), { maximumFractionDigits: 2 }).format(value);
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value);
  if (day) return new Intl.DateTimeFormat(currentLanguage(), { timeZone: "UTC" }).format(new Date(`${value}T00:00:00Z`));
  return String(value);
}

export function resultTable(table, caption) {
  const numeric = table.columns.map((_, i) => table.kinds[i] === "number");
  const cells = (row) => el("tr", {}, ...row.map((value, i) => el("td", { class: numeric[i] ? "number-cell" : null }, shownValue(value, table.kinds[i]))));
  const body = el("tbody", {}, ...table.rows.slice(0, FIRST).map(cells));
  const node = el("table", {},
    el("caption", { class: "unseen" }, caption),
    el("thead", {}, el("tr", {}, ...table.columns.map((name, i) => el("th", { scope: "col", class: numeric[i] ? "number-cell" : null }, name)))),
    body);
  const rest = table.rows.length - FIRST;
  const more = rest > 0 && el("button", { type: "button", class: "quiet-button", onclick: (event) => {
    body.append(...table.rows.slice(FIRST).map(cells));
    event.currentTarget.remove();
  } }, t("rows_more", { count: rest }));
  return [el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption }, node), more,
    table.truncated && el("p", { class: "quiet" }, t("rows_cut", { count: table.rows.length }))].filter(Boolean);
}
