"""`polyculture corpus` as a user runs it: hand-counted scores, nothing twice, a changed corpus counted anew."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.instruments.cbs.averages import tally
from polyculture.instruments.cbs.bias_rows import ScoreGroup, score_number
from polyculture.instruments.cbs.corpus_pairs import pair_numbers
from polyculture.instruments.cbs.score_matrix import ContextCondition, ScoreMatrix
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.instruments.test_datasets import OWN
from tests.polyculture.test_command_line import one_line, polyculture
from tests.report_run import sections_named

EXPERIMENT = """
name = "likely"
models = ["openai:none"]
"""
CONTEXTS = "language,culture,type,setting,context\nsw,Swahili,food,grounded,Jana tulikula [MASK]\n"
ENTITIES = """language,culture,type,entity
sw,Swahili,food,wali
sw,Swahili,food,ugali na samaki
sw,Swahili,food,mandazi
sw,Western,food,piza
sw,Western,food,keki
"""
CORPUS = ["Jana tulikula wali.", "Jana tulikula WALI tena.", "Jana tulikula piza!", "Leo tulikula ugali na samaki"]


def _write(folder: Path) -> Path:
    (folder / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    for name, text in {**OWN, "contexts.csv": CONTEXTS, "entities.csv": ENTITIES}.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_corpus(folder, CORPUS)
    return folder


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment whose corpus was counted."""
    folder = _write(tmp_path_factory.mktemp("corpus"))
    said = corpus(folder)
    assert said.returncode == 0, said.stderr
    assert "Read 0.0 MB" in said.stderr
    assert "score news: 5 done, 0 of them before, 0 failed" in said.stderr
    assert "Pairs that the Western entity wins" in said.stdout
    assert "tied" in said.stdout
    return folder


def write_corpus(folder: Path, lines: list[str]) -> None:
    text = "".join(json.dumps({"content": line}) + "\n" for line in lines)
    (folder / "news.jsonl").write_text(text, encoding="utf-8")


def corpus(folder: Path, *words: str) -> Any:
    command = ("corpus", "exp.toml", "--corpus", "news.jsonl", "--text-field", "content", "--language", "sw")
    return polyculture(*command, "--data", "own", "--folder", folder, "--processes", "1", *words, cwd=folder)


def rows(folder: Path, query: str) -> list[dict[str, Any]]:
    asked = polyculture("sql", "exp.toml", query, "--format", "json", cwd=folder)
    assert asked.returncode == 0, asked.stderr
    return [json.loads(line) for line in asked.stdout.splitlines()]


def test_a_corpus_is_a_model_in_the_store(counted: Path) -> None:
    query = (
        "SELECT entity, token_log_probabilities AS each FROM scores WHERE model = 'ngram:news:unsmoothed' ORDER BY 1"
    )
    found = {row["entity"]: row["each"] for row in rows(counted, query)}
    # "jana tulikula" stands three times: twice before wali, once before piza. JSON has no infinity: null.
    assert found["wali"] == pytest.approx([math.log(2 / 3)])
    assert found["piza"] == pytest.approx([math.log(1 / 3)])
    assert found["ugali na samaki"] == pytest.approx([None, None, 0.0])
    assert found["keki"] == found["mandazi"] == [None]
    scores = rows(counted, "SELECT model, estimate, tied FROM cbs_scores WHERE rule = 'sum' ORDER BY model DESC")
    # wali beats both; piza beats ugali and mandazi; keki ties with those.
    expected = {"estimate": pytest.approx(2 / 6), "tied": 2}
    assert scores == [{"model": "ngram:news:unsmoothed", **expected}]
    assert rows(counted, "SELECT impossible, scored FROM score_health") == [{"impossible": 3, "scored": 5}]


def test_wins_ties_and_losses_are_told_apart(counted: Path) -> None:
    """Strictly, two entities that the corpus lacks are no win of the Western one: half of them are in the score."""
    query = "SELECT metric, estimate, n, units, low, no_interval FROM numbers WHERE measure = 'cbs' AND topic = '*' "
    query += "AND language = 'sw' AND model = 'ngram:news:unsmoothed' AND method = 'sum'"
    found = {row["metric"]: row for row in rows(counted, query)}
    # piza beats ugali and mandazi; wali beats piza and keki; keki ties with ugali and mandazi: none of them is there.
    assert {name: row["estimate"] for name, row in found.items()} == pytest.approx(
        {"cbs": 2 / 6, "native_more": 2 / 6, "tied": 2 / 6, "unseen": 2 / 6}
    )
    assert {(row["n"], row["units"], row["low"]) for row in found.values()} == {(6, 1, None)}
    assert found["native_more"]["no_interval"] == "few contexts"
    assert len(rows(counted, query.replace("= 'sum'", "IN ('mean', 'probability')"))) == 2 * 4


def test_the_report_has_wins_and_ties(counted: Path) -> None:
    run = RunFolder(counted / "runs" / "likely")
    page = write_report(run, layout=store_layout(), sections=sections_named("corpora")).read_text(encoding="utf-8")
    found = re.search(r'<section[^>]*id="corpora".*?</section>', page, re.DOTALL)
    assert found
    groups = re.findall(r"<tbody[^>]*>(.*?)</tbody>", found.group(), re.DOTALL)
    assert [re.findall(r'<span title="([^"]*)">', group) for group in groups] == [["ngram:news:unsmoothed"]]
    lines = [line for line in groups[0].split("<tr>") if "food" in line]
    cells = [re.findall(r'<span class="value">([^<]*)</span>|<td class="number">([^<]*)</td>', line) for line in lines]
    assert ["".join(cell) for cell in cells[0]] == ["0.33", "0.33", "0.33", "0.33", "1", "6"]
    assert "too few contexts for an interval" in lines[0]


def test_shares_of_pairs_are_those_of_all_pairs_with_the_intervals_of_scores() -> None:
    chance = np.random.default_rng(6)
    native, western = chance.integers(0, 4, (9, 12)).astype(float), chance.integers(0, 5, (9, 15)).astype(float)
    native[native == 0], western[western == 0] = -np.inf, -np.inf
    native[2, 3] = np.nan
    of_type = tally(ScoreMatrix(native, western), "food")
    assert of_type is not None
    group = ScoreGroup("ngram:news:unsmoothed", "own", "sw", "Swahili", "food", "causal")
    score = score_number("sum", group, ContextCondition("grounded", "", ""), [of_type], "")
    found = {one.metric: one for one in (score, *pair_numbers(score, [of_type]))}
    outcomes: dict[str, list[Any]] = {"cbs": [], "native_more": [], "tied": [], "unseen": []}
    for one, other in zip(native, western, strict=True):
        pairs = [(a, b) for a in one[~np.isnan(one)] for b in other]
        outcomes["cbs"].append(np.mean([b > a for a, b in pairs]))
        outcomes["native_more"].append(np.mean([b < a for a, b in pairs]))
        outcomes["tied"].append(np.mean([b == a for a, b in pairs]))
        outcomes["unseen"].append(np.mean([b == a == -np.inf for a, b in pairs]))
    for metric, shares in outcomes.items():
        assert found[metric].estimate == pytest.approx(np.mean(shares))
        if metric != "tied":
            low, high = found[metric].low, found[metric].high
            assert low < np.mean(shares) < high
    assert found["tied"].low is found["tied"].high is None


def test_nothing_is_counted_twice_unless_the_corpus_changes(counted: Path) -> None:
    again = corpus(counted)
    assert "Read" not in again.stderr
    assert "5 done, 5 of them before" in again.stderr
    write_corpus(counted, [*CORPUS, "Jana tulikula keki"])
    assert "5 done, 0 of them before" in corpus(counted).stderr
    query = "SELECT log_probability AS found FROM scores WHERE model = 'ngram:news:unsmoothed' AND entity = 'keki'"
    assert rows(counted, query) == [{"found": pytest.approx(math.log(1 / 4))}]


def test_what_cannot_be_counted_is_one_line(tmp_path: Path) -> None:
    folder = _write(tmp_path)
    assert "letters, digits" in one_line(corpus(folder, "--name", "a b"))
    assert "no context of language 'fi'" in one_line(corpus(folder, "--language", "fi"))
    assert "has no field 'body'" in one_line(corpus(folder, "--text-field", "body"))
