"""Writes the parts of the documentation that the code knows best.

``python docs/generate.py`` fills the regions between ``<!-- generated: NAME -->`` and ``<!-- end -->``
in every page; ``--check`` changes nothing and fails when a page is out of date.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pipeline import errors
from pipeline.errors import OtvetError
from pipeline.messages import entries
from pipeline.models.catalog import Catalog, ModelEntry
from pipeline.settings import Settings

DOCS = Path(__file__).resolve().parent
REGION = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Settings of a section and of the sections in it, with their dotted names."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from fields(field.annotation, f"{name}.")
        else:
            yield prefix + name, field


def _allowed(field: FieldInfo) -> str:
    words = [word for word in getattr(field.annotation, "__args__", ()) if isinstance(word, str)]
    if words:
        return ", ".join(f"`{word}`" for word in words)
    low = next((rule.ge for rule in field.metadata if hasattr(rule, "ge")), None)
    high = next((rule.le for rule in field.metadata if hasattr(rule, "le")), None)
    if low is None:
        return ""
    return f"≥ {low}" if high is None else f"{low}..{high}"


def _default(name: str, field: FieldInfo) -> str:
    places = {"home": "the current folder", "models": "in the user's data folder"}
    if name in places:
        return places[name]
    if field.default is None:
        return "not set"
    return f"`{field.default}`" if str(field.default) not in ("", "()", "{}") else "empty"


def settings_table() -> str:
    """Every setting with its default, allowed values and name in the environment."""
    rows = [
        (
            f"`{name}`",
            _default(name, field),
            _allowed(field),
            "`OTVET_" + name.upper().replace(".", "__") + "`",
            field.description or "",
        )
        for name, field in fields(Settings)
    ]
    return _table(("setting", "default", "allowed", "environment", "meaning"), rows)


def errors_table() -> str:
    """Every error code with its HTTP status, exit code and English text."""
    problems = importlib.import_module("pipeline.web.problems")
    kinds = [getattr(errors, name) for name in errors.__all__]
    of_code: dict[str, type[OtvetError]] = {}
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, OtvetError):
            of_code.setdefault(kind.code, kind)
    rows = []
    for code, texts in entries("errors").items():
        error = of_code.get(code, OtvetError)()
        status, left_with = problems.status_of(error), _console().exit_code(error)
        rows.append((f"`{code}`", str(status), str(left_with), texts["en"], texts["en_hint"]))
    return _table(("code", "HTTP", "exit", "message", "what to do"), rows)


def exit_codes_table() -> str:
    """Exit codes of the command line."""
    meanings: dict[int, list[str]] = {0: ["success"], 2: ["wrong command line"]}
    for kind, code in _console().EXIT_CODES.items():
        meanings.setdefault(code, []).append(f"`{kind.__name__}`")
    return _table(("code", "meaning"), [(str(code), ", ".join(meanings[code])) for code in sorted(meanings)])


def _console() -> ModuleType:
    return importlib.import_module("pipeline.cli.console")


def walk(command: click.Command, path: tuple[str, ...] = ("otvet",)) -> Iterator[tuple[str, click.Context]]:
    """A command and all below it, each with its full name."""
    context = click.Context(command, info_name=" ".join(path), terminal_width=100, max_content_width=100)
    yield " ".join(path), context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from walk(child, (*path, name))


def commands_help() -> str:
    """``--help`` of every command."""
    cli = importlib.import_module("pipeline.cli.main").cli
    helps = [(name, context.command.get_help(context)) for name, context in walk(cli)]
    return "\n\n".join(f"### `{name}`\n\n```text\n{text}\n```" for name, text in helps)


def _model_row(model: ModelEntry, profiles: list[str]) -> tuple[str, ...]:
    size = "known at download" if model.size is None else f"{model.size:,}"
    licence = f"[{model.license}]({model.license_url})" + (", **restricts use**" if model.restricted else "")
    role = model.role.replace("_", " ")
    return f"`{model.name}`", role, ", ".join(profiles), licence, size, ", ".join(model.transports)


def models_table() -> str:
    """Every model of the catalogue with its licence, size and sources."""
    catalog = Catalog.load()
    rows = [
        _model_row(model, [name for name, profile in catalog.profiles.items() if model.name in profile.names])
        for model in catalog.models.values()
    ]
    return _table(("model", "role", "profiles", "licence", "bytes", "sources"), rows)


GENERATORS: Mapping[str, Callable[[], str]] = {
    "settings": settings_table,
    "errors": errors_table,
    "exit-codes": exit_codes_table,
    "commands": commands_help,
    "models": models_table,
}


def rendered(page: str) -> str:
    """The page with its regions filled.

    Raises:
        KeyError: A region has a name that no generator has.
    """

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}\n{GENERATORS[match['name']]()}\n\n{match[3]}"

    return REGION.sub(fill, page)


def main(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` only compare; 1 when a page is out of date."""
    # The texts of the command line are chosen when its modules are imported: from these settings,
    # not from those of whoever runs this. No otvet.toml lies in the folder of the docs.
    for name in [name for name in os.environ if name.startswith("OTVET_")]:
        del os.environ[name]
    os.environ |= {"OTVET_LANGUAGE": "en", "OTVET_HOME": str(DOCS)}
    check = "--check" in arguments
    stale = []
    for path in sorted(DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        new = rendered(page)
        if new == page:
            continue
        stale.append(path)
        if not check:
            path.write_text(new, encoding="utf-8", newline="\n")
    for path in stale:
        sys.stdout.write(f"{path.relative_to(DOCS)}: {'out of date' if check else 'written'}\n")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
