"""The accuracy of linking: the linker's answers to gold mentions, and the shares that are correct.

    result = audit_links(read_gold_mentions(file, catalog), catalog, snapshot)
    result.all.linkable.right

A mention without a kind is queried in every counted kind of its topic. The best link answers (`sql/audit.sql`), chosen
as the linker ranks, without knowledge of the gold. `accuracy` is the share of linkable mentions that are linked to an
expected item; a mention is linkable if the snapshot holds an expected item. Other mentions are `outside`, and count for
precision only, since every link of them is wrong. An `ambiguous` link answers with its first item; accuracy is given
over all links, without the ambiguous ones, and over these alone.

Each line is scored by its own item, also where another line has the same mention with another item. No linker that
reads a mention alone can be right in both, so these lines and the others are also scored apart (`by` is 'gold').
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.proportions import ShareInterval, wilson_interval
from polyculture.link.audit.gold import NIL, GoldMention, contradictions, counted_kinds
from polyculture.link.forms import MATCHED_BY, MATCHES
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.linker import Linker
from polyculture.link.near import near_misses
from polyculture.link.origins import opened_topics
from polyculture.link.queries import QUERY_COLUMNS, numbered
from polyculture.link.statements import statement

# The columns of a wrong answer: the gold's, and the linker's.
WRONG = (
    "mention",
    "language",
    "topic",
    "kind",
    "expected",
    "got",
    "status",
    "match",
    "matched_by",
    "matched",
    "why",
    "line",
)
STATUSES = ("linked", "ambiguous", "no path", "no candidate")
ONE_ITEM, TOPIC_DECIDES, SEVERAL = "one item", "several, one in the topic", "several in the topic"
GOLD, SAME, DIFFERENT = "gold", "same item in all lines", "different items"


@dataclass(frozen=True, slots=True)
class LinkVerdict:
    """A gold mention with the linker's answer."""

    gold: GoldMention
    expected: tuple[str, ...]  # after redirects
    in_snapshot: bool  # is any of them there?
    in_topic: bool  # does any of them belong to a counted kind of the topic?
    kind: str  # of the link that answers
    status: str
    qid: str | None
    match: str | None
    matched_by: str | None
    matched: str | None
    english_qid: str | None  # another item of the topic, which the English name matches where own words lead to `qid`
    candidates: int
    survivors: int
    reason: str | None  # the linker's reason for the expected item, if it was a candidate

    @property
    def nil(self) -> bool:
        """Is the mention NIL, to be left unlinked?"""
        return not self.gold.expected

    @property
    def linkable(self) -> bool:
        """Does the snapshot hold an expected item?"""
        return self.in_snapshot and not self.nil

    @property
    def right(self) -> bool:
        """Is the answer an expected item, or none for NIL?"""
        return self.qid is None if self.nil else self.qid in self.expected

    @property
    def name(self) -> str:
        """The ambiguity of the name: how many items have it, and how many of them are in the topic."""
        if self.survivors > 1:
            return SEVERAL
        return TOPIC_DECIDES if self.candidates > 1 else ONE_ITEM

    @property
    def why(self) -> str:
        """The reason for a wrong answer."""
        if self.nil:
            return f"nothing is meant, and {self.matched!r} was found"
        if not self.in_snapshot:
            return "the expected item is not in the snapshot"
        if not self.in_topic:
            return f"the expected item belongs to no kind of {self.gold.topic}"
        return self.reason or "the expected item was not found by this name"

    def row(self) -> tuple[Any, ...]:
        """A row of the list of wrong answers, with the columns `WRONG`."""
        gold = self.gold
        meant, got = "|".join(self.expected) or NIL, self.qid or NIL
        said = (gold.mention, gold.language, gold.topic, self.kind)
        return (*said, meant, got, self.status, self.match, self.matched_by, self.matched, self.why, gold.line)


class LinkScore(NamedTuple):
    """How many mentions a share is of, the share of right ones, and its 95 % interval (Wilson); None of no mention."""

    of: int
    right: float | None
    interval: ShareInterval


# The shares of a row, and their names in a table.
SHARES = {
    "linkable": "accuracy",
    "in_topic": "in_topic_accuracy",
    "clear": "clear_accuracy",
    "ambiguous": "ambiguous_accuracy",
    "links": "precision",
    "nil": "nil_recall",
}


@dataclass(frozen=True, slots=True)
class LinkAuditRow:
    """One line of the audit: all mentions, or those of one value of a grouping."""

    by: str  # 'all', 'gold', 'language', 'topic', 'name', 'match', 'matched_by', 'status', or a column of the gold
    value: str
    mentions: int
    outside: int  # their item is not in the snapshot: in no score but precision
    linkable: LinkScore
    in_topic: LinkScore  # linkable, and the item belongs to a kind of the topic; the ontology excludes the others
    clear: LinkScore  # linkable and not answered 'ambiguous'
    ambiguous: LinkScore  # linkable and answered 'ambiguous'
    links: LinkScore  # answered with an item, correct or not, also of those outside
    nil: LinkScore  # NIL: no item is expected; right without a link

    def flat(self) -> dict[str, Any]:
        """The line with each share as four columns: of how many, the share, `..._low` and `..._high`."""
        flat: dict[str, Any] = {name: getattr(self, name) for name in ("by", "value", "mentions", "outside")}
        for name, share in SHARES.items():
            of, right, interval = getattr(self, name)
            limits = f"{share.removesuffix('_accuracy')}_low", f"{share.removesuffix('_accuracy')}_high"
            flat |= {name: of, share: right, **dict(zip(limits, interval or (None, None), strict=True))}
        return flat


@dataclass(frozen=True, slots=True)
class LinkAudit:
    """The audit's lines, and every verdict in the order of the gold."""

    rows: tuple[LinkAuditRow, ...]
    verdicts: tuple[LinkVerdict, ...]

    @property
    def all(self) -> LinkAuditRow:
        """The line of all mentions."""
        return next(row for row in self.rows if row.by == "all")

    @property
    def wrong(self) -> list[LinkVerdict]:
        """The wrong answers; an unlinked mention whose item is not in the snapshot is not among them."""
        return [one for one in self.verdicts if not one.right and (one.qid or one.linkable)]


def audit_links(
    gold: Sequence[GoldMention],
    catalog: Catalog,
    snapshot: Snapshot,
    by: Sequence[str] = (),
) -> LinkAudit:
    """Links `gold` against `snapshot` and scores the links, also by the gold's own columns named in `by`.

    Raises what the linker raises.
    """
    return score(judge(gold, catalog, snapshot), by)


def judge(
    gold: Sequence[GoldMention],
    catalog: Catalog,
    snapshot: Snapshot,
) -> list[LinkVerdict]:
    """The verdict on each gold mention, in the same order."""
    if not gold:
        return []
    queries = _queries(gold, catalog)
    links = Linker(catalog, snapshot).link(queries)
    with opened_topics(snapshot, catalog, {one.topic for one in gold}) as connection:
        connection.from_arrow(_gold_table(gold)).create("gold")
        connection.from_arrow(queries.select(["number", "query", "place"])).create("gold_kinds")
        for name in ("links", "candidates"):
            connection.from_arrow(links[name]).create_view(name)
        connection.execute(statement("audit_items"))
        order = {"matches": list(MATCHES), "matched_by": list(MATCHED_BY), "statuses": list(STATUSES)}
        rows = connection.sql(statement("audit"), params=order).fetchall()
        verdicts = [LinkVerdict(gold[n], tuple(expected), *rest) for n, expected, *rest in rows]
        return _with_near_misses(verdicts, catalog, connection)


def _with_near_misses(
    verdicts: list[LinkVerdict], catalog: Catalog, connection: duckdb.DuckDBPyConnection
) -> list[LinkVerdict]:
    """The verdicts, those of mentions without a candidate with the expected item's near miss as the reason."""
    missed = [one for one in verdicts if one.linkable and one.status == "no candidate"]
    asked = [(one.gold.language, one.gold.topic, one.gold.mention) for one in missed]
    near = near_misses(connection, catalog, asked)

    def reason(one: LinkVerdict) -> str | None:
        names = near.get((one.gold.language, one.gold.topic, one.gold.mention), ())
        return next((name.reason for name in names if name.qid in one.expected), one.reason)

    return [replace(one, reason=reason(one)) for one in verdicts]


def score(verdicts: Sequence[LinkVerdict], by: Sequence[str] = ()) -> LinkAudit:
    """The shares of correct verdicts: overall, by the standard groupings, and by the gold's columns in `by`."""
    # A column of the gold may have the name of a standard grouping.
    own = {name: f"{name} in the gold" if name in (*_GROUPS, GOLD) else name for name in by}
    groups: dict[tuple[str, str], list[LinkVerdict]] = {("all", "all"): []}
    different = {id(line) for lines in contradictions([one.gold for one in verdicts]) for line in lines}
    for one in verdicts:
        if different:
            groups.setdefault((GOLD, DIFFERENT if id(one.gold) in different else SAME), []).append(one)
        for name, value in _GROUPS.items():
            groups.setdefault((name, value(one)), []).append(one)
        for name, title in own.items():
            groups.setdefault((title, one.gold.other.get(name) or "none"), []).append(one)
    names = ["all", GOLD, *_GROUPS, *own.values()]
    keys = sorted(groups, key=lambda key: (names.index(key[0]), _PLACES.get(key[1], -1), key[1]))
    return LinkAudit(tuple(_row(*key, groups[key]) for key in keys), tuple(verdicts))


def _queries(gold: Sequence[GoldMention], catalog: Catalog) -> pa.Table:
    """The queries: each mention in its kind, or in every counted kind of its topic."""
    kinds = {code: counted_kinds(topic) for code, topic in catalog.topics.items()}
    rows = [
        (number, place, one.language, one.topic, kind, one.mention, one.name, one.english)
        for number, one in enumerate(gold)
        for place, kind in enumerate(kinds[one.topic])
        if one.kind in (None, kind)
    ]
    columns = list(zip(*rows, strict=True))
    texts = [pa.array(column, pa.string()) for column in columns[2:]]
    queries = numbered(pa.Table.from_arrays(texts, names=list(QUERY_COLUMNS)))
    return queries.append_column("number", pa.array(columns[0])).append_column("place", pa.array(columns[1]))


def _gold_table(gold: Sequence[GoldMention]) -> pa.Table:
    return pa.table(
        {
            "number": pa.array(range(len(gold)), pa.int64()),
            "topic": pa.array([one.topic for one in gold], pa.string()),
            "expected": pa.array([list(one.expected) for one in gold], pa.list_(pa.string())),
        }
    )


_GROUPS: Mapping[str, Callable[[LinkVerdict], str]] = {
    "all": lambda _: "all",
    "language": lambda one: one.gold.language,
    "topic": lambda one: one.gold.topic,
    "name": lambda one: one.name,
    "match": lambda one: one.match or "none",
    "matched_by": lambda one: one.matched_by or "none",
    "status": lambda one: one.status,
}
_PLACES = {
    value: place for place, value in enumerate((*MATCHES, *MATCHED_BY, *STATUSES, ONE_ITEM, TOPIC_DECIDES, SEVERAL))
}


def _row(by: str, value: str, verdicts: Sequence[LinkVerdict]) -> LinkAuditRow:
    scored = [one for one in verdicts if one.linkable or one.nil]
    linkable = [one for one in scored if one.linkable]
    return LinkAuditRow(
        by,
        value,
        len(verdicts),
        len(verdicts) - len(scored),
        _scored(linkable),
        _scored([one for one in linkable if one.in_topic]),
        _scored([one for one in linkable if one.status != "ambiguous"]),
        _scored([one for one in linkable if one.status == "ambiguous"]),
        _scored([one for one in verdicts if one.qid is not None]),
        _scored([one for one in scored if one.nil]),
    )


def _scored(verdicts: Sequence[LinkVerdict]) -> LinkScore:
    right = sum(one.right for one in verdicts)
    return LinkScore(len(verdicts), right / len(verdicts) if verdicts else None, wilson_interval(right, len(verdicts)))
