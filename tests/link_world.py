"""A small Wikidata for tests of linking: a few classes and items in the form of a dump."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from polyculture.cache.catalog import read_catalog
from polyculture.cache.identity import file_sha256
from polyculture.link.dumps.build import build_index
from polyculture.link.forms import Forms
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.linker import Linker
from polyculture.link.queries import QUERY_COLUMNS

CATALOG = read_catalog()
LANGUAGES = CATALOG.label_languages
Entity = dict[str, Any]


def item(
    qid: str,
    labels: Mapping[str, str] | str = "",
    aliases: Mapping[str, Sequence[str]] | None = None,
    sitelinks: int | None = 0,
    **claims: Sequence[str | Entity] | str,
) -> Entity:
    """An item; `labels` by language or the English one, claims as P31="Q5" or P31=["Q5", statement("Q6"), ...].

    Without sitelinks (None) the record says nothing of them.
    """
    texts = {"en": labels} if isinstance(labels, str) else labels
    named = {code: [targets] if isinstance(targets, str) else targets for code, targets in claims.items()}
    known = {} if sitelinks is None else {"sitelinks": {f"s{number}wiki": {} for number in range(sitelinks)}}
    return {
        "type": "item",
        "id": qid,
        "labels": {code: {"language": code, "value": text} for code, text in texts.items() if text},
        "descriptions": {},
        "aliases": {
            code: [{"language": code, "value": name} for name in names] for code, names in (aliases or {}).items()
        },
        "claims": {
            code: [one if isinstance(one, dict) else statement(one) for one in targets]
            for code, targets in named.items()
        },
        **known,
    }


def statement(target: str, rank: str = "normal", snaktype: str = "value", ended: str | None = None) -> dict[str, Any]:
    """A statement whose value is an item; `ended`: the year in which it ended (P582)."""
    value = {"entity-type": "item", "numeric-id": int(target[1:]), "id": target}
    snak = {"snaktype": snaktype, "datavalue": {"value": value, "type": "wikibase-entityid"}}
    if snaktype != "value":
        del snak["datavalue"]
    whole = {"mainsnak": snak, "type": "statement", "rank": rank}
    if ended is None:
        return whole
    end = {"snaktype": "value", "datavalue": {"type": "time", "value": {"time": f"{ended}-01-01T00:00:00Z"}}}
    return {**whole, "qualifiers": {"P582": [end]}}


CLASSES = [
    item("Q5", "human"),
    item("Q2095", "food"),
    item("Q746549", "dish", P279="Q2095"),
    item("Q40050", "drink", P279="Q2095"),
    item("Q2088357", "musical ensemble"),
    item("Q2188189", "musical work"),
    item("Q7725634", "literary work"),
    item("Q42889", "vehicle"),
]


def write_dump(path: Path, entities: Iterable[Entity]) -> Path:
    """The entities as an uncompressed dump: an array with an item per line."""
    path.write_bytes(b"[\n" + b",\n".join(orjson.dumps(entity) for entity in entities) + b"\n]\n")
    return path


_BUILT = tempfile.TemporaryDirectory(prefix="worlds-")


def index_of(folder: Path, entities: Iterable[Entity]) -> Snapshot:
    """An index over the entities and `CLASSES`, in a file of the caller's own: many tests look into the same world."""
    dump, out = write_dump(folder / "dump.json", [*CLASSES, *entities]), folder / "index.duckdb"
    built = Path(_BUILT.name, file_sha256(dump))
    if not built.is_file():
        build_index(dump, built, LANGUAGES)
    shutil.copyfile(built, out)
    return open_snapshot(out)


def queries(*rows: Sequence[str | None]) -> pa.Table:
    """Queries from (language, topic, kind, surface), and perhaps name and English name."""
    schema = pa.schema([(name, pa.string()) for name in QUERY_COLUMNS])
    full = [(*row, *[None] * (len(QUERY_COLUMNS) - len(row))) for row in rows]
    return pa.Table.from_pylist([dict(zip(QUERY_COLUMNS, row, strict=True)) for row in full], schema=schema)


def link_all(source: Any, *rows: Sequence[str | None], forms: Forms = "all") -> dict[str, pa.Table]:
    """All tables of the linker for the queries."""
    return Linker(CATALOG, source, forms).link(queries(*rows))


def link_one(source: Any, *row: str | None, forms: Forms = "all") -> dict[str, Any]:
    """The link of one (language, topic, kind, surface), and perhaps name and English name."""
    (found,) = link_all(source, row, forms=forms)["links"].to_pylist()
    return dict(found)
