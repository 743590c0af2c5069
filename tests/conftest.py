"""Fixtures that several rooms share."""

from __future__ import annotations

import gc
import os
import pickle
import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import typer.main
from filelock import FileLock
from hypothesis import HealthCheck, settings

from polyculture.cache.catalog import read_catalog
from polyculture.extract import gazetteer
from polyculture.link.index import classes, lexicon

if TYPE_CHECKING:
    from polyculture.cache.catalog import Catalog
    from polyculture.link.index.snapshot import Snapshot

ROOT = Path(__file__).parents[1]

# A test runs on every core: threads of one model that wait for each other by spinning would take the others' time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Nor do DuckDB's threads find a free core: for the small runs of tests they cost a sixth of its time. Commands in
# processes of their own have them, and tests of what may depend on their order (`all_threads`).
_connect = duckdb.connect


def _with_one_thread(*words: Any, config: dict[str, Any] | None = None, **options: Any) -> duckdb.DuckDBPyConnection:
    return _connect(*words, config={"threads": 1, **(config or {})}, **options)


duckdb.connect = _with_one_thread

# How long an example takes depends on what else the machine does.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Each process collects all files: what one test alone compares with (NLTK, scikit-bio, spaCy) is imported by that test.

# Collecting makes millions of objects that stay; looking among them for garbage takes a fifth of the time, and more
# than a second whenever it is done later: they are put aside when all are collected.
gc.disable()

# Tests run hundreds of commands in their process: the parameters of all commands are read from their signatures once,
# not for each, which takes as long as a small command.
typer.main.get_command = cache(typer.main.get_command)

# So is every TOML text, of which a command reads some twenty; each reader gets tables of its own.
_parsed = cache(lambda text, loads=tomllib.loads: pickle.dumps(loads(text)))


def _loads(text: str, /) -> dict[str, Any]:
    return pickle.loads(_parsed(text))


tomllib.loads = _loads  # type: ignore[assignment]


# Each run of texts finds the same in the starter snapshot for the catalogue that Polyculture ships.
_lexicons, _check_classes, _automaton = lexicon.lexicons, classes.check_classes, gazetteer._automaton
_found: dict[object, Any] = {}
_known: dict[int, Any] = {}  # lexicons by their id


def _shipped(snapshot: Snapshot, catalog: Catalog) -> object:
    """What identifies both where both are shipped."""
    shipped = snapshot.bundled and catalog is read_catalog()
    return (snapshot.path, snapshot.path.stat().st_mtime_ns) if shipped else None


def _once(key: tuple[object, ...], find: Callable[[], Any]) -> Any:
    if key not in _found:
        _found[key] = find()
    return _found[key]


def _lexicons_once(
    snapshot: Snapshot, catalog: Catalog, topic: str, languages: Iterable[str], *, own_only: bool = False
) -> dict[str, Any]:
    codes = tuple(languages)
    find = partial(_lexicons, snapshot, catalog, topic, codes, own_only=own_only)
    if not (shipped := _shipped(snapshot, catalog)):
        return find()
    found: dict[str, Any] = _once(("lexicons", shipped, topic, codes, own_only), find)
    _known.update((id(table), table) for table in found.values())
    return dict(found)


def _check_classes_once(snapshot: Snapshot, catalog: Catalog, topics: Sequence[str]) -> list[str]:
    find = partial(_check_classes, snapshot, catalog, topics)
    shipped = _shipped(snapshot, catalog)
    return [*_once(("classes", shipped, *topics), find)] if shipped else find()


def _automaton_once(names: Any, language: str, words: Iterable[str], endings: Any, countries: Sequence[str]) -> Any:
    find = partial(_automaton, names, language, words, endings, countries)
    if id(names) not in _known:
        return find()
    return _once(("automaton", id(names), language, *sorted(words), *countries, repr(endings)), find)


lexicon.lexicons = _lexicons_once
classes.check_classes = _check_classes_once
gazetteer._automaton = _automaton_once


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first: last, they would leave the other cores idle for minutes."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    gc.set_threshold(
        20_000, 20, 50
    )  # commands leave few cycles; to look for them as often as usual takes a 25th of all


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line of a run says how many tests no browser was there for; a line at its beginning would be missed."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return
    from tests.browsers import NO_BROWSER

    missed = sum(NO_BROWSER in str(report.longrepr) for report in reporter.stats.get("skipped", ()))
    if missed:
        reporter.write_line(f"{missed} tests were skipped for lack of a browser: install chromium", yellow=True)


@pytest.fixture
def all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB has its threads, at least four of them."""
    monkeypatch.setattr(duckdb, "connect", partial(_connect, config={"threads": 4}))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data that stands beside a checkout; tests that measure on it skip where it is absent."""
    folder = Path(os.environ.get("POLYCULTURE_SHARED", ROOT.parent / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip(f"the real data is not here: {folder}")
    return folder


@pytest.fixture(scope="session")
def slice_index(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """An index over the slice of Wikidata among the real data, built once for all processes that run tests."""
    from polyculture.link.dumps.build import build_index
    from polyculture.link.index.snapshot import open_snapshot
    from tests.link_world import LANGUAGES

    folder = tmp_path_factory.getbasetemp()
    out = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "slice.duckdb"
    with FileLock(f"{out}.lock"):
        if not out.exists():
            build_index(shared_data / "wikidata" / "slice.json.gz", out, LANGUAGES)
    return open_snapshot(out)
