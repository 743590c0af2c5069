"""`polyculture cbs` and `polyculture data` as a user runs them, on a tiny real model."""

from __future__ import annotations

import re
import tempfile
from functools import cache
from pathlib import Path

import pytest

from polyculture.console import say
from polyculture.instruments.datasets.opened import tell_left_out
from tests.instruments.test_cbs_store import DEMO
from tests.instruments.test_datasets import OWN, write_own
from tests.polyculture.test_command_line import one_line, polyculture
from tests.stored import rows
from tests.tiny_models import save_causal

EXPERIMENT = """
name = "likely"
models = ["{model}"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
"""
CBS = """
[cbs]
draws = 2
entities = 4
"""


@cache
def tiny() -> Path:
    """A tiny model, one for all tests of a process."""
    return save_causal("gpt2", Path(tempfile.mkdtemp()) / "gpt2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gpt2").symlink_to(tiny())
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{tmp_path / 'gpt2'}"), encoding="utf-8")
    return tmp_path


def test_scores_a_table_and_nothing_twice(folder: Path) -> None:
    few = (
        "--data",
        "own",
        "--folder",
        DEMO,
        *["--type", "food", "--culture", "Indian", "--contexts", "2", "--entities", "5"],
    )
    first = polyculture("cbs", "exp.toml", *few, cwd=folder)
    assert first.returncode == 0, first.stderr
    assert "own-indian-food: 40 done, 0 of them before, 0 failed" in first.stderr
    assert "Cultural Bias Score (rule sum, model transformers:" in " ".join(first.stdout.split())
    assert "grounded - neutral" in first.stdout
    again = polyculture("cbs", "exp.toml", *few, "--rule", "mean", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert "score" not in again.stderr  # the model is not even opened
    assert "rule mean" in " ".join(again.stdout.split())
    asked = polyculture("sql", "exp.toml", "SELECT count(*) AS n FROM scores", "--format", "json", cwd=folder)
    assert asked.stdout.strip() == '{"n":40}'


def test_draws_score_only_what_a_draw_takes(folder: Path) -> None:
    (folder / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{folder / 'gpt2'}") + CBS, encoding="utf-8")
    own = ("--data", "own", "--folder", DEMO, "--type", "food", "--culture", "Indian", "--contexts", "1")
    drawn = polyculture("cbs", "exp.toml", *own, cwd=folder)
    assert drawn.returncode == 0, drawn.stderr
    assert " sd " in drawn.stdout
    shown = " ".join(drawn.stdout.split())
    assert "2 draws of 4 entities of each culture" in shown
    assert all(f" {column}: " in f" {shown}" for column in ("95 %", "sd", "ours")), "each column is explained"
    sizes = rows(folder, "SELECT count(DISTINCT entity) FROM scores GROUP BY native")
    assert all(4 < entities <= 8 for (entities,) in sizes)
    more = polyculture("cbs", "exp.toml", *own, "--entities", "6", cwd=folder)
    assert more.returncode == 0, more.stderr
    again = polyculture("cbs", "exp.toml", *own, cwd=folder)
    paper, deviation = (at("cbs", drawn.stdout), at("cbs", again.stdout)), at("sd", drawn.stdout)
    assert paper[0] == paper[1]  # the same draws, though more entities are scored by now
    assert deviation == at("sd", again.stdout)


def at(column: str, printed: str) -> list[str]:
    """The cells of a column of the table that a protocol prints."""
    lines = [line for line in printed.splitlines() if " neutral " in line or " grounded " in line]
    cells = [re.split(r" {2,}", line.strip()) for line in lines]
    return [line[{"cbs": 2, "sd": 4}[column]] for line in cells]


@pytest.mark.parametrize(
    ("contexts", "told"),
    [
        (
            "language,culture,type,setting,context\nsw,Swahili,food,grounded,Nyumbani\n",
            "of your own; 1 left out, the first: contexts.csv row 2: no gap [MASK]",
        ),
        (
            "language,culture,type,setting,context\nsw,Swahili,drink,grounded,Tunakunywa [MASK]\n",
            "no Swahili and no Western entity",
        ),
        ("language,culture,type,setting,text\nsw,Swahili,food,grounded,Tunakula\n", "no column 'context'"),
    ],
)
def test_a_data_set_that_cannot_be_scored_is_one_line(folder: Path, contexts: str, told: str) -> None:
    for name, text in {**OWN, "contexts.csv": contexts}.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert told in one_line(polyculture("cbs", "exp.toml", "--data", "own", "--folder", folder, cwd=folder))


def test_what_a_data_set_leaves_out_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tell_left_out(write_own(tmp_path), say)
    assert capsys.readouterr().err == ""
    contexts = OWN["contexts.csv"] + "sw,Swahili,food,neutral,Nimekula\n"
    tell_left_out(write_own(tmp_path, **{"contexts.csv": contexts}), say)
    told = capsys.readouterr().err
    assert re.search(r"1 row is left out .* 1 x no gap \[MASK\] \(contexts.csv row \d+\)", told)
    assert "polyculture data check own --folder" in told


def test_a_model_that_cannot_score_is_told_by_plan_and_refused_before_anything_is_asked(folder: Path) -> None:
    file, own = folder / "exp.toml", f'data = "own"\nfolder = "{DEMO}"\ncontexts = 1\nentities = 2\n'
    asks = f"\n[instruments.cbs]\n{own}\n[instruments.embeddings]\n{own}"
    file.write_text(EXPERIMENT.format(model="llamacpp:smollm2") + asks, encoding="utf-8")
    planned = polyculture("plan", "exp.toml", cwd=folder)
    assert planned.returncode == 2
    assert "cbs can be asked of no model: llamacpp:smollm2 gives no" in planned.stderr
    told = planned.stdout.partition("What models cannot do is not asked")[2]
    assert re.search(r"cbs +llamacpp:smollm2 +gives no log-probabilities", told)
    assert re.search(r"embeddings +llamacpp:smollm2 +gives no hidden states", told)
    assert "cbs score" not in planned.stdout  # nor is it priced
    assert "no log-probabilities" in one_line(polyculture("run", "exp.toml", cwd=folder))
    assert not (folder / "runs" / "likely" / "responses").exists()
    file.write_text(EXPERIMENT.format(model='mock:able", "llamacpp:smollm2') + asks, encoding="utf-8")
    other = polyculture("cbs", "exp.toml", "--type", "food", cwd=folder)
    assert other.returncode == 0, other.stderr
    assert "cbs: left out: llamacpp:smollm2 gives no log-probabilities" in other.stderr
    assert rows(folder, "SELECT DISTINCT model FROM scores") == [("mock:able",)]


@pytest.mark.parametrize("command", ["plan", "run"])
def test_data_that_are_not_there_are_told_before_texts_are_made(folder: Path, command: str) -> None:
    asks = "\n[instruments.cbs]\ndata = 'own'\nfolder = 'nowhere'\n"
    (folder / "exp.toml").write_text(EXPERIMENT.format(model="mock:a") + asks, encoding="utf-8")
    done = polyculture(command, "exp.toml", cwd=folder)
    assert done.returncode == 2
    assert "exp.toml: instruments.cbs.folder: there is no file or folder nowhere" in done.stderr.splitlines()[-1]
    assert not list((folder / "runs").rglob("responses"))


@pytest.mark.parametrize(
    ("command", "options", "told"),
    [
        (
            "swap sentiment",
            ("--classifier", "x", "--model", "m"),
            "--model would be ignored: only models that",
        ),
        ("swap ner", ("--tagger", "x", "--model", "m"), "--model would be ignored: only models that"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(
    tmp_path: Path, command: str, options: tuple[str, ...], told: str
) -> None:
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model="mock:a"), encoding="utf-8")
    assert told in one_line(polyculture(*command.split(), "exp.toml", *options, cwd=tmp_path))


def test_an_option_of_the_file_that_would_be_ignored_is_refused_there(tmp_path: Path) -> None:
    asks = "\n[instruments.sentiment]\nclassifier = 'x'\njson_schema = false\n"
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model="mock:a") + asks, encoding="utf-8")
    told = one_line(polyculture("plan", "exp.toml", cwd=tmp_path))
    assert "exp.toml: instruments.sentiment.json_schema would be ignored: only models that are asked by" in told
    assert told.endswith("Leave it out.")
