"""Which tokens of a vocabulary are a language's own, on hand-made and on real tokenizers."""

from __future__ import annotations

import csv
import unicodedata
from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import CatalogError
from polyculture.generate.engines import TOKENIZING, ModelSpec, open_engine
from polyculture.instruments.tokens.writings import BROKEN, ranges, usual_languages, vocabulary_shares
from tests.instruments.test_cbs_command import EXPERIMENT, tiny
from tests.instruments.test_cbs_store import DEMO
from tests.polyculture.test_command_line import one_line, polyculture
from tests.tiny_models import save_causal


@pytest.mark.parametrize(
    ("language", "own", "other"),
    [
        ("ja", ["すし", " カレー", "食", "x寿"], ["sushi", "、", "김"]),
        ("zh", ["食", "餃子"], ["すし", "。"]),
        ("ko", ["김치", " 밥을"], ["食", "-"]),
        ("hi", ["पनीर", "ि", "े और"], ["।", "পনির", "paneer"]),
        ("ar", ["كسكس", " و"], ["،", "7"]),
        ("am", ["ምግብ"], ["።", "injera"]),
        ("uz-Cyrl", ["ош", "Қозон"], ["osh"]),
        ("vi", ["được", unicodedata.normalize("NFD", "phở"), "Ở"], ["déjà vu", "pão", "niño", "pho", "crêpe"]),
    ],
)  # fmt: skip
def test_a_token_is_a_languages_own_by_its_letters(language: str, own: list[str], other: list[str]) -> None:
    (share,) = vocabulary_shares([*own, *other, BROKEN], [language])
    assert (share.own, share.tokens, share.partial) == (len(own), len(own) + len(other) + 1, 1)
    assert share.share == pytest.approx(len(own) / share.tokens)


def test_ranges_count_each_reading_as_it_stands() -> None:
    """The range of Jamo leaves out nearly all Korean: composed syllables stand elsewhere."""
    jamo = unicodedata.normalize("NFD", "김")
    found = {s.reading: s.own for s in vocabulary_shares(["김치", " 밥", jamo, "kimchi"], ["ko"], "ranges")}
    assert found == {"Hangul Jamo alone": 1, "Hangul Jamo and composed syllables": 3}
    tokens = ["được", "pho", "crêpe", "cần", "mă", "cà", "Ư"]
    found = {s.reading: s.own for s in vocabulary_shares(tokens, ["vi"], "ranges")}
    assert found == {"all letters with a mark": 6, "the letters that the paper names": 3}
    [ours] = vocabulary_shares(tokens, ["vi"])
    assert (ours.own, ours.reading) == (3, "letters")
    japanese = {s.reading: s.own for s in vocabulary_shares(["すし", "寿司", "sushi"], ["ja"], "ranges")}
    assert japanese == {"kana and CJK ideographs": 2, "kana alone": 1}


def test_nothing_has_no_share() -> None:
    (share,) = vocabulary_shares([], ["ja"])
    assert share.share is None


@pytest.mark.parametrize("language", ["en", "uz", "no-such"])
def test_a_language_in_shared_letters_is_refused(language: str) -> None:
    with pytest.raises(CatalogError, match=rf"'{language}'.*languages"):
        vocabulary_shares(["a"], [language])


def test_every_language_of_the_published_data_sets_can_be_told() -> None:
    published = {"zh", "ja", "ko", "vi", "ur", "hi", "gu", "mr", "ml", "ar"}
    assert published <= set(usual_languages(()))


def test_a_real_tokenizers_vocabulary_is_text_without_special_tokens() -> None:
    model = tiny()
    with open_engine(ModelSpec(f"transformers:{model}"), TOKENIZING) as tokenizer:
        tokens = tokenizer.vocabulary()
    assert {" the", "soup"} & set(tokens)
    assert not {"<pad>", "<bos>", "<eos>"} & set(tokens)
    japanese, hindi = vocabulary_shares(tokens, ["ja", "hi"])
    assert japanese.partial == hindi.partial > 100  # single bytes
    assert hindi.own == sum(any("\u0900" <= letter <= "\u0963" for letter in token) for token in tokens)


def test_tokens_of_vocabulary_and_entities_as_a_user_asks(tmp_path: Path) -> None:
    model = tiny()
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{model}"), encoding="utf-8")
    alone = polyculture("probe", "tokens", "exp.toml", "--language", "hi", cwd=tmp_path)
    assert alone.returncode == 0, alone.stderr
    assert "nothing is scored yet" in alone.stderr
    few = ("--data", "own", "--folder", DEMO, "--type", "food", "--culture", "Indian", "--contexts", "1")
    assert polyculture("cbs", "exp.toml", *few, "--entities", "3", cwd=tmp_path).returncode == 0
    asked = polyculture("probe", "tokens", "exp.toml", "--language", "hi", "--language", "en", cwd=tmp_path)
    assert "en: cannot be told from other languages" in asked.stderr
    assert "Tokens per entity, and Cultural Bias Score" in asked.stdout
    assert "native" in asked.stdout
    assert "neutral" in asked.stdout
    by_range = polyculture("probe", "tokens", "exp.toml", "--language", "ko", "--characters", "ranges", cwd=tmp_path)
    assert by_range.returncode == 0, by_range.stderr
    assert by_range.stdout.count("Hangul") >= 2
    written = polyculture("probe", "tokens", "exp.toml", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    table = polyculture("table", "vocabularies", "exp.toml", "characters=letters", "--format", "csv", cwd=tmp_path)
    rows = list(csv.DictReader(table.stdout.splitlines()))
    assert [row["language"] for row in rows] == usual_languages(read_catalog().languages)
    # All that was counted is kept, each language once, and nothing of it is counted again.
    assert "tokens " not in polyculture("probe", "tokens", "exp.toml", "--language", "hi", cwd=tmp_path).stderr
    query = "SELECT language, reading, own, share FROM vocabulary_shares"
    kept = polyculture("sql", "exp.toml", query, "--format", "csv", cwd=tmp_path)
    stored = list(csv.DictReader(kept.stdout.splitlines()))
    letters = {row["language"]: row["own"] for row in stored if row["reading"] == "letters"}
    assert letters == {row["language"]: row["own"] for row in rows}
    assert sum(row["language"] == "ko" for row in stored) == 1 + len(ranges()["ko"])


def test_shares_are_of_the_tokenizer_that_is_there(tmp_path: Path) -> None:
    """Another model in the same folder is counted anew, once that is accepted; of the former nothing is shown."""
    model = save_causal("gpt2", tmp_path / "gpt2")
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{model}"), encoding="utf-8")
    ask = ("probe", "tokens", "exp.toml", "--language", "hi")
    first = polyculture(*ask, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    other = (tmp_path / "exp.toml").read_text(encoding="utf-8").replace('name = "likely"', 'name = "beside"')
    (tmp_path / "beside.toml").write_text(other, encoding="utf-8")
    beside = polyculture("probe", "tokens", "beside.toml", "--language", "hi", cwd=tmp_path)
    assert (beside.returncode, beside.stdout) == (0, first.stdout), beside.stderr  # counted in the other run
    (tmp_path / "beside.toml").unlink()
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    refused = polyculture(*ask, cwd=tmp_path)
    assert refused.returncode == 2
    assert "1 shares of vocabularies" in refused.stderr
    assert polyculture(*ask, "--accept-changes", cwd=tmp_path).stdout == first.stdout
    kept = polyculture(
        "sql", "exp.toml", "SELECT count(*) AS n FROM vocabulary_shares", "--format", "csv", cwd=tmp_path
    )
    assert kept.stdout.split() == ["n", "1"]


def test_what_has_no_vocabulary_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model="openai:gpt-4o-mini"), encoding="utf-8")
    assert "does not publish its tokenizer" in one_line(polyculture("probe", "tokens", "exp.toml", cwd=tmp_path))
