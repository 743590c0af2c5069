"""Cultures as data, and BLEnD's files: what stays, what is left out and why."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.instruments.cultures.blend import NUMERIC, UNANSWERED, asks_for_number, load_blend
from polyculture.instruments.cultures.cultures import fold_name, read_cultures
from tests.instruments.culture_files import LEVELS, REGIONS, write_blend

CULTURES = read_cultures()


def test_the_studys_cultures_are_data() -> None:
    found = {name: (one.level, one.region) for name, one in CULTURES.countries.items()}
    assert len(found) == 14
    assert Counter(level for level, _ in found.values()) == {"high": 7, "mid": 3, "low": 4}
    assert {name: found[name] for name in LEVELS} == {name: (LEVELS[name], REGIONS[name]) for name in LEVELS}
    for spelling, name in (("South_Korea", "South Korea"), ("northern-nigeria", "Northern Nigeria"),
                           ("the United  Kingdom", "UK"), ("USA", "US")):  # fmt: skip
        culture = CULTURES.country(spelling)
        assert culture is not None, fold_name(spelling)
        assert culture.country == name
    assert CULTURES.country("West_Java") is None
    assert (CULTURES.group("W-Asia"), CULTURES.group("Medium"), CULTURES.group("Mars")) == ("Western Asia", "mid", None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('levels = ["high"]\n[countries]\nUS = {level = "high", region = "x"}', "levels"),
        ('levels = ["high", "low"]\n[countries]\nUS = {level = "rich", region = "x"}', "level 'rich' is none of"),
        ('levels = ["high", "low"]\n[countries]\nUS = {level = "low"}', "region' is missing"),
        ('levels = ["a", "b"]\n[countries]\nUS = {level = "a", region = "x", spellings = ["UK"]}\n'
         'UK = {level = "b", region = "x"}', "'uk' means several: UK, US"),
        ('levels = ["a", "b"]\n[spellings]\nc = ["d"]\n[countries]\nUS = {level = "a", region = "x"}',
         "'c' is neither a level nor a region"),
        ("levels = [", "not valid TOML"),
    ],
)  # fmt: skip
def test_wrong_cultures_end_in_a_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataSetError, match=re.escape(said)) as fault:
        read_cultures(file)
    assert str(file) in str(fault.value)


def test_what_asks_for_a_name_is_no_question_for_a_number() -> None:
    for text in ("(Provide Arabic numerals (e.g., 12) only.)", "(Provide in HH:MM format (e.g., 18:00).)",
                 "(Provide Arabic numerals (1~12) only.)"):  # fmt: skip
        assert asks_for_number(f"When is it? {text}")
    assert not asks_for_number("What is it called? (Provide the official name.)")
    assert not asks_for_number("What food is commonly provided in 2 parlors?")


def test_what_nobody_answered_and_numbers_are_left_out_and_counted(tmp_path: Path) -> None:
    found = load_blend(write_blend(tmp_path, 3), CULTURES)
    assert len(found.questions) == 3 * len(LEVELS)
    assert {reason for _, reason in found.excluded} == {NUMERIC, UNANSWERED}
    assert set(found.excluded.values()) == {1}
    assert found.asked == dict.fromkeys(LEVELS, 5)
    one = found.questions["Al-en-01", "South Korea"]
    assert one.text == "What do people eat on day 1 in South Korea?"
    assert (one.answers[0].spellings, one.answers[0].votes, one.topic) == (("south korea dish 1",), 3, "Food")
    assert one.given == {"south korea dish 1", "soup of south korea", "rice"}


def test_the_english_text_is_that_of_the_annotations(tmp_path: Path) -> None:
    folder = write_blend(tmp_path, 2, ["US", "China"])
    for file in (folder / "questions").iterdir():  # as the README describes the columns
        swapped = file.read_text(encoding="utf-8").replace("Question,Translation", "Translation,Question", 1)
        file.write_text(swapped, encoding="utf-8")
    assert load_blend(folder, CULTURES).questions["Al-en-00", "China"].text == "What do people eat on day 0 in China?"


def test_dirt_in_blend_is_a_line_and_the_rest_loads(tmp_path: Path) -> None:
    folder = write_blend(tmp_path, 2, ["US", "China", "Assam"])
    annotations = folder / "annotations"
    (annotations / "West_Java_data.json").write_text("{}", encoding="utf-8")
    (annotations / "Iran_data.json").write_text('{"Al-en-00": ', encoding="utf-8")
    told = json.loads((annotations / "US_data.json").read_text(encoding="utf-8"))
    told["Al-en-00"]["annotations"][0]["count"] = "three"
    told["Al-en-01"]["annotations"] = [{"answers": ["x"], "en_answers": [], "count": 1}]
    told["Bad"] = ["no", "entry"]
    (annotations / "US_data.json").write_text(json.dumps(told), encoding="utf-8")
    (folder / "questions" / "Assam_questions.csv").unlink()
    found = load_blend(folder, CULTURES)
    reasons = {one.place.file.rpartition("/")[2]: one.reason for one in found.left_out}
    assert "'West_Java' is no country" in reasons["West_Java_data.json"]
    assert "no JSON" in reasons["Iran_data.json"]
    assert "it would tell Topic" in reasons["Assam_questions.csv"]
    mine = [one.reason for one in found.left_out if "US_data.json" in one.place.file]
    assert {one.removeprefix("left out: ") for one in mine} == {
        "an answer has no number of votes", "none of its answers is in English", "is no object",
    }  # fmt: skip
    assert {country for _, country in found.questions} == {"China", "Assam"}


def test_no_annotations_end_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="there is no annotations"):
        load_blend(tmp_path, CULTURES)
