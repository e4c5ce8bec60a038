// One passage against one question: its place in the list, and what each stage makes of it.

import { read } from "../js/api.js";
import { byId, el, patch } from "../js/dom.js";
import { decimal, has, t } from "../js/i18n.js";

let offered = "";

/** The files whose passages can be checked. */
export function offerFiles(files) {
  const key = files.join("\n");
  if (key === offered) return;
  offered = key;
  const chosen = byId("probe-file").value;
  byId("probe-file").replaceChildren(...files.map((file) => el("option", { value: file }, file)));
  if (files.includes(chosen)) byId("probe-file").value = chosen;
  byId("probe-file").dispatchEvent(new Event("change"));
}

async function offerChunks() {
  const file = byId("probe-file").value;
  const { chunks } = file ? await read(`/kb/chunks?file=${encodeURIComponent(file)}`) : { chunks: [] };
  byId("probe-chunk").replaceChildren(...chunks.map((chunk) => el("option", { value: chunk.chunk_id }, `${chunk.title ? `${chunk.title}: ` : ""}${chunk.text}`.slice(0, 100))));
}

function answer({ rank, passages, stages, text }) {
  const rows = stages.map((stage) => el("tr", {}, el("th", { scope: "row" }, has(`stage_${stage.name}`) ? t(`stage_${stage.name}`) : stage.name), el("td", {}, decimal(stage.score)), el("td", {}, t("rank", { rank: stage.rank }))));
  return [
    el("p", { class: rank === null ? "verdict warning" : "verdict" }, rank === null ? t("probe_none", { passages }) : t("probe_rank", { rank, passages })),
    el("table", { class: "stages" }, el("caption", { class: "unseen" }, t("stages")), el("tbody", {}, ...rows)),
    el("blockquote", { class: "said" }, text),
  ];
}

export function listenToProbe(guarded) {
  // A file that is gone meanwhile simply offers nothing; the list of files says so already.
  byId("probe-file").addEventListener("change", () => offerChunks().catch(() => byId("probe-chunk").replaceChildren()));
  byId("probe").addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(async () => {
      const asked = new URLSearchParams({ q: byId("probe-question").value, chunk: byId("probe-chunk").value });
      const { standing } = await read(`/debug/search?${asked}`);
      patch(byId("probed"), standing ? answer(standing) : []);
    });
  });
}
