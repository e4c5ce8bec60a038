// Only browsers without modules run this: the page would stay silent in them, so it says what still works.
document.getElementById("old").hidden = false;
