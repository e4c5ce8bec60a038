"""Questions over a database, from the first step to the reply, with a model that says what it is told."""

import re
from dataclasses import replace

import pytest
from asked_library import no_one_left

from pipeline.errors import (
    DatabaseUnknownError,
    GeneratorMissingError,
    NotFoundError,
    StatementRefusedError,
    StatementSlowError,
)
from pipeline.settings import SqlSettings
from pipeline.types import AskRequest, Failed, Filter, Finished, Retrieved, Waiting

COUNT = "SELECT COUNT(*) FROM books WHERE books.genre = 'Сказки';"


def ask(service, question, **fields):
    return service.ask(AskRequest(question, **{"use_rag": True, **fields}), no_one_left)


def test_a_computation_is_written_run_and_said(library):
    service = library.service([COUNT])
    reply = ask(service, "Сколько книг в жанре сказки?")
    routed = reply.routed
    assert routed.route == "sql"
    assert [step.name for step in routed.steps] == ["words", "route", "schema", "write", "run"]
    assert routed.database == "library"
    assert routed.sql.startswith("SELECT COUNT(*) AS count FROM books WHERE genre = 'Сказки'")
    assert routed.table.rows == ((2,),)
    assert reply.answer.outcome == "answered"
    assert re.findall(r"\d+", reply.answer.text) == ["2"]
    assert reply.sources == ()
    assert reply.model == "scripted"
    assert len(library.generator.calls) == 1
    write = next(step for step in routed.steps if step.name == "write")
    assert (write.tokens_in > 50, write.tokens_out) == (True, len(COUNT.split()))
    assert service.result(routed.result) == routed.table
    day = service.costs()[0]
    assert (day.day, day.route, day.strategy) == ("2025-07-15", "sql", "keyword")
    assert (day.questions, day.calls, day.tokens_out) == (1, 1, write.tokens_out)


def test_the_prompt_names_what_the_words_came_to(library):
    service = library.service(["SELECT AVG(books.price) FROM books;"])
    ask(service, "Какая средняя цена книг за 2024 год?")
    prompt = library.generator.calls[0][-1].content
    assert "books.published_on >= '2024-01-01' AND books.published_on < '2025-01-01'" in prompt
    assert "books(" in prompt
    assert "readers" not in prompt


def test_a_wrong_statement_is_repaired_once(library):
    service = library.service(["SELECT nothing FROM books", COUNT])
    reply = ask(service, "Сколько книг в жанре сказки?")
    assert [step.name for step in reply.routed.steps] == [
        "words",
        "route",
        "schema",
        "write",
        "repair",
        "run",
    ]
    assert reply.routed.table.rows == ((2,),)
    assert "nothing" in library.generator.calls[1][-1].content


def test_two_wrong_statements_end_it(library):
    service = library.service(["DROP TABLE books"])
    reply = ask(service, "Сколько книг в жанре сказки?")
    assert reply.answer.outcome == "not_found"
    assert reply.routed.table is None
    assert len(library.generator.calls) == 2
    assert "запрос" in reply.answer.text


def test_no_rows_are_told_as_such(library):
    service = library.service(["SELECT books.title FROM books WHERE books.price > 9000"])
    reply = ask(service, "Перечисли книги дороже 9000", route="sql")
    assert reply.answer.outcome == "not_found"
    assert reply.routed.table.rows == ()
    assert reply.routed.result == ""


def test_a_person_decides_and_may_edit(library):
    service = library.service([COUNT])
    held = ask(service, "Сколько книг в жанре сказки?", confirm_sql=True)
    confirm = held.routed.confirm
    assert held.answer.outcome == "partial"
    assert held.routed.table is None
    assert confirm.explanation
    assert confirm.expires_s > 60
    done = ask(service, "?", confirmed=confirm.id)
    assert done.question == "Сколько книг в жанре сказки?"
    assert done.routed.table.rows == ((2,),)
    assert done.routed.confirm is None
    edited = ask(service, "?", confirmed=confirm.id, statement="SELECT title FROM books WHERE id = 3")
    assert edited.routed.table.rows == (("Печь",),)
    with pytest.raises(StatementRefusedError):
        ask(service, "?", confirmed=confirm.id, statement="DELETE FROM books")
    with pytest.raises(NotFoundError):
        ask(service, "?", confirmed="0" * 32)
    assert len(library.generator.calls) == 1


def test_a_statement_ends_by_the_deadline_of_its_request(library):
    service = library.service([COUNT])
    confirm = ask(service, "Сколько книг в жанре сказки?", confirm_sql=True).routed.confirm
    endless = "SELECT COUNT(*) FROM " + ", ".join(f"books b{number}" for number in range(20))
    with pytest.raises(StatementSlowError) as caught:
        ask(service, "?", confirmed=confirm.id, statement=endless, deadline_s=1)
    assert caught.value.values["seconds"] <= 1


def test_a_confirmed_statement_is_accepted_before_it_runs(library):
    """Whoever confirms in the background gets an id at once; a refusal comes at once too."""
    service = library.service([COUNT])
    confirm = ask(service, "Сколько книг в жанре сказки?", confirm_sql=True).routed.confirm
    endless = "SELECT COUNT(*) FROM " + ", ".join(f"books b{number}" for number in range(20))
    request = AskRequest("?", confirmed=confirm.id, statement=endless, deadline_s=1)
    events = service.stream(request, no_one_left)
    assert isinstance(next(events), Waiting)
    assert isinstance(next(events), Failed)
    with pytest.raises(StatementRefusedError):
        service.stream(AskRequest("?", confirmed=confirm.id, statement="DELETE FROM books"), no_one_left)


def test_the_settings_can_have_every_statement_confirmed(library):
    service = library.service([COUNT], SqlSettings(confirm=True, tables="keyword"))
    assert ask(service, "Сколько книг в жанре сказки?").routed.confirm
    assert ask(service, "Сколько книг в жанре сказки?", confirm_sql=False).routed.table


def test_rows_are_selected_before_anything_is_ranked(library):
    """The name is misspelt, and another book speaks of a bridge too: only rows of this author are ranked."""
    service = library.service(["Письмо в опоре [1]."])
    question = "Что в книгах автора Антон Щирбинин нашли, когда строили мост?"
    reply = ask(service, question, use_rag=False, route="hybrid")
    assert reply.routed.route == "hybrid"
    assert "authors.name = 'Антон Щербинин'" in reply.routed.sql
    files = [source.file for source in reply.sources]
    assert files[0] == "library.sqlite/books/1"
    assert "library.sqlite/books/2" not in files
    assert [step.name for step in reply.routed.steps][:3] == ["words", "route", "rows"]
    assert library.generator.calls == []


def test_rows_wait_for_a_person_too(library):
    service = library.service(["x"])
    question = "Что в книгах автора Антон Щербинин нашли, когда строили мост?"
    held = ask(service, question, use_rag=False, route="hybrid", confirm_sql=True)
    assert held.routed.confirm
    done = ask(service, "?", confirmed=held.routed.confirm.id)
    assert done.routed.route == "hybrid"
    assert done.sources[0].file == "library.sqlite/books/1"


def test_a_caller_s_own_filter_stays(library):
    service = library.service(["x"])
    wanted = Filter(metadata={"genre": "Сказки"})
    reply = ask(service, "Где мост у автора Антон Щербинин?", use_rag=False, route="hybrid", filter=wanted)
    assert reply.sources == ()


def test_a_search_is_limited_to_the_category_that_is_named(library):
    service = library.service(["x"])
    reply = ask(service, "В какой сказке потеряли рукавицу на мосту?", use_rag=False, route="search")
    assert {source.file for source in reply.sources} == {"library.sqlite/books/2", "library.sqlite/books/3"}
    assert reply.routed.route == "search"
    assert reply.routed.sql == ""


def test_the_route_comes_with_the_first_event(library):
    service = library.service(["Лиса построила мост из хвороста [1]."])
    request = AskRequest("Почему лиса потеряла рукавицу из хвороста?", use_rag=True)
    events = list(service.stream(request, no_one_left))
    assert isinstance(events[0], Retrieved)
    assert events[0].reply.routed.route == "search"
    assert isinstance(events[-1], Finished)
    last = events[-1].reply
    assert [step.name for step in last.routed.steps] == ["words", "route", "search", "answer"]
    assert last.routed.steps[-1].tokens_in > 0


def test_a_town_that_could_be_anyone_s_is_asked_back(library):
    service = library.service(["SELECT 1"])
    reply = ask(service, "Сколько всего в Твери?")
    assert reply.routed.route == "clarify"
    assert reply.answer.outcome == "not_found"
    labels = [option.label for option in reply.routed.clarify.options]
    assert len(labels) == 2
    assert any("писателя" in label for label in labels)
    assert library.generator.calls == []
    # The answer to the question back is clear.
    again = reply.routed.clarify.options[0].question
    assert ask(service, again).routed.route != "clarify"


def test_of_what_wavers_the_model_decides_and_three_calls_are_all(library):
    service = library.service(["sql", "nonsense", "nonsense", "nonsense"])
    reply = ask(service, "Дома на горе")
    assert len(library.generator.calls) <= 3
    assert reply.routed.steps[1].name == "route"


def test_what_is_not_meant_for_databases_goes_the_old_way(library):
    service = library.service(["Мост [1]."])
    assert ask(service, "Где мост?", use_rag=False).routed is None
    assert ask(service, "Где мост?", prompt="Скажи", data=("мост",)).routed is None
    library.tools.settings = SqlSettings(enabled=False)
    assert ask(service, "Сколько книг?").routed is None


def test_without_a_model_a_statement_cannot_be_written(library):
    service = library.service()
    assert ask(service, "Сколько книг?").routed is None
    with pytest.raises(GeneratorMissingError):
        ask(service, "Сколько книг?", route="sql")
    reply = ask(service, "Что нашёл Антон Щербинин в опоре моста?", route="hybrid", use_rag=False)
    assert reply.sources[0].file == "library.sqlite/books/1"


def test_a_database_that_is_gone_costs_the_route_not_the_answer(library):
    service = library.service(["Письмо [1]."])
    (library.folder / "kb" / "library.sqlite").unlink()
    reply = ask(service, "Что нашли в опоре?")
    assert reply.routed is None
    assert any("library" in note for note in reply.notes)
    with pytest.raises(Exception, match="library"):
        ask(service, "Сколько книг?", route="sql")


def test_an_unknown_database_is_an_error(library):
    service = library.service(["x"])
    with pytest.raises(DatabaseUnknownError):
        ask(service, "Сколько книг?", database="shop")
    assert ask(service, "Где мост?", database="library", use_rag=False).routed.database == "library"


def test_a_step_has_a_deadline(library):
    settings = SqlSettings(step_seconds=1, tables="keyword")
    service = library.service([COUNT], settings, delay_s=0.6)
    reply = ask(service, "Сколько книг в жанре сказки?")
    assert reply.answer.outcome == "not_found"
    assert [step.name for step in reply.routed.steps] == ["words", "route", "schema", "write", "repair"]


def test_flags_are_no_part_of_what_is_asked(library):
    service = library.service([COUNT])
    reply = ask(service, "Сколько книг в жанре сказки? -t")
    assert reply.flags == ("-t",)
    assert reply.question == "Сколько книг в жанре сказки?"
    assert reply.routed.route == "sql"


def test_a_request_stays_as_it_was(library):
    service = library.service([COUNT])
    request = AskRequest("Сколько книг в жанре сказки?", use_rag=True)
    before = replace(request)
    service.ask(request, no_one_left)
    assert request == before
