"""A map made by hand, for what draws and serves maps."""

from __future__ import annotations

from pipeline.plots.map_data import Cluster, KnowledgeMap, Point
from pipeline.types import Source, Stage


def a_point(number: int, flat: tuple[float, float], **changes: object) -> Point:
    values: dict[str, object] = {
        "id": f"c{number:04}",
        "topic": f"Тема {number}",
        "file": "кадры/отпуск.md",
        "text": f"Текст номер {number}.",
        "group": "кадры/",
        "flat": flat,
        "deep": (*flat, 0.0),
        "cluster": 0,
        "duplicates": None,
        "alone": False,
    }
    return Point(**(values | changes))


def a_map(*more: Point, build_id: str = "build") -> KnowledgeMap:
    """Five points: three of one cluster, two of them doubled, one alone, one between clusters."""
    points = (
        a_point(0, (0.0, 0.0), duplicates=1),
        a_point(1, (0.0, 0.1), duplicates=1),
        a_point(2, (0.2, 0.0)),
        a_point(3, (1.0, 1.0), cluster=None, alone=True, group=None),
        a_point(4, (-1.0, 0.5), cluster=1, group="/", file="снабжение.txt"),
        *more,
    )
    clusters = (
        Cluster(0, ("отпуск", "дни"), 3, (0.0, 0.0), (0.0, 0.0, 0.0)),
        Cluster(1, ("склад",), 1, (-1.0, 0.5), (-1.0, 0.5, 0.0)),
    )
    return KnowledgeMap(build_id, "umap", clusters, points)


def a_source(number: int, cosine: float) -> Source:
    stages = (Stage("dense", cosine, 1), Stage("late_interaction", 0.1, 1))
    return Source(1, f"Тема {number}", None, "a.txt", "Цитата.", 0, 7, 0.5, None, f"c{number:04}", stages)
