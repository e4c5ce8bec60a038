// The page of the strategies: one question by all of them, what they did over time, what they are.

import { ask, change, read } from "../js/api.js";
import { byId, el, patch } from "../js/dom.js";
import { guarded } from "../js/failures.js";
import { currentLanguage, duration, t, use } from "../js/i18n.js";
import { recall, remember } from "../js/memory.js";
import { cards } from "./about.js";
import { drawHistory, listenToHistory } from "./history.js";
import { answerCard, sourcesTable, waysTable } from "./tables.js";
import { listenToTabs } from "./tabs.js";

const state = { known: null, found: null, running: null, answering: new Map() };

async function speak(language) {
  use(language, await read(`/static/compare/${language}.json`));
  document.title = `Otvet: ${t("title")}`;
}

/** The titles of strategies and rerankers in the language of the page. */
async function learn() {
  state.known = await read("/strategies");
  const chosen = byId("reranker").value;
  const options = [["", t("reranker_usual")], ...state.known.rerankers.map(({ name, title }) => [name, title])];
  byId("reranker").replaceChildren(...options.map(([value, title]) => el("option", { value }, title)));
  byId("reranker").value = chosen;
  patch(byId("strategies"), cards(state.known.strategies, state.known.default.strategy));
  patch(byId("rerankers"), cards(state.known.rerankers, state.known.default.reranker));
}

function working(running) {
  state.running = running;
  byId("go").textContent = t(running ? "stop" : "go");
  byId("go").classList.toggle("stop", Boolean(running));
}

async function compare() {
  if (state.running) {
    state.running.abort();
    return;
  }
  const question = byId("question").value.trim();
  if (!question) return;
  for (const controller of state.answering.values()) controller.abort();
  state.answering.clear();
  const controller = new AbortController();
  working(controller);
  byId("status").textContent = t("working");
  const started = performance.now();
  const asked = { question, top_k: Number(byId("top-k").value), rerankers: byId("reranker").value || null };
  try {
    state.found = await change("POST", "/compare", asked, controller.signal);
    byId("status").textContent = t("done", { count: state.found.ways.length, time: duration(performance.now() - started) });
    byId("answers").replaceChildren();
    byId("answers-title").hidden = true;
    draw();
  } catch (error) {
    byId("status").textContent = error.name === "AbortError" ? t("stopped") : "";
    throw error;
  } finally {
    working(null);
  }
}

function draw() {
  if (!state.found) return;
  const { found } = state;
  byId("result").hidden = false;
  patch(byId("ways"), [waysTable(found, (way) => guarded(() => answer(way)))]);
  patch(byId("sources"), [sourcesTable(found)]);
  byId("counted").textContent = t("counted", { model: found.counted_by, tokens: t("tokens", { count: found.whole_tokens }) });
}

/** Have the model answer from the sources of one way; its words appear as they come. */
async function answer(way) {
  const name = `${way.strategy} + ${way.reranker}`;
  state.answering.get(name)?.abort();
  const controller = new AbortController();
  state.answering.set(name, controller);
  const card = answerCard(way, () => controller.abort());
  const old = [...byId("answers").children].find((node) => node.dataset.way === name);
  byId("answers-title").hidden = false;
  if (old) old.replaceWith(card.node);
  else byId("answers").append(card.node);
  card.node.scrollIntoView({ block: "nearest" });
  const started = performance.now();
  try {
    // Behind a dash of its own nothing is a flag: one of the question would undo the way.
    const named = { strategy: way.strategy, reranker: way.reranker };
    for await (const event of ask(`-- ${state.found.question}`, true, controller.signal, undefined, named)) {
      if (event.name === "token") card.add(event.data.text);
      if (event.name === "done") card.end(event.data, duration(performance.now() - started));
    }
  } catch (error) {
    card.stop(error.name === "AbortError" ? t("stopped") : error.message);
    if (error.name !== "AbortError") throw error;
  } finally {
    if (state.answering.get(name) === controller) state.answering.delete(name);
  }
}

function listen() {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(compare);
  });
  listenToTabs((tab) => {
    if (tab === "history") guarded(drawHistory);
    history.replaceState(null, "", tab === "question" ? "/compare" : `/compare#${tab}`);
  });
  listenToHistory(guarded);
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => guarded(async () => {
      await speak(button.dataset.language);
      remember("language", button.dataset.language);
      working(state.running);
      await learn();
      draw();
      await drawHistory();
    }));
  }
}

await speak(currentLanguage());
listen();
await guarded(learn);
const brought = new URLSearchParams(location.search).get("q");
byId("question").value = brought ?? recall("compared") ?? "";
byId("question").addEventListener("change", () => remember("compared", byId("question").value));
document.documentElement.dataset.page = "ready";
if (brought) guarded(compare);
