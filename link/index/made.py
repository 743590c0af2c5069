"""The part of a starter that was made from a snapshot: Parquet tables in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.errors import SnapshotError
from polyculture.link.index.starter_files import MADE
from polyculture.link.index.tables import SCHEMAS, ArrowTables
from polyculture.link.keys import keys_of
from polyculture.link.normalise import fold_of, normalise_array

REMEDY = "Make the folder again: polyculture wikidata starter SNAPSHOT -o FOLDER --replace"
_NAME = ("item", "language", "name")


def made_rows(folder: Path, by_hand: ArrowTables) -> tuple[list[ArrowTables], set[str]]:
    """The rows of a folder's Parquet tables, and the languages of their names; nothing for a folder without any.

    Of the items in `by_hand` only names are taken, as aliases, unless the item has them already. Raises
    `SnapshotError` where a table is missing or of another form.
    """
    if not any((folder / name).exists() for name in MADE):
        return [], set()
    items, names, claims = (_read(folder / name) for name in MADE)
    known = by_hand["items"]["item"]
    languages = sorted(map(str, names["language"].unique().to_pylist()))
    names = pa.concat_tables(_normalised(names, language) for language in languages)
    names = _beside(names, by_hand["names"], known, items.filter(pc.field("role") == "entity")["item"])
    tables = {
        "items": _other(items, known).append_column("revision", pa.nulls(len(_other(items, known)), pa.uint64())),
        "names": names,
        "claims": _other(claims, known),
    }
    made = {name: table.select(SCHEMAS[name].names).cast(SCHEMAS[name]) for name, table in tables.items()}
    return [made], set(languages)


def _read(file: Path) -> pa.Table:
    import pyarrow.parquet as pq  # here: a starter is made once

    try:
        table = pq.read_table(file)
    except (OSError, pa.ArrowInvalid) as fault:
        raise SnapshotError("is no table of a starter", where=file, remedy=REMEDY) from fault
    wanted = set(SCHEMAS[file.stem].names) - {"normalised", "key", "revision"} | (
        {"role"} if file.stem == "items" else set()
    )
    if not wanted <= set(table.column_names):
        lacking = ", ".join(sorted(wanted - set(table.column_names)))
        raise SnapshotError(f"is no table of a starter: it has no column {lacking}", where=file, remedy=REMEDY)
    return table


def _other(table: pa.Table, known: pa.ChunkedArray[Any]) -> pa.Table:
    """The rows of items that are not in `known`."""
    return table.filter(pc.invert(pc.is_in(table["item"], value_set=known)))


def _beside(
    names: pa.Table, by_hand: pa.Table, known: pa.ChunkedArray[Any], entities: pa.ChunkedArray[Any]
) -> pa.Table:
    """The names without those that stand in `by_hand`; further names of its items are aliases.

    A label written by hand leads to its item alone: others written by hand and `entities` lose such a name.
    """
    own = by_hand.set_column(1, "language", by_hand["language"].cast(pa.string()))
    own = own.set_column(3, "kind", own["kind"].cast(pa.string()))
    new = names.join(own.select(_NAME), keys=list(_NAME), join_type="left anti")
    written = pc.is_in(new["item"], value_set=known)
    new = new.set_column(new.column_names.index("kind"), "kind", pc.if_else(written, pa.scalar("alias"), new["kind"]))
    labels = own.filter(pc.field("kind") == "label").select(("language", "normalised"))
    open_to_all = pc.invert(pc.or_(written, pc.is_in(new["item"], value_set=entities)))
    others = new.filter(pc.invert(open_to_all)).join(labels, keys=["language", "normalised"], join_type="left anti")
    kept = pa.concat_tables([new.filter(open_to_all), others])
    return kept.sort_by([(name, "ascending") for name in _NAME])


def _normalised(names: pa.Table, language: str) -> pa.Table:
    own = names.filter(pc.field("language") == language)
    folded = normalise_array(own["name"].combine_chunks(), fold_of(language))
    return own.append_column("normalised", folded).append_column("key", keys_of(folded, language))
