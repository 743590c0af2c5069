"""Both readings of a data set, ours and that as published: what a paper's tables choose of scores."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.manifest import Manifest, write_manifest
from polyculture.cache.parquet import write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.generate.engines.base import ModelSpec
from polyculture.instruments.cbs.averages import Tally
from polyculture.instruments.cbs.protocol import Protocol, protocol_score
from polyculture.instruments.cbs.selection import scoring_jobs
from polyculture.instruments.datasets.english import in_english
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import Selection
from polyculture.instruments.papers.needed import ALL, needed_in
from polyculture.instruments.papers.paper import papers
from polyculture.instruments.papers.scored import Place, places, scored_tallies
from polyculture.running.layout import store_layout
from tests.instruments.test_cbs_command import EXPERIMENT, folder, rows  # noqa: F401
from tests.instruments.test_cbs_store import ToyEngine
from tests.polyculture.test_command_line import polyculture
from tests.steps import score_job

MODEL, SEED = "openai:toy", 1
ENTITIES = """language,culture,type,entity,english,gender
ja,Japanese,food,ramen,ramen noodles,
ja,Japanese,food,sushi,sushi rolls,
ja,Japanese,food,ramen,ramen noodles,
ja,Japanese,food,curry,curry rice,
ja,Western,food,pizza,pizza pie,
ja,Western,food,pasta,some pasta,
ja,Western,food,curry,a curry,
ja,Japanese,names,Yu,Yuu,female
ja,Japanese,names,Yu,Yuu,male
ja,Japanese,names,Ken,Kenn,male
ja,Japanese,names,Hana,Hannah,female
ja,Western,names,Jo,Joe,female
ja,Western,names,Jo,Joe,male
ja,Western,names,Tom,Tomm,male
ja,Western,names,Anna,Anne,female
"""
CONTEXTS = """language,culture,type,setting,form,context,english,gender
ja,Japanese,food,neutral,causal,A ate [MASK],I ate [MASK],
ja,Japanese,food,neutral,causal,B ate [MASK],You ate [MASK],
ja,Japanese,food,neutral,causal,A ate [MASK],I ate [MASK],
ja,Japanese,food,neutral,causal,[MASK] is good,[MASK] was good,
ja,Japanese,names,neutral,causal,A met [MASK],I met [MASK],female
ja,Japanese,names,neutral,causal,B met [MASK],You met [MASK],male
ja,Japanese,names,neutral,causal,All met [MASK],We met [MASK],
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("own")
    (place / "entities.csv").write_text(ENTITIES, encoding="utf-8")
    (place / "contexts.csv").write_text(CONTEXTS, encoding="utf-8")
    return place


def read(files: Path, *, as_published: bool, english: bool = False) -> DataSet:
    dataset = load(rules_of("own"), files, as_published=as_published)
    return in_english(dataset) if english else dataset


def scored(root: Path, dataset: DataSet) -> RunFolder:
    """A run in which all that a reading asks is scored."""
    run = RunFolder(root)
    root.mkdir(exist_ok=True)
    write_manifest(Manifest(experiment="x", polyculture="0", models=[MODEL]), run.manifest)
    hold(run, dataset)
    for job in scoring_jobs(dataset, MODEL, Selection()):
        score_job(run, job, ModelSpec(MODEL), engine=ToyEngine())
    return run


def hold(run: RunFolder, dataset: DataSet) -> None:
    for table, found in present_tables(run, dataset).items():
        write_parquet(found, run.table(table.name))


def tallies(run: RunFolder, rule: str, *, as_published: bool) -> tuple[Place, list[Tally]]:
    with open_store(run, store_layout()) as store:
        [(place, types)] = places(store, "own")
        return place, scored_tallies(store, place, types, rule, as_published=as_published)


def compared(run: RunFolder, *, as_published: bool) -> dict[str, Any]:
    """All that is compared, by context: entities with both likelihoods."""
    found: dict[str, Any] = {}
    for rule in ("sum", "mean"):
        for one in tallies(run, rule, as_published=as_published)[1]:
            ids = (*one.matrix.native_ids, *one.matrix.western_ids)
            for context, values in zip(
                one.matrix.contexts, np.hstack((one.matrix.native, one.matrix.western)), strict=True
            ):
                for entity, value in zip(ids, values, strict=True):
                    if not np.isnan(value):
                        found.setdefault(context, {}).setdefault(entity, []).append(value)
    return found


@pytest.mark.parametrize("english", [False, True])
def test_each_reading_is_made_of_the_scores_of_the_other(tmp_path: Path, files: Path, english: bool) -> None:
    """Rows that stand in the files again have the scores of the same text; a name of two genders those of both rows."""
    mine, whole = (read(files, as_published=published, english=english) for published in (False, True))
    assert whole.other is not None
    assert [one.context_id for one in whole.other.contexts] == [one.context_id for one in mine.contexts]
    by_default, published = scored(tmp_path / "ours", mine), scored(tmp_path / "published", whole)
    own, every = compared(by_default, as_published=False), compared(published, as_published=True)
    assert own == compared(published, as_published=False)
    assert {context: set(ids) for context, ids in own.items()} == {
        context.context_id: {entity.entity_id for entity in mine.fitting(context)}
        for context in mine.contexts
        if not context.starts_with_gap
    }
    assert {context: set(ids) for context, ids in every.items()} == {
        context.context_id: {entity.entity_id for entity in whole.fitting(context)} for context in whole.contexts
    }
    both = {entity.entity_id for entity in whole.entities if entity.surface in ("curry", "curry rice", "a curry")}
    assert len(both) == 2
    starting = {context.context_id for context in whole.contexts if context.starts_with_gap}
    assert compared(by_default, as_published=True) == {
        context: {name: value for name, value in ids.items() if name not in both}
        for context, ids in every.items()
        if context not in starting
    }
    protocol = papers()["camellia"].protocol
    lacking = [needed(run, protocol) for run in (by_default, published)]
    assert (lacking[0][ALL], lacking[0]["food"]) == tuple(
        f"1 of {contexts} contexts and 2 of {entities} entities not scored" for contexts, entities in ((7, 15), (4, 7))
    )
    assert lacking[0]["names"] == ""
    assert set(lacking[1].values()) == {""}
    scores = [
        protocol_score(tallies(published, "sum", as_published=flag)[1], Protocol(), SEED) for flag in (True, False)
    ]
    assert scores[0] != scores[1]


def needed(run: RunFolder, protocol: Protocol) -> dict[str, str]:
    place, found = tallies(run, protocol.rule, as_published=True)
    with open_store(run, store_layout()) as store:
        return needed_in(store, place, known=True).lacking(found, protocol, SEED)


def test_the_views_hold_what_the_last_reading_asks(tmp_path: Path, files: Path) -> None:
    mine, whole = (read(files, as_published=published) for published in (False, True))
    run = scored(tmp_path / "run", whole)
    number = "SELECT count(*) FROM scores"
    gender = f"SELECT gender FROM dataset_entities WHERE entity_id = '{_named(whole, 'Yu')}'"

    def told(query: str) -> list[tuple[Any, ...]]:
        with open_store(run, store_layout()) as store:
            return store.sql(query).fetchall()

    jobs = scoring_jobs(whole, MODEL, Selection())
    asked = sum(len(entities) for job in jobs for _, entities in job.asked)
    assert (told(number), told(gender)) == ([(asked,)], [("female",)])
    assert told("SELECT count(*) FROM stored_scores") == [(asked - 7,)], "a text that stands twice is asked once"
    hold(run, mine)
    assert told(gender) == [("both",)]
    assert told("SELECT context FROM scores WHERE context LIKE '[MASK]%'") == []
    assert told("SELECT count(*) FROM scores AS s SEMI JOIN stored_dataset_entities AS e ON s.entity_id = e.entity_id AND e.left_out") == [(0,)]  # fmt: skip  # noqa: E501
    for job in scoring_jobs(mine, MODEL, Selection()):
        score_job(run, job, ModelSpec(MODEL), engine=ToyEngine())
    assert told(number) == [(sum(job.size for job in scoring_jobs(mine, MODEL, Selection())),)]
    hold(run, whole)
    assert told(number) == [(asked,)]


def _named(dataset: DataSet, surface: str) -> str:
    return next(entity.entity_id for entity in dataset.entities if entity.surface == surface)


def test_the_commands_choose_the_papers_rows_and_say_what_is_lacking(folder: Path, files: Path) -> None:  # noqa: F811
    own = ("--data", "own", "--folder", files)
    text = EXPERIMENT.format(model=f"transformers:{folder / 'gpt2'}")  # with a token before what begins with its gap
    (folder / "exp.toml").write_text(f"{text}\n[options.transformers]\nbos = true\n", encoding="utf-8")
    asked = polyculture("cbs", "exp.toml", *own, cwd=folder)
    assert asked.returncode == 0, asked.stderr
    report = polyculture("report", "exp.toml", "--paper", "camel", "--data", "own", cwd=folder)
    assert report.returncode == 0, report.stderr
    assert "1 of them lack what the paper's protocol has" in report.stdout
    cells = folder / "runs" / "likely" / "report-tables" / "paper-camel" / "cells.csv"

    def lacking() -> dict[str, str]:
        with cells.open(encoding="utf-8") as text:
            return {
                row["column"]: row["lacking"]
                for row in csv.DictReader(text)
                if row["measure"] == "cbs" and row["value"]
            }

    assert lacking() == {
        "average": "1 of 7 contexts and 2 of 15 entities not scored",
        "food": "1 of 4 contexts and 2 of 7 entities not scored",
        "names, female": "",
        "names, male": "",
    }
    with (folder / "exp.toml").open("a", encoding="utf-8") as file:
        file.write("\n[cbs]\nas_published = true\n")
    again = polyculture("cbs", "exp.toml", *own, cwd=folder)
    assert again.returncode == 0, again.stderr
    report = polyculture("report", "exp.toml", "--paper", "camel", "--data", "own", cwd=folder)
    assert "lack what" not in report.stdout
    assert not any(lacking().values())
    page = (folder / "runs" / "likely" / "report.html").read_text(encoding="utf-8")
    assert "own was last read as published" in " ".join(page.split())
