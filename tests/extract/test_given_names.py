"""A text may repeat the country or the person's name that its prompt gives: does that count as something named?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from polyculture.cache.catalog import Language, Topic, read_catalog
from polyculture.extract.base import ResponseText
from polyculture.extract.gazetteer import Gazetteer
from polyculture.generate.design import read_preset
from polyculture.generate.names import read_names
from polyculture.generate.wording import country_names_in_texts, named_countries, read_wording
from polyculture.link.index.lexicon import lexicons
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.index.starter import write_starter

CATALOG = read_catalog()
FULL = read_preset("full")
COUNTRIES = country_names_in_texts(CATALOG, FULL.languages)
# The names of the presets' countries and of their people that the gazetteer takes for something else of this name.
# Each is a fault: Charlotte the cake. Nobody may add one without seeing it. Names of countries
# are none: Iran was a drink, and South Korea butter (کرهٔ).
KNOWN = {("en", "food", "Charlotte"), ("es", "music", "Carmen"), ("hi", "book", "कविता")}


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return write_starter(tmp_path_factory.mktemp("starter") / "starter.duckdb")


@pytest.mark.parametrize("topic", CATALOG.topics.values(), ids=lambda one: one.code)
def test_a_place_and_a_person_that_a_model_extracts_never_count(topic: Topic) -> None:
    """MAKIEval has them extracted, too (Table 5), and measures none of them."""
    kinds = {topic.kinds[name] for name in ("place", "person")}
    assert not any(kind.counted for kind in kinds)


def test_the_gazetteer_takes_few_given_names_for_something_that_is_named(starter: Snapshot) -> None:
    counted = set()
    for topic in CATALOG.topics.values():
        names = lexicons(starter, CATALOG, topic.code, languages=FULL.languages)
        for code in FULL.languages:
            gazetteer = Gazetteer(names[code], topic, code, "starter", COUNTRIES)
            for given, line in lines(CATALOG.languages[code]):
                (read,) = gazetteer.extract([ResponseText("r", code, line)])
                found = [one for one in read.mentions if topic.kinds[one.kind].counted and one.surface in given]
                counted |= {(code, topic.code, mention.surface) for mention in found}
    assert counted == KNOWN


def lines(language: Language) -> Iterator[tuple[str, str]]:
    """What a text may repeat: the given name, and the line with it."""
    wording = read_wording(language, CATALOG.countries)
    assert wording.plain is not None
    assert wording.plain.name is not None
    for code, name in named_countries(CATALOG, language, wording).items():
        if code in FULL.countries:
            yield name, wording.plain.country.text.replace("{country_name}", name)
    for country in language.native_countries:
        persons = read_names()[country]
        for name in (person.spelled(language.code) for person in (*persons.male, *persons.female)):
            yield name, wording.plain.name.text.replace("{name}", name)
