"""The server that ``load.py`` loads: the real product over a made-up warehouse list.

Every object of the list has its own code, and a question names one object. An answer that holds any
other code has been mixed up with another one.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipeline import bootstrap
from pipeline.embedders.hash import HashEmbedder
from pipeline.errors import GeneratorError
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.generators.worker import GeneratorWorker
from pipeline.ingest.build import build_index
from pipeline.lazy import Lazy
from pipeline.ports import ChatMessage, Embedder, Generator, GeneratorSpec, Sampling
from pipeline.service import Parts, QAService
from pipeline.settings import Settings, load_settings
from pipeline.web.serving import FastapiServer, FlaskServer, listen, spare_threads

__all__ = ["BREAK", "CODE", "GENERATORS", "OBJECTS", "code_of", "object_name"]

_COLOURS = (
    "белый",
    "чёрный",
    "красный",
    "синий",
    "зелёный",
    "жёлтый",
    "серый",
    "лиловый",
    "рыжий",
    "голубой",
)
_THINGS = (
    *("насос", "кран", "болт", "шкаф", "стол", "кабель", "фильтр", "станок", "мотор", "вентиль"),
    *("привод", "клапан", "щит", "ящик", "прибор", "редуктор", "лоток", "шланг", "кожух", "шкив"),
)
OBJECTS = len(_COLOURS) * len(_THINGS)
BREAK = "АВАРИЯ-ДВИГАТЕЛЯ"
"""A question with this word makes the engine fail."""

CODE = re.compile(r"К-\d{5}")
GENERATORS = {
    "scripted": "",
    "smollm2": "smollm2-135m-instruct",
    "qwen": "qwen2.5-coder-1.5b-instruct-q4_k_m",
}


def object_name(number: int) -> str:
    """The object that a question asks about."""
    return f"{_COLOURS[number % len(_COLOURS)]} {_THINGS[number // len(_COLOURS)]}"


def code_of(number: int) -> str:
    """Its code; no two objects share one."""
    return f"К-{10_000 + number * 443 % 90_000}"


def main() -> None:
    """Serve until the input ends; the port is printed as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generator", choices=GENERATORS, default="scripted")
    parser.add_argument("--server", choices=("fastapi", "flask"), default="fastapi")
    parser.add_argument("--word-ms", type=float, default=4.0, help="the scripted generator's pause")
    arguments = parser.parse_args()
    # Refusing is measured elsewhere; here every question is to reach the generator.
    settings = load_settings({"search.refusal_threshold": 0.0, "generator.answer_tokens": 32}).settings
    with tempfile.TemporaryDirectory() as folder:
        service = _service(settings, Path(folder), arguments.generator, arguments.word_ms / 1000)
        service.start(wait=True)
    bound = listen("127.0.0.1", 0)
    server = _server(arguments.server, service, settings, bound)
    threading.Thread(target=_stop_with_the_input, args=(server,), daemon=True).start()
    print(json.dumps({"port": bound.getsockname()[1]}), flush=True)
    try:
        server.run()
    finally:
        service.close()


def _server(
    kind: str, service: QAService, settings: Settings, bound: socket.socket
) -> FastapiServer | FlaskServer:
    import server_fastapi
    import server_flask

    if kind == "fastapi":
        return FastapiServer(server_fastapi.create_app(service, settings), bound)
    return FlaskServer(server_flask.create_app(service, settings), bound, spare_threads(settings))


def _stop_with_the_input(server: FastapiServer | FlaskServer) -> None:
    sys.stdin.read()
    server.stop()


def _service(settings: Settings, folder: Path, generator: str, word_s: float) -> QAService:
    embedder: Embedder = HashEmbedder(384) if generator == "scripted" else bootstrap.create_embedder(settings)
    (folder / "objects.txt").write_text("\n".join(map(_topic, range(OBJECTS))), encoding="utf-8")
    index = build_index(folder, embedder, settings.index).index
    parts = Parts(
        index=lambda: index,
        embedder=Lazy(lambda: embedder),
        cross_encoder=Lazy(lambda: None),
        worker=Lazy(
            lambda: GeneratorWorker(_loader(settings, generator, word_s), settings.server.queue_size)
        ),
    )
    return QAService(parts, settings)


def _topic(number: int) -> str:
    name, code = object_name(number), code_of(number)
    return f"[Тема] {name}\nСкладской код: {name} — {code}.\n"


def _loader(settings: Settings, generator: str, word_s: float) -> Callable[[], Generator]:
    if generator == "scripted":
        return lambda: _Breakable(ScriptedGenerator(_echo, delay_s=word_s))
    named = settings.model_copy(
        update={"generator": settings.generator.model_copy(update={"model": GENERATORS[generator]})}
    )
    load = bootstrap.create_generator(named)
    assert load is not None
    return lambda: _Breakable(load())


def _echo(messages: Sequence[ChatMessage]) -> str:
    """Say the codes that stand in the prompt, whoever put them there."""
    prompt = "\n".join(message.content for message in messages)
    return f"Складской код предмета такой: {' '.join(dict.fromkeys(CODE.findall(prompt)))} [1]."


class _Breakable:
    """A generator that fails, as an engine does, when it is asked to."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    @property
    def spec(self) -> GeneratorSpec:
        return self._generator.spec

    def count_tokens(self, text: str) -> int:
        return self._generator.count_tokens(text)

    def generate(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancelled: Callable[[], bool]
    ) -> Iterator[str]:
        if any(BREAK in message.content for message in messages):
            time.sleep(0.01)
            raise GeneratorError(reason="broken on request")
        yield from self._generator.generate(messages, sampling, cancelled)


if __name__ == "__main__":
    main()
