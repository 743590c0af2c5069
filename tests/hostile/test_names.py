"""Names of models and topics that are no names of files: what is paid for is found again, in every view."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.store.run_folder import NAME_FILE, Job, RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import JobShards, committed_parts, unsealed
from tests.cache.store.test_shards import response

LONG = "openai:" + "設定" * 30  # 60 letters, 540 bytes when percent-encoded
NAMES = (
    "food", "a/b", "../../victim", "/etc/passwd", "..", ".", "", "a\\b", "a\0b", "a\nb", "100%", "a%2Fb", "a b (c)",
    "ラーメン",
    "ラーメン" * 40, "x" * 249, "x" * 250, "x/" * 400,
    "%+0123456789abcdef", "topic=x", "*", "[ab]", "~", "é", "e\u0301",
)  # fmt: skip


def put(run: RunFolder, job: Job, number: int = 1) -> None:
    with JobShards(run, job, [RESPONSES]) as shards:
        shards.append(response(number))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["model", "language", "topic"])
def test_a_job_of_any_name_stays_in_its_run_and_is_found_again(tmp_path: Path, key: str, name: str) -> None:
    run = RunFolder(tmp_path / "deep" / "runs" / "x")
    job = Job(**{"model": "m", "language": "en", "topic": "food", key: name})
    put(run, job)
    assert run.shards("responses", job).resolve().is_relative_to(run.root.resolve())
    assert run.jobs("responses") == [job]
    assert len(committed_parts(run, RESPONSES)) == 1
    with JobShards(run, job, [RESPONSES]) as shards:
        assert shards.read("responses", ["response_id"])["response_id"].to_pylist() == ["r1"]
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


def test_all_these_names_are_jobs_of_their_own(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "x")
    jobs = sorted(Job(model, "en", topic) for model in (LONG, LONG + "x") for topic in NAMES)
    for job in jobs:
        put(run, job)
    assert run.jobs("responses") == jobs
    assert len(committed_parts(run, RESPONSES)) == len(jobs)


@pytest.mark.parametrize(
    "topic", ["food", "camellia-japanese-food", "camellia-日本-food & drink", "clothing (female)", "a:b", "x" * 249]
)
def test_harmless_names_stand_in_paths_as_they_are(tmp_path: Path, topic: str) -> None:
    run = RunFolder(tmp_path)
    plain = tmp_path / "responses" / "model=openai%3Aorg%2Fmodel" / "language=en" / f"topic={topic}"
    assert run.shards("responses", Job("openai:org/model", "en", topic)) == plain


def test_the_name_of_a_hashed_folder_is_whole_and_in_it_before_any_row(tmp_path: Path) -> None:
    run, job = RunFolder(tmp_path), Job(LONG, "ja", "food")
    folder = run.shards("responses", job)
    folder.mkdir(parents=True)
    assert run.jobs("responses") == []  # as a process leaves it that was killed before it wrote the name
    with JobShards(run, job, [RESPONSES]) as shards:
        assert (folder / NAME_FILE).exists()
        shards.append(response(1))
        assert unsealed(run) == 1
    assert run.jobs("responses") == [job]
