"""Paths in an experiment file are relative to the file's folder, those of a command line to the shell's."""

from __future__ import annotations

import shutil
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

import polyculture.instruments as instruments
from polyculture.cache.written_paths import FilePath, name_in
from polyculture.instruments import INSTRUMENTS
from tests.polyculture.test_command_line import polyculture
from tests.stored import rows

QUESTIONS = Path(instruments.__file__).parent / "questions" / "demo"
ANSWERS = '[[answer]]\ntexts = ["A"]\n'
FILE = """
name = "study"
models = ["mock:a"]
[options.mock]
answers = "given/answers.toml"
"""
ASK = '[instruments.ask]\nset = "sets/made-up.toml"\nfolder = "sets"\n'
ASKED = "SELECT count(*), count(DISTINCT answer_id), sum((raw = 'A')::int) FROM answers WHERE status = 'ok'"
WHOLE = [(60, 60, 60)]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The folder of a study with files of its own; the shell is in the one above, which has none."""
    folder = tmp_path / "study"
    for name in ("sets", "given"):
        (folder / name).mkdir(parents=True)
    for name in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(QUESTIONS / name, folder / "sets" / name)
    (folder / "given" / "answers.toml").write_text(ANSWERS, encoding="utf-8")
    (folder / "exp.toml").write_text(FILE + ASK, encoding="utf-8")
    return folder


def types_in(annotation: Any) -> Iterator[Any]:
    """The types that an annotation is made of, with what stands beside each."""
    if annotation == FilePath:
        return
    if typing.get_origin(annotation) is Annotated:
        yield from types_in(typing.get_args(annotation)[0])
    elif typing.get_args(annotation):
        for part in typing.get_args(annotation):
            yield from types_in(part)
    else:
        yield annotation


@pytest.mark.parametrize("command", [command for entry in INSTRUMENTS for command in entry.lines])
def test_every_path_of_an_option_knows_where_it_was_written(command: str) -> None:
    entry = next(entry for entry in INSTRUMENTS if command in entry.lines)
    hints = typing.get_type_hints(entry.commands[command].options, include_extras=True)
    plain = [name for name in entry.commands[command].options.model_fields if Path in types_in(hints[name])]
    assert not plain, f"{command}: declare {', '.join(plain)} as FilePath"


def test_a_job_and_the_commands_after_it_find_the_files_from_any_folder(study: Path, tmp_path: Path) -> None:
    file = study.relative_to(tmp_path) / "exp.toml"
    jobs = polyculture("plan", file, "--jobs", cwd=tmp_path).stdout.splitlines()
    assert jobs
    for line in jobs:
        assert polyculture(*line.split()[1:], cwd=tmp_path).returncode == 0
    assert rows(study, ASKED) == WHOLE
    for place, name in ((tmp_path, file), (study, Path("exp.toml")), (study / "sets", Path("../exp.toml"))):
        assert polyculture("plan", name, "--jobs", cwd=place).stdout == "", "nothing is left, from wherever it is seen"
        status = polyculture("status", name, cwd=place)
        assert status.returncode == 0, status.stderr


def test_a_typed_path_is_the_shells_and_is_known_from_other_folders(study: Path, tmp_path: Path) -> None:
    (study / "exp.toml").write_text(FILE, encoding="utf-8")
    done = polyculture("ask", "made-up.toml", "../exp.toml", "--folder", ".", cwd=study / "sets")
    assert done.returncode == 0, done.stderr
    assert rows(study, ASKED) == WHOLE
    assert polyculture("plan", "study/exp.toml", "--jobs", cwd=tmp_path).stdout == ""
    status = polyculture("status", "study/exp.toml", cwd=tmp_path)
    assert "ask" in status.stdout, status.stderr


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("instruments.ask.folder", '[instruments.ask]\nset = "sets/made-up.toml"\nfolder = "st"\n'),
        ("instruments.ask.set", '[instruments.ask]\nset = "sets/made-pu.toml"\n'),
        ("ask.folder", '[ask]\nfolder = "st"\n[instruments.ask]\nset = "sets/made-up.toml"\n'),
        ("instruments.corpus.corpus", '[instruments.corpus]\ncorpus = ["sets", "st"]\nlanguage = "ar"\n'),
    ],
)
def test_a_missing_one_is_said_with_file_key_path_and_folder(study: Path, tmp_path: Path, key: str, text: str) -> None:
    (study / "exp.toml").write_text(FILE + text, encoding="utf-8")
    for words in (("run", "study/exp.toml"), ("run", "study/exp.toml", "--job", "1/1")):
        refused = polyculture(*words, cwd=tmp_path)
        assert refused.returncode == 2, refused.stderr
        line = refused.stderr.splitlines()[-1]
        assert f"study/exp.toml: {key}: " in line
        assert "study/s" in line.partition(key)[2]
        assert f"relative to the file's folder, {study}" in line


def test_what_tables_call_a_model_in_the_files_folder_holds_no_place_of_a_machine(tmp_path: Path) -> None:
    assert name_in(str(tmp_path / "models" / "tagger"), tmp_path) == "models/tagger"
    assert name_in(str(tmp_path.parent / "tagger"), tmp_path) == str(tmp_path.parent / "tagger")
    assert name_in("dslim/bert-base-NER", tmp_path) == "dslim/bert-base-NER"
