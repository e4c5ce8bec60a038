// The map as the server shows it: texts, data and the place of a question are asked for.

import { read } from "../js/api.js";
import { byId } from "../js/dom.js";
import { currentLanguage, t, use } from "../js/i18n.js";
import { remember } from "../js/memory.js";
import { show } from "./view.js";

async function speak(language) {
  use(language, await read(`/static/map/${language}.json`));
  document.title = `Otvet: ${t("title")}`;
}

const ask = (question) => read(`/map/question?q=${encodeURIComponent(question)}`);
const address = (id) => `/source/${encodeURIComponent(id)}#passage`;

function failed(error) {
  byId("failure").hidden = false;
  byId("failure").textContent = [error.message, error.hint].filter(Boolean).join(" ");
}

async function start() {
  const data = await read("/map.json");
  byId("stale").hidden = data.current;
  // The script is missing where plotly is not installed; its address then says what to install.
  if (!globalThis.Plotly) await read("/map/plotly.js").catch(failed);
  return show(data, { ask, address });
}

await speak(currentLanguage());
let draw = () => {};
for (const button of document.querySelectorAll("[data-language]")) {
  button.addEventListener("click", async () => {
    await speak(button.dataset.language);
    remember("language", button.dataset.language);
    draw();
  });
}
try {
  draw = await start();
} catch (error) {
  failed(error);
}
