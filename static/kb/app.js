// The page of the knowledge base: its state comes from the server, every change is sent there and read back.

import { change, read } from "../js/api.js";
import { byId, el, patch } from "../js/dom.js";
import { fail, guarded } from "../js/failures.js";
import { currentLanguage, t, use } from "../js/i18n.js";
import { remember } from "../js/memory.js";
import { filesTable, removedRows } from "./files.js";
import { listenToProbe, offerFiles } from "./probe.js";
import { drawReview } from "./review.js";
import { listenToDrop, sendFiles } from "./upload.js";

const POLL_MS = 300;
const address = (file) => `/kb/files/${file.split("/").map(encodeURIComponent).join("/")}`;
const state = { kb: null, review: null, undo: null, polling: false };

async function speak(language) {
  use(language, await read(`/static/kb/${language}.json`));
  document.title = `Otvet: ${t("title")}`;
}

function say(text, undo = null) {
  byId("status").textContent = text;
  state.undo = undo;
  patch(byId("undo"), undo ? [el("button", { type: "button", class: "quiet-button", onclick: () => guarded(undo) }, t("undo"))] : []);
}

function draw() {
  const { kb, review } = state;
  if (!kb) return;
  const tokens = new Map((review?.files ?? []).map((file) => [file.file, file.tokens]));
  byId("none").hidden = kb.files.length > 0;
  byId("files").hidden = kb.files.length === 0;
  patch(byId("files"), [filesTable(kb.files, tokens, byId("filter").value, { remove, replace })]);
  byId("removed-part").hidden = kb.removed.length === 0;
  patch(byId("removed"), removedRows(kb.removed, (id, file) => guarded(() => restore(id, file))));
  byId("standing").textContent = standing(kb);
  byId("standing").classList.toggle("warning", !kb.current);
  if (review) drawReview(review);
  // Passages are those of the index in use, which is the new one only a moment after it was written.
  if (review?.kb_version === kb.kb_version) offerFiles(kb.files.filter((file) => file.chunks > 0).map((file) => file.file));
}

function standing({ kb_version: version, current, files, difference }) {
  const changed = files.filter(({ state: is }) => !["indexed", "skipped"].includes(is)).length;
  const chunks = files.reduce((sum, file) => sum + file.chunks, 0);
  if (!version) return t("is_none");
  if (current) return t("is_current", { files: t("n_files", { count: files.length }), chunks: t("n_chunks", { count: chunks }) });
  return [t("is_old", { count: changed }), difference].filter(Boolean).join(" ");
}

async function load() {
  state.kb = await read("/kb.json");
  draw();
  // Counting tokens takes a moment the first time: the list need not wait for it.
  state.review = await read("/kb/review.json");
  draw();
}

async function renew() {
  progress(await change("POST", "/kb/index", {}));
  await follow();
}

async function follow() {
  if (state.polling) return;
  state.polling = true;
  try {
    for (;;) {
      const run = await read("/kb/index");
      progress(run);
      if (!["reading", "encoding"].includes(run.phase)) break;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    state.polling = false;
  }
  await load();
  // The server takes the new index within a second; what it says of passages is then that of the new one.
  for (let tries = 0; tries < 10 && state.review?.kb_version !== state.kb.kb_version; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    state.review = await read("/kb/review.json");
  }
  draw();
}

function progress(run) {
  const running = ["reading", "encoding"].includes(run.phase);
  const bar = byId("progress");
  bar.hidden = !running;
  if (run.phase === "encoding" && run.total) bar.value = run.done / run.total;
  else bar.removeAttribute("value");
  byId("renew").disabled = running;
  const percent = run.total ? Math.floor((100 * run.done) / run.total) : 0;
  if (run.phase === "done") say(run.report ? t("phase_done", { ...run.report, seconds: run.seconds }) : t("phase_same"), state.undo);
  else if (run.phase !== "idle") say(t(`phase_${run.phase}`, { percent }), state.undo);
  if (run.phase === "failed") fail(run.failure);
}

const remove = (file) => guarded(async () => {
  const { removed } = await change("DELETE", address(file));
  await load();
  say(t("was_removed", { file }), () => restore(removed, file));
  byId("undo").firstChild.focus();
  await renew();
});

async function restore(id, file) {
  await change("POST", "/kb/restore", { id });
  say(t("was_restored", { file }));
  await load();
  await renew();
}

/** Choose a file to take the place of `name`. */
function replace(name) {
  const picker = el("input", { type: "file" });
  picker.addEventListener("change", () => guarded(async () => {
    const [file] = picker.files;
    if (file) await added(await sendFiles([{ file, name, replace: true }]));
  }));
  picker.click();
}

async function added(count) {
  if (!count) return;
  await load();
  await renew();
}

function listen() {
  listenToDrop((files) => guarded(async () => added(await sendFiles(files))));
  listenToProbe(guarded);
  byId("filter").addEventListener("input", draw);
  byId("renew").addEventListener("click", () => guarded(renew));
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => guarded(async () => {
      await speak(button.dataset.language);
      remember("language", button.dataset.language);
      await load();
    }));
  }
}

await speak(currentLanguage());
listen();
await guarded(load);
document.documentElement.dataset.page = "ready";
if (["reading", "encoding"].includes(state.kb?.renewal.phase)) guarded(follow);
