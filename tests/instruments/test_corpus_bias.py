"""`polyculture corpus` as a user runs it: hand-counted scores, nothing twice, a changed corpus counted anew."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.instruments.corpus.outcomes import outcomes
from tests.instruments.test_datasets import OWN
from tests.polyculture.test_command_line import one_line, polyculture

EXPERIMENT = """
name = "likely"
models = ["openai:none"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    for name, text in {**OWN, "contexts.csv": CONTEXTS, "entities.csv": ENTITIES}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    write_corpus(tmp_path, CORPUS)
    return tmp_path


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


def test_a_corpus_stands_in_the_store_as_two_models(folder: Path) -> None:
    said = corpus(folder)
    assert said.returncode == 0, said.stderr
    assert "score news: 10 done, 0 of them before, 0 failed" in said.stderr
    query = (
        "SELECT entity, token_log_probabilities AS each FROM scores WHERE model = 'ngram:news:unsmoothed' ORDER BY 1"
    )
    found = {row["entity"]: row["each"] for row in rows(folder, query)}
    # "jana tulikula" stands three times: twice before wali, once before piza. JSON has no infinity: null.
    assert found["wali"] == pytest.approx([math.log(2 / 3)])
    assert found["piza"] == pytest.approx([math.log(1 / 3)])
    assert found["ugali na samaki"] == pytest.approx([None, None, 0.0])
    assert found["keki"] == found["mandazi"] == [None]
    scores = rows(folder, "SELECT model, cbs, cbs_half, tied FROM cbs WHERE rule = 'sum' ORDER BY model DESC")
    # wali beats both; piza beats ugali and mandazi; keki ties with those.
    expected = {"cbs": pytest.approx(2 / 6), "cbs_half": pytest.approx(3 / 6), "tied": 2}
    assert scores[0] == {"model": "ngram:news:unsmoothed", **expected}
    # Smoothed, keki ties with mandazi alone: ugali stands elsewhere, and goes on for two more tokens.
    assert scores[1]["model"] == "ngram:news:smoothed"
    assert scores[1]["tied"] == 1
    health = rows(folder, "SELECT impossible, scored FROM score_health ORDER BY model")
    assert health == [{"impossible": 0, "scored": 5}, {"impossible": 3, "scored": 5}]


def test_wins_ties_and_losses_are_told_apart(folder: Path) -> None:
    """Strictly, two entities that the corpus lacks are no win of the Western one: half of them are in the score."""
    said = corpus(folder)
    assert "Which of a pair is the more probable" in said.stdout
    assert "tied" in said.stdout
    query = "SELECT * FROM pair_outcomes WHERE model = 'ngram:news:unsmoothed' AND rule = 'sum' AND entity_type IS NULL"
    [row] = rows(folder, query)
    # piza beats ugali and mandazi; wali beats piza and keki; keki ties with ugali and mandazi: none of them is there.
    shares = row["western_more"], row["native_more"], row["tied"], row["tied_unseen"]
    assert shares == pytest.approx((2 / 6, 2 / 6, 2 / 6, 2 / 6))
    assert (row["pairs"], row["contexts"], row["western_low"], row["lacking"]) == (6, 1, None, "few contexts")
    smoothed = query.replace("unsmoothed", "smoothed")
    assert len(rows(folder, query.replace("= 'sum'", "IN ('mean', 'probability')"))) == 2
    [row] = rows(folder, smoothed)
    assert row["tied"] == pytest.approx(1 / 6)  # equal, and none impossible
    assert row["tied_unseen"] == 0


def test_the_report_has_wins_and_ties(folder: Path) -> None:
    assert corpus(folder).returncode == 0
    assert polyculture("report", "exp.toml", cwd=folder).returncode == 0
    page = (folder / "runs" / "likely" / "report.html").read_text(encoding="utf-8")
    found = re.search(r'<section[^>]*id="corpora".*?</section>', page, re.DOTALL)
    assert found
    groups = re.findall(r"<tbody[^>]*>(.*?)</tbody>", found.group(), re.DOTALL)
    assert [re.findall(r'<span title="([^"]*)">', group) for group in groups] == [
        ["ngram:news:smoothed"],
        ["ngram:news:unsmoothed"],
    ]
    lines = [line for line in groups[1].split("<tr>") if "food" in line]
    cells = [re.findall(r'<span class="value">([^<]*)</span>|<td class="number">([^<]*)</td>', line) for line in lines]
    assert ["".join(cell) for cell in cells[0]] == ["0.33", "0.33", "0.33", "0.33", "1", "6"]
    assert "too few contexts for an interval" in lines[0]


def test_outcomes_have_the_intervals_of_a_score_without_ties() -> None:
    chance = np.random.default_rng(6)
    native, western = chance.integers(0, 4, (9, 12)).astype(float), chance.integers(0, 5, (9, 15)).astype(float)
    native[native == 0], western[western == 0] = -np.inf, -np.inf
    native[2, 3] = np.nan
    found = outcomes(native, western)
    assert found is not None
    won = [
        np.mean([b > a for a in one[~np.isnan(one)] for b in other]) for one, other in zip(native, western, strict=True)
    ]
    lost = [
        np.mean([b < a for a in one[~np.isnan(one)] for b in other]) for one, other in zip(native, western, strict=True)
    ]
    assert found.western.value == pytest.approx(np.mean(won))
    assert 1 - found.not_native.value == pytest.approx(np.mean(lost))
    low, high = found.western.limits()
    assert low is not None
    assert high is not None
    assert low < found.western.value < high
    assert outcomes(native[:, :0], western) is None


def test_nothing_is_counted_twice_unless_the_corpus_changes(folder: Path) -> None:
    assert "Read 0.0 MB" in corpus(folder).stderr
    again = corpus(folder)
    assert "Read" not in again.stderr
    assert "10 done, 10 of them before" in again.stderr
    write_corpus(folder, [*CORPUS, "Jana tulikula keki"])
    assert "10 done, 0 of them before" in corpus(folder).stderr
    query = "SELECT log_probability AS found FROM scores WHERE model = 'ngram:news:unsmoothed' AND entity = 'keki'"
    assert rows(folder, query) == [{"found": pytest.approx(math.log(1 / 4))}]


BLOG = ["Jana tulikula keki.", "Jana tulikula wali.", "Jana tulikula keki na keki", "Kesho tulikula ugali na samaki"]
MIXED = """
SELECT model, entity, log_probability AS found FROM scores
WHERE model IN ('ngram:{one}:{smoothing}', 'ngram:{other}:{smoothing}') ORDER BY entity, model
"""


def mix(folder: Path, *words: str) -> Any:
    command = ("corpus", "exp.toml", "--language", "sw", "--data", "own", "--folder", folder)
    return polyculture(*command, *words, cwd=folder)


def test_a_mixture_follows_from_stored_counts(folder: Path) -> None:
    """As they are, two corpora make the scores of one text of both; with shares, that of so much of each."""
    assert corpus(folder).returncode == 0
    write_corpus(folder, BLOG)
    assert corpus(folder, "--name", "blog").returncode == 0
    write_corpus(folder, [*CORPUS, *BLOG])
    assert corpus(folder, "--name", "both").returncode == 0
    (folder / "news.jsonl").unlink()  # no text is read any more
    mixed = mix(folder, "--mix", "news", "--mix", "blog")
    assert mixed.returncode == 0, mixed.stderr
    assert "news-blog: 10 done, 0 of them before" in mixed.stderr
    found = rows(folder, MIXED.format(one="both", other="news-blog", smoothing="unsmoothed"))
    assert len(found) == 10
    for one, other in zip(found[::2], found[1::2], strict=True):
        assert one["entity"] == other["entity"]
        assert one["found"] == (None if other["found"] is None else pytest.approx(other["found"]))
    assert [row["found"] is None for row in found[::2]].count(True) == 2  # mandazi is in neither; ugali not behind jana
    shared = mix(folder, "--mix", "news=3", "--mix", "blog=1", "--name", "mostly-news")
    assert shared.returncode == 0, shared.stderr
    query = "SELECT entity, log_probability AS found FROM scores WHERE model = 'ngram:mostly-news:{}' ORDER BY entity"
    likelihoods = {row["entity"]: row["found"] for row in rows(folder, query.format("unsmoothed"))}
    # news has 15 tokens and "jana tulikula" 3 times, once before piza; blog has 15 and 3, twice before keki.
    sizes = {row["model"]: row["corpus_tokens"] for row in rows(folder, "FROM ngram_counts")}
    weights = 0.75 / sizes["ngram:news:unsmoothed"], 0.25 / sizes["ngram:blog:unsmoothed"]
    assert likelihoods["piza"] == pytest.approx(math.log(weights[0] / (3 * weights[0] + 3 * weights[1])))
    smooth = {row["entity"]: row["found"] for row in rows(folder, query.format("smoothed"))}
    each = "SELECT model, log_probability AS found FROM scores WHERE entity = 'piza' AND model LIKE '%smoothed'"
    of = {row["model"]: math.exp(row["found"] or -math.inf) for row in rows(folder, each)}
    expected = 0.75 * of["ngram:news:smoothed"] + 0.25 * of["ngram:blog:smoothed"]
    assert smooth["piza"] == pytest.approx(math.log(expected))


def test_what_cannot_be_mixed_is_one_line(folder: Path) -> None:
    assert "either files or parts" in one_line(mix(folder))
    assert "two parts or more" in one_line(mix(folder, "--mix", "news"))
    assert "no corpus 'news' is counted in this run" in one_line(mix(folder, "--mix", "news", "--mix", "blog"))
    assert corpus(folder, "--entities", "1").returncode == 0
    assert corpus(folder, "--entities", "2", "--name", "blog").returncode == 0
    assert "Did you mean" in one_line(mix(folder, "--mix", "new", "--mix", "blog"))
    assert "no share above 0" in one_line(mix(folder, "--mix", "news=x", "--mix", "blog=1"))
    assert "others none" in one_line(mix(folder, "--mix", "news=1", "--mix", "blog"))
    assert "named twice" in one_line(mix(folder, "--mix", "news=1", "--mix", "news=1"))
    told = one_line(mix(folder, "--mix", "news", "--mix", "blog", "--entities", "2"))
    assert "corpus 'news' has no score of" in told


def test_a_report_shows_the_corpus_beside_the_models(folder: Path) -> None:
    assert corpus(folder).returncode == 0
    made = polyculture("report", "exp.toml", cwd=folder)
    assert made.returncode == 0, made.stderr
    page = (folder / "runs" / "likely" / "report.html").read_text(encoding="utf-8")
    assert "news:unsmoothed" in page
    assert "news:smoothed" in page


def test_what_cannot_be_counted_is_one_line(folder: Path) -> None:
    assert "letters, digits" in one_line(corpus(folder, "--name", "a b"))
    assert "no context of language 'fi'" in one_line(corpus(folder, "--language", "fi"))
    assert "has no field 'body'" in one_line(corpus(folder, "--text-field", "body"))
