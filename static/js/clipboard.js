// Copy an answer together with the sources it names.

import { originalAddress } from "./dom.js";
import { t } from "./i18n.js";

export function copied({ question, answer, sources }) {
  const list = sources.map((source) => `[${source.n}] ${source.title} — ${originalAddress(source) ?? source.file}`);
  return [question, answer, [t("sources_heading"), ...list].join("\n")].filter(Boolean).join("\n\n");
}

// The clipboard interface exists on loopback and https only; the old command covers a plain network address.
function copyOldWay(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

export async function copyText(reply, button) {
  const text = copied(reply);
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    done = copyOldWay(text);
    button.focus();
  }
  document.getElementById("status").textContent = t(done ? "copied" : "not_copied");
}
