"""The starter snapshot: entities, some hundred written by hand in `starter/*.toml`, thousands made from a snapshot.

A table of a TOML file is an item: labels and aliases by language, the claims that linking needs, its kind within the
topic (the file's name), and how its QID was confirmed. Beside them stand the Parquet tables that `polyculture wikidata
starter` writes. What is written by hand comes first: of such an item the tables add names alone, as aliases. The
snapshot has the same form as one of a dump.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, model_validator

from polyculture.cache.catalog.model import QID
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.link.entity import PROPERTIES
from polyculture.link.entity_json import EntityRows
from polyculture.link.index.assemble import write_snapshot
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.index.starter_files import MADE, STARTER, starter_identity
from polyculture.link.index.tables import SCHEMAS, ArrowTables
from polyculture.link.keys import keys_of
from polyculture.link.normalise import fold_of, normalise_array
from polyculture.link.statements import statement

REMEDY = "Make the folder again: polyculture wikidata starter SNAPSHOT -o FOLDER --replace"
UNCOUNTED = ("class", "country", "place")  # kinds of items that are here because other items refer to them


class StarterItem(BaseModel):
    """An item of the starter snapshot in its file."""

    model_config = ConfigDict(extra="allow", frozen=True)

    confirmed: str | tuple[str, ...]  # "slice", or the sources that were consulted
    description: str
    kind: str
    labels: Mapping[str, str] = Field(min_length=1)
    aliases: Mapping[str, tuple[str, ...]] = {}
    __pydantic_extra__: dict[str, tuple[QID, ...]]  # the statements, by property

    @model_validator(mode="after")
    def _properties_are_kept(self) -> StarterItem:
        if unknown := sorted(self.claims.keys() - set(PROPERTIES)):
            raise ValueError(f"{unknown[0]} is no property that a snapshot keeps; these are {', '.join(PROPERTIES)}")
        return self

    @property
    def claims(self) -> dict[str, tuple[str, ...]]:
        """The target items by property."""
        return self.__pydantic_extra__


def read_starter(folder: Path = STARTER) -> Iterator[tuple[str, str, StarterItem]]:
    """Yields file name (without ending), QID and item. Raises `CatalogError` for an invalid file."""
    for file in sorted(folder.glob("*.toml")):
        for qid, table in read_toml(file).items():
            yield file.stem, qid, parse_model(StarterItem, table, file)


def write_starter(out: Path, folder: Path = STARTER) -> Snapshot:
    """Builds the snapshot of a starter's folder.

    Raises `SnapshotError` where the folder holds no starter or a table of it is missing, `StoreError` where `out`
    cannot be written.
    """
    items = list(read_starter(folder))
    written = {language for _, _, item in items for language in (*item.labels, *item.aliases)}
    rows = EntityRows(written)
    for topic, qid, item in items:
        rows.add(_entity(qid, item))
        if item.kind not in UNCOUNTED:
            rows.add_kind(qid, topic, item.kind)
    source = {"kind": "starter", "identity": starter_identity(folder)}
    by_hand = rows.tables()
    made, languages = _made(folder, by_hand)
    if not items and not made:
        raise SnapshotError("holds no starter", where=folder, remedy=REMEDY)
    return write_snapshot(out, written | languages, [by_hand, *made], {"source": source, "complete": False})


def _entity(qid: str, item: StarterItem) -> dict[str, Any]:
    """The item in the form of a dump."""
    return {
        "type": "item",
        "id": qid,
        "labels": {language: _text(language, name) for language, name in item.labels.items()},
        "aliases": {language: [_text(language, name) for name in names] for language, names in item.aliases.items()},
        "descriptions": {"en": _text("en", item.description)},
        "claims": {code: [_statement(target) for target in targets] for code, targets in item.claims.items()},
    }


def _text(language: str, value: str) -> dict[str, str]:
    return {"language": language, "value": value}


def _statement(target: str) -> dict[str, Any]:
    return {"rank": "normal", "mainsnak": {"snaktype": "value", "datavalue": {"value": {"id": target}}}}


def _made(folder: Path, by_hand: ArrowTables) -> tuple[list[ArrowTables], set[str]]:
    """The rows of a folder's Parquet tables (`sql/starter_made.sql`), and the languages of their names.

    A folder without any gives nothing. Raises `SnapshotError` where a table is missing or of another form.
    """
    if not any((folder / name).exists() for name in MADE):
        return [], set()
    items, names, claims = (_read(folder / name) for name in MADE)
    languages = sorted(map(str, names["language"].unique().to_pylist()))
    names = pa.concat_tables(_normalised(names, language) for language in languages)
    tables = {"items": items, "names": names, "claims": claims}
    tables |= {f"own_{name}": by_hand[name] for name in ("items", "names")}
    with connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        connection.execute(statement("starter_made"))
        made = {name: connection.table(f"made_{name}").to_arrow_table() for name in ("items", "names", "claims")}
    return [{name: table.cast(SCHEMAS[name]) for name, table in made.items()}], set(languages)


def _read(file: Path) -> pa.Table:
    own = {"normalised", "key", "revision"}  # what is not written
    columns = [name for name in SCHEMAS[file.stem].names if name not in own]
    try:
        return pq.read_table(file, columns=[*columns, "role"] if file.stem == "items" else columns)
    except (OSError, pa.ArrowInvalid) as fault:
        what = f"is no table of a starter: {str(fault).splitlines()[0]}"
        raise SnapshotError(what, where=file, remedy=REMEDY) from fault


def _normalised(names: pa.Table, language: str) -> pa.Table:
    own = names.filter(pc.field("language") == language)
    folded = normalise_array(own["name"].combine_chunks(), fold_of(language))
    return own.append_column("normalised", folded).append_column("key", keys_of(folded, language))
