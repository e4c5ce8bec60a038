"""A statement for a question: the steps between the words and the database, each a plain function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.ports import ChatMessage, Sampling
from pipeline.sql.catalog import Catalog
from pipeline.sql.completion import completed
from pipeline.sql.cues import cues_of
from pipeline.sql.excerpt import Excerpt
from pipeline.sql.prompt import repair_messages, sql_messages
from pipeline.sql.select_grammar import Known, free_grammar, select_grammar

__all__ = ["Draft", "draft_of", "repair_of", "statement_in"]

STATEMENT_TOKENS = 200

_FENCE = re.compile(r"```(?:sql)?\s*(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_SELECT = re.compile(r"\b(?:SELECT|WITH)\b.*", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Draft:
    """What to send to the model: messages and how its answer is bound."""

    messages: tuple[ChatMessage, ...]
    sampling: Sampling


def draft_of(
    question: str,
    excerpt: Excerpt,
    known: Known,
    catalog: Catalog,
    examples: Sequence[tuple[str, str]] = (),
    *,
    bound: bool = True,
) -> Draft:
    """The first attempt at a statement.

    Args:
        question: Without flags.
        excerpt: The tables that are shown.
        known: What the question's words came to.
        catalog: The database.
        examples: Questions about it, the nearest one last.
        bound: Have it follow the grammar of what is known; else any SELECT will do.
    """
    messages = sql_messages(question, excerpt, known, catalog, examples)
    grammar = (
        select_grammar(excerpt.tables, known, cues_of(question), catalog.dialect) if bound else free_grammar()
    )
    return Draft(tuple(messages), Sampling(max_tokens=STATEMENT_TOKENS, grammar=grammar))


def repair_of(draft: Draft, statement: str, error: str) -> Draft:
    """The one further attempt, with what the guard or the database said; it is free of the grammar."""
    messages = repair_messages(draft.messages, statement, error)
    return Draft(tuple(messages), Sampling(max_tokens=STATEMENT_TOKENS, grammar=free_grammar()))


def statement_in(written: str, catalog: Catalog) -> str:
    """The statement in what a model wrote, its joins and columns completed; empty where there is none.

    A model behind an address may put words and fences around it: no grammar binds that.
    """
    fenced = _FENCE.search(written)
    found = _SELECT.search(fenced[1] if fenced else written)
    if found is None:
        return ""
    statement = found[0].split(";", 1)[0].strip()
    return completed(statement, catalog)
