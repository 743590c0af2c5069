"""CAMeL-2 (Naous and Xu 2025) as open questions: contexts with an entity of each country in the gap, and a question.

The sheets have contexts in Arabic and English, and entities with the country that they are of. A context is asked about
every country that has an entity of its type, each with one of its own, the same in both languages: a unit is a context.
A country's entities are those under the publisher's label that most of its entities have: a dish that the sheets call
foreign to Iraq is none of Iraq's.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.instruments.cultures import cultures as cultures_module
from polyculture.instruments.cultures.cultures import Cultures, read_cultures
from polyculture.instruments.datasets.english import in_english
from polyculture.instruments.datasets.model import MASK, CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.opened import open_data_set
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.sources.left_out import LeftOut, SourceLocation

CULTURES = Path(cultures_module.__file__).with_name("camel2.toml")
NAME = "camel2"
_WORDING = Path(__file__).with_name("camel2.toml")
_SETTING, _ORIGINAL = "qa", "ar"


def question_set(folder: Path | None, selection: str | None, _concepts: Path | None) -> QuestionSet:
    """The questions of a folder, in Arabic and English. Raises `DataSetError` where there is none."""
    if selection is not None:
        raise DataSetError(f"there is no selection {selection!r}: it is one set", remedy="Leave it out.")
    cultures, left = read_cultures(CULTURES), Counter[str]()
    arabic = open_data_set(NAME, folder)
    place = arabic.folder
    found = tuple(one for each in (arabic, in_english(arabic)) for one in _questions(each, place, cultures, left))
    if not found:
        remedy = "Name the folder with qa-contexts and entities: see docs/question-sets.md."
        raise DataSetError("holds no context with entities of a country that is a culture", where=place, remedy=remedy)
    remarks = tuple(LeftOut(SourceLocation(place.name), f"left out: {why}: {n}") for why, n in left.most_common())
    return QuestionSet(NAME, "", "open", place, found, (), ("exact_match",), remarks, cultures=CULTURES)


def _questions(dataset: DataSet, place: Path, cultures: Cultures, left: Counter[str]) -> Iterator[Question]:
    wording = tomllib.loads(_WORDING.read_text(encoding="utf-8"))
    entities = _by_country(dataset, cultures, left)
    for context in dataset.contexts:
        if context.setting != _SETTING:
            continue
        asked = wording.get(context.language, {}).get(context.entity_type)
        if asked is None:
            left[f"contexts of {context.entity_type}, whose entities have no country"] += 1
            continue
        for country, culture in cultures.countries.items():
            if some := entities.get((country, context.entity_type)):
                answer = _drawn(context, country, some).surface
                unit = f"{context.entity_type}-{context.rank[:12]}"
                facets = {"country": country, "topic": context.entity_type, "level": culture.level,
                          "region": culture.region}  # fmt: skip
                yield Question(
                    f"{unit} {country}", NAME, context.language, "open", unit,
                    asked.replace("{text}", context.text.replace(MASK, answer)), (), (), (), SourceLocation(place.name),
                    answers=(answer,), weights=(1.0,), facets=facets,
                )  # fmt: skip


def _by_country(
    dataset: DataSet, cultures: Cultures, left: Counter[str]
) -> Mapping[tuple[str, str], list[CulturalEntity]]:
    """The entities of each country, under its usual label, that both languages have, by their ranks."""
    named = [(one, cultures.country(one.country)) for one in dataset.entities if one.country]
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for one, culture in named:
        if culture is not None:
            labels[culture.country][one.culture] += 1
    found: dict[tuple[str, str], list[CulturalEntity]] = defaultdict(list)
    for one, culture in named:
        if culture is None:
            left["entities of countries that are no culture"] += 1
        elif one.culture != labels[culture.country].most_common(1)[0][0]:
            left["entities that are foreign to their country"] += 1
        elif one.english is None:
            left["entities without a translation"] += 1
        else:
            found[culture.country, one.entity_type].append(one)
    for some in found.values():
        some.sort(key=lambda one: (one.rank(_ORIGINAL), one.surface))
    return found


def _drawn(context: MaskedContext, country: str, entities: list[CulturalEntity]) -> CulturalEntity:
    """The country's entity for a context: the first behind a place that both decide, the same in every run.

    A translation has its original's rank, so that both languages have one entity where both have it.
    """
    place = content_id("probe camel2", context.rank, country)
    return next((one for one in entities if one.rank(_ORIGINAL) >= place), entities[0])
