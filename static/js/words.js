// Answer text as nodes: paragraphs and lists by line, [n] as links to sources, unsupported stretches underlined.
// The server counts characters as Unicode code points, so offsets are taken over code points here too.

import { el } from "./dom.js";
import { t } from "./i18n.js";

const ITEM = /^\s*[-–•*]\s+/;

/** Lines of the text with their offset in code points, empty ones left out. */
function lines(text) {
  let start = 0;
  const found = [];
  for (const line of text.split("\n")) {
    const points = Array.from(line);
    if (line.trim()) found.push({ points, start });
    start += points.length + 1;
  }
  return found;
}

function pieces(points, start, marks, known) {
  const text = points.join("");
  const cuts = new Map([[0, null], [points.length, null]]);
  const links = new Map();
  for (const match of text.matchAll(/\[(\d{1,2})\]/g)) {
    if (!known.has(Number(match[1]))) continue;
    const from = Array.from(text.slice(0, match.index)).length;
    links.set(from, Number(match[1]));
    cuts.set(from).set(from + match[0].length);
  }
  for (const mark of marks) {
    for (const edge of [mark.start - start, mark.end - start]) {
      if (edge > 0 && edge < points.length) cuts.set(edge);
    }
  }
  const edges = [...cuts.keys()].sort((a, b) => a - b);
  return edges.slice(0, -1).map((from, i) => ({
    text: points.slice(from, edges[i + 1]).join(""),
    link: links.get(from),
    mark: marks.find((mark) => mark.start <= start + from && start + from < mark.end),
  }));
}

function pieceNode(piece, titles) {
  if (piece.link) {
    const label = t("cite", { n: piece.link, title: titles.get(piece.link) });
    return el("a", { class: "cite", href: `#source-${piece.link}`, "data-n": piece.link, "aria-label": label }, piece.text);
  }
  if (!piece.mark) return document.createTextNode(piece.text);
  const reason = t(`mark_${piece.mark.reason}`);
  return el("span", { class: "unsupported", title: reason }, piece.text, el("span", { class: "unseen" }, ` (${reason}) `));
}

/** Nodes of an answer. `sources` decide which [n] are links; `marks` are [{start, end, reason}]. */
export function answerNodes(text, sources, marks = []) {
  const titles = new Map(sources.map((source) => [source.n, source.title]));
  const nodes = [];
  for (const { points, start } of lines(text)) {
    const item = ITEM.exec(points.join(""));
    const skip = item ? Array.from(item[0]).length : 0;
    const content = pieces(points.slice(skip), start + skip, marks, titles).map((piece) => pieceNode(piece, titles));
    if (!item) nodes.push(el("p", {}, ...content));
    else if (nodes.at(-1)?.tagName === "UL") nodes.at(-1).append(el("li", {}, ...content));
    else nodes.push(el("ul", {}, el("li", {}, ...content)));
  }
  return nodes;
}

/** The marked stretches as they stand in the text. */
export function markedTexts(text, marks) {
  const points = Array.from(text);
  return marks.map((mark) => ({ text: points.slice(mark.start, mark.end).join(""), reason: mark.reason }));
}
