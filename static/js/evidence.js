// The sources: cards with number, title, place, quote, and the way into the document.

import { byId, el, originalAddress, patch, sourceAddress } from "./dom.js";
import { highlighted } from "./highlight.js";
import { decimal, has, t } from "./i18n.js";

let shown = "";
let cameFrom = null;

function outward(address) {
  return el("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, t("original"), el("span", { class: "unseen" }, ` (${t("new_tab")})`));
}

function place(source, more) {
  const page = source.page === null || source.page === undefined ? null : t("page", { page: source.page });
  const original = originalAddress(source);
  return [source.file, page, original && outward(original), more].filter(Boolean).map((part) => el("span", {}, part));
}

/** The headings that lead to the passage, its own title left out. */
function path({ headings = [], title }) {
  if (headings.join(" / ") === title) return null; // the title is the whole path already
  const steps = headings.at(-1) === title ? headings.slice(0, -1) : headings;
  return steps.length ? el("p", { class: "path" }, steps.join(" › ")) : null;
}

function stageTable(stages) {
  const row = ({ name, score, rank }) =>
    el("tr", {}, el("th", { scope: "row" }, has(`stage_${name}`) ? t(`stage_${name}`) : name),
      el("td", {}, decimal(score)), el("td", {}, t("rank", { rank })));
  return el("table", { class: "stages" }, el("caption", { class: "unseen" }, t("stages")), el("tbody", {}, ...stages.map(row)));
}

function card(source, question) {
  const id = `source-${source.n}`;
  const quote = highlighted(source.quote ?? "", question).map((piece) => (piece.hit ? el("mark", {}, piece.text) : piece.text));
  const more = el("button", { type: "button", class: "more", "aria-controls": `${id}-quote`, "aria-expanded": "false" }, t("more"));
  return el("li", {},
    el("article", { class: "card", id, tabindex: -1, "aria-labelledby": `${id}-number ${id}-title` },
      el("div", { class: "card-head" },
        el("span", { class: "number", id: `${id}-number` }, el("span", { class: "unseen" }, t("source")), ` [${source.n}]`),
        el("h3", { id: `${id}-title` },
          el("a", { href: sourceAddress(source), target: "_blank", rel: "noopener" },
            source.title || source.file, el("span", { class: "unseen" }, ` (${t("new_tab")})`)))),
      path(source),
      el("p", { class: "place" }, ...place(source, more)),
      el("blockquote", { class: "quote clamped", id: `${id}-quote` }, ...quote),
      source.stages?.length ? stageTable(source.stages) : null));
}

function open(article, opened) {
  const quote = article.querySelector(".quote");
  const more = article.querySelector(".more");
  quote.classList.add("clamped");
  const cut = quote.scrollHeight > quote.clientHeight + 1;
  quote.classList.toggle("clamped", !opened || !cut);
  more.parentElement.hidden = !cut;
  more.textContent = t(opened && cut ? "less" : "more");
  more.setAttribute("aria-expanded", String(opened && cut));
}

/** Show `sources` under the heading `title`; equal sources leave the cards as they are. */
export function showSources(sources, { question, title, stale }) {
  byId("evidence").hidden = sources.length === 0;
  byId("cards").classList.toggle("stale", stale);
  byId("evidence-title").textContent = title;
  const key = JSON.stringify([document.documentElement.lang, question, sources]);
  if (key === shown) return;
  shown = key;
  cameFrom = null;
  patch(byId("cards"), sources.map((source) => card(source, question)));
  fitQuotes();
}

/** "Show all" only where a quote is really cut; again when the window changes. */
export function fitQuotes() {
  for (const article of byId("cards").querySelectorAll(".card")) {
    open(article, article.querySelector(".more").getAttribute("aria-expanded") === "true");
  }
}

/** Bring source `n` into view, open its quote and mark its card; `link` is where to return to. */
export function lightSource(n, link) {
  const article = byId(`source-${n}`);
  if (!article) return;
  dim();
  cameFrom = link;
  article.classList.add("lit");
  open(article, true);
  article.focus({ preventScroll: true });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  article.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
}

function dim() {
  for (const article of byId("cards").querySelectorAll(".lit")) article.classList.remove("lit");
}

/** Back to the citation that led to the lit card. False when there is none. */
export function returnToCitation() {
  if (!cameFrom?.isConnected) return false;
  dim();
  cameFrom.focus();
  cameFrom = null;
  return true;
}

export function hintSource(n, on) {
  byId(`source-${n}`)?.classList.toggle("hinted", on);
}

export function listenToCards() {
  byId("cards").addEventListener("click", (event) => {
    const more = event.target.closest(".more");
    if (more) open(more.closest(".card"), more.getAttribute("aria-expanded") === "false");
  });
  addEventListener("resize", fitQuotes);
}
