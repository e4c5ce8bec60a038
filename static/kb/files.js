// The table of files, and what can be brought back.

import { el } from "../js/dom.js";
import { currentLanguage, t } from "../js/i18n.js";

const SHOWN = 300;
const fold = (text) => text.toLowerCase().replaceAll("ё", "е");
const number = (value) => new Intl.NumberFormat(currentLanguage(), { maximumFractionDigits: 1 }).format(value);

export function size(bytes) {
  if (bytes < 1024) return t("bytes", { number: number(bytes) });
  return bytes < 2 ** 20 ? t("kilobytes", { number: number(bytes / 1024) }) : t("megabytes", { number: number(bytes / 2 ** 20) });
}

const cell = (name, ...children) => el("td", { "data-name": t(`column_${name}`), class: `cell-${name}` }, ...children);

function row(file, tokens, { remove, replace }) {
  const notes = [file.reason, ...file.notes].filter(Boolean).map((note) => el("span", { class: "note" }, note));
  const there = file.bytes !== null;
  return el("tr", {},
    el("th", { scope: "row" }, file.file),
    cell("state", el("span", { class: `badge state-${file.state}` }, t(`state_${file.state}`)), ...notes),
    cell("chunks", file.chunks ? number(file.chunks) : "–"),
    cell("tokens", tokens === undefined ? "–" : number(tokens)),
    cell("encoding", file.encoding ?? "–"),
    cell("size", there ? size(file.bytes) : "–"),
    cell("actions", there && el("button", { type: "button", class: "quiet-button", "aria-label": t("replace_file", { file: file.file }), onclick: () => replace(file.file) }, t("replace")),
      there && el("button", { type: "button", class: "quiet-button", "aria-label": t("remove_file", { file: file.file }), onclick: () => remove(file.file) }, t("remove"))));
}

export function filesTable(files, tokens, filter, actions) {
  const wanted = fold(filter.trim());
  const found = files.filter((file) => fold(file.file).includes(wanted));
  const head = ["file", "state", "chunks", "tokens", "encoding", "size", "actions"].map((name) => el("th", { scope: "col" }, t(`column_${name}`)));
  const more = found.length > SHOWN && el("tfoot", {}, el("tr", {}, el("td", { colspan: 7 }, t("more", { count: SHOWN }))));
  return el("table", { class: "files" }, el("caption", { class: "unseen" }, t("files")), el("thead", {}, el("tr", {}, ...head)),
    el("tbody", {}, ...found.slice(0, SHOWN).map((file) => row(file, tokens.get(file.file), actions))), more);
}

export function removedRows(removed, restore) {
  const when = new Intl.DateTimeFormat(currentLanguage(), { dateStyle: "medium", timeStyle: "short" });
  return removed.map(({ id, file, removed_at: at, bytes }) => el("li", {},
    el("span", {}, file), el("span", { class: "quiet" }, `${when.format(new Date(at))} · ${size(bytes)}`),
    el("button", { type: "button", class: "quiet-button", "aria-label": t("restore_file", { file }), onclick: () => restore(id, file) }, t("undo"))));
}
