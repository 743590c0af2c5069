"""One algorithm, two sources: worlds made at random are linked over the service's protocol and over an index, and all
tables are equal, row for row.

The worlds have what makes linking hard: one name for many items in six scripts, classes in circles, merged and missing
classes, stops, parts, persons with and without trades, works whose countries are their makers'. Names differ by more
than a service's search folds away, for what it does not find the linker cannot consider.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cache.catalog import Catalog
from link.api.client import ApiSettings
from link.api.source import ApiSource
from link.linker import TABLES, Linker
from link.rules import Rules
from tests.link_world import CATALOG, CLASSES, LANGUAGES, Entity, asks, index_of, item
from tests.wikidata_server import WikidataServer

EXACT = Rules(fuzzy_threshold=None)  # no service lists all names of a kind
NAMES = (
    "ramen",
    "Taco",
    "curry",
    "Tango",
    "kebap",
    "ラーメン",
    "味噌汁",
    "拉面",
    "拉麵",
    "كشري",
    "समोसा",
    "김치찌개",
    "ต้มยำ",
)
# What a mention may be, besides a name: another case or width, a form of a word in its language, what names nothing.
OTHERS = ("RAMEN", "TANGO", "ﾗｰﾒﾝ", "nothing")
FORMS = (
    *(("en", "tacos"), ("en", "the curries"), ("tr", "kebabı"), ("ar", "والكشري")),
    *(("hi", "समोसे"), ("ko", "김치찌개를"), ("es", "los tacos")),
)
SPOKEN = ("en", "ja", "zh", "zh-tw", "ar", "fa", "hi", "ko", "th", "tr")
LABELS = ("en", "mul", "ja", "zh", "zh-hant", "zh-tw", "ar", "fa", "hi", "ko", "th", "tr", "de")
KINDS = [("food", "dish"), ("beverage", "drink"), ("music", "song"), ("music", "artist"), ("book", "title")]
MEANT = ["Q746549", "Q40050", "Q2188189", "Q5", "Q7725634"]  # a class of each
ROOTS = sorted({qid for topic in CATALOG.topics.values() for kind in topic.kinds.values() for qid in kind.roots})
STOPS = sorted({qid for topic in CATALOG.topics.values() for kind in topic.kinds.values() for qid in kind.stops})
TRADES = ["Q639669", "Q36180", "Q901", "Q902"]  # musician, writer, and what is neither or a class below
BETWEEN = [f"Q{number}" for number in range(900, 910)]  # classes of the world's own, in any order, also in circles
MERGED = {"Q990": "Q900", "Q991": "Q905", "Q992": "Q746549"}
MISSING = "Q999"
PAGES = ["Q4167410", "Q13406463"]  # a disambiguation page, a list
COUNTRIES = ["Q17", "Q30", "Q22", "Q888"]
PEOPLE = ["Q700", "Q701", "Q702"]


def some(values: list[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), max_size=most, unique=True)


ABOVE = [*BETWEEN, *ROOTS, *STOPS, *MERGED, MISSING]
UPWARDS = st.fixed_dictionaries(
    {"P279": st.one_of(some(MEANT, 1), some(BETWEEN, 2), some(ABOVE, 2)), "P361": some(ABOVE, 1)}
)
CLAIMS = st.fixed_dictionaries(
    {
        "P31": st.one_of(some(MEANT, 2), some(BETWEEN, 2), some(ABOVE, 3), some(PAGES, 1)),
        "P279": some(ABOVE, 1),
        "P361": some(ABOVE, 1),
        "P106": some(TRADES, 2),
        "P495": some(COUNTRIES, 2),
        "P17": some(COUNTRIES, 1),
        "P27": some(COUNTRIES, 1),
        "P50": some(PEOPLE, 1),
        "P175": some(PEOPLE, 2),
    }
)
LABELLED = st.dictionaries(st.sampled_from(LABELS), st.sampled_from(NAMES), max_size=4)
ALIASED = st.dictionaries(
    st.sampled_from(LABELS), st.lists(st.sampled_from(NAMES), max_size=2, unique=True), max_size=2
)
THING = st.tuples(LABELLED, ALIASED, st.integers(0, 3), CLAIMS)
SURFACE = st.tuples(st.sampled_from(SPOKEN), st.sampled_from(NAMES + OTHERS)) | st.sampled_from(FORMS)
ASK = st.tuples(SURFACE, st.sampled_from(KINDS))


def catalog(*, part_of: bool) -> Catalog:
    """The catalogue, perhaps with a topic that takes parts for members."""
    food = CATALOG.topics["food"].model_copy(update={"part_of": part_of})
    return CATALOG.model_copy(update={"topics": {**CATALOG.topics, "food": food}})


def world(things: list[Any], classes: list[dict[str, list[str]]]) -> list[Entity]:
    known = {entity["id"]: entity for entity in CLASSES}
    known |= {qid: item(qid, f"class {qid}", **claims) for qid, claims in zip(BETWEEN, classes, strict=True)}
    people = {
        qid: item(qid, f"person {qid}", P31="Q5", P27=country) for qid, country in zip(PEOPLE, COUNTRIES, strict=False)
    }
    numbered = {f"Q{100 + n}": item(f"Q{100 + n}", *texts, **claims) for n, (*texts, claims) in enumerate(things)}
    return list((known | people | numbered).values())


WORLD = {
    "things": st.lists(THING, min_size=25, max_size=40),
    "classes": st.lists(UPWARDS, min_size=len(BETWEEN), max_size=len(BETWEEN)),
    "wanted": st.lists(ASK, min_size=40, max_size=80),
}


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(**WORLD, part_of=st.booleans())
def test_the_service_and_the_index_give_the_same_tables(
    things: list[Any], classes: list[dict[str, list[str]]], wanted: list[Any], part_of: bool
) -> None:
    entities, words = world(things, classes), catalog(part_of=part_of)
    rows = asks(*((language, *kind, surface) for (language, surface), kind in wanted))
    ids = {entity["id"]: entity for entity in entities}
    merged = [{**ids[to], "redirects": {"from": qid, "to": to}} for qid, to in MERGED.items()]
    with tempfile.TemporaryDirectory() as folder, WikidataServer(entities, redirects=MERGED) as server:
        by_index = Linker(words, index_of(Path(folder), [*entities, *merged]), EXACT).link(rows)
        service = ApiSettings("test@example.org", server.url, requests_per_minute=1_000_000)
        by_api = Linker(words, ApiSource(service, Path(folder) / "c.sqlite", LANGUAGES), EXACT).link(rows)
    for name in TABLES:
        assert by_api[name].to_pylist() == by_index[name].to_pylist(), name


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(**WORLD, articles=st.lists(st.sampled_from(["The Taco", "A Tango", "Der Kebap", "El Curry"]), max_size=6))
def test_what_a_mention_means_does_not_depend_on_what_else_is_asked(
    things: list[Any], classes: list[dict[str, list[str]]], wanted: list[Any], articles: list[str]
) -> None:
    named = [
        (dict.fromkeys(["en", "de", "es"], name), {}, 0, {"P31": [MEANT[n % 5]]}) for n, name in enumerate(articles)
    ]
    rows = sorted({(language, *kind, surface) for (language, surface), kind in wanted})
    with tempfile.TemporaryDirectory() as folder:
        linker = Linker(CATALOG, index_of(Path(folder), world([*things, *named], classes)))
        whole = linker.link(asks(*rows))
        parts = [linker.link(asks(*part)) for part in (rows[::2], rows[1::2]) if part]
    for name in ("links", "candidates"):
        apart = [row for part in parts for row in part[name].to_pylist()]
        assert sorted(map(repr, whole[name].to_pylist())) == sorted(map(repr, apart)), name
