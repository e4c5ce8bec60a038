// Elements without markup strings: whatever comes from a document, the model or the server becomes a text node.

export const byId = (id) => document.getElementById(id);

/** Make an element; `children` are nodes or plain texts, falsy ones are left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child || child === 0));
  return node;
}

/** The address if it is http or https, else null: a link from a document is never trusted further. */
export function webAddress(link) {
  try {
    const url = new URL(link);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

/** Our own page about a source, at its passage. */
export const sourceAddress = (source) => `/source/${encodeURIComponent(source.chunk_id)}#passage`;

/** The source's address in the world, null when it has none: its `link` is then our own page again. */
export function originalAddress(source) {
  const address = webAddress(source.link);
  return address && !new URL(address).pathname.startsWith("/source/") ? address : null;
}

/** Show `nodes` in `parent`, leaving equal leading nodes untouched: selection and focus in them survive. */
export function patch(parent, nodes) {
  const old = [...parent.childNodes];
  let same = 0;
  while (same < nodes.length && same < old.length && old[same].isEqualNode(nodes[same])) same += 1;
  for (const node of old.slice(same)) node.remove();
  parent.append(...nodes.slice(same));
}
