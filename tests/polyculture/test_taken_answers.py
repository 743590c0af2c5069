"""Answers that a run took from a run beside it are counted and named: a redeployed model is asked nothing."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.store.manifest import FORMAT, read_manifest
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cli.demo import RECORDED
from polyculture.running.taken_answers import taken_lines
from tests.store_builder import StoreBuilder

MODEL = "openai:our-model"
JOBS = [Job(MODEL, "en", "food")]


def write_run(root: Path, taken: int, of: int = 6) -> RunFolder:
    built = StoreBuilder(root, models=[MODEL], countries=("JP",), n=of)
    prompt = built.ask("en", "food", "JP")
    for sample in range(of):
        built.answer(prompt, sample=sample, model=MODEL, purchase=None if sample < taken else "direct")
    return built.write()


def test_answers_of_a_run_beside_it_are_counted_by_that_run(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "baseline", 0)
    run = write_run(tmp_path / "runs" / "candidate", 4)
    assert taken_lines(run, JOBS) == ["4 of 6 answers are those of baseline: the same requests, answered there"]
    assert taken_lines(RunFolder(tmp_path / "runs" / "baseline"), JOBS) == []


def test_answers_of_a_run_that_is_gone_are_counted_all_the_same(tmp_path: Path) -> None:
    [line] = taken_lines(write_run(tmp_path / "runs" / "candidate", 6), JOBS)
    assert line.startswith("6 of 6 answers are those of a run that is no longer beside this one")


def test_a_run_that_has_not_begun_took_nothing(tmp_path: Path) -> None:
    assert taken_lines(RunFolder(tmp_path / "runs" / "new"), JOBS) == []


def test_the_demos_recorded_answers_are_of_the_present_format() -> None:
    """Of a former one they are not taken, and the demo asks for a file that nobody has."""
    assert read_manifest(RECORDED / "manifest.json").format == FORMAT
