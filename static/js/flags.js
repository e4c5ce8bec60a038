// Flags of the question as switches: what is switched is written into the question, what is typed moves the switches.

// Of these one takes the place of another: ways to search, ways to order. `learn` brings in what the server knows besides.
const groups = { strategies: ["-all", "-k", "-d", "-rrf", "-zs"], rerankers: ["-nr", "-to", "-li", "-ce"] };
const titles = new Map();
const OTHERS = ["-s", "-t"];

/** All flags that are no numbers, in the order of their switches. */
export const letters = () => [...OTHERS, ...groups.strategies, ...groups.rerankers];

/** What the server calls a flag's way, if it said so. */
export const titleOf = (flag) => titles.get(flag) ?? "";

/** Take over the registered ways of `GET /strategies`. */
export function learn(known) {
  for (const name of Object.keys(groups)) {
    groups[name] = known[name].map(({ flag }) => flag);
    for (const { flag, title } of known[name]) titles.set(flag, title);
  }
}

const count = (flag) => /^-[1-9]$/.test(flag);
const isFlag = (word) => count(word) || letters().includes(word);
const excludes = (one, other) => (count(one) && count(other)) || Object.values(groups).some((group) => group.includes(one) && group.includes(other));

/** The question and the flags at its end; null where `--` has ended the reading of flags. */
export function split(text) {
  const words = text.trim().split(/\s+/);
  let first = words.length;
  while (first > 0 && (isFlag(words[first - 1]) || words[first - 1] === "--")) first -= 1;
  const tail = words.slice(first);
  if (tail.includes("--") || words[0] === "--") return null;
  const body = tail.length ? text.trim().replace(new RegExp(`(?:\\s*${tail.map((word) => `${word}`).join("\\s+")})$`), "") : text;
  return { body, flags: tail };
}

/** The text with `flag` on or off; one of a group takes the place of another, a number that of a number. */
export function withFlag(text, flag, on) {
  const found = split(text);
  if (!found) return text;
  const kept = found.flags.filter((one) => one !== flag && !(on && excludes(one, flag)));
  return [found.body.trimEnd(), ...kept, ...(on ? [flag] : [])].filter(Boolean).join(" ");
}

/** The number among the flags, or an empty string. */
export const number = (flags) => flags.findLast(count) ?? "";
