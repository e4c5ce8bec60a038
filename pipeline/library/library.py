"""The knowledge base and its index as one thing to look after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.generators.worker import GeneratorWorker
from pipeline.index import Index
from pipeline.indexing import EmbedderSource, IndexStatus, index_status, update_index
from pipeline.library.drafter import Drafter
from pipeline.library.drafting import AskModel
from pipeline.library.drafts import DraftBook
from pipeline.library.feedback import FEEDBACK, FeedbackFile
from pipeline.library.question_model import asks_by
from pipeline.library.renewal import Renewal
from pipeline.library.review import Review, Reviewer
from pipeline.library.shelf import TRASH, Shelf
from pipeline.ports import Progress
from pipeline.settings import Settings
from pipeline.storing import fill_store

if TYPE_CHECKING:
    from pipeline.ingest.build import BuildReport

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
        drafts: Questions for ``otvet eval``, proposed and accepted.
        drafter: Proposes them.
    """

    shelf: Shelf
    feedback: FeedbackFile
    renewal: Renewal
    status: Callable[[], IndexStatus]
    index: Callable[[], Index]
    review: Callable[[], Review]
    drafts: DraftBook
    drafter: Drafter


def open_library(
    settings: Settings,
    source: Callable[[], EmbedderSource],
    index: Callable[[], Index],
    worker: Callable[[], GeneratorWorker | None] = lambda: None,
) -> Library:
    """The library of a home folder; nothing is loaded yet.

    Args:
        settings: Where everything lies.
        source: The embedder in force; the one that answers questions already, so that there is one only.
        index: The index in use.
        worker: The language model that answers questions already, if there is one.
    """
    reviewer = Reviewer(settings.index.large_block_tokens)
    drafts = DraftBook(settings.home)

    def renew(progress: Progress) -> BuildReport | None:
        report = update_index(settings, source(), progress=progress, calibrating=True)
        fill_store(settings)
        return report

    def ask() -> AskModel | None:
        found = worker()
        return None if found is None else asks_by(found, lambda: False)

    return Library(
        shelf=Shelf(settings.knowledge_base, settings.home / TRASH),
        feedback=FeedbackFile(settings.home / FEEDBACK),
        renewal=Renewal(renew),
        status=lambda: index_status(settings, source()),
        index=index,
        review=lambda: reviewer.of(index(), source().load()),
        drafts=drafts,
        drafter=Drafter(drafts, lambda: index().chunks, ask),
    )
