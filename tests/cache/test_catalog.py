"""The catalogue's countries: all of ISO 3166, against CLDR and against real items of Wikidata."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.catalog.cldr import country_names
from polyculture.cache.errors import CatalogError
from polyculture.link.entity import Claims, best_targets, decoder

CATALOG = read_catalog()
# Codes of CLDR that ISO 3166-1 does not have: exceptional reservations, groups, and Kosovo.
NOT_ISO = {"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "XK", "ZZ"}
# Names of CLDR that Wikidata has neither as a label nor as an alias: CLDR's, and a name there.
OTHER_NAMES = {
    "CG": "Congo-Brazzaville",
    "CD": "Congo-Kinshasa",
    "MM": "Myanmar",
    "MO": "Macau",
    "PS": "State of Palestine",
    "SH": "Saint Helena, Ascension and Tristan da Cunha",
    "TR": "Turkey",
    "VC": "Saint Vincent and the Grenadines",
    "UM": "U.S. Minor Outlying Islands",
}
# What a country's item is an instance of: a country, or a territory with a code of its own; and former states.
PLACES = {
    *("Q6256", "Q3624078", "Q3024240", "Q15634554", "Q15239622", "Q161243", "Q46395", "Q719487", "Q202216", "Q185086"),
    *("Q1352230", "Q783733", "Q462778", "Q66724388", "Q11687019", "Q5260616", "Q779415", "Q788176", "Q15042037"),
    *("Q1402592", "Q5107", "Q3336843"),
}
FORMER = {
    *(
        "Q236036",
        "Q19953632",
        "Q2577883",
        "Q842112",
        "Q7275",
        "Q148837",
        "Q50068795",
        "Q11396118",
        "Q170156",
        "Q188800",
    ),
    *("Q26830017", "Q164950", "Q426759", "Q20203507", "Q48349", "Q1351282"),
    *("Q12356456", "Q5164076"),  # viceroyalty (New France), constituent state (the Czech Socialist Republic)
    # Protectorate, colony, dominion, realm, Chinese dynasty, princely state, principality, duchy, historical region.
    *("Q164142", "Q133156", "Q223832", "Q1250464", "Q12857432", "Q1336152", "Q208500", "Q154547", "Q1620908"),
}
# Not in the extract: the Korean Empire, by four programs' lists of Korea's states.
UNSEEN = {"Q28233"}


def test_countries_are_those_of_iso_3166_with_the_names_of_cldr() -> None:
    names = country_names("en")
    codes = {code for code in names if re.fullmatch("[A-Z]{2}", code)} - NOT_ISO
    assert set(CATALOG.countries) == codes
    assert len(codes) == 249
    everyday = {"HK": "Hong Kong", "MO": "Macao"}  # CLDR has their official form: Hong Kong SAR China
    shown = {code: country.name for code, country in CATALOG.countries.items()}
    assert shown == {code: names[code] for code in codes} | everyday
    assert all(country.confirmed for country in CATALOG.countries.values())


def test_every_country_has_a_name_in_every_language() -> None:
    for language in CATALOG.languages:
        names = country_names(language)
        assert CATALOG.countries.keys() <= names.keys(), language
    assert (country_names("zh-tw")["KE"], country_names("zh")["KE"]) == ("肯亞", "肯尼亚")
    assert country_names("no such language") == {}


def test_an_item_stands_for_what_it_says() -> None:
    own = [country.qid for country in CATALOG.countries.values()]
    assert len(set(own)) == len(own)
    assert not set(own) & set(CATALOG.former_states)
    items, divided = CATALOG.country_items, CATALOG.divided_states
    assert (items["Q17"], items["Q22"], items["Q16957"]) == (("JP",), ("GB",), ("DE",))
    for korea in ("Q18097", "Q28179", "Q28208", "Q28233", "Q503585"):
        assert (divided[korea].heirs, divided[korea].principal) == (("KP", "KR"), "KR")
    assert {len(countries) for countries in items.values()} == {1}
    assert (len(divided["Q15180"].heirs), divided["Q15180"].principal) == (15, None)
    assert divided["Q33946"].heirs == ("CZ", "SK")
    assert (divided["Q34266"].principal, items["Q8733"], items["Q43287"]) == ("RU", ("CN",), ("DE",))
    assert not divided.keys() & items.keys()
    assert {len(set(state.heirs)) - len(state.heirs) for state in divided.values()} == {0}
    assert all(state.principal is None or state.principal in state.heirs for state in divided.values())
    known = {code for state in CATALOG.former_states.values() for code in state.heirs}
    assert known <= CATALOG.countries.keys()


def test_every_country_but_antarctica_has_one_region() -> None:
    assert len(CATALOG.regions) == 22
    assert CATALOG.countries.keys() - CATALOG.region_of.keys() == {"AQ"}
    assert len(CATALOG.region_of) == sum(len(region.countries) for region in CATALOG.regions.values())
    assert len({region.m49 for region in CATALOG.regions.values()}) == 22
    assert {CATALOG.region_of[code].m49 for code in ("JP", "TW", "KP")} == {"030"}
    assert {CATALOG.region_of[code].name for code in ("IR", "IN")} == {"Southern Asia"}


def test_real_items_have_the_names_and_classes_of_the_catalogue(shared_data: Path) -> None:
    """A wrong QID is another item, with another name or of another class (Georgia)."""
    items, _ = real_items(shared_data / "wikidata" / "slice.json.gz")
    expected = {country.qid: OTHER_NAMES.get(code, country.name) for code, country in CATALOG.countries.items()}
    confirmed = {qid for qid, state in CATALOG.former_states.items() if state.sources}
    expected |= {qid: state.name for qid, state in CATALOG.former_states.items() if qid not in confirmed | UNSEEN}
    included = {qid for country in CATALOG.countries.values() for qid in country.includes} - UNSEEN
    assert items.keys().isdisjoint(confirmed | UNSEEN)
    assert all(len(CATALOG.former_states[qid].sources) > 1 for qid in confirmed)
    assert {*expected, *included} <= items.keys()
    wrong = {qid: name for qid, name in expected.items() if folded(name) not in items[qid][0]}
    assert wrong == {}
    former = {*CATALOG.former_states, *(qid for qid, codes in CATALOG.country_items.items() if len(codes) > 1)}
    allowed = {qid: PLACES | FORMER if qid in former else PLACES for qid in {*expected, *included}}
    assert {qid for qid, classes in allowed.items() if not items[qid][1] & classes} == set()


def test_the_catalogue_knows_the_countries_that_real_items_name(shared_data: Path) -> None:
    """Of all statements of origin, citizenship and country in the extract: what they name is a country, or was one."""
    _, named = real_items(shared_data / "wikidata" / "slice.json.gz")
    known = CATALOG.country_items.keys() | CATALOG.divided_states.keys()
    assert named.total() > 10_000
    assert sum(count for qid, count in named.items() if qid in known) / named.total() > 0.99


def folded(name: str) -> str:
    return name.casefold().replace(" & ", " and ").replace("st. ", "saint ")


@cache
def real_items(file: Path) -> tuple[dict[str, tuple[set[str], set[str]]], Counter[str]]:
    """English names and classes of the items that the catalogue names; how often items are named as a country."""
    wanted = {*CATALOG.former_states, *(qid for country in CATALOG.countries.values() for qid in country.items)}
    decode, found, named = decoder(("en",)), {}, Counter[str]()
    with gzip.open(file, "rb") as lines:
        for line in lines:
            text = line.strip().rstrip(b",")
            if text in (b"[", b"]", b""):
                continue
            item = decode(text)
            claims = item.claims or Claims()
            for statements in (claims.P17, claims.P27, claims.P495) if isinstance(claims, Claims) else ():
                named.update(f"Q{target}" for target in best_targets(statements))
            if item.id in wanted:
                found[item.id] = (
                    set(map(folded, names_of(item))),
                    {f"Q{target}" for target in best_targets(claims.P31)},
                )
    return found, named


def names_of(item: Any) -> list[str]:
    labels, aliases = (getattr(texts, "language_0", None) for texts in (item.labels, item.aliases))
    return [text.value for text in (*([labels] if labels else []), *(aliases or ()))]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Korea", {"KP", "KR"}), ("England", {"GB"}), ("Ivory Coast", {"CI"}), ("Persia", {"IR"}), ("Germny", {"DE"})],
)
def test_a_name_of_a_country_leads_to_all_that_may_be_meant(written: str, meant: set[str]) -> None:
    with pytest.raises(CatalogError) as told:
        read_catalog().country(written)
    assert set(re.findall(r"'([A-Z]{2})'", str(told.value))) == meant


@pytest.mark.parametrize(("written", "meant"), [("Chinese", {"zh", "zh-tw"}), ("Mandarin", {"zh"}), ("englsh", {"en"})])
def test_a_name_of_a_language_leads_to_all_that_may_be_meant(written: str, meant: set[str]) -> None:
    with pytest.raises(CatalogError) as told:
        read_catalog().language(written)
    assert set(re.findall(r"'([a-z-]+)' \(", str(told.value))) == meant


def test_a_name_that_is_no_misspelt_one_of_a_known_language_leads_to_none() -> None:
    with pytest.raises(CatalogError, match="Known: am"):
        read_catalog().language("Norwegian")
