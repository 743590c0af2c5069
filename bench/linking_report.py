"""What `bench/linking_accuracy.py` prints: the sets, the NILs, the matches, the countries, the causes."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.proportions import wilson_interval
from polyculture.cli.tables import print_table
from polyculture.link.audit.audit import LinkAudit, LinkAuditRow, score
from polyculture.link.audit.verdict import ONE_ITEM, SEVERAL, TOPIC_DECIDES, WRONG, Verdict
from polyculture.link.calibration import MATCHES
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.index.source import IndexSource
from polyculture.link.origins import find_origins

EXACT = ("label", "alias", "normalised", "english")
COUNTRY_NAMES = """
    SELECT name.name, list(DISTINCT 'Q' || name.item)
    FROM names AS name SEMI JOIN (SELECT target AS item FROM claims WHERE property IN ('P495', 'P17')) USING (item)
    WHERE name.language IN ('en', 'mul') GROUP BY name.name
"""

Done = Sequence[tuple[str, LinkAudit]]


def print_sets(done: Done) -> None:
    columns = (
        "set",
        "n",
        "accuracy",
        "in the topic",
        "clear",
        "ambiguous",
        ONE_ITEM,
        TOPIC_DECIDES,
        SEVERAL,
        "precision",
    )
    lines = []
    for name, result in [*done, *_families(done)]:
        every, rows = result.all, {row.value: row for row in result.rows if row.by == "name"}
        if every.linkable:
            shares = [
                _percent(every.accuracy, every.accuracy_interval),
                _of(every.in_topic_accuracy, every.in_topic),
                _of(every.clear_accuracy, every.clear),
                _of(every.ambiguous_accuracy, every.ambiguous),
                *(_row_of(rows.get(value)) for value in (ONE_ITEM, TOPIC_DECIDES, SEVERAL)),
                _of(every.precision, every.links),
            ]
            lines.append([name, every.linkable, *shares])
    print_table(columns, lines, title="Linkable mentions: linked to the expected item, in per cent")


def _families(done: Done) -> Done:
    """The sets of a family taken together, as one more set each: all languages of FmLAMA, of the inflections."""
    verdicts: dict[str, list[list[Verdict]]] = {}
    for name, result in done:
        verdicts.setdefault(family(name), []).append(list(result.verdicts))
    return [(f"{name}, all", score(list(chain(*sets)))) for name, sets in verdicts.items() if len(sets) > 2]


def family(name: str) -> str:
    """What a set is called before its language or snapshot."""
    return name.split(" ")[0].rstrip(":,")


def print_nils(done: Done) -> None:
    lines = []
    for name, result in done:
        nil = [one for one in result.verdicts if one.nil]
        matches = Counter(one.match for one in nil if one.match)
        exact = sum(matches[match] for match in EXACT)
        if nil:
            sure = sum(one.status == "linked" for one in nil)
            lines.append([name, len(nil), _share(exact, len(nil)), sure, *(matches[match] for match in MATCHES)])
    print_table(
        ("set", "n", "by exact rules", "not ambiguous", *MATCHES),
        lines,
        title="NIL mentions that are linked all the same",
    )


def print_matches(done: Done) -> None:
    """How often a kind of match is right, by family of sets."""
    found: dict[tuple[str, str], list[bool]] = {}
    for name, result in done:
        for one in result.verdicts:
            if one.match and (one.nil or one.linkable):
                found.setdefault((family(name), one.match), []).append(one.right)
    families = list(dict.fromkeys(name for name, _ in found))
    lines = [[name, *(_right(found.get((name, match), [])) for match in MATCHES)] for name in families]
    print_table(("sets", *MATCHES), lines, title="Links that are right, by kind of match")


def print_countries(snapshot: Snapshot, catalog: Catalog, results: Iterable[LinkAudit]) -> None:
    """Is FmLAMA's country of origin among those that we give? Of dishes that carry one (P495) in the snapshot."""
    verdicts = [one for result in results for one in result.verdicts if one.expected]
    ours = _countries(snapshot, catalog, {one.expected[0] for one in verdicts})
    meant = _country_names(snapshot)
    lines = []
    for title, chosen in (("all", verdicts), ("linked rightly", [one for one in verdicts if one.right])):
        dishes = {(one.expected[0], one.gold.other["country"]) for one in chosen if one.expected[0] in ours}
        equal = [(qid, country) for qid, country in dishes if ours[qid] & meant.get(country, set())]
        alone = [qid for qid, _ in equal if len(ours[qid]) == 1]
        differs = sorted(f"{qid} {country}" for qid, country in dishes.difference(equal))
        shares = [_share(len(equal), len(dishes)), _share(len(alone), len(dishes))]
        lines.append([title, len(dishes), *shares, "; ".join(differs)])
    columns = ("dishes", "n", "among ours", "the only one of ours", "differs")
    print_table(columns, lines, title="Country of origin as FmLAMA has it")


def _countries(snapshot: Snapshot, catalog: Catalog, qids: set[str]) -> dict[str, set[str]]:
    """The countries that the linker gives to entities by P495."""
    with duckdb.connect() as connection, IndexSource(snapshot).opened(connection):
        items = pa.table({"item": pa.array(sorted(int(qid[1:]) for qid in qids), pa.uint32())})
        connection.from_arrow(items).create("linked")
        rows = find_origins(connection, catalog).fetchall()
    found: dict[str, set[str]] = {}
    for qid, _, country, code, _ in rows:
        if code == "P495":
            found.setdefault(qid, set()).add(country)
    return found


def _country_names(snapshot: Snapshot) -> dict[str, set[str]]:
    """The items that an English name may mean, of those that are somebody's country."""
    with duckdb.connect(str(snapshot.path), read_only=True) as connection:
        return {name: set(qids) for name, qids in connection.execute(COUNTRY_NAMES).fetchall()}


def cause(one: Verdict) -> str:
    """What kind of mistake a wrong answer is."""
    if one.nil:
        return f"NIL linked by {one.match}"
    if not one.in_topic:
        return "the item is in no kind of the topic" + (", another of that name is" if one.qid else "")
    if one.reason is None:
        return f"not found by this name, another item by {one.match}" if one.qid else "not found by this name"
    if one.status == "ambiguous":
        return "ambiguous, and the other one is first"
    lost = ("farther", "less prominent", "less alike", "is meant", "against")
    return next((f"lost: {word}" for word in lost if word in one.reason), f"lost: {one.reason}")


def print_causes(done: Done) -> None:
    counts: dict[str, Counter[str]] = {}
    examples: dict[str, list[str]] = {}
    for name, result in done:
        for one in result.wrong:
            counts.setdefault(cause(one), Counter())[family(name)] += 1
            examples.setdefault(cause(one), []).append(f"{one.gold.mention} ({one.gold.language}, {one.qid or 'NIL'})")
    lines = [
        [why, found.total(), ", ".join(f"{name} {n}" for name, n in found.most_common()), "; ".join(examples[why][:4])]
        for why, found in sorted(counts.items(), key=lambda item: -item[1].total())
    ]
    print_table(("cause", "n", "sets", "examples"), lines, title="Wrong answers by cause")


def write_wrong(file: Path, done: Done) -> None:
    rows = [
        {"set": name, "cause": cause(one), **dict(zip(WRONG, one.row(), strict=True)), "other": dict(one.gold.other)}
        for name, result in done
        for one in result.wrong
    ]
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]) if rows else ["set"], delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)


def _row_of(row: LinkAuditRow | None) -> str:
    return _of(row.accuracy, row.linkable) if row else "–"


def _of(share: float | None, of: int) -> str:
    return "–" if share is None else f"{100 * share:.1f} of {of:,}"


def _right(answers: Sequence[bool]) -> str:
    return _of(sum(answers) / len(answers), len(answers)) if answers else "–"


def _share(hits: int, of: int) -> str:
    return _percent(hits / of if of else None, wilson_interval(hits, of))


def _percent(share: float | None, interval: tuple[float, float] | None) -> str:
    if share is None or interval is None:
        return "–"
    return f"{100 * share:.1f} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"
