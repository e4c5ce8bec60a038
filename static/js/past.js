// Past questions: kept in this browser only, the latest first.

import { recall, remember } from "./memory.js";

const KEPT = 200;
const SHOWN_LETTERS = 300;

export function past() {
  try {
    const found = JSON.parse(recall("history") ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one?.question === "string") : [];
  } catch {
    return []; // written by something else
  }
}

const store = (entries) => remember("history", JSON.stringify(entries.slice(0, KEPT)));

/** Keep a question with the reply to it; asked again, it moves to the top and keeps its verdict. */
export function keep(question, { outcome, answer }) {
  const text = question.trim();
  const { verdict } = past().find((one) => one.question === text) ?? {};
  store([{ question: text, outcome, answer: answer.slice(0, SHOWN_LETTERS), at: Date.now(), verdict }, ...past().filter((one) => one.question !== text)]);
}

export const judge = (question, verdict) => store(past().map((one) => (one.question === question.trim() ? { ...one, verdict } : one)));
export const forget = (question) => store(past().filter((one) => one.question !== question));
export const forgetAll = () => store([]);
