// What the ways made of the question: a table of them, who found what, and the answers asked for.

import { el, sourceAddress } from "../js/dom.js";
import { currentLanguage, decimal, duration, t } from "../js/i18n.js";

const percent = (share) => new Intl.NumberFormat(currentLanguage(), { style: "percent" }).format(share);
const named = (way) => `${way.title}, ${way.reranker_title.toLocaleLowerCase(currentLanguage())}`;

function nameCell(way) {
  return el(
    "th", { scope: "row" },
    el("span", { class: "way-title" }, way.title), " ",
    way.default && el("span", { class: "badge" }, t("default")),
    el("span", { class: "note" }, `${way.strategy} + ${way.reranker}`),
    ...way.notes.map((note) => el("span", { class: "note warning" }, note)),
  );
}

function timeCell(way) {
  const stages = Object.entries(way.timings_ms).map(([stage, ms]) => `${stage} ${decimal(ms)}`).join(", ");
  return el("td", { "data-name": t("column_time"), title: stages }, duration(way.total_ms));
}

function outcome(way) {
  const said = way.sources.length === 0 ? t("no_sources") : way.refused ? t("refused") : t("found", { count: way.sources.length });
  return el(
    "td", { "data-name": t("column_outcome") },
    el("span", { class: way.refused ? "warning" : undefined }, said),
    !way.calibrated && way.refused && el("span", { class: "note" }, t("uncalibrated")),
  );
}

function savingCell(way) {
  const bar = el("meter", { min: 0, max: 1, value: Math.max(way.saving, 0), "aria-label": t("column_saving") });
  return el("td", { "data-name": t("column_saving") }, el("span", { class: "saving" }, percent(way.saving), bar));
}

/** One row a way; `answer` is called with the way whose answer is wanted. */
export function waysTable(found, answer) {
  const head = ["way", "outcome", "overlap", "time", "tokens", "saving", "answer"];
  const rows = found.ways.map((way) => el(
    "tr", { class: way.default ? "usual" : undefined },
    nameCell(way),
    outcome(way),
    el("td", { "data-name": t("column_overlap") }, percent(way.overlap)),
    timeCell(way),
    el("td", { "data-name": t("column_tokens") }, t("tokens", { count: way.tokens })),
    savingCell(way),
    el("td", { class: "cell-answer" }, el("button", { type: "button", class: "quiet-button", "aria-label": t("answer_by", { way: named(way) }), onclick: () => answer(way) }, t("answer"))),
  ));
  return el(
    "table", { class: "grid" },
    el("caption", { class: "unseen" }, t("ways")),
    el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col", title: name === "overlap" ? t("column_overlap_long") : undefined }, t(`column_${name}`))))),
    el("tbody", {}, ...rows),
  );
}

/** Every source that a choosing way found, by how many found it; what only reads everything is counted. */
function sharedSources(ways) {
  const rows = new Map();
  for (const [column, way] of ways.entries()) {
    for (const source of way.sources) {
      if (!rows.has(source.chunk_id)) rows.set(source.chunk_id, { source, places: new Map() });
      rows.get(source.chunk_id).places.set(column, source.n);
    }
  }
  const whole = ways.findIndex((way) => way.strategy === "none");
  const lonely = [...rows.values()].filter(({ places }) => places.size === 1 && places.has(whole));
  const usual = ways.findIndex((way) => way.default);
  const kept = [...rows.values()].filter((row) => !lonely.includes(row) || lonely.indexOf(row) < 3);
  const best = ({ places }) => places.get(usual) ?? Math.min(...places.values()) + 0.5;
  const alone = (row) => Number(lonely.includes(row));
  kept.sort((one, other) => alone(one) - alone(other) || other.places.size - one.places.size || best(one) - best(other));
  return { kept, hidden: Math.max(lonely.length - 3, 0), whole: ways[whole] };
}

export function sourcesTable(found) {
  const { kept, hidden, whole } = sharedSources(found.ways);
  const rows = kept.map(({ source, places }) => el(
    "tr", {},
    el("th", { scope: "row" }, el("a", { href: sourceAddress(source), title: source.quote }, source.title), el("span", { class: "note" }, source.file)),
    ...found.ways.map((way, column) => {
      const rank = places.get(column);
      return el(
        "td", { class: rank ? "has" : undefined, "data-name": way.title },
        rank ? el("span", {}, el("span", { class: "unseen" }, t("place", { rank })), el("span", { "aria-hidden": "true" }, String(rank)))
          : el("span", {}, el("span", { class: "unseen" }, t("not_found_by")), el("span", { "aria-hidden": "true" }, "·")),
      );
    }),
  ));
  const table = el(
    "table", { class: "grid places" },
    el("caption", { class: "unseen" }, t("sources")),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("column_source")), ...found.ways.map((way) => el("th", { scope: "col", class: way.default ? "usual" : undefined }, way.title)))),
    el("tbody", {}, ...rows),
  );
  return el("div", {}, table, hidden > 0 && el("p", { class: "quiet" }, t("more_of", { count: hidden, way: whole.title })));
}

/** A card that fills as the answer comes. */
export function answerCard(way, stop) {
  const said = el("p", { class: "said" });
  const foot = el("p", { class: "quiet" }, t("answering"));
  const button = el("button", { type: "button", class: "quiet-button", onclick: stop }, t("stop"));
  const node = el("article", { class: "answer", "data-way": `${way.strategy} + ${way.reranker}` }, el("h3", {}, named(way)), said, foot, button);
  return {
    node,
    add: (text) => said.append(text),
    end: (reply, time) => {
      said.textContent = reply.answer;
      foot.textContent = [t("answered", { time, model: reply.model }), ...(reply.notes ?? [])].join(" · ");
      button.remove();
    },
    stop: (why) => {
      foot.textContent = why;
      button.remove();
    },
  };
}
