// The map in a file of its own: data and texts stand in the page, nobody can be asked.

import { byId } from "../js/dom.js";
import { t, use } from "../js/i18n.js";
import { show } from "./view.js";

const given = JSON.parse(byId("given").textContent);
use(given.language, given.texts);
document.title = `Otvet: ${t("title")}`;
show(given.map, { place: given.place });
