"""`polyculture compare`: sides, rows, what is said of them, other runs and other snapshots, on real stores."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import polyculture as api
from polyculture.cache.errors import UserError
from polyculture.cache.store.linked import LINKS, SNAPSHOT_LINKS, SnapshotLink
from polyculture.cache.store.manifest import read_manifest, write_manifest
from polyculture.cache.store.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import Prompt
from polyculture.cache.store.store import open_store
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.comparison.baseline import LINKED_TWICE
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import ComparisonRow
from polyculture.metrics.comparison.question import ComparisonQuestion, ComparisonRows, choose_sides
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.comparison.table import lines_of, remarks_of
from polyculture.running.comparing import compared, experiment_facts, link_changes
from polyculture.running.opening import open_workspace
from tests.extracted import extracted_by
from tests.link_world import index_of, item
from tests.metrics.compared_runs import Random, specific_with, write_run
from tests.polyculture.test_command_line import polyculture

ONE, TWO = "openai:one", "openai:two"


def ask(file: Path, *names: str, said: list[str] | None = None, **question: Any) -> ComparisonRows:
    given = {name: question.pop(name) for name in ("rest", "native", "group") if name in question}
    lines: list[str] = [] if said is None else said
    with ExitStack() as stack:
        return compared(stack, open_workspace(file), ComparisonQuestion(names, **given, **question), lines.append)


def row(rows: Sequence[ComparisonRow], **facets: str) -> ComparisonRow:
    [found] = [one for one in rows if all(getattr(one.difference, name) == value for name, value in facets.items())]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compared")


@pytest.fixture(scope="module")
def pilot(folder: Path) -> Path:
    """Model one is specific in 9 of 10, two in 5 of 10; two declines half of what it is asked in German."""
    chance = specific_with({ONE: 0.9, TWO: 0.5})

    def says(random: Random, model: str, prompt: Prompt) -> list[dict[str, object]] | None:
        declines = model == TWO and prompt.language == "de" and random.random() < 0.5
        return None if declines else chance(random, model, prompt)

    facts = f'[model_facts."{ONE}"]\norigin = "US"\n[model_facts."{TWO}"]\norigin = "CN"'
    return write_run(folder, "pilot", says, n=8, more=facts)


@pytest.mark.slow
def test_two_models_differ_where_they_do_and_the_row_says_what_it_rests_on(pilot: Path) -> None:
    found = ask(pilot, ONE, TWO, metrics=("granularity",))
    these = row(found.rows, target="same_prompts", selection="all").difference
    assert these.verdict == "higher"
    assert 0.25 < these.low < 0.4 < (these.high or 0) < 0.55
    assert (these.topics, these.topics_same_sign, these.unit, these.cells) == (3, 3, "response", 24)
    others = row(found.rows, target="new_prompts", selection="all").difference
    assert (others.unit, others.units, others.difference) == ("topic x country", 9, these.difference)


def test_a_difference_that_refusals_make_does_not_stay_without_them(pilot: Path) -> None:
    """Of German, half of what model two writes names nothing: fewer different items, were it not so."""
    found = ask(pilot, ONE, TWO, metrics=("diversity",), by=("language",), targets=("same_prompts",))
    german = row(found.rows, language="de", selection="all").difference
    answered = row(found.rows, language="de", selection="answered").difference
    assert (german.verdict, answered.verdict) == ("higher", "untestable")
    assert answered.at_n is not None
    assert german.at_n is None
    [line] = [line for line in lines_of(found.rows) if line["language"] == "de"]
    assert line["robust"] == "not in: answered"


def test_a_list_is_each_pair_and_the_rest_is_the_mean_of_all_others(pilot: Path, folder: Path) -> None:
    three = write_run(folder, "three", specific_with({ONE: 0.5}), models=(ONE,), languages=("de", "en", "ja"), n=3)
    found = ask(three, "ja", "de", "en", metrics=("granularity",))
    assert [(sides.a, sides.b) for sides in found.sides] == [("ja", "de"), ("ja", "en"), ("de", "en")]

    def sides_of(file: Path, question: ComparisonQuestion) -> list[Sides]:
        workspace = open_workspace(file)
        with closing(open_store(workspace.run, METRICS_LAYOUT, KEPT)) as store:
            return list(
                choose_sides(ComparedRun(store).values, experiment_facts(workspace), question, list[str]().append)
            )

    [rest] = sides_of(three, ComparisonQuestion(("JP",), rest=True))
    assert (rest.a, rest.of_b) == ("JP", ("DE", "IT"))
    [native] = sides_of(three, ComparisonQuestion(native=True))
    assert ("ja", "JP") in native.pairs
    [groups] = sides_of(pilot, ComparisonQuestion(group="origin"))
    assert {groups.a, groups.b} == {"US", "CN"}
    assert [sides.dimension for sides in sides_of(pilot, ComparisonQuestion(("JP", "IT", "DE")))] == ["country"] * 3


def test_what_cannot_be_tested_has_its_reason_its_remedy_and_is_counted(pilot: Path) -> None:
    found = ask(pilot, "explicit", "neutral", metrics=("granularity", "specificity"), by=("topic",))
    remarks = remarks_of(found.rows)
    untestable = [one for one in found.rows if one.difference.selection == "all" and one.contrast is None]
    assert untestable
    assert all(one.difference.reason for one in untestable)
    whole = sum(one.difference.selection == "all" for one in found.rows)
    assert remarks[-1].startswith(f"{whole - len(untestable)} of {whole} could be tested")
    assert any("too few countries" in line and "Remedy: 5 topics" in line for line in remarks)


MISTAKES: list[tuple[ComparisonQuestion, str]] = [
    (ComparisonQuestion((ONE, "openai:tow")), "no 'openai:tow' to compare. Did you mean 'openai:two'?"),
    (ComparisonQuestion(("ja", "explicit")), "of different kinds"),
    (ComparisonQuestion(("ja", "ja")), "compared with itself"),
    (ComparisonQuestion(("ja",)), "two sides are needed"),
    (ComparisonQuestion(), "two sides are needed"),
    (ComparisonQuestion(rest=True), "--rest is what one side is compared with"),
    (ComparisonQuestion(("ja", "de"), native=True), "two sides are needed"),
    (ComparisonQuestion(("US",), group="origin"), "two sides are needed"),
    (ComparisonQuestion(("US", "UK"), group="origin"), "no model has the origin 'UK'"),
]


def test_sides_that_the_run_does_not_have_are_one_line_with_the_nearest_name(pilot: Path) -> None:
    workspace, lines = open_workspace(pilot), list[str]()
    with closing(open_store(workspace.run, METRICS_LAYOUT, KEPT)) as store:
        run = ComparedRun(store)
        for asked, said in MISTAKES:
            with pytest.raises(UserError) as raised:
                choose_sides(run.values, experiment_facts(workspace), asked, lines.append)
            assert said in str(raised.value)
            assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("names", "question", "said"),
    [
        (("ja", "de"), {"by": ("language",)}, "has no column 'language'"),
        ((), {"snapshots": ("new.duckdb",)}, "Link with it: polyculture link EXPERIMENT --snapshot new.duckdb"),
        (("ja", "de"), {"snapshots": ("new.duckdb",)}, "--snapshot compares the whole run"),
        (("ja", "de", "it"), {"baselines": (Path("x"),)}, "--baseline compares models of two runs"),
    ],
)
def test_options_that_say_different_things_are_one_line(
    pilot: Path, names: tuple[str, ...], question: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        ask(pilot, *names, **question)


def test_the_command_prints_a_line_a_row_and_writes_the_columns_of_differences(pilot: Path) -> None:
    words = ("compare", pilot, ONE, TWO, "--metric", "granularity", "--target", "same_prompts")
    shown = polyculture(*words, cwd=pilot.parent)
    assert shown.returncode == 0, shown.stderr
    assert f"a: {ONE}   b: {TWO}" in shown.stdout
    assert shown.stdout.count("granularity") == 1  # not a line for each selection
    assert "1 of 1" in shown.stderr
    written = polyculture(*words, "-f", "json", cwd=pilot.parent)
    rows = [json.loads(line) for line in written.stdout.splitlines()]
    with api.open(pilot.parent / "runs" / "pilot") as run:
        assert [list(row) for row in rows] == [list(run.sql("DESCRIBE differences")["column_name"])] * 2
    assert [row["selection"] for row in rows] == ["all", "answered"], "no text was cut, or is in another language"


def test_another_run_is_compared_on_the_prompts_that_both_were_asked(folder: Path) -> None:
    new = write_run(folder, "new", specific_with({"openai:new": 0.3}), models=("openai:new",), new_prompts_of="IT")
    old = write_run(folder, "old", specific_with({"openai:old": 0.9}), models=("openai:old",))
    said: list[str] = []
    found = ask(new, said=said, metrics=("granularity",), targets=("same_prompts",), baselines=(old,))
    told = row(found.rows, selection="all").difference
    assert (told.a, told.b, told.verdict, told.left_out, told.cells) == ("new", "old", "lower", 6, 18)
    assert "openai:new with openai:old" in said[0]
    by_folder = ask(new, metrics=("granularity",), targets=("same_prompts",), baselines=(folder / "runs" / "old",))
    assert row(by_folder.rows, selection="all").difference == told
    with pytest.raises(UserError, match=r"the baseline has no model 'openai:odl'\. Did you mean 'openai:old'"):
        ask(new, "openai:new", "openai:odl", baselines=(old,))
    with pytest.raises(UserError, match="is this run"):
        ask(new, baselines=(new,))


def test_runs_that_were_measured_otherwise_tell_nothing_and_say_why(folder: Path) -> None:
    ready = [folder / f"{name}.toml" for name in ("new", "old")]
    run = RunFolder(folder / "runs" / "old")
    before = read_manifest(run.manifest)
    write_manifest(before.model_copy(update={"linker_id": "another"}), run.manifest)
    try:
        found = ask(ready[0], metrics=("granularity",), baselines=(ready[1],))
    finally:
        write_manifest(before, run.manifest)
    assert {one.difference.reason for one in found.rows} == {"measured otherwise: the runs differ in linker"}
    assert remarks_of(found.rows)[-1].startswith("0 of 2 ")


def test_an_extractor_behind_another_port_is_said_to_be_and_another_one_is_measured_otherwise(folder: Path) -> None:
    """The same model on another machine has another address; whether it is the same model, its name alone says."""
    ready = [folder / f"{name}.toml" for name in ("new", "old")]
    runs = [RunFolder(folder / "runs" / name) for name in ("new", "old")]
    before = [read_manifest(run.manifest) for run in runs]

    def extract(*models: str) -> tuple[set[str | None], list[str]]:
        """The reasons of the rows, and what is said, where each run has an extractor on a port of its own."""
        for run, manifest, name, port in zip(runs, before, models, ("8001", "8002"), strict=True):
            assert manifest is not None
            setups = {f"extract {name}": {"base_url": f"http://127.0.0.1:{port}/v1", "omit": ["top_k"]}}
            told = extracted_by({"with": name}, manifest.extractor_ids)
            write_manifest(manifest.model_copy(update={"setups": setups, **told}), run.manifest)
        said: list[str] = []
        rows = ask(ready[0], said=said, metrics=("granularity",), baselines=(ready[1],)).rows
        return {one.difference.reason for one in rows}, said

    try:
        reasons, said = extract("openai:m", "openai:m")
        assert not any("measured otherwise" in (reason or "") for reason in reasons)
        assert any("http://127.0.0.1:8001/v1" in line and "http://127.0.0.1:8002/v1" in line for line in said)
        reasons, said = extract("openai:m", "openai:k")
        assert reasons == {"measured otherwise: the runs differ in extractor (openai:m against openai:k)"}
        assert not any("127.0.0.1" in line for line in said)
    finally:
        for run, manifest in zip(runs, before, strict=True):
            assert manifest is not None
            write_manifest(manifest, run.manifest)


@pytest.fixture
def linked_twice(pilot: Path, tmp_path: Path) -> Path:
    """The pilot, whose Japanese dishes another snapshot has no item for, and a third one links as the run does."""
    file = Path(shutil.copy(pilot, tmp_path))
    run = RunFolder(Path(shutil.copytree(pilot.parent / "runs" / "pilot", tmp_path / "runs" / "pilot")))
    rows = []
    for name, identity in (("old.duckdb", "a1"), ("same.duckdb", "b2")):
        for link in read_rows(run.table("links"), LINKS).to_pylist():
            known = name == "same.duckdb" or int(link["qid"][1:]) % 3
            of = ["DE", "IT", "JP"][(int(link["qid"][1:]) - 1) % 3]
            where = [link[key] for key in ("query", "language", "topic", "kind", "surface")]
            answer = ("linked", link["qid"], [of], []) if known else ("no candidate", None, [], [])
            rows.append(SnapshotLink(name, identity, "2026-10-01", *where, *answer))
    write_parquet(objects_to_table(SNAPSHOT_LINKS, rows), run.table("snapshot_links"))
    return file


def test_the_links_that_another_snapshot_changes_are_listed_and_counted(linked_twice: Path) -> None:
    run = RunFolder(linked_twice.parent / "runs" / "pilot")
    rows = read_rows(run.table("snapshot_links"), SNAPSHOT_LINKS).to_pylist()
    same = [row for row in rows if row["identity"] == "b2"]
    lost, other, elsewhere, merged, both = [row for row in same if row["status"] == "linked"][:5]
    lost |= {"status": "ambiguous"}  # still with its first candidate
    other |= {"qid": "Q999"}
    elsewhere |= {"countries": ["FR"]}
    merged |= {"merged": [merged["qid"], "Q7777777"], "qid": "Q998"}
    both |= {"merged": [both["qid"]], "qid": "Q997", "countries": ["FR"]}
    write_parquet(pa.Table.from_pylist(rows, SNAPSHOT_LINKS.schema), run.table("snapshot_links"))
    old, new = link_changes(open_workspace(linked_twice), ("old.duckdb", "b2"))
    links = read_rows(run.table("links"), LINKS).to_pylist()
    lacking = [row for row in links if int(row["qid"][1:]) % 3 == 0]
    (gone,) = old.counts
    assert gone[:2] == ("not found", len(lacking))
    with open_store(run) as store:
        [(mentions,)] = store.execute(
            "SELECT count(*) FROM mentions WHERE counted AND NOT hallucinated AND query IN (SELECT unnest($queries))",
            {"queries": [row["query"] for row in lacking]},
        ).fetchall()
    assert gone[2] == mentions > 0
    found = {(row[0], row[3]): row[6] for row in new.links}
    assert found == {
        ("now ambiguous", lost["surface"]): "ambiguous",
        ("another item", other["surface"]): f"Q999 {other['countries'][0]}",
        ("other countries", elsewhere["surface"]): f"{elsewhere['qid']} FR",
        ("merged", merged["surface"]): f"Q998 {merged['countries'][0]}",
        ("other countries", both["surface"]): "Q997 FR",
    }
    counts = {kind: queries for kind, queries, _ in new.counts}
    assert counts == {"now ambiguous": 1, "another item": 1, "other countries": 2, "merged": 1}


def test_two_snapshots_links_of_one_run_are_two_sides(linked_twice: Path) -> None:
    snapshots = ("elsewhere/old.duckdb", "b2")
    found = ask(linked_twice, metrics=("diversity", "specificity"), targets=("same_prompts",), snapshots=snapshots)
    told = {
        (one.b, one.metric, one.condition): one for one in (r.difference for r in found.rows) if one.selection == "all"
    }
    drift = told["elsewhere/old.duckdb", "diversity", "*"]
    assert drift.difference is not None
    assert drift.difference > 0  # a third of the items is not known there
    assert (drift.low, drift.p, drift.reason) == (None, None, LINKED_TWICE)  # the same texts are no sample
    assert told["b2", "diversity", "*"].difference == 0
    assert told["b2", "specificity", "explicit"].difference == 0
    once = ask(linked_twice, metrics=("diversity",), snapshots=("b2",))
    assert {row.difference.target for row in once.rows} == {"same_prompts"}  # exact, so there is one of them
    assert not any("could be tested" in line for line in remarks_of(once.rows))
    other = index_of(linked_twice.parent, [item("Q1", "soup", P31="Q746549")]).path  # of its name, and not linked with
    with pytest.raises(UserError, match="no snapshots of the run's snapshot_links are"):
        ask(linked_twice, snapshots=(str(other.rename(other.with_name("old.duckdb"))),))
    run = RunFolder(linked_twice.parent / "runs" / "pilot")
    fewer = read_rows(run.table("snapshot_links"), SNAPSHOT_LINKS).slice(1)
    write_parquet(fewer, run.table("snapshot_links"))
    with pytest.raises(UserError, match=r"1 queries of the run are not linked with old\.duckdb\. Link again"):
        ask(linked_twice, snapshots=("old.duckdb",))
    write_parquet(LINKS.schema.empty_table(), run.table("links"))
    with pytest.raises(UserError, match="no mention that was linked"):
        ask(linked_twice, snapshots=("old.duckdb",))
