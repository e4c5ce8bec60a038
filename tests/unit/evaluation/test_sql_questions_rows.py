"""Whether a result is the right one."""

import json

import pytest

from pipeline.errors import QuestionsFileError
from pipeline.evaluation.sql_questions import load_sql_questions, same_rows


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ([(1,)], [(1,)], True),
        ([(1.00001,)], [(1,)], True),
        ([(1.01,)], [(1,)], False),
        ([("a", 1), ("b", 2)], [("b", 2), ("a", 1)], True),
        ([(1, "a")], [("a", 1)], True),
        ([("a", 1, "more")], [("a", 1)], True),
        ([("a",)], [("a", 1)], False),
        ([("a", 1), ("a", 1)], [("a", 1)], False),
        ([], [(None,)], True),
        ([(0,)], [(None,)], False),
        ([], [], True),
        ([(True,)], [(1,)], False),
    ],
)
def test_rows_in_any_order_with_any_more_columns(found, wanted, same):
    assert same_rows(found, wanted, ordered=False) is same


def test_an_order_that_counts():
    assert same_rows([(1,), (2,)], [(1,), (2,)], ordered=True)
    assert not same_rows([(2,), (1,)], [(1,), (2,)], ordered=True)


def test_a_file_of_questions(tmp_path):
    path = tmp_path / "q.jsonl"
    line = {
        "id": "1",
        "route": "sql",
        "question": "Сколько?",
        "sql": "SELECT 1",
        "answer": [[1]],
        "rows": [7],
    }
    path.write_text(json.dumps(line) + "\n\n", encoding="utf-8")
    (question,) = load_sql_questions(path)
    assert (question.answer, question.rows, question.ordered) == (((1,),), ("7",), False)
    path.write_text(json.dumps(line) + "\n{}\n", encoding="utf-8")
    with pytest.raises(QuestionsFileError, match="2"):
        load_sql_questions(path)
    with pytest.raises(QuestionsFileError):
        load_sql_questions(tmp_path / "none.jsonl")
