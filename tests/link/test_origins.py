"""Where an item comes from: former states and their heirs, places within countries, cuisines, what has ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polyculture.experiment.snapshots import STARTER, find_snapshot
from polyculture.link.api.sparql import SparqlSettings
from polyculture.link.index.snapshot import FILLED
from polyculture.link.linker import Linker
from polyculture.link.origins import items_by_country, names_by_language, snapshot_items, uncovered_topics
from polyculture.link.pull.pull import pull_index
from tests.link.test_api import settings
from tests.link_world import CATALOG, CLASSES, Entity, index_of, item, link_all, queries, statement
from tests.sparql_server import SparqlServer

GERMAN_EMPIRE, RUSSIAN_EMPIRE, UK_AND_IRELAND, AUSTRIA_HUNGARY = "Q43287", "Q34266", "Q174193", "Q28513"
SOVIET_UNION, BRITISH_RAJ, PROVINCES_OF_INDIA, CZECHOSLOVAKIA = "Q15180", "Q129286", "Q2385925", "Q33946"
KOREA, JOSEON, NOWHERE = "Q18097", "Q28179", "Q90060"
DE, GB, IE, US, RU, UA, CZ, IN, PK, IT, JP = (
    *("Q183", "Q145", "Q27", "Q30", "Q159", "Q212", "Q213", "Q668", "Q843", "Q38", "Q17"),
)
PLACES = [
    item("Q90001", "Portsmouth", P131="Q90002"),
    item("Q90002", "Hampshire", P131="Q90003"),
    item("Q90003", "South East England", P17=GB),
    item("Q90004", "Dublin", P17=[statement(UK_AND_IRELAND, ended="1922"), statement(IE)]),
    item("Q90005", "Prague", P17=CZ),
    item("Q90006", "Kolkata", P131="Q90007"),
    item("Q90007", "West Bengal", P17=IN),
    item("Q90008", "Lahore", P17=PK),
    item("Q90009", "Sorochyntsi", P17=UA, P131=RUSSIAN_EMPIRE),
    item("Q90011", "Seoul", P17=[statement(JOSEON, ended="1897"), "Q884"]),
    item("Q90012", "Pyongyang", P17="Q423"),
    item("Q90010", "Gdansk", P17=[statement(DE, ended="1945"), "Q36"]),
    item("Q90020", "Sicily", P17=IT),
    item("Q90021", "Okinawa", P131="Q90022"),
    item("Q90022", "Kyushu and Okinawa", P17=JP),
    item("Q90023", "the Levant"),
    item("Q90024", "Kashmir", P17=[IN, PK]),
    item("Q90030", "Japanese cuisine", P31="Q1968435", P17=JP),
    item("Q90031", "Sicilian cuisine", P31="Q1778821", P361="Q90032"),
    item("Q90032", "Italian cuisine", P31="Q1968435", P495=IT),
    item("Q90033", "an album", P495=US),
    item("Q90034", "Hausa culture", P17="Q1033"),
    item("Q90040", "Fooland", P1366="Q90041"),
    item("Q90041", "Barland", P1366=US),
    item("Q90042", "Northland", P1366=["Q90041", RU]),
    item("Q90043", "Northshire", P131="Q90042"),
    item(NOWHERE, "a khanate"),
    item("Q90050", "Tashkent Oblast", P17=SOVIET_UNION),
    item("Q90051", "Lviv Oblast", P17=[SOVIET_UNION, UA]),
    item("Q90052", "Punjab Province", P17=BRITISH_RAJ),
    item(BRITISH_RAJ, "British Raj", P17="Q8680"),
]


Countries = set[tuple[str | None, tuple[str, ...]]]  # and the successors of a state, where none is the country


def alone(*codes: str) -> Countries:
    return {(code, ()) for code in codes}


FORMER: list[tuple[dict[str, Any], list[str]]] = [
    ({"P27": GERMAN_EMPIRE, "P19": "Q90010"}, ["DE"]),  # one heir, wherever one was born
    ({"P27": [statement(GERMAN_EMPIRE, ended="1918"), US]}, ["DE", "US"]),  # the state ended, not the citizenship
    ({"P27": UK_AND_IRELAND, "P19": "Q90001"}, ["GB"]),
    ({"P27": UK_AND_IRELAND, "P19": "Q90004"}, ["IE"]),
    ({"P27": UK_AND_IRELAND}, ["GB"]),
    ({"P27": [AUSTRIA_HUNGARY, CZECHOSLOVAKIA], "P19": "Q90005"}, ["CZ"]),
    ({"P27": BRITISH_RAJ, "P19": "Q90006"}, ["IN"]),
    ({"P27": PROVINCES_OF_INDIA, "P19": "Q90008"}, ["PK"]),
    ({"P27": RUSSIAN_EMPIRE, "P19": "Q90009"}, ["UA"]),
    ({"P27": RUSSIAN_EMPIRE}, ["RU"]),
    ({"P27": [SOVIET_UNION, RU], "P19": "Q90009"}, ["RU"]),  # of the heirs the one that is stated
    ({"P27": [SOVIET_UNION, statement(RU, ended="1930"), US], "P19": "Q90009"}, ["RU", "US"]),  # ended, yet stated
    ({"P27": [JOSEON, "Q884"]}, ["KR"]),
    ({"P27": [statement(JOSEON, ended="1897"), US], "P19": "Q90011"}, ["KR", "US"]),
    ({"P495": KOREA}, ["KR"]),  # nothing says which side is meant
    ({"P495": [KOREA, "Q423"]}, ["KP"]),
    ({"P495": KOREA, "P19": "Q90012"}, ["KP"]),
    ({"P27": "Q90040"}, ["US"]),  # in no table: what replaced it
    ({"P27": NOWHERE, "P19": "Q90005"}, ["CZ"]),  # a state of no table: where one was born
    (
        {"P27": [statement(NOWHERE, ended="1918"), US], "P19": "Q90005"},
        ["CZ", "US"],
    ),  # and not the state of today alone
    ({"P27": [NOWHERE, US]}, ["US"]),
    ({"P27": [statement(IT, ended="1930"), US]}, ["US"]),
    ({"P27": [statement(IT, ended="1930"), statement(US, ended="1950")]}, ["US"]),
    ({"P19": "Q90006"}, ["IN"]),
    ({"P27": US, "P19": "Q90006"}, ["US"]),
    ({"P495": "Q8733"}, ["CN"]),
    ({"P495": RUSSIAN_EMPIRE}, ["RU"]),
    ({"P495": "Q90051"}, ["UA"]),  # a province of a divided state that lies in a state of today
    ({"P495": SOVIET_UNION, "P17": UA}, ["UA"]),
]
PLACED: list[tuple[dict[str, Any], list[str]]] = [
    ({"P495": "Q90020"}, ["IT"]),
    ({"P495": "Q90021"}, ["JP"]),
    ({"P495": "Q90024"}, ["IN", "PK"]),
    ({"P495": "Q90024", "P17": PK}, ["PK"]),  # of a region of two countries the one that is stated
    ({"P495": NOWHERE, "P17": IT}, ["IT"]),
    ({"P495": "Q90010"}, ["PL"]),  # where it lies today
    ({"P495": "Q90023", "P17": "Q822"}, ["LB"]),  # a region without a country does not hide what follows
    ({"P2012": "Q90030", "P17": US}, ["JP"]),
    ({"P361": "Q90030"}, ["JP"]),
    ({"P361": "Q90031"}, ["IT"]),
    ({"P361": "Q90033"}, []),  # part of something else than a cuisine
    ({"P2596": "Q90034"}, ["NG"]),
    ({"P1071": "Q90021"}, ["JP"]),
    ({"P276": "Q90020"}, ["IT"]),
    ({"P17": [statement(DE, ended="1945"), "Q36"]}, ["PL"]),
]
SOVIET, RAJ = (CATALOG.former_states[state].heirs for state in (SOVIET_UNION, BRITISH_RAJ))
OPEN: list[tuple[dict[str, Any], Countries]] = [
    ({"P27": SOVIET_UNION}, {(None, SOVIET)}),
    ({"P27": [SOVIET_UNION, US]}, {(None, SOVIET), ("US", ())}),  # open beside a state of today
    ({"P495": "Q90042"}, {(None, ("RU", "US"))}),
    ({"P495": SOVIET_UNION, "P17": US}, {(None, SOVIET)}),  # what follows is no heir
    ({"P495": "Q90050"}, {(None, SOVIET)}),  # a province has the heirs of its divided state
    ({"P27": "Q90050"}, {(None, SOVIET)}),
    ({"P495": "Q90052"}, {(None, RAJ)}),  # not of the empire that the Raj was part of
    ({"P495": "Q90043"}, {(None, ("RU", "US"))}),
    ({"P27": "Q90052", "P19": "Q90008"}, alone("PK")),
    ({"P495": "Q90023"}, {(None, ())}),  # a region without a country is told by its item
    ({"P495": "Q2277"}, {(None, CATALOG.former_states["Q2277"].heirs)}),  # the Roman Empire: three continents
]
CASES = [*((said, alone(*codes)) for said, codes in (*FORMER, *PLACED)), *OPEN]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Countries]:
    """The countries of a person (of whom a citizenship or birth is stated) or of a dish, by case."""
    things, asked = [], []
    for number, (said, _) in enumerate(CASES):
        person = {"P27", "P19"} & said.keys()
        things.append(item(f"Q{1_000 + number}", f"thing {number}", P31="Q5" if person else "Q746549", **said))
        asked.append(("en", *(("book", "author") if person else ("food", "dish")), f"thing {number}"))
    source = index_of(tmp_path_factory.mktemp("world"), [*PLACES, *things])
    countries: dict[int, Countries] = {number: set() for number in range(len(CASES))}
    for row in link_all(source, *asked)["entity_countries"].to_pylist():
        countries[int(row["qid"][1:]) - 1_000].add((row["country"], tuple(row["successors"] or ())))
    return countries


@pytest.mark.parametrize("number", range(len(CASES)), ids=[str(said) for said, _ in CASES])
def test_former_states_places_and_cuisines_lead_to_their_country(found: dict[int, Countries], number: int) -> None:
    assert found[number] == CASES[number][1]


def test_the_maker_of_a_work_decides_between_the_heirs(tmp_path: Path) -> None:
    """The novel's origin is the United Kingdom of then; its author was born in Dublin."""
    work = item("Q1", "Portrait", P31="Q7725634", P495=UK_AND_IRELAND, P50="Q2")
    song = item("Q3", "Tune", P31="Q2188189", P86="Q2")
    author = item("Q2", "Oscar", P31="Q5", P27=UK_AND_IRELAND, P19="Q90004")
    march = item("Q5", "March", P31="Q7725634", P50=["Q6", "Q7"], P17="Q40")  # and the work between those of its maker
    makers = [item("Q6", "Joseph", P31="Q5", P27=AUSTRIA_HUNGARY), item("Q7", "Ann", P31="Q5", P27="Q28")]
    source = index_of(tmp_path, [*PLACES, work, song, author, march, *makers])
    asked = [("en", "book", "title", "Portrait"), ("en", "music", "song", "Tune"), ("en", "book", "title", "March")]
    found = link_all(source, *asked)["entity_countries"].to_pylist()
    rows = [(row["qid"], row["country"], row["property"]) for row in found]
    assert rows == [("Q1", "IE", "P495"), ("Q3", "IE", "P86/P27"), ("Q5", "AT", "P50/P27"), ("Q5", "HU", "P50/P27")]


def test_a_pull_brings_what_the_countries_rest_on(tmp_path: Path) -> None:
    world: list[Entity] = [
        item("Q1", "cannoli", P31="Q746549", P495="Q90020"),
        item("Q2", "tempura", P31="Q746549", P2012="Q90030"),
        item("Q4", "Oscar", P31="Q5", P27=UK_AND_IRELAND, P19="Q90004", P106="Q36180"),
        item("Q6", "Emi", P31="Q5", P27=[statement(IT, ended="1930"), US], P19="Q90005", P106="Q36180"),
        item("Q7", "Franz", P31="Q5", P27=[AUSTRIA_HUNGARY, US], P19="Q90005", P106="Q36180"),
        item("Q8", "Portrait", P31="Q7725634", P495=UK_AND_IRELAND, P50="Q9"),
        item("Q9", "Will", P31="Q5", P27=US, P19="Q90004", P106="Q36180"),
        item("Q10", "arancini", P31="Q746549", P361="Q90031"),
        item("Q36180", "writer"),
    ]
    rows = queries(
        *[("en", "food", "dish", name) for name in ("cannoli", "tempura", "arancini")],
        *[("en", "book", "author", name) for name in ("Oscar", "Emi", "Franz")],
        ("en", "book", "title", "Portrait"),
    )
    dumped = Linker(CATALOG, index_of(tmp_path, [*PLACES, *world])).link(rows)
    with SparqlServer([*CLASSES, *PLACES, *world]) as server:
        endpoint = SparqlSettings("test@example.org", server.url, 60_000, sleep=lambda _seconds: None)
        report = pull_index(CATALOG, ["food", "book"], tmp_path / "pulled.duckdb", endpoint, settings(server.items))
    pulled = Linker(CATALOG, report.snapshot).link(rows)["entity_countries"]
    assert pulled.equals(dumped["entity_countries"])
    told = [(row["qid"], row["country"]) for row in pulled.to_pylist()]
    assert told == [("Q1", "IT"), ("Q10", "IT"), ("Q2", "JP"), ("Q4", "IE"), ("Q6", "US"), ("Q7", "CZ"), ("Q7", "US"),
                    ("Q8", "IE")]  # fmt: skip


def test_the_topics_of_which_a_source_holds_no_item_of_a_country(tmp_path: Path) -> None:
    """A dish of Sicily is one that may be of Italy, a novel one of its author's country."""
    dish, tea = item("Q1", "cannoli", P31="Q746549", P495="Q90020"), item("Q3", "tea", P31="Q40050", P495=JP)
    novel, author = item("Q2", "Novel", P31="Q7725634", P50="Q4"), item("Q4", "Ana", P31="Q5", P27=US, P106="Q1")
    source = index_of(tmp_path, [*PLACES, dish, tea, novel, author])
    found = uncovered_topics(source, CATALOG, ["food", "beverage", "book"])
    topics = {code: set(found.get(code, ())) for code in ("IT", "JP", "US", "TH")}
    assert topics["IT"] == {"beverage", "book"}
    assert topics["JP"] == {"book"}  # a drink is food in this world
    assert topics["US"] == {"beverage", "food"}
    assert topics["TH"] == {"beverage", "book", "food"}


def test_what_a_source_holds_by_topic_language_and_country(tmp_path: Path) -> None:
    """One table for the plan and for the store: nothing is said of a source that holds what was named."""
    dish = item("Q1", {"en": "cannoli", "ja": "カンノーリ"}, {"ja": ["カノーリ"]}, P31="Q746549", P495=IT)
    source = index_of(tmp_path, [*PLACES, dish, item("Q3", "ramen", P31="Q746549", P495=JP)])
    rows = snapshot_items(source, CATALOG, ["food"], ["en", "ja"])
    held = {(row.language, row.country): (row.items, row.names) for row in rows}
    assert held[None, None] == (5, None)  # with three dishes that are classes
    assert (held["en", None], held["ja", None]) == ((5, 5), (1, 2))
    assert (held[None, "IT"], held[None, "JP"], held[None, "TH"]) == ((1, None), (1, None), (0, None))
    assert len(rows) == 3 + 249
    filled = replace(source, meta={**source.meta, "source": {"kind": FILLED}})
    assert snapshot_items(filled, CATALOG, ["food"], ["en"]) == []


def test_no_country_that_links_name_is_one_of_which_a_source_holds_nothing(tmp_path: Path) -> None:
    """However far up the country stands: of a place, a cuisine, a maker's place of birth, what replaced a state."""
    world = [
        item("Q1", "pasty", P31="Q746549", P495="Q90001"),
        item("Q2", "cannoli", P31="Q746549", P2012="Q90031"),
        item("Q3", "stew", P31="Q746549", P495="Q90040"),
        item("Q4", "Novel", P31="Q7725634", P50="Q5"),
        item("Q5", "Ana", P31="Q5", P19="Q90001"),
        item("Q6", "Tune", P31="Q2188189", P86="Q5"),
    ]
    source = index_of(tmp_path, [*PLACES, *world])
    dishes = [("en", "food", "dish", name) for name in ("pasty", "cannoli", "stew")]
    works = [("en", "book", "title", "Novel"), ("en", "music", "song", "Tune")]
    linked = link_all(source, *dishes, *works)["entity_countries"].to_pylist()
    named = {row["qid"]: row["country"] for row in linked}
    assert named == {"Q1": "GB", "Q2": "IT", "Q3": "US", "Q4": "GB", "Q6": "GB"}
    uncovered = uncovered_topics(source, CATALOG, ["food", "book", "music"])
    assert "music" not in uncovered.get("GB", ())
    assert {code for code in ("GB", "IT", "US", "JP") if "food" in uncovered.get(code, ())} == {"JP"}
    assert {code for code in ("GB", "IT", "US", "JP") if "book" in uncovered.get(code, ())} == {"IT", "US", "JP"}


def test_items_are_counted_by_topic_and_country_as_their_origins_say() -> None:
    counted = items_by_country(find_snapshot(STARTER, Path()), CATALOG, ["food", "music"])
    assert counted["food", None] > counted["food", "JP"] > 10
    assert counted["music", "US"] > counted["music", "JP"] > 0
    assert ("food", "AQ") not in counted


def test_the_names_of_a_topic_are_counted_by_the_languages_that_have_them(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [
            item("Q1", {"en": "soup", "ja": "汁", "zh-hans": "汤"}, {"ja": ["スープ"]}, P31="Q746549"),
            item("Q2", {"en": "stew"}, P31="Q746549"),
            item("Q3", {"ja": "人"}, P31="Q5"),
        ],
    )
    found = names_by_language(source, CATALOG, ["food"], ["en", "ja", "zh-tw", "de"])
    assert found["food", "ja"] == (1, 2)
    assert found["food", "zh-tw"] == (1, 1)
    assert ("food", "de") not in found  # English names are no German ones
    assert found["food", "en"] == (5, 5)  # with three classes
