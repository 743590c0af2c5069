"""Reads the catalogue's TOML files, the built-in ones and a user's."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from polyculture.cache.catalog.faults import explain
from polyculture.cache.catalog.model import Catalog, Country, Language, Topic
from polyculture.cache.errors import CatalogError, did_you_mean

BUILT_IN = Path(__file__).parent
Model = TypeVar("Model", bound=BaseModel)


def read_catalog(user_folder: Path | None = None) -> Catalog:
    """The built-in catalogue, with the files of `user_folder/topics` and `user_folder/languages` put over it.

    Raises `CatalogError`, naming file and place, for a file that is no TOML or does not fit, and for a folder that is
    not there or holds neither.
    """
    if user_folder is not None and not any((user_folder / part).is_dir() for part in ("topics", "languages")):
        raise CatalogError("holds neither topics/ nor languages/", where=user_folder, remedy="Correct the path.")
    folders = [BUILT_IN] if user_folder is None else [BUILT_IN, user_folder]
    countries = {
        code: parse_model(Country, {"code": code, **row}, BUILT_IN / "countries.toml")
        for code, row in read_toml(BUILT_IN / "countries.toml").items()
    }
    catalog = Catalog(
        topics=_read_folders(folders, "topics", Topic),
        languages=_read_folders(folders, "languages", Language),
        countries=countries,
    )
    if user_folder is not None:
        _check_countries(catalog, user_folder)
    return catalog


def _check_countries(catalog: Catalog, folder: Path) -> None:
    """Raises `CatalogError` where a user's language is native to a country that the catalogue does not have."""
    for file in sorted((folder / "languages").glob("*.toml")):
        for code in catalog.languages[file.stem].native_countries:
            if code not in catalog.countries:
                remedy = did_you_mean(code, catalog.countries)
                raise CatalogError(f"native_countries: unknown country {code!r}", where=file, remedy=remedy)


def _read_folders(folders: list[Path], name: str, model: type[Model]) -> dict[str, Model]:
    files = [file for folder in folders for file in sorted((folder / name).glob("*.toml"))]
    found: dict[str, Model] = {}
    for file in files:
        data = read_toml(file)
        if data.get("code") != file.stem:
            raise CatalogError(f"code is {data.get('code')!r}", where=file, remedy=f"Write code = {file.stem!r}.")
        found[file.stem] = parse_model(model, data, file)
    return found


def read_toml(file: Path, error: type[CatalogError] = CatalogError) -> dict[str, Any]:
    """The file's table; `CatalogError` with the line where it is no TOML, or why it cannot be read."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as fault:
        raise error(f"not valid TOML: {fault}", where=file, remedy="Correct that line.") from fault
    except (OSError, UnicodeDecodeError) as fault:
        raise error(f"cannot be read: {fault}", where=file) from fault


def parse_model(model: type[Model], data: dict[str, Any], file: Path) -> Model:
    """`data` as a `model`; `CatalogError` that names the file, the key and what is wrong with it."""
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        what, remedy = explain(fault, model)
        raise CatalogError(what, where=file, remedy=remedy) from fault
