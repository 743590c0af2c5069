"""The keys of a snapshot: of a language whose rules have changed since it was built they are made anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.text.inflection import InflectionRule, base_language
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.index.tables import TABLES
from polyculture.link.keys import NO_RULES, keys_of

_BATCH = 1_000_000  # names at a time
_NAMES = "SELECT item, language, name, kind, normalised FROM {}.names WHERE language = $language"
_VIEW = """
    CREATE OR REPLACE TEMP VIEW keys AS
    FROM {0}.keys WHERE language NOT IN (SELECT language FROM changed) UNION ALL FROM new_keys
"""


def create_keys(
    connection: duckdb.DuckDBPyConnection,
    snapshot: Snapshot,
    schema: str,
    languages: frozenset[str],
    packs: Mapping[str, Sequence[InflectionRule]] = NO_RULES,
) -> None:
    """Creates the view `keys` of the snapshot that is attached as `schema`, for names in these `languages`.

    What is made anew lasts as long as the connection: building the snapshot again keeps it. No snapshot keeps keys by
    the rules of `packs`: one file serves all.
    """
    changed = sorted(name for name in languages if name in snapshot.changed_keys or base_language(name) in packs)
    if not changed:
        connection.execute(f"CREATE OR REPLACE TEMP VIEW keys AS FROM {schema}.keys")
        return
    connection.from_arrow(pa.table({"language": changed})).create("changed")
    connection.from_arrow(TABLES["keys"].empty_table()).create("new_keys")
    for language in changed:
        names = connection.cursor().sql(_NAMES.format(schema), params={"language": language})
        for batch in names.to_arrow_reader(_BATCH):
            rows = pa.Table.from_batches([batch])
            keys = keys_of(rows["normalised"].combine_chunks(), language, packs=packs)
            rows = rows.append_column("key", keys).filter(pc.not_equal(keys, rows["normalised"]))
            connection.from_arrow(rows.select(TABLES["keys"].names)).insert_into("new_keys")
    connection.execute(_VIEW.format(schema))
