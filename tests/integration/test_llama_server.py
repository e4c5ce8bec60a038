"""Generator and embedder against llama-cpp-python's own OpenAI server: a real one, of another hand."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.embedders.openai import OpenAiEmbedder
from pipeline.errors import PromptTooLongError, RemoteBrokenError, RemoteError
from pipeline.generators.openai import OpenAiGenerator
from pipeline.models import gguf_file
from pipeline.ports import ChatMessage, Sampling
from pipeline.remote.client import Patience, RemoteClient

pytestmark = pytest.mark.models

# On some processors with AMX llama.cpp crashes with a default of its own; its server has no option for that.
LAUNCHER = """
import runpy, sys
import llama_cpp
made = llama_cpp.llama_model_default_params
def safe():
    params = made()
    params.use_extra_bufts = False
    return params
llama_cpp.llama_model_default_params = llama_cpp.llama_cpp.llama_model_default_params = safe
sys.argv[0] = "llama_cpp.server"
runpy.run_module("llama_cpp.server", run_name="__main__")
"""
KEY = "a-key-that-the-server-wants"
CONTEXT = 512
QUESTION = [ChatMessage("user", "Count from one to ten in words.")]


def never() -> bool:
    return False


@pytest.fixture(scope="module")
def address(models_folder: Path) -> Iterator[str]:
    pytest.importorskip("sse_starlette")
    pytest.importorskip("starlette_context")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = gguf_file(models_folder / "smollm2-135m-instruct")
    options = {"host": "127.0.0.1", "port": port, "n_ctx": CONTEXT, "n_threads": 1, "embedding": True}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    server = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, "--model", str(model), "--api_key", KEY, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    try:
        url = f"http://127.0.0.1:{port}/v1"
        client = RemoteClient([url], key=KEY, patience=Patience(retries=0))
        end = time.monotonic() + 120
        while True:
            try:
                client.call("/models")
                break
            except RemoteError:
                assert time.monotonic() < end, "the server does not start"
                assert server.poll() is None, "the server has ended"
                time.sleep(0.2)
        client.close()
        yield url
    finally:
        server.kill()
        server.wait(30)


@pytest.fixture
def client(address: str) -> Iterator[RemoteClient]:
    made = RemoteClient([address], key=KEY, patience=Patience(retries=1))
    yield made
    made.close()


def test_text_is_written_stopped_and_left(client: RemoteClient) -> None:
    generator = OpenAiGenerator(client, "any", context_tokens=CONTEXT)
    whole = "".join(generator.generate(QUESTION, Sampling(max_tokens=24), never))
    assert whole
    assert "".join(generator.generate(QUESTION, Sampling(max_tokens=24), never)) == whole
    stop = whole[6:9]
    stopped = "".join(generator.generate(QUESTION, Sampling(max_tokens=24, stop=(stop,)), never))
    assert stopped == whole[: whole.index(stop)]
    pieces = generator.generate(QUESTION, Sampling(max_tokens=200), never)
    next(pieces)
    pieces.close()
    assert "".join(generator.generate(QUESTION, Sampling(max_tokens=24), never)) == whole
    assert generator.stats.answer_tokens > 0


def test_a_prompt_too_long_for_the_server_is_told_as_such(client: RemoteClient) -> None:
    generator = OpenAiGenerator(client, "any", context_tokens=CONTEXT * 8)
    with pytest.raises(PromptTooLongError):
        list(generator.generate([ChatMessage("user", "word " * 1200)], Sampling(), never))


def test_without_the_key(address: str) -> None:
    client = RemoteClient([address], patience=Patience(retries=0))
    with pytest.raises(RemoteError) as caught:
        client.call("/models")
    assert caught.value.values["http"] == 401
    client.close()


def test_a_model_that_gives_no_vector_of_a_text_is_told(client: RemoteClient) -> None:
    """A chat model has a vector a token: that is not what an index is made of."""
    with pytest.raises(RemoteBrokenError) as caught:
        OpenAiEmbedder(client, "any", most_tokens=CONTEXT)
    assert "the right kind" in caught.value.hint("en")
