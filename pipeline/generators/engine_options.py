"""The choices that decide how fast a model runs on a given CPU."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EngineOptions"]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What decides speed and memory on a given CPU; none of it changes what a model knows.

    Attributes:
        repack: Let llama.cpp rearrange the weights at load. Costs memory and start-up time; wins on
            some CPUs and loses a third of the prompt speed on others.
        flash_attention: Use the fused attention kernel.
        use_mmap: Map the file instead of reading it; pages are shared and loaded on first use.
        n_batch: Prompt tokens a call.
        n_ubatch: Tokens computed at once, at most ``n_batch``.
    """

    repack: bool = False
    flash_attention: bool = True
    use_mmap: bool = True
    n_batch: int = 256
    n_ubatch: int = 256
