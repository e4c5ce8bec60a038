"""The knowledge base and its index as one thing to look after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.index import Index
from pipeline.indexing import EmbedderSource, IndexStatus, index_status, update_index
from pipeline.library.feedback import FEEDBACK, FeedbackFile
from pipeline.library.renewal import Renewal
from pipeline.library.review import Review, Reviewer
from pipeline.library.shelf import TRASH, Shelf
from pipeline.settings import Settings

__all__ = ["Library", "open_library"]


@dataclass(frozen=True, slots=True)
class Library:
    """What the page of the knowledge base works with.

    Attributes:
        shelf: Its files.
        feedback: What people thought of answers.
        renewal: Indexing in the background.
        status: How the index stands to the files.
        index: The index in use.
        review: What of that deserves a second look.
    """

    shelf: Shelf
    feedback: FeedbackFile
    renewal: Renewal
    status: Callable[[], IndexStatus]
    index: Callable[[], Index]
    review: Callable[[], Review]


def open_library(
    settings: Settings, source: Callable[[], EmbedderSource], index: Callable[[], Index]
) -> Library:
    """The library of a home folder; nothing is loaded yet.

    Args:
        settings: Where everything lies.
        source: The embedder in force; the one that answers questions already, so that there is one only.
        index: The index in use.
    """
    reviewer = Reviewer(settings.index.large_block_tokens)
    return Library(
        shelf=Shelf(settings.knowledge_base, settings.home / TRASH),
        feedback=FeedbackFile(settings.home / FEEDBACK),
        renewal=Renewal(
            lambda progress: update_index(settings, source(), progress=progress, calibrating=True)
        ),
        status=lambda: index_status(settings, source()),
        index=index,
        review=lambda: reviewer.of(index(), source().load()),
    )
