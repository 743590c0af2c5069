"""What a paper counts of a data set, beside the rows of its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polyculture.instruments.datasets.check import COLUMNS, published_rows
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.rules.check import published_rows as of_set
from polyculture.published.cells import published
from polyculture.sources.left_out import LeftOut, SourceLocation


def entity(row: int, sheet: str, kind: str, culture: str, gender: str | None, language: str = "zh") -> CulturalEntity:
    place = SourceLocation(f"entities/{culture.lower()}/{sheet}.xlsx", None, row)
    return CulturalEntity("camellia", language, culture, kind, f"{sheet} {row}", None, gender, None, None, place)


def context(row: int, setting: str, form: str, sentiment: str | None = None, kind: str = "food") -> MaskedContext:
    place = SourceLocation(f"{setting}-{form}.xlsx", None, row)
    return MaskedContext(
        "camel", "ar", "Arab", kind, None, setting, form, f"{row} [MASK]", None, sentiment, place
    )  # fmt: skip


def counts(
    name: str, entities: list[CulturalEntity], contexts: list[MaskedContext], left_out: tuple[LeftOut, ...] = ()
) -> dict[tuple[object, ...], dict]:
    found = DataSet(name, "Western", Path(), tuple(entities), tuple(contexts), left_out, as_published=True)
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in published_rows(found, rules_of(name))]
    return {(row["what"], row["type"], row["culture"], row["of"]): row for row in rows}


def test_a_name_of_both_genders_counts_once_in_each_sheet() -> None:
    """Korean names of both genders once counted twice in each: 1,173 and 1,186 for the 886 and 899 of Table 2."""
    entities = [
        *(entity(row, "names-female", "names", "Korean", "both", "ko") for row in (2, 3)),
        *(entity(row, "names-male", "names", "Korean", "both", "ko") for row in (2, 3, 4)),
        entity(5, "names-female", "names", "Korean", "female", "ko"),
        *(entity(2, "food", "food", "Western", None, language) for language in ("ko", "ja")),
    ]
    found = counts("camellia", entities, [])
    female, male = (found["entities", "names", "Korean", gender] for gender in ("female", "male"))
    assert (female["read"], female["published"], female["difference"]) == (3, 886, 3 - 886)
    assert (male["read"], male["published"]) == (3, 899)
    assert found["entities", "food", "Western", ""]["read"] == 1  # a row of several languages is one
    assert found["entities", None, None, ""]["read"] == 7
    japanese = found["entities", "food", "Japanese", ""]
    assert (japanese["read"], japanese["difference"]) == (None, None)
    assert japanese["why"] == "no file of Japanese is in this folder"
    western = found["entities", None, "Western", ""]
    assert (western["read"], western["difference"]) == (1, None)  # its other sheets are not there
    assert "no file of authors, beverage, " in western["why"]


def test_a_culture_of_which_a_file_is_there_and_no_row_is_read_is_not_said_to_have_no_file() -> None:
    unread = LeftOut(SourceLocation("entities/japanese/food.xlsx"), "the sheet is not read: no column 'Entity'")
    found = counts("camellia", [entity(2, "food", "food", "Western", None)], [], (unread,))
    assert "none of entities/japanese/food.xlsx" in found["entities", "food", "Japanese", ""]["why"]


def test_contexts_count_by_setting_and_sentiment_without_their_causal_form() -> None:
    contexts = [
        context(2, "grounded", "masked", "positive"), context(3, "grounded", "masked", "negative"),
        context(2, "neutral", "masked", "positive"), context(2, "neutral", "causal", "positive"),
    ]  # fmt: skip
    found = counts("camel", [], contexts)
    assert found["contexts", "food", "Arab", "grounded"]["read"] == 2
    assert found["contexts", "food", "Arab", "grounded"]["where"] == "Table 1, Table 5"
    assert found["contexts", "food", "Arab", "neutral, positive"]["read"] == 1
    slip = found["contexts", None, "Arab", "neutral, positive"]
    assert (slip["published"], "add up to 113" in slip["why"]) == (123, True)


def test_lengths_and_sets_of_texts_are_of_the_contexts_of_one_language() -> None:
    chinese = [
        replace(context(row, setting, "masked"), dataset="camellia", language="zh", culture="Chinese", text=text)
        for row, (setting, text) in enumerate([("grounded", "吃[MASK]"), ("neutral", "我吃了[MASK]"), ("qa", "[MASK]")])
    ]
    found = counts("camellia", [], chinese)
    length = found["mean_length (characters)", None, "Chinese", "grounded, neutral, zh"]
    assert (length["read"], length["published"], length["difference"]) == (8.0, 37.95, -29.95)
    sizes = [found["texts", None, "Chinese", of]["read"] for of in ("grounded, neutral, zh", "qa, zh")]
    assert sizes == [100, 50]
    assert found["mean_length (words)", None, "Vietnamese", "qa, vi"]["read"] is None


def test_every_count_of_the_data_is_held_against_the_files_or_says_why_it_cannot() -> None:
    for name in ("camel", "camellia"):
        found = counts(name, [], [])
        cells = [cell for cell in published(name) if cell.measure == "data"]
        assert {(cell.metric, float(cell.value)) for cell in cells} == {
            (row["what"].partition(" ")[0], row["published"]) for row in found.values()
        }
        assert all(row["why"] for row in found.values() if row["read"] is None)


def of_sheets(name: str, *questions: Question, remarks: tuple[LeftOut, ...] = ()) -> dict[tuple[object, ...], dict]:
    found = QuestionSet(name, "", "choice", Path(), questions, (), (), remarks)
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in of_set(found)]
    return {(row["what"], row["type"], row["of"]): row for row in rows}


def asked(number: int, roles: tuple[str, ...] = (), **facets: str) -> Question:
    place = SourceLocation("sheet.csv", None, number)
    return Question(
        f"Q{number}", "", "en", "choice", f"Q{number}", "?", ("",) * len(roles), roles, (0,), place, facets=facets
    )


def test_questions_count_by_facets_and_options_by_their_countries() -> None:
    """Spain is a hard negative twice and Greece once: a mean of 1.5."""
    of = {"type": "region", "region": "Europe", "groups": "a; b"}
    questions = [asked(number, ("own", "biased"), countries=f"UK; {other}", **of)
                 for number, other in enumerate(("Spain", "Spain", "Greece"))]  # fmt: skip
    left_out = LeftOut(SourceLocation("sheet.csv", None, 9), "not asked: an option is empty")
    found = of_sheets("culture-mcq", *questions, remarks=(left_out,))
    europe = found["questions", None, "Europe, region"]
    assert (europe["read"], europe["published"], europe["why"]) == (3, 789, "not explained")
    many = [asked(number, ("own", "biased"), countries="UK; Spain", **of) for number in range(788)]
    lacks_one = of_sheets("culture-mcq", *many, remarks=(left_out,))["questions", None, "Europe, region"]
    assert (lacks_one["difference"], lacks_one["why"]) == (-1, "not asked: an option is empty: 1")
    assert found["options", None, "same region, region"]["read"] == 1.5
    assert found["options_low", None, "same region, region"]["read"] == pytest.approx(
        1.5 - 12.7062 * 0.5 / 2**0.5, abs=0.01
    )
    assert found["options", None, "high, resource"]["read"] is None  # nothing of it was read


def test_templates_count_once_with_their_label_and_removed_ones_are_in_no_file() -> None:
    questions = [asked(n, template=f"age-{n // 2}", category="age", label=label)
                 for n, label in enumerate(("ST", "ST", "NC", "NC"))]  # fmt: skip
    found = of_sheets("kobbq", *questions)
    assert [found["templates", "age", label]["read"] for label in ("ST", "NC", "SR")] == [1, 1, None]
    assert (found["templates", "age", ""]["read"], found["samples", "age", ""]["read"]) == (2, None)
    assert of_sheets("kobbq-all", *questions)["samples", "age", ""]["read"] == 4
    assert of_sheets("bbq", *questions) == {}


def test_why_a_paper_counts_otherwise_is_told_of_its_cell() -> None:
    """Camellia's 849 Western clubs are of the football file alone."""
    entities = [
        *(entity(row, "football-clubs", "sports", "Western", None) for row in range(849)),
        *(entity(row, "cricket-clubs", "sports", "Western", None, "ur") for row in range(79)),
        *(entity(row, "food", "food", "Pakistani", None, "ur") for row in range(73)),
        *(entity(row, "names-male", "names", "Pakistani", "male", "ur") for row in range(9)),
    ]
    found = counts("camellia", entities, [])
    clubs = found["entities", "sports", "Western", ""]
    assert (clubs["difference"], clubs["why"]) == (79, "its files without the 79 cricket clubs")
    assert found["entities", "names", "Pakistani", "male"]["why"] == "not explained"
