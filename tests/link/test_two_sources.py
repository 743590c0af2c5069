"""One algorithm, two sources: worlds made at random are linked over the service's protocol and over an index, and all
tables are equal, row for row.

The worlds have what makes linking hard: one name for many items in six scripts, mentions that need every rule of
spelling and of inflection, classes in circles, merged and missing classes, stops, parts, persons with and without
trades, works whose countries are their makers'. What the service does not find the linker cannot consider: here it
finds more than that can want; in one test, what the real one would: there is less then, and nothing is otherwise.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from polyculture.cache.catalog import Catalog
from polyculture.cache.inflection import ALL, inflections
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.source import ApiSource
from polyculture.link.linker import TABLES, Linker
from polyculture.link.normalise import Fold, normalise
from polyculture.link.rules import LinkRules
from tests.link_names import EXPANDED, INFLECTED, NORMALISED, SPELLED
from tests.link_world import CATALOG, CLASSES, LANGUAGES, Entity, index_of, item, queries
from tests.wikidata_server import Folding, WikidataServer, as_wikidata

EXACT = LinkRules(fuzzy_threshold=None)  # no service lists all names of a kind
DISH = ("food", "dish")
PAIRS = [
    (language, name, mention)
    for table in (NORMALISED, SPELLED, INFLECTED)
    for language, pairs in table.items()
    for name, mention in pairs
]
# What a mention may be, besides: another case or width, what names nothing.
OTHERS = ("RAMEN", "TANGO", "ﾗｰﾒﾝ", "nothing", "ramen", "Taco", "Tango", "ラーメン", "ต้มยำ")
SPOKEN = ("en", "de", "es", "it", "ja", "zh", "zh-tw", "ar", "fa", "hi", "ko", "th", "tr")
LABELS = ("en", "mul", "ja", "zh", "zh-hant", "zh-tw", "ar", "fa", "hi", "ko", "th", "tr", "de", "es", "it")
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


@st.composite
def named(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    """Items and queries with few distinct names, so that names collide."""
    pairs = draw(st.lists(st.sampled_from(PAIRS), min_size=8, max_size=14, unique=True))
    names = st.sampled_from([name for _, name, _ in pairs] + list(OTHERS))
    own = st.sampled_from(pairs).map(lambda pair: {pair[0]: pair[1]})
    anyhow = st.dictionaries(st.sampled_from(LABELS), names, max_size=3)
    aliases = st.dictionaries(st.sampled_from(LABELS), st.lists(names, max_size=2, unique=True), max_size=2)
    things = st.lists(st.tuples(own | anyhow, aliases, st.integers(0, 3), CLAIMS), min_size=25, max_size=40)
    meant = st.sampled_from([(language, mention) for language, _, mention in pairs])
    surfaces = meant | st.tuples(st.sampled_from(SPOKEN), names)
    return draw(things), draw(
        st.lists(st.tuples(surfaces, st.sampled_from(KINDS)), min_size=12, max_size=24, unique=True)
    )


def catalog(*, part_of: bool) -> Catalog:
    """The catalogue, optionally with a topic that follows part-of."""
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


WORLD = {"named": named(), "classes": st.lists(UPWARDS, min_size=len(BETWEEN), max_size=len(BETWEEN))}
# A world that fails is shown as it is: to look for a smaller one takes minutes.
OFTEN = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
}
ARTICLE = re.compile("|".join(["^ال", *(rules["articles"] for rules in inflections().values() if "articles" in rules)]))


def by_their_first_letter(names: Sequence[str], fold: Fold) -> list[str]:
    """The folding of a search that finds more than the linker needs: equal prefixes, articles aside."""
    bare = [ARTICLE.sub("", key) for key in normalise(names, fold)]
    letters = [unicodedata.normalize("NFD", key)[0].replace("ı", "i") for key in bare]
    return ["あ" if "ぁ" <= letter <= "ヿ" else letter for letter in letters]


def over_the_service(
    words: Catalog, entities: list[Entity], folding: Folding, *tables: pa.Table
) -> list[dict[str, pa.Table]]:
    """The links of each of `tables`, each with a new connection to the service."""
    found = []
    with WikidataServer(entities, redirects=MERGED, folding=folding) as server:
        service = ApiSettings("test@example.org", server.url, requests_per_minute=1_000_000)
        for rows in tables:
            with tempfile.TemporaryDirectory() as folder:
                source = ApiSource(service, Path(folder) / "c.sqlite", LANGUAGES)
                found.append(Linker(words, source, EXACT).link(rows))
    return found


def over_an_index(words: Catalog, entities: list[Entity], rows: pa.Table) -> dict[str, pa.Table]:
    ids = {entity["id"]: entity for entity in entities}
    merged = [{**ids[to], "redirects": {"from": qid, "to": to}} for qid, to in MERGED.items() if to in ids]
    with tempfile.TemporaryDirectory() as folder:
        return Linker(words, index_of(Path(folder), [*entities, *merged]), EXACT).link(rows)


def compared(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table, without what the service could not be asked for, which an index compares at once."""
    rows: list[dict[str, Any]] = table.to_pylist()
    return [{name: value for name, value in row.items() if name != "unsearched"} for row in rows]


def rows_of(wanted: list[Any]) -> list[tuple[str, str, str, str]]:
    return sorted({(language, *kind, surface) for (language, surface), kind in wanted})


def test_every_rule_is_reached_and_both_sources_agree() -> None:
    names = sorted({(language, name) for language, name, _ in PAIRS})
    entities = [*CLASSES, *(item(f"Q{100 + n}", {code: name}, P31=MEANT[0]) for n, (code, name) in enumerate(names))]
    rows = queries(*sorted({(language, *DISH, mention) for language, _, mention in PAIRS}))
    index = over_an_index(CATALOG, entities, rows)
    (service,) = over_the_service(CATALOG, entities, by_their_first_letter, rows)
    assert all(compared(service[table]) == compared(index[table]) for table in TABLES)
    found = {
        (link["language"], link["surface"]): (link["match"], link["matched"]) for link in index["links"].to_pylist()
    }
    kinds = {"normalised": NORMALISED, "variant": SPELLED, "inflected": INFLECTED}
    assert found == {
        (language, mention): (match, name)
        for match, table in kinds.items()
        for language, pairs in table.items()
        for name, mention in pairs
    }


def test_query_expansion_adds_letters_that_the_mention_lacks() -> None:
    pairs = [(language, name, mention) for language, some in EXPANDED.items() for name, mention in some]
    entities = [*CLASSES, *(item(f"Q{100 + n}", {code: name}, P31=MEANT[0]) for n, (code, name, _) in enumerate(pairs))]
    rows = queries(*sorted((language, *DISH, mention) for language, _, mention in pairs))
    (service,) = over_the_service(CATALOG, entities, as_wikidata, rows)
    index = over_an_index(CATALOG, entities, rows)
    assert all(compared(service[table]) == compared(index[table]) for table in TABLES)
    found = {(link["language"], link["surface"]): link["matched"] for link in index["links"].to_pylist()}
    assert found == {(language, mention): name for language, name, mention in pairs}


@pytest.mark.parametrize("language", [code for code, rules in inflections().items() if "searched" in rules])
def test_every_rule_of_what_is_searched_is_needed(language: str) -> None:
    for rule in inflections()[language]["searched"]:
        pattern = re.compile("|".join(rule[::2]), re.IGNORECASE)
        assert any(pattern.search(mention) for _, mention in EXPANDED[language]), rule


@pytest.mark.parametrize("language", sorted(inflections().keys() - {ALL}))
def test_the_mentions_need_every_rule_of_their_language(language: str) -> None:
    rules = inflections()[language]
    forms = normalise([mention for _, mention in INFLECTED[language]], "turkish" if language == "tr" else "plain")
    with duckdb.connect() as connection:
        endings = [*rules.get("after", []), *rules.get("cases", [])] * rules.get("again", 1)
        # What one case leaves another rule may turn: a round more than the linker needs of each.
        for rule in [*rules.get("before", []), *rules.get("cases", []), *endings]:
            query = """
                SELECT DISTINCT regexp_replace(form, $rule, $other, 'g') AS turned
                FROM (SELECT unnest($forms) AS form) WHERE regexp_matches(form, $rule) ORDER BY turned
            """
            params = {"rule": rule[0], "other": rule[1], "forms": forms}
            turned = [form for (form,) in connection.execute(query, params).fetchall()]
            assert turned, rule
            forms += turned


@settings(max_examples=5, **OFTEN)
@given(**WORLD, part_of=st.booleans())
def test_the_service_and_the_index_give_the_same_tables(
    named: tuple[list[Any], list[Any]], classes: list[dict[str, list[str]]], part_of: bool
) -> None:
    things, wanted = named
    entities, words, rows = world(things, classes), catalog(part_of=part_of), queries(*rows_of(wanted))
    index = over_an_index(words, entities, rows)
    (service,) = over_the_service(words, entities, by_their_first_letter, rows)
    for name in TABLES:
        assert compared(service[name]) == compared(index[name]), name


@settings(max_examples=3, **OFTEN)
@given(**WORLD)
def test_what_the_real_search_would_not_find_is_left_out_and_nothing_else_is_otherwise(
    named: tuple[list[Any], list[Any]], classes: list[dict[str, list[str]]]
) -> None:
    things, wanted = named
    entities, rows = world(things, classes), rows_of(wanted)
    index = over_an_index(CATALOG, entities, queries(*rows))
    some, others = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    whole, *parts = over_the_service(CATALOG, entities, as_wikidata, queries(*rows), queries(*some), queries(*others))
    for name in ("links", "candidates"):
        apart = [row for part in parts for row in part[name].to_pylist()]
        assert sorted(map(repr, whole[name].to_pylist())) == sorted(map(repr, apart)), name
    there, here = by_query(index), by_query(whole)
    for ask, found in here.items():
        if exact(found) == exact(there[ask]):  # else the mention had to be turned, where the index need not
            assert set(found) <= set(there[ask]), ask
            if set(found) == set(there[ask]):
                assert found == there[ask], ask


def by_query(tables: dict[str, pa.Table]) -> dict[tuple[str, ...], dict[tuple[Any, ...], Any]]:
    """The candidates of each query, with what matched, and the link."""
    links = compared(tables["links"])
    found: dict[Any, dict[Any, Any]] = {ask_of(row): {("link",): row} for row in links}
    for row in tables["candidates"].to_pylist():
        found[ask_of(row)][row["qid"], row["match"], row["matched"], row["score"]] = row
    return found


def ask_of(row: dict[str, Any]) -> tuple[str, ...]:
    return row["language"], row["topic"], row["kind"], row["surface"]


def exact(found: dict[tuple[Any, ...], Any]) -> set[tuple[Any, ...]]:
    return {key for key in found if len(key) > 1 and key[1] not in ("variant", "inflected")}


@settings(max_examples=3, **OFTEN)
@given(**WORLD, articles=st.lists(st.sampled_from(["The Taco", "A Tango", "Der Kebap", "El Curry"]), max_size=6))
def test_a_link_does_not_depend_on_the_other_queries(
    named: tuple[list[Any], list[Any]], classes: list[dict[str, list[str]]], articles: list[str]
) -> None:
    things, wanted = named
    bare = [
        (dict.fromkeys(["en", "de", "es"], name), {}, 0, {"P31": [MEANT[n % 5]]}) for n, name in enumerate(articles)
    ]
    rows = rows_of(wanted)
    with tempfile.TemporaryDirectory() as folder:
        linker = Linker(CATALOG, index_of(Path(folder), world([*things, *bare], classes)))
        whole = linker.link(queries(*rows))
        parts = [linker.link(queries(*part)) for part in (rows[::2], rows[1::2]) if part]
    for name in ("links", "candidates"):
        apart = [row for part in parts for row in part[name].to_pylist()]
        assert sorted(map(repr, whole[name].to_pylist())) == sorted(map(repr, apart)), name
