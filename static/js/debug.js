// How this was found: loaded when its drawer is first opened. Candidates, times, the prompt, words that met.

import { read } from "./api.js";
import { candidatesTable, matches, prompt, speeds, times } from "./debug-parts.js";
import { byId, el, patch } from "./dom.js";
import { learn, letters, number, split, titleOf, withFlag } from "./flags.js";
import { currentLanguage, has, t } from "./i18n.js";

const state = { key: "", found: null, words: null, chosen: "", error: null, running: null, open: false };
let last = null; // the page as it was drawn last: {asked, reply, found, preview, pieces}

const search = (question, signal) => read(`/debug/search?q=${encodeURIComponent(question)}`, signal);
const words = (question, chunk, signal) => read(`/debug/words?q=${encodeURIComponent(question)}&chunk=${encodeURIComponent(chunk)}`, signal);

function write(flag, on) {
  const box = byId("question");
  box.value = withFlag(box.value, flag, on);
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

let learning = "";

/** What is registered besides the ways the page knows: its switches are drawn anew when the server has said so. */
async function learnWays() {
  if (learning === currentLanguage()) return;
  learning = currentLanguage();
  const before = letters().join();
  try {
    learn(await read("/strategies"));
  } catch {
    return; // a server that is older than this page: the ways it knows are there all the same
  }
  if (letters().join() === before) return;
  byId("switches").lang = "";
  if (state.open) switches();
}

function switches() {
  const flags = split(byId("question").value)?.flags ?? [];
  const letter = (flag) => el("label", { class: "switch small" }, el("input", { type: "checkbox", role: "switch", "data-flag": flag }), el("code", { class: "flag" }, flag), has(`chip_${flag.slice(1)}`) ? t(`chip_${flag.slice(1)}`) : titleOf(flag));
  const options = ["", ...Array.from({ length: 9 }, (_, i) => `-${i + 1}`)];
  if (byId("switches").lang !== currentLanguage()) {
    const select = el("select", { id: "flag-number" }, ...options.map((flag) => el("option", { value: flag }, flag || "–")));
    byId("switches").lang = currentLanguage();
    byId("switches").replaceChildren(...letters().map(letter), el("label", { class: "switch small" }, select, t("flag_n")));
  }
  for (const input of byId("switches").querySelectorAll("[data-flag]")) input.checked = flags.includes(input.dataset.flag);
  byId("flag-number").value = number(flags);
  byId("switches").disabled = split(byId("question").value) === null;
}

byId("switches").addEventListener("change", ({ target }) => {
  if (target.dataset.flag) write(target.dataset.flag, target.checked);
  else if (target.value) write(target.value, true);
  else write(number(split(byId("question").value)?.flags ?? []), false);
});

/** Draw the drawer for the page's state; asks the server only while it is open and something has changed. */
export function showDebug(page, open) {
  last = page;
  state.open = open;
  if (!open) return;
  switches();
  learnWays();
  const reply = page.reply ?? page.found ?? page.preview;
  const key = reply ? JSON.stringify([page.asked, reply.kb_version]) : "";
  if (key !== state.key) {
    state.key = key;
    load(page.asked, reply);
  }
  draw();
}

async function load(question, reply) {
  state.running?.abort();
  Object.assign(state, { found: null, words: null, chosen: "", error: null });
  if (!reply) return;
  const mine = state.running = new AbortController();
  try {
    const found = await search(question, mine.signal);
    if (state.running !== mine) return;
    state.found = found;
    if (found.candidates.length) return await choose(found.candidates[0].chunk_id);
  } catch (error) {
    if (error.name === "AbortError" || state.running !== mine) return;
    state.error = error;
  }
  draw();
}

async function choose(chunk) {
  state.chosen = chunk;
  draw();
  const found = await words(last.asked, chunk, state.running.signal);
  if (state.chosen !== chunk) return;
  state.words = found;
  draw();
}

function draw() {
  const { found, error } = state;
  const reply = last.reply ?? last.found ?? last.preview;
  const nodes = [];
  if (!reply) nodes.push(el("p", { class: "quiet" }, t("debug_empty")));
  if (error) nodes.push(el("p", { class: "notice warning" }, error.message));
  if (reply) nodes.push(times(reply.timings_ms));
  if (found) {
    nodes.push(speeds(found, last));
    nodes.push(candidatesTable(found, state.chosen, (chunk) => choose(chunk).catch((problem) => { state.error = problem; draw(); })));
    if (state.words) nodes.push(matches(state.words));
    nodes.push(prompt(found));
  }
  patch(byId("debug-body"), nodes);
}
