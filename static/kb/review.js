// What of the knowledge base deserves a second look: blocks that are too long, passages that are there twice.

import { byId, el, patch } from "../js/dom.js";
import { t } from "../js/i18n.js";

const SHOWN = 20;

const rows = (found, row) => (found.length ? found.slice(0, SHOWN).map(row) : [el("li", { class: "quiet" }, t("nothing"))]);
const source = (one) => el("a", { href: `/source/${encodeURIComponent(one.chunk_id)}#passage`, target: "_blank", rel: "noopener" }, one.title || one.file);

export function drawReview({ limit, large, duplicates, duplicate_groups: groups }) {
  byId("large-title").textContent = t("large", { limit, count: large.length });
  patch(byId("large"), rows(large, (one) => el("li", {}, el("span", {}, one.topic), el("span", { class: "quiet" }, `${one.file} · ${t("tokens", { count: one.tokens })}`))));
  byId("twice-title").textContent = t("twice", { count: groups });
  patch(byId("twice"), rows(duplicates, (group) => el("li", {}, ...group.map((one) => el("span", { class: "same" }, source(one), el("span", { class: "quiet" }, ` ${one.file}`))), el("span", { class: "quiet said" }, group[0].text))));
}
