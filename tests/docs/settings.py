"""The folders in which the commands of the pages run.

`exp.toml` asks the second model of the demo in three languages; its answers were recorded, and no model is loaded.
"""

from __future__ import annotations

import atexit
import csv
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.cli.demo import RECORDED
from polyculture.experiment.snapshots import find_snapshot
from polyculture.link.index.starter_files import STARTER
from tests.docs.page_parts import parts
from tests.polyculture.test_command_line import polyculture
from tests.sources.test_item_scores import lm_eval, sample
from tests.test_house import ROOT

ANSWERS = Path(__file__).with_name("recorded")  # of small models to docs/cookbook.md; a run for each of its studies
PORTUGUESE = Path(__file__).with_name("portuguese.tsv")


def empty(folder: Path) -> None:
    folder.mkdir()


def recorded(folder: Path) -> None:
    """`exp.toml`, of which nothing was run; a run has its answers."""
    shutil.copytree(RECORDED, folder / "runs" / "recorded")
    text = (RECORDED / "experiment.toml").read_text(encoding="utf-8")
    assert 'name = "recorded"' in text
    (folder / "exp.toml").write_text(text.replace('name = "recorded"', 'name = "exp"'), encoding="utf-8")


def measured(folder: Path) -> None:
    """`exp.toml` and its run, made once in a process."""
    shutil.copytree(_measured(), folder)


@cache
def _measured() -> Path:
    folder = of_all_pages() / "measured"
    recorded(folder)
    done = polyculture("run", "exp.toml", cwd=folder, POLYCULTURE_CACHE=str(of_all_pages() / "cache"))
    assert done.returncode == 0, done.stderr
    return folder


def cookbook(folder: Path) -> None:
    """Runs that have the answers for which the studies of the page ask, and a second snapshot."""
    shutil.copytree(RECORDED, folder / "runs" / "recorded")
    shutil.copytree(ANSWERS, folder / "runs", dirs_exist_ok=True)
    starter = str(find_snapshot("starter", folder).path)
    done = polyculture("wikidata", "starter", starter, "-o", "best-known", "--items", "1000", cwd=folder)
    assert done.returncode == 0, done.stderr
    _with_portuguese(folder / "with-portuguese")


def _with_portuguese(folder: Path) -> None:
    """The starter, and Portuguese names of some foods that were written for the page, not taken from Wikidata."""
    shutil.copytree(STARTER, folder)
    names = pq.read_table(folder / "names.parquet")
    rows = csv.DictReader(PORTUGUESE.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    added = [{"item": int(row["item"]), "language": "pt", "name": row["name"], "kind": "label"} for row in rows]
    pq.write_table(pa.concat_tables([names, pa.Table.from_pylist(added, names.schema)]), folder / "names.parquet")


def study(name: str) -> Callable[[Path], None]:
    """`exp.toml` is a study of the cookbook, with its run."""

    def setting(folder: Path) -> None:
        folder.mkdir()
        page = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
        files = {part.name: part.text for part in parts(page) if part.sort == "file"}
        files["exp.toml"] = files[f"{name}.toml"].replace(f'name = "{name}"', 'name = "exp"')
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        shutil.copytree(ANSWERS, folder / "runs")
        done = polyculture("run", "exp.toml", cwd=folder, POLYCULTURE_CACHE=str(of_all_pages() / "cache"))
        assert done.returncode == 0, done.stderr

    return setting


def quiz(folder: Path) -> None:
    """The study of the cookbook's questions, and answers to them of two made-up models, which know eight and two."""
    study("quiz")(folder)
    with (folder / "customs.csv").open(encoding="utf-8", newline="") as file:
        questions = list(csv.DictReader(file))
    for model, known in {"well-read": 8, "guessing": 2}.items():
        options = {row["id"]: row["right"] if at < known else "abc"[("abc".index(row["right"]) + 1) % 3]
                   for at, row in enumerate(questions)}  # fmt: skip
        rows = (
            {"id": row["id"], "model": model, "prompt": "house", "answer": row[options[row["id"]]]} for row in questions
        )
        (folder / f"{model}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")


def logs(folder: Path) -> None:
    """Logs of lm-evaluation-harness: three models on 400 items about 100 passages, some of which are harder."""
    random = np.random.default_rng(8)
    hard = random.normal(0, 1, 400) + np.repeat(random.normal(0, 1, 100), 4)
    for model, skill in {"org/small": 0.0, "org/large": 0.7, "org/large-tuned": 0.6}.items():
        right = random.random(400) < 1 / (1 + np.exp(-(hard + skill)))
        records = [sample(number, acc=float(one)) for number, one in enumerate(right)]
        for number, record in enumerate(records):
            record["doc"] = {"passage_id": number // 4}
        lm_eval(folder / "logs", model, records, "reading", {"acc": True})


def swaps(folder: Path) -> None:
    """A run beside the demo's own, with the answers of its model."""
    shutil.copytree(ANSWERS / "recorded-swaps", folder / "swaps-demo" / "runs" / "recorded-swaps")


@cache
def of_all_pages() -> Path:
    """A folder for what is made once in a process."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    return folder


# Of each page whose outputs are shown. The tutorial loads a model: its test is one of the long ones.
SETTINGS: dict[str, Callable[[Path], None]] = {
    "README.md": empty,
    "docs/tutorial.md": empty,
    "docs/statistics.md": measured,
    "docs/claims.md": measured,
    "docs/gallery.md": measured,
    "docs/cookbook.md": cookbook,
    "docs/gate.md": measured,
    "docs/queries.md": measured,
    "docs/experiments.md": recorded,
    "docs/importing.md": empty,
    "docs/linking.md": empty,
    "docs/extraction.md": empty,
    "docs/scores.md": logs,
    "docs/cbs.md": study("expected"),
    "docs/question-sets.md": quiz,
    "docs/swaps.md": swaps,
}
LONG = frozenset({"docs/tutorial.md"})
