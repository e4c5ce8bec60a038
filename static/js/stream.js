// Server-sent events over fetch: EventSource can neither POST nor be stopped without reconnecting.

/** Collects text and gives out whole events; a piece may end anywhere, even inside a line break. */
export class EventParser {
  #rest = "";

  push(text) {
    this.#rest += text;
    const events = [];
    for (let end; (end = /\r\n\r\n|\n\n|\r\r/.exec(this.#rest)); ) {
      const event = parseEvent(this.#rest.slice(0, end.index));
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (event) events.push(event);
    }
    return events;
  }
}

function parseEvent(block) {
  let name = "message";
  const data = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (field === "event") name = value ?? "";
    if (field === "data") data.push(value ?? "");
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}

/** Events of a response body, letters whole however the bytes were cut. */
export async function* serverEvents(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Leaving early (the reply is whole, or an error came) must not keep the connection open.
    reader.cancel().catch(() => undefined);
  }
}
