"""Every benchmark runs at its smallest size, so that none rots; what it measures there means nothing. `make test` loads
all, `make test-full` runs them.

A benchmark says in `SMALLEST` with which options: `{model}` is a tiny model, `{snapshot}` the starter snapshot,
`{run}` a run, `{data}` the real data beside a checkout, `{folder}` an empty folder, `{vllm_python}` and `{vllm_model}`
what `make test-vllm` installs.
"""

from __future__ import annotations

import ast
import csv
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from bench.results import COLUMNS, VARIABLE
from polyculture.link.index.starter import write_starter
from tests.browsers import NO_BROWSER, starts
from tests.extract_engines import ScriptedEngine, answer
from tests.metrics.test_prompt_values import kitchen
from tests.test_house import ROOT
from tests.tiny_models import save_causal

MODULES = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in sorted((ROOT / "bench").glob("*.py"))}
BENCHMARKS = [
    name for name, tree in MODULES.items() if 'if __name__ == "__main__"' in ast.unparse(tree).replace("'", '"')
]


def smallest(name: str) -> Sequence[str]:
    """The options of a benchmark's smallest size; none where it does not say."""
    for statement in MODULES[name].body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "SMALLEST":
            options: Sequence[str] = ast.literal_eval(statement.value)
            return options
    return ()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_causal("gemma3", tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_starter(tmp_path_factory.mktemp("snapshot") / "starter.duckdb").path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kitchen(tmp_path_factory.mktemp("kitchen"), models=1, languages=("en",)).write().root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def data(shared_data: Path) -> Path:
    return shared_data


def installed(variable: str) -> Path:
    found = os.environ.get(variable)
    if not found:
        pytest.skip(f"{variable} is not set: run `make test-vllm`, which installs vLLM and a small model")
    return Path(found)


@pytest.fixture
def vllm_python() -> Path:
    return installed("POLYCULTURE_VLLM_PYTHON")


@pytest.fixture
def vllm_model() -> Path:
    return installed("POLYCULTURE_VLLM_MODEL")


def of_vllm(name: str) -> bool:
    return any("{vllm_" in word for word in smallest(name))


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.vllm] if of_vllm(name) else [pytest.mark.full]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_loads_and_says_how_small_it_can_be(name: str) -> None:
    importlib.import_module(f"bench.{name}")
    assert smallest(name), f"bench/{name}.py has no SMALLEST: the options with which the tests run it"


@pytest.mark.parametrize("name", [pytest.param(name, marks=_marks(name)) for name in BENCHMARKS])
def test_a_benchmark_runs_at_its_smallest_size(name: str, request: pytest.FixtureRequest) -> None:
    """`bench/vllm_overhead.py` ended in an AssertionError for weeks, and nobody knew."""
    options = smallest(name)
    places = {place: request.getfixturevalue(place) for word in options for place in re.findall(r"{(\w+)}", word)}
    command = [sys.executable, "-m", f"bench.{name}", *(word.format_map(places) for word in options)]
    with TemporaryDirectory() as folder:  # not pytest's: a browser does not start where the path is long
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": folder, VARIABLE: folder}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500, check=False
        )
        kept = [row for file in Path(folder).glob("*.csv") for row in csv.reader(file.read_text().splitlines())]
    if NO_BROWSER in done.stderr and not os.environ.get("CI") and not starts():
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d", done.stdout), done.stdout
    assert bool(kept) == ("keep" in ast.dump(MODULES[name]))
    assert all(len(row) == len(COLUMNS) and all(row) for row in kept)


@pytest.mark.parametrize("name", sorted(MODULES.keys() - set(BENCHMARKS)))
def test_a_module_that_is_no_benchmark_belongs_to_one(name: str) -> None:
    """A benchmark without its last two lines would run nothing, and pass."""
    imports = [node.module for tree in MODULES.values() for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert f"bench.{name}" in imports


def test_extraction_on_vllm_counts_texts_and_not_attempts() -> None:
    """An answer of no use has a row of its own, and the text another: what the benchmark of vLLM once fell over."""
    from bench import vllm_overhead

    engine = ScriptedEngine(lambda _text, attempt: answer(("ramen", "dish")) if attempt else "no JSON")
    recorded, _ = vllm_overhead.extraction(engine, ["She loves ramen.", "He loves ramen, too."])
    assert len(recorded.asked) == 4
    assert recorded.tokens == 40
