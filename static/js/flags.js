// Flags of the question as switches: what is switched is written into the question, what is typed moves the switches.

export const LETTERS = ["-s", "-ce", "-k", "-d", "-t"];
const FLAG = /^-(?:[1-9]|s|ce|k|d|t)$/;
const OTHER = { "-k": "-d", "-d": "-k" };

/** The question and the flags at its end; null where `--` has ended the reading of flags. */
export function split(text) {
  const words = text.trim().split(/\s+/);
  let first = words.length;
  while (first > 0 && (FLAG.test(words[first - 1]) || words[first - 1] === "--")) first -= 1;
  const tail = words.slice(first);
  if (tail.includes("--") || words[0] === "--") return null;
  const body = tail.length ? text.trim().replace(new RegExp(`(?:\\s*${tail.map((word) => `${word}`).join("\\s+")})$`), "") : text;
  return { body, flags: tail };
}

const count = (flag) => /^-[1-9]$/.test(flag);

/** The text with `flag` on or off; a number takes the place of another, -k that of -d. */
export function withFlag(text, flag, on) {
  const found = split(text);
  if (!found) return text;
  const kept = found.flags.filter((one) => one !== flag && !(on && (one === OTHER[flag] || (count(flag) && count(one)))));
  return [found.body.trimEnd(), ...kept, ...(on ? [flag] : [])].filter(Boolean).join(" ");
}

/** The number among the flags, or an empty string. */
export const number = (flags) => flags.findLast(count) ?? "";
