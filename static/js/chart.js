// A picture of a result: bars for groups, a line over time. The table above it says the same in numbers.

import { el } from "./dom.js";
import { t } from "./i18n.js";

const MOST_BARS = 24;
const SVG = "http://www.w3.org/2000/svg";

const numberOf = (value) => (typeof value === "number" ? value : Number.NaN);

/** The figure for `chart` = {kind, x, y} over `table`, or null where its columns hold no numbers. */
export function chartOf(chart, table, format) {
  const x = table.columns.indexOf(chart.x);
  const y = table.columns.indexOf(chart.y);
  const points = table.rows.map((row) => ({ label: format(row[x], table.kinds[x]), value: numberOf(row[y]), shown: format(row[y], table.kinds[y]) }))
    .filter((point) => Number.isFinite(point.value));
  if (x < 0 || y < 0 || points.length < 2) return null;
  const title = t("chart_title", { y: chart.y, x: chart.x });
  return el("figure", { class: "chart" }, el("figcaption", { class: "label" }, title),
    chart.kind === "line" ? line(points, title) : bars(points.slice(0, MOST_BARS)));
}

function bars(points) {
  const low = Math.min(0, ...points.map((point) => point.value));
  const span = Math.max(0, ...points.map((point) => point.value)) - low || 1;
  return el("ul", { class: "chart-bars", "aria-hidden": "true" }, ...points.map(({ label, value, shown }) => {
    const bar = el("span", { class: value < 0 ? "bar below" : "bar" });
    bar.style.width = `${(100 * Math.abs(value)) / span}%`;
    bar.style.marginLeft = `${(100 * (Math.min(value, 0) - low)) / span}%`;
    return el("li", {}, el("span", { class: "bar-name" }, label), el("span", { class: "bar-room" }, bar), el("span", { class: "bar-value" }, shown));
  }));
}

function line(points, title) {
  const values = points.map((point) => point.value);
  const low = Math.min(0, ...values);
  const span = Math.max(...values) - low || 1;
  const place = (value, i) => `${(100 * i) / (points.length - 1)},${(40 * (1 - (value - low) / span)).toFixed(2)}`;
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of [["viewBox", "-1 -1 102 42"], ["preserveAspectRatio", "none"], ["role", "img"], ["aria-label", title]]) svg.setAttribute(name, value);
  const path = document.createElementNS(SVG, "polyline");
  path.setAttribute("points", values.map(place).join(" "));
  path.setAttribute("vector-effect", "non-scaling-stroke");
  svg.append(path);
  const highest = points.reduce((best, point) => (point.value > best.value ? point : best));
  return el("div", { class: "chart-line" }, svg,
    el("p", { class: "quiet chart-ends" }, el("span", {}, points[0].label), el("span", {}, t("chart_highest", { label: highest.label, value: highest.shown })), el("span", {}, points.at(-1).label)));
}
