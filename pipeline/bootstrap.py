"""The composition root: the one place that names concrete classes.

Everything is made here from the settings; nothing heavy happens before a value is asked for. What
only indexing needs, the readers of all formats above all, is imported by the functions that index.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.answer.prompt import fixed_messages
from pipeline.embedders.remembering import RememberingEmbedder
from pipeline.errors import IndexUnusableError, OtvetError
from pipeline.generators.worker import GeneratorWorker
from pipeline.hardware import physical_cores
from pipeline.lazy import Lazy
from pipeline.models.layout import gguf_file, installed, locate
from pipeline.models.profiles import ProfileModels, resolve_profile
from pipeline.models.tuned import TunedGenerator, read_tuning
from pipeline.ports import Embedder, Generator, Progress, Reranker, Service
from pipeline.service import Parts, QAService
from pipeline.settings import Settings
from pipeline.stores import json_store
from pipeline.storing import create_store, create_versions

if TYPE_CHECKING:
    from pipeline.index import Index
    from pipeline.indexing import EmbedderSource, IndexStatus
    from pipeline.ingest.build import BuildReport
    from pipeline.ingest.sources.fetch import FetchReport
    from pipeline.ingest.tokens import BlockSize
    from pipeline.library.library import Library
    from pipeline.remote.client import RemoteClient
    from pipeline.sql.database import Database
    from pipeline.tables.answers import Tables

__all__ = [
    "block_sizes",
    "build",
    "create_cross_encoder",
    "create_databases",
    "create_embedder",
    "create_generator",
    "create_library",
    "create_service",
    "create_store",
    "embedder_source",
    "fetch",
    "index_is_current",
    "index_status",
    "models_in_force",
    "remote_client",
    "tuned_generator",
]

logger = logging.getLogger(__name__)


def models_in_force(settings: Settings) -> ProfileModels:
    """The models that the settings come to on this machine."""
    return resolve_profile(
        settings.profile,
        settings.models,
        embedder=settings.embedder,
        cross_encoder=settings.cross_encoder,
        generator=settings.generator.model,
    )


def create_embedder(settings: Settings) -> Embedder:
    """The embedder in force: onnxruntime for a folder with an ONNX model, else sentence-transformers.

    Where ``remote.embedder_url`` is set it is a server, which is asked for the length of its vectors unless
    the index knows it.

    Raises:
        ModelMissingError: It is not installed.
        ExtraMissingError: It needs the extra ``torch``.
        RemoteError: The server does not answer.
    """
    if settings.remote.embedder_url:
        return _remote_embedder(settings)
    name = models_in_force(settings).embedder
    folder = locate(settings.models, name)
    threads = settings.embedder_threads or _tuned_threads(settings, name) or physical_cores()
    if _has_onnx(folder):
        from pipeline.embedders.onnx import OnnxEmbedder

        return OnnxEmbedder(folder, threads=threads)
    from pipeline.embedders.sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(folder, threads=threads)


def embedder_source(settings: Settings) -> EmbedderSource:
    """The embedder in force, told by its files alone.

    Raises:
        ModelMissingError: It is not installed.
    """
    from pipeline.indexing import EmbedderSource

    if settings.remote.embedder_url:
        from pipeline.embedders import openai

        known = openai.identity_of(settings.remote.embedder_model, settings.remote.embedder_prefix)
        return EmbedderSource(*known, lambda: create_embedder(settings))
    folder = locate(settings.models, models_in_force(settings).embedder)
    if _has_onnx(folder):
        from pipeline.embedders import onnx

        identity = onnx.identity_of(folder)
    else:
        from pipeline.embedders import sentence_transformers

        identity = sentence_transformers.identity_of(folder)
    return EmbedderSource(*identity, lambda: create_embedder(settings))


def _suited(settings: Settings) -> Settings:
    """The order that suits an embedder without token vectors, unless another one is chosen.

    Measured on kb_bsl (docs/scaling.md): the order of the first stage stays ahead of both others.
    """
    if not settings.remote.embedder_url or settings.search.reranker:
        return settings
    search = settings.search.model_copy(update={"reranker": "none"})
    return settings.model_copy(update={"search": search})


def _remote_embedder(settings: Settings) -> Embedder:
    from pipeline.embedders.openai import OpenAiEmbedder

    chosen = settings.remote
    return OpenAiEmbedder(
        remote_client(settings, "embedder"),
        chosen.embedder_model,
        prefix_scheme=chosen.embedder_prefix,
        most_tokens=chosen.embedder_tokens,
        batch=chosen.embedder_batch,
        parallel=chosen.embedder_parallel,
        dimension=_known_dimension(settings),
    )


def _remote_generator(settings: Settings) -> Generator:
    from pipeline.generators.openai import OpenAiGenerator

    chosen = settings.remote
    return OpenAiGenerator(
        remote_client(settings, "generator"),
        chosen.generator_model,
        context_tokens=settings.generator.context_tokens,
    )


def remote_client(settings: Settings, role: str, urls: Sequence[str] | None = None) -> RemoteClient:
    """What speaks to the servers of ``embedder`` or ``generator``, or to some of them."""
    from pipeline.remote.client import Patience, RemoteClient

    chosen = settings.remote
    key: str = getattr(chosen, f"{role}_key").get_secret_value()
    urls = urls or getattr(chosen, f"{role}_url")
    patience = Patience(connect_s=chosen.connect_s, silence_s=chosen.silence_s, retries=chosen.retries)
    return RemoteClient(urls, key=key, patience=patience)


def _known_dimension(settings: Settings) -> int:
    """Of the vectors that this embedder has made before; 0 where there are none."""
    source = embedder_source(settings)
    try:
        manifest = json_store.read_manifest(settings.embeddings)
    except IndexUnusableError:
        return 0
    same = (manifest.embedder_id, manifest.prefix_scheme) == (source.id, source.prefix_scheme)
    return manifest.dimension if same else 0


def create_cross_encoder(settings: Settings) -> Reranker | None:
    """The cross-encoder for ``-ce``, or None where none is installed."""
    name = models_in_force(settings).cross_encoder
    if name is None or (not Path(name).exists() and installed(settings.models, name) is None):
        return None
    folder = locate(settings.models, name)
    threads = settings.embedder_threads or physical_cores()
    if _has_onnx(folder):
        from pipeline.rerankers.onnx_cross_encoder import OnnxCrossEncoder

        return OnnxCrossEncoder(folder, threads=threads)
    from pipeline.rerankers.sentence_transformers import SentenceTransformersCrossEncoder

    return SentenceTransformersCrossEncoder(folder, threads=threads)


def create_generator(settings: Settings) -> Callable[[], Generator] | None:
    """How to load the generator, or None in a profile that does without.

    Where ``remote.generator_url`` is set it is a server, whatever the profile; nothing is asked of it yet.
    """
    if settings.remote.generator_url:
        return lambda: _remote_generator(settings)
    name = models_in_force(settings).generator
    if name is None:
        return None

    def load() -> Generator:
        from pipeline.generators.llama_cpp import EngineOptions, LlamaCppGenerator

        file = gguf_file(locate(settings.models, name))
        tuned = tuned_generator(settings, name, file)
        return LlamaCppGenerator(
            file,
            context_tokens=settings.generator.context_tokens,
            threads=settings.generator.threads or (tuned.threads if tuned else physical_cores()),
            options=EngineOptions(**dict[str, Any](tuned.options)) if tuned else None,
            kv_bytes=settings.generator.kv_memory_mb << 20,
        )

    return load


def tuned_generator(settings: Settings, name: str, file: Path) -> TunedGenerator | None:
    """What ``otvet tune`` measured of this very file on this processor with this engine, if it did."""
    from pipeline.generators.engine_options import EngineOptions
    from pipeline.generators.trial import engine_version

    tuning = read_tuning(settings.models)
    tuned = tuning.generator if tuning else None
    if tuned is None or (tuned.model, tuned.engine) != (name, engine_version()):
        return None
    if not tuned.options.keys() <= {option.name for option in fields(EngineOptions)}:
        return None  # of another version of the product
    return tuned if tuned.size == file.stat().st_size else None


def create_service(settings: Settings) -> QAService:
    """The whole product; building it loads nothing, ``start`` does."""
    settings = _suited(settings)
    embedder: Lazy[Embedder] = Lazy(lambda: RememberingEmbedder(create_embedder(settings)))
    load = create_generator(settings)
    worker = None
    if load is not None:
        remote = settings.remote
        parallel = remote.generator_parallel if remote.generator_url else 1
        worker = Lazy(
            lambda: GeneratorWorker(load, settings.server.queue_size, fixed_messages(), parallel=parallel)
        )
    versions, index = create_versions(settings, embedder)
    parts = Parts(
        index=index,
        embedder=embedder,
        cross_encoder=Lazy(lambda: create_cross_encoder(settings)),
        worker=worker,
        versions=versions,
        tables=_tables(settings, embedder, worker),
    )
    return QAService(parts, settings)


def _tables(
    settings: Settings, embedder: Lazy[Embedder], worker: Lazy[GeneratorWorker] | None
) -> Tables | None:
    """What answers over the declared databases, if there are any; none of them is opened yet."""
    databases = create_databases(settings)
    if not databases:
        return None
    from pipeline.tables.answers import Tables
    from pipeline.tables.costs import COSTS_FILE, Costs
    from pipeline.tables.tools import Tools

    costs = Costs(settings.home / COSTS_FILE)
    return Tables(Tools(databases, embedder, worker, settings.sql, settings.home, costs))


def create_databases(settings: Settings) -> dict[str, Database]:
    """The databases that ``sources.toml`` declares, by name, but for those of a kind that cannot be asked.

    A file that cannot be read declares none.
    """
    from pipeline.ingest.sources.declared import SOURCES_FILE, load_sources

    if not (settings.knowledge_base / SOURCES_FILE).is_file():
        return {}
    from pipeline.sql.database import open_databases

    found: dict[str, Database] = {}
    try:
        declared = load_sources(settings.knowledge_base).database
    except OtvetError as error:  # indexing tells it to whoever looks after the knowledge base
        logger.warning("%s", error)
        return found
    for source in declared:
        try:
            found |= open_databases([source], settings.knowledge_base, settings.sql)
        except OtvetError as error:  # no reason to leave the others unasked
            logger.warning("%s", error)
    return found


def create_library(settings: Settings, service: Service) -> Library:
    """The knowledge base to be looked after; it shares index and embedder with a service made here."""
    from pipeline.library.library import open_library

    own = service.parts if isinstance(service, QAService) else None

    def source() -> EmbedderSource:
        found = embedder_source(settings)
        return replace(found, load=own.embedder.get) if own else found.kept()

    def index() -> Index:
        return own.index() if own else json_store.load(settings.embeddings)

    def worker() -> GeneratorWorker | None:
        return own.worker.get() if own and own.worker else None

    return open_library(settings, source, index, worker)


def build(
    settings: Settings,
    *,
    rebuild: bool = False,
    progress: Progress | None = None,
    source: EmbedderSource | None = None,
    folder: Path | None = None,
) -> BuildReport | None:
    """Index the knowledge base; None when the index is current already.

    See `pipeline.indexing.update_index`; without a ``source`` it is the embedder in force.

    Raises:
        IndexLockedError: Another process is indexing.
        ModelMissingError: The embedder is not installed.
    """
    from pipeline.indexing import update_index

    chosen = source or embedder_source(settings)
    return update_index(settings, chosen, rebuild=rebuild, progress=progress, folder=folder, calibrating=True)


def fetch(settings: Settings, progress: Progress | None = None) -> FetchReport:
    """Bring what ``sources.toml`` names into the knowledge base; the only time indexing uses a network.

    Raises:
        IndexNotWrittenError: The knowledge base cannot be written to.
        SettingsError: ``sources.toml`` is wrong.
        ExtraMissingError: A database needs a package that is not installed.
    """
    from pipeline.ingest.sources.fetch import fetch_sources
    from pipeline.stores.faults import writing

    with writing(settings.knowledge_base):
        return fetch_sources(settings.knowledge_base, progress=progress)


def index_status(settings: Settings) -> IndexStatus:
    """How the index stands to the knowledge base, file by file; see `pipeline.indexing.index_status`."""
    from pipeline import indexing

    return indexing.index_status(settings, embedder_source(settings))


def block_sizes(settings: Settings) -> list[BlockSize]:
    """Token counts of all blocks of the knowledge base, by the embedder in force."""
    from pipeline.ingest.tokens import token_report

    return token_report(settings.knowledge_base, create_embedder(settings), settings.index.large_block_tokens)


def index_is_current(settings: Settings, embedder: Embedder) -> bool:
    """True when the index on disk is whole and says the same as a new one would."""
    from pipeline import indexing

    return indexing.index_is_current(settings, embedder)


def _tuned_threads(settings: Settings, embedder: str) -> int:
    tuning = read_tuning(settings.models)
    tuned = tuning.encoder if tuning else None
    return tuned.threads if tuned is not None and tuned.model == embedder else 0


def _has_onnx(folder: Path) -> bool:
    return any(folder.glob("*.onnx")) or any(folder.glob("onnx/*.onnx"))
