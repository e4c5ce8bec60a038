"""A Unigram tokenizer that starts at once: ``tokenizers`` with only the pieces a text can use.

A word is cut into the pieces of highest total score. Pieces that do not occur in a word cannot take
part, so a model of those that do occur gives the same cut, and it is built in a fraction of a
millisecond. Normalising, word borders, offsets and special tokens stay the library's own work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from pipeline.models.piece_table import PieceTable

if TYPE_CHECKING:
    from tokenizers import Encoding, Token

__all__ = ["QuickTokenizer", "TextCoder"]

_WORDS_KEPT = 30_000
_LONGEST_KEPT = 40


class TextCoder(Protocol):
    """What embedders and rerankers ask of a tokenizer: `tokenizers.Tokenizer`, or the one here."""

    def encode(self, sequence: str, *, add_special_tokens: bool = True) -> Encoding:
        """Tokenise a text."""
        ...

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Join one or two texts and add the special tokens."""
        ...

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens that adds."""
        ...


class QuickTokenizer:
    """Gives what the whole tokenizer gives; cuts no text, pads nothing, reads no special token from a text.

    Words seen before are remembered. Safe to use from many threads.

    Args:
        table: The pieces.
    """

    def __init__(self, table: PieceTable) -> None:
        from tokenizers import Tokenizer

        rest = Tokenizer.from_str(table.rest)
        self._normalizer = rest.normalizer
        self._pre_tokenizer = rest.pre_tokenizer
        self._post_processor = rest.post_processor
        self._table = table
        self._words: dict[str, list[Token]] = {}

    def encode(self, sequence: str, *, add_special_tokens: bool = True) -> Encoding:
        """Tokenise a text."""
        from tokenizers import PreTokenizedString

        text = PreTokenizedString(sequence)
        text.normalize(self._normalizer.normalize)
        self._pre_tokenizer.pre_tokenize(text)
        words = dict.fromkeys(word for word, _, _ in text.get_splits("normalized", "char"))
        text.tokenize(self._cut(tuple(words)).__getitem__)
        return self.post_process(text.to_encoding(0, None), None, add_special_tokens)

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Join one or two texts and add the special tokens."""
        joined: Encoding = self._post_processor.process(encoding, pair, add_special_tokens)
        return joined

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens `post_process` adds."""
        return int(self._post_processor.num_special_tokens_to_add(is_pair))

    def _cut(self, words: Sequence[str]) -> dict[str, list[Token]]:
        known = self._words
        cut = {word: known[word] for word in words if word in known}
        new = [word for word in words if word not in cut]
        if new:
            fresh = self._learned(new)
            cut.update(fresh)
            if len(known) > _WORDS_KEPT:
                known = self._words = {}  # a new one: other threads may be reading the old one
            known.update((word, tokens) for word, tokens in fresh.items() if len(word) <= _LONGEST_KEPT)
        return cut

    def _learned(self, words: Sequence[str]) -> dict[str, list[Token]]:
        from tokenizers import Token
        from tokenizers.models import Unigram

        table = self._table
        rows = list(dict.fromkeys((*table.fixed, *table.rows_in("".join(words)))))
        model = Unigram([table.piece(row) for row in rows], rows.index(table.unknown), False)
        return {
            word: [Token(rows[token.id], token.value, token.offsets) for token in model.tokenize(word)]
            for word in words
        }
