"""From a request to a query."""

import pytest

from pipeline.errors import EmptyQuestionError, QuestionTooLongError
from pipeline.strategies import STRATEGIES
from pipeline.types import AskRequest
from pipeline.understand import understand


def test_flags_are_read_and_the_text_stays_as_written():
    query = understand(AskRequest(question="Где  лежит Ёлка? -s -ce -5"))
    assert query.text == "Где  лежит Ёлка?"
    assert query.search_text == "Где лежит Ёлка?"
    assert query.flags == ("-s", "-ce", "-5")
    assert (query.scores, query.reranker, query.sources_limit, query.top_k) == (True, "cross-encoder", 5, 5)


def test_fields_count_where_no_flag_speaks():
    query = understand(AskRequest(question="вопрос", top_k=7, sources_limit=2, scores=True))
    assert (query.top_k, query.sources_limit, query.scores, query.strategy) == (7, 2, True, "")


def test_the_generator_never_gets_a_source_that_is_not_returned():
    query = understand(AskRequest(question="вопрос", top_k=1, sources_limit=3))
    assert (query.top_k, query.sources_limit) == (1, 1)


@pytest.mark.parametrize(("flag", "name"), sorted(STRATEGIES.flags().items()))
def test_strategy_flags(flag, name):
    assert understand(AskRequest(question=f"вопрос {flag}")).strategy == name


@pytest.mark.parametrize("question", ["", "  \n", "-s -ce", "-s", "--", "\ufeff", "\x00"])
def test_flags_alone_are_no_question(question):
    """Case 32."""
    with pytest.raises(EmptyQuestionError):
        understand(AskRequest(question=question))


def test_the_limit_is_named():
    """Case 25: 2,000 characters pass, one more does not."""
    assert len(understand(AskRequest(question="я" * 2000)).text) == 2000
    with pytest.raises(QuestionTooLongError, match="2001 characters, 2000 allowed"):
        understand(AskRequest(question="я" * 2001))
