"""`polyculture leaderboard`: runs and exports of one study, which of them enter, and what it writes."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.store.inventory import FOLDER as RECORDS
from polyculture.cache.store.manifest import TEXTS as TEXTS_ASKED
from polyculture.cache.store.manifest import read_manifest, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.cli.leaderboard import remarks
from polyculture.metrics import METRICS_LAYOUT
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import RUN, Sides
from polyculture.metrics.leaderboard import TEXTS
from polyculture.metrics.measure import measure
from polyculture.metrics.model_health import model_health
from polyculture.reports.export.write import write_export
from polyculture.reports.numbers import share_beyond
from polyculture.running.standings import RECORD_FACTS, joined_runs, read_bounds
from tests.metrics.compared_runs import specific_with, write_run
from tests.polyculture.test_command_line import ROOT, one_line, polyculture

CHANCE = {"openai:one": 0.9, "openai:two": 0.93, "openai:three": 0.3}
STUDY = {"languages": ["de", "ja"], "topics": ["book", "food", "music"], "conditions": ["explicit", "neutral"]}


def studied(folder: Path, name: str, *models: str, prompts: str = "a hash", **chance: float) -> RunFolder:
    """A run that says which prompts it asked."""
    write_run(folder, name, specific_with({**CHANCE, **chance}), models)
    run = RunFolder(folder / "runs" / name)
    manifest = read_manifest(run.manifest)
    assert manifest is not None
    asked = {**STUDY, "prompts": {"texts": dict.fromkeys(STUDY["languages"], prompts)}, "experiment": name}
    write_manifest(manifest.model_copy(update=asked), run.manifest)
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one study, an export of the second, and a run with other prompts."""
    place = tmp_path_factory.mktemp("board")
    studied(place, "mine", "openai:one", "openai:two")
    theirs = studied(place, "theirs", "openai:three")
    studied(place, "other", "openai:four", prompts="another hash", **{"openai:four": 0.5})
    write_export(theirs, METRICS_LAYOUT, place / "export")
    return place


def written(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_models_of_two_runs_stand_in_groups_with_their_languages(folder: Path) -> None:
    done = polyculture("leaderboard", "runs/mine", "runs/theirs", "-f", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = [row for row in written(done.stdout) if row["metric"] == "granularity"]
    assert [(row["model"], row["run"], row["group"]) for row in rows] == [
        ("openai:one", "mine", "1"),
        ("openai:two", "mine", "1"),
        ("openai:three", "theirs", "2"),
    ]
    for row in rows:
        assert float(row["low"]) < float(row["estimate"]) < float(row["high"])
        assert float(row["ja_low"]) < float(row["ja"]) < float(row["ja_high"])
        assert float(row["estimate"]) == pytest.approx((float(row["de"]) + float(row["ja"])) / 2)
    assert "3 models of 2 runs" in done.stderr


def test_a_strangers_export_gives_the_numbers_of_the_run(folder: Path) -> None:
    """Its own numbers and views are not needed: they are computed from its texts, mentions and links."""
    by_run = polyculture("leaderboard", "runs/mine", "runs/theirs", "-f", "csv", cwd=folder)
    by_export = polyculture("leaderboard", "mine.toml", "export", "-f", "csv", cwd=folder)
    assert by_export.returncode == 0, by_export.stderr
    assert by_export.stdout.replace(",export,", ",theirs,") == by_run.stdout


def test_differences_are_those_of_compare_with_a_baseline(folder: Path) -> None:
    """One function makes both: the difference, its interval and p; q is over other rows."""
    places = [folder / "runs" / name for name in ("mine", "theirs")]
    with joined_runs(places) as found, open_store(found.run, METRICS_LAYOUT) as store:
        columns = "metric, target, selection, condition, a, b, difference, low, high, p"
        rows = store.sql(f"SELECT {columns} FROM differences WHERE 'openai:three' IN (a, b)").fetchall()
    runs = [ComparedRun(open_store(RunFolder(place), METRICS_LAYOUT)) for place in places]
    several = [Sides(RUN, "mine", "theirs", pairs=((one, "openai:three"),)) for one in ("openai:one", "openai:two")]
    expected = {}
    for sides in several:
        for row in compare(runs, [sides], Terms()):
            one = row.difference
            key = (one.metric, one.target, one.selection, one.condition, sides.pairs[0][0])
            expected[key] = (one.difference, one.low, one.high, one.p)
    assert len(rows) == len(expected) > 20
    for metric, target, selection, condition, a, b, *numbers in rows:
        other = b if a == "openai:three" else a
        difference, low, high, p = expected[metric, target, selection, condition, other]
        if a == "openai:three":
            difference, low, high = (None if one is None else -one for one in (difference, high, low))
        assert numbers == pytest.approx([difference, low, high, p]), (metric, target, other)


def test_a_run_of_another_study_is_left_out_with_what_differs(folder: Path) -> None:
    done = polyculture("leaderboard", "runs/mine", "runs/other", "-f", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert {row["model"] for row in written(done.stdout)} == {"openai:one", "openai:two"}
    assert "left out: other: its study is not that of mine: prompts in de, prompts in ja" in " ".join(
        done.stderr.split()
    )

    alone = polyculture("leaderboard", "runs/theirs", "runs/other", cwd=folder)
    assert alone.returncode == 2
    assert "1 model remains" in alone.stderr
    assert "prompts in de" in alone.stderr


def test_the_same_answers_are_one_model(folder: Path) -> None:
    done = polyculture("leaderboard", "runs/mine", "runs/theirs", "export", "-f", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = [row for row in written(done.stdout) if row["metric"] == "granularity"]
    assert [row["model"] for row in rows] == ["openai:one", "openai:two", "openai:three"]
    said = " ".join(done.stderr.split())
    assert "left out: openai:three in export: 144 of its 144 answers are those of openai:three in theirs" in said


def test_one_model_in_two_runs_has_two_names(tmp_path: Path) -> None:
    """A control row: the same model was asked again, and gave other answers."""
    for name in ("first", "again"):
        run = studied(tmp_path, name, "openai:one")
        if name == "again":
            _other_texts(run)
    done = polyculture("leaderboard", "runs/first", "runs/again", "-f", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [row for row in written(done.stdout) if row["metric"] == "granularity"]
    assert {row["model"] for row in rows} == {"openai:one (first)", "openai:one (again)"}
    assert {row["group"] for row in rows} == {"1"}


def test_a_model_beyond_the_bounds_is_left_out_with_its_share(folder: Path, tmp_path: Path) -> None:
    studied(tmp_path, "sound", "openai:one", "openai:two")
    run = studied(tmp_path, "cut", "openai:three")
    _other_texts(run, ending="cut")
    done = polyculture("leaderboard", "runs/sound", "runs/cut", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: openai:three in cut: 100 % cut (at most 50 %)" in " ".join(done.stderr.split())
    done = polyculture("leaderboard", "runs/sound", "runs/cut", "--most", "cut=1", "-f", "csv", cwd=tmp_path)
    assert "openai:three" in {row["model"] for row in written(done.stdout)}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "nowhere: there is no such run or export"),
        (("runs",), "runs: is neither a run nor an export"),
        (("runs/mine", "--most", "cutt=1"), "Did you mean 'cut'?"),
        (("runs/mine", "--most", "cut=2"), "Write a number from 0 to 1"),
        (("runs/mine", "-f", "html"), "--output leaderboard.html"),
        (
            ("runs/mine", "-o", "l.xyz"),
            "l.xyz: nobody knows how to write a file that ends in '.xyz'. Let it end in .html",
        ),
        (("runs/mine", "-o", "leaderboard"), "leaderboard: its name has no ending"),
    ],
)
def test_mistakes_have_a_line_with_a_remedy(folder: Path, words: tuple[str, ...], said: str) -> None:
    assert said in one_line(polyculture("leaderboard", *words, cwd=folder))


def test_an_export_that_somebody_changed_has_a_line(folder: Path, tmp_path: Path) -> None:
    theirs = RunFolder(folder / "runs" / "theirs")
    export = write_export(theirs, METRICS_LAYOUT, tmp_path / "changed").path
    mine = folder / "runs" / "mine"
    (export / "README.md").unlink()  # a reader may do as he likes with it
    file = export / "entities.parquet"
    file.write_bytes((folder / "export" / "entity_countries.parquet").read_bytes())
    with pytest.raises(StoreError, match=r"entities.parquet.*has no column label"), joined_runs([mine, export]):
        pass
    file.unlink()
    with joined_runs([mine, export]) as found:
        [left_out] = found.excluded
    assert left_out.what == "changed"
    assert "lacks entities.parquet" in left_out.why
    assert "Ask whoever made it" in left_out.why, "the remedy"
    with pytest.raises(StoreError, match=r"lacks entities.parquet"), joined_runs([export, mine]):
        pass  # which study it is nobody knows


def test_an_export_with_records_of_every_eval_ever_enters_as_any_other(folder: Path, tmp_path: Path) -> None:
    run = studied(tmp_path, "theirs", "openai:three")
    measure(run)
    export = write_export(run, METRICS_LAYOUT, tmp_path / "records", every_eval_ever=RECORD_FACTS)
    assert any(path.suffix == ".json" for path in (export.path / "data").rglob("*"))
    with joined_runs([folder / "runs" / "mine", export.path]) as found:
        assert [entry.run for entry in found.models] == ["mine", "mine", "records"]
        assert not found.excluded


def test_a_model_whose_texts_were_not_extracted_is_left_out(folder: Path, tmp_path: Path) -> None:
    """Half of a model's extractions had failed, or one language had none, and it was ranked in group 1."""
    studied(tmp_path, "sound", "openai:one", "openai:two")
    run = studied(tmp_path, "unread", "openai:three")
    for file in (run.root / "extractions").rglob("*.parquet"):
        if "language=ja" in str(file):
            _with_columns(file, status="failed")
    done = polyculture("leaderboard", "runs/sound", "runs/unread", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: openai:three in unread: 50 % unextracted (at most 5 %)" in " ".join(done.stderr.split())


@pytest.mark.parametrize("failed", [True, False])
def test_a_model_of_which_nothing_was_extracted_is_left_out(folder: Path, tmp_path: Path, failed: bool) -> None:
    """Shares of nothing are no shares: 0 of 0 had passed every bound."""
    studied(tmp_path, "sound", "openai:one", "openai:two")
    run = studied(tmp_path, "unread", "openai:three")
    if failed:
        for file in (run.root / "extractions").rglob("*.parquet"):
            _with_columns(file, status="failed")
    else:
        shutil.rmtree(run.root / "extractions")
        shutil.rmtree(run.root / RECORDS, ignore_errors=True)
    with joined_runs([tmp_path / "runs" / name for name in ("sound", "unread")]) as found:
        [excluded] = found.excluded
    assert str(excluded) == "openai:three in unread: 100 % unextracted (at most 5 %)"


def _unread(run: RunFolder, samples: Callable[[int], bool]) -> None:
    """Leaves some samples of every prompt without a usable extraction."""
    for file in (run.root / "extractions").rglob("*.parquet"):
        read = pq.read_table(file, columns=["sample"])["sample"].to_pylist()
        _with_columns(file, status=["unusable" if samples(one) else "ok" for one in read])


def test_texts_that_should_have_been_extracted_and_were_not_count(folder: Path, tmp_path: Path) -> None:
    """An extraction that stopped evenly in all languages counted as nothing unextracted."""
    studied(tmp_path, "sound", "openai:one", "openai:two")
    run = studied(tmp_path, "stopped", "openai:three")
    _unread(run, lambda sample: sample % 2 == 1)
    with joined_runs([tmp_path / "runs" / name for name in ("sound", "stopped")]) as found:
        [excluded] = found.excluded
    assert str(excluded) == "openai:three in stopped: 50 % unextracted (at most 5 %)"


def test_texts_beyond_the_sample_of_the_extraction_do_not_count(tmp_path: Path) -> None:
    run = studied(tmp_path, "sampled", "openai:one")
    manifest = read_manifest(run.manifest)
    assert manifest is not None
    _unread(run, lambda sample: sample > 0)
    with open_store(run, METRICS_LAYOUT) as store:
        assert model_health(store)["openai:one"].shares["unextracted"] > 0.4
    texts = [
        one.model_copy(update={"settings": {**one.settings, "extract.sample": 1}})
        for one in manifest.asked[TEXTS_ASKED]
    ]
    write_manifest(manifest.model_copy(update={"asked": {**manifest.asked, TEXTS_ASKED: texts}}), run.manifest)
    with open_store(run, METRICS_LAYOUT) as store:
        assert model_health(store)["openai:one"].shares["unextracted"] == 0


def test_models_that_share_answers_are_not_tested_against_each_other(tmp_path: Path) -> None:
    """As `compare --baseline` does: answers that one run took over from another are no independent samples."""
    first = studied(tmp_path, "first", "openai:one", "openai:two")
    again = RunFolder(shutil.copytree(first.root, tmp_path / "runs" / "again"))
    _other_texts(again, lambda at: at % 4)
    places = [tmp_path / "runs" / name for name in ("first", "again")]
    with joined_runs(places) as found, open_store(found.run, METRICS_LAYOUT) as store:
        reasons = store.sql("SELECT DISTINCT a, b, reason FROM differences WHERE metric = 'granularity'").fetchall()
    assert not found.excluded
    names = {"openai:one", "openai:two"}
    copied = [{f"{name} (first)", f"{name} (again)"} for name in names]
    assert {reason for a, b, reason in reasons if {a, b} in copied} == {"same answers"}
    assert "same answers" not in {reason for a, b, reason in reasons if {a, b} not in copied}
    said = "36 of the 144 answers of openai:one (again) are those of openai:one (first)"
    assert f"{said}: the difference between the two is not tested" in found.doubts


def test_a_share_just_beyond_its_bound_is_not_printed_as_the_bound(folder: Path) -> None:
    assert share_beyond(0.0504, 0.05) == "5.04 %"
    assert share_beyond(1.0, 0.5) == "100 %"
    assert share_beyond(0.004, 0.0) == "0.4 %"
    with joined_runs([folder / "runs" / "mine", folder / "runs" / "theirs"], read_bounds(["missing=0.005"])) as found:
        assert "at most 0.5 % missing" in remarks(found)[0]


def test_folders_of_one_name_get_labels_of_their_own(folder: Path, tmp_path: Path) -> None:
    """They are keys: two runs under one label would be one. The third one's own name is what the second was called."""
    places = [
        studied(tmp_path / place, name, model, **{model: chance}).root
        for place, name, model, chance in (
            ("x", "a", "openai:one", 0.9),
            ("y", "a", "openai:two", 0.5),
            ("z", "a (2)", "openai:three", 0.3),
        )
    ]
    with joined_runs(places) as found:
        assert [entry.run for entry in found.models] == ["a", "a (2)", "a (2) (2)"]
        assert len(found.runs) == 3


def test_it_is_written_as_files_by_their_endings(folder: Path, tmp_path: Path) -> None:
    for ending in ("csv", "json", "tex", "parquet"):
        done = polyculture("leaderboard", "runs/mine", "export", "-o", tmp_path / f"board.{ending}", cwd=folder)
        assert done.returncode == 0, done.stderr
    latex = (tmp_path / "board.tex").read_text(encoding="utf-8")
    assert latex.count(r"\begin{longtable}") == len({row["metric"] for row in written_file(tmp_path / "board.csv")})
    assert "openai:three & 2 & 0.3" in latex
    lines = (tmp_path / "board.json").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(written_file(tmp_path / "board.csv"))
    assert {json.loads(line)["group"] for line in lines} == {1, 2}


def test_a_page_may_end_in_htm(folder: Path, tmp_path: Path) -> None:
    """It was CSV, without a word."""
    done = polyculture("leaderboard", "runs/mine", "export", "-o", tmp_path / "board.htm", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "board.htm").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_bounds_have_usual_values() -> None:
    usual = {"missing": 0.05, "unextracted": 0.05, "refused": 0.5, "off-language": 0.5, "cut": 0.2}
    assert {**TEXTS.soundness.bounds, **read_bounds(["cut=0.2"])} == usual


def test_the_documentation_shows_what_is_printed(folder: Path) -> None:
    page = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"```text\n(granularity .*?)```", page, flags=re.DOTALL)
    assert "    polyculture leaderboard mine.toml export runs/other\n" in page
    done = polyculture("leaderboard", "mine.toml", "export", "runs/other", cwd=folder)
    printed = "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines())
    assert shown.strip() in printed.replace("\n\n ", "\n ").replace("\n\n", "\n"), printed


def written_file(path: Path) -> list[dict[str, str]]:
    return written(path.read_text(encoding="utf-8"))


def _other_texts(run: RunFolder, changes: Callable[[int], Any] = lambda _: True, **columns: str) -> None:
    """Writes the responses again, with other texts; `changes` says of which rows of a file, by their number."""
    for file in (run.root / "responses").rglob("*.parquet"):
        _with_columns(file, lambda text, at: f"again {text}" if changes(at) else text, **columns)


def _with_columns(file: Path, text: Callable[[str, int], str] | None = None, **columns: str | list[str]) -> None:
    """Writes a file of a run again with other values in columns, one for all rows or one for each, or other texts."""
    rows = pq.read_table(file)
    values = {name: [value] * len(rows) if isinstance(value, str) else value for name, value in columns.items()}
    if text is not None:
        values["text"] = [text(one, at) for at, one in enumerate(rows["text"].to_pylist())]
    for name, column in values.items():
        at = rows.column_names.index(name)
        rows = rows.set_column(at, rows.schema.field(at).with_type(pa.string()), pa.array(column))
    pq.write_table(rows, file)
