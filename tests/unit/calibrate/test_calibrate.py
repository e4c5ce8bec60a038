"""The calibration of an index: kept with it, the same after a mend and a rebuild, taken into account."""

from dataclasses import replace

import pytest
from index_files import index_files
from indexing_process import source_of
from small_index import small_index

from pipeline import bootstrap
from pipeline.answer.evidence import gather
from pipeline.answer.refusal import FEATURES, refusal_model, relevance
from pipeline.calibrate import (
    Samples,
    ask_samples,
    calibrate,
    calibrated,
    fitted,
    in_force,
    is_calibrated,
    method,
)
from pipeline.embedders.hash import HashEmbedder
from pipeline.health.finding import Say
from pipeline.health.refusal import check_refusal
from pipeline.index import Calibration
from pipeline.indexing import update_index
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings, load_settings
from pipeline.stores import json_store
from pipeline.types import Query

EMBEDDER = HashEmbedder(128)
SUBJECTS = ("отпуск", "склад", "касса", "договор", "поставка", "зарплата", "маршрут", "пропуск")
ACTS = ("оформляет", "проверяет", "закрывает", "отправляет", "считает")


def sentences():
    return [
        f"Заведующий {act} {subject} по правилу {place} и пишет об этом в журнал номер {number}."
        for number, subject in enumerate(SUBJECTS)
        for place, act in enumerate(ACTS)
    ]


@pytest.fixture(scope="module")
def index():
    return small_index(sentences(), EMBEDDER)


@pytest.fixture
def settings(tmp_path):
    base = tmp_path / "knowledge_base"
    base.mkdir()
    for number, sentence in enumerate(sentences()):
        (base / f"{number:02}.txt").write_text(sentence, "utf-8")
    return load_settings({"home": tmp_path}, environ={}).settings


def test_the_threshold_follows_from_the_samples():
    model = replace(
        refusal_model("any"),
        means=refusal_model("any").means * 0,
        deviations=refusal_model("any").deviations * 0 + 1,
        coefficients=(refusal_model("any").coefficients * 0) + [name == "late" for name in FEATURES],
        intercept=0.0,
    )

    def of(late, foreign=0.0):
        return refusal_model("any").means * 0 + [
            {"late": late, "foreign": foreign}.get(name, 0) for name in FEATURES
        ]

    samples = Samples(
        foreign=tuple([of(-3.0)] * 8 + [of(-1.0, 1.0)] * 8),
        own=tuple([of(4.0)] * 8),
        missing=tuple([of(4.0)] * 6 + [of(-1.5)] * 2),
    )
    found = fitted(samples, model, 5.0, "m")
    # As in test_calibration.py: (-3 + 4 - 5) / 2 / 2, and abroad -1 / 2 / 2.
    assert (found.shift, found.shift_abroad) == (-1.0, -0.25)
    assert (found.own, found.foreign, found.method) == (8, 16, "m")
    assert found.refused_own == (0.0,) * 5
    # At strictness -2 the threshold is 1.5 lower: -1.75 abroad lets through what lies at -1.
    assert found.refused_foreign == (0.5, 0.5, 1.0, 1.0, 1.0)
    # -1.5 lies under -1, and under -1.75 it does not; 6 of 8 have an answer elsewhere.
    assert found.refused_missing == (0.0, 0.0, 0.25, 0.25, 0.25)


def test_shares_grow_with_strictness(index):
    found = calibrate(index, EMBEDDER)
    assert found.own == 40
    assert found.foreign == 56
    for shares in (found.refused_own, found.refused_foreign, found.refused_missing):
        assert len(shares) == 5
        assert list(shares) == sorted(shares)
    assert found.refused_own[2] < found.refused_foreign[2]


def test_equal_indexes_are_calibrated_alike(index):
    assert calibrate(index, EMBEDDER) == calibrate(small_index(sentences(), EMBEDDER), EMBEDDER)
    # Its own calibration changes nothing, or a second one would be another.
    assert calibrate(replace(index, calibration=Calibration("m", shift=1.0)), EMBEDDER) == calibrate(
        index, EMBEDDER
    )


def test_a_base_without_sentences_keeps_the_product_s_threshold():
    found = calibrate(small_index(["x = 1", "y = 2"], EMBEDDER), EMBEDDER)
    assert (found.shift, found.own, found.refused_own) == (0.0, 0, ())
    assert calibrate(small_index([], EMBEDDER), EMBEDDER).foreign == 0


def test_a_missing_document_is_missed(index):
    samples = ask_samples(index, EMBEDDER)
    late = FEATURES.index("late")
    with_it = sum(one[late] for one in samples.own) / len(samples.own)
    without = sum(one[late] for one in samples.missing) / len(samples.missing)
    assert without < with_it


def test_relevance_takes_the_calibration_into_account(index):
    question = "Кто оформляет отпуск?"
    query = Query(question, question)

    def with_shift(shift):
        changed = replace(index, calibration=Calibration("m", shift=shift))
        return retrieve(query, changed, EMBEDDER, SearchSettings())

    plain = relevance(retrieve(query, index, EMBEDDER, SearchSettings()))
    assert relevance(with_shift(0.0)) == plain
    assert relevance(with_shift(1.0)) < plain < relevance(with_shift(-1.0))
    assert with_shift(1.0).hits == with_shift(0.0).hits


def test_stricter_never_answers_what_softer_refuses(index):
    for sentence in sentences()[::7]:
        question = f"Сколько раз {sentence.split()[2]} бывает в пятницу?"
        found = retrieve(Query(question, question), index, EMBEDDER, SearchSettings())
        refused = [gather(found, strictness=step).refused for step in range(-2, 3)]
        assert refused == sorted(refused)
        assert not gather(found, threshold=0.0, strictness=2).refused


def test_it_is_kept_with_the_index_and_the_same_after_a_mend_and_a_rebuild(settings, tmp_path):
    source = source_of(EMBEDDER)
    update_index(settings, source, calibrating=True)
    first = json_store.load(settings.embeddings)
    assert is_calibrated(first)
    assert first.calibration == calibrate(first, EMBEDDER)
    assert update_index(settings, source, calibrating=True) is None
    (settings.knowledge_base / "00.txt").write_text(
        "Совсем другое предложение о том, как кормят кошку.", "utf-8"
    )
    (settings.knowledge_base / "05.txt").unlink()
    update_index(settings, source, calibrating=True)
    mended = index_files(settings.embeddings)
    update_index(settings, source, rebuild=True, calibrating=True)
    assert index_files(settings.embeddings) == mended


def test_an_index_without_one_gets_it_where_nothing_else_has_changed(settings):
    source = source_of(EMBEDDER)
    update_index(settings, source)
    before = json_store.load(settings.embeddings)
    assert before.calibration is None
    assert update_index(settings, source, calibrating=True) is None
    after = json_store.load(settings.embeddings)
    assert is_calibrated(after)
    assert after.manifest == before.manifest
    assert (after.vectors == before.vectors).all()


def test_one_of_another_model_is_not_used(index):
    old = replace(index, calibration=Calibration("1-older", shift=1.5))
    assert not is_calibrated(old)
    assert in_force(old).calibration is None
    new = replace(index, calibration=Calibration(method(EMBEDDER.spec.id), shift=1.5))
    assert in_force(new) is new
    assert in_force(index) is index


def test_a_calibration_of_another_form_does_not_cost_the_index(settings):
    update_index(settings, source_of(EMBEDDER), calibrating=True)
    path = settings.embeddings / "manifest.json"
    whole = path.read_text("utf-8")
    path.write_text(whole.replace('"shift": ', '"shifted": '), "utf-8")
    assert json_store.load(settings.embeddings).calibration is None


def test_the_command_calibrates(settings, monkeypatch):
    monkeypatch.setattr(bootstrap, "embedder_source", lambda settings: source_of(EMBEDDER))
    bootstrap.build(settings)
    assert is_calibrated(json_store.load(settings.embeddings))


@pytest.mark.parametrize("language", ["ru", "en"])
def test_doctor_tells_the_threshold_and_the_shares(index, language):
    say = Say(language)
    shares = {"refused_own": (0, 0, 0.02, 0.1, 0.2), "refused_foreign": (0.8, 0.9, 0.97, 1, 1)}
    known = Calibration(
        method(EMBEDDER.spec.id), 0.8, 0.1, own=48, foreign=56, refused_missing=(0.1,) * 5, **shares
    )
    told = check_refusal(replace(index, calibration=known), SearchSettings(), say)[0]
    assert told.state == "ok"
    for part in ("0.50", "+0.8", "2 %", "48", "97 %", "56", "10 %"):
        assert part in told.detail
    stricter = check_refusal(replace(index, calibration=known), SearchSettings(strictness=1), say)[0]
    assert "0.68" in stricter.detail
    assert "100 %" in stricter.detail
    none = check_refusal(index, SearchSettings(), say)[0]
    assert (none.state, none.next_step) == ("warning", "otvet index")
    fixed = check_refusal(index, SearchSettings(refusal_threshold=0.3), say)[0]
    assert "0.3" in fixed.detail
    small = calibrated(small_index(["x = 1"], EMBEDDER), EMBEDDER)
    assert check_refusal(small, SearchSettings(), say)[0].state == "ok"
