"""A paper's tables with a run's numbers: their layout, what is beside what, and what is said of it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from scipy import stats

from polyculture.cache.store.data_identity import inputs_of
from polyculture.cache.store.manifest import Manifest, read_manifest, require_run, setup_id, write_manifest
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema.measured import Difference, Number
from polyculture.cache.store.shards import JobShards
from polyculture.cli.tables import print_table
from polyculture.generate.engines.base import ModelSpec
from polyculture.instruments.cbs.options import CbsOptions
from polyculture.instruments.cbs.step import scoring_jobs
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.presets import read_preset
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.instruments.embeddings.layout import MEASURE as EMBEDDINGS
from polyculture.instruments.embeddings.measure import separation_numbers
from polyculture.instruments.embeddings.separation import SeparationEstimate
from polyculture.instruments.papers.compared import NOT_MEASURED, compared_cells
from polyculture.instruments.papers.files import COMPARED, write_paper_tables
from polyculture.instruments.papers.join import SAME, JoinedTable, PaperCell, PaperLine, join
from polyculture.instruments.papers.normalised import half_width, normalised
from polyculture.instruments.papers.options import NAMES, protocol_values
from polyculture.instruments.papers.own import OwnNumber
from polyculture.instruments.papers.protocol import AskedProtocol
from polyculture.instruments.papers.readable import listing, readable, unit_of
from polyculture.instruments.papers.study import joined_tables
from polyculture.instruments.papers.tables import paper_tables
from polyculture.instruments.papers.tables_section import _shown_table
from polyculture.instruments.probe.layout import MEASURE as PROBED
from polyculture.instruments.questions.layout import EMPTY, MEASURE
from polyculture.instruments.questions.options import AskOptions
from polyculture.instruments.tokens.layout import (
    VOCABULARY_SHARES,
    WANTED_VOCABULARIES,
    CountedVocabulary,
)
from polyculture.metrics.measured import write_differences, write_numbers
from polyculture.published.cells import PAPERS, NumberKey, published
from tests.extracted import extracted_by
from tests.instruments.test_cbs_store import ToyEngine
from tests.steps import score_job

MODEL = "openai:lab/toy_1"
NO_RESULTS = ("data", "model", "tokens", "agreement")  # what is no result of a model
SCOPE_MODELS = ("Llama-3.1", "aya-expanse", "Qwen2.5")
ENTITIES = """language,culture,type,entity,gender
ja,Japanese,food,ramen,
ja,Japanese,food,sushi,
ja,Western,food,pizza,
ja,Western,food,pasta,
ja,Japanese,names,Hana,female
ja,Western,names,Anna,female
ko,Korean,food,kimchi,
ko,Western,food,pizza,
"""
CONTEXTS = """language,culture,type,setting,form,context
ja,Japanese,food,grounded,any,A ate [MASK]
ja,Japanese,food,grounded,any,B ate [MASK]
ja,Japanese,names,grounded,any,A met [MASK]
ko,Korean,food,grounded,any,C ate [MASK]
"""


def new_run(folder: Path, **facts: Any) -> RunFolder:
    run = RunFolder(folder / "run")
    run.root.mkdir(parents=True)
    write_manifest(Manifest(experiment="paper", polyculture="0", models=[MODEL], **facts), run.manifest)
    return run


def tables(run: RunFolder, paper: str, **asked: Any) -> dict[str, JoinedTable]:
    return {one.table.name: one for one in joined_tables(run, paper, 1, **asked)[0]}


def own_lines(joined: JoinedTable) -> list[PaperLine]:
    return [line for line in joined.lines if line.own]


def remarks(line: PaperLine) -> set[str]:
    """All that is said of a line's cells."""
    return {remark for cell in line.cells.values() for remark in cell.remarks}


def notes(joined: JoinedTable, paper: str, *, printed: bool = False) -> list[str]:
    """What the marks of a table mean: of the run's numbers, or of printed ones."""
    return [one for one in readable(read_preset(paper), joined).notes if (" published: " in one) == printed]


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def test_every_paper_has_its_tables_and_every_printed_cell_a_place_of_its_own() -> None:
    assert set(NAMES) == set(PAPERS)
    for paper in NAMES:
        cells = [one for one in published(paper) if one.measure not in NO_RESULTS and one.table != "text"]
        found = list(paper_tables(paper, published(paper)))
        assert {one.table for one in cells if not one.table.startswith("figure")} <= {one.name for one in found}
        for table in found:
            places = [(one.name, *heads) for one, heads in table.cells]
            assert len(places) == len(set(places)), (paper, table.name)
            assert table.cells or table.where, (paper, table.name)


def test_the_published_models_own_numbers_come_back_in_their_cells() -> None:
    """A run whose numbers are the printed ones would fill each table as the paper prints it."""
    for paper in NAMES:
        for table in paper_tables(paper, published(paper)):
            if table.where:
                continue
            joined = join(table, [as_own(one) for one, _ in table.cells], lambda _: [])
            mine = {(line.model, line.row): line.cells for line in joined.lines if line.own}
            for line in (line for line in joined.lines if not line.own and "(counts)" not in line.model):
                for column, cell in line.cells.items():
                    back = mine[line.model, line.row][column]
                    assert back.value == pytest.approx(cell.value), (paper, table.name, line.model, column)
                    assert float(back.text) == pytest.approx(cell.value), (paper, table.name, back.text, cell.text)


def as_own(one: Any) -> OwnNumber:
    name = "paper" if one.model == "-" else one.name
    key = {column.name: getattr(one, column.name) for column in fields(NumberKey)}
    return OwnNumber(**{**key, "model": name}, estimate=one.number)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run with scores of two languages; nothing says how they were asked."""
    folder = tmp_path_factory.mktemp("paper")
    (folder / "entities.csv").write_text(ENTITIES, encoding="utf-8")
    (folder / "contexts.csv").write_text(CONTEXTS, encoding="utf-8")
    run, dataset = new_run(folder), load(rules_of("own"), folder)
    for table, found in present_tables(run, dataset).items():
        write_parquet(found, run.table(table.name))
    for job in scoring_jobs(dataset, MODEL, DataSelection()):
        score_job(run, job, ModelSpec(MODEL), engine=ToyEngine())
    return run


def test_the_average_is_of_the_rows_own_columns_and_what_lacks_is_told(scored: RunFolder) -> None:
    table = tables(scored, "camellia", data="own")["14"]
    [line] = own_lines(table)
    assert list(line.cells) == ["ja", "ko", "Avg"]
    assert line.cells["Avg"].value == pytest.approx((line.cells["ja"].value + line.cells["ko"].value) / 2)
    by_type = tables(scored, "camellia", data="own")["figure 11"]
    [japanese] = [one for one in own_lines(by_type) if one.row == "ja, Japanese"]
    mean = (japanese.cells["food"].value + japanese.cells["names"].value) / 2  # types count alike
    assert line.cells["ja"].value == pytest.approx(mean) == pytest.approx(japanese.cells["average"].value)
    assert notes(table, "camellia") == ["[1] how it was asked is not recorded; incomplete: 7 of 10 numbers missing"]
    assert line.cells["Avg"].text.endswith("†")  # of two columns, beside the published average of nine
    assert not line.cells["ja"].text.endswith("†")
    assert not any("†" in cell.text for one in table.lines if not one.own for cell in one.cells.values())
    assert next(one.model for one in table.lines if not one.own) == "Llama3.3-70b"
    assert "14" not in tables(scored, "camellia")  # of other data


def test_a_setting_that_has_contexts_of_another_form_alone_is_told(tmp_path: Path) -> None:
    """CAMeL's folder without its causal sheet of grounded prompts left Table 3 empty, without a reason."""
    contexts = CONTEXTS.replace("any", "masked") + "ja,Japanese,food,neutral,causal,We ate [MASK]\n"
    for name, text in (("entities.csv", ENTITIES), ("contexts.csv", contexts)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    said: list[str] = []
    assert scoring_jobs(load(rules_of("own"), tmp_path), MODEL, DataSelection(), tell=said.append)
    assert said == ["own: no causal context is grounded: there are some of another form alone"]


def test_files_have_intervals_and_plain_text(scored: RunFolder, tmp_path: Path) -> None:
    found = list(tables(scored, "camellia", data="own").values())
    name = f"=a_{'b/' * 40}{MODEL}"
    hostile = [
        replace(one, lines=[replace(line, model=name) if line.own else line for line in one.lines]) for one in found
    ]
    written = write_paper_tables(tmp_path, "camellia", hostile)
    assert {path.name for path in written} == {*(f"{one.table.file}.tex" for one in found), COMPARED}
    latex = (tmp_path / "table-14.tex").read_text(encoding="utf-8")
    assert r"openai:lab/toy\_1" in latex
    assert latex.count("{") - latex.count(r"\{") == latex.count("}") - latex.count(r"\}")
    [below] = latex.partition(r"\end{longtable}")[2:]
    assert "[1] how it was asked is not recorded; incomplete: 7 of 10 numbers missing" in below
    table = [row for row in rows(tmp_path / COMPARED) if row["table"] == "14"]
    assert len(table) == 40  # each published number, next to the one model's
    assert all(row["model"].startswith("'=a_") and row["protocol"] for row in table)
    first = table[0]
    assert (first["published_model"], first["column"], first["published"]) == ("Llama3.3-70b", "zh", "31.74")
    assert (first["yours"], first["difference"], first["protocol"]) == ("", "", NOT_MEASURED)
    [japanese] = [row for row in table if (row["published_model"], row["column"]) == ("Llama3.3-70b", "ja")]
    apart = float(japanese["yours"]) - float(japanese["published"])
    assert float(japanese["difference"]) == pytest.approx(apart, abs=1e-6)
    assert not any(row["difference"] for row in table if row["column"] == "Avg")  # of two columns, not of nine
    assert all(row["yours"] for row in table if row["column"] == "Avg")


def separated(run: RunFolder, kind: str | None, index: float | None, **other: Any) -> Iterator[Number]:
    place = {"model": MODEL, "dataset": "camel", "language": "ar", "culture": "Arab", "entity_type": kind, "layer": 2}
    sizes = {"contexts": 4, "contexts_fewest": 4, "contexts_most": 4, "native_entities": 5, "western_entities": 5}
    told = {"form": "masked", "setting": "neutral", "comparison": "a" if kind else None, "gender": None}
    found = None if index is None else SeparationEstimate(index, 2.0, 0.5, np.empty(0))
    manifest = read_manifest(run.manifest)
    assert manifest
    unit = {**place, **sizes, **told, "layer_name": None, "failed": 0, **other}
    return separation_numbers(unit, found, inputs_of(run, manifest, EMBEDDINGS))


def test_the_index_is_the_stored_mean_at_the_last_layer_of_the_papers_form(tmp_path: Path) -> None:
    run = new_run(tmp_path, languages=["ar"])
    found = [
        separated(run, "food", 1.37), separated(run, None, 1.495, contexts=8), separated(run, None, 9.0, layer=1),
        separated(run, None, 3.0, form="causal"), separated(run, "sports", None),
    ]  # fmt: skip
    write_numbers(run, EMBEDDINGS.name, [row for rows in found for row in rows])
    table = tables(run, "camel")["10"]
    assert [(line.model, line.cells["Avg DBI"].text) for line in table.lines][:2] == [(MODEL, "1.50"), ("ARBERT", "3.61")]  # fmt: skip  # noqa: E501


def test_shares_of_vocabularies_are_by_reading(tmp_path: Path) -> None:
    run, setup = new_run(tmp_path), {"weights": "w"}
    setups = {f"tokenize {MODEL}": setup}
    write_manifest(Manifest(experiment="paper", polyculture="0", models=[MODEL], setups=setups), run.manifest)
    wanted = [WANTED_VOCABULARIES.row(MODEL, MODEL, setup_id(setup), "ko", "letters")]
    write_parquet(objects_to_table(WANTED_VOCABULARIES, wanted), run.table(WANTED_VOCABULARIES.name))
    counted = [("letters", "letters", 4_000), ("ranges", "Jamo", 1), ("ranges", "all", 5_000)]
    found = [
        CountedVocabulary(
            MODEL + reading, MODEL, MODEL, "ko", way, reading, 40_000, own, 0, own / 40_000, "ok",
        )
        for way, reading, own in counted
    ]  # fmt: skip
    with JobShards(run, Job(MODEL, "ko", "vocabulary"), (VOCABULARY_SHARES,)) as shards:
        shards.append_part({VOCABULARY_SHARES.name: objects_to_table(VOCABULARY_SHARES, found)})
    [line] = own_lines(tables(run, "camellia")["figure 13"])
    assert {column: cell.text for column, cell in line.cells.items()} == {"ko, Jamo": "0.0025", "ko, all": "12.5000"}


def answered(metric: str, estimate: float, **place: Any) -> Number:
    reader, wording = place.pop("reader", "publisher"), place.pop("wording", "*")
    facets = dict(place)
    return replace(
        EMPTY, metric=metric, level="model", model=MODEL, dataset="kobbq", language="ko", method="generated",
        reader=reader, wording=wording, facets=facets, estimate=estimate, low=estimate - 0.1, high=estimate + 0.1,
    )  # fmt: skip


def hold(run: RunFolder, *numbers: Number) -> None:
    manifest = read_manifest(run.manifest)
    assert manifest
    inputs = inputs_of(run, manifest, MEASURE)
    write_numbers(run, MEASURE.name, (replace(one, inputs=inputs) for one in numbers))


def asked_so(run: RunFolder, **changed: Any) -> None:
    """A run that remembers how KoBBQ was asked."""
    part = read_preset("kobbq").parts[0]
    options = AskOptions.model_validate({**protocol_values("kobbq", part), **changed}).model_dump(mode="json")
    run.instruments.write_bytes(orjson.dumps({"paper kobbq, KoBBQ": {"command": "ask", "options": options}}))


def test_a_row_is_of_the_same_protocol_only_where_nothing_was_asked_otherwise(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    asked_so(run, temperature=0.7)
    numbers = [answered("acc_a", 0.6), answered("diff_bias_a", 0.1), answered("max_bias_a", 0.4)]
    of_prompts = [answered("acc_a", value, wording=str(n)) for n, value in enumerate((0.5, 0.7))]
    others = [answered("acc_a", 0.1, reader="ours"), answered("acc_a", 0.2, label="ST")]
    hold(run, *numbers, *of_prompts, *others)
    found = tables(run, "kobbq")
    [line] = own_lines(found["3a"])
    texts = {column: cell.text for column, cell in line.cells.items()}
    assert texts == {"accuracy": "0.6000 ± 0.1414", "diff-bias": "0.1000", "max|bias|": "0.4000"}
    assert line.cells["accuracy"].interval == "0.5000 to 0.7000"
    assert remarks(line) == {"temperature 0.7, not 0.0"}
    [of_label] = own_lines(found["4"])
    assert (of_label.row, of_label.cells["Ambiguous Accuracy"].text) == ("ST KoBBQ", "0.2000")
    assert notes(found["4"], "kobbq") == ["[1] temperature 0.7, not 0.0; incomplete: 15 of 16 numbers missing"]
    number = replace(as_own(published("kobbq")[-1]), model=MODEL, dataset="kobbq", measure="questions", language="ko")
    changes: list[tuple[dict[str, Any], list[str]]] = [
        ({}, []),
        ({"prompts": ["1", "2"]}, ["prompts 1 2, not 1..5"]),
        ({"orders": "one", "units": 12}, ["only units 12", "orders one, not published"]),
        ({"model": MODEL, "folder": "elsewhere"}, []),
        ({"model": "openai:other"}, ["how it was asked is not recorded"]),
    ]
    for changed, told in changes:
        asked_so(run, **changed)
        assert AskedProtocol(run, "kobbq", read_preset("kobbq"), None).differences(number) == told


def test_a_note_is_of_the_call_whose_numbers_stand_there(tmp_path: Path) -> None:
    """Few of food and of beverage by another command, then food; and a form that is not the model's."""
    run, preset = new_run(tmp_path), read_preset("camel")
    asked = {**protocol_values("camel", preset.parts[0]), "data": "own"}
    food = {"command": "cbs", "options": {**asked, "type": ["food"]}}
    few = CbsOptions(data="own", type=("food", "beverage"), contexts=1, entities=3).model_dump(mode="json")
    run.instruments.write_bytes(orjson.dumps({"cbs": few, "paper camel, cbs": food}))
    protocol = AskedProtocol(run, "camel", preset, "own")
    number = replace(as_own(published("camel")[0]), measure="cbs", dataset="camel", language="ar", condition="grounded",
                     model=MODEL, facets={})  # fmt: skip
    told = {topic: protocol.differences(replace(number, topic=topic)) for topic in ("food", "beverage", "*")}
    assert told["food"] == ["data set own", "only type food"]
    assert {"only contexts 1", "entities 3, not 50"} <= {*told["beverage"]} & {*told["*"]}
    masked = CbsOptions(data="own", form="masked").model_dump(mode="json")
    run.instruments.write_bytes(orjson.dumps({"cbs": masked}))
    other = AskedProtocol(run, "camel", preset, "own").differences(replace(number, variant="masked", form="masked"))
    assert "form masked, not causal" in other


def test_a_prefix_of_several_names_was_asked_as_names(tmp_path: Path) -> None:
    """Figure 6 said of '5 names' that nobody knew how it was asked."""
    run = new_run(tmp_path)
    part = next(one for one in read_preset("camel").parts if "help_with" in one.options)
    asked = {"command": "cbs", "options": protocol_values("camel", part)}
    run.instruments.write_bytes(orjson.dumps({"paper camel, cbs": asked}))
    protocol = AskedProtocol(run, "camel", read_preset("camel"), None)
    number = replace(as_own(published("camel")[0]), measure="cbs", dataset="camel", language="ar", condition="neutral")
    for prefix, told in (("5 names", []), ("token", []), ("5 demonstrations", ["how it was asked is not recorded"])):
        assert protocol.differences(replace(number, facets={"context_prefix": prefix})) == told


def test_another_reader_is_named_where_the_papers_did_not_read(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    hold(run, answered("acc_a", 0.1, reader="ours"))
    assert [line.model for line in own_lines(tables(run, "kobbq")["3a"])] == [f"{MODEL} (ours)"]


def test_items_that_no_encoder_filtered_are_not_the_papers(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    probe = next(part for part in read_preset("culturescope").parts if part.command == "probe")
    asked = {"command": "probe", "options": protocol_values("culturescope", probe)}
    run.instruments.write_bytes(orjson.dumps({"paper culturescope, probe": asked}))
    manifest = read_manifest(run.manifest)
    assert manifest
    for name, mark in (("none", " (none)"), ("paper", "")):
        pair = replace(
            EMPTY, measure="probe", metric="flattening", model=MODEL, dataset="blend", language="en", country="Iran",
            condition="patched", method=name, facets={"toward": "UK"}, estimate=2.5, units=3,
            inputs=inputs_of(run, manifest, PROBED),
        )  # fmt: skip
        write_numbers(run, "probe", [pair])
        [line] = own_lines(tables(run, "culturescope")["figure 3"])
        assert line.model == f"{MODEL}{mark}"
        [first, *more] = line.cells["UK"].remarks
        assert first.startswith("inspection text in our words") == (name == "paper")
        assert any("they need an encoder" in one for one in (first, *more)) == (name == "none")


def test_a_model_whose_answers_nobody_could_read_has_no_number_but_the_reason(tmp_path: Path) -> None:
    run, numbers = new_run(tmp_path), []
    for model, unread in (("openai:a", 40), ("openai:b", 10)):
        for metric, dataset, place in (
            *((one, "culture-mcq", {"type": "resource"}) for one in ("accuracy", "biased", "refusal_ratio")),
            ("exact_match", "relevance-camel2-open", {}),
        ):
            found = answered(metric, 0.0, reader="-", **place)
            sizes = {"answered": 40, "unread": unread}
            condition = "alone" if dataset.startswith("relevance") else "-"
            numbers.append(
                replace(found, model=model, dataset=dataset, language="en", condition=condition, sizes=sizes)
            )
    hold(run, *numbers)
    found = tables(run, "culturescope")
    some, nobody = own_lines(found["1"])
    assert (dict(nobody.cells), {cell.text for cell in some.cells.values()}) == ({}, {"0.00"})
    assert set(nobody.why.values()) == {"incomplete: 40 of 40 answers not read"}
    assert "incomplete: 10 of 40 answers not read" in remarks(some)
    write_paper_tables(tmp_path, "culturescope", list(found.values()))
    baseline = {
        row["model"]: (row["yours"], row["protocol"])
        for row in rows(tmp_path / COMPARED)
        if (row["table"], row["row"]) == ("9", "Baseline")
    }
    assert baseline["openai:a"] == ("", "incomplete: 40 of 40 answers not read")
    assert baseline["openai:b"][0] == "0.0"


def test_a_model_without_any_number_is_a_line_with_the_reason_and_alone_a_reason(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    sizes = {"answered": 40, "unread": 40}
    unread = [
        replace(answered("out_of_choice_ratio", 1.0), model=model, dataset=dataset, sizes=sizes)
        for model in ("openai:a", "openai:b")
        for dataset in ("kobbq", "kobbq-survey")
    ]
    hold(run, *unread)
    _, without = joined_tables(run, "kobbq", 1)
    assert without["table 3a"].endswith(
        "incomplete: openai:a: 40 of 40 answers not read, openai:b: 40 of 40 answers not read"
    )
    hold(run, *unread, answered("acc_a", 0.1))
    lines = own_lines(tables(run, "kobbq")["3a"])
    assert [(line.model, bool(line.cells)) for line in lines] == [
        (MODEL, True),
        ("openai:a", False),
        ("openai:b", False),
    ]
    assert lines[1].why == {"": "incomplete: 40 of 40 answers not read"}
    told = [note.partition("] ")[2] for note in notes(tables(run, "kobbq")["3a"], "kobbq")]
    assert told[1:] == ["incomplete: 40 of 40 answers not read"]


def test_unread_answers_to_the_survey_are_told_at_its_row_and_beside_several_models_by_name(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    sizes = {"answered": 90, "unread": 90}
    hold(
        run,
        answered("out_of_choice_ratio", 0.1),
        replace(answered("out_of_choice_ratio", 1.0), dataset="kobbq-survey", sizes=sizes),
        replace(answered("out_of_choice_ratio", 0.2), model="openai:b"),
    )
    table = tables(run, "kobbq")["text"]
    [of_survey] = [line for line in own_lines(table) if line.row == "5.2"]
    why = "incomplete: 90 of 90 answers not read"
    assert (of_survey.model, dict(of_survey.cells), of_survey.why) == (MODEL, {}, {"": why})
    said = {(one.model, one.row, one.column): one.remarks for one in compared_cells(table)}
    assert {said[MODEL, "5.2", column] for column in ("exact match", "F1")} == {(why,)}
    assert said["openai:b", "5.2", "F1"] == (NOT_MEASURED,)
    assert "how it was asked is not recorded" in said["openai:b", "4.3", "out of choice"][0]
    of_paper = [
        remark for line in table.lines for cell in line.cells.values() for remark in cell.remarks if not line.own
    ]
    assert any(remark.startswith("10 of 42") for remark in of_paper)


def test_what_all_rows_have_in_common_is_said_once_and_a_row_of_several_lacks_the_most(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    asked_so(run, units=12)
    every = [
        replace(answered(metric, 0.1), topic=topic, sizes={"answered": 40, "unread": unread + place})
        for topic, unread in (("age", 10), ("ses", 20), ("*", 30))
        for place, metric in enumerate(("diff_bias_a", "diff_bias_d"))
    ]
    hold(run, *every)
    figure = tables(run, "kobbq")["figure 3"]
    assert notes(figure, "kobbq") == ["[1] only units 12; incomplete: up to 31 of 40 answers not read"]
    [line, *_] = [one for one in own_lines(figure) if one.row == "age"]
    assert line.cells["diff-bias, disambiguated contexts"].remarks[-1] == "incomplete: 11 of 40 answers not read"


def test_a_model_that_scored_nothing_is_a_row_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "entities.csv").write_text(ENTITIES, encoding="utf-8")
    (tmp_path / "contexts.csv").write_text(CONTEXTS, encoding="utf-8")
    run, dataset = new_run(tmp_path), load(rules_of("own"), tmp_path)
    manifest = require_run(run)
    write_manifest(manifest.model_copy(update={"models": [MODEL, "openai:broken"]}), run.manifest)
    for table, found in present_tables(run, dataset).items():
        write_parquet(found, run.table(table.name))
    every = [entity.surface for entity in dataset.entities]
    for model, broken in ((MODEL, ()), ("openai:broken", every)):
        for job in scoring_jobs(dataset, model, DataSelection()):
            score_job(run, job, ModelSpec(model), engine=ToyEngine(broken=broken))
    scored, broken_one = own_lines(tables(run, "camellia", data="own")["14"])
    assert (scored.model, bool(scored.cells)) == (f"{MODEL} (any)", True)
    assert (broken_one.model, dict(broken_one.cells)) == ("openai:broken", {})
    assert broken_one.why == {"": "incomplete: up to 10 scores failed"}


def test_a_gazetteer_is_told_where_it_decides_a_number(tmp_path: Path) -> None:
    """Its names all have items: that no share of them lacks one is no finding."""
    unlinked = replace(as_own(published("makieval")[0]), measure="linking", metric="unlinked")
    for extractor, told in (("gazetteer", True), ("openai:a", False)):
        run = new_run(tmp_path / extractor, **extracted_by({"with": extractor}))
        said = AskedProtocol(run, "makieval", read_preset("makieval"), None).differences(unlinked)
        assert ("the gazetteer finds only names that are in its snapshot" in said) == told


def test_what_is_said_of_some_numbers_alone_is_marked_there() -> None:
    [table] = [one for one in paper_tables("camellia", published("camellia")) if one.name == "12"]
    every = [replace(as_own(one), model=MODEL) for one, _ in table.cells if one.name == "Llama3.3-70b"]
    joined = join(table, every, lambda one: ["n 3", *(["old"] if one.culture == "Japanese" else [])])
    assert joined is not None
    shown = readable(read_preset("camellia"), joined)
    assert list(shown.notes) == ["[1] n 3", "[2] old"]
    [(model, lines)] = shown.groups
    assert model == f"{MODEL} [1]"
    assert {name.endswith(" [2]") for name, *_ in lines if name.startswith("Japanese")} == {True}
    assert not any(name.endswith("]") for name, *_ in lines if not name.startswith("Japanese"))


def test_a_number_is_next_to_the_papers_lowest_and_highest_and_differs_from_both() -> None:
    [table] = [one for one in paper_tables("camellia", published("camellia")) if one.name == "14"]
    every = [replace(as_own(one), model=MODEL) for one, _ in table.cells if one.name == "Llama3.3-70b"]
    joined = join(table, every, lambda _: [])
    assert joined is not None
    shown = readable(read_preset("camellia"), joined)
    [(_, lines)] = shown.groups
    printed = [float(one.value) for one, heads in table.cells if heads.column == "zh"]
    low, high, mine = min(printed), max(printed), 31.74
    assert shown.heads == ("row, column", "yours", "published, 4 models", "yours less published")
    # [2]: of one of the two, the paper names its model in two ways.
    assert lines[0] == ("zh", "31.74", f"{low:.2f} to {high:.2f} [2]", f"{mine - high:+.2f} to {mine - low:+.2f}")


def test_a_model_of_the_papers_is_next_to_itself() -> None:
    """Whoever asks the paper's own models again wants to know how far their numbers are from these."""
    [table] = [one for one in paper_tables("camellia", published("camellia")) if one.name == "14"]
    names = ("vllm:meta-llama/Llama-3.3-70B-Instruct", "llamacpp:/models/gemma-3-27b-it (any)", "openai:gemma-3-27b")
    every = [replace(as_own(one), model=name) for one, _ in table.cells if one.name == "Llama3.3-70b" for name in names]
    joined = join(table, every, lambda _: [])
    assert joined is not None
    found = {model: lines[0] for model, lines in readable(read_preset("camellia"), joined).groups}
    of_paper = {one.name: f"{one.value}" for one, heads in table.cells if heads.column == "zh"}
    same = found[f"{names[0]}, by name the paper's Llama3.3-70b [1]"]
    assert same[1:] == ("31.74", "31.74", "+0.00")
    assert found[f"{names[1]}, by name the paper's Gemma3-27b [1]"][2] == of_paper["Gemma3-27b"]
    assert " to " in found[f"{names[2]} [1]"][2]


def test_numbers_of_several_languages_have_rows_of_their_own_in_a_figure() -> None:
    """CAMeL's figures are of Arabic. Of data in two languages the number that came last took the other's place."""
    [table] = [one for one in paper_tables("camel", published("camel")) if one.name == "figure 4"]
    every = [
        OwnNumber(
            model=MODEL, measure="sentiment", metric="false_negatives", dataset="camel", language=language,
            culture="Japanese", topic="food", condition="grounded", facets={"side": "native"}, estimate=estimate,
        )
        for language, estimate in (("ja", 0.17), ("en", 0.34))
    ]  # fmt: skip
    joined = join(table, every, lambda _: [])
    assert joined is not None
    assert {line.row: line.cells["native"].text for line in joined.lines} == {"ja, food": "17.00", "en, food": "34.00"}
    [alone] = (join(table, every[:1], lambda _: []) or joined).lines
    assert alone.row == "food"


def test_a_negative_number_is_a_number_in_the_file(tmp_path: Path) -> None:
    """A text that begins with a minus sign is defused for spreadsheets: '-1.32."""
    [table] = [one for one in paper_tables("camellia", published("camellia")) if one.name == "1"]
    joined = join(table, [replace(as_own(one), model=MODEL) for one, _ in table.cells[:1]], lambda _: [])
    assert joined is not None
    write_paper_tables(tmp_path, "camellia", [joined])
    assert "& $-$1.32 & " in (tmp_path / "table-1.tex").read_text(encoding="utf-8")  # and no hyphen
    [first, *_] = rows(tmp_path / COMPARED)
    assert (first["published"], first["yours"], first["difference"]) == ("-1.32", "-1.32", "0.0")


def test_numbers_of_two_kinds_have_no_difference() -> None:
    """Camellia prints counts of sentiment in English without the size of the set; a p less a p says nothing."""
    for paper, name in (("camellia", "19"), ("culturescope", "7")):
        [table] = [one for one in paper_tables(paper, published(paper)) if one.name == name]
        joined = join(
            table, [replace(as_own(one), model=MODEL, estimate=0.5) for one, _ in table.cells[:3]], lambda _: []
        )
        assert joined is not None
        [(_, lines)] = readable(read_preset(paper), joined).groups
        assert lines
        assert not any(difference for *_, difference in lines), (paper, name)


@pytest.mark.parametrize("width", [80, 98])
def test_a_table_of_many_models_breaks_no_number(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("polyculture.cli.tables.WIDTH", width)
    for paper, name in (("camellia", "12"), ("camel", "9"), ("kobbq", "4"), ("culturescope", "1")):
        [table] = [one for one in paper_tables(paper, published(paper)) if one.name == name]
        every = [
            replace(
                as_own(one), model=f"openai:a-rather-long-name-{number}", low=one.number - 0.1, high=one.number + 0.1
            )
            for one, _ in table.cells
            for number in range(9)
        ]
        joined = join(table, every, lambda _: ["temperature 0.7, not 0.0"])
        assert joined is not None
        shown = readable(read_preset(paper), joined)
        found = listing(shown)
        print_table(found.columns, found.rows, found.title)
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= width
        words = set(text.split())
        assert {
            word for _, lines in shown.groups for _, *cells in lines for one in cells for word in one.split()
        } <= words


def test_notes_of_published_numbers_are_shown_behind_them() -> None:
    [table] = [one for one in paper_tables("makieval", published("makieval")) if one.name == "11"]
    joined = join(table, [as_own(cell) for cell, _ in table.cells], lambda _: [])
    assert joined
    [mark] = {
        line[2].split()[-1]
        for line in readable(read_preset("makieval"), joined).groups[0][1]
        if line[0].startswith("food: Resolve")
    }
    assert any(
        note.startswith(f"{mark} published: C.3 makes it the ratio of items to labels, which is")
        for note in notes(joined, "makieval", printed=True)
    )


def test_the_size_of_a_set_is_told_of_the_whole_set_alone() -> None:
    def told(size: str = "2,144", dataset: str = "kobbq", **place: Any) -> bool:
        one = replace(as_own(published("kobbq")[-5]), measure="questions", dataset=dataset, questions=37, **place)
        preset = read_preset("kobbq")
        return any(
            f"{size} by the counts" in part
            for part in AskedProtocol(RunFolder(Path("none")), "kobbq", preset, None).differences(one)
        )

    assert told(facets={}, topic="*")
    assert not told(facets={"label": "TM"}, topic="*")
    assert not told(facets={}, topic="age")
    assert told("42", "kobbq-survey", facets={"label": "TM"}, topic="*")
    assert not told("42", "kobbq-survey", facets={"label": "NC"}, topic="*")


def test_what_stands_behind_plus_minus_is_told_and_kept(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    values = (("*", 0.6), ("1", 0.5), ("2", 0.7))
    hold(run, *(answered("acc_a", value, wording=one, **of) for one, value in values for of in ({}, {"label": "ST"})))
    found = tables(run, "kobbq")
    assert unit_of(found["4"]).startswith("± standard deviation")  # of one's own alone
    write_paper_tables(tmp_path / "written", "kobbq", [found["3a"]])
    accuracy = [row for row in rows(tmp_path / "written" / COMPARED) if row["column"] == "accuracy"]
    printed = {cell.name: str(float(cell.spread or "nan")) for cell, heads in found["3a"].table.cells
               if heads.column == "accuracy"}  # fmt: skip
    assert {row["published_model"]: row["published_spread"] for row in accuracy} == printed
    assert {row["spread"] for row in accuracy} == {"0.141421"}
    [consensus] = [one for one in paper_tables("makieval", published("makieval")) if one.name == "3"]
    assert unit_of(JoinedTable(consensus, [], [])) == "± variance"
    mine = PaperLine(MODEL, "", True, {"x": PaperCell("1.0", 1.0)})
    assert unit_of(JoinedTable(consensus, ["x"], [mine])) == "± variance (the paper's alone)"


def test_numbers_of_data_that_the_run_no_longer_has_are_the_reason_of_an_empty_table(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    write_numbers(run, MEASURE.name, [replace(answered("acc_a", 0.1), inputs="of other data")])
    found, without = joined_tables(run, "kobbq", 1)
    assert not found
    assert without["table 3a"].endswith("of other data than the run has now: ask again")


def test_two_sets_are_tested_under_the_papers_reader(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    four = ("acc_a", "diff_bias_a", "acc_d", "diff_bias_d")
    hold(run, *(replace(answered(one, 0.1, label="ST"), wording=w) for one in four for w in ("*", "1", "2")))
    manifest = read_manifest(run.manifest)
    assert manifest
    tested = [
        Difference(
            measure="questions", metric="acc_a", dimension="dataset", a="kobbq, ko", b="mtbbq, ko", p=0.03, model=MODEL,
            reader=reader, facets={"label": "ST"}, inputs=inputs_of(run, manifest, MEASURE), target="new_prompts",
            selection="all", verdict="higher", unit="template", units=9, cells=1, topics=0, topics_same_sign=0,
            countries=0, countries_same_sign=0,
        )
        for reader in ("publisher", "ours")
    ]  # fmt: skip
    write_differences(run, MEASURE.name, tested)
    found = tables(run, "kobbq")
    [line] = own_lines(found["4, rank-sum"])
    assert (line.model, line.row, line.cells["p of accuracy, ambiguous contexts"].text) == (MODEL, "ST, mtbbq", "0.03")
    assert found["4, rank-sum"].table.file == "table-4-rank-sum"


def test_a_table_of_models_across_has_ones_own_first_on_the_page() -> None:
    [table] = [one for one in paper_tables("culturescope", published("culturescope")) if one.name == "9"]
    mine = [replace(as_own(one), model=MODEL) for one, _ in table.cells if one.model == "Qwen2.5"]
    joined = join(table, mine, lambda _: ["n 3"])
    assert joined is not None
    shown = _shown_table("CultureScope", joined).table
    assert [column.head for column in shown.columns] == [
        f"{MODEL} [1]",
        *(f"{name} (published)" for name in SCOPE_MODELS),
    ]
    [baseline, *_] = shown.groups[0].lines
    assert [baseline.label, *(cell.text for cell in baseline.cells)][:3] == ["Baseline", "0.6675", "0.7126"]
    part = join(table, mine[-1:], lambda _: [])
    assert part is not None
    assert notes(part, "culturescope") == [f"[1] {SAME}; incomplete: 3 of 4 numbers missing"]


def test_kinds_are_normalised_in_each_model_and_compared_by_tukeys_test() -> None:
    values = {"m": (0.1, 0.2, 0.6), "b": (0.2, 0.2, 0.8), "c": (0.0, 0.3, 0.5)}
    lines = [
        PaperLine(model, kind, True, {"diff_bias_a": PaperCell("", value)})
        for model, own in values.items()
        for kind, value in zip(("average", "age", "ses"), own, strict=True)
    ]
    lines += [
        PaperLine("m", "religion", True, {"diff_bias_a": PaperCell("", 0.3)}),
        PaperLine("GPT-4", "age", False, {}),
    ]
    [table] = [one for one in paper_tables("kobbq", ()) if one.name == "figure 3"]
    joined = JoinedTable(table, ["diff_bias_a"], lines)
    assert normalised(joined, "diff_bias_a")[:2] == (["age", "ses", "religion"], ["m"])  # the others lack a kind
    kinds, models, found = normalised(replace(joined, lines=lines[:9]), "diff_bias_a")
    assert (kinds, models) == (["age", "ses"], ["m", "b", "c"])
    assert found.mean(axis=1) == pytest.approx(0)
    other = np.array([[0.1, 0.9, 0.3], [0.2, 0.8, 0.5], [0.4, 1.1, 0.2]])
    half = half_width(other)
    test = stats.tukey_hsd(*other.T).confidence_interval(0.99)
    assert half * 2 == pytest.approx((test.high - test.low)[0, 1] / 2)  # of a difference: its interval's half
    assert half_width(other[:1]) is None
