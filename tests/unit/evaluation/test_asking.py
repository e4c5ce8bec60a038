"""What is measured of one reply."""

from __future__ import annotations

from dataclasses import replace

import pytest
from word_embedder import WordEmbedder

from pipeline.errors import RunOutdatedError
from pipeline.evaluation.asking import Asking, answer_relevance
from pipeline.evaluation.judge import Judge
from pipeline.evaluation.questions import KnownQuestion
from pipeline.evaluation.records import Record, key_of
from pipeline.types import Answer, AskRequest, Chunk, Citation, Document, Reply, Source, SourceView

TEXT = "Отпуск длится 28 дней. Заявление подают за две недели."


class Told:
    """A service with one passage a file, and the answer it was made with."""

    def __init__(self, answer: Answer, files: tuple[str, ...] = ("отпуск.md", "b.md"), model="qwen") -> None:
        self.answer, self.files, self.model = answer, files, model
        self.asked: list[AskRequest] = []

    def ask(self, request: AskRequest, cancelled: object) -> Reply:
        self.asked.append(request)
        sources = tuple(
            Source(n, "t", None, file, TEXT[:22], 0, 22, 1.0, None, f"id-{file}")
            for n, file in enumerate(self.files, start=1)
        )
        times = {"encode": 1.0, "first_token": 500.0, "generation": 2499.0, "check": 3.0, "total": 2503.0}
        return Reply(request.question, (), self.answer, sources, times, self.model, "v1", "")

    def source(self, chunk_id: str) -> SourceView:
        file = chunk_id.removeprefix("id-")
        document = Document("d", file, file, None, TEXT, ())
        return SourceView(document, Chunk(chunk_id, "d", 0, "Отпуск", TEXT, 0, len(TEXT), file=file))

    def status(self) -> dict[str, object]:
        return {"generator": {"written_tokens": 21 * len(self.asked)}}


def citation(n: int = 1, quote: str = TEXT[:22], file: str = "отпуск.md") -> Citation:
    return Citation(n, f"id-{file}", quote, 0, len(quote))


ANSWER = Answer("Отпуск длится 28 дней [1].", "answered", (citation(),))
QUESTION = KnownQuestion(1, "Сколько дней отпуск?", ("отпуск.md", "нет.md"), ("28 дней",))


def asked(answer: Answer = ANSWER, question: KnownQuestion = QUESTION, **told) -> Record:
    request = AskRequest(question="", use_rag=True, top_k=5)
    return Asking(Told(answer, **told), WordEmbedder(), request).ask(question)  # type: ignore[arg-type]


def test_all_of_a_good_answer():
    record = asked()
    assert (record.files, record.right) == (("отпуск.md", "b.md"), (0, None))
    assert record.ranking.places == 2
    assert (record.shown, record.matches, record.word_recall) == (True, True, 1.0)
    assert (record.markers, record.valid_markers) == (1, 1)
    assert record.sentences is not None
    assert [one.text for one in record.sentences] == ["Отпуск длится 28 дней."]
    assert record.relevance is not None
    assert record.written_tokens == 21
    # 2,500 ms until the last word, the first came after 500: 20 more tokens in 2 seconds.
    assert record.writing_s == 2.0


def test_a_refusal_has_no_answer_to_be_measured():
    record = asked(Answer("Не найдено. Ближе всего: 28 дней", "not_found"))
    assert (record.is_refused, record.shown, record.matches, record.f1) == (True, True, False, 0.0)
    assert (record.sentences, record.relevance) == (None, None)


def test_without_the_language_model_the_source_is_not_judged_by_itself():
    service = Told(replace(ANSWER, outcome="sources"), model="extractive")
    record = Asking(service, None, AskRequest(question="")).ask(QUESTION)  # type: ignore[arg-type]
    assert (record.sentences, record.relevance, record.written_tokens) == (None, None, None)
    assert not service.asked[0].use_rag


@pytest.mark.parametrize(
    ("answer", "markers", "valid"),
    [
        (Answer("Да [1][2].", "answered", (citation(),)), 2, 1),  # nothing stands behind [2]
        (Answer("Да [3].", "answered", (citation(3),)), 1, 0),  # no such source
        (Answer("Да [2].", "answered", (citation(2),)), 1, 0),  # the citation is another source's
        (Answer("Да [1].", "answered", (citation(quote="Отпуск длится 29 дней."),)), 1, 0),
        (Answer("Да [1].", "answered", (citation(quote=""),)), 1, 0),
        (Answer("Да, arr[1](x).", "answered"), 0, 0),  # no marker
    ],
)
def test_markers_are_followed_not_believed(answer, markers, valid):
    record = asked(answer)
    assert (record.markers, record.valid_markers) == (markers, valid)


def test_right_passages_are_told_from_others_of_the_same_file():
    question = KnownQuestion(
        1, "?", ("отпуск.md",), passages=("Больничный", "ЗАЯВЛЕНИЕ  подают за две\nнедели")
    )
    assert asked(question=question).right == (1, 1)
    assert asked(question=replace(question, passages=("id-b.md",))).right == (None, 0)
    assert asked(question=replace(question, passages=("Больничный",))).ranking.rank is None


def test_relevance_takes_up_the_words_of_the_question():
    embedder = WordEmbedder()
    near = answer_relevance("сколько дней отпуск", "отпуск 28 дней", embedder)
    assert near > answer_relevance("сколько дней отпуск", "принтер в коридоре", embedder)
    assert answer_relevance("да", "да", embedder) == pytest.approx(1.0)
    assert answer_relevance("да", "слово " * 2000, embedder) < 1.0  # longer than the embedder takes


def test_an_index_that_is_renewed_meanwhile_ends_the_run():
    request = AskRequest(question="")
    assert Asking(Told(ANSWER), None, request, "v1").ask(QUESTION).files  # type: ignore[arg-type]
    with pytest.raises(RunOutdatedError):
        Asking(Told(ANSWER), None, request, "v0").ask(QUESTION)  # type: ignore[arg-type]


class Said:
    def __init__(self, content: object) -> None:
        self.content, self.body = content, {}

    def call(self, path, body=None):
        self.path, self.body = path, body
        return {"choices": [{"message": {"content": self.content}}]}


def test_the_judge_is_asked_with_the_data_fenced_and_its_opinion_kept():
    server = Said('Sure! {"faithful": 1, "relevant": 0.5, "correct": true} Done.')
    request = AskRequest(question="", use_rag=True)
    asking = Asking(Told(ANSWER), WordEmbedder(), request, judge=Judge(server, "big"))  # type: ignore[arg-type]
    verdict = asking.ask(QUESTION).verdict
    assert verdict is not None
    assert (verdict.faithful, verdict.relevant, verdict.correct) == (1.0, 0.5, 1.0)
    assert (server.path, server.body["model"], server.body["temperature"]) == ("/chat/completions", "big", 0)
    assert "28 дней" in server.body["messages"][1]["content"]


@pytest.mark.parametrize(
    "content",
    ["", None, "no", "{", "[1]", '{"faithful": "much", "relevant": 7}', '{"faithful": NaN}', "{" * 3000],
)
def test_a_judge_that_mumbles_has_no_opinion(content):
    verdict = Judge(Said(content), "m").verdict("?", ["a"], "b", [])
    assert (verdict.faithful, verdict.relevant, verdict.correct) == (None, None, None)


def test_a_record_survives_the_disk_and_a_question_its_place_in_the_file():
    record = asked()
    assert Record.from_json(record.as_json()) == record
    assert key_of(QUESTION) == key_of(replace(QUESTION, line=7, id="other"))
    assert key_of(QUESTION) != key_of(replace(QUESTION, answers=("29",)))
