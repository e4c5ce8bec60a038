"""The routes end to end over a real PostgreSQL, with a model that says what it is told."""

import psycopg
import pytest
from asked_library import Library, no_one_left

from pipeline.errors import StatementRefusedError
from pipeline.types import AskRequest

COUNT = "SELECT COUNT(*) FROM books WHERE books.genre = 'Сказки';"


@pytest.fixture
def library(tmp_path, postgres_url):
    made = Library(tmp_path, postgres_url)
    yield made
    for service in made.services:
        service.close()


def ask(service, question, **fields):
    return service.ask(AskRequest(question, **{"use_rag": True, **fields}), no_one_left)


def test_a_computation_is_written_run_and_said(library):
    reply = ask(library.service([COUNT]), "Сколько книг в жанре сказки?")
    assert reply.routed.route == "sql"
    assert reply.routed.table.rows == ((2,),)
    assert "2" in reply.answer.text
    assert reply.answer.outcome == "answered"


def test_rows_are_chosen_and_the_search_ranks_only_among_them(library):
    service = library.service(["Лиса потеряла рукавицу [1]."])
    # «Мост» is the title of another book: a title is for the ranking, and no condition.
    reply = ask(service, "В какой сказке 2024 года строили мост и потеряли рукавицу?", route="hybrid")
    assert reply.routed.route == "hybrid"
    assert reply.sources[0].title == "Лиса"
    assert {source.title for source in reply.sources} <= {"Лиса", "Печь"}


def test_a_statement_waits_is_edited_and_guarded_again(library, postgres_url):
    service = library.service([COUNT])
    waiting = ask(service, "Сколько книг в жанре сказки?", confirm_sql=True)
    name = waiting.routed.confirm.id
    with pytest.raises(StatementRefusedError):
        ask(service, "?", confirmed=name, statement="DELETE FROM books")
    edited = "SELECT MAX(price) AS top FROM books WHERE genre = 'Повести'"
    reply = ask(service, "?", confirmed=name, statement=edited)
    assert reply.routed.table.rows == ((500,),)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT COUNT(*) FROM books").fetchone() == (4,)
