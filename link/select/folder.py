"""Writes a starter: a folder with the Parquet tables of a `Selection`, a manifest and a page about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import replacing
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.select.selection import ROLES, Selection, StarterRules

LICENCE = "CC0-1.0"
MANIFEST, README = "manifest.json", "README.md"
FIRST = 4096  # items that are tried first

Files = dict[str, bytes]  # by name


@dataclass(frozen=True, slots=True)
class StarterReport:
    """What was written: the manifest, and how many candidates the limit left out."""

    manifest: dict[str, Any]
    cut: int


def write_starter_folder(snapshot: Snapshot, catalog: Catalog, out: Path, rules: StarterRules) -> StarterReport:
    """Writes the starter of `snapshot` into the folder `out`, over the files of an older one; other files there stay.

    The same snapshot, catalogue and rules give the same bytes. Raises `SnapshotError` where the snapshot has nothing
    to take, or the limit holds no item; `StoreError` where `out` cannot be written.
    """
    with Selection(snapshot, catalog, rules) as selection:
        most, files = _fitting(selection, int(rules.megabytes * 1e6))
        if not most:
            what = f"a starter of one item exceeds {rules.megabytes:g} MB"
            raise SnapshotError(what, where=out, remedy="Allow more --megabytes.")
        cut = selection.candidates - most + selection.beyond
        manifest = _manifest(snapshot, rules, selection, files, cut)
    files[MANIFEST] = orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    files[README] = _page(manifest)
    for name, content in files.items():
        with replacing(out / name) as temporary:
            temporary.write_bytes(content)
    return StarterReport(manifest, cut)


def _fitting(selection: Selection, limit: int) -> tuple[int, Files]:
    """The largest number of items whose files take at most `limit` bytes, and these files."""
    files, low, high = _tables(selection, 0), 0, min(FIRST, selection.candidates)
    while True:
        tried = _tables(selection, high)
        if sum(map(len, tried.values())) > limit:
            break
        files, low = tried, high
        if high == selection.candidates:
            return low, files
        high = min(2 * high, selection.candidates)
    while high - low > 1:
        middle = (low + high) // 2
        tried = _tables(selection, middle)
        if sum(map(len, tried.values())) > limit:
            high = middle
        else:
            files, low = tried, middle
    selection.take(low)  # what is counted afterwards
    return low, files


def _tables(selection: Selection, most: int) -> Files:
    return {f"{name}.parquet": _parquet(table) for name, table in selection.take(most).items()}


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=19, write_statistics=False)
    return bytes(sink.getvalue())


def _manifest(snapshot: Snapshot, rules: StarterRules, selection: Selection, files: Files, cut: int) -> dict[str, Any]:
    counted = selection.counts()
    roles = Counter(pq.read_table(pa.BufferReader(files["items.parquet"]))["role"].to_pylist())
    meta = snapshot.meta
    return {
        "licence": LICENCE,
        "snapshot": {
            "identity": snapshot.identity,
            "source": meta["source"],
            "file": meta.get("file"),
            "latest_change": meta.get("modified"),
            "items": meta["counts"]["items"],
        },
        "rules": {
            "names_in_languages": rules.languages,
            "megabytes": rules.megabytes,
            "claims_left_out": len(rules.without),
        },
        "items": {role: roles[role] for role in ROLES},
        "left_out": {**selection.left_out, "beyond the size": cut},
        "by_topic": {row["topic"]: row["items"] for row in counted if row["kind"] is None},
        "by_kind": _by_kind(counted),
        "bytes": {name: len(content) for name, content in files.items()},
    }


def _by_kind(counted: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, int]]]:
    """Items by topic, kind and language of their names; under `all` in any language."""
    by_topic: dict[str, dict[str, dict[str, int]]] = {}
    for row in counted:
        if row["kind"] is not None:
            by_topic.setdefault(row["topic"], {}).setdefault(row["kind"], {})[row["language"] or "all"] = row["items"]
    return by_topic


def _page(manifest: dict[str, Any]) -> bytes:
    text = Path(__file__).with_name("readme.jinja").read_text(encoding="utf-8")
    template = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True).from_string(text)  # noqa: S701
    languages = sorted(
        {code for kinds in manifest["by_kind"].values() for counts in kinds.values() for code in counts} - {"all"}
    )
    text = template.render(**{**manifest, "roles": manifest["items"], "languages": ["all", *languages]})
    return (text.rstrip() + "\n").encode()
