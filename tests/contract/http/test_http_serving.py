"""Starting and stopping: nothing is loaded by an import, a busy port is told plainly, Ctrl-C is clean."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import types
from pathlib import Path

import pytest
from http_harness import TIMEOUT_S, Client, serving
from scripted_service import ScriptedService

import pipeline
import server_fastapi
import server_flask
from pipeline.errors import AddressUnusableError, SettingsError
from pipeline.settings import Settings
from pipeline.web import serving as serving_module
from pipeline.web import site
from pipeline.web.serving import listen, run_fastapi, run_flask

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent


class Made(ScriptedService):
    """A service as bootstrap makes it; remembers its life."""

    def __init__(self):
        super().__init__()
        self.life = ["made"]

    def start(self):
        self.life.append("started")

    def close(self):
        self.life.append("closed")


@pytest.fixture
def made(monkeypatch):
    """Services that a bootstrap in place of the real one has made."""
    found = []

    def create_service(settings):
        found.append(Made())
        return found[-1]

    bootstrap = types.ModuleType("pipeline.bootstrap")
    bootstrap.create_service = create_service
    bootstrap.create_library = lambda settings, service: (service,)
    monkeypatch.setitem(sys.modules, "pipeline.bootstrap", bootstrap)
    monkeypatch.setattr(pipeline, "bootstrap", bootstrap, raising=False)
    return found


def test_the_real_service_is_made_at_the_start_and_closed_at_the_end(kind, made):
    with serving(kind, None) as client:
        assert client.ask({"question": "отпуск"}).status == 200
        assert client.get("/health").status == 200
        assert [service.life for service in made] == [["made", "started"]]
    assert made[0].life == ["made", "started", "closed"]


def test_under_flask_run_it_is_made_at_the_first_request(made):
    app = server_flask.create_app(settings=Settings())
    assert not made
    assert app.test_client().get("/health").status_code == 200
    assert [service.life for service in made] == [["made", "started"]]
    app.extensions["otvet"].close()


def test_a_given_service_is_left_to_its_owner(kind):
    service = Made()
    with serving(kind, service) as client:
        assert client.get("/ready").status == 200
    assert service.life == ["made"]


def test_a_site_closes_what_it_made_and_can_make_it_again(made):
    one = site.Site(None, Settings())
    one.close()
    assert one.open() is one.open()
    assert one.library() == (made[0],)
    one.close()
    one.close()
    assert made[0].life == ["made", "started", "closed"]
    one.open()
    # The library of a closed service would look after its index, with its embedder.
    assert one.library() == (made[1],)
    one.close()
    assert len(made) == 2


def test_settings_that_cannot_be_read_are_a_json_error(monkeypatch):
    def broken():
        raise SettingsError(where="otvet.toml", reason="no")

    monkeypatch.setattr(site, "load_settings", broken)
    answered = server_flask.create_app().test_client().get("/health")
    assert (answered.status_code, answered.json["error"]) == (500, "settings")


@pytest.mark.parametrize("module", ["server_fastapi", "server_flask"])
def test_an_import_makes_nothing(module, made):
    """Importing a server reads no settings, makes no service and loads no serving library's heavy part.

    Nor anything that only indexing needs.
    """
    names = ("pipeline.bootstrap", "pipeline.indexing", "pipeline.ingest.readers.registry")
    names += ("uvicorn", "waitress")
    code = f"import {module}, sys; print([name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_malformed_http_is_answered_with_json(standing):
    for data in (
        b"GET /search?q=\xd0\xb0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: five\r\n\r\n",
        b"POST /ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        b"GET / HTTP/1.1\r\nBad Header: x\r\nHost: localhost\r\n\r\n",
    ):
        answered = standing.raw(data)
        assert answered.status >= 400
        assert answered.header("Content-Type") == "application/json; charset=utf-8", data
        assert answered.json["status"] == "error"
        assert answered.header("Server") is None
    assert standing.get("/health").status == 200


def test_an_announcement_of_gigabytes_is_refused_with_json(standing):
    head = b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99000000000\r\n\r\n"
    connection = standing.connect()
    connection.sendall(head + b"x" * (2 << 20))
    answered = standing.receive(connection)
    assert (answered.status, answered.json["error"]) == (413, "body_too_large")


@pytest.mark.parametrize("run", [run_fastapi, run_flask])
def test_a_busy_port_is_told_before_anything_is_loaded(run):
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AddressUnusableError) as caught:
            run(None, "127.0.0.1", port, *([4] if run is run_flask else []))
    assert caught.value.message("ru") == f"Сервер не может слушать 127.0.0.1:{port}: порт уже занят."
    assert "otvet serve --port" in caught.value.hint("ru")


@pytest.mark.parametrize(
    ("host", "reason"), [("192.0.2.1", "no such address"), ("a" * 70 + ".invalid", "no such")]
)
def test_an_address_of_another_machine_is_told(host, reason):
    with pytest.raises(AddressUnusableError, match=reason):
        listen(host, 0)


def test_a_forbidden_port_is_told(monkeypatch):
    class Refusing(socket.socket):
        def bind(self, address):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(serving_module.socket, "socket", Refusing)
    with pytest.raises(AddressUnusableError, match="does not allow"):
        listen("127.0.0.1", 80)


def test_ipv6_where_the_machine_has_it():
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with listen("::1", 0) as bound, pytest.raises(AddressUnusableError, match=r"\[::1\]:[0-9]+"):
        listen("::1", bound.getsockname()[1])


SCRIPT = """
    import logging, sys
    sys.path.insert(0, {here!r})
    from scripted_service import BlockingService
    class Telling(BlockingService):
        def ask(self, request, cancelled):
            print("asked", flush=True)
            return super().ask(request, cancelled)
    from pipeline.settings import Settings
    from pipeline.web.serving import {run}
    from {module} import create_app
    try:
        {run}(create_app(Telling(), Settings()), "127.0.0.1", {port}{threads})
    finally:
        print("cleaned", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("waits", [False, True], ids=["idle", "while a request waits"])
def test_a_signal_ends_the_process_cleanly(kind, number, waits):
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    threads = ", 8" if kind == "flask" else ""
    script = SCRIPT.format(
        here=str(HERE), run=f"run_{kind}", module=f"server_{kind}", port=port, threads=threads
    )
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    client = Client(port)
    try:
        wait_until_it_serves(client, process)
        if waits:
            threading.Thread(target=try_to_ask, args=(client,)).start()
            assert process.stdout.readline() == "asked\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
        client.close()
    assert (process.returncode, out, err) == (0, "cleaned\n", "")


def wait_until_it_serves(client, process):
    while process.poll() is None:
        try:
            assert client.get("/health").status == 200
            return
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise AssertionError(process.stderr.read())


def try_to_ask(client):
    try:
        client.ask({"question": "отпуск"})
    except OSError:
        return  # the server has gone, as it should


@pytest.mark.parametrize("app", [server_fastapi.app, server_flask.app])
def test_both_modules_offer_an_app(app):
    assert callable(app)
