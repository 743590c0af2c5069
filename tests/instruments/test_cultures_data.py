"""Cultures as data, and BLEnD's files: what stays, what is left out and why."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.instruments.cultures.cultures import fold_name, read_cultures
from polyculture.instruments.questions.loaders.blend import asks_for
from polyculture.instruments.questions.rules.opened import open_set
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
        assert asks_for(f"When is it? {text}") == "number"
    assert asks_for("What is it called? (Provide the official name.)") == "name"
    assert asks_for("What food is commonly provided in 2 parlors?") == "name"


def test_what_nobody_answered_and_numbers_are_left_out_and_counted(tmp_path: Path) -> None:
    found = open_set("blend", write_blend(tmp_path, 3))
    assert len(found.questions) == 3 * len(LEVELS)
    assert Counter(one.reason for one in found.remarks) == dict.fromkeys(
        ("skipped: asks for a number", "skipped: nobody answered it"), len(LEVELS)
    )
    one = next(one for one in found.questions if one.name == "Al-en-01 South Korea")
    assert (one.unit, one.text) == ("Al-en-01", "What do people eat on day 1 in South Korea?")
    assert dict(zip(one.answers, one.weights, strict=True)) == {
        "south korea dish 1": 3, "soup of South Korea": 2, "rice": 1,
    }  # fmt: skip
    assert one.facets == {
        "question": "Al-en-01", "country": "South Korea", "topic": "Food", "level": "mid", "region": "East Asia",
    }  # fmt: skip
    assert len(open_set("blend", tmp_path, "with-numbers").questions) == 4 * len(LEVELS)


def test_the_english_text_is_that_of_the_annotations(tmp_path: Path) -> None:
    folder = write_blend(tmp_path, 2, ["US", "China"])
    for file in (folder / "questions").iterdir():  # as the README describes the columns
        swapped = file.read_text(encoding="utf-8").replace("Question,Translation", "Translation,Question", 1)
        file.write_text(swapped, encoding="utf-8")
    asked = {one.name: one.text for one in open_set("blend", folder).questions}
    assert asked["Al-en-00 China"] == "What do people eat on day 0 in China?"


def test_dirt_in_blend_is_a_line_and_the_rest_loads(tmp_path: Path) -> None:
    folder = write_blend(tmp_path, 2, ["US", "China", "Assam"])
    annotations = folder / "annotations"
    (annotations / "West_Java_data.json").write_text('{"Al-en-00": {}}', encoding="utf-8")
    (annotations / "Iran_data.json").write_text('{"Al-en-00": ', encoding="utf-8")
    told = json.loads((annotations / "US_data.json").read_text(encoding="utf-8"))
    told["Al-en-00"]["annotations"][0]["count"] = "three"
    told["Al-en-01"]["annotations"] = [{"answers": ["x"], "en_answers": [], "count": 1}]
    told["Bad"] = ["no", "entry"]
    told["Worse"] = {"en_question": "What?", "annotations": "none"}
    (annotations / "US_data.json").write_text(json.dumps(told), encoding="utf-8")
    (folder / "questions" / "Assam_questions.csv").unlink()
    found = open_set("blend", folder)
    reasons = {one.place.file.rpartition("/")[2]: one.reason for one in found.remarks}
    assert "'West_Java' is no country" in next(why for file, why in reasons.items() if "West_Java" in file)
    assert any("no JSON" in why for file, why in reasons.items() if "Iran" in file)
    assert "it would tell Topic" in reasons["Assam_questions.csv"]
    mine = {one.reason.removeprefix("left out: ") for one in found.remarks if "US_data.json" in one.place.file}
    assert mine - {"skipped: asks for a number", "skipped: nobody answered it"} == {
        "annotations[].count 'three' is no number", "none of its answers is in English", "is no object",
        "it has no list of annotations",
    }  # fmt: skip
    assert {one.facets["country"] for one in found.questions} == {"China", "Assam"}


def test_no_annotations_end_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match=r"holds no file .*annotations") as fault:
        open_set("blend", tmp_path)
    assert "data fetch blend" in str(fault.value.remedy)
