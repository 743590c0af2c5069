"""`polyculture data fetch` of data sets with questions: one commit of the publisher's repository, here a local one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.instruments.questions.kobbq_files import QUESTIONS, write_folder
from tests.polyculture.test_command_line import one_line, polyculture


def commit(folder: Path) -> str:
    """Makes a repository of a folder, and returns its commit."""

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        command = ["git", "-C", str(folder), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "data")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    return git("rev-parse", "HEAD")


def fetched(name: str, published: Path, cwd: Path) -> str:
    """What `data fetch` says of a data set, whose commit is the present one of `published`."""
    words = ("data", "fetch", name, "--repository", published, "--commit", commit(published))
    done = polyculture(*words, cwd=cwd, POLYCULTURE_CACHE=str(cwd / "cache"))
    assert done.returncode == 0, done.stderr
    return " ".join((done.stdout + done.stderr).split())


def test_kobbq_is_fetched_with_its_licence_and_read_from_there(tmp_path: Path) -> None:
    said = fetched("kobbq", write_folder(tmp_path / "published"), tmp_path)
    assert "Licence: MIT. Please cite: Jin et al. 2024" in said
    assert "It is not the pinned commit, 0dd165ae" in said
    words, cache = ("data", "check", "kobbq"), str(tmp_path / "cache")
    counted = polyculture(*words, cwd=tmp_path, POLYCULTURE_CACHE=cache)
    assert f" questions {QUESTIONS} " in " ".join(counted.stdout.split())
    assert "kobbq" in polyculture("data", "list", cwd=tmp_path, POLYCULTURE_CACHE=cache).stdout
    samples = tmp_path / "cache" / "data" / "kobbq" / "data" / "KoBBQ_test_samples.tsv"
    samples.write_text(samples.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    changed = polyculture(*words, cwd=tmp_path, POLYCULTURE_CACHE=cache)
    assert "1 of 3 files have changed since they were fetched: data/KoBBQ_test_samples.tsv" in one_line(changed)


def test_of_bbqs_repository_only_what_is_read_is_kept(tmp_path: Path) -> None:
    published = tmp_path / "published"
    for place, text in (
        ("data/Age.jsonl", json.dumps({"example_id": 0}) + "\n"),
        ("results/Age.jsonl", "{}\n"),
        ("analysis_scripts/additional_metadata.csv", "category,example_id,target_loc\nAge,0,1\n"),
        ("analysis_scripts/figures.R", "\n"),
        ("LICENSE", "CC BY 4.0\n"),
    ):
        (published / place).parent.mkdir(parents=True, exist_ok=True)
        (published / place).write_text(text, encoding="utf-8")
    assert "Licence: CC BY 4.0. Please cite: Parrish et al. 2022" in fetched("bbq", published, tmp_path)
    kept = tmp_path / "cache" / "data" / "bbq"
    there = {str(file.relative_to(kept)) for file in kept.rglob("*") if file.is_file()}
    read = {"data/Age.jsonl", "analysis_scripts/additional_metadata.csv", "LICENSE"}
    assert there == read | {"SOURCE", "SHA256SUMS"}  # what the commit has not, as a README, is no fault
    (published / "data" / "Age.jsonl").rename(published / "Age.jsonl")
    (published / "analysis_scripts" / "additional_metadata.csv").unlink()
    (published / "LICENSE").unlink()
    words = ("data", "fetch", "bbq", "--repository", published, "--commit", commit(published))
    refused = polyculture(*words, cwd=tmp_path, POLYCULTURE_CACHE=str(tmp_path / "cache"))
    assert "holds none of data, analysis_scripts/additional_metadata.csv, LICENSE, README.md" in one_line(refused)
    assert (kept / "LICENSE").is_file()  # what was fetched before stays


def test_of_own_rules_without_a_citation_none_is_asked_for(tmp_path: Path) -> None:
    rules = """name = "soups"\ntitle = "Soups"\nlicence = "ours"\nnumbers = ["accuracy"]\nlanguage = "en"
        [[questions]]\nfiles = "q.csv"\ntext = "q"\noptions = ["a", "b"]\n"""
    (tmp_path / "soups.toml").write_text(rules, encoding="utf-8")
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "q.csv").write_text("q,a,b\nHot?,yes,no\n", encoding="utf-8")
    said = fetched("soups.toml", tmp_path / "published", tmp_path)
    assert "Licence: ours." in said
    assert "cite" not in said


def test_a_question_set_that_is_unknown_or_not_fetched_is_named(tmp_path: Path) -> None:
    unknown = polyculture("data", "fetch", "kobbk", cwd=tmp_path)
    assert "there is no data set 'kobbk'" in one_line(unknown)
    missing = polyculture("data", "check", "kobbq", cwd=tmp_path, POLYCULTURE_CACHE=str(tmp_path))
    assert "polyculture data fetch kobbq" in one_line(missing)
