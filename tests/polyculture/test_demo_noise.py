"""What `plan` finds before there is a run: by the shipped variances, marked as those of another model."""

from __future__ import annotations

from pathlib import Path

from tests.polyculture.test_command_line import polyculture

EXPERIMENT = """
name = "planned"
models = ["mock:a", "mock:b"]
languages = ["en", "ja"]
topics = ["food", "music", "book"]
countries = ["JP", "IT", "US", "MX", "IN", "DE"]
[sampling]
n = 10
[prompts]
wordings = 3
"""


def test_without_a_run_they_are_taken_and_said_to_be_no_ones_own(tmp_path: Path) -> None:
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    brief = polyculture("plan", "exp.toml", cwd=tmp_path)
    assert brief.returncode == 0, brief.stderr
    for sides in ("two models", "two languages"):
        assert f"smallest difference between {sides} that it would find on the same prompts: " in brief.stderr
    assert "these differences are estimates" in brief.stderr
    done = polyculture("plan", "exp.toml", "--details", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join((done.stdout + done.stderr).split())
    assert "shipped demo" in said
    assert "NOT measured on your models but on SmolLM2-135M-Instruct in English" in said
    assert "two models" in done.stdout
    assert "two languages" in done.stdout


def test_one_topic_of_neutral_prompts_finds_nothing_and_ends_well(tmp_path: Path) -> None:
    """The variances are of explicit prompts; a single block divided by zero."""
    text = EXPERIMENT.replace('topics = ["food", "music", "book"]', 'topics = ["food"]\nconditions = ["neutral"]')
    (tmp_path / "exp.toml").write_text(text, encoding="utf-8")
    done = polyculture("plan", "exp.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "new prompts: no interval" in done.stdout + done.stderr
