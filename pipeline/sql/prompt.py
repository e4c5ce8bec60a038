"""What the model reads before it writes a statement: rules, examples, an excerpt of the schema, the question.

What stays the same from question to question comes first, so that the engine has read it already.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.ports import ChatMessage
from pipeline.sql.catalog import Catalog
from pipeline.sql.excerpt import Excerpt
from pipeline.sql.select_grammar import Known

__all__ = ["fixed_message", "repair_messages", "sql_messages"]

_ENGINES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}

_RULES = """\
You write one {engine} SELECT statement that answers the question about a database.
Use only the tables and columns that are listed; join tables by the keys shown with ->.
Add no condition that the question does not ask for. Answer with the statement only.

Examples, tables articles(id, title, length number, author_id -> authors.id), authors(id, name):
Q: Сколько статей?
SQL: SELECT COUNT(*) FROM articles;
Q: Сколько статей у каждого автора?
SQL: SELECT authors.name, COUNT(*) FROM articles JOIN authors ON articles.author_id = authors.id \
GROUP BY authors.name;
Q: Пять самых длинных статей
SQL: SELECT articles.title, articles.length FROM articles ORDER BY articles.length DESC LIMIT 5;
Q: У какого автора больше всего статей?
SQL: SELECT authors.name, COUNT(*) FROM articles JOIN authors ON articles.author_id = authors.id \
GROUP BY authors.name ORDER BY COUNT(*) DESC LIMIT 1;
Q: What is the average length of an article?
SQL: SELECT AVG(articles.length) FROM articles;"""


def fixed_message(dialect: str) -> ChatMessage:
    """The part that all questions have in common."""
    return ChatMessage("system", _RULES.format(engine=_ENGINES[dialect]))


def sql_messages(
    question: str,
    excerpt: Excerpt,
    known: Known,
    catalog: Catalog,
    examples: Sequence[tuple[str, str]] = (),
) -> list[ChatMessage]:
    """The conversation that ends where the statement begins.

    Args:
        question: Without flags.
        excerpt: The tables that are shown.
        known: Conditions that the question's words have come to already.
        catalog: Whose dialect and note they are.
        examples: Questions about this very database, the nearest one last.
    """
    head = f"Database: {catalog.note}\n\n" if catalog.note else ""
    head += f"Tables:\n{excerpt.text}"
    parts = [head, *(f"Q: {asked}\nSQL: {statement.rstrip('; ')};" for asked, statement in examples)]
    if known.stated:
        parts.append("Conditions in the question: " + " AND ".join(known.stated))
    parts.append(f"Q: {question}\nSQL:")
    # Another question about the same tables begins the same way: the engine may keep what it made of that.
    return [
        fixed_message(catalog.dialect),
        ChatMessage("user", "\n\n".join(parts), lasting=len(head)),
    ]


def repair_messages(messages: Sequence[ChatMessage], statement: str, error: str) -> list[ChatMessage]:
    """The same conversation with a statement that did not run, and why."""
    return [
        *messages,
        ChatMessage("assistant", statement),
        ChatMessage("user", f"That does not run: {error}\nWrite the corrected statement only.\nSQL:"),
    ]
