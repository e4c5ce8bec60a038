"""Writes the parts of the documentation that the code knows best.

``python docs/generate.py`` fills the regions between ``<!-- generated: NAME -->`` and ``<!-- end -->``
in every page; ``--check`` changes nothing and fails when a page is out of date.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pipeline import errors
from pipeline.errors import OtvetError
from pipeline.messages import entries
from pipeline.models.catalog import Catalog, ModelEntry
from pipeline.settings import Settings
from pipeline.sql.schema_strategies import SCHEMA_STRATEGIES
from pipeline.strategies import RERANKERS, STRATEGIES, Registry

DOCS = Path(__file__).resolve().parent
MEASURED = DOCS.parent / "benchmarks/strategies.json"
CHOICES: Mapping[str, Registry[Any]] = {"search.strategy": STRATEGIES, "search.reranker": RERANKERS}
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


def _allowed(name: str, field: FieldInfo) -> str:
    words = [word for word in getattr(field.annotation, "__args__", ()) if isinstance(word, str)]
    words += CHOICES[name].names() if name in CHOICES else ()
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
            _allowed(name, field),
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


def strategies_table() -> str:
    """Every way to search, as its registration describes it."""
    rows = [
        (
            f"`{one.name}`",
            f"`{one.flag}`",
            one.about["en"].what,
            one.about["en"].pros,
            one.about["en"].cons,
            one.about["en"].best_for,
            f"`{one.reranker}`",
        )
        for one in STRATEGIES
    ]
    return _table(("name", "flag", "what it is", "pros", "cons", "best for", "usual reranker"), rows)


def rerankers_table() -> str:
    """Every way to order what was found."""
    rows = [
        (
            f"`{one.name}`",
            f"`{one.flag}`",
            one.about["en"].what,
            one.about["en"].pros,
            one.about["en"].cons,
            one.about["en"].best_for,
        )
        for one in RERANKERS
    ]
    return _table(("name", "flag", "what it is", "pros", "cons", "best for"), rows)


def schema_strategies_table() -> str:
    """Every way to choose the tables that a prompt shows."""
    abouts = [(one.name, one.about["en"]) for one in SCHEMA_STRATEGIES]
    rows = [(f"`{name}`", about.what, about.pros, about.cons, about.best_for) for name, about in abouts]
    return _table(("`sql.tables`", "what it shows", "for", "against", "best for"), rows)


def strategy_figures() -> str:
    """What ``benchmarks/strategies.py --record`` measured, a table for each set."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    return "\n\n".join(_figures(name, found) for name, found in measured["sets"].items())


def _figures(name: str, found: Mapping[str, Any]) -> str:
    without = found["questions"] - found["answerable"]
    head = ("strategy", "reranker", "hit@1", "hit@3", "MRR", "recall@10", "refused wrongly")
    head += (*(("refused rightly",) if without else ()), "tokens", "saving", "ms", "p")
    counted = f"**{name}**: {found['chunks']:,} passages, {found['answerable']} questions with an answer"
    counted += f", {without} without" if without else ""
    if 0 < found["crossed"] < found["questions"]:
        counted += f"; the cross-encoder read {found['crossed']} of them"
        beside = found["default_crossed"]["figures"]["mrr"][0]
        counted += f", on which the default has MRR {beside:.3f}"
    return f"{counted}.\n\n{_table(head, [_figures_row(row, bool(without)) for row in found['ways']])}"


def _figures_row(row: Mapping[str, Any], without: bool) -> tuple[str, ...]:
    names = ["hit@1", "hit@3", "mrr", "recall", "refused_wrongly", *(["refused_rightly"] if without else [])]
    cells = [_figure(row["figures"].get(name)) for name in names]
    mark = "**" if row["default"] else ""
    tests = row["against"].get("mrr")
    p = "" if tests is None else "< .001" if tests["p"] < 0.001 else f"{tests['p']:.3f}".lstrip("0")
    tokens = f"{row['figures']['tokens'][0]:.0f}"
    return (
        f"{mark}`{row['strategy']}`{mark}",
        f"{mark}`{row['reranker']}`{mark}",
        *cells,
        tokens,
        "–" if row["saving"] is None else f"{row['saving']:.0%}",
        f"{row['median_ms']:.1f}",
        p,
    )


def _figure(figure: Sequence[float] | None) -> str:
    if figure is None:
        return "–"
    value, low, high = (f"{one:.3f}".removeprefix("0") for one in figure)
    return f"{value} ({low}, {high})"


def stores_table() -> str:
    """What ``benchmarks/stores.py --record`` measured."""
    folder = DOCS.parent / "benchmarks"
    table = runpy.run_path(str(folder / "stores_table.py"))["recorded_table"]
    return str(table(folder / "stores.json"))


GENERATORS: Mapping[str, Callable[[], str]] = {
    "settings": settings_table,
    "errors": errors_table,
    "exit-codes": exit_codes_table,
    "commands": commands_help,
    "models": models_table,
    "stores": stores_table,
    "strategies": strategies_table,
    "rerankers": rerankers_table,
    "schema-strategies": schema_strategies_table,
    "strategy-figures": strategy_figures,
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
