"""What people call countries leads to the right one, to several that are named, or to none: never to another."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from polyculture.cache.catalog import WrittenNames, read_catalog
from polyculture.cache.catalog.cldr import country_names
from polyculture.cache.errors import CatalogError
from tests.cache.test_catalog import real_items

CATALOG = read_catalog()
NAMES, EVERYWHERE = WrittenNames(CATALOG), WrittenNames(CATALOG, everywhere=True)
# CLDR's English names with alt="short" or "variant" (47), which the package babel leaves out.
OTHER_FORMS = {
    "Bosnia": "BA", "Cocos Islands": "CC", "Congo (DRC)": "CD", "Congo (Republic)": "CG", "Ivory Coast": "CI",
    "Cabo Verde": "CV", "Czech Republic": "CZ", "Falkland Islands (Islas Malvinas)": "FK", "UK": "GB",
    "Hong Kong": "HK", "Chagos Archipelago": "IO", "Myanmar": "MM", "Macao": "MO", "Aotearoa New Zealand": "NZ",
    "Pitcairn": "PN", "Palestine": "PS", "Swaziland": "SZ", "East Timor": "TL", "Turkey": "TR", "US": "US",
}  # fmt: skip
EVERYDAY = {
    "America": "US", "the United States of America": "US", "U.S.A.": "US", "Britain": "GB", "England": "GB",
    "Holland": "NL", "The Netherlands": "NL", "Czechia": "CZ", "Slovak Republic": "SK", "Macedonia": "MK",
    "Bosnia and Herzegovina": "BA", "Bosnia-Herzegovina": "BA", "Russian Federation": "RU", "Vatican": "VA",
    "Holy See": "VA", "Türkiye": "TR", "TÜRKİYE": "TR", "Persia": "IR", "Iran (Islamic Republic of)": "IR",
    "UAE": "AE", "Saudi": "SA", "Burma": "MM", "Siam": "TH", "Ceylon": "LK", "Viet Nam": "VN", "Hongkong": "HK",
    "Macau": "MO", "Hong Kong SAR, China": "HK", "Macao SAR China": "MO",
    "South Korea": "KR", "South_Korea": "KR", "Korea, Republic of": "KR", "North Korea": "KP",
    "PRC": "CN", "Republic of China": "TW", "State of Palestine": "PS",
    "DRC": "CD", "Congo-Kinshasa": "CD", "Congo (the Democratic Republic of the)": "CD",
    "Taiwan (Province of China)": "TW", "Bolivia (Plurinational State of)": "BO",
    "Republic of the Congo": "CG", "Cote d'Ivoire": "CI", "Cape Verde": "CV", "Reunion": "RE", "Curacao": "CW",
    "Sao Tome and Principe": "ST", "St Lucia": "LC", "Saint Lucia": "LC", "Trinidad and Tobago": "TT",
    "The Gambia": "GM", "Republic of Kenya": "KE", "Kingdom of Lesotho": "LS", "Aland": "AX", "🇫🇷": "FR",
}  # fmt: skip
# One name, several countries.
SHARED = {
    "Congo": ("CD", "CG"), "Kongo": ("CD", "CG"), "People's Republic of the Congo": ("CD", "CG"),
    "Korea": ("KP", "KR"), "Virgin Islands": ("VG", "VI"), "Saint-Martin": ("MF", "SX"), "Guyane": ("GF", "GY"),
    "Czechoslovakia": ("CZ", "SK"), "Soviet Union": ("EE", "RU", "UA"), "Yugoslavia": ("HR", "RS", "SI"),
}  # fmt: skip


@pytest.mark.parametrize(("written", "country"), [*OTHER_FORMS.items(), *EVERYDAY.items()])
def test_an_everyday_name_is_that_of_its_country(written: str, country: str) -> None:
    assert NAMES.country(written) == country


@pytest.mark.parametrize(("written", "countries"), SHARED.items())
def test_a_name_of_several_countries_is_refused_with_all_of_them(written: str, countries: tuple[str, ...]) -> None:
    assert NAMES.country(written) is None
    with pytest.raises(CatalogError) as refused:
        CATALOG.country(written)
    remedy = refused.value.remedy or ""
    assert [code for code in countries if f"{code!r} ({CATALOG.countries[code].name})" not in remedy] == []


@pytest.mark.parametrize("written", ["State of Georgia", "the state of México", "Estado de México"])
def test_a_state_within_a_country_is_no_country(written: str) -> None:
    assert NAMES.country(written) is None


@pytest.mark.parametrize(("written", "country"), [("Palestne", "PS"), ("Timor", "TL"), ("Arabia", "SA")])
def test_a_name_that_is_almost_right_gets_the_code(written: str, country: str) -> None:
    with pytest.raises(CatalogError, match=f"Did you mean '{country}'"):
        CATALOG.country(written)


def test_no_name_of_cldr_leads_to_another_country() -> None:
    """In each language of the catalogue, but for names that a language's file replaces since they are wrong."""
    wrong = {
        (code, language, name, found)
        for language in CATALOG.languages
        for code, name in country_names(language).items()
        if code in CATALOG.countries
        if (found := EVERYWHERE.country(name)) not in (code, None)
    }
    assert {(language, code) for code, language, *_ in wrong} == {("yo", "KP"), ("yo", "KR")}


def test_the_congos_are_told_apart_in_no_language_by_the_name_of_both() -> None:
    bare = {
        names[code]
        for names in map(country_names, CATALOG.languages)
        for code, other in permutations(("CD", "CG"))
        if names[code] in names[other]
    }
    assert "Congo" in bare
    assert {name for name in bare if EVERYWHERE.country(name)} == set()


def test_what_wikidata_calls_countries_leads_to_no_other(shared_data: Path) -> None:
    items, _ = real_items(shared_data / "wikidata" / "slice.json.gz")
    named = [(one.code, name) for one in CATALOG.countries.values() for name in items[one.qid][0] if len(name) > 3]
    found = [(code, name, NAMES.country(name)) for code, name in named]
    assert [row for row in found if row[2] not in (row[0], None)] == []
    assert sum(country is not None for *_, country in found) > 0.5 * len(found)
