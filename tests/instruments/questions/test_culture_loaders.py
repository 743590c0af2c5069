"""What is usual in a culture: sheets and BLEnD as questions, what is left out and why, and the published counts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import fmean, pstdev

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.instruments.questions.asking import message, option_spans
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.rules.opened import SETS, open_set
from polyculture.sources.left_out import by_reason
from tests.instruments.culture_files import (
    LEVELS,
    NUMERIC,
    REGIONS,
    answer_of,
    region_row,
    resource_row,
    write_blend,
    write_rows,
    write_sheets,
)
from tests.instruments.questions.test_reading import unread_options


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of fetched data sets."""
    monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache" / "data").mkdir(parents=True)
    return tmp_path / "cache" / "data"


def culture_mcq(folder: Path) -> QuestionSet:
    return open_set("culture-mcq", folder)


def at(question: Question, role: str) -> int:
    return question.roles.index(role)


def test_the_sheets_rows_are_questions(tmp_path: Path, fetched: Path) -> None:
    found = culture_mcq(write_sheets(tmp_path / "sheets"))
    assert not found.remarks
    assert (found.name, found.kind, found.numbers) == ("culture-mcq", "choice", ("levels", "hypotheses"))
    assert Counter(one.facets["type"] for one in found.questions) == dict.fromkeys(
        ("resource", "region"), 4 * len(LEVELS)
    )
    assert len({one.name for one in found.questions}) == len(found.questions)
    for one in found.questions:
        target, groups = one.facets["country"], one.facets["groups"].split("; ")
        assert one.right == (at(one, "own"),)
        assert one.options[at(one, "own")] == answer_of(target, int(one.unit[-2:]))
        assert one.facets["countries"].split("; ")[at(one, "own")] == target
        assert sorted(one.roles) == ["biased", "other", "other", "own"]
        wanted = "high" if one.facets["type"] == "resource" else REGIONS[target]
        assert groups[at(one, "biased")] == wanted
        assert (one.facets["level"], one.facets["region"]) == (LEVELS[target], REGIONS[target])
        assert one.facets["also_given"] == "not known"
    write_blend(fetched / "blend")
    known = culture_mcq(tmp_path / "sheets")
    assert {(one.facets["also_given"], one.facets["topic"]) for one in known.questions} == {("no", "Food")}


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
def test_a_row_that_cannot_be_used_is_a_remark(tmp_path: Path, changes: dict[str, str], reason: str) -> None:
    groups = "['Africa', 'Africa', 'Africa', 'Europe']"
    rows = [resource_row("Mexico", 0, **changes), resource_row("China", 0), resource_row("China", 0)]
    write_rows(tmp_path / "sheet.csv", [*rows, region_row("Ethiopia", 0, region_choice_region_list=groups)])
    found = culture_mcq(tmp_path)
    assert [one.facets["country"] for one in found.questions] == ["China"]
    told = {one.place.row: one.reason for one in found.remarks}
    assert reason in told[2]
    assert "sheet.csv row 3" in told[4]
    assert "not one of Africa and of two other regions" in told[5]


def test_an_empty_option_is_not_asked(tmp_path: Path) -> None:
    row = resource_row("Mexico", 0)
    wrong = next(text for text in json.loads(row["region_choices_list"].replace("'", '"')) if text != row["answer_str"])
    row["region_choices_list"] = row["region_choices_list"].replace(wrong, "")
    write_rows(tmp_path / "sheet.csv", [row, resource_row("China", 0)])
    found = culture_mcq(tmp_path)
    assert [one.facets["country"] for one in found.questions] == ["China"]
    assert [(one.place.row, one.reason) for one in found.remarks] == [(2, "left out: an option is empty")]


def test_a_rules_file_of_ones_own_puts_the_sheets_in_other_words(tmp_path: Path) -> None:
    text = (SETS / "culture-mcq.toml").read_text(encoding="utf-8").replace('"culture-mcq"', '"mine"', 1)
    words = "{question}\n{options}\nIn one word:"
    before, _, rest = text.partition('templates.en = """')
    mine = tmp_path / "mine.toml"
    mine.write_text(f'{before}templates.en = """{words}"""{rest.partition("Answer:")[2][3:]}', encoding="utf-8")
    found = open_set(str(mine), write_sheets(tmp_path / "sheets", 1))
    assert {one.set for one in found.questions} == {found.name} == {"mine"}
    assert found.prompts[0].template == words


def test_mistakes_say_where_and_what_to_do(tmp_path: Path) -> None:
    write_rows(tmp_path / "other" / "other.csv", [{"question": "What?", "answer": "That."}])
    own = tmp_path / "mine.toml"
    own.write_text('name = "mine"\ntitle = "Mine"\nlicence = "mine"\nkind = "open"\nloader = "camel2"\n'
                   '[[questions]]\nfiles = "x.csv"\ntext = "a"\nanswers = "b"\n', encoding="utf-8")  # fmt: skip
    for call, told in (
        (lambda: culture_mcq(tmp_path / "other"), r"other: .*'ID'.*question"),
        (lambda: culture_mcq(tmp_path / "none"), r"none: there is no folder with the question set 'culture-mcq'"),
        (lambda: open_set("blend", tmp_path, "bland"), r"no selection 'bland'"),
        (lambda: open_set(str(own), tmp_path), "loader: makes its own questions"),
        (lambda: open_set("blend", tmp_path, None, tmp_path), "takes no concepts"),
    ):
        with pytest.raises(DataSetError, match=told) as fault:
            call()
        assert fault.value.remedy


def test_options_stand_without_letters_and_their_places_are_known(tmp_path: Path) -> None:
    found = culture_mcq(write_sheets(tmp_path, 1))
    one, (prompt,) = found.questions[0], found.prompts
    text = message(one, prompt, one.options, ())
    assert text.splitlines()[2:] == [
        f"Question: {one.text}",
        "Options:",
        *(f"- {text}" for text in one.options),
        "Answer:",
    ]
    spans = option_spans(one, prompt, one.options, ())
    assert tuple(text[start:end] for start, end in spans) == one.options


def test_the_sheets_are_asked_openly_once_per_question_and_target(tmp_path: Path, fetched: Path) -> None:
    folder = write_sheets(tmp_path / "sheets", 2)
    rows = [resource_row("Assam", 9, prompt=NUMERIC.format("Assam")), resource_row("US", 0, answer_str="")]
    write_rows(folder / "more.csv", rows)
    found = open_set("culturescope", folder)
    assert (found.kind, found.numbers) == ("open", ("exact_match",))
    assert len(found.questions) == 2 * len(LEVELS)
    why = {reason: number for reason, number, _ in by_reason(found.remarks)}
    assert why == {"skipped: asks for a number": 1, "read once: the same question as in another row": 17}
    one = next(one for one in found.questions if one.name == "Al-en-01 US")
    assert (one.unit, one.answers) == ("Al-en-01", ("us dish 1",))
    assert (one.facets["level"], one.facets["region"]) == ("high", "North America")


def test_the_published_counts_are_those_of_the_sheets(shared_data: Path, fetched: Path) -> None:
    """CultureScope's Tables 4 and 5; two of its questions have an empty option and are not asked."""
    (fetched / "blend").symlink_to(shared_data / "blend")
    found = culture_mcq(shared_data / "culturescope")
    assert len(found.questions) + len(found.remarks) == found.published["questions"] == 8826
    types = Counter(one.facets["type"] for one in found.questions)
    assert types == {"resource": 5048, "region": 3776}
    levels = Counter(one.facets["level"] for one in found.questions if one.facets["type"] == "resource")
    assert levels == {"high": 2548, "low": 1425, "mid": 1075}  # printed with mid and low exchanged; 2 mid are not asked
    region = [one for one in found.questions if one.facets["type"] == "region"]
    for role, mean, deviation in (("own", 269.71, 16.49), ("other", 539.43, 38.34)):
        counts = Counter(
            country for one in region for place, country in zip(one.roles, one.facets["countries"].split("; "),
                                                                 strict=True) if place == role
        )  # fmt: skip
        assert fmean(counts.values()) == pytest.approx(mean, abs=0.005)
        assert pstdev(counts.values()) == pytest.approx(deviation, abs=0.05)
    checked = [one.facets["also_given"] for one in found.questions if one.facets["type"] == "resource"]
    known = [one for one in checked if one != "not known"]
    assert known[:4000].count("yes") == 901
    assert unread_options(found.questions) == []


def test_of_published_blend_names_stay_and_numbers_do_not(shared_data: Path) -> None:
    found = open_set("blend", shared_data / "blend")
    assert len(found.questions) == 4543
    assert {"New-in-62", "New-in-63", "Ni-en-12"} <= {one.unit for one in found.questions}
    assert not [one for one in found.questions if "numerals" in one.text or "format (" in one.text]
