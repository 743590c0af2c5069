"""The n-gram model of a corpus: counts by hand and by brute force, probabilities as NLTK's, however it is read."""

from __future__ import annotations

import gzip
import json
import math
import random
from collections import Counter as Tally
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.errors import StoreError
from polyculture.collect.mining.corpus import open_corpus
from polyculture.instruments.corpus import tokens as cutting
from polyculture.instruments.corpus.count import Counter, count
from polyculture.instruments.corpus.model import ORDER, EntityInContext, NgramModel, needed_by, pairs_of
from polyculture.instruments.corpus.tokens import cut, cut_each, pieces

LINES = ["we ate rice and fish", "we ate rice with tea", "they ate fish and rice", "we drank tea", "rice"]


def model_of(texts: Sequence[str], pairs: Sequence[EntityInContext], folder: Path) -> NgramModel:
    path = folder / "corpus.txt"
    path.write_text("\n".join(texts), encoding="utf-8")
    return count(open_corpus([path], "text"), needed_by(pairs))[0]


def size(text: str) -> int:
    return len(cut(text).hashes)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("We ate pad-thai, twice.", 8),
        ("寿司を食べた", 6),
        ("ガパオ", 3),
        ("ข้าวผัด", 5),  # ข้ า ว ผั ด
        ("김치찌개를 먹다", 7),
        ("ซูชิ sushi", 3),
        ("पनीर टिक्का", 2),
        ("می‌روم", 1),
        ("", 0),
        (" \n\t", 0),
    ],
)
def test_how_text_is_cut(text: str, number: int) -> None:
    assert size(text) == number


@pytest.mark.parametrize(
    ("one", "other"),
    [("Sushi", "sUSHI"), ("مُحَمَّد", "محمد"), ("عـــرب", "عرب"), ("phở", "pho\u031b\u0309"), ("ガ", "カ\u3099")],
)
def test_what_is_one_token(one: str, other: str) -> None:
    assert cut(one).hashes.tolist() == cut(other).hashes.tolist()


@given(
    st.text(st.sampled_from("ab é寿し김ก้ ,.\n\u200c"), max_size=60), st.text(st.sampled_from("ab é寿 ,."), max_size=9)
)
@settings(max_examples=200, deadline=None)
def test_a_token_is_the_same_wherever_it_stands(text: str, other: str) -> None:
    alone, together = cut(text), cut(f"{other}\n{text}")
    assert together.hashes[len(together.hashes) - len(alone.hashes) :].tolist() == alone.hashes.tolist()
    assert [len(found) for found in cut_each([other, text, ""])] == [size(other), size(text.replace("\n", " ")), 0]


def test_a_long_text_is_cut_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PIECE", 10)
    text = "one two three\nfour five\n" + "x" * 25
    assert "".join(pieces(text)) == text
    assert list(pieces(text))[:4] == ["one two ", "three\n", "four five\n", "x" * 10]


def test_an_entity_takes_over_the_word_that_it_goes_on_with() -> None:
    pairs = pairs_of("we ate و", ["كسكس", "(tea)", "rice"])
    merged, open_end, _ = pairs
    assert (merged.merged, len(merged.tokens), len(merged.history)) == (True, 1, 2)
    assert merged.tokens.tolist() == cut("وكسكس").hashes.tolist()
    assert (open_end.merged, len(open_end.tokens), len(open_end.history)) == (False, 3, 3)
    assert pairs_of("we often ate raw ", ["fish"])[0].history.tolist() == cut("often ate raw").hashes.tolist()


def test_counts_by_hand(tmp_path: Path) -> None:
    (pair,) = pairs_of("we ate ", ["rice"])
    model = model_of(LINES, [pair], tmp_path)
    # "we ate" stands twice, both times before "rice"; 19 tokens.
    assert model.log_probabilities(pair).tolist() == [math.log(2 / 2)]
    assert model.counts[0] == 19


def test_what_the_corpus_does_not_hold_has_no_probability(tmp_path: Path) -> None:
    pairs = pairs_of("we ate ", ["tea", "soup", "rice and snails"])
    model = model_of(LINES, pairs, tmp_path)
    assert model.log_probabilities(pairs[0]).tolist() == [-math.inf]
    assert model.log_probabilities(pairs[2]).tolist() == [0.0, math.log(1 / 2), -math.inf]


def _sentences(seed: int, lines: int = 60) -> list[list[str]]:
    chance = random.Random(seed)
    words = [f"w{number}" for number in range(12)]
    return [chance.choices(words, weights=range(12, 0, -1), k=chance.randint(1, 9)) for _ in range(lines)]


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_nltks(seed: int, tmp_path: Path) -> None:
    from nltk.lm import MLE
    from nltk.util import everygrams

    sentences = _sentences(seed)
    peer = MLE(ORDER)
    grams = [list(everygrams(sentence, max_len=ORDER)) for sentence in sentences]
    peer.fit(grams, [word for sentence in sentences for word in sentence])
    chance = random.Random(seed + 100)
    asked = [[f"w{chance.randint(0, 11)}" for _ in range(chance.randint(2, 8))] for _ in range(80)]
    pairs = [pairs_of(" ".join(words[:-2]) + " ", [" ".join(words[-2:])])[0] for words in asked]
    model = model_of([" ".join(sentence) for sentence in sentences], pairs, tmp_path)
    for words, pair in zip(asked, pairs, strict=True):
        for back, ours in zip((2, 1), model.log_probabilities(pair), strict=True):
            place = len(words) - back
            history = words[max(0, place - ORDER + 1) : place]
            assert math.exp(ours) == pytest.approx(peer.score(words[place], history), rel=1e-9)


@given(st.lists(st.lists(st.sampled_from(list("abcd.寿")), max_size=12), min_size=1, max_size=8), st.data())
@settings(max_examples=60, deadline=None)
def test_counts_are_those_of_brute_force(lines: list[list[str]], data: st.DataObject) -> None:
    from nltk.util import everygrams

    asked = data.draw(st.lists(st.lists(st.sampled_from(list("abcd.e")), min_size=1, max_size=5), min_size=1))
    pairs = [pairs_of(" ".join(words[:2]) + " ", [" ".join(words[2:])])[0] for words in asked]
    needed = needed_by(pairs)
    counter = Counter(needed)
    for line in lines:
        counter.add("\n".join([" ".join(line), "zz"]))
    share = counter.share
    number = {value: place + 1 for place, value in enumerate(needed.words.tolist())}
    texts = [[number.get(value, 0) for value in cut(" ".join(line)).hashes.tolist()] for line in lines]
    tally = Tally(gram for text in texts for gram in everygrams(text, max_len=ORDER))
    followed = Tally(gram[:-1] for gram in tally.elements())
    for place, key in enumerate(needed.keys.tolist()):
        gram = tuple(part for part in (key >> 48, key >> 32 & 65535, key >> 16 & 65535, key & 65535) if part)
        if gram:
            assert share.counts[place] == tally[gram]
            if needed.followed[place]:
                assert share.followed[place] == followed[gram]
    assert share.counts[0] == sum(map(len, texts)) + len(lines)


def _write(folder: Path, kind: str, texts: Sequence[str]) -> Path:
    path = folder / kind
    rows = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    if kind == "parquet":
        pq.write_table(pa.table({"text": texts}), path, row_group_size=7)
    elif kind == "gzip":
        path.write_bytes(gzip.compress(rows.encode()))
    else:
        path.write_text(rows if kind == "json" else "".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def test_counts_do_not_depend_on_format_blocks_or_processes(tmp_path: Path) -> None:
    texts = [" ".join(sentence) for sentence in _sentences(3, 200)]
    pairs = pairs_of("w0 w1 ", ["w2 w3", "w1", "w0 w0 w0 w0"])
    found = []
    kinds = [("json", 1 << 20, 1), ("json", 300, 2), ("text", 500, 1), ("gzip", 400, 1), ("parquet", 1, 1)]
    for kind, block, processes in kinds:
        files = open_corpus([_write(tmp_path, kind, texts)], "text", block)
        model, intake = count(files, needed_by(pairs), processes)
        found.append((*(column.tolist() for column in (model.counts, model.followed)), intake.tokens))
    assert all(each == found[0] for each in found)


def test_a_corpus_that_cannot_be_read_whole_is_not_counted(tmp_path: Path) -> None:
    packed = gzip.compress(("".join(json.dumps({"text": line}) + "\n" for line in LINES * 5000)).encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "empty.txt").write_text("\n \n", encoding="utf-8")
    needed = needed_by(pairs_of("we ", ["ate"]))
    for name, told in (("cut.jsonl.gz", "cannot be read to its end"), ("empty.txt", "there is no text")):
        with pytest.raises(StoreError, match=told):
            count(open_corpus([tmp_path / name], "text"), needed)


def test_broken_lines_are_counted_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(
        '{"text": "we ate"}\nnot json\n{"text": null}\n{"other": "we"}\n\n{"text": "we"}\n', encoding="utf-8"
    )
    needed = needed_by(pairs_of("we ", ["ate"]))
    model, intake = count(open_corpus([path], "text"), needed)
    assert (intake.broken, intake.texts, intake.tokens) == (3, 2, 3)
    assert model.counts[0] == 3
