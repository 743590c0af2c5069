"""What `bench/linking_accuracy.py` prints: the sets, the NILs, the matches, the causes."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from bench.results import keep
from polyculture.cache.proportions import wilson_interval
from polyculture.cli.tables import print_table
from polyculture.link.audit.audit import LinkAudit, LinkAuditRow, score
from polyculture.link.audit.verdict import ONE_ITEM, SEVERAL, TOPIC_DECIDES, WRONG, Verdict
from polyculture.link.forms import MATCHES

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
        if every.linkable.of:
            shares = [
                _percent(every.linkable.right, every.linkable.interval),
                *(_of(one.right, one.of) for one in (every.in_topic, every.clear, every.ambiguous)),
                *(_row_of(rows.get(value)) for value in (ONE_ITEM, TOPIC_DECIDES, SEVERAL)),
                _of(every.links.right, every.links.of),
            ]
            lines.append([name, every.linkable.of, *shares])
    for name, *numbers in lines:
        keep("linking", "Linkable mentions", str(name), dict(zip(columns[1:], numbers, strict=True)))
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
        if nil:
            sure = sum(one.status == "linked" for one in nil)
            lines.append([name, len(nil), _share(sure, len(nil)), *(matches[match] for match in MATCHES)])
    print_table(
        ("set", "n", "linked plainly", *MATCHES),
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
    lost = ("farther", "less prominent", "is meant", "against")
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
    return _of(row.linkable.right, row.linkable.of) if row else "–"


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
