"""Several settings changed in one edit: what would be paid again is refused, whatever comes or goes with it.

A random search over edits of models, languages, topics, countries, conditions, wordings, samples and temperature found
no other rule: a text is refused where its prompt stays, or another one takes its place in its cell.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import polyculture.instruments as instruments
from polyculture.cache.errors import ChangedExperimentError
from polyculture.running.call_list import calls_in_file, check_calls
from polyculture.running.changes import changed_lines
from polyculture.running.opening import open_workspace
from tests.polyculture.test_command_line import polyculture
from tests.stages import check, do_stages
from tests.stored import rows

EXPERIMENT = """
name = "together"
models = ["mock:a"]
languages = {languages}
topics = ["food"]
countries = {countries}
conditions = {conditions}
[sampling]
n = 2
temperature = {temperature}
[extract]
with = "gazetteer"
"""
BEFORE = {"languages": '["en"]', "countries": '["IT", "JP"]', "conditions": '["neutral", "explicit"]', "temperature": 1}


def write(folder: Path, **changed: str | float) -> Path:
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(**{**BEFORE, **changed}), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("changed", "again"),
    [  # two samples of each prompt: one without a country, one of Italy, one of Japan
        ({}, 6),
        ({"countries": '["IT", "JP", "DE"]'}, 6),
        ({"countries": '["IT"]'}, 4),
        ({"countries": '["IT", "DE"]'}, 4),
        ({"countries": '["DE", "KR"]'}, 2),  # the prompts without a country stay
        ({"countries": '["DE", "KR"]', "conditions": '["explicit"]'}, 0),  # no prompt stays
        ({"conditions": '["neutral"]'}, 2),
        ({"languages": '["en", "ja"]'}, 6),
        ({"languages": '["en", "ja"]', "countries": '["JP", "KR"]'}, 4),
        ({"languages": '["ja"]'}, 0),
    ],
)
def test_another_temperature_is_refused_with_what_stays_of_the_prompts(
    changed: dict[str, str], again: int, tmp_path: Path
) -> None:
    do_stages(write(tmp_path), "generate")
    file = write(tmp_path, temperature=0.5, **changed)
    if not again:
        check(open_workspace(file))
        return
    with pytest.raises(ChangedExperimentError, match=r"temperature was 1\.0 and is now 0\.5") as refused:
        check(open_workspace(file))
    assert re.findall(r"To be redone: (\d+) responses,", str(refused.value)) == [str(again)]
    check(open_workspace(write(tmp_path, **changed)))  # without the temperature it is not refused


def test_as_many_rows_that_come_back_hide_none_that_would_be_made_again(tmp_path: Path) -> None:
    """Texts of Italy and Germany would be lost, and those of Italy and Japan come back: Germany's are made again."""
    explicit = {"conditions": '["explicit"]'}
    do_stages(write(tmp_path, **explicit), "generate")
    do_stages(write(tmp_path, **explicit, countries='["IT", "DE"]', temperature=0.5), "generate", accept_changes=True)
    with pytest.raises(ChangedExperimentError, match=r"temperature was 0\.5 and is now 1\.0.*: 2 responses,"):
        check(open_workspace(write(tmp_path, **explicit, countries='["IT", "DE", "JP"]')))
    check(open_workspace(write(tmp_path, **explicit)))


def test_changes_of_texts_and_of_an_instrument_are_refused_together(tmp_path: Path) -> None:
    """Who accepts a refusal accepts all that it names, so it names all that would be paid again."""
    shutil.copytree(Path(instruments.__file__).parent / "questions" / "demo", tmp_path, dirs_exist_ok=True)

    def both(temperature: float) -> Path:
        file = write(tmp_path, temperature=temperature)
        section = f'[instruments.ask]\nset = "{tmp_path}/made-up.toml"\ntemperature = {temperature}\n'
        file.write_text(file.read_text(encoding="utf-8") + section, encoding="utf-8")
        return file

    assert polyculture("run", both(1.0), cwd=tmp_path).returncode == 0
    workspace = open_workspace(both(0.5))
    with pytest.raises(ChangedExperimentError) as refused:
        check_calls(calls_in_file(workspace))
    told = str(refused.value)
    assert re.search(r"sampling\.temperature was 1\.0 and is now 0\.5", told)
    assert re.search(r"made-up[^;]*: temperature was 1\.0 and is now 0\.5", told)
    assert re.search(r"To be redone: 6 responses, \d+ answers,", told)
    check_calls(calls_in_file(open_workspace(both(1.0))))  # put back, nothing is


def test_an_instrument_that_comes_with_another_model_replaces_nothing(tmp_path: Path) -> None:
    """The run has no table of its answers yet."""
    shutil.copytree(Path(instruments.__file__).parent / "questions" / "demo", tmp_path, dirs_exist_ok=True)
    do_stages(write(tmp_path), "generate")
    file = write(tmp_path)
    section = f'[instruments.ask]\nset = "{(tmp_path / "made-up.toml").as_posix()}"\n'
    file.write_text(file.read_text(encoding="utf-8").replace('"mock:a"', '"mock:a", "mock:b"') + section, "utf-8")
    check_calls(calls_in_file(open_workspace(file)))


def test_numbers_are_over_the_prompts_that_are_asked_together(tmp_path: Path) -> None:
    """Answers to one prompt at one temperature and to another one at another temperature had become one number."""
    shutil.copytree(Path(instruments.__file__).parent / "questions" / "demo", tmp_path, dirs_exist_ok=True)
    rules = tmp_path / "made-up.toml"
    templates = [f"{word} {{context}}\n{{question}}\n{{options}}\nAnswer:" for word in ("Read:", "Context:")]
    prompts = f'[prompts]\noption = "{{label}}. {{option}}"\ntemplates.en = {json.dumps(templates)}\n\n[[questions]]'
    rules.write_text(rules.read_text(encoding="utf-8").replace("[[questions]]", prompts, 1), encoding="utf-8")

    def ask(prompts: str, temperature: float) -> Path:
        file = tmp_path / "exp.toml"
        section = f'[instruments.ask]\nset = "{rules}"\nunits = 2\nprompts = {prompts}\ntemperature = {temperature}\n'
        file.write_text(f'name = "alone"\nmodels = ["mock:a"]\n{section}', encoding="utf-8")
        return file

    def answered(*words: str | Path) -> list[tuple[object, ...]]:
        assert polyculture("run", *words, cwd=tmp_path).returncode == 0
        read = rows(tmp_path, "SELECT DISTINCT dataset, wording FROM numbers WHERE wording <> '*' ORDER BY 2")
        assert [wording for _, wording in read] == [
            prompt for (prompt,) in rows(tmp_path, "SELECT DISTINCT prompt FROM answers ORDER BY 1")
        ]
        return rows(tmp_path, "SELECT prompt, count(*) FROM answers GROUP BY ALL ORDER BY 1")

    assert answered(ask('["1"]', 0)) == [("1", 12)]
    other = ask('["2"]', 0.9)
    refused = polyculture("run", other, cwd=tmp_path)
    assert refused.returncode == 2
    assert "prompt 1: it is not asked any more. To be redone: 12 answers" in refused.stderr
    assert answered(other, "--accept-changes") == [("2", 12)]
    assert answered(ask('["1"]', 0)) == [("1", 12)]  # not refused: its answers are on disk
    assert answered(ask('["1", "2"]', 0)) == [("1", 12), ("2", 12)]
    assert answered(ask('["2"]', 0)) == [("2", 12)]


def test_what_the_file_does_not_name_any_more_is_said_with_the_numbers_of_the_run(tmp_path: Path) -> None:
    do_stages(write(tmp_path, languages='["en", "ja"]'), "generate")
    fewer = write(tmp_path, countries='["IT"]', conditions='["explicit"]')
    assert changed_lines(open_workspace(fewer)) == [
        f"{fewer}: {what}; these numbers are of the last run"
        for what in (
            "languages: ja is not named any more",
            "countries: JP is not named any more",
            "conditions: neutral is not named any more",
        )
    ]
    more = write(tmp_path, languages='["en", "ja", "de"]', countries='["IT", "JP", "KR"]')
    assert changed_lines(open_workspace(more)) == []  # nothing of these is in the numbers
