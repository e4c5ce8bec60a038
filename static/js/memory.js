// What the browser remembers between visits; a browser that forbids storage only forgets.

export function recall(name) {
  try { return localStorage.getItem(`otvet.${name}`); } catch { return null; }
}

export function remember(name, value) {
  try { localStorage.setItem(`otvet.${name}`, value); } catch { /* private mode: nothing to keep it in */ }
}
