"""What links are worth: counts for `link/calibration.toml`, and whether one half of the gold data foretells the other.

    python -m bench.linking_calibration [--snapshot FILE] [--data FOLDER] [--each 60] [--passes 5]
                                         [--language en]

Counted are links to real names: FmLAMA, CUBE, our hard cases, aliases held out, labels in phrases, and mentions where
nothing is meant (hard cases, invented names, names of another topic, other things by a name within). A half is drawn
by the item that is meant, else by the mention, so that no item stands in both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

from bench.linking_accuracy import arguments, opened, score_sets
from bench.linking_report import family
from polyculture.cache.catalog import read_catalog
from polyculture.cache.proportions import wilson_interval
from polyculture.cli.tables import print_table
from polyculture.link.audit.verdict import Verdict
from polyculture.link.calibration import Basis, Competition, bases, key_of

FAMILIES = ("hard", "FmLAMA", "CUBE", "aliases", "phrases", "NIL")
SMALLEST = ("--snapshot", "{snapshot}", "--data", "{data}", "--each", "2", "--passes", "1", "--language", "en")
BINS = (0.0, 0.6, 0.8, 0.9, 0.95, 0.98, 1.0)

Kind = tuple[str, Competition]


def main() -> None:
    """Prints the counts as TOML, then the two tables of reliability."""
    given, catalog = arguments(), read_catalog()
    with opened(given.snapshot, given.data, catalog) as snapshot:
        sets = score_sets(snapshot, catalog, given)
        links = [
            one
            for name, result in sets
            if family(name) in FAMILIES and "starter" not in name  # it holds few homographs
            for one in result.verdicts
            if one.qid
        ]
    _print_counts(count(links))
    halves = [[one for one in links if _half(one) == half] for half in (0, 1)]
    print_reliability("second half by the first", count(halves[0]), halves[1])
    print_reliability("first half by the second", count(halves[1]), halves[0])


def kind_of(one: Verdict) -> Kind:
    """What its confidence goes by."""
    return key_of(one.status, str(one.match), one.candidates, one.survivors)


def count(links: Iterable[Verdict]) -> dict[Kind, Basis]:
    """How many links there are of each kind, and how many are right."""
    counts = dict.fromkeys(bases(), Basis(0, 0))
    for one in links:
        so_far = counts[kind_of(one)]
        counts[kind_of(one)] = Basis(so_far.right + one.right, so_far.of + 1)
    return counts


def print_reliability(title: str, learnt: dict[Kind, Basis], links: Sequence[Verdict]) -> None:
    """What was foretold, by bins, and what came."""
    foretold = [(learnt[kind_of(one)].confidence, one.right) for one in links]
    lines = []
    for low, high in pairwise(BINS):
        some = [(chance, right) for chance, right in foretold if low < chance <= high]
        if some:
            hits, interval = (
                sum(right for _, right in some),
                wilson_interval(sum(right for _, right in some), len(some)),
            )
            mean = sum(chance for chance, _ in some) / len(some)
            shown = f"{hits / len(some):.3f} [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else None
            lines.append((f"{low:g} to {high:g}", len(some), f"{mean:.3f}", shown))
    brier = sum((chance - right) ** 2 for chance, right in foretold) / len(foretold)
    print_table(("confidence", "links", "foretold", "right"), lines, title=f"{title}: Brier score {brier:.4f}")


def _print_counts(counts: dict[Kind, Basis]) -> None:
    for competition, kinds in groupby(counts, itemgetter(1)):
        print(f"[{competition}]")
        for kind in kinds:
            print(f"{kind[0]} = [{counts[kind].right}, {counts[kind].of}]")


def _half(one: Verdict) -> int:
    key = one.expected[0] if one.expected else one.gold.mention
    return hashlib.sha256(key.encode()).digest()[0] % 2


if __name__ == "__main__":
    main()
