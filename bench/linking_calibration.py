"""What links are worth: counts for `link/calibration.toml`, and whether one half of the gold data foretells the other.

    python -m bench.linking_calibration [--snapshot FILE] [--data FOLDER] [--each 60] [--passes 5]
                                         [--language en]

Counted are links to real names: FmLAMA, CUBE, our hard cases, aliases held out, labels in phrases, and mentions where
nothing is meant (hard cases, invented names, names of another topic, other things by a name within). A half is drawn
by the item that is meant, else by the mention, so that no item stands in both.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from math import sqrt
from operator import itemgetter
from statistics import NormalDist, fmean

from bench.linking_accuracy import arguments, opened, score_sets
from bench.linking_report import family
from polyculture.cache.catalog import read_catalog
from polyculture.cache.proportions import wilson_interval
from polyculture.cli.tables import print_table
from polyculture.link.audit.verdict import Verdict
from polyculture.link.calibration import Basis, Competition, bases, key_of

FAMILIES = ("hard", "FmLAMA", "CUBE", "aliases", "phrases", "NIL")
SMALLEST = ("--snapshot", "{snapshot}", "--data", "{data}", "--each", "2", "--passes", "1", "--language", "en")
ENOUGH = 200  # links of a bin that is tested; of languages with fewer of a match the links are pooled
OTHERS = "others together"
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
    print_bins(count(halves[0]), halves[1])


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


def print_bins(learnt: dict[Kind, Basis], links: Sequence[Verdict]) -> None:
    """What was foretold and what came by match and language, languages with few links of a match together.

    The intervals are Wilson's, with Bonferroni's correction for the number of bins of `ENOUGH` links: one that leaves
    out what was foretold would say that the language needs a confidence of its own.
    """
    bins: dict[tuple[str, str], list[Verdict]] = {}
    sizes = Counter((kind_of(one)[0], one.gold.language) for one in links)
    for one in links:
        match, language = kind_of(one)[0], one.gold.language
        bins.setdefault((match, language if sizes[match, language] >= ENOUGH else OTHERS), []).append(one)
    tested = sum(len(some) >= ENOUGH for some in bins.values())
    z = NormalDist().inv_cdf(1 - 0.05 / (2 * max(tested, 1)))
    lines = []
    for (match, language), some in sorted(bins.items()):
        right, mean = sum(one.right for one in some), fmean(learnt[kind_of(one)].confidence for one in some)
        low, high = wilson(right, len(some), z)
        held = "few" if len(some) < ENOUGH else "yes" if low <= mean <= high else "no"
        lines.append(
            (match, language, len(some), f"{mean:.4f}", f"{right / len(some):.4f} [{low:.4f}, {high:.4f}]", held)
        )
    columns = ("match", "language", "links", "foretold", "right", "foretold is inside")
    print_table(columns, lines, title=f"By match and language, {tested} bins of {ENOUGH} or more")


def wilson(right: int, of: int, z: float) -> tuple[float, float]:
    """Wilson's interval at the normal quantile `z`."""
    share, weight = right / of, z * z / of
    middle, half = share + weight / 2, z * sqrt(share * (1 - share) / of + weight / (4 * of))
    return (middle - half) / (1 + weight), (middle + half) / (1 + weight)


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
