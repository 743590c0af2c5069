"""Mistakes in a file or a command line, told in one plain line; codes in any case."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from polyculture.cache.errors import EngineError, ExperimentError, StoreError, UserError
from polyculture.cache.store.run_folder import Job
from polyculture.experiment.file import read_experiment
from polyculture.experiment.jobs import JobSelection, choose_jobs
from polyculture.generate.engines.openai.transport import open_client
from polyculture.metrics.comparison.sides import Sides, sides_of
from polyculture.running.opening import open_workspace
from tests.polyculture.test_command_line import one_line, polyculture
from tests.stages import check

EXPERIMENT = 'name = "a"\nmodels = ["mock:x"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["JP"]\n'
TEXT = """name = "pilot"
models = ["mock:x"]
languages = ["JA", "zh-TW"]
topics = ["Food"]
countries = ["jp", "IT"]
[extract]
with = "gazetteer"
[prices."mock:y"]
input = 1
output = 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "exp.toml"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_codes_are_known_in_any_case(file: Path) -> None:
    workspace = open_workspace(file)
    e = workspace.experiment
    assert (e.languages, e.topics, e.countries) == (("ja", "zh-tw"), ("food",), ("JP", "IT"))
    assert choose_jobs(workspace.jobs, JobSelection(language="ZH-tw", topic="FOOD"), workspace.file)[1] == [
        Job("mock:x", "zh-tw", "food")
    ]
    with pytest.raises(ExperimentError, match=r"language.*'zhtw'"):
        choose_jobs(workspace.jobs, JobSelection(language="zhtw"), workspace.file)


def test_a_byte_order_mark_is_passed_over_and_another_encoding_is_told(file: Path) -> None:
    plain = read_experiment(file)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert read_experiment(file) == plain
    file.write_bytes(TEXT.replace('"IT"]', '"IT"] # caf\xe9').encode("latin-1"))
    with pytest.raises(ExperimentError, match=r"line 5.*UTF-8"):
        read_experiment(file)


WRONG = [
    ('topics = ["Food"]', 'topics = "food"', "topics: must be a list in square brackets, not 'food'"),
    ('models = ["mock:x"]', "models = []", "models: must have 1 or more entries, not "),
    ('models = ["mock:x"]', "models = [1]", "models.0: must be text in quotes, not 1"),
    ('"pilot"', '"pi lot"', "name: must be of the letters A to Z, digits, full stops, _ and -, and begin with"),
    ("[extract]", "max_cost = inf\n[extract]", "max_cost: must be a finite number"),
    ("[extract]", "conditions = ['none']\n[extract]", "conditions.0: must be 'neutral', 'explicit',"),
    ("[extract]", "sampling = 3\n[extract]", "sampling: must be a table of keys, not 3"),
    ('with = "gazetteer"', "with = true", "extract.with: must be text in quotes, not True"),
]


@pytest.mark.parametrize(("before", "after", "says"), WRONG)
def test_a_wrong_value_is_told_without_library_words(file: Path, before: str, after: str, says: str) -> None:
    assert before in TEXT
    file.write_text(TEXT.replace(before, after), encoding="utf-8")
    with pytest.raises(ExperimentError) as told:
        read_experiment(file)
    assert says in str(told.value)
    assert "Input" not in str(told.value)


def told_of(file: Path, text: str, places: Mapping[str, str]) -> None:
    """A line for each place, with its remedy, and no other one."""
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ExperimentError) as told:
        open_workspace(file)
    lines = str(told.value).splitlines()
    assert all(line.startswith(f"{file}: ") for line in lines)
    for place, remedy in places.items():
        assert any(place in line and remedy in line for line in lines), (place, lines)
    assert len([line for line in lines if "once these keys fit" not in line]) == len(places), lines


def test_all_keys_that_do_not_fit_are_told_at_once_and_none_that_follows_from_another(file: Path) -> None:
    """A misspelt key is not told to be missing as well, nor a list to be short whose entry is wrong."""
    text = """nme = "pilot"
modles = ["mock:x"]
languages = [3]
topics = "food"
max_cost = -1
temperature = 1
answer_in_language = 3
[sampling]
n = -3
temprature = 1
countries = ["DE"]
[prices."mock:x"]
inptu = 1
[prices."mock:z"]
input = -1
output = 1
"""
    places = {
        "'nme'": "'name'",
        "'modles'": "'models'",
        "languages.0": "text",
        "topics": "list in square brackets",
        "max_cost": "more than 0",
        "'temperature'": "under [sampling]",
        "answer_in_language": "neither true",
        "sampling.n": "1 or more",
        "'sampling.temprature'": "'temperature'",
        "'sampling.countries'": "above all sections",
        "inptu": "'input'",
        "prices.mock:x.output": "missing",
        "mock:z.input": "0 or more",
    }
    told_of(file, text, places)


def test_options_of_instruments_are_told_with_the_wrong_keys_of_the_file(file: Path) -> None:
    text = """name = "pilot"
models = ["mock:x"]
topcs = ["food"]
[sampling]
n = "x"
[instruments.ask]
units = 0
[instruments.askk]
[ask]
metod = ["letter"]
"""
    places = {
        "'topcs'": "'topics'",
        "sampling.n": "whole number",
        "instruments.ask.units": "1 or more",
        "'instruments.ask.set'": "polyculture ask --help",
        "'ask.metod'": "Did you mean 'method'?",
        "'askk'": "'ask'",
    }
    told_of(file, text, places)


def test_all_names_that_are_not_known_are_told_at_once(file: Path) -> None:
    text = """name = "pilot"
models = ["opnai:a", "mock:x"]
languages = ["englsh", "kr"]
topics = ["fod"]
countries = ["Germny"]
conditions = ["neutral", "neutral"]
answer_in_language = ["mock:y"]
[options.mock]
speed = 1
[variants."mock:z"]
a = {}
[instruments.cbs]
setting = "a"
[instruments.askk]
"""
    places = {
        "conditions": "twice",
        "answer_in_language": "'mock:x'",
        "variants.mock:z": "'mock:x'",
        "'opnai": "'openai'",
        "'englsh'": "'en'",
        "'kr'": "'ko'",
        "'fod'": "'food'",
        "'Germny'": "'DE'",
        "'speed'": "Known",
        "cbs.setting": "list",
        "'askk'": "'ask'",
    }
    told_of(file, text, places)


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ('models = ["mock:x"]', "'name'", "Add name = ..."),
        ('name = "a"\n[sampling]\nmodels = ["mock:x"]', "'sampling.models'", "'models' at the top of the file"),
        ('name = "a"\nmodels = [1]', "models.0", "text in quotes"),
        ('name = "a"\nmodels = []', "models", "1 or more entries"),
        ('name = "a"\nmodels = ["mock:x"]\n[prompts]\nwordings = ["write", "write"]', "prompts.wordings", "twice"),
        ('name = "a"\nmodels = ["mock:x"]\n[variants."mock:y"]\na = {}', "variants.mock:y", "none of the models"),
        ('name = "a"\nmodels = ["mock:x"]\n[variants."mock:x"]\n"a b" = {}', "'a b'", "letters, digits, - and _"),
        ('name = "a"\nmodels = ["mock:x"]\npreset = "nne"', "preset", "makieval"),
    ],
)
def test_one_mistake_is_one_line(file: Path, text: str, place: str, remedy: str) -> None:
    told_of(file, text, {place: remedy})


def test_files_that_an_experiment_names_are_looked_for_together(file: Path) -> None:
    more = '[prompts]\nfile = "none.csv"\n[link]\nsnapshot = "none.duckdb"\n[prices."mock:y"]'
    file.write_text(TEXT.replace('[prices."mock:y"]', more), encoding="utf-8")
    with pytest.raises(UserError) as told:
        check(open_workspace(file))
    assert ["none.csv" in line or "none.duckdb" in line for line in str(told.value).splitlines()] == [True, True]


def test_a_plan_says_what_a_run_will_stop_at(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key nothing was said before `run`; a misspelt model in [prices] cost nothing in the plan."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = TEXT.replace('"mock:x"', '"mock:x", "openai:gpt-4o-mini"').replace('"mock:y"', '"openai:gpt-4o-mimi"')
    file.write_text(text, encoding="utf-8")
    done = polyculture("plan", file, cwd=file.parent)
    assert done.returncode == 0, done.stderr
    assert "run will refuse: openai:gpt-4o-mini: no API key: the environment variable OPENAI_API_KEY" in done.stderr
    said = "[prices] names openai:gpt-4o-mimi, which the experiment does not ask. Did you mean 'openai:gpt-4o-mini'?"
    assert said in done.stderr
    next_step = done.stderr.splitlines()[-1]
    assert next_step.startswith("Next: Set it: export OPENAI_API_KEY=...")  # and not what would be refused
    assert next_step.endswith(f"Then: polyculture run {file}")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    planned = polyculture("plan", file, cwd=file.parent).stderr
    assert "run will refuse" not in planned
    assert planned.splitlines()[-1] == f"Next: polyculture run {file}"


def test_no_model_is_asked_where_another_one_has_no_key(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others were asked first, for hours perhaps, before the run ended. With no work left the key is not needed."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file.write_text(TEXT.replace('"mock:x"', '"mock:x", "openai:gpt-4o-mini"'), encoding="utf-8")
    refused = one_line(polyculture("run", file, cwd=file.parent))
    assert "openai:gpt-4o-mini: no API key" in refused
    assert not list(file.parent.rglob("part-*.parquet"))
    for words in ((), ("--only", "generate")):  # a share without it
        assert polyculture("run", file, "--model", "mock:x", *words, cwd=file.parent).returncode == 0
    assert "no API key" in one_line(polyculture("run", file, "--only", "generate", cwd=file.parent))


def test_sides_of_a_comparison_in_any_case() -> None:
    """'de' is a language and 'DE' a country: what is written exactly goes before."""
    known = {"model": {"m"}, "language": {"de", "ja", "it"}, "country": {"DE", "JP", "IT"}}
    assert sides_of(known, "JP", "DE") == Sides("country", "JP", "DE")
    assert sides_of(known, "jp", "it") == Sides("country", "JP", "IT")
    assert sides_of(known, "JA", "it") == Sides("language", "ja", "it")
    with pytest.raises(StoreError, match=r"'jq'.*compare"):
        sides_of(known, "jq", "de")


@pytest.mark.parametrize(
    "more",
    [
        f"[sampling]\nn = {2**70}",
        "[sampling]\ntemperature = inf",
        "[sampling]\nmax_tokens = " + "9" * 6000,
        "x = " + "[" * 175_000,
        "x = " + "{a = " * 50_000,
        "[link]\nrequests_per_minute = 1e308",
    ],
    ids=["n", "temperature", "digits", "brackets", "tables", "rate"],
)
def test_numbers_and_depths_beyond_all_use_are_one_line(tmp_path: Path, more: str) -> None:
    file = tmp_path / "strange.toml"
    file.write_text(f"{EXPERIMENT}{more}\n", encoding="utf-8")
    with pytest.raises(ExperimentError) as told:
        read_experiment(file)
    line = str(told.value)
    assert line.startswith(f"{file}: ")
    assert len(line) < 500
    assert "\n" not in line


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SSL_CERT_FILE", "/nowhere.pem"),
        ("SSL_CERT_FILE", __file__),
        ("HTTPS_PROXY", "::bad::"),
        ("HTTPS_PROXY", "http://user:pw@host:port"),
        ("ALL_PROXY", "socks9://127.0.0.1:1"),
    ],
)
def test_an_environment_that_no_client_can_use_is_one_line(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(EngineError, match=variable) as told:
        open_client(local=False, connections=1, most=1)
    assert "unset it" in str(told.value)


def test_a_folder_with_a_question_mark_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    folder = tmp_path / "what?"
    folder.mkdir()
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    with pytest.raises(StoreError, match="question mark"):
        open_workspace(file)


def test_letters_that_an_output_cannot_hold_are_replaced(tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT.replace('"en"', '"ja"'), encoding="utf-8")
    command = [sys.executable, "-m", "polyculture", "prompts", file]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"??" in done.stdout
