"""One suite over every generator: what the port promises."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from openai_stand_in import stand_in

from pipeline.errors import GeneratorError, PromptTooLongError
from pipeline.generators.llama_cpp import LlamaCppGenerator
from pipeline.generators.openai import OpenAiGenerator
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.models import gguf_file
from pipeline.ports import ChatMessage, Generator, Sampling, Scorer
from pipeline.remote.client import RemoteClient

CONTEXT = 512
QUESTION = [ChatMessage("system", "Answer briefly."), ChatMessage("user", "Count from one to ten in words.")]
COUNTING = "one, two, three, four, five, six, seven, eight, nine, ten — готово."


@pytest.fixture(scope="module")
def small_llama(models_folder: Path) -> Iterator[LlamaCppGenerator]:
    generator = LlamaCppGenerator(
        gguf_file(models_folder / "smollm2-135m-instruct"), context_tokens=CONTEXT, threads=1
    )
    yield generator
    generator.close()


@pytest.fixture
def remote() -> Iterator[OpenAiGenerator]:
    with stand_in(reply=lambda messages: COUNTING) as server:
        made = OpenAiGenerator(RemoteClient([server.url]), "stand-in", context_tokens=CONTEXT)
        yield made
        made.close()


@pytest.fixture(params=["scripted", "remote", pytest.param("llama", marks=pytest.mark.models)])
def generator(request: pytest.FixtureRequest) -> Generator:
    if request.param == "scripted":
        return ScriptedGenerator([COUNTING], context_tokens=CONTEXT)
    return request.getfixturevalue("remote" if request.param == "remote" else "small_llama")


@pytest.fixture
def scorer(generator: Generator) -> Scorer:
    if not isinstance(generator, Scorer):
        pytest.skip("the protocol has no call for scores")
    return generator


def _never() -> bool:
    return False


def _after(calls: int) -> Callable[[], bool]:
    count = iter(range(10**9))
    return lambda: next(count) >= calls


def test_the_spec_does_not_change(generator: Generator) -> None:
    spec = generator.spec
    assert spec.id
    assert spec.context_tokens == CONTEXT
    list(generator.generate(QUESTION, Sampling(max_tokens=2), _never))
    assert generator.spec == spec


def test_pieces_are_text_and_never_empty(generator: Generator) -> None:
    pieces = list(generator.generate(QUESTION, Sampling(max_tokens=24), _never))
    assert pieces
    assert all(pieces)
    assert "".join(pieces).encode()


def test_the_same_call_gives_the_same_text_at_temperature_0(generator: Generator) -> None:
    texts = {"".join(generator.generate(QUESTION, Sampling(max_tokens=24), _never)) for _ in range(3)}
    assert len(texts) == 1


def test_no_more_tokens_than_asked_for(generator: Generator) -> None:
    text = "".join(generator.generate(QUESTION, Sampling(max_tokens=3), _never))
    assert generator.count_tokens(text) <= 3


def test_a_stop_string_ends_the_text_and_is_not_in_it(generator: Generator) -> None:
    whole = "".join(generator.generate(QUESTION, Sampling(max_tokens=24), _never))
    stop = whole[6:9]
    text = "".join(generator.generate(QUESTION, Sampling(max_tokens=24, stop=(stop,)), _never))
    assert text == whole[: whole.index(stop)]


def test_cancelled_ends_without_error(generator: Generator) -> None:
    assert list(generator.generate(QUESTION, Sampling(), lambda: True)) == []
    some = list(generator.generate(QUESTION, Sampling(max_tokens=24), _after(5)))
    assert len("".join(some).split()) <= 5


def test_works_after_a_text_was_left_in_the_middle(generator: Generator) -> None:
    """Case 27."""
    whole = "".join(generator.generate(QUESTION, Sampling(max_tokens=24), _never))
    pieces = generator.generate(QUESTION, Sampling(max_tokens=24), _never)
    next(pieces)
    del pieces
    assert "".join(generator.generate(QUESTION, Sampling(max_tokens=24), _never)) == whole


def test_a_prompt_that_leaves_no_room_is_refused(generator: Generator) -> None:
    """Case 25: far too long, exactly the context, and one token less."""
    overhead = len(generator.prompt_tokens([ChatMessage("user", "")])) if _is_llama(generator) else 0
    for tokens in (20_000, CONTEXT - overhead, CONTEXT - overhead - (1 if _is_llama(generator) else 0)):
        with pytest.raises(PromptTooLongError):
            list(generator.generate([ChatMessage("user", " word" * tokens)], Sampling(), _never))
    assert list(generator.generate(QUESTION, Sampling(max_tokens=2), _never))


def test_tokens_of_a_text(generator: Generator) -> None:
    assert generator.count_tokens("") == 0
    assert 1 <= generator.count_tokens("one") < generator.count_tokens("one two three four five")


LABELS = ("one, two, three", "Счёт на оплату", "Счёт", "да")
LABELLED = [ChatMessage("system", "Name the topic."), ChatMessage("user", "Счёт 15 во вложении.")]


def test_scores_are_log_probabilities_of_different_answers(scorer: Scorer) -> None:
    scores = scorer.score(LABELLED, LABELS, _never)
    assert len(scores) == len(LABELS)
    assert all(score <= 0 for score in scores)
    assert 0 < sum(map(math.exp, scores)) <= 1 + 1e-9
    assert scorer.score(LABELLED, (), _never) == ()


def test_the_scripted_or_greedy_answer_is_the_likeliest(generator: Generator, scorer: Scorer) -> None:
    answer = "".join(generator.generate(QUESTION, Sampling(max_tokens=400), _never))
    scores = scorer.score(QUESTION, (answer, "Счёт на оплату"), _never)
    assert scores[0] > scores[1]


def test_scores_depend_neither_on_order_nor_on_earlier_calls(generator: Generator, scorer: Scorer) -> None:
    scores = scorer.score(LABELLED, LABELS, _never)
    list(generator.generate(QUESTION, Sampling(max_tokens=5), _never))
    assert scorer.score(LABELLED, LABELS[::-1], _never) == scores[::-1]
    scorer.score([LABELLED[0], ChatMessage("user", "другое")], LABELS[:1], _never)
    assert scorer.score(LABELLED, LABELS, _never) == scores


def test_of_texts_that_begin_alike_both_are_scored(scorer: Scorer) -> None:
    """One text that begins another, and texts that share more than they differ in."""
    alike = ("Счёт", "Счёт на оплату", "Счёт на возврат", "Счёт на возвраты")
    scores = scorer.score(LABELLED, alike, _never)
    assert len(scores) == len(alike)
    assert 0 < sum(map(math.exp, scores)) <= 1 + 1e-9


def test_scoring_is_cancelled_without_error(scorer: Scorer) -> None:
    scores = scorer.score(LABELLED, LABELS, _never)
    assert scorer.score(LABELLED, LABELS, lambda: True) == ()
    assert scorer.score(LABELLED, LABELS, _never) == scores


def test_scoring_what_does_not_fit_is_refused(scorer: Scorer) -> None:
    with pytest.raises(PromptTooLongError):
        scorer.score([ChatMessage("user", " word" * 20_000)], LABELS, _never)
    with pytest.raises(PromptTooLongError):
        scorer.score(LABELLED, (" word" * CONTEXT,), _never)
    assert scorer.score(LABELLED, LABELS, _never)


def test_text_and_scores_by_turns(generator: Generator, scorer: Scorer) -> None:
    whole = "".join(generator.generate(QUESTION, Sampling(max_tokens=8), _never))
    scorer.score(LABELLED, LABELS, _never)
    assert "".join(generator.generate(QUESTION, Sampling(max_tokens=8), _never)) == whole


def _is_llama(generator: Generator) -> bool:
    return isinstance(generator, LlamaCppGenerator)


GRAMMAR = 'root ::= "{\\"route\\": \\"" ("sql" | "search") "\\"}"'


def test_a_grammar_is_followed_by_a_model_and_ignored_by_ready_texts(generator: Generator) -> None:
    text = "".join(generator.generate(QUESTION, Sampling(max_tokens=24, grammar=GRAMMAR), _never))
    if _is_llama(generator):
        assert json.loads(text)["route"] in ("sql", "search")
    else:
        assert COUNTING.startswith(text)
    # The next text is free of it.
    free = "".join(generator.generate(QUESTION, Sampling(max_tokens=24), _never))
    assert not free.startswith("{")


@pytest.mark.models
def test_a_malformed_grammar_is_an_error_of_ours(small_llama: LlamaCppGenerator) -> None:
    with pytest.raises(GeneratorError):
        list(small_llama.generate(QUESTION, Sampling(grammar="root ::= nothing("), _never))
    assert list(small_llama.generate(QUESTION, Sampling(max_tokens=2), _never))
