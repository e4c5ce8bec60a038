"""The tokenizer of multilingual-e5-small (XLM-RoBERTa's) as a ``tokenizers`` object.

Unigram over SentencePiece's pieces: https://arxiv.org/abs/1804.10959.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.models.convert.e5_file import E5File

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["build_tokenizer"]

# SentencePiece never finds control pieces in a text; ``tokenizers`` would, with their score of 0.
# So low a score keeps "</s>" in a document plain text.
_NEVER = -1000.0


def build_tokenizer(source: E5File) -> Tokenizer:
    """Normalise (NMT rules, NFKC, runs of spaces to one), cut at spaces, Unigram, ``<s> … </s>``."""
    from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram

    special = source.special
    control = {special.begin, special.end, special.pad, special.unknown, len(source.pieces) - 1}
    vocabulary = [
        (piece, _NEVER if number in control else score) for number, (piece, score) in enumerate(source.pieces)
    ]
    tokenizer = Tokenizer(Unigram(vocabulary, special.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="always")
    begin, end = source.pieces[special.begin][0], source.pieces[special.end][0]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, special.begin), (end, special.end)],
    )
    tokenizer.add_special_tokens(
        [AddedToken(source.pieces[number][0], normalized=False, special=True) for number in sorted(control)]
    )
    return tokenizer
