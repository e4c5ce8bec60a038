"""The modules in the 1C language: parsed with tree-sitter's BSL grammar, calls held against declarations.

No platform is at hand, so nothing here compiles or runs them as 1C would.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tree_sitter_bsl
from tree_sitter import Language, Node, Parser

FOLDER = Path(__file__).parents[3] / "docs" / "1c"
MODULES = sorted(FOLDER.glob("*.bsl"))
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
FRAGMENTS = re.findall(r"^```bsl\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CLIENT = FOLDER / "OtvetClient.bsl"
PARSER = Parser(Language(tree_sitter_bsl.language()))

DECLARATION = re.compile(
    r"^(?:Функция|Процедура)\s+(?P<name>[\wА-яЁё]+)\((?P<parameters>.*?)\)(?P<export>[ ]+Экспорт)?\s*$",
    re.MULTILINE,
)
# What came after 8.3.10, by the names one would reach for here.
LATER = ("Асинх", "Ждать", "СтрокаСоединения", "ОбъектВJSON", "Обещание", "ОжидатьЗавершенияВыполнения")


def faults(node: Node) -> list[Node]:
    own = [node] if node.type == "ERROR" or node.is_missing else []
    return own + [fault for child in node.children for fault in faults(child)]


def parsed(text: str) -> list[str]:
    """Lines at which the grammar finds a fault."""
    lines = text.splitlines()
    return [lines[node.start_point[0]] for node in faults(PARSER.parse(text.encode()).root_node)]


def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def declared(text: str) -> dict[str, tuple[int, int, bool]]:
    """Name -> least and most arguments, and whether it is exported."""
    found = {}
    for match in DECLARATION.finditer(text):
        parameters = [part for part in match["parameters"].split(",") if part.strip()]
        least = sum("=" not in part for part in parameters)
        found[match["name"]] = (least, len(parameters), bool(match["export"]))
    return found


def calls(text: str) -> list[tuple[str, str, int]]:
    """Calls of functions and of methods: what stands before the dot, the name, how many arguments."""
    found = []

    def walk(node: Node, owner: str) -> None:
        if node.type == "method_call":
            name = node.child_by_field_name("name").text.decode()
            arguments = node.child_by_field_name("arguments")
            given = [part for part in arguments.children if part.type not in ("(", ")", ",", "comment")]
            found.append((owner, name, len(given)))
        for place, child in enumerate(node.children):
            before = node.children[:place]
            walk(child, "".join(one.text.decode() for one in before).removesuffix("."))

    walk(PARSER.parse(text.encode()).root_node, "")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_has_no_fault_of_grammar(path):
    assert parsed(source(path)) == []


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=range(len(FRAGMENTS)))
def test_a_fragment_of_the_page_has_none_either(fragment):
    assert parsed(fragment) == []


@pytest.mark.parametrize(
    "broken",
    [
        "Процедура А()\nЕсли Б Тогда\nВ();\nКонецПроцедуры",
        "Функция А(\nКонецФункции",
        "А = = 1;",
        "Попытка\nА();\nКонецПопытки;",
        "Для Каждого А Из Б\nВ();\nКонецЦикла;",
    ],
)
def test_the_grammar_finds_faults(broken):
    assert parsed(broken)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_words_that_open_and_close_come_in_pairs(path):
    words = re.findall(r"[#\wА-яЁё]+", re.sub(r'//.*|"(?:[^"\n]|"")*"', "", source(path)))
    for opening, closing in (
        ("Функция", "КонецФункции"),
        ("Процедура", "КонецПроцедуры"),
        ("Если", "КонецЕсли"),
        ("Цикл", "КонецЦикла"),
        ("Попытка", "КонецПопытки"),
        ("#Область", "#КонецОбласти"),
    ):
        assert words.count(opening) == words.count(closing), opening


def test_every_call_of_the_common_module_fits_its_declaration():
    own = declared(source(CLIENT))
    texts = [source(path) for path in MODULES] + FRAGMENTS
    used = [call for text in texts for call in calls(text) if call[0] == "OtvetКлиент"]
    assert used
    for _, name, count in used:
        least, most, exported = own[name]
        assert exported, name
        assert least <= count <= most, name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_every_function_of_a_module_fits_its_calls_and_is_called(path):
    text = source(path)
    own = declared(text)
    used = [(name, count) for owner, name, count in calls(text) if owner == "" and name in own]
    for name, count in used:
        least, most, _ = own[name]
        assert least <= count <= most, name
    named = {name for name, _ in used} | set(re.findall(r'ПодключитьОбработчикОжидания\("(\w+)"', text))
    handlers = {"ПриЗакрытии", "Спросить", "Остановить", "РазобратьПисьма"}
    if path != CLIENT:
        handlers.add("ПоказатьВФорматированномДокументе")
    silent = {name for name, (_, _, exported) in own.items() if not exported} - named - handlers
    assert silent == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_nothing_newer_than_8_3_10_is_used(path):
    words = set(re.findall(r"[\wА-яЁё]+", re.sub(r"//.*", "", source(path))))
    assert words.isdisjoint(LATER)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_name_is_a_word_of_the_language(path):
    """A variable called as a platform function hides it without a word."""
    own = set(declared(source(path)))
    platform = {"Сообщить", "Формат", "Строка", "Число", "Макс", "Мин", "Лев", "Прав", "Сред", "НРег"}
    assert own.isdisjoint(platform)
    assigned = re.findall(r"^\t*([\wА-яЁё]+) = ", source(path), re.MULTILINE)
    assert platform.isdisjoint(set(assigned) - {"Строка"})


def test_the_module_on_the_page_is_the_module_of_the_folder():
    for name in ("OtvetClient.bsl", "OtvetForm.bsl"):
        assert f"]({name})" in PAGE
        assert (FOLDER / name).read_bytes().startswith(b"//")
        assert "\ufeff" not in source(FOLDER / name)
