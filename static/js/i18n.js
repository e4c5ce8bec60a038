// Every text of the page lives in /static/i18n/{ru,en}.json; plural forms follow the language's own rules.

import { remember } from "./memory.js";

let language = document.documentElement.lang;
let texts = {};

export const currentLanguage = () => language;

/** The text of `key` with its {placeholders} filled; `values.count` chooses the plural form. */
export function t(key, values = {}) {
  let text = texts[key] ?? key;
  if (typeof text === "object") text = text[new Intl.PluralRules(language).select(values.count)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export const has = (key) => key in texts;

/** Milliseconds as people read them: «12 мс», «3,2 с». */
export function duration(ms) {
  const seconds = ms >= 1000;
  const digits = { maximumFractionDigits: !seconds && ms >= 10 ? 0 : 1 };
  const number = new Intl.NumberFormat(language, digits).format(seconds ? ms / 1000 : ms);
  return t(seconds ? "seconds" : "milliseconds", { number });
}

export const decimal = (value) => new Intl.NumberFormat(language, { maximumFractionDigits: 3 }).format(value);

/** Load the texts and put them into the page's own markup. */
export async function speak(wanted) {
  const response = await fetch(`/static/i18n/${wanted}.json`);
  if (!response.ok) throw new Error(`/static/i18n/${wanted}.json: ${response.status}`);
  use(wanted, await response.json());
}

/** Speak with texts that are at hand already. */
export function use(wanted, loaded) {
  texts = loaded;
  language = wanted;
  document.documentElement.lang = wanted;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", t(node.dataset.label));
  for (const node of document.querySelectorAll("[data-placeholder]")) node.placeholder = t(node.dataset.placeholder);
  for (const node of document.querySelectorAll("[data-language]")) {
    node.setAttribute("aria-pressed", String(node.dataset.language === wanted));
  }
  document.documentElement.classList.remove("translating");
}

export async function choose(wanted) {
  await speak(wanted);
  remember("language", wanted);
}
