"""What a paper counts of a data set, beside the rows of its files."""

from __future__ import annotations

from pathlib import Path

from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext, SourceLocation
from polyculture.instruments.datasets.printed_counts import COLUMNS, published_rows
from polyculture.instruments.datasets.rules import rules_of
from polyculture.published.cells import published


def entity(row: int, sheet: str, kind: str, culture: str, gender: str | None, language: str = "zh") -> CulturalEntity:
    place = SourceLocation(f"entities/{culture.lower()}/{sheet}.xlsx", None, row)
    return CulturalEntity("camellia", language, culture, kind, f"{sheet} {row}", None, gender, None, None, place)


def context(row: int, setting: str, form: str, sentiment: str | None = None, kind: str = "food") -> MaskedContext:
    place = SourceLocation(f"{setting}-{form}.xlsx", None, row)
    return MaskedContext(
        "camel", "ar", "Arab", kind, None, setting, form, f"{row} [MASK]", None, sentiment, place
    )  # fmt: skip


def counts(name: str, entities: list[CulturalEntity], contexts: list[MaskedContext]) -> dict[tuple[object, ...], dict]:
    found = DataSet(name, "Western", Path(), tuple(entities), tuple(contexts), as_published=True)
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
    assert found["entities", "food", "Japanese", ""]["why"].startswith("not in this folder: Chinese, Japanese")


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


def test_every_count_of_the_data_is_held_against_the_files() -> None:
    """But for what no file tells: where entities were found, and counts that are rounded to thousands."""
    for name in ("camel", "camellia"):
        found = counts(name, [], [])
        told = [cell for cell in published(name) if cell.metric in ("entities", "contexts")]
        left = [cell for cell in told if "source" not in cell.facets and cell.unit == "count"]
        assert {row["published"] for row in found.values()} <= {int(cell.value) for cell in left}
        assert {(cell.metric, int(cell.value)) for cell in left} == {
            (row["what"], row["published"]) for row in found.values()
        }
