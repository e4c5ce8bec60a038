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


def explained() -> Reply:
    """What ``/debug/search`` says of the sample question."""
    stages = [
        {"name": "cosine", "score": 0.8714, "rank": 2},
        {"name": "bm25", "score": 7.25, "rank": 1},
        {"name": "late_interaction", "score": 0.9123, "rank": 1},
    ]
    candidates = [
        {"rank": n, "shown": n <= 3, "chunk_id": f"c{n:04d}", "title": QUOTES[(n - 1) % 3][0]}
        | {"file": QUOTES[(n - 1) % 3][1], "score": 1 - n / 10, "stages": stages}
        for n in range(1, 7)
    ]
    return {
        "question": "Сколько дней длится отпуск?",
        "flags": [],
        "searched": "сколько дней длится отпуск?",
        "terms": [
            {"text": "отпуск", "weight": 1.5, "found_as": ["отпуск"]},
            {"text": "длитс", "weight": 2, "found_as": []},
        ],
        "relevance": 0.83,
        "refused": False,
        "sentences": [],
        "candidates": candidates,
        "timings_ms": {"encode": 4.1, "search": 1.2},
        "prompt": [
            {"role": "system", "content": "You answer questions from the given sources only."},
            {"role": "user", "content": f'<source n="1">\n{QUOTES[0][2]}\n</source>'},
        ],
        "prompt_tokens": 212,
        "read_tokens_per_s": 61.5,
        "write_tokens_per_s": 9.25,
        "standing": None,
        "kb_version": "3f9a2c71",
        "status": "ok",
    }


def word_matches() -> Reply:
    """What ``/debug/words`` says of it; its first letter lies outside the first plane of Unicode."""
    text = "𝔒 Отпуск длится 28 дней."
    return {
        "question": "сколько дней отпуск кадры",
        "chunk_id": "c0001",
        "topic": "Кадры",
        "text": text,
        "matches": [
            {"word": "дней", "found": "дней.", "found_start": 19, "found_end": 24, "cosine": 0.95},
            {"word": "кадры", "found": None, "found_start": None, "found_end": None, "cosine": 0.9},
        ],
        "words": [
            {"start": 2, "end": 8, "strength": 0.9},
            {"start": 9, "end": 15, "strength": 0.82},
            {"start": 16, "end": 18, "strength": 0.8},
            {"start": 19, "end": 24, "strength": 0.95},
        ],
        "status": "ok",
    }
