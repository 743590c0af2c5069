"""What each named form of linking changes in one run: links, resolution, metrics; with all, without each, with none.

    python -m bench.linking_effect --snapshot FILE [--run FOLDER] [--data FOLDER]

Without --run the run is made of people's own answers: BLEnD's about food and drink in English, Spanish, Korean, Persian
and Chinese, from seven countries. An answer is a response that mentions what it says, in its first spelling; each
person who gave it counts. With --run, a copy of that run's folder is linked anew; the folder stays as it is.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import tempfile
from pathlib import Path

import orjson

from bench.linking_accuracy import DATA
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.manifest import require_run
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.cli.tables import print_table
from polyculture.link.forms import FORMS, Form
from polyculture.link.index.snapshot import open_snapshot
from polyculture.link.index.source import IndexSource
from polyculture.link.rules import LinkRules
from polyculture.link.stage import link_run
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

SMALLEST = ("--snapshot", "{snapshot}", "--data", "{data}", "--questions", "2")
PEOPLE = {
    "UK": ("GB", "en"),
    "US": ("US", "en"),
    "Spain": ("ES", "es"),
    "Mexico": ("MX", "es"),
    "South_Korea": ("KR", "ko"),
    "Iran": ("IR", "fa"),
    "China": ("CN", "zh"),
}
DRINK = re.compile(r"\b(drinks?|beverage|alcohol)\b")
# Questions whose answers are no food: hours, numbers, places, tools, persons, companies.
NO_FOOD = re.compile(
    r"Provide|how (many|long)|which (day|meal|country)|region|when do|utensil|chef|show|chain|shop|brand", re.I
)
METRICS = ("specificity", "diversity", "consensus")
NUMBERS = """
    SELECT metric, avg(estimate) FROM cell_values
    WHERE metric <> 'specificity' OR condition = 'explicit'
    GROUP BY metric
"""
LINKS = "SELECT count(*) FILTER (status = 'linked'), count(*) FILTER (status = 'ambiguous'), count(*) FROM links"
MENTIONS = """
    SELECT count(*) FILTER (link.status = 'linked'), count(*)
    FROM mentions AS mention JOIN links AS link USING (language, topic, kind, surface)
"""


def main() -> None:
    """Prints a row for all forms, for all but each, and for none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--snapshot", type=Path, required=True, help="an index, e.g. of the slice")
    parser.add_argument("--run", type=Path, help="the folder of a run (default: people's answers)")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--questions", type=int, help="of so many questions a country (default: all)")
    given = parser.parse_args()
    source, catalog = IndexSource(open_snapshot(given.snapshot)), read_catalog()
    chosen: dict[str, tuple[Form, ...]] = {"all forms": FORMS}
    chosen |= {f"without {form}": tuple(other for other in FORMS if other != form) for form in FORMS}
    chosen['`"paper"`: none'] = ()
    with tempfile.TemporaryDirectory() as folder:
        if given.run:
            run = RunFolder(Path(shutil.copytree(given.run, Path(folder) / "run")))
        else:
            run = _answers(given.data / "blend", Path(folder) / "run", given.questions)
        rows = [(name, *_numbers(run, catalog, source, forms)) for name, forms in chosen.items()]
    columns = ("forms", "names linked", "ambiguous", "mentions linked", *METRICS)
    print_table(columns, rows, title="One run, linked with other forms")


def _numbers(run: RunFolder, catalog: Catalog, source: IndexSource, forms: tuple[Form, ...]) -> list[str]:
    """What a run's links and metrics are with these forms."""
    link_run(run, require_run(run), catalog, source, rules=LinkRules(forms=forms))
    with open_store(run, store_layout()) as store:
        linked, ambiguous, names = store.execute(LINKS).fetchone() or (0, 0, 0)
        of_mentions, mentions = store.execute(MENTIONS).fetchone() or (0, 0)
        found = dict(store.execute(NUMBERS).fetchall())
    values = [found.get(metric) for metric in METRICS]
    return [
        f"{linked:,} of {names:,}, {linked / max(names, 1):.1%}",
        f"{ambiguous:,}",
        f"{of_mentions:,} of {mentions:,}, {of_mentions / max(mentions, 1):.1%}",
        *("–" if value is None else f"{value:.3f}" for value in values),
    ]


def _answers(data: Path, folder: Path, most: int | None) -> RunFolder:
    """A run of people's answers to questions about food and drink."""
    builder = StoreBuilder(folder, models=["people"], countries=[country for country, _ in PEOPLE.values()])
    for place, (country, language) in PEOPLE.items():
        answers = orjson.loads((data / "annotations" / f"{place}_data.json").read_bytes())
        prompts = {topic: builder.ask(language, topic, country) for topic in ("food", "beverage")}
        for question in _questions(data / "questions" / f"{place}_questions.csv")[:most]:
            english = answers[question]["en_question"]
            topic, kind = ("beverage", "drink") if DRINK.search(english) else ("food", "dish")
            for answer in answers[question]["annotations"]:
                for _ in range(int(answer["count"]) if answer["answers"] else 0):
                    builder.answer(prompts[topic], [{"surface": answer["answers"][0], "kind": kind}])
    return builder.write()


def _questions(file: Path) -> list[str]:
    with file.open(encoding="utf-8-sig", newline="") as rows:
        return [
            row["ID"]
            for row in csv.DictReader(rows)
            if row["Topic"] == "Food" and not NO_FOOD.search(" ".join(row.values()))
        ]


if __name__ == "__main__":
    main()
