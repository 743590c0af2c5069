"""What a change makes stale, and nothing else, is made anew: by the stages that depend on it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.files import ABANDONED, sweep
from polyculture.cache.store.store import open_store
from polyculture.experiment.jobs import JobSelection
from polyculture.instruments import questions
from polyculture.link.dumps.build import build_index
from polyculture.running.linking import link_with
from polyculture.running.opening import open_workspace
from polyculture.running.start import run_experiment
from tests import servers
from tests.extract_engines import answer
from tests.link_world import write_dump
from tests.polyculture.test_command_line import polyculture
from tests.servers import StubServer
from tests.stages import do_stages, without_report
from tests.stored import rows
from tests.test_docs import ITEMS, replace, write_own_catalog

ALONE = """name = "models"
models = [{models}]
languages = ["en"]
topics = ["food"]
countries = ["IT"]
conditions = ["neutral"]
[sampling]
n = 1
"""


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    """Answers a prompt with two festivals, and a text with the two that a reader finds in it."""

    def say(prompt: str, seed: int | None) -> str:
        if prompt.startswith("She loves"):
            return answer(("Diwali", "festival"), ("Hanami", "festival"))
        return f"She loves Diwali and Hanami. ({seed})"

    monkeypatch.setattr(servers, "answer_text", say)
    with StubServer() as server:
        yield server


@pytest.fixture
def experiment(tmp_path: Path, stub: StubServer) -> Path:
    """A topic of one's own, extracted by a model."""
    file = write_own_catalog(tmp_path, '"en"', '"festival"')
    dump = write_dump(tmp_path / "dump.json", ITEMS)
    build_index(dump, tmp_path / "wikidata.duckdb", ["en"])
    replace(file, '"starter"', '"wikidata.duckdb"')
    options = f'[extract]\nwith = "openai:reader"\n[options.openai]\nbase_url = "{stub.url}"\n'
    replace(file, "[sampling]", options + "[sampling]")
    return file


def run(experiment: Path) -> dict[str, list[Any]]:
    """What the tables of a run hold after generate, extract and link."""
    workspace = do_stages(experiment, "generate", "extract", "link")
    with open_store(workspace.run) as store:
        names = ("responses", "extractions", "mentions", "links")
        return {name: store.sql(f"SELECT * FROM {name} ORDER BY ALL").fetchall() for name in names}


def linked(tables: dict[str, list[Any]]) -> dict[str, str]:
    return {row[4]: row[7] for row in tables["links"]}


@pytest.mark.slow
def test_each_change_makes_anew_what_depends_on_it(experiment: Path, stub: StubServer) -> None:
    first = run(experiment)
    asked = len(stub.asked)
    assert asked == 2 * len(first["responses"])
    assert linked(first) == {"Diwali": "linked", "Hanami": "linked"}
    assert run(experiment) == first
    assert len(stub.asked) == asked

    topic = experiment.parent / "mine" / "topics" / "festival.toml"
    replace(topic, 'roots = ["Q132241"]', 'roots = ["Q375011"]')
    narrower = run(experiment)
    assert linked(narrower) == {"Diwali": "linked", "Hanami": "no path"}, "the topic's classes changed: links and after"
    assert {**narrower, "links": first["links"]} == first
    assert len(stub.asked) == asked

    replace(experiment, '"openai:reader"', '"gazetteer"')
    found = run(experiment)
    assert found["responses"] == first["responses"]
    assert found["mentions"] != first["mentions"], "the extractor changed: mentions and after"
    assert len(stub.asked) == asked, "what the gazetteer does costs nothing, and needs no consent"

    replace(experiment, '"gazetteer"', '"openai:reader"')
    replace(topic, 'roots = ["Q375011"]', 'roots = ["Q132241"]')
    assert run(experiment) == first, "what was there counts again when the setting comes back"
    assert len(stub.asked) == asked


def test_a_model_in_place_of_a_gazetteer_needs_no_consent(experiment: Path, stub: StubServer) -> None:
    """What is replaced has cost nothing. Of a model's extractions, which another model would replace, it has."""
    replace(experiment, '"openai:reader"', '"gazetteer"')
    found = run(experiment)
    asked = len(stub.asked)
    replace(experiment, '"gazetteer"', '"openai:reader"')
    told = polyculture("plan", experiment, cwd=experiment.parent)
    assert told.returncode == 0, told.stderr
    [line] = [line for line in told.stderr.splitlines() if "extract.with was 'gazetteer'" in line]
    assert f"{len(found['extractions'])} extractions of the last run are no longer current" in line
    assert len(run(experiment)["extractions"]) == len(found["responses"])
    assert len(stub.asked) == asked + len(found["responses"])
    replace(experiment, '"openai:reader"', '"openai:another"')
    refused = polyculture("plan", experiment, cwd=experiment.parent)
    assert refused.returncode == 2
    assert f"To be redone: {len(found['responses'])} extractions" in refused.stderr


def test_more_samples_and_models_top_up(experiment: Path, stub: StubServer) -> None:
    first = run(experiment)
    asked = len(stub.asked)
    count = len(first["responses"])
    workspace = open_workspace(experiment)
    n, model = workspace.sampling.n, workspace.experiment.models[0]
    replace(experiment, f"n = {n}", f"n = {n + 1}")
    more = run(experiment)
    assert len(more["responses"]) == count + count // n
    assert len(stub.asked) - asked == 2 * count // n
    assert set(first["mentions"]) < set(more["mentions"])
    asked = len(stub.asked)
    replace(experiment, f'"{model}"', f'"{model}", "openai:another"')
    both = run(experiment)
    assert len(both["responses"]) == 2 * len(more["responses"])
    assert len(stub.asked) - asked == 2 * len(more["responses"])
    assert set(more["responses"]) < set(both["responses"])


def test_the_mentions_are_linked_with_another_snapshot_beside_the_links(experiment: Path) -> None:
    first = run(experiment)
    later = [item for item in ITEMS if item["id"] != "Q486391"]
    build_index(write_dump(experiment.parent / "later.json", later), experiment.parent / "later.duckdb", ["en"])
    workspace = open_workspace(experiment)
    link_with(workspace, str(experiment.parent / "later.duckdb"))
    assert run(experiment) == first
    with open_store(workspace.run) as store:
        beside = store.sql(
            "SELECT l.surface, o.status, l.status FROM links AS l JOIN snapshot_links AS o USING (query)"
        )
        assert sorted(beside.fetchall()) == [("Diwali", "linked", "linked"), ("Hanami", "no candidate", "linked")]


def test_what_killed_processes_left_half_written_is_swept_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    old, new, whole = (
        tmp_path / name for name in (".links.parquet.1-0123abcd.tmp", ".links.parquet.2-0123abcd.tmp", "links.parquet")
    )
    for file in (old, new, whole):
        file.write_bytes(b"half")
    for file in (old, whole):
        os.utime(file, (file.stat().st_mtime - ABANDONED - 1,) * 2)
    sweep(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [new.name, whole.name]


def test_numbers_of_a_section_that_was_deleted_are_of_the_models_that_came_back(tmp_path: Path) -> None:
    """Two models answered. One was swapped for a third; then the section was deleted, and the model came back."""
    for name in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(Path(questions.__file__).parent / "demo" / name, tmp_path / name)
    file = tmp_path / "exp.toml"

    def measured(models: str, section: str) -> list[tuple[str, int]]:
        text = ALONE.format(models=", ".join(f'"mock:{model}"' for model in models))
        file.write_text(text + section, encoding="utf-8")
        with without_report():
            run_experiment(open_workspace(file), JobSelection())
        query = "SELECT model, count(*) FROM numbers WHERE measure = 'questions' GROUP BY model ORDER BY model"
        return rows(tmp_path, query)

    section = f'[instruments.ask]\nset = "{(tmp_path / "made-up.toml").as_posix()}"\nunits = 2\n'
    first = measured("ab", section)
    assert [model for model, _ in first] == ["mock:a", "mock:b"]
    assert [model for model, _ in measured("ac", section)] == ["mock:a", "mock:c"]
    assert measured("ab", "") == first
