// The frame around evidence and answer: status line, button, flags, foot, failure.

import { byId, el, patch } from "./dom.js";
import { has, t } from "./i18n.js";

export function showStatus(text, busy = false) {
  if (byId("status").textContent !== text) byId("status").textContent = text;
  byId("status-row").classList.toggle("busy", busy);
}

export function showButton(asking) {
  byId("go").classList.toggle("stop", asking);
  byId("go-text").textContent = t(asking ? "stop" : "ask");
  byId("go-key").textContent = asking ? "Esc" : "Enter";
}

/** Flags as understood by the server, each with its meaning. */
export function showFlags(flags = []) {
  const items = flags.map((flag) => {
    const count = /^-([1-9])$/.exec(flag)?.[1];
    const key = `chip_${flag.replace(/^-+/, "")}`;
    const meaning = count ? t("chip_n", { count: Number(count) }) : has(key) ? t(key) : "";
    return el("li", {}, el("code", { class: "flag" }, flag), meaning);
  });
  patch(byId("flags"), items);
}

/** What stands behind the reply; which model wrote is known once it is `final`. */
export function showFoot(reply, final) {
  if (!reply) return;
  const parts = [["model", "foot_model"], ["kb_version", "foot_base"], ["request_id", "foot_request"]];
  patch(byId("foot"), parts.filter(([name]) => reply[name] && (name !== "model" || final)).map(([name, key]) => el("span", {}, t(key, { value: name === "model" && reply.model === "extractive" ? t("no_model") : reply[name] }))));
}

// Where a person can mend it.
const WAYS = { token_required: ["/login", "enter_token"], index_missing: ["/kb", "add_documents"] };

export function failure(error, retry) {
  const [address, key] = WAYS[error.code] ?? [];
  return el("div", { class: "notice warning", id: "failure", role: "alert" },
    el("h2", {}, error.message), error.hint && el("p", {}, error.hint),
    el("p", {}, el("button", { type: "button", class: "quiet-button", onclick: retry }, t("retry")), address && " ", address && el("a", { class: "quiet-button", href: address }, t(key))),
    error.requestId && el("p", { class: "small" }, t("foot_request", { value: error.requestId })));
}

/** Seconds since `start`, shown beside the status; the reader of the screen is spared the ticking. */
export function startClock() {
  const start = performance.now();
  const tick = () => { byId("clock").textContent = t("seconds", { number: Math.floor((performance.now() - start) / 1000) }); };
  tick();
  const timer = setInterval(tick, 1000);
  return () => { clearInterval(timer); byId("clock").textContent = ""; };
}
