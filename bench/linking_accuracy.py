"""How well mentions are linked on real data: gold sets built on the fly, a line each.

    python -m bench.linking_accuracy [--snapshot FILE] [--data FOLDER] [--each 60] [--language en]

Without --snapshot the slice among the real data is built into an index first (half a minute). Why a mention of one's
own gold is linked wrongly, says `polyculture link audit`. What was measured: docs/evidence.md.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from bench.linking_nils import Taken, displaced, invented
from bench.linking_sets import Name, cube, fmlama, hard_cases, labels
from bench.results import keep
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.proportions import wilson_interval
from polyculture.cli.tables import print_table
from polyculture.link.audit.audit import LinkAudit, judge, score
from polyculture.link.audit.gold import GoldMention
from polyculture.link.dumps.build import build_index
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.index.starter import write_starter

DATA = Path(__file__).parents[2] / "shared" / "data"
LABELS_A_KIND = 60
RIGHT_NAMES = (1.0, 0.7, 0.4)  # shares of mentions with the extractor's right names
LACKING = 5  # every fifth item is held out
SMALLEST = ("--snapshot", "{snapshot}", "--data", "{data}", "--each", "2", "--language", "en")


def main() -> None:
    """Prints the sets, and the NILs below."""
    given = arguments()
    catalog = read_catalog()
    with opened(given.snapshot, given.data, catalog) as snapshot:
        done = list(score_sets(snapshot, catalog, given))
    fmlama_sets = [one for name, result in done if name.startswith("FmLAMA") for one in result.verdicts]
    sets = [*done, ("FmLAMA, all", score(fmlama_sets))]
    print_lines("Linkable mentions", ("n", "accuracy", "in the topic", "precision"), map(_linkable, sets))
    print_lines("NIL mentions", ("n", "linked plainly"), map(_nil, done))


def print_lines(title: str, columns: Sequence[str], lines: Iterable[Sequence[str] | None]) -> None:
    """A line per set that has any such mention, in per cent."""
    shown = [line for line in lines if line is not None]
    for name, *numbers in shown:
        keep("linking", title, name, dict(zip(columns, numbers, strict=True)))
    print_table(("set", *columns), shown, title=f"{title}, in per cent")


def _linkable(scored: tuple[str, LinkAudit]) -> Sequence[str] | None:
    """How many are linked to the expected item; of those whose item is in the topic; and of all that are linked."""
    name, result = scored
    every = result.all
    shares = [_percent(one.right, one.interval) for one in (every.linkable, every.in_topic, every.links)]
    return (name, f"{every.linkable.of:,}", *shares) if every.linkable.of else None


def _nil(scored: tuple[str, LinkAudit]) -> Sequence[str] | None:
    """How many mentions without an item are linked all the same."""
    name, result = scored
    nil = [one.status == "linked" for one in result.verdicts if one.nil]
    return (name, f"{len(nil):,}", _percent(sum(nil) / len(nil), wilson_interval(sum(nil), len(nil)))) if nil else None


def _percent(share: float | None, interval: tuple[float, float] | None) -> str:
    if share is None or interval is None:
        return "–"
    return f"{100 * share:.1f} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--snapshot", type=Path, help="an index of the slice; built where it is not given")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--each", type=int, default=LABELS_A_KIND, help=f"labels of a kind (default: {LABELS_A_KIND})")
    parser.add_argument("--language", nargs="*", help="of labels and of FmLAMA (default: all)")
    return parser.parse_args()


@contextmanager
def opened(given: Path | None, data: Path, catalog: Catalog) -> Iterator[Snapshot]:
    """The snapshot given, else one of the slice, built for as long as it is used."""
    if given is not None:
        yield open_snapshot(given)
        return
    with tempfile.TemporaryDirectory() as folder:
        dump = data / "wikidata" / "slice.json.gz"
        yield build_index(dump, Path(folder) / "slice.duckdb", catalog.label_languages).snapshot


def score_sets(snapshot: Snapshot, catalog: Catalog, given: argparse.Namespace) -> Iterator[tuple[str, LinkAudit]]:
    """The gold sets with their scores, one after the other."""
    data, few = given.data / "wikidata", max(1, given.each // 3)
    with tempfile.TemporaryDirectory() as folder:
        starter = write_starter(Path(folder) / "starter.duckdb")
        for right in RIGHT_NAMES:
            chosen = hard_cases(catalog, "starter", right)
            yield chosen.name, score(judge(chosen.gold, catalog, starter))
    hard = [hard_cases(catalog, "slice", right) for right in RIGHT_NAMES]
    for one in [*hard, *fmlama(data, given.language), cube(data)]:
        yield one.name, score(judge(one.gold, catalog, snapshot))
    names, taken = labels(snapshot, catalog, given.each, given.language), Taken(snapshot, catalog)
    for one in [invented(names, taken, few), displaced(names, few)]:
        yield one.name, score(judge(one.gold, catalog, snapshot))
    yield "NIL: items the index lacks", _lacking(names, catalog, snapshot)


def _lacking(names: Sequence[Name], catalog: Catalog, snapshot: Snapshot) -> LinkAudit:
    """Labels of every fifth item linked against a copy of the index without those items, where no other bears them."""
    gone = [name for name in names if name.item % LACKING == 0]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(snapshot.path, Path(folder) / "copy.duckdb"))
        with duckdb.connect(str(copy)) as connection:
            items = {"items": list({name.item for name in gone})}
            for table in ("names", "keys"):
                connection.execute(f"DELETE FROM {table} WHERE list_contains($items::UINTEGER[], item)", items)
        rest = open_snapshot(copy)
        taken = Taken(rest, catalog)
        left = [name for name in gone if (name.language, name.text) not in taken]
        gold = [GoldMention(name.text, name.language, name.topic, (), name.kind) for name in left]
        return score(judge(gold, catalog, rest))


if __name__ == "__main__":
    main()
