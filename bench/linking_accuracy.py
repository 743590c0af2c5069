"""How well mentions are linked on real data: gold sets built on the fly, a line each.

    python -m bench.linking_accuracy [--snapshot FILE] [--data FOLDER] [--wrong FILE] [--each 60] [--passes 5]
                                      [--language en]

Without --snapshot the slice among the real data is built into an index first (half a minute). --wrong writes every
wrong answer with its cause. What the sets are, what they cannot show and what was measured: docs/linking-accuracy.md.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from bench.linking_forms import Taken, displaced, in_phrases, inflected, invented, misspelt
from bench.linking_report import print_causes, print_countries, print_matches, print_nils, print_sets, write_wrong
from bench.linking_sets import Name, cube, fmlama, hard_cases, held_out, labels
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.link.audit.audit import LinkAudit, judge, score
from polyculture.link.audit.gold import GoldMention
from polyculture.link.audit.verdict import Verdict
from polyculture.link.dumps.build import build_index
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.index.starter import write_starter

DATA = Path(__file__).parents[2] / "shared" / "data"
LABELS_A_KIND = 60
PASSES = 5  # aliases held out of an item, one at a time
LACKING = 5  # every fifth item is held out
SMALLEST = ("--snapshot", "{snapshot}", "--data", "{data}", "--each", "2", "--passes", "1", "--language", "en")


def main() -> None:
    """Prints the sets; the NILs, the matches, the countries and the causes of what went wrong below."""
    given = arguments()
    catalog = read_catalog()
    with opened(given.snapshot, given.data, catalog) as snapshot:
        done = list(score_sets(snapshot, catalog, given))
        print_sets(done)
        print_nils(done)
        print_matches(done)
        print_countries(snapshot, catalog, [result for name, result in done if name.startswith("FmLAMA")])
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
    parser.add_argument("--passes", type=int, default=PASSES, help=f"aliases held out of an item (default: {PASSES})")
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
        chosen = hard_cases(catalog, "starter")
        yield chosen.name, score(judge(chosen.gold, catalog, starter))
    for one in [hard_cases(catalog, "slice"), *fmlama(data, given.language), cube(data)]:
        yield one.name, score(judge(one.gold, catalog, snapshot))
    yield "aliases held out", _held_out(snapshot, catalog, given.passes)
    names, taken = labels(snapshot, catalog, given.each, given.language), Taken(snapshot, catalog)
    known = _known(names, catalog, snapshot)
    nils = [invented(names, taken, few), displaced(names, few)]
    for one in [*inflected(known, taken), misspelt(known, taken), *in_phrases(known, taken), *nils]:
        yield one.name, score(judge(one.gold, catalog, snapshot))
    yield "NIL: items the index lacks", _lacking(names, catalog, snapshot)


def _known(names: Sequence[Name], catalog: Catalog, snapshot: Snapshot) -> list[Name]:
    """The labels that are linked rightly as they stand: what another form then loses is the form's doing."""
    gold = [GoldMention(name.text, name.language, name.topic, (f"Q{name.item}",), name.kind) for name in names]
    verdicts = judge(gold, catalog, snapshot)
    return [name for name, verdict in zip(names, verdicts, strict=True) if verdict.right and verdict.status == "linked"]


def _held_out(snapshot: Snapshot, catalog: Catalog, passes: int) -> LinkAudit:
    """Each alias linked against a copy of the index that lacks it: of each item one is missing at a time."""
    verdicts: list[Verdict] = []
    for batch in held_out(snapshot, catalog, passes):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(shutil.copy(snapshot.path, Path(folder) / "copy.duckdb"))
            _forget(copy, batch)
            gold = [GoldMention(name.text, name.language, name.topic, (f"Q{name.item}",)) for name in batch]
            verdicts += judge(gold, catalog, open_snapshot(copy))
    return score(verdicts)


def _lacking(names: Sequence[Name], catalog: Catalog, snapshot: Snapshot) -> LinkAudit:
    """Labels of every fifth item linked against a copy of the index without those items, where no other bears them."""
    gone = [name for name in names if name.item % LACKING == 0]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(snapshot.path, Path(folder) / "copy.duckdb"))
        with duckdb.connect(str(copy)) as connection:
            items = {"items": list({name.item for name in gone})}
            connection.execute("DELETE FROM names WHERE list_contains($items::UINTEGER[], item)", items)
        rest = open_snapshot(copy)
        taken = Taken(rest, catalog)
        left = [name for name in gone if (name.language, name.text) not in taken]
        gold = [GoldMention(name.text, name.language, name.topic, (), name.kind) for name in left]
        return score(judge(gold, catalog, rest))


def _forget(file: Path, names: Sequence[Name]) -> None:
    """Deletes names from a snapshot, in every language in which their items bear them in the same normal form."""
    rows = pa.table({"item": [name.item for name in names], "name": [name.text for name in names]})
    with duckdb.connect(str(file)) as connection:
        connection.register("held_out", rows)
        connection.execute("""
            CREATE TEMP TABLE gone AS
            SELECT DISTINCT names.item, names.normalised FROM names JOIN held_out USING (item, name);
            DELETE FROM names USING gone WHERE names.item = gone.item AND names.normalised = gone.normalised;
        """)


if __name__ == "__main__":
    main()
