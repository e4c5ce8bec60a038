"""Scripted replies in the shape of product.md, for a page that is tested without the real server."""

from __future__ import annotations

from typing import Any

Reply = dict[str, Any]

QUOTES = [
    (
        "Отпуск и больничный",
        "hr/otpusk.md",
        "Ежегодный оплачиваемый отпуск составляет 28 календарных дней. Его можно разделить на части, "
        "одна из которых не короче 14 дней.",
        "https://example.org/hr/otpusk",
        None,
    ),
    (
        "Перенос отпуска на следующий год",
        "hr/Положение об отпусках.pdf",
        "Перенос неиспользованных дней допускается по письменному заявлению, согласованному с руководителем "
        "не позднее чем за две недели. Перенести можно не более 14 календарных дней. Дни, не использованные "
        "в течение двух лет подряд, не сгорают, но должны быть предоставлены в первую очередь, а график "
        "исправляется кадровой службой до 17 декабря и доводится до работника под подпись.",
        None,
        12,
    ),
    (
        "Заявление на отпуск в 1С",
        "1c/kadry.txt",
        "Документ «Отпуск» (форма Т-6) создаётся в разделе «Кадры» не позднее чем за 14 дней "
        "до начала отпуска.",
        "https://example.org/1c/kadry",
        None,
    ),
]


def source(n: int, **changes: Any) -> Reply:
    """Source ``n`` (from 1) of the sample, with fields replaced."""
    title, file, quote, link, page = QUOTES[(n - 1) % len(QUOTES)]
    fields: Reply = {
        "n": n,
        "title": title,
        "link": link or f"http://127.0.0.1/source/c{n:04d}#passage",
        "file": file,
        "quote": quote,
        "start": 0,
        "end": len(quote),
        "score": 0.9 - n / 10,
        "page": page,
        "chunk_id": f"c{n:04d}",
    }
    return fields | changes


def reply(outcome: str = "sources", answer: str | None = None, **changes: Any) -> Reply:
    """A whole reply; ``status`` stays last."""
    fields: Reply = {
        "question": "Сколько дней длится отпуск?",
        "flags": [],
        "answer": f"{QUOTES[0][2]} [1]" if answer is None else answer,
        "outcome": outcome,
        "sources": [source(1), source(2), source(3)],
        "timings_ms": {"search": 11.4, "total": 12.6},
        "model": "extractive"
        if outcome in ("sources", "not_found")
        else "Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
        "kb_version": "3f9a2c71",
        "request_id": "a1b2c3d4",
    }
    return fields | changes | {"status": "ok"}


def error(code: str, message: str, hint: str = "") -> Reply:
    """The error object of every path."""
    return {"error": code, "message": message, "hint": hint, "request_id": "e5f6a7b8", "status": "error"}


ANSWER = (
    "Ежегодный оплачиваемый отпуск длится 28 календарных дней [1]. Его делят на части, и одна из них "
    "не короче 14 дней [1].\n\nЧтобы взять отпуск:\n- подайте заявление не позднее чем за 14 дней [3];\n"
    "- неиспользованные дни, не больше 14, переносятся на следующий год [2]."
)


def tokens(answer: str = ANSWER, size: int = 7) -> list[str]:
    """The answer in pieces, as a model writes it."""
    return [answer[i : i + size] for i in range(0, len(answer), size)]
