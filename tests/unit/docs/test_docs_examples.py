"""What the documentation shows can be typed: commands, requests, programs and links."""

import ast
import json
import re
import shlex
from pathlib import Path

import click
import pytest

from pipeline.cli.main import cli
from pipeline.index import Manifest
from pipeline.stores import records
from pipeline.types import Answer, Block, Chunk, Document, Reply, Source, Stage
from pipeline.web import bodies, chat, classification, replies, schemas

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
HANDBOOK = [path for path in sorted((ROOT / "knowledge_base").rglob("*")) if path.is_file()]
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(otvet(?: [^`]+)?)`")
SPOKEN = re.compile(
    r"\b(otvet (?:up|serve|index|ask|search|models|tokens|map|settings|doctor)(?: [a-z]+| --[a-z-]+)*)"
)


def fences(info):
    return [
        pytest.param(match["body"], id=f"{page.relative_to(ROOT)}:{match.start()}")
        for page in PAGES
        for match in FENCE.finditer(page.read_text(encoding="utf-8"))
        if match["info"] == info
    ]


CURL = [
    pytest.param(body, id=f"{page.relative_to(ROOT)}: curl")
    for page in PAGES
    for body in re.findall(r"-d '(\{[^']*\})'", page.read_text(encoding="utf-8"))
]


def commands():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [
            line
            for match in FENCE.finditer(text)
            if match["info"] == "sh"
            for line in match["body"].splitlines()
        ]
        found = [
            part.strip() for line in lines for part in line.split("&&") if part.strip().startswith("otvet ")
        ]
        found += INLINE.findall(FENCE.sub("", text))
        for command in dict.fromkeys(found):
            yield pytest.param(command, id=f"{page.relative_to(ROOT)}: {command}")


def walked(words):
    """Follow words down the command tree; the command reached and the options and words left for it."""
    command, names, rest = cli, set(), list(words)
    left = []
    while rest:
        word = rest.pop(0)
        # By its attribute: other tests import the commands anew, and their classes with them.
        default = getattr(command, "default", None)
        if default and word not in (*command.commands, "--help"):
            command = command.commands[default]
        options = {
            name: option
            for option in command.params
            for name in option.opts
            if isinstance(option, click.Option)
        }
        if word.startswith("--"):
            name = word.split("=")[0]
            assert name in options or name == "--help", f"{command.name} has no option {name}"
            if name in options and not options[name].is_flag and "=" not in word and rest:
                rest.pop(0)
        elif isinstance(command, click.Group):
            child = command.get_command(click.Context(command), word)
            assert child is not None, f"there is no command {word}"
            command = child
            names.add(word)
        else:
            left.append(word)
    return command, left


@pytest.mark.parametrize("line", list(commands()))
def test_shown_commands_exist_with_their_options(line):
    words = shlex.split(line.replace("…", "..."))[1:]
    command, left = walked(words)
    takes_words = any(isinstance(parameter, click.Argument) for parameter in command.params)
    assert not left or takes_words, f"{command.name} takes no {left}"


@pytest.mark.parametrize("path", HANDBOOK, ids=lambda path: path.name)
def test_commands_of_the_handbook_exist(path):
    for spoken in SPOKEN.findall(path.read_text(encoding="utf-8")):
        words = spoken.split()[1:]
        command = cli.get_command(click.Context(cli), words[0])
        assert command is not None
        while isinstance(command, click.Group) and len(words) > 1:
            child = command.get_command(click.Context(command), words[1])
            if child is None:
                break
            command, words = child, words[1:]
        known = {name for option in command.params for name in option.opts} | {"--help"}
        used = {word for word in words if word.startswith("--")}
        assert used <= known, f"{spoken}: {used - known}"


@pytest.mark.parametrize("body", fences("python"))
def test_shown_programs_are_python(body):
    ast.parse(body)


def relative_links():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text(encoding="utf-8"))):
            if not target.startswith(("http://", "https://")):
                yield pytest.param(page, target, id=f"{page.relative_to(ROOT)} -> {target}")


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(("page", "target"), list(relative_links()))
def test_links_inside_the_repository_lead_somewhere(page, target):
    name, _, anchor = target.partition("#")
    linked = (page.parent / name).resolve() if name else page
    assert linked.exists()
    assert not anchor or anchor in anchors(linked)


def test_ci_finds_the_test_command_in_the_readme():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert 'python -m pip install -e ".[dev]" && pytest' in lines
    assert "python -m pip install -e . && otvet up" in lines


@pytest.mark.parametrize("body", [*fences("json"), *fences("json reply"), *fences("json error")])
def test_shown_json_is_json(body):
    json.loads(body)


@pytest.mark.parametrize("body", [*fences("json request"), *CURL])
def test_shown_requests_are_accepted_without_a_note(body):
    fields = bodies.parse_object(body)
    if "labels" in fields:
        assert classification.parse(fields, language="en").texts
        assert set(fields) <= set(classification.CLASSIFY_FIELDS)
        return
    if "messages" in fields:
        assert fields["model"] in chat.MODELS
        assert fields["messages"][-1]["role"] == "user"
        return
    assert schemas.parse(fields, language="en").notes == ()


def test_the_table_of_request_fields_is_complete():
    page = (ROOT / "docs" / "http-api.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]+`) \|[^|]+\|", page, re.MULTILINE)
    shown = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert set(schemas.FIELDS) | set(classification.CLASSIFY_FIELDS) <= shown


@pytest.mark.parametrize("body", fences("json reply"))
def test_the_shown_reply_has_the_fields_of_a_reply(body):
    source = Source(1, "t", None, "f", "q", 0, 1, 0.5, None, "c", (Stage("dense", 0.5, 1),))
    reply = Reply("q", (), Answer("a", "answered"), (source,), {}, "m", "k", "r")
    made = replies.render(reply, base_url="http://127.0.0.1:8000", style="text", language="en")
    shown = json.loads(body)
    assert list(shown) == list(made)
    assert list(shown["sources"][0]) == list(made["sources"][0])


def test_the_index_format_names_every_field():
    page = (ROOT / "docs" / "index-format.md").read_text(encoding="utf-8")
    block = Block(0, 1, "t")
    chunk = records.chunk_record(Chunk("c", "d", 0, "t", "x", 0, 1))
    document = records.document_record(Document("d", "f", "t", None, "x", (block,)))
    manifest = records.manifest_record(Manifest("b", "e", 1, "e5", {}, {}))
    names = {*chunk, *document, *document["blocks"][0], *manifest}
    assert {name for name in names if f"`{name}`" not in page} == set()
