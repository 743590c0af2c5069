"""A run from Python: its tables as frames, what is refused, and that reading writes nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import polyculture
from polyculture.cache.store.run_folder import RunFolder
from tests.polyculture.test_command_line import ROOT
from tests.polyculture.test_command_line import polyculture as command
from tests.report_run import Synthetic
from tests.store_builder import StoreBuilder

MODEL = "vllm:Qwen/Qwen2.5-7B-Instruct"
FILE = f"""
name = "small"
models = ["{MODEL}", "llamacpp:smollm2"]
languages = ["en", "ja"]
topics = ["food"]
countries = ["US", "JP"]
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = tmp_path_factory.mktemp("python")
    (folder / "exp.toml").write_text(FILE, encoding="utf-8")
    made = Synthetic(n=2, languages=("en", "ja"), countries=("US", "JP"), topics=("food",))
    return made.write(folder / "runs" / "small")


@pytest.fixture(scope="module")
def run(small: RunFolder) -> polyculture.Run:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        opened = polyculture.open(small.root.parent.parent / "exp.toml")
    assert any("prompts.wordings was " in str(one.message) for one in warned)
    assert all(str(one.message).endswith("these numbers are of the last run") for one in warned)
    return opened


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(folder.rglob("*"))}


def test_a_table_is_a_frame(run: polyculture.Run) -> None:
    frame = run.table("responses")
    assert isinstance(frame, pd.DataFrame)
    assert set(frame["language"]) == {"en", "ja"}
    assert set(frame["model"]) == set(run.models) == {MODEL, "llamacpp:smollm2"}
    arrow = run.arrow("responses", language="ja")
    assert isinstance(arrow, pa.Table)
    assert arrow.num_rows == (frame["language"] == "ja").sum() > 0
    assert arrow.schema.field("sample").type == pa.int64()


def test_rows_are_chosen_by_any_column_in_any_case(run: polyculture.Run) -> None:
    every = run.responses()
    assert len(run.responses(language="JA", country="jp")) == len(run.responses(language="ja", country="JP")) > 0
    assert len(run.responses(country=None)) == every["country"].isna().sum() > 0
    assert len(run.responses(country=["jp", None])) == (every["country"].isna() | (every["country"] == "JP")).sum()
    assert set(run.responses(model=MODEL.upper())["model"]) == {MODEL}
    assert len(run.responses(sample=np.int64(1))) == (every["sample"] == 1).sum()
    assert len(run.responses(language=every["language"].drop_duplicates())) == len(every)
    assert set(run.responses(topic="FOOD", LANGUAGE="en")["response_id"]) == set(
        every[every["language"] == "en"]["response_id"]
    )
    assert run.responses(language=[]).empty


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"language": "xx"}, "responses has no language 'xx'. Known: en, ja."),
        ({"sample": 7}, "responses has no sample 7. Known: 0, 1."),
        ({"langage": "en"}, "responses has no column 'langage'. Did you mean 'language'?"),
        ({"language": {"a": 1}}, "responses: language cannot be compared with a dict."),
        ({"language": "en' OR true --"}, 'responses has no language "en\' OR true --"'),
    ],
)
def test_an_unknown_value_ends_in_one_line_that_lists_the_known(
    run: polyculture.Run, where: dict[str, object], said: str
) -> None:
    with pytest.raises(polyculture.UserError) as fault:
        run.responses(**where)
    assert str(fault.value).startswith(said)
    assert "\n" not in str(fault.value)
    assert fault.value.what in said
    assert fault.value.remedy


def test_a_code_of_the_run_without_rows_gives_none(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path, countries=("JP", "IT"))
    builder.answer(builder.ask("en", country="JP"))
    with polyculture.open(builder.write().root) as run:
        assert run.responses(country="it").empty
        with pytest.raises(polyculture.StoreError, match=r"'FR'.*IT.*JP"):
            run.responses(country="FR")


def test_tables_are_listed_and_described(run: polyculture.Run) -> None:
    assert {"responses", "mentions", "links", "granularity", "diversity"} <= set(run.tables)
    assert not [name for name in run.tables if name.startswith(("stored_", "run_")) or "*" in name]
    said = run.describe("granularity")
    assert list(said["column"]) == list(run.table("granularity").columns)
    assert said["meaning"].str.len().min() > 0
    assert "cell" in said.attrs["meaning"]
    assert list(run.describe()["table"]) == run.tables
    with pytest.raises(polyculture.StoreError, match=r"granularty.*'granularity'"):
        run.table("granularty")
    with pytest.raises(polyculture.StoreError, match="no view stored"):
        run.table('stored"; DROP TABLE run; --')


def test_sql_is_read_only_and_takes_parameters(run: polyculture.Run) -> None:
    found = run.sql("SELECT count(*) AS n FROM responses WHERE language = $l", {"l": "ja"})
    assert found["n"].item() == len(run.responses(language="ja"))
    assert run.sql("SELECT ? + 1 AS x", [1])["x"].item() == 2
    for query, said in {
        "DELETE FROM run": "only one SELECT",
        "SELECT nonsense FROM responses": "run.describe",
        "SELECT * FROM read_text('/etc/hostname')": "only the run's own files",
        "COPY responses TO 'x.csv'": "only one SELECT",
    }.items():
        with pytest.raises(polyculture.StoreError, match=said):
            run.sql(query)
    with pytest.raises(polyculture.StoreError, match=r"longer than 0\.2 seconds.*timeout=SECONDS"):
        run.sql("SELECT max(a.range * b.range) FROM range(1000000) a, range(1000000) b", timeout=0.2)


def test_a_comparison_is_that_of_the_command_line(run: polyculture.Run, small: RunFolder) -> None:
    frame = run.compare("JA", "en", by=["model"], metrics=["granularity", "diversity"])
    folder = small.root.parent.parent
    words = "compare exp.toml ja en --by model --metric granularity --metric diversity -f csv -o told.csv"
    done = command(*words.split(), cwd=folder)
    assert done.returncode == 0, done.stderr
    told = pd.read_csv(folder / "told.csv")
    (folder / "told.csv").unlink()
    assert list(frame) == list(told)
    assert np.allclose(frame["difference"].astype(float), told["difference"], equal_nan=True)
    said = [line for line in done.stderr.splitlines() if "of the last run" not in line]
    assert frame.attrs["remarks"] == said
    for wrong, names, said in (
        ({}, ("ja", "food"), "different kinds|no 'food'"),
        ({}, ("ja",), "two sides"),
        ({"metrics": ["granularty"]}, ("ja", "en"), "no metric 'granularty' to compare. Did you mean 'granularity'"),
        ({"targets": ["pages"]}, ("ja", "en"), "no target 'pages'"),
    ):
        with pytest.raises(polyculture.UserError, match=said):
            run.compare(*names, **wrong)  # type: ignore[arg-type]


def test_reading_writes_nothing_into_the_run(small: RunFolder, tmp_path: Path) -> None:
    copy = RunFolder(Path(shutil.copytree(small.root, tmp_path / "copy")))
    before = contents(copy.root)
    with polyculture.open(copy.root) as run:
        run.table("granularity")
        run.compare("ja", "en", metrics=["diversity"])
        path = run.report(tmp_path / "out" / "r.html")
    assert "<html" in path.read_text(encoding="utf-8")
    assert contents(copy.root) == before


def test_several_runs_are_open_at_once_and_a_copy_is_its_own(small: RunFolder, tmp_path: Path) -> None:
    copy = RunFolder(Path(shutil.copytree(small.root, tmp_path / "copy")))
    for parent in (copy.root, copy.root / "inventory"):
        shutil.rmtree(next((parent / "responses").glob("model=llamacpp*")))
    with polyculture.open(small.root) as one, polyculture.open(copy.root) as other:
        assert set(one.responses()["model"]) == set(one.models)
        assert set(other.responses()["model"]) == {MODEL}
        one.close()
        assert set(one.responses()["model"]) == set(one.models)  # opened anew


def test_a_later_question_sees_what_a_run_has_written_since(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path)
    builder.answer(builder.ask("en"))
    with polyculture.open(builder.write().root) as run:
        assert len(run.responses()) == 1
        builder.answer(builder.ask("ja"))
        shutil.rmtree(tmp_path / "responses")  # rows that went away under an open store
        builder.write()
        assert run._live is not None
        run._live.pause = 0.0
        assert len(run.responses()) == 2


@pytest.mark.filterwarnings("ignore:.*these numbers are of the last run")
def test_a_run_is_found_by_its_file_its_folder_and_its_own_copy(
    small: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = small.root.parent.parent / "exp.toml"
    assert polyculture.open(str(file)).path == polyculture.open(small.root).path == small.root
    monkeypatch.chdir(small.root.parent)
    assert polyculture.open("small").languages == ("en", "ja")
    copy = Path(shutil.copytree(small.root, tmp_path / "copy"))
    shutil.copy(file, copy / "experiment.toml")
    assert polyculture.open(copy / "experiment.toml").path == polyculture.open(copy).path == copy
    shutil.copy(file, tmp_path / "exp.toml")
    with pytest.raises(polyculture.StoreError, match="holds no run"):
        polyculture.open(tmp_path / "exp.toml")
    assert polyculture.open(tmp_path / "exp.toml", runs=small.root.parent).path == small.root
    monkeypatch.setenv("POLYCULTURE_RUNS", str(small.root.parent))
    assert polyculture.open(tmp_path / "exp.toml").path == small.root
    with pytest.raises(polyculture.StoreError, match=r"holds no run\. Did you mean .*exp\.toml"):
        polyculture.open(tmp_path)
    with pytest.raises(polyculture.ExperimentError, match=r"experiment.*file"):
        polyculture.open(tmp_path / "none.toml")


def test_a_damaged_file_is_named(small: RunFolder, tmp_path: Path) -> None:
    copy = RunFolder(Path(shutil.copytree(small.root, tmp_path / "copy")))
    damaged = next((copy.root / "mentions").rglob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-100])
    with polyculture.open(copy.root) as run, pytest.raises(polyculture.StoreError, match=damaged.name):
        run.table("mentions")
    for words in ("SELECT * FROM granularty", "SELCT 1", "SELECT 1 / 'a'"):  # of another run, or of no file at all
        with polyculture.open(small.root) as run, pytest.raises(polyculture.StoreError) as fault:
            run.sql(words)
        assert damaged.name not in str(fault.value)


def test_importing_loads_nothing_that_takes_long() -> None:
    """Importing the package is a part of every command's start."""
    asked = "import sys, polyculture; print(*sys.modules); polyculture.open; polyculture.PolycultureError"
    done = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True, cwd=ROOT)
    loaded = {name for name in done.stdout.split() if name.startswith("polyculture.")}
    assert not loaded
    assert not {"pandas", "duckdb", "pydantic", "typer"} & set(done.stdout.split())


def test_all_that_is_public_is_there_and_explained() -> None:
    for name in polyculture.__all__:
        found = getattr(polyculture, name)
        assert name.startswith("__") or found.__doc__, name
    assert set(polyculture.__all__) <= set(dir(polyculture))
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        _ = polyculture.opne  # type: ignore[attr-defined]
    public = [name for name in dir(polyculture.Run) if not name.startswith("_")]
    assert not [name for name in public if not getattr(polyculture.Run, name).__doc__]


def test_scratch_folders_go_with_the_handle(small: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = polyculture.open(small.root)
    run.table("prompts")
    assert list(tmp_path.iterdir())
    del run
    assert not list(tmp_path.iterdir())
