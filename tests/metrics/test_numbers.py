"""The numbers of a run on disk: each with its intervals, of the data that is there, and measured once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.store.data_identity import measure_file
from polyculture.cache.store.manifest import require_run, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import NUMBERS, WANTED_RESPONSES
from polyculture.cache.store.sql_file import names_in
from polyculture.cache.store.store import open_store
from polyculture.cache.store.views import statements_of
from polyculture.cache.work.outcome import Outcome
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.extracted import extracted_by
from tests.large_run import LargeRun
from tests.store_builder import StoreBuilder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    small = LargeRun(models=("m", "n"), languages=("de", "en", "ja"), countries=("IT", "JP"), n=60, items=60)
    run = small.write(tmp_path_factory.mktemp("large"))
    measure(run)
    return run


def test_every_number_of_the_views_has_an_interval_around_it(run: RunFolder) -> None:
    with open_store(run, store_layout()) as store:
        columns = "estimate, low, high, no_interval, method_of_interval"
        rows = store.sql(f"SELECT {columns} FROM numbers WHERE estimate IS NOT NULL").fetchall()
        around = [low - 1e-9 <= estimate <= high + 1e-9 for estimate, low, high, why, _ in rows if not why]
        assert all(around)
        assert all(method for *_, method in rows)
        query = "SELECT DISTINCT metric, no_interval FROM numbers WHERE no_interval IS NOT NULL ORDER BY ALL"
        assert store.sql(query).fetchall() == []


def test_a_number_is_found_by_its_key(run: RunFolder) -> None:
    key = "metric, level, model, dataset, language, country, topic, condition, wording, method, reader, facets"
    with open_store(run, METRICS_LAYOUT, KEPT) as store:
        twice = store.sql(f"SELECT {key} FROM numbers GROUP BY ALL HAVING count(*) > 1").fetchall()
        empty = store.sql(f"SELECT 1 FROM numbers WHERE columns([{', '.join(map(repr, key.split(', ')))}]) IS NULL")
        assert (twice, empty.fetchall()) == ([], [])


def test_the_last_point_of_every_curve_is_the_cell(run: RunFolder) -> None:
    with open_store(run, store_layout()) as store:
        rows = store.sql("SELECT coverage FROM saturation").fetchall()
        last = """
            SELECT s.entities = d.diversity, s.coverage, o.coverage
            FROM saturation AS s
            INNER JOIN diversity AS d USING (model, language, topic, condition, responses)
            INNER JOIN diversity_companions AS o USING (model, language, topic, condition, responses)
            WHERE s.country IS NOT DISTINCT FROM d.country AND s.country IS NOT DISTINCT FROM o.country
        """
        ends = store.sql(last).fetchall()
        cells = store.sql("SELECT count(*) FROM cells").fetchall()[0][0]
    assert len(rows) == 7 * cells  # 1, 2, 5, 10, 20, 50 and 60 responses
    assert all(0 <= coverage <= 1 for (coverage,) in rows)
    assert len(ends) == cells
    assert all(same and one == other for same, one, other in ends)


def test_cells_of_nine_responses_have_an_interval_together_only(tmp_path: Path) -> None:
    run = LargeRun(models=("m",), languages=("de", "en"), countries=("IT",), n=9, items=60).write(tmp_path)
    measure(run)
    with open_store(run, store_layout()) as store:
        query = "SELECT DISTINCT no_interval, low IS NULL FROM numbers WHERE estimate IS NOT NULL AND level {}"
        assert store.sql(query.format("= 'cell' AND metric NOT IN ('consensus', 'specificity_gain')")).fetchall() == [
            ("few responses", True)
        ]
        assert store.sql(query.format("= 'model'")).fetchall() == [(None, False)]  # cells of few add up
        metrics = store.sql("SELECT count(DISTINCT metric) FROM numbers WHERE estimate IS NOT NULL").fetchall()
        assert metrics[0][0] >= 11


@pytest.mark.slow
def test_views_that_are_kept_say_what_they_say_when_they_are_not(tmp_path: Path) -> None:
    run = LargeRun(models=("m", "n"), languages=("de", "en"), countries=("IT",), n=4, items=12).write(tmp_path)
    measure(run)

    statements = statements_of(METRICS_LAYOUT)
    views = [(name, sql) for name, sql in statements if isinstance(sql, str) and "CREATE VIEW" in sql]
    read = {below for name, sql in views for below in names_in(sql) if below != name}
    on_top = [name for name, _ in views if name not in read]  # any other is read by one of these
    assert set(KEPT) <= {name for name, _ in views}

    def answers(keep: Sequence[str]) -> dict[str, list[Any]]:
        with open_store(run, METRICS_LAYOUT, keep) as store:
            return {name: _rounded(store.sql(f"SELECT * FROM {name}").fetchall()) for name in on_top}

    plain, kept = answers(()), answers(KEPT)
    for name in plain:
        assert plain[name] == kept[name], name


@pytest.mark.usefixtures("all_threads")
def test_the_same_store_gives_the_same_intervals_and_is_not_measured_twice(run: RunFolder, tmp_path: Path) -> None:
    path = measure_file(run, NUMBERS, "entities")
    before, stamp = path.read_bytes(), path.stat().st_mtime_ns
    again = measure(run)
    assert again == Outcome(done=again.done, failed=0, reused=again.done)
    assert path.stat().st_mtime_ns == stamp
    path.unlink()
    assert measure(run) == Outcome(done=again.done, failed=0)
    assert pq.read_table(path).equals(pq.read_table(_written(before, tmp_path)))


def test_another_store_is_measured_again(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.answer(builder.ask("en", "food", "JP"), ["sushi"])
    builder.link("sushi", "Q1")
    run = builder.write()
    first = measure(run)
    assert first.reused == 0
    before = _shares_of_cells(run)
    os.utime(run.table("prompts"))  # written again by every command
    assert measure(run).reused == first.done
    assert _shares_of_cells(run) == before
    builder.entity("Q1", JP="P495")
    builder.write()
    assert measure(run).reused == 0
    assert _shares_of_cells(run) != before


def _shares_of_cells(run: RunFolder) -> list[Any]:
    with open_store(run, store_layout()) as store:
        query = "SELECT estimate, low FROM numbers WHERE level = 'cell' AND metric = 'specificity'"
        return list(store.sql(query).fetchall())


def test_a_number_of_data_that_has_changed_since_is_not_shown(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    prompt = builder.ask("en", "food", "JP")
    for sample in range(10):
        builder.answer(prompt, ["sushi"], sample=sample)
    builder.link("sushi", "Q1")
    run = builder.write()
    measure(run)
    query = "SELECT estimate, low FROM numbers WHERE level = 'cell' AND metric = 'granularity'"
    with open_store(run, store_layout()) as store:
        assert store.sql(query).fetchall()[0][1] is not None
    for sample in range(10, 20):
        builder.answer(prompt, [{"surface": "sushi", "granularity": 0}], sample=sample)
    builder.folder = tmp_path / "run2"
    changed = builder.write()
    measure_file(changed, NUMBERS, "entities").parent.mkdir()
    measure_file(run, NUMBERS, "entities").rename(measure_file(changed, NUMBERS, "entities"))
    with open_store(changed, store_layout()) as store:
        assert store.sql(query).fetchall() == []
        assert store.sql("FROM stale_measures").fetchall() == [("entities",)]
    measure(changed)
    with open_store(changed, store_layout()) as store:
        assert store.sql(query).fetchall()[0][0] == 0.5
        assert store.sql("FROM stale_measures").fetchall() == []


def test_the_numbers_of_a_copied_run_are_those_of_its_data(run: RunFolder, tmp_path: Path) -> None:
    copied = RunFolder(shutil.copytree(run.root, tmp_path / "copied", copy_function=shutil.copyfile))
    with open_store(run, store_layout()) as store, open_store(copied, store_layout()) as other:
        counts = [each.sql("SELECT count(*) FROM numbers").fetchall() for each in (store, other)]
    assert counts[0] == counts[1] != [(0,)]


def test_a_run_with_nothing_in_it_is_measured_and_one_that_is_none_is_refused(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.ask("en", "food", "JP")
    assert measure(builder.write()) == Outcome(0, 0)
    with pytest.raises(StoreError, match="holds no run"):
        measure(RunFolder(tmp_path / "elsewhere"))


def _rounded(rows: list[Any]) -> list[Any]:
    """Without the last digits, which hang on the order in which threads add up; in an order of their own."""
    return sorted((tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in rows), key=str)


def _written(data: bytes, folder: Path) -> Path:
    path = folder / "before.parquet"
    path.write_bytes(data)
    return path


def test_a_sample_of_the_texts_has_the_numbers_and_intervals_of_as_many_texts(run: RunFolder, tmp_path: Path) -> None:
    """Texts of a prompt are drawn alike, so the first 20 of 60 are what a run of 20 is: intervals included."""
    few, sampled = (shutil.copytree(run.root, tmp_path / name) for name in ("few", "sampled"))
    wanted = RunFolder(few).table(WANTED_RESPONSES.name)
    table = pq.read_table(wanted)
    place = table.schema.get_field_index("n")
    pq.write_table(table.set_column(place, table.schema.field(place), pa.array([20] * len(table), pa.int64())), wanted)
    told = require_run(RunFolder(sampled))
    extractor = extracted_by({**told.extractor, "sample": 20}, told.extractor_ids, told.reader_id)
    asked = told.model_copy(update=extractor)
    write_manifest(asked, RunFolder(sampled).manifest)
    found = []
    for folder in (few, sampled):
        measure(RunFolder(folder))
        with open_store(RunFolder(folder), store_layout()) as store:
            found.append(store.sql("FROM numbers ORDER BY ALL").fetchall())
    assert found[0] == found[1]
    assert len({row[-1] for row in found[0]}) > 1
