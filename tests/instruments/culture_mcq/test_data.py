"""The publishers' files to questions: what stays, what is left out and why, and the published statistics."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.instruments.culture_mcq.check import check_blend, check_sheets
from polyculture.instruments.culture_mcq.model import QuestionType
from polyculture.instruments.culture_mcq.released import load_released
from polyculture.instruments.cultures.blend import NUMERIC, UNANSWERED, load_blend
from polyculture.instruments.cultures.cultures import BUILT_IN, fold_name, read_cultures
from tests.instruments.culture_mcq.made_up import (
    LEVELS,
    REGIONS,
    answer_of,
    entry,
    region_row,
    resource_row,
    write_blend,
    write_rows,
    write_sheets,
)

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
        ('levels = ["high", "low"]\n[countries]\nUS = {level = "low"}', "region: Field required"),
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


def test_a_user_may_change_cultures(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = BUILT_IN.read_text(encoding="utf-8").replace('Mexico = { level = "high"', 'Mexico = { level = "mid"')
    file.write_text(text, encoding="utf-8")
    changed = read_cultures(file)
    assert changed.countries["Mexico"].level == "mid"
    found = load_released(write_sheets(tmp_path / "sheets", 1), changed)
    assert len(found.questions) == 2 * len(LEVELS)  # a sheet's levels count for its own questions
    assert any("Mexico is 'high' in" in one.reason for one in found.left_out)
    named = {one.target: one.target_level for one in found.questions if one.question_type == "region"}
    assert named["Mexico"] == "mid"


def test_what_nobody_answered_and_numbers_are_left_out_and_counted(tmp_path: Path) -> None:
    found = load_blend(write_blend(tmp_path, 3), CULTURES)
    assert len(found.questions) == 3 * len(LEVELS)
    assert {reason for _, reason in found.excluded} == {NUMERIC, UNANSWERED}
    assert set(found.excluded.values()) == {1}
    assert found.asked == dict.fromkeys(LEVELS, 5)
    one = found.questions["Al-en-01", "South Korea"]
    assert one.text == "What do people eat on day 1 in South Korea?"
    assert (one.gold.spellings, one.gold.votes, one.tied, one.topic) == (("south korea dish 1",), 3, 1, "Food")
    assert one.given == {"south korea dish 1", "soup of south korea", "rice"}


def test_the_english_column_is_the_one_that_agrees_with_the_annotations(tmp_path: Path) -> None:
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
    assert "cannot be read" in reasons["Iran_data.json"]
    assert "worded as beside the answers" in reasons["Assam_questions.csv"]
    mine = [one.reason for one in found.left_out if one.place.file.endswith("US_data.json")]
    assert [one.removeprefix("left out: ") for one in mine] == [
        "an answer has no number of votes", "none of its answers is in English", "it has no list of annotations",
    ]  # fmt: skip
    assert {country for _, country in found.questions} == {"China", "Assam"}


def test_no_annotations_end_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="--blend"):
        load_blend(tmp_path, CULTURES)


def test_a_tie_goes_to_the_first_answer(tmp_path: Path) -> None:
    folder = write_blend(tmp_path, 1, ["US", "China"])
    file = folder / "annotations" / "US_data.json"
    told = {"Al-en-00": entry("What?", ("tea", 2), ("milk", 4), ("water", 4))}
    file.write_text(json.dumps(told), encoding="utf-8")
    one = load_blend(folder, CULTURES).questions["Al-en-00", "US"]
    assert (one.gold.spellings, one.tied) == (("milk",), 2)


def test_the_sheets_rows_are_questions(tmp_path: Path) -> None:
    found = load_released(write_sheets(tmp_path), CULTURES)
    assert not found.left_out
    assert Counter(one.question_type for one in found.questions) == {kind: 4 * len(LEVELS) for kind in QuestionType}
    for one in found.questions:
        number = int(one.source_id[-2:])
        right, biased = one.options[one.right], one.options[one.biased]
        assert (right.country, right.text) == (one.target, answer_of(one.target, number))
        assert biased is not right
        expected = "high" if one.question_type is QuestionType.RESOURCE else REGIONS[one.target]
        assert biased.group == expected
        assert one.also_given is None
    blend = load_blend(write_blend(tmp_path / "blend"), CULTURES)
    assert {one.also_given for one in load_released(tmp_path, CULTURES, blend).questions} == {()}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ID": ""}, "no ID"),
        ({"prompt": ""}, "no prompt"),
        ({"target_country": "Atlantis"}, "'Atlantis' is no country"),
        ({"target_region": "rich"}, "'rich' is neither a level nor a region"),
        ({"region_choices_list": "egg|toast"}, "region_choices_list is no list"),
        ({"region_choices_list": "['egg', 'toast']"}, "region_choices_list is no list of 4"),
        ({"region_choices_list": "['egg', 'egg', 'tea', 'rice']", "answer_str": ""}, "an option is there twice"),
        ({"region_answer": "4"}, "region_answer '4' is none of 0 to 3"),
        ({"answer_idx": "Z"}, "answer_idx 'Z' contradicts"),
        ({"answer_str": "something else"}, "contradicts region_answer"),
        ({"target_country": "US"}, "not of the target"),
        ({"region_choice_region_list": "['high', 'high', 'high', 'high']"}, "not one of each level"),
    ],
)
def test_a_row_that_cannot_be_used_is_a_line(tmp_path: Path, changes: dict[str, str], reason: str) -> None:
    rows = [resource_row("Mexico", 0, **changes), resource_row("China", 0), resource_row("China", 0)]
    found = load_released(write_rows(tmp_path / "sheet.csv", rows), CULTURES)
    assert [one.target for one in found.questions] == ["China"]
    assert [(one.place.row, one.reason) for one in found.left_out][1] == (
        4, "left out: the same question and target as in sheet.csv row 3",
    )  # fmt: skip
    assert reason in found.left_out[0].reason
    assert found.left_out[0].place.row == 2


def test_a_region_row_has_one_of_its_region_and_two_others(tmp_path: Path) -> None:
    groups = "['Africa', 'Africa', 'Africa', 'Europe']"
    rows = [region_row("Ethiopia", 0, region_choice_region_list=groups), region_row("China", 0)]
    found = load_released(write_rows(tmp_path / "sheet.csv", rows), CULTURES)
    assert [one.target for one in found.questions] == ["China"]
    assert len(found.left_out) == 1


def test_an_empty_option_is_counted_and_not_asked(tmp_path: Path) -> None:
    row = resource_row("Mexico", 0)
    wrong = next(text for text in eval_list(row["region_choices_list"]) if text != row["answer_str"])
    row["region_choices_list"] = row["region_choices_list"].replace(wrong, "")
    found = load_released(write_rows(tmp_path / "sheet.csv", [row, resource_row("China", 0)]), CULTURES)
    assert [one.target for one in found.questions] == ["China"]
    assert [one.target for one in found.unasked] == ["Mexico"]
    assert [one.reason for one in found.left_out] == ["not asked: an option is empty"]
    counts = {(row.part, row.group): row.found for row in check_sheets(found, CULTURES)}
    assert counts["questions", "resource"] == 2


def eval_list(text: str) -> list[str]:
    return list(json.loads(text.replace("'", '"')))


def test_other_sheets_end_in_a_line(tmp_path: Path) -> None:
    write_rows(tmp_path / "other.csv", [{"question": "What?", "answer": "That."}])
    with pytest.raises(DataSetError, match=r"'ID'.*question"):
        load_released(tmp_path, CULTURES)


def test_the_published_statistics_are_those_of_the_sheets(shared_data: Path) -> None:
    blend = load_blend(shared_data / "blend", CULTURES)
    found = load_released(shared_data / "culturescope", CULTURES, blend)
    rows = [*check_sheets(found, CULTURES), *check_blend(blend, CULTURES)]
    published = [row for row in rows if row.published is not None]
    assert len(published) == 2 + 3 + 12 + 1
    assert not [row for row in published if not row.agrees]
    counts = {(row.part, row.group): row.found for row in rows}
    assert counts["a wrong option also given", "resource, first 4000"] == 901
    assert counts["BLEnD questions that stay", "all"] == 4543
    assert (counts["BLEnD questions left out", NUMERIC], counts["BLEnD questions left out", UNANSWERED]) == (841, 116)
    assert len(found.questions) + len(found.unasked) == 5050 + 3776
    assert len(found.unasked) == 2


def test_a_statistic_that_differs_is_told(tmp_path: Path) -> None:
    rows = {
        (row.part, row.group): row for row in check_sheets(load_released(write_sheets(tmp_path), CULTURES), CULTURES)
    }
    one = rows["questions", "resource"]
    assert (one.found, one.published, one.agrees) == (32, 5050, False)
