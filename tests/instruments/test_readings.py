"""Both readings of a data set, ours and that as published: which scores count under each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.manifest import Manifest, write_manifest
from polyculture.cache.store.parquet import write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.engines.base import ModelSpec
from polyculture.instruments.cbs.step import scoring_jobs
from polyculture.instruments.datasets.english import in_english
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.running.layout import store_layout
from tests.instruments.test_cbs_command import EXPERIMENT, folder, rows  # noqa: F401
from tests.instruments.test_cbs_store import ToyEngine
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
    for job in scoring_jobs(dataset, MODEL, DataSelection()):
        score_job(run, job, ModelSpec(MODEL), engine=ToyEngine())
    return run


def hold(run: RunFolder, dataset: DataSet) -> None:
    for table, found in present_tables(run, dataset).items():
        write_parquet(found, run.table(table.name))


def test_the_views_hold_what_the_last_reading_asks(tmp_path: Path, files: Path) -> None:
    mine, whole = (read(files, as_published=published) for published in (False, True))
    run = scored(tmp_path / "run", whole)
    number = "SELECT count(*) FROM scores"
    gender = f"SELECT gender FROM dataset_entities WHERE entity_id = '{_named(whole, 'Yu')}'"

    def told(query: str) -> list[tuple[Any, ...]]:
        with open_store(run, store_layout()) as store:
            return store.sql(query).fetchall()

    jobs = scoring_jobs(whole, MODEL, DataSelection())
    asked = sum(len(entities) for job in jobs for _, entities in job.asked)
    assert (told(number), told(gender)) == ([(asked,)], [("female",)])
    assert told("SELECT count(*) FROM stored_scores") == [(asked - 7,)], "a text that stands twice is asked once"
    hold(run, mine)
    assert told(gender) == [("both",)]
    assert told("SELECT context FROM scores WHERE context LIKE '[MASK]%'") == []
    assert told("SELECT count(*) FROM scores AS s SEMI JOIN stored_dataset_entities AS e ON s.entity_id = e.entity_id AND e.left_out") == [(0,)]  # fmt: skip  # noqa: E501
    for job in scoring_jobs(mine, MODEL, DataSelection()):
        score_job(run, job, ModelSpec(MODEL), engine=ToyEngine())
    assert told(number) == [(sum(job.size for job in scoring_jobs(mine, MODEL, DataSelection())),)]
    hold(run, whole)
    assert told(number) == [(asked,)]


def _named(dataset: DataSet, surface: str) -> str:
    return next(entity.entity_id for entity in dataset.entities if entity.surface == surface)
