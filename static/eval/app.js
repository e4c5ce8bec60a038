// The page of drafts: what the program proposes, a person accepts, edits or drops; every step can be undone.

import { change, read } from "../js/api.js";
import { byId, el, patch } from "../js/dom.js";
import { fail, guarded } from "../js/failures.js";
import { currentLanguage, t, use } from "../js/i18n.js";
import { remember } from "../js/memory.js";

const POLL_MS = 400;
const state = { found: null };

async function speak(language) {
  use(language, await read(`/static/eval/${language}.json`));
  document.title = `Otvet: ${t("title")}`;
}

function say(text, undo = null) {
  byId("status").textContent = text;
  patch(byId("undo"), undo ? [el("button", { type: "button", class: "quiet-button", onclick: () => guarded(undo) }, t("undo"))] : []);
}

function card(draft) {
  const question = el("input", { type: "text", name: "question", value: draft.question, maxlength: 2000 });
  const answer = el("input", { type: "text", name: "answer", value: draft.answer_any.join(" | "), placeholder: t("answer_hint") });
  const where = draft.files.length ? draft.files.join(", ") : t("nowhere");
  return el("li", { class: "draft", "data-id": draft.id },
    el("label", {}, t("question"), question),
    draft.files.length > 0 && el("label", {}, t("answer"), answer),
    draft.passages.length > 0 && el("blockquote", { class: "said" }, draft.passages.join(" ")),
    el("p", { class: "origin" }, el("span", { class: "badge" }, t(`made_${draft.made}`)), where,
      draft.chunk_id && el("a", { href: `/source/${encodeURIComponent(draft.chunk_id)}#passage`, target: "_blank", rel: "noopener" }, t("open"))),
    el("div", { class: "decide" },
      el("button", { type: "button", class: "quiet-button accept", "aria-label": t("accept_this", { question: draft.question }), onclick: () => guarded(() => accept(draft, question.value, answer.value)) }, t("accept")),
      el("button", { type: "button", class: "quiet-button discard", "aria-label": t("drop_this", { question: draft.question }), onclick: () => guarded(() => drop(draft)) }, t("drop"))));
}

/** Cards that are on the page stay as they are, with what was typed into them. */
function drawCards(drafts) {
  const list = byId("drafts");
  const wanted = new Map(drafts.map((draft) => [draft.id, draft]));
  for (const node of [...list.children]) if (!wanted.has(node.dataset.id)) node.remove();
  const there = new Set([...list.children].map((node) => node.dataset.id));
  for (const draft of drafts) if (!there.has(draft.id)) list.append(card(draft));
}

function draw() {
  const { drafts, dropped, accepted, file, model, making } = state.found;
  drawCards(drafts);
  byId("none").hidden = drafts.length > 0;
  byId("standing").textContent = t("standing", { drafts: drafts.length, accepted, file });
  byId("dropped-part").hidden = dropped.length === 0;
  patch(byId("dropped"), dropped.map((draft) => el("li", {}, el("span", {}, draft.question),
    el("button", { type: "button", class: "quiet-button", "aria-label": t("restore_this", { question: draft.question }), onclick: () => guarded(() => restore(draft)) }, t("restore")))));
  byId("with-model").hidden = !model;
  const running = making.phase === "making";
  byId("go").disabled = running;
  byId("progress").hidden = !running;
  if (running && making.total) byId("progress").value = making.done / making.total;
}

async function load() {
  state.found = await read("/eval.json");
  draw();
}

async function follow() {
  for (;;) {
    await load();
    const { making } = state.found;
    if (making.phase !== "making") break;
    say(t("making", making));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const { making } = state.found;
  if (making.phase === "failed") fail(making.failure);
  say(making.phase === "done" ? t("made", { count: making.made }) : "");
}

async function make() {
  const model = byId("model").checked && !byId("with-model").hidden;
  await change("POST", "/eval/make", { count: Number(byId("count").value), model });
  await follow();
}

/** Focus goes on to the next card, where the one just decided was. */
async function decided(draft, words) {
  const cards = [...byId("drafts").children];
  const next = cards[cards.findIndex((node) => node.dataset.id === draft.id) + 1]?.dataset.id;
  await load();
  say(t(words, { question: draft.question }), () => restore(draft));
  const node = next && byId("drafts").querySelector(`[data-id="${CSS.escape(next)}"] input`);
  (node ?? byId("undo").firstChild).focus();
}

async function accept(draft, question, answers) {
  const answerAny = answers.split("|").map((text) => text.trim()).filter(Boolean);
  await change("POST", "/eval/accept", { id: draft.id, question, answer_any: answerAny });
  await decided(draft, "was_accepted");
}

async function drop(draft) {
  await change("POST", "/eval/drop", { id: draft.id });
  await decided(draft, "was_dropped");
}

async function restore(draft) {
  const back = await change("POST", "/eval/restore", { id: draft.id });
  await load();
  say(t("was_restored", { question: back.draft.question }));
  byId("drafts").querySelector(`[data-id="${CSS.escape(draft.id)}"] input`)?.focus();
}

function listen() {
  byId("make").addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(make);
  });
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => guarded(async () => {
      await speak(button.dataset.language);
      remember("language", button.dataset.language);
      byId("drafts").replaceChildren();
      await load();
    }));
  }
}

await speak(currentLanguage());
listen();
await guarded(load);
document.documentElement.dataset.page = "ready";
if (state.found?.making.phase === "making") guarded(follow);
