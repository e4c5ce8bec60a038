// The page of the map: one state, one draw. The server and the page in a file differ only in what `show` is given.

import { byId, el, patch } from "../js/dom.js";
import { t } from "../js/i18n.js";
import { colourOf, groups, layout, traces } from "./figure.js";

const LISTED = 30;
const fold = (text) => text.toLowerCase().replace(/ё/g, "е");
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Show a map. `ask(question)` resolves to the question's place, null where nobody can be asked;
 * `address(id)` is the page of a passage, or null; `place` is that of a question already asked.
 */
export function show(data, { ask = null, address = () => null, place = null } = {}) {
  const view = { deep: false, by: "cluster", chosen: null, title: "", place, detail: null };
  const searched = data.points.map((point) => fold(`${point.topic} ${point.file} ${point.text}`));
  const plot = byId("plot");
  let listening = false;

  const name = (key) => (view.by === "cluster" ? clusterName(data, key) : key === null ? t("other") : key === "/" ? t("root") : key);

  function set(changes) {
    Object.assign(view, changes);
    draw();
  }

  function draw() {
    const colours = getComputedStyle(document.documentElement);
    const [ink, paper] = ["--ink", "--surface"].map((colour) => colours.getPropertyValue(colour).trim());
    byId("empty").hidden = data.points.length > 0;
    for (const button of document.querySelectorAll("[data-deep]")) button.setAttribute("aria-pressed", String((button.dataset.deep === "yes") === view.deep));
    byId("by").value = view.by;
    lists();
    if (!data.points.length || !globalThis.Plotly) return;
    Plotly.react(plot, traces(data, view, ink), layout(data, view, { ink, paper }, (number) => clusterTerms(data, number)), { displayModeBar: false, scrollZoom: true, responsive: true, doubleClick: "reset" });
    if (!listening) plot.on("plotly_click", (event) => pick(event.points[0].customdata));
    listening = true;
  }

  function pick(index) {
    if (!Number.isInteger(index)) return;
    const point = data.points[index];
    const same = data.points.flatMap((other, number) => (point.duplicates !== null && other.duplicates === point.duplicates ? [number] : []));
    set({ detail: index, chosen: new Set([index, ...same]), title: "", place: null });
    byId("detail").scrollIntoView({ block: "nearest", behavior: reducedMotion.matches ? "auto" : "smooth" });
  }

  const choose = (points, title) => set({ chosen: new Set(points), title, detail: null, place: null });

  function lists() {
    patch(byId("detail"), view.detail === null ? [] : detail(data.points[view.detail]));
    patch(byId("found"), view.place ? placed() : view.title ? matched() : []);
    byId("clear").hidden = view.chosen === null && view.place === null;
    patch(byId("groups"), groups(data, view.by).map((group) => row(name(group.key), group.points, colourOf(group.number))));
    fill("doubled", copies(data).map((points) => row(data.points[points[0]].topic || data.points[points[0]].file, points)));
    fill("alone", data.points.flatMap((point, index) => (point.alone ? [passage(point, index)] : [])));
  }

  function fill(id, rows) {
    byId(`${id}-count`).textContent = rows.length;
    patch(byId(id), rows.length ? rows : [el("li", { class: "quiet" }, t("none"))]);
  }

  function row(words, points, colour) {
    const dot = colour && el("span", { class: "dot", "aria-hidden": "true" });
    if (dot) dot.style.backgroundColor = colour;
    const button = el("button", { type: "button", class: "row", "data-points": `${points[0]}+${points.length}`, onclick: () => choose(points, words) }, dot, el("span", { class: "words" }, words), el("span", { class: "count" }, points.length));
    return el("li", {}, button);
  }

  function passage(point, index) {
    return el("li", {}, el("button", { type: "button", class: "row", "data-points": index, onclick: () => pick(index) }, el("span", { class: "words" }, point.topic || point.file, el("span", { class: "quiet" }, ` ${point.file}`))));
  }

  function detail(point) {
    const link = address(point.id);
    return [
      el("h2", {}, point.topic || point.file),
      el("p", { class: "quiet" }, `${point.file} · ${clusterName(data, point.cluster)}`),
      el("blockquote", {}, point.text),
      point.duplicates !== null && el("p", {}, t("is_doubled")),
      point.alone && el("p", {}, t("is_alone")),
      link && el("p", {}, el("a", { href: link, target: "_blank", rel: "noopener" }, t("open_passage"))),
    ].filter(Boolean);
  }

  function matched() {
    const found = [...view.chosen];
    return [el("h2", { tabindex: "-1" }, `${view.title}: ${t("passages", { count: found.length })}`), el("ul", {}, ...found.slice(0, LISTED).map((index) => passage(data.points[index], index)), found.length > LISTED && el("li", { class: "quiet" }, t("more", { count: found.length - LISTED })))];
  }

  function placed() {
    const at = new Map(data.points.map((point, index) => [point.id, index]));
    const known = view.place.nearest.filter((source) => at.has(source.chunk_id));
    return [el("h2", {}, t("nearest", { question: view.place.question })), known.length ? el("ul", {}, ...known.map((source) => passage(data.points[at.get(source.chunk_id)], at.get(source.chunk_id)))) : el("p", {}, t("no_place"))];
  }

  function find(text) {
    const words = fold(text).split(/\s+/).filter(Boolean);
    if (!words.length) return set({ chosen: null, title: "", place: null, detail: null });
    choose(searched.flatMap((whole, index) => (words.every((word) => whole.includes(word)) ? [index] : [])), `«${text.trim()}»`);
  }

  async function locate(question) {
    byId("status").textContent = t("locating");
    try {
      const answered = await ask(question);
      byId("status").textContent = "";
      if (byId("words").value.trim() === question) set({ place: answered, chosen: null, title: "", detail: null });
    } catch (error) {
      byId("status").textContent = [error.message, error.hint].filter(Boolean).join(" ");
    }
  }

  byId("words").addEventListener("input", () => find(byId("words").value));
  byId("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = byId("words").value.trim();
    if (ask && question) locate(question);
  });
  byId("locate").hidden = ask === null;
  byId("by").addEventListener("change", () => set({ by: byId("by").value }));
  for (const button of document.querySelectorAll("[data-deep]")) button.addEventListener("click", () => set({ deep: button.dataset.deep === "yes" }));
  byId("clear").addEventListener("click", () => { byId("words").value = ""; find(""); byId("words").focus(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
  const asked = ask && new URLSearchParams(location.search).get("q")?.trim();
  if (asked) {
    byId("words").value = asked;
    locate(asked);
  }
  return draw;
}

/** Groups of near-duplicates: lists of point numbers. */
function copies(data) {
  const found = new Map();
  data.points.forEach((point, index) => {
    if (point.duplicates !== null) found.set(point.duplicates, [...(found.get(point.duplicates) ?? []), index]);
  });
  return [...found.values()];
}

function clusterName(data, number) {
  if (number === null) return t("between");
  return clusterTerms(data, number).join(", ");
}

function clusterTerms(data, number) {
  const { terms } = data.clusters[number];
  return terms.length ? terms : [t("unnamed", { number: number + 1 })];
}
