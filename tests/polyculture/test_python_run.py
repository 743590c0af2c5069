"""Runs that Python starts: the same work, locks and refusals as those of the command line."""

from __future__ import annotations

import asyncio
import logging
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import polyculture
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import JobShards
from polyculture.experiment.file import Experiment, read_experiment
from polyculture.running.given import toml_text, workspace_of
from tests.polyculture.test_command_line import polyculture as command

ASKED: dict[str, Any] = {
    "name": "small",
    "models": ["mock:a"],
    "languages": ["en"],
    "topics": ["food"],
    "countries": ["JP"],
    "sampling": {"n": 2},
    "notes": ['a "note" with\na line break and a \\'],
}

keys = st.text(min_size=1, max_size=8)
scalars = st.text(max_size=20) | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
values = st.recursive(
    scalars, lambda some: st.lists(some, max_size=3) | st.dictionaries(keys, some, max_size=3), max_leaves=8
)


@given(st.dictionaries(keys, values, max_size=5))
def test_what_python_gives_is_written_as_toml_that_says_the_same(data: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(data)) == data


def test_an_object_and_a_dictionary_are_the_same_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    more = {
        "variants": {"mock:a": {"polite": {"system": "Be polite."}}},
        "extract": {"with": "mock:b"},
        "max_cost": 3.0,
    }
    more["prices"] = {name: {"input": 0.0, "output": 1.5} for name in ("mock:a", "mock:b")}  # type: ignore[assignment]
    data = {**ASKED, **more}
    one, other = workspace_of(data), workspace_of(polyculture.Experiment.model_validate(data))
    assert one.experiment == other.experiment == Experiment.model_validate(data)
    for workspace in (one, other):
        (tmp_path / "exp.toml").write_text(workspace.text or "", encoding="utf-8")
        # Only the folder differs, which paths of a file are relative to.
        assert read_experiment(tmp_path / "exp.toml").model_dump() == one.experiment.model_dump()
    assert one.run.root == tmp_path / "runs" / "small"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({**ASKED, "modles": ["mock:a"]}, "<experiment>: unknown key 'modles'. Did you mean 'models'?"),
        ({**ASKED, "languages": ["xx"]}, "<experiment>: languages: "),
        ({**ASKED, "sampling": {"n": 0}}, "<experiment>: sampling.n: "),
        ({"name": "small"}, "<experiment>: the key 'models' is missing"),
        ({**ASKED, "notes": [object()]}, "<experiment>: notes"),
        (3, "a int is no experiment"),
        ("none.toml", "none.toml: there is no such experiment file"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(
    data: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(polyculture.ExperimentError) as fault:
        polyculture.run(data)
    assert str(fault.value).startswith(said)
    assert "\n" not in str(fault.value)
    assert not list(tmp_path.iterdir())


def test_a_run_resumes_in_silence_and_the_command_line_goes_on_with_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Within a running event loop, too: a notebook has one."""
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.INFO, "polyculture")

    async def in_a_notebook() -> polyculture.Run:
        return polyculture.run(ASKED, language="en", topic="food", model="mock:a")

    run = asyncio.run(in_a_notebook())
    assert len(run.responses()) == 8  # two each: neutral, explicit, and a name of a man and of a woman
    assert run.path == tmp_path / "runs" / "small"
    assert capfd.readouterr() == ("", "")
    assert any("done" in line for line in caplog.messages)
    before = run.responses().sort_values("response_id").reset_index(drop=True)

    more = polyculture.run({**ASKED, "sampling": {"n": 3}}, progress=True)
    assert capfd.readouterr().err
    again = more.responses()
    assert len(again) == 12
    assert set(before["response_id"]) < set(again["response_id"])
    assert more.table("granularity") is not None
    with pytest.raises(polyculture.ChangedExperimentError, match=r"--accept-changes"):
        polyculture.run({**ASKED, "sampling": {"n": 3, "temperature": 0.1}})

    (tmp_path / "exp.toml").write_text((run.path / "experiment.toml").read_text(encoding="utf-8"), encoding="utf-8")
    done = command("run", "--only", "generate", "exp.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "12 done, 12 of them before" in done.stderr or not done.stderr


def test_a_held_job_of_a_part_is_left_to_its_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = RunFolder(tmp_path / "runs" / "small")
    with (
        JobShards(run, Job("mock:a", "en", "food"), [RESPONSES]),
        pytest.raises(polyculture.JobHeldError, match="held"),
    ):
        polyculture.run({**ASKED, "models": ["mock:a", "mock:b"]}, model="mock:a")


def test_a_rules_file_in_the_place_of_an_experiment_is_called_so(tmp_path: Path) -> None:
    """Also where the key of a join looks like somebody's key."""
    file = tmp_path / "soups.toml"
    file.write_text('name = "soups"\n[[questions]]\njoin = { key = "sk-0123456789abcdef0123456789abcdef" }\n', "utf-8")
    with pytest.raises(polyculture.ExperimentError, match=r"soups\.toml: is a rules file.*polyculture ask soups\.toml"):
        polyculture.run(str(file))
