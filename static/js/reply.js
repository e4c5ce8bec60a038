// What a reply is.

/** True for a reply whose answer stands by a table or a decision, not in the voices of documents and model. */
export const standsAlone = (reply) => Boolean(reply?.route && (reply.route === "sql" || reply.confirm || reply.clarify));

/** What the status line says of a reply: its outcome, or what a person has to do or see first. */
export function kindOf(reply) {
  if (reply.confirm) return "confirm";
  if (reply.clarify) return "clarify";
  return reply.table ? "table" : reply.outcome;
}
