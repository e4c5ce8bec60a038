// Sources while the question is typed: waits for a pause, and an older reply never replaces a newer one.

import { search } from "./api.js";

const PAUSE_MS = 120;
const SHORTEST = 2;

export class Typing {
  #timer = 0;
  #running = null;
  #onReply;
  #onError;

  constructor(onReply, onError) {
    this.#onReply = onReply;
    this.#onError = onError;
  }

  /** Forget what is under way: nothing that was asked before will be reported. */
  stop() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
  }

  changed(question) {
    this.stop();
    if (question.trim().length >= SHORTEST) this.#timer = setTimeout(() => this.#look(question), PAUSE_MS);
  }

  async #look(question) {
    const mine = new AbortController();
    this.#running = mine;
    try {
      const reply = await search(question, mine.signal);
      if (this.#running === mine) this.#onReply(question, reply);
    } catch (error) {
      if (this.#running === mine && error.name !== "AbortError") this.#onError(error);
    }
  }
}
