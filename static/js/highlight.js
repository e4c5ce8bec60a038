// Which words of a passage answer to words of the question. A picture for the eye only: it ranks nothing.

const SMALL = new Set(
  ("без был была были было быть вам вас весь вот все всё где для его ему если есть еще ещё или как какая какие какой " +
   "когда кто кого либо мне можно нам нас над надо наш него нет нужно она они оно перед под при про сколько так там " +
   "тем того тоже только тот тут уже чего чем что чтобы эта эти это этот and are can did does for from had has have " +
   "how into its not that the their them then there they this was what when where which who why will with you your").split(" "),
);

const words = (text) => [...text.matchAll(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu)];
const plain = (word) => word.toLowerCase().replaceAll("ё", "е");

function shared(a, b) {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n += 1;
  return n;
}

// Inflection changes endings: most of the longer word has to be common. Codes and numbers must be equal.
function alike(a, b) {
  if (a === b) return true;
  if (/\p{N}/u.test(a + b) || Math.min(a.length, b.length) < 4) return false;
  return shared(a, b) >= Math.max(4, Math.max(a.length, b.length) - 3);
}

/** Cut `text` into [{text, hit}] with the words that match the question marked. */
export function highlighted(text, question) {
  const wanted = words(question).map((match) => plain(match[0]))
    .filter((word) => !SMALL.has(word) && (word.length > 2 || /\p{N}/u.test(word)));
  const pieces = [];
  let from = 0;
  for (const match of words(text)) {
    const word = plain(match[0]);
    if (!wanted.some((other) => alike(word, other))) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), hit: false });
    pieces.push({ text: match[0], hit: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), hit: false });
  return pieces;
}
