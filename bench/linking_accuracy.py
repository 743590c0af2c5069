"""How well mentions are linked on real data: gold sets built on the fly, a line each.

    python -m bench.linking_accuracy [--snapshot FILE] [--data FOLDER] [--wrong FILE] [--each 60]
                                      [--language en]

Without --snapshot the slice among the real data is built into an index first (half a minute). --wrong writes every
wrong answer with its cause. What the sets are, what they cannot show and what was measured: docs/evidence.md.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from bench.linking_nils import Taken, displaced, invented
from bench.linking_report import print_causes, print_matches, print_nils, print_sets, write_wrong
from bench.linking_sets import Name, cube, fmlama, hard_cases, labels
from polyculture.cache.catalog import Catalog, read_catalog
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
    """Prints the sets; the NILs, the matches and the causes of what went wrong below."""
    given = arguments()
    catalog = read_catalog()
    with opened(given.snapshot, given.data, catalog) as snapshot:
        done = list(score_sets(snapshot, catalog, given))
        print_sets(done)
        print_nils(done)
        print_matches(done)
        print_causes(done)
        if given.wrong:
            write_wrong(given.wrong, done)


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--snapshot", type=Path, help="an index of the slice; built where it is not given")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--wrong", type=Path, help="where to write the wrong answers, tab-separated")
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
