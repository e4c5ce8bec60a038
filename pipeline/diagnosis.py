"""What ``otvet doctor`` finds: each check says its state and what to run next."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from pipeline import bootstrap
from pipeline.errors import OtvetError, RemoteError
from pipeline.hardware import cpu_features, memory, physical_cores
from pipeline.health.blocks import check_blocks
from pipeline.health.databases import check_databases
from pipeline.health.doubles import check_doubles
from pipeline.health.files import check_files, check_sources
from pipeline.health.finding import Finding, Say
from pipeline.health.reach import check_reach
from pipeline.health.refusal import check_refusal
from pipeline.health.stored import check_stored
from pipeline.models.catalog import Catalog
from pipeline.models.layout import installed
from pipeline.models.tuned import read_tuning
from pipeline.ports import Progress
from pipeline.settings import Loaded, Settings
from pipeline.stores import json_store
from pipeline.types import Language

__all__ = ["Finding", "diagnose"]

_PACKAGES = ("onnxruntime", "tokenizers", "llama-cpp-python", "fastapi", "flask")
_OPTIONAL_PACKAGES = ("torch", "sentence-transformers")
_GIGABYTE = 1_000_000_000
# Measured with the embedded profile: search alone, and with the generator loaded.
_MEMORY_NEEDED = {"search": _GIGABYTE // 2, "embedded": 2 * _GIGABYTE, "reference": 4 * _GIGABYTE}


def diagnose(
    loaded: Loaded, language: Language, *, quick: bool = True, progress: Progress | None = None
) -> list[Finding]:
    """All checks, in the order in which a newcomer would mend them.

    Args:
        loaded: The settings.
        language: Of the findings.
        quick: Leave out what takes longer than a look: reading all of the index, searching in it.
        progress: Called with (passages done, passages in all) while passages are searched for.
    """
    settings = loaded.settings
    say = Say(language)

    def index(settings: Settings, say: Say) -> list[Finding]:
        return _index(settings, say, progress, quick=quick)

    checks: tuple[tuple[str, Callable[[Settings, Say], list[Finding]]], ...] = (
        ("memory", _machine),
        ("packages", _packages),
        ("profile", _models),
        ("tuning", _tuning),
        ("disk", _space),
        ("knowledge_base", _knowledge_base),
        ("index", index),
    )
    findings: list[Finding] = []
    for name, check in checks:
        try:
            findings += check(settings, say)
        except OtvetError as error:
            findings.append(Finding(say(name), "problem", error.message(language), error.hint(language)))
        except OSError as error:  # what the system refuses is a finding too, not the end of the others
            findings.append(Finding(say(name), "problem", str(error)))
    return findings


def _machine(settings: Settings, say: Say) -> list[Finding]:
    room = memory()
    profile = bootstrap.models_in_force(settings).profile
    needed = _MEMORY_NEEDED[profile]
    enough = room.available >= needed
    numbers = {"total": _gigabytes(room.total), "free": _gigabytes(room.available)}
    return [
        Finding(say("python"), "ok", f"{platform.python_version()}, {platform.platform()}, {sys.executable}"),
        Finding(
            say("cpu"), "ok", say("cpu_detail", cores=physical_cores(), features=", ".join(cpu_features()))
        ),
        Finding(
            say("memory"),
            "ok" if enough else "warning",
            say("memory_detail", profile=profile, needed=_gigabytes(needed), **numbers),
            "" if enough else say("memory_next"),
        ),
    ]


def _packages(settings: Settings, say: Say) -> list[Finding]:
    required = {name: _version(name) for name in _PACKAGES}
    optional = {name: _version(name) for name in _OPTIONAL_PACKAGES}
    missing = [name for name, version in required.items() if version is None]
    shown = [f"{name} {version or '—'}" for name, version in {**required, **optional}.items()]
    return [
        Finding(
            say("packages"),
            "problem" if missing else "ok",
            ", ".join(shown),
            say("packages_next") if missing else "",
        )
    ]


def _models(settings: Settings, say: Say) -> list[Finding]:
    chosen = bootstrap.models_in_force(settings)
    catalog = Catalog.load()
    findings = [Finding(say("profile"), "ok", f"{chosen.profile} ({settings.models})")]
    for role in ("embedder", "cross_encoder", "generator"):
        if addresses := getattr(settings.remote, f"{role}_url", ()):
            findings += _servers(settings, addresses, role, say)
            continue
        name = getattr(chosen, role)
        if name is None:
            findings.append(Finding(say(role), "ok", say("none_in_profile")))
            continue
        there = Path(name).exists() if name not in catalog.models else installed(settings.models, name)
        findings.append(
            Finding(
                say(role),
                "ok" if there else "problem",
                name if there else say("model_missing", name=name),
                "" if there else f"otvet models install {name}",
            )
        )
    return findings


def _servers(settings: Settings, addresses: Sequence[str], role: str, say: Say) -> list[Finding]:
    """Whether the servers that stand in for a model answer; naming them was the consent to ask."""
    findings: list[Finding] = []
    for address in addresses:
        client = bootstrap.remote_client(settings, role, [address])
        try:
            client.call("/models")
        except RemoteError as error:
            spoken = settings.language
            findings.append(Finding(say(role), "problem", error.message(spoken), error.hint(spoken)))
        else:
            findings.append(
                Finding(say(role), "ok", f"{getattr(settings.remote, f'{role}_model')} ({address})")
            )
        finally:
            client.close()
    return findings


def _tuning(settings: Settings, say: Say) -> list[Finding]:
    tuning = read_tuning(settings.models)
    findings = []
    if tuning is not None and (tuned := tuning.generator) is not None:
        options = ", ".join(f"{name}={value}" for name, value in sorted(tuned.options.items()))
        shown = {
            "model": tuned.model,
            "threads": tuned.threads,
            "options": options,
            "gain": f"{tuned.gain:.2f}",
        }
        detail = say("tuning_generator", **shown, measured=tuning.measured)
        findings.append(Finding(say("tuning"), "ok", detail))
    if tuning is not None and (encoder := tuning.encoder) is not None:
        shown = {"model": encoder.model, "threads": encoder.threads}
        detail = say("tuning_encoder", **shown, measured=tuning.measured)
        findings.append(Finding(say("tuning"), "ok", detail))
    return findings or [Finding(say("tuning"), "ok", say("tuning_none"), "otvet tune")]


def _space(settings: Settings, say: Say) -> list[Finding]:
    # On Windows the drive itself may be missing.
    folders = (settings.models, *settings.models.parents, settings.home)
    place = next((folder for folder in folders if folder.is_dir()), Path.cwd())
    free = shutil.disk_usage(place).free
    low = free < 2 * _GIGABYTE
    return [
        Finding(
            say("disk"),
            "warning" if low else "ok",
            say("disk_detail", free=_gigabytes(free), path=place),
            say("disk_next") if low else "",
        )
    ]


def _knowledge_base(settings: Settings, say: Say) -> list[Finding]:
    path = settings.knowledge_base
    if not path.is_dir():
        return [Finding(say("knowledge_base"), "problem", say("no_folder", path=path), say("no_folder_next"))]
    files = sum(1 for item in path.rglob("*") if item.is_file())
    return [
        Finding(
            say("knowledge_base"),
            "ok" if files else "warning",
            say("files", count=files, path=path),
            "" if files else say("no_folder_next"),
        ),
        *check_sources(path, say),
        *check_databases(bootstrap.create_databases(settings).values(), say),
    ]


def _index(settings: Settings, say: Say, progress: Progress | None, *, quick: bool) -> list[Finding]:
    embedder = bootstrap.create_embedder(settings)
    index = json_store.load(settings.embeddings, embedder.spec)
    findings = [
        Finding(
            say("index"),
            "ok",
            say(
                "index_detail",
                chunks=len(index.chunks),
                files=len(index.manifest.files),
                path=settings.embeddings,
            ),
        )
    ]
    findings += check_refusal(index, settings.search, say)
    findings += check_files(bootstrap.index_status(settings), say)
    if not quick:
        findings += check_stored(settings.embeddings, index, embedder, say)
        findings += check_doubles(index, say)
        findings += check_blocks(index, embedder, settings.index.large_block_tokens, say)
        findings += check_reach(index, embedder, settings.search, say, progress)
    return findings


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _gigabytes(size: int) -> str:
    return f"{size / _GIGABYTE:.1f}"
