"""The quick tokenizer gives what the whole one gives, whatever the text (case 13 among them)."""

from __future__ import annotations

import json
import os
import random
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram

from pipeline.models import piece_table
from pipeline.models.onnx_folder import load_tokenizer, well_formed
from pipeline.models.piece_table import open_table
from pipeline.models.quick_tokenizer import QuickTokenizer

PIECES = [
    ("<s>", -1000.0),
    ("<pad>", -1000.0),
    ("</s>", -1000.0),
    ("<unk>", -1000.0),
    *((piece, -score) for score, piece in enumerate(["▁", "а", "б", "в", "аб", "▁а", "ба", "бв"], 1)),
    *((piece, -score) for score, piece in enumerate(["▁аб", "абв", "▁в", "d", "▁d", "dd"], 9)),
]


def small_tokenizer(model=None):
    tokenizer = Tokenizer(model or Unigram(PIECES, 3, False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens([AddedToken("<s>", special=True), AddedToken("</s>", special=True)])
    return tokenizer


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(piece_table, "_SMALLEST", 0)
    small_tokenizer().save(str(tmp_path / "tokenizer.json"))
    return tmp_path


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    file = tmp_path_factory.mktemp("small") / "tokenizer.json"
    small_tokenizer().save(str(file))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(piece_table, "_SMALLEST", 0)
        table = open_table(file)
    assert table is not None
    return whole_of(file), QuickTokenizer(table)


def whole_of(file):
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.encode_special_tokens = True
    return tokenizer


def same(one, other):
    names = ("ids", "tokens", "offsets", "special_tokens_mask", "type_ids", "attention_mask")
    return all(getattr(one, name) == getattr(other, name) for name in names)


@given(st.text(alphabet="абвdaё \n\t▁<s>/Ⅳﬁ́\u200b", max_size=40))
def test_a_small_tokenizer_cuts_alike(both, text):
    whole, quick = both
    assert same(quick.encode(text), whole.encode(text))


@given(st.text(max_size=30), st.text(max_size=30))
def test_pairs_and_texts_without_special_tokens_are_alike(both, one, other):
    whole, quick = both
    one, other = well_formed(one), well_formed(other)
    first, second = (quick.encode(text, add_special_tokens=False) for text in (one, other))
    assert same(first, whole.encode(one, add_special_tokens=False))
    assert same(quick.post_process(first, second), whole.encode(one, other))
    assert quick.num_special_tokens_to_add(is_pair=True) == 4


def test_a_word_longer_than_a_step_of_the_search_is_cut_alike(both, monkeypatch):
    monkeypatch.setattr(piece_table, "_CHARACTERS_AT_A_TIME", 5)
    whole, quick = both
    text = "абвабdвdd" * 9
    assert same(quick.encode(text), whole.encode(text))


def test_the_table_is_written_once_and_serves_the_next_start(folder, monkeypatch):
    assert isinstance(load_tokenizer(folder), QuickTokenizer)
    written = (folder / "tokenizer.pieces").read_bytes()
    monkeypatch.setattr(piece_table, "_made", lambda record: pytest.fail("made again"))
    again = load_tokenizer(folder)
    assert same(again.encode("абв d"), small_tokenizer().encode("абв d"))
    assert (folder / "tokenizer.pieces").read_bytes() == written
    assert sorted(path.name for path in folder.iterdir()) == ["tokenizer.json", "tokenizer.pieces"]


@pytest.mark.parametrize("keep", [0, 10, 40, 400, -1])
def test_a_cut_table_is_made_again(folder, keep):
    load_tokenizer(folder)
    file = folder / "tokenizer.pieces"
    whole = file.read_bytes()
    file.unlink()
    file.write_bytes(whole[:keep])
    assert same(load_tokenizer(folder).encode("абв d"), small_tokenizer().encode("абв d"))
    assert file.read_bytes() == whole


def test_a_table_with_a_wrong_byte_is_made_again(folder):
    load_tokenizer(folder)
    file = folder / "tokenizer.pieces"
    whole = file.read_bytes()
    wrong = bytearray(whole)
    wrong[-1] ^= 1
    file.unlink()
    file.write_bytes(wrong)
    assert same(load_tokenizer(folder).encode("абв d"), small_tokenizer().encode("абв d"))
    assert file.read_bytes() == whole


def test_a_changed_tokenizer_gets_a_new_table(folder):
    load_tokenizer(folder)
    model = Unigram([*PIECES, ("▁абв", -0.5)], 3, False)
    small_tokenizer(model).save(str(folder / "tokenizer.json"))
    os.utime(folder / "tokenizer.json", ns=(1, 1))
    assert load_tokenizer(folder).encode("абв").ids == [0, len(PIECES), 2]


def test_where_nothing_can_be_written_the_table_serves_from_memory(folder, monkeypatch):
    def refuse(*arguments):
        raise PermissionError("read-only")

    monkeypatch.setattr(type(folder), "replace", refuse)
    assert load_tokenizer(folder).encode("абв").ids == small_tokenizer().encode("абв").ids
    assert [path.name for path in folder.iterdir()] == ["tokenizer.json"]


def _with(change):
    record = json.loads(small_tokenizer().to_str())
    change(record)
    return json.dumps(record)


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        Tokenizer(BPE({"a": 0}, [])).to_str(),
        _with(lambda record: record["model"].update(byte_fallback=True)),
        _with(lambda record: record["added_tokens"][0].update(special=False)),
        _with(lambda record: record.update(post_processor=None)),
        _with(lambda record: record["model"]["vocab"].append(["а", -1.0])),
    ],
    ids=["cut", "list", "empty", "bpe", "bytes", "words added", "no specials", "a piece twice"],
)
def test_what_a_table_cannot_serve_is_left_to_the_library(folder, content):
    (folder / "tokenizer.json").write_text(content, encoding="utf-8")
    assert open_table(folder / "tokenizer.json") is None


def test_pieces_that_share_a_hash_get_another_one(folder, monkeypatch):
    monkeypatch.setattr(piece_table, "_MULTIPLIERS", (1, piece_table._MULTIPLIERS[0]))  # 1: аб = ба
    table = open_table(folder / "tokenizer.json")
    assert table is not None
    assert table.multiplier != 1


def test_forgetting_words_changes_nothing(both, monkeypatch):
    monkeypatch.setattr("pipeline.models.quick_tokenizer._WORDS_KEPT", 2)
    whole, quick = both
    words = ["аб", "ба", "dd", "абв", "вб", "бв"]
    chooser = random.Random(1)

    def work():
        for _ in range(200):
            text = " ".join(chooser.choices(words, k=4))
            if not same(quick.encode(text), whole.encode(text)):
                failures.append(text)

    failures: list[str] = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


_ALPHABETS = (
    "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "АБВГABCD.,:;!?()«»„“—–-№%$€@#",
    "ﬁﬂ①Ⅳ½²ｱ㎏ª…‥´`΅̈̆̂ЙйЁё",
    "你好世界한국어日本語ไทยहिन्दी🙂👨‍👩‍👧🇷🇺",
    "  \t\n\r\u00a0\u200b\u200d\ufeff\u2028\u0000\u0001\u001f\u007f\u0085▁",
)


def _hostile(chooser):
    parts = [
        lambda: "".join(chooser.choices(chooser.choice(_ALPHABETS), k=chooser.randint(1, 12))),
        lambda: chr(chooser.choice([chooser.randint(0, 0xD7FF), chooser.randint(0xE000, 0x10FFFF)])),
        lambda: chooser.choice(
            ["<s>", "</s>", "<unk>", "<mask>", "<pad>", "▁▁", "  ", "\ud800", "1С", "УПД-5"]
        ),
    ]
    return "".join(chooser.choice(parts)() + chooser.choice(["", " "]) for _ in range(chooser.randint(0, 12)))


@pytest.mark.models
def test_ten_thousand_texts_of_the_real_tokenizer(models_folder):
    folder = models_folder / "multilingual-e5-small"
    whole = whole_of(folder / "tokenizer.json")
    quick = load_tokenizer(folder)
    assert isinstance(quick, QuickTokenizer)
    chooser = random.Random(20)
    texts = [_hostile(chooser) for _ in range(9000)]
    home = Path(__file__).resolve().parents[3]
    for name in ("README.md", "docs/quick-start.ru.md", "docs/http-api.md", "docs/models.md"):
        texts += (home / name).read_text(encoding="utf-8").split("\n\n")
    words = sorted({word for text in texts for word in text.split()})
    texts += [" ".join(chooser.sample(words, 20)) for _ in range(10_100 - len(texts))]
    texts.append("съешь" * 4000)
    assert len(texts) > 10_000
    different = [text for text in map(well_formed, texts) if not same(quick.encode(text), whole.encode(text))]
    assert different == []


@pytest.mark.models
def test_vectors_of_the_real_model_are_those_of_the_whole_tokenizer(models_folder):
    from pipeline.embedders.onnx import OnnxEmbedder

    embedder = OnnxEmbedder(models_folder / "multilingual-e5-small", threads=1)
    texts = ["Как настроить сервер?", "How to set up the server"]
    quick = embedder.encode(texts, "query").vectors
    embedder._tokenise._tokenizer = whole_of(models_folder / "multilingual-e5-small" / "tokenizer.json")
    assert np.array_equal(embedder.encode(texts, "query").vectors, quick)
