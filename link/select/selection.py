"""Which items of a snapshot a starter holds, and their rows.

with Selection(snapshot, catalog, StarterRules()) as selection:
    tables = selection.take(5_000)
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.ontology import open_members
from polyculture.link.statements import statement

LANGUAGES = 3  # of the catalogue's in which an item must have a name
MEGABYTES = 3.0
LEAST_BYTES = 20  # an item with its names takes more: no starter holds more items than its limit by this
TABLES = ("items", "names", "claims")
ROLES = ("entity", "class", "creator", "country")
ClaimKey = tuple[int, str]  # an item's number, a property


@dataclass(frozen=True, slots=True)
class StarterRules:
    """What a starter takes: items with names in `languages` of the catalogue's, at most `megabytes` (10^6 bytes) of
    Parquet, and no claims of `without`."""

    languages: int = LANGUAGES
    megabytes: float = MEGABYTES
    without: frozenset[ClaimKey] = field(default_factory=frozenset)


def _ordinary_words(languages: Iterable[str]) -> pa.Table:
    """The words of `ordinary.toml` in each language: language, normalised."""
    words = tomllib.loads(Path(__file__).with_name("ordinary.toml").read_text(encoding="utf-8"))
    rows = [
        (language, word)
        for language in sorted(languages)
        for word in normalise([*words["any"], *words.get(language.partition("-")[0], ())], fold_of(language))
    ]
    return pa.table({"language": [language for language, _ in rows], "normalised": [word for _, word in rows]})


class Selection:
    """The candidates of a snapshot, in the order of `sql/starter_candidates.sql`."""

    def __init__(self, snapshot: Snapshot, catalog: Catalog, rules: StarterRules) -> None:
        """Ranks the candidates. Raises `SnapshotError` where the snapshot cannot be opened or has none."""
        self._connection = connect()
        try:
            self._open(snapshot, rules)
            self._rank(catalog, rules)
        except BaseException:
            self._connection.close()
            raise
        if not self.candidates:
            what = f"has no item of a topic with names in {rules.languages} of the languages"
            raise SnapshotError(what, where=snapshot.path, remedy="Take a larger snapshot, or fewer --languages.")

    def __enter__(self) -> Selection:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    @property
    def candidates(self) -> int:
        """How many items may be taken."""
        return self._number("SELECT count(*) FROM candidates")

    @property
    def beyond(self) -> int:
        """How many items are no candidates because no starter within the limit could reach them."""
        return self._number("SELECT (SELECT count(*) FROM ranked) - (SELECT count(*) FROM near)")

    @property
    def left_out(self) -> Mapping[str, int]:
        """How many items of the topics are no candidates, by reason; and names and claims of what was taken last."""
        return {
            "persons without an occupation or a work": self._number(
                "SELECT count(DISTINCT item) FROM unproven"
                " ANTI JOIN (FROM belongs ANTI JOIN unproven USING (topic, kind, item)) USING (item)"
            ),
            "names in too few languages": self._number(
                "SELECT count(DISTINCT item) FROM belongs ANTI JOIN unproven USING (topic, kind, item)"
                " ANTI JOIN candidates USING (item) ANTI JOIN (FROM ranked ANTI JOIN near USING (item)) USING (item)"
            ),
            "names of something else": self._number(
                "SELECT count(*) FROM names_of_others SEMI JOIN entities USING (item)"
            ),
            "items without a class of Wikidata's": self._number(
                "SELECT count(*) FROM emptied SEMI JOIN whole.items USING (item)"
            ),
            "claims": self._number("SELECT count(*) FROM whole.claims SEMI JOIN without_claims USING (item, property)"),
        }

    def take(self, most: int) -> dict[str, pa.Table]:
        """The rows of a starter of the first `most` candidates, by table."""
        place, limit = duckdb.ColumnExpression("place"), duckdb.ConstantExpression(most)
        self._connection.execute("DROP TABLE IF EXISTS entities")
        self._connection.table("candidates").filter(place <= limit).select("item").create("entities")
        self._connection.execute(statement("starter_taken"))
        return {name: self._connection.table(f"taken_{name}").to_arrow_table() for name in TABLES}

    def counts(self) -> list[dict[str, Any]]:
        """Of what was taken last: a row per topic, kind and language, with its items."""
        rows: list[dict[str, Any]] = self._connection.sql(statement("starter_counts")).to_arrow_table().to_pylist()
        return rows

    def _open(self, snapshot: Snapshot, rules: StarterRules) -> None:
        connection = self._connection
        try:
            connection.execute("ATTACH $path AS whole (READ_ONLY)", {"path": str(snapshot.path)})
        except duckdb.Error as fault:
            raise SnapshotError(f"cannot be opened: {fault}", where=snapshot.path, remedy=snapshot.remedy) from fault
        keys = sorted(rules.without)
        items, codes = (
            pa.array([item for item, _ in keys], pa.uint32()),
            pa.array([code for _, code in keys], pa.string()),
        )
        connection.from_arrow(pa.table({"item": items, "property": codes})).create("without_claims")
        connection.execute(statement("starter_snapshot"))

    def _rank(self, catalog: Catalog, rules: StarterRules) -> None:
        connection = self._connection
        scopes = open_members(connection, catalog, catalog.topics, {})  # without the claims that are left out
        kinds = [
            {
                "topic": code,
                "kind": name,
                "scope": scopes[code, name],
                "of_persons": bool(kind.occupations),
                "of_single_things": kind.members == "instances",
            }
            for code, topic in catalog.topics.items()
            for name, kind in topic.kinds.items()
            if kind.counted
        ]
        connection.from_arrow(pa.Table.from_pylist(kinds)).create("topic_kinds")
        self._column("starter_languages", catalog.languages)
        self._column("starter_name_languages", catalog.label_languages)
        connection.from_arrow(_ordinary_words(catalog.label_languages)).create("ordinary_words")
        limits = pa.table({"languages": [rules.languages], "most": [int(rules.megabytes * 1e6 / LEAST_BYTES)]})
        connection.from_arrow(limits).create("starter_rules")
        connection.execute(statement("starter_candidates"))
        connection.execute(statement("starter_rivals"))

    def _column(self, table: str, languages: Iterable[str]) -> None:
        self._connection.from_arrow(pa.table({"language": sorted(languages)})).create(table)

    def _number(self, query: str) -> int:
        ((number,),) = self._connection.execute(query).fetchall()
        return int(number)
