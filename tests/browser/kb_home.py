"""A home folder with both servers over it: the real pipeline, its models replaced by made ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from page_service import serve_really

from pipeline import bootstrap
from pipeline.embedders.hash import HashEmbedder
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.indexing import EmbedderSource
from pipeline.settings import IndexSettings, Settings

ANSWER = "Отпуск длится 28 дней [1]."


@contextmanager
def serve_home(kind: str, home: Path, *, indexed: bool = False) -> Iterator[str]:
    """Serve ``home`` by ``kind``, its files indexed already or not; yields the address."""
    embedder = HashEmbedder(dimension=1024)
    spec = embedder.spec
    source = EmbedderSource(spec.id, spec.prefix_scheme, lambda: embedder)
    (home / "knowledge_base").mkdir(exist_ok=True)
    settings = Settings(home=home, index=IndexSettings(large_block_tokens=30))
    made = {
        "create_embedder": lambda _: embedder,
        "embedder_source": lambda _: source,
        "create_generator": lambda _: lambda: ScriptedGenerator([ANSWER]),
    }
    with patch.multiple(bootstrap, **made):
        if indexed:
            bootstrap.build(settings)
        service = bootstrap.create_service(settings)
        service.start()
        try:
            with serve_really(kind, service, settings=settings) as address:
                yield address
        finally:
            service.close()
