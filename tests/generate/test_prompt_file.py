"""A study's own prompts from a file: asked as they are, and one line for a bad file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import ExperimentError
from polyculture.experiment.prompts import prompt_lines
from polyculture.generate.prompt_file import read_prompt_file
from polyculture.running.opening import open_workspace
from tests.polyculture.test_command_line import polyculture

CATALOG = read_catalog()
HEAD = "language,topic,country,text\n"
ROWS = (
    HEAD
    + """en,food,,"Write about dinner, please."
en,food,JP,Write about dinner in Japan.
ja,food,,夕食について書いてください。
"""
)
EXPERIMENT = """
name = "own"
models = ["mock:a"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
[prompts]
file = "prompts.csv"
"""


def write(folder: Path, content: str | bytes, name: str = "prompts.csv") -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_each_row_is_a_prompt_as_it_is(tmp_path: Path) -> None:
    prompts = read_prompt_file(write(tmp_path, "\ufeff" + ROWS), CATALOG, ["write"])
    assert [(one.language, one.topic, one.condition, one.country, one.text, one.wording) for one in prompts] == [
        ("en", "food", "neutral", None, "Write about dinner, please.", "write"),
        ("en", "food", "explicit", "JP", "Write about dinner in Japan.", "write"),
        ("ja", "food", "neutral", None, "夕食について書いてください。", "write"),
    ]
    rows = [{"language": one.language, "topic": one.topic, "country": one.country, "text": one.text} for one in prompts]
    lines = "\n".join(json.dumps(row) for row in rows)
    assert read_prompt_file(write(tmp_path, lines, "prompts.jsonl"), CATALOG, ["write"]) == prompts
    tabs = ROWS.replace('"Write about dinner, please."', "Write about dinner; please.").replace(",", "\t")
    assert len(read_prompt_file(write(tmp_path, tabs, "prompts.tsv"), CATALOG, ["write"])) == 3


def test_an_experiment_asks_those_of_its_languages_and_topics(tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    workspace = open_workspace(write(tmp_path, EXPERIMENT, "exp.toml"))
    assert [one.text for one in workspace.prompts] == ["Write about dinner, please.", "Write about dinner in Japan."]
    assert list(prompt_lines(workspace.experiment, workspace.catalog, workspace.file)) == [
        "prompts.csv: 1 of 3 prompts are not asked: languages lacks ja"
    ]
    write(tmp_path, EXPERIMENT.replace('["en"]', '["en", "de"]'), "exp.toml")
    with pytest.raises(ExperimentError, match=r"prompts\.csv.*food"):
        _ = open_workspace(tmp_path / "exp.toml").prompts


def test_what_of_a_file_is_not_asked_is_named_by_plan_with_the_reasons(tmp_path: Path) -> None:
    many = "".join(f"en,food,{code},Write about {code}.\n" for code in ("JP", "FR", "BR", "IN", "CN", "EG", "DE", "TR"))
    write(tmp_path, ROWS + many + "en,music,,Write about music.\n")
    planned = polyculture("plan", write(tmp_path, EXPERIMENT, "exp.toml"), cwd=tmp_path)
    assert (
        "prompts.csv: 9 of 12 prompts are not asked: languages lacks ja; "
        "countries lacks FR, BR, IN, CN, EG and 2 more; topics lacks music"
    ) in " ".join(planned.stderr.split())


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (None, "prompts.csv", "cannot be read: No such file"),
        ("", "prompts.csv", "has no prompts"),
        (HEAD.encode() + "en,food,,für\n".encode("cp1252"), "prompts.csv", "is not UTF-8"),
        (ROWS, "prompts.xlsx", "neither .csv"),
        ("language,topic,txt\nen,food,Write.\n", "prompts.csv", "line 2: has a field 'txt'. Did you mean 'text'"),
        (HEAD + "en,food,,Write., more\n", "prompts.csv", "line 2: has more or fewer cells"),
        (HEAD + "en,food,,\n", "prompts.csv", "line 2: has no text"),
        (HEAD + "en,fod,,Write.\n", "prompts.csv", "line 2: unknown topic 'fod'. Did you mean 'food'"),
        (HEAD + "en,food,,Write.\nen,food,,Write.\n", "prompts.csv", "line 3: the same prompt"),
        (HEAD + "en,food,XX,Write.\n", "prompts.csv", "line 2: unknown country 'XX'"),
        ("language,topic,condition,text\nen,food,explicit,Write.\n", "prompts.csv", "is explicit and has no country"),
        ("language,topic,condition,text\nen,food,explict,Write.\n", "prompts.csv", "Did you mean 'explicit'"),
        ("language,topic,wording,text\nen,food,diary,Write.\n", "prompts.csv", "has the wording 'diary'"),
        ("[1]\n", "prompts.jsonl", "line 1: is no JSON object"),
        ('{"language": "en", "topic": "food", "prompt": "Write."}\n', "prompts.jsonl", "line 1: has a field 'prompt'"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, content: str | bytes | None, name: str, told: str) -> None:
    file = tmp_path / name if content is None else write(tmp_path, content, name)
    with pytest.raises(ExperimentError) as fault:
        read_prompt_file(file, CATALOG, ["write"])
    assert told in str(fault.value)
    assert str(fault.value).startswith(str(file))
    assert "\n" not in str(fault.value)
