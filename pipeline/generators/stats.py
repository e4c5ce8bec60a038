"""What a generation cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ["GenerationStats", "ReportsStats"]


@dataclass(frozen=True, slots=True)
class GenerationStats:
    """Measurements of one generation.

    Attributes:
        prompt_tokens: Tokens of the whole prompt.
        reused_tokens: Of these, already in the KV cache.
        prefill_s: Seconds until the answer could start.
        answer_tokens: Tokens generated.
        decode_s: Seconds of generating them.
    """

    prompt_tokens: int = 0
    reused_tokens: int = 0
    prefill_s: float = 0.0
    answer_tokens: int = 0
    decode_s: float = 0.0

    @property
    def prefill_rate(self) -> float:
        """Prompt tokens read a second; 0 when nothing was read."""
        return (self.prompt_tokens - self.reused_tokens) / self.prefill_s if self.prefill_s > 0 else 0.0

    @property
    def decode_rate(self) -> float:
        """Answer tokens a second; 0 before the first."""
        return self.answer_tokens / self.decode_s if self.decode_s > 0 else 0.0


@runtime_checkable
class ReportsStats(Protocol):
    """A generator that measures itself."""

    @property
    def stats(self) -> GenerationStats:
        """Measurements of the last generation."""
        ...
