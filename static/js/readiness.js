// Asks /ready until the models and the index are loaded, and says in the meantime what is missing.

import { ready } from "./api.js";

const PAUSE_MS = 1000;

/** `onChange(state, error)`: "ready", "loading" or "offline". Resolves once ready. */
export async function untilReady(onChange) {
  for (;;) {
    try {
      await ready();
      onChange("ready");
      return;
    } catch (error) {
      onChange(error.code === "offline" ? "offline" : "loading", error);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
