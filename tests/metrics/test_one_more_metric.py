"""One more metric is a view and a line, those of CONTRIBUTING.md: compared, printed, on the page and in downloads."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import contextlib, io, json, sys
from pathlib import Path
from polyculture.cache.store.store import open_store
from polyculture.cli.declared import print_declared
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.measure import measure
from polyculture.metrics.prompt_values import prompt_values
from polyculture.reports.report import write_report
from polyculture.reports.sections import HEADLINE, OWN_SECTIONS
from polyculture.reports.tables import TableFormat, write_tables
from tests.store_builder import StoreBuilder

builder = StoreBuilder(Path(sys.argv[1]), models=("m", "n"), n=20)
for language in ("de", "en"):
    prompt = builder.ask(language, "food", "JP")
    for model in builder.models:
        for sample in range(20):
            builder.answer(prompt, ["sushi", "natto", "mochi"] if sample % 2 else ["sushi"], model=model, sample=sample)
builder.link("sushi", "Q1")
builder.link("natto", "Q2")
builder.link("mochi", "Q3")
builder.entity("Q1", JP="P495")
builder.entity("Q2", JP="P495")
builder.entity("Q3", JP="P495")  # nobody knows how many wikis have a page on it
builder.rows["entities"][0]["sitelinks"], builder.rows["entities"][1]["sitelinks"] = 90, 49
run = builder.write()
measure(run)
with open_store(run, METRICS_LAYOUT, KEPT) as store:
    own = "metric = 'known_to_50_sites' AND level = 'model' AND model = 'm'"
    numbers = store.sql(f"SELECT estimate, low < estimate, high > estimate FROM numbers WHERE {own}").fetchall()
    of_prompts = [
        (one.estimate, one.variance > 0)
        for one in prompt_values(store)["known_to_50_sites"]
        if one.place.model == "m"
    ]
    rows = compare([ComparedRun(store)], [Sides("model", "m", "n")], Terms(targets=("same_prompts",)))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        print_declared(HEADLINE.declared, HEADLINE.declared.select(store))
sections = [section for section in OWN_SECTIONS if section.name in ("numbers", "method")]
page = write_report(run, sections=sections).read_text(encoding="utf-8")
write_tables(run, [TableFormat.LATEX, TableFormat.CSV], sections=sections)
tables = {path.name: path.read_text(encoding="utf-8") for path in run.report_tables.iterdir()}
compared = [row.difference.metric for row in rows]
print(json.dumps([numbers, of_prompts, compared, printed.getvalue(), page, tables]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The product with the view and the line of CONTRIBUTING.md, and links to everything else."""
    tree = tmp_path_factory.mktemp("tree")
    said = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = [block.replace("\n        ", "\n")[8:] for block in re.findall(r"(?:^ {8}.*\n)+", said, re.MULTILINE)]
    [view], [line] = ([one for one in blocks if start in one] for start in ("VIEW known_to_50_sites", "Metric("))
    metrics = tree / "polyculture" / "metrics"
    _link(ROOT / "polyculture", metrics.parent, "metrics")
    _link(ROOT / "metrics", metrics, "views", "declared.py")
    _link(ROOT / "metrics" / "views", metrics / "views")
    (metrics / "views" / "51_known_to_50_sites.sql").write_text(view, encoding="utf-8")
    declared, head = (ROOT / "metrics" / "declared.py").read_text(encoding="utf-8"), "DECLARED = (\n"
    asked = line.replace("SHARE)", "SHARE, of_prompts=True)")
    assert head in declared
    assert asked != line
    (metrics / "declared.py").write_text(declared.replace(head, f"{head}    {asked}"), encoding="utf-8")
    return tree


def _link(folder: Path, to: Path, *but: str) -> None:
    to.mkdir()
    for own in folder.iterdir():
        if own.name not in (*but, "__pycache__"):
            (to / own.name).symlink_to(own)


def test_a_view_and_a_line_are_a_metric_everywhere(tree: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{tree}{os.pathsep}{ROOT}", "COLUMNS": "1000"}
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "run")]
    done = subprocess.run(words, check=False, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    numbers, of_prompts, compared, printed, page, tables = json.loads(done.stdout.splitlines()[-1])
    assert numbers == [[pytest.approx(2 / 3), True, True]]  # sushi 20 times, natto 10 times; mochi is in neither
    assert of_prompts == [[pytest.approx(2 / 3), True]] * 2  # a prompt in each language
    assert "known_to_50_sites" in compared
    assert "known to 50" in printed
    assert "Known to 50 sites" in page
    assert "Known to 50 sites" in tables["headline.tex"]
    assert "known_to_50_sites" in tables["headline.csv"]
