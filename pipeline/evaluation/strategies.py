"""The same knowledge base cut in several ways: an index for each strategy, beside the real one.

They lie in ``embeddings/.eval/NAME/`` and are kept, so that the next comparison only reads what has
changed. What the real index holds of equal chunks is not encoded again.
"""

from __future__ import annotations

from pathlib import Path

from pipeline import bootstrap
from pipeline.indexing import EmbedderSource
from pipeline.ports import Progress
from pipeline.settings import ChunkingName, Settings, StoreSettings

__all__ = ["cut_by", "home_of"]


def home_of(settings: Settings, name: ChunkingName) -> Path:
    """The home folder of the index that one strategy makes of everything."""
    return settings.embeddings / ".eval" / name


def cut_by(
    settings: Settings, name: ChunkingName, source: EmbedderSource, progress: Progress | None = None
) -> Settings:
    """Settings to serve the knowledge base with, cut by one strategy; its index is brought up to date.

    Raises:
        OtvetError: As from `bootstrap.build`.
    """
    index = settings.index.model_copy(update={"chunking": name, "chunking_by_format": {}})
    # These indexes are files of this machine, whatever keeps the real one.
    changed = settings.model_copy(update={"index": index, "store": StoreSettings()})
    home = home_of(settings, name)
    bootstrap.build(changed, progress=progress, source=source, folder=home / "embeddings")
    return changed.model_copy(update={"home": home})
