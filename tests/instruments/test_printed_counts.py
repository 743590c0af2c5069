"""What a paper counts of a data set, beside the rows of its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polyculture.instruments.datasets.check import COLUMNS, published_rows
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, LeftOut, MaskedContext, SourceLocation
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.rules.check import published_rows as of_set
from polyculture.published.cells import published


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
    assert western["why"].startswith("no file of authors, beverage, ")


def test_a_culture_of_which_a_file_is_there_and_no_row_is_read_is_not_said_to_have_no_file() -> None:
    unread = LeftOut(SourceLocation("entities/japanese/food.xlsx"), "the sheet is not read: no column 'Entity'")
    found = counts("camellia", [entity(2, "food", "food", "Western", None)], [], (unread,))
    assert "none of entities/japanese/food.xlsx" in found["entities", "food", "Japanese", ""]["why"]


def test_a_count_of_entities_that_leaves_a_file_out_or_has_a_row_more_is_said_to() -> None:
    """Camellia's 849 Western clubs are of the football file, its 11 Pakistani drinks 9, one left out and the head."""
    entities = [
        *(entity(row, "football-clubs", "sports", "Western", None) for row in range(849)),
        *(entity(row, "cricket-clubs", "sports", "Western", None, "ur") for row in range(79)),
        *(entity(row, "beverage", "beverage", "Pakistani", None, "ur") for row in range(9)),
        *(entity(row, "food", "food", "Pakistani", None, "ur") for row in range(70)),
    ]
    unread = LeftOut(replace(entities[-71].place, row=9), "culture 'Western' in a file of Pakistani entities")
    found = counts("camellia", entities, [], (unread,))
    clubs = found["entities", "sports", "Western", ""]
    assert (clubs["difference"], clubs["why"]) == (79, "equal without the 79 of cricket-clubs.xlsx")
    drinks = found["entities", "beverage", "Pakistani", ""]
    assert (drinks["difference"], drinks["why"]) == (-2, "equal with the head of the sheet counted, and the 1 left out")
    assert found["entities", "food", "Pakistani", ""]["why"] == "not explained"


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


def test_a_count_that_leaves_one_type_out_is_said_to() -> None:
    """Camellia's Table 3 has 126 neutral contexts in Chinese and Table 10 277 x 50 texts in Japanese: none of names."""
    sizes = {"authors": 21, "beverage": 27, "food": 30, "locations": 27, "names": 26, "sports": 21}
    kinds = [kind for kind, size in sizes.items() for _ in range(size)]
    chinese = [
        replace(context(row, "neutral", "masked", kind=kind), dataset="camellia", language="zh", culture="Chinese")
        for row, kind in enumerate(kinds, 2)
    ]
    kinds = ["food"] * 239 + ["sports"] * 38 + ["names"] * 38
    japanese = [
        replace(context(row, "grounded", "masked", kind=kind), dataset="camellia", language="ja", culture="Japanese")
        for row, kind in enumerate(kinds, 2)
    ]
    japanese = [replace(one, place=replace(one.place, file="japanese.xlsx")) for one in japanese]
    found = counts("camellia", [], [*chinese, *japanese])
    assert "equal without the 26 of names" in found["contexts", None, "Chinese", "neutral"]["why"]
    texts = found["texts", None, "Japanese", "grounded, neutral, ja"]
    assert (texts["read"] - texts["published"], texts["why"]) == (1_900, "equal without the 38 of names or sports")


def test_a_papers_count_of_other_sheets_or_of_both_genders_is_told() -> None:
    """Camellia's 131 grounded contexts in Chinese are of the causal sheet, its 60 Japanese questions 52 and 8 again."""
    others = {"authors": 31, "beverage": 32, "locations": 33, "sports": 34}
    sizes = {"masked": {**others, "food": 0, "names": 25}, "causal": {**others, "food": 1, "names": 27}}
    chinese = [
        replace(context(row, "grounded", form, kind=kind), dataset="camellia", language="zh", culture="Chinese")
        for form, of_form in sizes.items()
        for row, kind in enumerate([kind for kind, size in of_form.items() for _ in range(size)], 2)
    ]
    chinese = [replace(one, place=replace(one.place, file=f"{one.form}.xlsx")) for one in chinese]
    japanese = [
        replace(context(row, "qa", "masked", kind=kind), dataset="camellia", language="ja", culture="Japanese",
                gender="both" if kind == "names" else None)
        for row, kind in enumerate(["food"] * 44 + ["names"] * 8, 2)
    ]  # fmt: skip
    found = counts("camellia", [], [*chinese, *(replace(one, place=replace(one.place, file="qa")) for one in japanese)])
    why = {of: found["contexts", None, *of]["why"] for of in (("Chinese", "grounded"), ("Japanese", "qa"))}
    assert why["Chinese", "grounded"].endswith("equal without the 27 of names in the causal sheets")
    assert why["Japanese", "qa"].endswith("equal with 8 of both genders counted in each")


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
    assert (europe["read"], europe["published"], europe["why"]) == (3, 789, "not asked: an option is empty: 1")
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
