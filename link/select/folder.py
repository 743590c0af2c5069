"""Writes a starter: a folder with the Parquet tables of a `Selection`, a manifest and a page about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.select.selection import ROLES, Selection, StarterRules, select

LICENCE = "CC0-1.0"
MANIFEST, README = "manifest.json", "README.md"


def write_starter_folder(snapshot: Snapshot, catalog: Catalog, out: Path, rules: StarterRules) -> dict[str, Any]:
    """Writes the starter of `snapshot` into the folder `out`, over the files of an older one; other files there stay.

    Returns the manifest. The same snapshot, catalogue and rules give the same bytes. Raises `SnapshotError` where the
    snapshot has nothing to take, `StoreError` where `out` cannot be written.
    """
    selection = select(snapshot, catalog, rules)
    files = {f"{name}.parquet": _parquet(table) for name, table in selection.tables.items()}
    manifest = _manifest(snapshot, rules, selection, files)
    files[MANIFEST] = orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    files[README] = _page(manifest)
    for name, content in files.items():
        with replacing(out / name) as temporary:
            temporary.write_bytes(content)
    return manifest


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=19, write_statistics=False)
    return bytes(sink.getvalue())


def _manifest(
    snapshot: Snapshot, rules: StarterRules, selection: Selection, files: Mapping[str, bytes]
) -> dict[str, Any]:
    counted, roles = selection.counts, Counter(selection.tables["items"]["role"].to_pylist())
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
        "rules": {"names_in_languages": rules.languages, "first": rules.most},
        "items": {role: roles[role] for role in ROLES},
        "left_out": selection.left_out,
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
