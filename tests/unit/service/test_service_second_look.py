"""A second look in the service: refused when the model says no, answered when it says yes or is not asked."""

import pytest

from pipeline import writer as writer_module
from pipeline.embedders.hash import HashEmbedder
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.generators.worker import GeneratorWorker
from pipeline.ingest.build import build_index
from pipeline.lazy import Lazy
from pipeline.service import EXTRACTIVE, Parts, QAService
from pipeline.settings import SearchSettings, Settings
from pipeline.types import AskRequest, Finished, Retrieved, Token, Waiting

TEXT = "[Тема] Отпуск\nОтпуск длится 28 дней.\n\n[Тема] Пароль\nПароль от склада — Берёза-17.\n"
QUESTION = "Сколько дней длится отпуск?"
GOOD = "Отпуск длится 28 дней [1]."


@pytest.fixture
def events(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    index = build_index(tmp_path, HashEmbedder(), Settings().index).index
    made = []

    def ask(says, *, second_look=True, doubtful=True, use_rag=True):
        """The model's answer, by whether it is asked for a yes or no; and how often it was asked at all."""
        monkeypatch.setattr(writer_module, "is_doubtful", lambda evidence: doubtful)
        generator = ScriptedGenerator(lambda messages: says if "Yes or No" in messages[-1].content else GOOD)
        worker = Lazy(lambda: GeneratorWorker(lambda: generator, 8))
        settings = Settings(search=SearchSettings(second_look=second_look))
        one = QAService(Parts(lambda: index, Lazy(HashEmbedder), Lazy(lambda: None), worker), settings)
        made.append(one)
        one.start(wait=True)
        found = list(one.stream(AskRequest(question=QUESTION, use_rag=use_rag), lambda: False))
        return found, len(generator.calls)

    yield ask
    for one in made:
        one.close()


def test_a_no_is_not_found_and_nothing_is_written(events):
    found, calls = events("No")
    assert isinstance(found[0], Retrieved)
    assert found[0].reply.answer.outcome == "sources"
    assert not any(isinstance(event, Token) for event in found)
    reply = found[-1].reply
    assert isinstance(found[-1], Finished)
    assert (reply.answer.outcome, reply.model) == ("not_found", EXTRACTIVE)
    assert reply.sources
    assert "second_look" in reply.timings_ms
    assert calls == 1
    assert any(isinstance(event, Waiting) for event in found)


def test_a_yes_goes_on_to_the_answer(events):
    found, calls = events("Yes")
    assert found[-1].reply.answer.text.startswith(GOOD)
    assert calls == 2


@pytest.mark.parametrize(
    "change", [{"second_look": False}, {"doubtful": False}, {"use_rag": False}], ids=["off", "sure", "search"]
)
def test_it_is_not_asked_for_nothing(events, change):
    found, calls = events("No", **change)
    assert found[-1].reply.answer.outcome != "not_found"
    assert calls == (0 if "use_rag" in change else 1)
