// What each way is, for and against it: written by the server, from its registration.

import { el } from "../js/dom.js";
import { t } from "../js/i18n.js";

export function cards(described, usual) {
  return described.map((one) => el(
    "article", { class: "card" },
    el("h3", {}, one.title, " ", one.name === usual && el("span", { class: "badge" }, t("default"))),
    el("p", { class: "note" }, el("code", {}, one.name), " · ", `${t("flag")} `, el("code", {}, one.flag)),
    el("p", {}, one.what),
    el("dl", {}, ...["pros", "cons", "best_for"].flatMap((key) => [el("dt", {}, t(key)), el("dd", {}, one[key])])),
  ));
}
