// The server as functions. Every failure becomes an ApiError with words for people.

import { currentLanguage, t } from "./i18n.js";
import { serverEvents } from "./stream.js";

export class ApiError extends Error {
  constructor({ error = "internal", message, hint = "", request_id: requestId = "" }, status = 0) {
    super(message ?? t("error_internal"));
    Object.assign(this, { code: error, hint, requestId, status });
  }
}

const offline = () => new ApiError({ error: "offline", message: t("error_offline"), hint: t("error_offline_hint") });
const cut = () => new ApiError({ error: "cut", message: t("error_cut"), hint: t("error_cut_hint") });

async function request(path, options = {}) {
  const headers = { "Accept-Language": currentLanguage(), ...options.headers };
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    throw error.name === "AbortError" ? error : offline();
  }
  if (response.ok) return response;
  let body = {};
  try { body = await response.json(); } catch { body = { message: t("error_status", { status: response.status }) }; }
  throw new ApiError(body, response.status);
}

async function whole(response) {
  try { return await response.json(); } catch (error) { throw error.name === "AbortError" ? error : cut(); }
}

/** Sources for a question that is still being typed. */
export async function search(question, signal) {
  return whole(await request(`/search?format=false&q=${encodeURIComponent(question)}`, { signal }));
}

/** Ask, with further fields of the request in `more`; yields {name, data}: `sources`, `token`…, and ends with `done`. An `error` event is thrown. */
export async function* ask(question, useRag, signal, route, more = {}) {
  const response = await request("/ask/stream", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ question, use_RAG: useRag, format: false, route, ...more }),
    signal,
  });
  try {
    for await (const event of serverEvents(response.body)) {
      if (event.name === "error") throw new ApiError(event.data);
      // The last field of a whole reply is its status; without it the reply was cut.
      if (event.name === "done" && event.data.status !== "ok") throw cut();
      yield event;
      if (event.name === "done") return;
    }
  } catch (error) {
    throw error instanceof ApiError || error.name === "AbortError" ? error : cut();
  }
  throw cut();
}

/** Run a statement that waited for a person, as it was or as edited. */
export async function confirmStatement(id, sql, signal) {
  const body = JSON.stringify({ sql, format: false });
  return whole(await request(`/ask/${encodeURIComponent(id)}/confirm`, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal }));
}

/** Resolves when models and index are loaded; rejects with what is missing. */
export async function ready() {
  return whole(await request("/ready"));
}

/** Change something: `body` is a file, or a value sent as JSON. */
export async function change(method, path, body, signal) {
  const file = body instanceof Blob;
  const headers = body === undefined ? {} : { "Content-Type": file ? "application/octet-stream" : "application/json" };
  return whole(await request(path, { method, headers, signal, body: file || body === undefined ? body : JSON.stringify(body) }));
}

/** Any other address that gives JSON. */
export async function read(path, signal) {
  return whole(await request(path, { signal }));
}
