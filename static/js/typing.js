// Sources while the question is typed: a key after a pause is answered at once, of keys in quick succession the
// last one; an older reply never replaces a newer one.

import { search } from "./api.js";

const QUICK_MS = 60; // quicker than fingers: a held key, a paste, a program
const PAUSE_MS = 60;
const SHORTEST = 2;

export class Typing {
  #timer = 0;
  #running = null;
  #last = -Infinity;
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
    const now = performance.now();
    const quick = now - this.#last < QUICK_MS;
    this.#last = now;
    if (question.trim().length < SHORTEST) return;
    // After the event, not in a timer: those come late where the machine is busy.
    if (quick) this.#timer = setTimeout(() => this.#look(question), PAUSE_MS);
    else queueMicrotask(() => { if (this.#last === now) this.#look(question); });
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
