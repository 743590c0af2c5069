"""An unchanged report is not written again; one of which anything has changed is."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import matplotlib
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import polyculture
from polyculture.cache import identity
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.files import cache_folder
from polyculture.cache.store.manifest import require_run, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import committed_parts
from polyculture.metrics import METRICS_LAYOUT
from polyculture.metrics.measure import measure
from polyculture.reports import evidence, renewal
from polyculture.reports.evidence import Bounds
from polyculture.reports.page import page_environment
from polyculture.reports.report import write_report
from polyculture.reports.section import Section
from polyculture.reports.sections import CLOSING_SECTIONS
from polyculture.running import layout
from polyculture.running.layout import report_sections, store_layout
from polyculture.running.results import report_run
from tests.report_run import Synthetic, kitchens

CATALOG = read_catalog()


WHOLE = evidence.WHOLE  # the page that other tests share is written with it, in a module whose own run has less


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunFolder]:
    """A run with a report in parts, with one section: what is tested is when it is written."""
    run = Synthetic(n=1, models=["openai:one"], languages=("en", "ja"), topics=("food",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "WHOLE", Bounds(linked=2, other=1, texts=300, counts=9))
        patch.setattr(layout, "report_sections", lambda _: [CLOSING_SECTIONS[-1]])
        written = run.write(tmp_path_factory.mktemp("renewal") / "run")
        measure(written)
        report_run(written, CATALOG)
        yield written


def rewrites(run: RunFolder, catalog: Catalog = CATALOG) -> bool:
    """Is the page written again?"""
    before = run.report.stat().st_ino if run.report.exists() else None
    assert report_run(run, catalog) == run.report
    return run.report.stat().st_ino != before


def swap_letters(file: Path) -> None:
    """Changes the text of a row, whose file keeps its size."""
    rows = pq.read_table(file, partitioning=None)
    column = rows.column_names.index("text")
    first, *others = map(str, rows["text"].to_pylist())
    texts = [first[1] + first[0] + first[2:], *others]
    changed = rows.set_column(column, rows.field(column), pa.array(texts, rows["text"].type))
    pq.write_table(rows, file)
    size = file.stat().st_size
    pq.write_table(changed, file)
    assert file.stat().st_size == size


def row_changed(run: RunFolder) -> None:
    swap_letters(committed_parts(run, RESPONSES)[0])


def number_changed(run: RunFolder) -> None:
    file = run.root / "numbers" / "entities.parquet"
    rows = pq.read_table(file)
    pq.write_table(rows.slice(1), file)


def note_changed(run: RunFolder) -> None:
    write_manifest(require_run(run).model_copy(update={"notes": ["A note."]}), run.manifest)


def sections_of_a_paper(run: RunFolder) -> None:
    texts, body = run.root.with_name("paper.toml"), run.root.with_name("paper.jinja")
    texts.write_text('title = "A paper"\n', encoding="utf-8")
    body.write_text("{{ section }}\n", encoding="utf-8")
    report_run(run, CATALOG, more=[Section("a-paper", lambda data: data.manifest.experiment, body, texts)])
    assert 'id="a-paper"' in run.report.read_text(encoding="utf-8")


def is_current(run: RunFolder) -> bool:
    return renewal.is_written(run, renewal.shown_id(run, CATALOG, METRICS_LAYOUT))


@pytest.mark.parametrize("change", [row_changed, number_changed, note_changed])
def test_any_change_of_the_run_is_noticed(run: RunFolder, change: Callable[[RunFolder], None]) -> None:
    before = {path: path.read_bytes() for path in run.root.rglob("*") if path.is_file()}
    assert is_current(run)
    change(run)
    assert not is_current(run)
    for path, data in before.items():
        path.write_bytes(data)
    assert is_current(run)


def test_any_change_of_what_was_written_is_noticed(run: RunFolder) -> None:
    for path in (run.report, run.store, next(run.report_data.glob("*.js"))):
        data = path.read_bytes()
        path.unlink()
        assert not is_current(run), path
        path.write_bytes(data[:-1])
        assert not is_current(run), path
        path.write_bytes(data)
        assert is_current(run), path


def test_what_has_changed_is_written_again_once(run: RunFolder) -> None:
    assert not rewrites(run)
    note_changed(run)
    assert rewrites(run)
    sections_of_a_paper(run)
    assert rewrites(run)
    assert not rewrites(run)
    assert 'id="a-paper"' not in run.report.read_text(encoding="utf-8")


def test_another_name_of_a_country_is_noticed(run: RunFolder) -> None:
    japan = CATALOG.countries["JP"].model_copy(update={"name": "Nihon"})
    renamed = CATALOG.model_copy(update={"countries": {**CATALOG.countries, "JP": japan}})
    assert renewal.shown_id(run, renamed, METRICS_LAYOUT) != renewal.shown_id(run, CATALOG, METRICS_LAYOUT)


def test_another_version_is_noticed(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renewal, "code_id", lambda **_: "of another version")
    assert not is_current(run)


def test_a_copied_run_writes_it_again_and_its_store_with_it(run: RunFolder, tmp_path: Path) -> None:
    copied = RunFolder(tmp_path / "copied")
    shutil.copytree(run.root, copied.root)
    with (
        duckdb.connect(str(copied.store), read_only=True) as store,
        pytest.raises(duckdb.Error, match="copied or moved"),
    ):
        store.sql("SELECT count(*) FROM responses").fetchall()
    assert rewrites(copied)
    with duckdb.connect(str(copied.store), read_only=True) as store:
        assert store.sql("SELECT count(*) > 0 FROM responses").fetchall() == [(True,)]
    assert run.report.read_bytes() == copied.report.read_bytes()


def test_what_another_process_has_put_there_since_is_no_report_of_this_one(run: RunFolder) -> None:
    shown = renewal.shown_id(run, CATALOG, store_layout())
    renewal.keep_made(run, shown, {run.report.name: "the hash of what this process wrote"})
    assert not renewal.is_written(run, shown)


@pytest.mark.parametrize("file", ["reports/templates/page.jinja", "reports/page.css", "metrics/views.sql", "top.py"])
def test_every_file_of_the_code_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    monkeypatch.setattr(identity, "_ROOT", tmp_path)
    for name in ("reports/__pycache__/a.pyc", "metrics/x.py", file):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1", encoding="utf-8")

    def found() -> str:
        identity.code_id.cache_clear()
        return identity.code_id()

    before = found()
    (tmp_path / "reports/__pycache__/a.pyc").write_text("2", encoding="utf-8")
    assert found() == before
    (tmp_path / file).write_text("2", encoding="utf-8")
    assert found() != before
    identity.code_id.cache_clear()


_opened: list[Path] | None = None


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _opened is not None and isinstance(arguments[0], (str, bytes, Path)):
        mode = arguments[1] or "r"
        if not set("wax+") & set(mode):
            _opened.append(Path(str(arguments[0] if not isinstance(arguments[0], bytes) else arguments[0].decode())))


@contextmanager
def listening() -> Iterator[list[Path]]:
    """The files that Python opens for reading meanwhile. An audit hook stays: it is added once, and is deaf else."""
    global _opened
    if not getattr(listening, "added", False):
        sys.addaudithook(_listen)
        listening.added = True  # type: ignore[attr-defined]
    files: list[Path] = []
    _opened = files
    try:
        yield files
    finally:
        _opened = None


@pytest.mark.slow
@pytest.mark.usefixtures("all_threads")
def test_the_same_store_gives_the_same_bytes_and_nothing_else_is_read(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "WHOLE", WHOLE)
    run = kitchens(tmp_path_factory)
    before = run.report.read_bytes()
    page_environment.cache_clear()  # an earlier test may have had another folder of kept templates
    with listening() as opened:
        write_report(run, layout=store_layout(), sections=report_sections())
    assert run.report.read_bytes() == before
    assert run.manifest in opened
    own = Path(polyculture.__file__).parent
    ours = {own.resolve(), *(folder.resolve() for folder in own.iterdir() if folder.is_dir())}
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "stdlib")}
    # What is kept there is named by what it was made from; matplotlib keeps its list of fonts.
    kept = {cache_folder().resolve(), Path(matplotlib.get_cachedir()).resolve()}
    others = {*installed, *kept, Path("/proc"), Path("/sys")}
    looked_at = {path.resolve() for path in renewal._shown_files(run, store_layout())}
    inventory = (run.root / "inventory").resolve()  # says whether parts are whole: what is lost ends in an error
    strange = [
        path
        for path in {path.absolute().resolve() for path in opened}
        if path not in looked_at
        and not path.is_relative_to(inventory)
        and not any(path.is_relative_to(folder) for folder in (*ours, *others))
    ]
    assert strange == []
