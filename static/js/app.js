// One state, one draw. Phases: empty → typing → asking → answered | stopped | failed | waiting (for the models).

import { showActions } from "./actions.js";
import { ask, confirmStatement } from "./api.js";
import { showAnswer } from "./answer.js";
import { failure, showButton, showFlags, showFoot, showStatus, startClock } from "./chrome.js";
import { byId } from "./dom.js";
import { hintSource, lightSource, listenToCards, returnToCitation, showSources } from "./evidence.js";
import { choose, currentLanguage, speak, t } from "./i18n.js";
import { recall, remember } from "./memory.js";
import { keep } from "./past.js";
import { untilReady } from "./readiness.js";
import { kindOf } from "./reply.js";
import { Typing } from "./typing.js";

const question = byId("question");
const ai = byId("ai");
const blank = { phase: "empty", asked: "", preview: null, found: null, draft: "", pieces: 0, reply: null, queue: null, error: null, useRag: false, stale: false };
const server = { state: "unknown", error: null, askWhenReady: false };
let page = { ...blank };
let kept = null; // the last answer, shown again when its question is back in the box
let running = null;

const typing = new Typing(
  (text, reply) => set({ ...blank, phase: "typing", asked: text, preview: reply }),
  (error) => { if (error.code === "offline" || error.code === "not_ready") watchServer(); },
);

function set(changes) {
  page = { ...page, ...changes };
  draw();
}

function draw() {
  const { phase, preview, found, reply, error } = page;
  const last = reply ?? found ?? preview;
  document.documentElement.dataset.server = server.state;
  byId("welcome").hidden = phase !== "empty";
  showSources(last?.sources ?? [], { question: last?.question ?? page.asked, title: t(last?.outcome === "not_found" ? "nearest" : "sources_heading"), stale: page.stale });
  showAnswer(page);
  drawRouted(reply);
  showActions(page, () => start(page.asked));
  // A closed drawer would only be pushed down, word by word, by the answer that grows above it.
  byId("debug").hidden = phase === "asking" && !byId("debug").open;
  drawDebug();
  showFlags(last?.flags);
  showFoot(last, Boolean(reply));
  showButton(phase === "asking");
  showStatus(statusText(), phase === "asking" || server.state === "loading");
  drawFailure(error);
}

let routed = null; // loaded with the first answer over tables

async function drawRouted(reply) {
  if (!reply?.route && !routed) return;
  routed ??= import("./routed.js");
  (await routed).showRouted(page.reply, { ask: (text, route) => { question.value = text; start(text, route); }, confirm, decline });
}

let debug = null; // loaded when its drawer is first opened

async function drawDebug() {
  const { open } = byId("debug");
  if (!open && !debug) return;
  debug ??= import("./debug.js");
  (await debug).showDebug(page, byId("debug").open);
}

function drawFailure(error) {
  const old = byId("failure");
  if (!error) old?.remove();
  else if (old?.dataset.of !== error.message) {
    old?.remove();
    const node = failure(error, () => start(page.asked));
    node.dataset.of = error.message;
    byId("evidence").before(node);
  }
}

function statusText() {
  const { phase, preview, found, draft, reply } = page;
  if (server.state === "offline" && phase !== "asking") return t("error_offline");
  if (server.state === "loading" && phase !== "asking") {
    return server.askWhenReady ? t("will_ask") : server.error?.message || t("loading");
  }
  if (phase === "typing") return t(preview.sources.length ? "found" : "found_none", { count: preview.sources.length });
  if (phase === "asking") return askingText(page);
  if (phase === "stopped") return t("stopped");
  if (phase === "failed") return t("failed");
  if (phase === "answered") return t(`status_${kindOf(reply)}`, { count: reply.sources.length });
  return "";
}

function askingText({ found, draft, queue, reply }) {
  if (reply) return t("running");
  if (!found || draft) return t(draft ? "writing" : "searching");
  // Without an estimate nothing is promised; with one it is rounded as people say it.
  const time = queue && t("seconds", { number: Math.max(1, Math.round(queue.estimate_s)) });
  if (queue?.place) return t("queued", { count: queue.place, time });
  const text = t("reading", { count: found.sources.length });
  return time ? t("about", { text, time }) : text;
}

/** Let a statement run that has waited for a person. */
async function confirm(id, sql) {
  stop();
  const mine = new AbortController();
  const { asked } = page;
  running = mine;
  const stopClock = startClock();
  set({ phase: "asking", error: null });
  try {
    const reply = await confirmStatement(id, sql, mine.signal);
    if (running !== mine) return;
    keep(asked, reply);
    set({ phase: "answered", reply });
    kept = page;
  } catch (error) {
    if (running === mine) set({ phase: "answered", error }); // what was edited stays, to be mended
  } finally {
    stopClock();
    if (running === mine) running = null;
  }
}

// The server forgets a statement that nobody lets run.
const decline = () => set({ phase: "stopped", reply: null, found: null });

async function start(text, route) {
  if (!text.trim()) return question.focus();
  stop();
  typing.stop();
  server.askWhenReady = false;
  const mine = new AbortController();
  running = mine;
  const stopClock = startClock();
  // What is shown stays in place, dimmed if it belongs to other words, until the reply brings its own.
  const preview = page.reply ?? page.found ?? page.preview;
  set({ ...blank, phase: "asking", asked: text, useRag: ai.checked, preview, stale: page.asked !== text });
  try {
    for await (const { name, data } of ask(text, ai.checked, mine.signal, route)) {
      if (running !== mine) return;
      if (name === "sources") set({ found: data, stale: false });
      if (name === "waiting") set({ queue: data });
      if (name === "token") addToken(data.text);
      if (name === "done") {
        keep(text, data);
        set({ phase: "answered", reply: data, stale: false });
      }
    }
    kept = page;
  } catch (error) {
    if (running !== mine) return;
    if (error.code === "not_ready") waitForModels(text);
    else set({ phase: "failed", error, ...forgetStale() });
    if (error.code === "offline") watchServer();
  } finally {
    stopClock();
    if (running === mine) running = null;
  }
}

function waitForModels(text) {
  Object.assign(server, { state: "loading", askWhenReady: true });
  set({ ...blank, phase: "waiting", asked: text });
  watchServer();
}

let frame = 0;
function addToken(text) {
  page = { ...page, draft: page.draft + text, pieces: page.pieces + 1 };
  frame ||= requestAnimationFrame(() => { frame = 0; draw(); });
}

function stop() {
  if (!running) return false;
  running.abort();
  running = null;
  set({ phase: "stopped", ...forgetStale() });
  return true;
}

const forgetStale = () => (page.stale ? { preview: null, stale: false } : {});

function typed() {
  const text = question.value;
  drawDebug();
  server.askWhenReady = false;
  if (running) return; // the evidence of a running answer stays beside it
  if (kept && text.trim() === kept.asked.trim()) { typing.stop(); return set(kept); }
  typing.changed(text);
  if (!text.trim()) set({ ...blank });
}

async function watchServer() {
  if (server.watching) return;
  server.watching = true;
  await untilReady((state, error) => {
    if (state === server.state && error?.message === server.error?.message) return;
    Object.assign(server, { state, error });
    draw();
  });
  server.watching = false;
  if (server.askWhenReady) { server.askWhenReady = false; start(question.value); }
}

function listen() {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    if (running) stop(); else start(question.value);
  });
  question.addEventListener("input", typed);
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!running || question.value !== page.asked) start(question.value); // a second Enter is not a second question
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing && (stop() || returnToCitation())) event.preventDefault();
  });
  ai.addEventListener("change", () => remember("ai", ai.checked ? "on" : "off"));
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", async () => { await choose(button.dataset.language); draw(); });
  }
  byId("history-open").addEventListener("click", async () => (await import("./history.js")).openHistory((text) => {
    question.value = text;
    question.focus();
    start(text);
  }));
  const cited = (event) => event.target.closest?.(".cite");
  byId("answer").addEventListener("click", (event) => {
    const link = cited(event);
    if (link) { event.preventDefault(); lightSource(Number(link.dataset.n), link); }
  });
  for (const [name, on] of [["pointerover", true], ["pointerout", false]]) {
    byId("answer").addEventListener(name, (event) => { if (cited(event)) hintSource(cited(event).dataset.n, on); });
  }
  byId("debug").addEventListener("toggle", () => { remember("debug", byId("debug").open ? "on" : "off"); drawDebug(); });
  listenToCards();
}

ai.checked = recall("ai") !== "off";
byId("debug").open = recall("debug") === "on";
listen();
await speak(currentLanguage());
draw();
watchServer();
if (question.value) typed(); // the browser kept a question over a reload
