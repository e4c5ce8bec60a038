// Files on their way to the server: dropped or chosen, one after the other, each with its own line.

import { change } from "../js/api.js";
import { byId, el } from "../js/dom.js";
import { t } from "../js/i18n.js";

const LIMIT = 25 * 2 ** 20;

const address = (name, replace) => `/kb/files/${name.split("/").map(encodeURIComponent).join("/")}${replace ? "?replace=1" : ""}`;

function line(name) {
  const said = el("span", { class: "quiet" }, t("sending"));
  const item = el("li", {}, el("span", {}, name), said);
  byId("uploads").append(item);
  return {
    say: (text, kind) => { said.textContent = text; item.className = kind ?? ""; },
    offer: (text, action) => {
      const button = el("button", { type: "button", class: "quiet-button", onclick: () => { item.remove(); action(); } }, text);
      item.append(button);
      return button;
    },
    remove: () => item.remove(),
  };
}

async function send({ file, name, replace }) {
  const shown = line(name);
  if (file.size > LIMIT) {
    shown.say(t("too_large"), "refused");
    shown.offer(t("dismiss"), () => undefined);
    return false;
  }
  try {
    const { replaced } = await change("PUT", address(name, replace), file);
    shown.say(t(replaced ? "sent_instead" : "sent"), "sent");
    setTimeout(shown.remove, 8000);
    return true;
  } catch (error) {
    shown.say(error.message, "refused");
    if (error.code === "file_taken") shown.offer(t("replace"), () => byId("drop").dispatchEvent(new CustomEvent("again", { detail: [{ file, name, replace: true }] })));
    shown.offer(t("dismiss"), () => undefined);
    return false;
  }
}

/** Send files, one at a time; how many arrived. */
export async function sendFiles(files) {
  let arrived = 0;
  for (const one of files) arrived += Number(await send(one));
  return arrived;
}

/** Tell `onFiles` what is dropped on the page or chosen. */
export function listenToDrop(onFiles) {
  const drop = byId("drop");
  const named = (files) => {
    const folder = byId("folder").value.trim().replace(/^\/+|\/+$/g, "");
    return [...files].map((file) => ({ file, name: folder ? `${folder}/${file.name}` : file.name, replace: false }));
  };
  // Over the whole page: a file that misses the field must not make the browser leave for it.
  addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
  addEventListener("drop", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    drop.classList.remove("over");
    const items = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.());
    const files = [...event.dataTransfer.files].filter((_, place) => !items[place]?.isDirectory);
    if (files.length < items.length) line("").say(t("folders_no"), "refused");
    onFiles(named(files));
  });
  drop.addEventListener("again", (event) => onFiles(event.detail));
  byId("pick").addEventListener("change", ({ target }) => {
    onFiles(named(target.files));
    target.value = "";
  });
}
