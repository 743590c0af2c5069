"""Where an item comes from: former states and their heirs, places within countries, cuisines, what has ended."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from polyculture.experiment.snapshots import STARTER, find_snapshot
from polyculture.link.entity_json import Rows
from polyculture.link.index.snapshot import open_snapshot
from polyculture.link.linker import Linker
from polyculture.link.origins import items_by_country, uncovered_topics
from polyculture.link.pull.client import SparqlSettings
from polyculture.link.pull.pull import pull_index
from tests.link.test_api import settings
from tests.link_world import CATALOG, CLASSES, Entity, index_of, item, link_all, queries, statement
from tests.sparql_server import SparqlServer

GERMAN_EMPIRE, RUSSIAN_EMPIRE, UK_AND_IRELAND, AUSTRIA_HUNGARY = "Q43287", "Q34266", "Q174193", "Q28513"
SOVIET_UNION, BRITISH_RAJ, PROVINCES_OF_INDIA, CZECHOSLOVAKIA = "Q15180", "Q129286", "Q2385925", "Q33946"
KOREA, JOSEON = "Q18097", "Q28179"
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
    item("Q90050", "Tashkent Oblast", P17=SOVIET_UNION),
    item("Q90051", "Lviv Oblast", P17=[SOVIET_UNION, UA]),
    item("Q90052", "Punjab Province", P17=BRITISH_RAJ),
    item(BRITISH_RAJ, "British Raj", P17="Q8680"),
]


PERSON, DISH = item("Q1", "Thing", P31="Q5"), item("Q2", "Thing", P31="Q746549")


def countries(folder: Path, **said: object) -> set[tuple[str | None, tuple[str, ...]]]:
    """The countries and successors of a person (of whom a citizenship or birth is stated) or of a dish."""
    thing, kind = (PERSON, ("book", "author")) if {"P27", "P19"} & said.keys() else (DISH, ("food", "dish"))
    rows = Rows(["en"])
    rows.add(item(thing["id"], "Thing", **said))  # type: ignore[arg-type]
    file = index_of(folder, [*PLACES, PERSON, DISH]).path
    file = file.rename(folder / f"{len(list(folder.iterdir()))}.duckdb")  # one that was opened is remembered
    with duckdb.connect(str(file)) as connection:
        connection.from_arrow(rows.tables()["claims"]).insert_into("claims")
    found = link_all(open_snapshot(file), ("en", *kind, "Thing"))
    return {(row["country"], tuple(row["successors"] or ())) for row in found["entity_countries"].to_pylist()}


def alone(*codes: str) -> set[tuple[str | None, tuple[str, ...]]]:
    return {(code, ()) for code in codes}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
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
        ({"P495": KOREA}, ["KP", "KR"]),  # two continue it alike, and nothing says which is meant
        ({"P27": "Q90040"}, ["US"]),  # in no table: what replaced it
        ({"P27": [statement(IT, ended="1930"), US]}, ["US"]),
        ({"P27": [statement(IT, ended="1930"), statement(US, ended="1950")]}, ["US"]),
        ({"P19": "Q90006"}, ["IN"]),
        ({"P27": US, "P19": "Q90006"}, ["US"]),
        ({"P495": "Q8733"}, ["CN"]),
        ({"P495": RUSSIAN_EMPIRE}, ["RU"]),
        ({"P495": "Q90051"}, ["UA"]),  # a province of a divided state that lies in a state of today
        ({"P495": SOVIET_UNION, "P17": UA}, ["UA"]),
    ],
)
def test_what_comes_from_a_former_state_is_of_an_heir(
    tmp_path: Path, said: dict[str, object], expected: list[str]
) -> None:
    assert countries(tmp_path, **said) == alone(*expected)


def test_an_open_question_between_heirs_stays_open_beside_a_state_of_today(tmp_path: Path) -> None:
    soviet = CATALOG.former_states[SOVIET_UNION].heirs
    assert countries(tmp_path, P27=SOVIET_UNION) == {(None, soviet)}
    assert countries(tmp_path, P27=[SOVIET_UNION, US]) == {(None, soviet), ("US", ())}
    assert countries(tmp_path, P495="Q90042") == {(None, ("RU", "US"))}
    assert countries(tmp_path, P495=SOVIET_UNION, P17=US) == {(None, soviet)}  # what follows is no heir
    assert {"FR", "GB", "IT", "TN"} < set(next(iter(countries(tmp_path, P495="Q2277")))[1])


def test_a_province_has_the_heirs_of_its_divided_state(tmp_path: Path) -> None:
    soviet, raj = (CATALOG.former_states[state].heirs for state in (SOVIET_UNION, BRITISH_RAJ))
    assert countries(tmp_path, P495="Q90050") == {(None, soviet)}
    assert countries(tmp_path, P27="Q90050") == {(None, soviet)}
    assert countries(tmp_path, P495="Q90052") == {(None, raj)}  # not of the empire that the Raj was part of
    assert countries(tmp_path, P495="Q90043") == {(None, ("RU", "US"))}
    assert countries(tmp_path, P27="Q90052", P19="Q90008") == alone("PK")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"P495": "Q90020"}, ["IT"]),
        ({"P495": "Q90021"}, ["JP"]),
        ({"P495": "Q90024"}, ["IN", "PK"]),
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
    ],
)
def test_places_and_cuisines_lead_to_their_country(
    tmp_path: Path, said: dict[str, object], expected: list[str]
) -> None:
    assert countries(tmp_path, **said) == alone(*expected)


def test_a_region_without_a_country_is_told_by_its_item(tmp_path: Path) -> None:
    assert countries(tmp_path, P495="Q90023") == {(None, ())}


def test_the_maker_of_a_work_decides_between_the_heirs(tmp_path: Path) -> None:
    """The novel's origin is the United Kingdom of then; its author was born in Dublin."""
    work = item("Q1", "Portrait", P31="Q7725634", P495=UK_AND_IRELAND, P50="Q2")
    song = item("Q3", "Tune", P31="Q2188189", P86="Q2")
    author = item("Q2", "Oscar", P31="Q5", P27=UK_AND_IRELAND, P19="Q90004")
    source = index_of(tmp_path, [*PLACES, work, song, author])
    found = link_all(source, ("en", "book", "title", "Portrait"), ("en", "music", "song", "Tune"))
    rows = [(row["qid"], row["country"], row["property"]) for row in found["entity_countries"].to_pylist()]
    assert rows == [("Q1", "IE", "P495"), ("Q3", "IE", "P86/P27")]


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
