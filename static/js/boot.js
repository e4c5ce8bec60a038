// Runs before the first paint: which language the page speaks. The file itself is written in Russian,
// so any other language hides the page until its texts are in place (at most a moment).
(function () {
  "use strict";
  var known = ["ru", "en"];
  var wanted = null;
  try { wanted = localStorage.getItem("otvet.language"); } catch (error) { wanted = null; }
  if (known.indexOf(wanted) < 0) {
    wanted = (navigator.languages || []).map(function (tag) { return tag.slice(0, 2).toLowerCase(); })
      .filter(function (tag) { return known.indexOf(tag) >= 0; })[0] || "ru";
  }
  document.documentElement.lang = wanted;
  if (wanted !== "ru") {
    document.documentElement.classList.add("translating");
    setTimeout(function () { document.documentElement.classList.remove("translating"); }, 1500);
  }
})();
