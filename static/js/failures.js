// What went wrong on a page, shown in its card `failure`.

import { ApiError } from "./api.js";
import { byId, el, patch } from "./dom.js";

/** Show a failure as the server words it; without one the card is hidden. */
export function fail(error) {
  byId("failure").hidden = !error;
  patch(byId("failure"), error ? [el("h2", {}, error.message), error.hint && el("p", {}, error.hint)].filter(Boolean) : []);
}

/** Do something that may be refused; what the server says is shown. What was given up is no failure. */
export async function guarded(work) {
  try {
    fail(null);
    await work();
  } catch (error) {
    if (error.name !== "AbortError") fail(error instanceof ApiError ? error : new ApiError({}));
  }
}
