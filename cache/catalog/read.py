"""Reads the catalogue's TOML files, the built-in ones and a user's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from polyculture.cache.catalog.facts import language_facts
from polyculture.cache.catalog.model import Catalog, Country, Language, Region, Topic, country_remedy
from polyculture.cache.catalog.pack import GOLD, PACK, Pack, PackFile, pack_sha256
from polyculture.cache.errors import CatalogError
from polyculture.cache.text.inflection import base_language
from polyculture.cache.toml_files import Model, parse_model, read_toml

BUILT_IN = Path(__file__).parent
COUNTRIES, REGIONS = "countries.toml", "regions.toml"
PARTS = ("topics", "languages", COUNTRIES, REGIONS, GOLD)  # of which a pack holds one at least


def read_catalog(*packs: Path) -> Catalog:
    """The built-in catalogue, with the files of packs put over it.

    Of a known country a pack says what is new, of another also its name and QID. Regions are taken whole: a pack's are
    used instead of the built-in ones.

    Raises `CatalogError`, naming file and place, for a file that is no TOML or does not fit, for a folder that is not
    there or holds nothing of a pack, and where two packs say the same thing.
    """
    if not packs:
        return _built_in()
    read = tuple(read_pack(folder) for folder in packs)
    for number, pack in enumerate(packs):
        for other in packs[:number]:
            _check_clash(other, pack)
    catalog = _read([BUILT_IN, *packs]).model_copy(update={"packs": read})
    for folder in packs:
        _check_countries(catalog, folder)
        _check_keys(catalog, folder)
    return catalog


def read_pack(folder: Path) -> Pack:
    """A pack's name, version and content hash. Raises `CatalogError` where the folder is none.

    A single file of a language or of a topic is a pack, too.
    """
    if folder.is_file():
        return Pack(folder=folder, name=folder.stem, version=None, sha256=pack_sha256(folder))
    if not any((folder / part).exists() for part in PARTS):
        what = "is no culture pack: has neither topics/ nor languages/, countries.toml, regions.toml or gold/"
        raise CatalogError(what, where=folder, remedy="Correct the path.")
    name, version = folder.resolve().name, None
    if (file := folder / PACK).exists():
        said = parse_model(PackFile, read_toml(file), file)
        name, version = said.name, said.version
    try:
        return Pack(folder=folder, name=name, version=version, sha256=pack_sha256(folder))
    except OSError as fault:
        raise CatalogError(f"cannot be read: {fault.strerror or fault}", where=fault.filename or folder) from fault


def _check_clash(first: Path, second: Path) -> None:
    """Raises `CatalogError` where two packs have the same topic, language, regions, or fact of a country."""
    one, other = _says(first), _says(second)
    if both := sorted(one.keys() & other.keys()):
        more = f" (and {len(both) - 1} more)" if both[1:] else ""
        what = f"{both[0]} is in the pack {first}, too{more}"
        raise CatalogError(what, where=second, remedy="Remove it from one of the two, or name one pack alone.")


def _says(folder: Path) -> dict[str, Path]:
    """What a pack says, as places: languages/sw.toml, countries.toml: KE.wording.sw."""
    places = {f"{part}/{file.name}": file for part in ("topics", "languages") for file in own_files(folder, part)}
    places |= {file.name: file for file in _files([folder], REGIONS)}
    for file in _files([folder], COUNTRIES):
        for code, row in read_toml(file).items():
            for key, value in row.items() if isinstance(row, dict) else ():
                parts = [f"{key}.{part}" for part in value] if key == "wording" and isinstance(value, dict) else [key]
                places |= {f"{COUNTRIES}: {code}.{part}": file for part in parts}
    return places


@cache  # it cannot change, and a command asks for it several times
def _built_in() -> Catalog:
    return _read([BUILT_IN])


def _read(folders: list[Path]) -> Catalog:
    countries = _read_countries(folders)
    return Catalog(
        topics={
            file.stem: _read_one(file, Topic).model_copy(update={"file": file})
            for file in _all_files(folders, "topics")
        },
        languages={file.stem: _read_language(file) for file in _all_files(folders, "languages")},
        countries=countries,
        regions=_read_regions(folders, countries),
    )


def _read_countries(folders: list[Path]) -> dict[str, Country]:
    rows: dict[str, dict[str, Any]] = {}
    files: dict[str, Path] = {}
    for file in _files(folders, COUNTRIES):
        for code, row in read_toml(file).items():
            if not isinstance(row, dict):
                raise CatalogError(f"{code}: is no table", where=file, remedy=f"Write [{code}] above its keys.")
            before = rows.get(code, {})
            wording = {**before.get("wording", {}), **row["wording"]} if isinstance(row.get("wording"), dict) else None
            rows[code] = {"code": code, **before, **row, **({} if wording is None else {"wording": wording})}
            files[code] = file
    return {code: parse_model(Country, row, files[code]) for code, row in rows.items()}


def _read_regions(folders: list[Path], countries: Mapping[str, Country]) -> dict[str, Region]:
    """The regions of the last folder that has any; each country must be known, and in one of them at most."""
    file = _files(folders, REGIONS)[-1]
    regions: dict[str, Region] = {}
    place: dict[str, str] = {}
    for code, row in read_toml(file).items():
        data = {"code": code, **row} if isinstance(row, dict) else {"code": code}
        regions[code] = parse_model(Region, data, file)
        for country in regions[code].countries:
            if country not in countries:
                remedy = country_remedy(country, countries)
                raise CatalogError(f"{code}.countries: unknown country {country!r}", where=file, remedy=remedy)
            if country in place:
                what = f"{code}.countries: {country} is in {place[country]}, too"
                raise CatalogError(what, where=file, remedy="Name it once.")
            place[country] = code
    return regions


def own_files(pack: Path, part: str) -> list[Path]:
    """The files of a pack's topics or languages. Of a pack that is one file: itself, where it is one of these."""
    if pack.is_file():
        return [pack] if part == ("topics" if "kinds" in read_toml(pack) else "languages") else []
    return sorted((pack / part).glob("*.toml"))


def _all_files(packs: list[Path], part: str) -> list[Path]:
    return [file for pack in packs for file in own_files(pack, part)]


def _files(folders: list[Path], name: str) -> list[Path]:
    return [folder / name for folder in folders if (folder / name).exists()]


def _check_countries(catalog: Catalog, folder: Path) -> None:
    """Raises `CatalogError` where a user's language names a country that the catalogue does not have."""
    for file in own_files(folder, "languages"):
        language = catalog.languages[file.stem]
        for key, codes in (
            ("first_country", [language.first_country]),
            ("native_countries", language.native_countries),
        ):
            for code in codes:
                if code not in catalog.countries:
                    remedy = country_remedy(code, catalog.countries)
                    raise CatalogError(f"{key}: unknown country {code!r}", where=file, remedy=remedy)


def _check_keys(catalog: Catalog, folder: Path) -> None:
    """Raises `CatalogError` for rules of keys of a language whose names are another's, too, which has others."""
    own = [(file, catalog.languages[file.stem]) for file in own_files(folder, "languages")]
    for file, language in own:
        for other in catalog.languages.values() if language.key else ():
            variant = not other.key and base_language(other.code) == base_language(language.code)  # zh-tw takes zh's
            if other.names_in == language.names_in and other.key != language.key and not variant:
                what = f"key: Wikidata's names in {language.names_in} are those of {other.code}, too"
                remedy = f"Write the same rules in languages/{other.code}.toml, or leave them out here."
                raise CatalogError(what, where=file, remedy=remedy)


def _read_language(file: Path) -> Language:
    """A language: what its file says, and for the rest what data say."""
    return _read_one(file, Language, language_facts(file.stem).of_catalog).model_copy(update={"file": file})


def _read_one(file: Path, model: type[Model], known: Mapping[str, Any] | None = None) -> Model:
    data = read_toml(file)
    if data.get("code") != file.stem:
        raise CatalogError(f"code is {data.get('code')!r}", where=file, remedy=f"Write code = {file.stem!r}.")
    return parse_model(model, {**(known or {}), **data}, file)
