// What a reply is.

/** True for a reply whose answer stands by a table or a decision, not in the voices of documents and model. */
export const standsAlone = (reply) => Boolean(reply?.route && (reply.route === "sql" || reply.confirm || reply.clarify));
