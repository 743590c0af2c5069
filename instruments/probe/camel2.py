"""CAMeL-2 (Naous and Xu 2025) as open questions: contexts with an entity of each country in the gap, and a question.

The sheets have contexts in Arabic and English, and entities with the country that they are of. A context is asked about
every country that has an entity of its type, each with one of its own, the same in both languages: a question id is a
context. A country's entities are those under the publisher's label that most of its entities have: a dish that the
sheets call foreign to Iraq is none of Iraq's.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.instruments.cultures import cultures as cultures_module
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.datasets.english import in_english
from polyculture.instruments.datasets.model import MASK, CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.opened import open_data_set
from polyculture.instruments.probe.published import Opened, placed
from polyculture.instruments.probe.questions import HumanAnswer, OpenQuestion

CULTURES = Path(cultures_module.__file__).with_name("camel2.toml")
_WORDING = Path(__file__).with_name("camel2.toml")
_SETTING, _ORIGINAL = "qa", "ar"


def open_camel2(folder: Path, cultures: Cultures) -> Opened:
    """The questions of a folder, in Arabic and English. Raises `DataSetError` where there is none."""
    wording = tomllib.loads(_WORDING.read_text(encoding="utf-8"))
    told: Counter[str] = Counter()
    arabic = open_data_set("camel2", folder)
    found = [
        question
        for dataset in (arabic, in_english(arabic))
        for question in _questions(dataset, cultures, wording, told)
    ]
    if not found:
        remedy = "Name the folder with qa-contexts and entities: see docs/probe.md."
        raise DataSetError("holds no context with entities of a country that is a culture", where=folder, remedy=remedy)
    reasons = "".join(f"; {reason}: {count}" for reason, count in told.most_common())
    about = len({one.culture for one in found})
    each = Counter(one.language for one in found)
    asked = " and ".join(f"{number} in {language}" for language, number in sorted(each.items()))
    line = f"CAMeL-2: questions about {about} cultures: {asked}{reasons}"
    return Opened("camel2", folder, found, cultures, (line,))


def _questions(
    dataset: DataSet, cultures: Cultures, wording: Mapping[str, Mapping[str, str]], told: Counter[str]
) -> list[OpenQuestion]:
    entities, found = _by_country(dataset, cultures, told), list[OpenQuestion]()
    for context in dataset.contexts:
        if context.setting != _SETTING:
            continue
        asked = wording.get(context.language, {}).get(context.entity_type)
        if asked is None:
            told[f"contexts of {context.entity_type}, whose entities have no country"] += 1
            continue
        for country in cultures.countries:
            if some := entities.get((country, context.entity_type)):
                one = _drawn(context, country, some)
                text = asked.replace("{text}", context.text.replace(MASK, one.surface))
                question = OpenQuestion(
                    f"{context.entity_type}-{context.rank[:12]}", country, context.language, text, context.entity_type,
                    answers=(HumanAnswer((one.surface,), None),),
                )  # fmt: skip
                found.append(placed(question, cultures))
    return found


def _by_country(
    dataset: DataSet, cultures: Cultures, told: Counter[str]
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
            told["entities of countries that are no culture"] += 1
        elif one.culture != labels[culture.country].most_common(1)[0][0]:
            told["entities that are foreign to their country"] += 1
        elif one.english is None:
            told["entities without a translation"] += 1
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
