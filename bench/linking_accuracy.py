"""How well mentions are linked on real data: gold sets built on the fly, a line each.

    python -m bench.linking_accuracy [--snapshot FILE] [--data FOLDER] [--each 60] [--language en]

Without --snapshot the slice among the real data is built into an index first (half a minute). Why a mention of one's
own gold is linked wrongly, says `polyculture link audit`. What was measured: docs/evidence.md.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.linking_nils import KnownNames, displaced, invented
from bench.linking_sets import SetName, cube, fmlama, hard_cases, labels
from bench.results import keep
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.database import connect
from polyculture.cli.tables import print_table
from polyculture.link.audit.audit import LinkAudit, LinkScore, judge, score
from polyculture.link.audit.gold import GoldMention
from polyculture.link.dumps.build import build_index
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.index.starter import write_starter

DATA = Path(__file__).parents[2] / "shared" / "data"
LABELS_A_KIND = 60
RIGHT_NAMES = (None, 1.0, 0.7, 0.4)  # shares of mentions with the extractor's right names; None: it gives none
LACKING = 5  # every fifth item is held out
SMALLEST = ("--snapshot", "{snapshot}", "--data", "{data}", "--each", "2", "--language", "en")

ScoreTable = dict[str, dict[str, str]]  # row -> column -> value


def main() -> None:
    """Prints the tables, and keeps them."""
    given = arguments()
    catalog = read_catalog()
    with opened(given.snapshot, given.data, catalog) as snapshot, tempfile.TemporaryDirectory() as folder:
        tables = hard_tables(catalog, {"starter": write_starter(Path(folder) / "starter.duckdb"), "slice": snapshot})
        tables["Gold of others"] = others(snapshot, catalog, given)
        tables["Names of nothing"] = nils(snapshot, catalog, given)
    for title, table in tables.items():
        for row, numbers in table.items():
            keep("linking", title, row, numbers)
        columns = next(iter(table.values()))
        lines = [(row, *numbers.values()) for row, numbers in table.items()]
        print_table(("", *columns), lines, title=f"{title}, in per cent")


def hard_tables(catalog: Catalog, snapshots: Mapping[str, Snapshot]) -> dict[str, ScoreTable]:
    """Our hard cases by the share of right names, and the share found in each language.

    Found: linked, and to the right item, of those whose item belongs to the topic.
    """
    every: ScoreTable = {}
    found: ScoreTable = {}
    for name, snapshot in snapshots.items():
        for right in RIGHT_NAMES:
            chosen = hard_cases(catalog, name, right)
            result = score(judge(chosen.gold, catalog, snapshot))
            plain = [one.right for one in result.verdicts if one.status == "linked"]
            nil = [one.status == "linked" for one in result.verdicts if one.nil]
            every.setdefault(chosen.name, {}).update(
                {
                    f"{name}: accuracy": _percent(result.all.linkable),
                    f"{name}: of links right": f"{_share(plain)} of {len(plain)}",
                    f"{name}: NILs linked": f"{_share(nil)} of {len(nil)}",
                }
            )
            spoken: dict[str, list[bool]] = {}
            for one in result.verdicts:
                if one.linkable and one.in_topic:
                    spoken.setdefault(one.gold.language, []).append(one.right and one.status == "linked")
            for language, hits in sorted(spoken.items()):
                found.setdefault(language, {})[f"{name}, {chosen.name}"] = _share(hits)
    return {"Hard cases, by right names": every, "Found, by language": found}


def others(snapshot: Snapshot, catalog: Catalog, given: argparse.Namespace) -> ScoreTable:
    """Gold of others: linked to the expected item; of those whose item is in the topic; and of all that are linked."""
    data = given.data / "wikidata"
    results = {one.name: score(judge(one.gold, catalog, snapshot)) for one in fmlama(data, given.language)}
    results["FmLAMA, all"] = score([one for result in results.values() for one in result.verdicts])
    dishes = cube(data)
    results[dishes.name] = score(judge(dishes.gold, catalog, snapshot))
    return {
        name: {
            "n": f"{result.all.linkable.of:,}",
            "accuracy": _percent(result.all.linkable),
            "in the topic": _percent(result.all.in_topic),
            "precision": _percent(result.all.links),
        }
        for name, result in results.items()
    }


def nils(snapshot: Snapshot, catalog: Catalog, given: argparse.Namespace) -> ScoreTable:
    """Names that nothing of the topic bears: how many are linked all the same."""
    few = max(1, given.each // 3)
    names, taken = labels(snapshot, catalog, given.each, given.language), KnownNames(snapshot, catalog)
    made = [invented(names, taken, few), displaced(names, few)]
    results = {one.name: score(judge(one.gold, catalog, snapshot)) for one in made}
    results["items the index lacks"] = _lacking(names, catalog, snapshot)
    linked = {name: [one.status == "linked" for one in result.verdicts] for name, result in results.items()}
    return {name: {"n": f"{len(hits):,}", "linked": _share(hits)} for name, hits in linked.items()}


def _percent(scored: LinkScore) -> str:
    if scored.right is None or scored.interval is None:
        return "–"
    return f"{100 * scored.right:.1f} [{100 * scored.interval[0]:.1f}, {100 * scored.interval[1]:.1f}]"


def _share(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):.1f}" if hits else "–"


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


def _lacking(names: Sequence[SetName], catalog: Catalog, snapshot: Snapshot) -> LinkAudit:
    """Labels of every fifth item linked against a copy of the index without those items, where no other bears them."""
    gone = [name for name in names if name.item % LACKING == 0]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(snapshot.path, Path(folder) / "copy.duckdb"))
        with connect(copy) as connection:
            items = {"items": list({name.item for name in gone})}
            for table in ("names", "keys"):
                connection.execute(f"DELETE FROM {table} WHERE list_contains($items::UINTEGER[], item)", items)
        rest = open_snapshot(copy)
        taken = KnownNames(rest, catalog)
        left = [name for name in gone if (name.language, name.text) not in taken]
        gold = [GoldMention(name.text, name.language, name.topic, (), name.kind) for name in left]
        return score(judge(gold, catalog, rest))


if __name__ == "__main__":
    main()
