"""What ``otvet eval run`` asks, of what, and who answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.evaluation.asking import Asking
    from pipeline.evaluation.questions import KnownQuestion
    from pipeline.evaluation.runs import Plan
    from pipeline.remote.client import RemoteClient
    from pipeline.settings import Settings

__all__ = ["Options", "Prepared", "plan_of", "prepared", "unknown_files"]


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    top_k: int
    answers: bool
    strategy: str
    reranker: str
    name: str
    fresh: bool
    baseline: str
    judge: str
    judge_model: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """Ready to ask; the knowledge base as it is then."""

    asking: Asking
    chunks: int
    files: frozenset[str]


@contextmanager
def prepared(settings: Settings, options: Options) -> Iterator[Prepared]:
    """The service, loaded, and the judge; both are closed at the end."""
    from pipeline import bootstrap
    from pipeline.evaluation.asking import Asking
    from pipeline.evaluation.judge import Judge
    from pipeline.types import AskRequest
    from pipeline.versions import AtHand

    request = AskRequest(
        question="",
        use_rag=options.answers,
        top_k=options.top_k,
        strategy=options.strategy,
        reranker=options.reranker,
        language=console.language(),
    )
    service = bootstrap.create_service(settings)
    server = _judge_server(settings, options.judge) if options.judge else None
    try:
        service.start(wait=True, generator=options.answers)
        versions = service.parts.versions or AtHand(service.parts.index)
        with versions.open() as base:
            manifest, chunks = base.manifest, base.statistics.chunks
        embedder = service.parts.embedder.get() if options.answers else None
        judge = Judge(server, options.judge_model) if server else None
        asking = Asking(service, embedder, request, manifest.build_id, judge)
        yield Prepared(asking, chunks, frozenset(manifest.files))
    finally:
        service.close()
        if server is not None:
            server.close()


def plan_of(
    file: Path, questions: Sequence[KnownQuestion], kb_version: str, settings: Settings, options: Options
) -> Plan:
    """What is asked of what; nothing secret is in it."""
    from pipeline import __version__, bootstrap
    from pipeline.evaluation.records import key_of
    from pipeline.evaluation.runs import Plan

    models, remote = bootstrap.models_in_force(settings), settings.remote
    fixed: dict[str, Any] = {
        "version": __version__,
        "search": settings.search.model_dump(mode="json"),
        "store": settings.store.kind,
        "embedder": [models.embedder, *remote.embedder_url, remote.embedder_model],
        "strategy": options.strategy,
        "reranker": options.reranker,
    }
    if options.answers:
        fixed["generator"] = settings.generator.model_dump(mode="json")
        fixed["generator_model"] = [models.generator, *remote.generator_url, remote.generator_model]
    if options.judge:
        fixed["judge"] = {"url": options.judge, "model": options.judge_model}
    return Plan(file.name, tuple(map(key_of, questions)), kb_version, fixed, options.top_k, options.answers)


def unknown_files(questions: Sequence[KnownQuestion], files: Collection[str]) -> list[str]:
    """Files that the questions name and the index has not."""
    from pipeline.evaluation.questions import is_named

    named = sorted({file for question in questions for file in question.files})
    # A page of a database is told by the database's file.
    return [file for file in named if not any(is_named(one, file) or is_named(file, one) for one in files)]


def _judge_server(settings: Settings, url: str) -> RemoteClient:
    from pipeline.remote.client import RemoteClient

    return RemoteClient([url], key=settings.judge_key.get_secret_value())
