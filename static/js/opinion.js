// Right or wrong: one press keeps the opinion on the server's disk, a comment and the right file may follow.

import { change } from "./api.js";
import { byId, el } from "./dom.js";
import { t } from "./i18n.js";
import { judge, past } from "./past.js";

/** Files that the answer names by its markers; of an answer without any, that of the best source. */
function files({ answer, sources }) {
  const named = new Set([...answer.matchAll(/\[(\d{1,2})\]/g)].map((match) => Number(match[1])));
  const cited = sources.filter((source) => named.has(source.n));
  return [...new Set((cited.length ? cited : sources.slice(0, 1)).map((source) => source.file))];
}

async function send(asked, reply, verdict, more = {}) {
  const { answer, outcome, kb_version, model } = reply;
  const said = byId("status");
  try {
    await change("POST", "/feedback", { question: asked, verdict, answer, outcome, kb_version, model, files: files(reply), ...more });
    judge(asked, verdict);
    said.textContent = t("opinion_kept");
    return true;
  } catch (error) {
    said.textContent = [error.message, error.hint].filter(Boolean).join(" ");
    return false;
  }
}

function form(asked, reply, verdict) {
  const comment = el("textarea", { id: "comment", rows: 2, maxlength: 2000 });
  const right = el("input", { id: "right-file", type: "text", maxlength: 400, list: "right-files", autocomplete: "off" });
  const known = el("datalist", { id: "right-files" }, ...[...new Set(reply.sources.map((source) => source.file))].map((file) => el("option", { value: file })));
  const node = el("form", { class: "opinion", id: "opinion" },
    el("label", {}, el("span", {}, t("opinion_comment")), comment),
    verdict === "bad" && el("label", {}, el("span", {}, t("opinion_file")), right, known),
    el("p", {}, el("button", { type: "submit", class: "quiet-button" }, t("opinion_send"))));
  node.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await send(asked, reply, verdict, { comment: comment.value, right_file: right.value.trim() })) node.remove();
  });
  return node;
}

/** The two buttons for the answer to `asked`. */
export function thumbs(asked, reply) {
  const before = past().find((one) => one.question === asked.trim())?.verdict;
  return ["good", "bad"].map((verdict) => {
    const button = el("button", { type: "button", class: `quiet-button thumb ${verdict}`, "aria-pressed": String(before === verdict) }, t(`thumb_${verdict}`));
    button.addEventListener("click", async () => {
      if (!(await send(asked, reply, verdict))) return;
      for (const one of byId("actions").querySelectorAll(".thumb")) one.setAttribute("aria-pressed", String(one.classList.contains(verdict)));
      byId("opinion")?.remove();
      byId("actions").after(form(asked, reply, verdict));
      byId("comment").focus();
    });
    return button;
  });
}
