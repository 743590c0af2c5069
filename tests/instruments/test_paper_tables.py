"""`report --paper`: a paper's tables from a run's store, published figures beside, and their form."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from polyculture.cache.manifest import Manifest, setup_id, write_manifest
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.shards import JobShards
from polyculture.cache.store import open_store
from polyculture.generate.engines.base import ModelSpec
from polyculture.instruments.cbs.selection import scoring_jobs
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import Selection
from polyculture.instruments.embeddings.rows import SEPARATIONS, Separation
from polyculture.instruments.papers.paper import papers
from polyculture.instruments.papers.paper_files import write_paper
from polyculture.instruments.papers.paper_tables import PaperTable, TableCell, paper_tables
from polyculture.instruments.papers.report_paper import compared
from polyculture.instruments.tokens.rows import (
    VOCABULARY_SHARES,
    WANTED_VOCABULARIES,
    CountedVocabulary,
    WantedVocabulary,
)
from polyculture.published.cells import published
from polyculture.running.layout import store_layout
from tests.instruments.test_cbs_store import DEMO, ToyEngine
from tests.polyculture.test_command_line import one_line, polyculture
from tests.steps import score_job

MODEL = "openai:lab/toy_1"
EXPERIMENT = """
name = "paper"
models = ["openai:lab/toy_1"]
[options.openai]
base_url = "http://127.0.0.1:1"
"""
HEADER = "paper\ttable\tmeasure\tmetric\trow\tcolumn\tlanguage\tculture\tcondition\ttopic\tvalue\tunit\tprotocol\tnote"
OURS = "camel\t3\tcbs\tcbs\tlab/toy_1\tFood\ten\tJapanese\tgrounded\tfood\t12.5\tpercent\tdraws\t-"
OTHER = "camel\t3\tcbs\tcbs\tMARB & al.\taverage\ten\tJapanese\tgrounded\t\t49.33\tpercent\tdraws\tcopied"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment with scores of two types for one culture."""
    folder = tmp_path_factory.mktemp("paper")
    (folder / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    run = RunFolder(folder / "runs" / "paper")
    run.root.mkdir(parents=True)
    write_manifest(Manifest(experiment="paper", polyculture="0", models=[MODEL], languages=["en"]), run.manifest)
    chosen = Selection(types=("food", "names"), cultures=("Japanese",), contexts=3, entities=6)
    dataset = load(rules_of("own"), DEMO)
    for table, found in present_tables(run, dataset).items():
        write_parquet(found, run.table(table.name))
    for job in scoring_jobs(dataset, MODEL, chosen):
        score_job(run, job, ModelSpec(MODEL), engine=ToyEngine())
    return folder


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def test_the_tables_have_the_papers_layout_with_published_figures_below(folder: Path) -> None:
    mine = folder / "published.tsv"
    mine.write_text("\n".join([HEADER, OURS, OTHER]) + "\n", encoding="utf-8")
    done = polyculture("report", "exp.toml", "--paper", "camel", "--data", "own", "--published", mine, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "(2 tables, 5 files)" in done.stdout
    tables = folder / "runs" / "paper" / "report-tables" / "paper-camel"
    table = rows(tables / "cbs-en-japanese-grounded-causal.csv")
    assert list(table[0]) == ["model", "food", "names", "average"]
    assert [row["model"] for row in table] == [MODEL, "lab/toy_1 (published)", "MARB & al. (published)"]
    means = [float(table[0][column]) for column in ("food", "names")]
    assert float(table[0]["average"]) == pytest.approx(sum(means) / 2, abs=0.01)
    assert (table[1]["food"], table[1]["average"], table[2]["average"]) == ("12.5", "", "49.33")
    latex = (tables / "cbs-en-japanese-grounded-causal.tex").read_text(encoding="utf-8")
    assert r"openai:lab/toy\_1 & " in latex
    assert r"MARB \& al. (published) & -- & -- & 49.33 \\" in latex
    cells = rows(tables / "cells.csv")
    [beside] = [cell for cell in cells if cell["value"] and cell["published"]]
    assert (beside["column"], beside["published"], beside["contexts"]) == ("food", "0.125", "3")
    assert beside["differs"] == "data set own; 2 of 10 columns; 1 of 4 contexts and 28 of 40 entities not scored"
    alone = {(cell["row"], cell["published"], cell["differs"], cell["note"]) for cell in cells if not cell["value"]}
    unmeasured = "not compared: this run has no number here"
    assert alone == {("MARB & al.", "0.4933", unmeasured, "copied")}  # the paper's own are of another data set
    mine_alone = {(cell["setting"], cell["column"]): cell["differs"] for cell in cells if not cell["published"]}
    assert mine_alone["grounded", "average"] == "not compared: the published figures here are of MARB & al."
    assert mine_alone["neutral", "average"] == "not compared: no published figure is known here"
    assert all(cell["differs"] for cell in cells)


def test_a_cell_is_the_score_by_the_papers_protocol_and_by_ours(folder: Path) -> None:
    with open_store(RunFolder(folder / "runs" / "paper"), store_layout()) as store:
        tables = paper_tables(store, papers()["camel"], "own", 1)
        query = "SELECT rule, avg(cbs) FROM cbs_contexts WHERE setting = 'neutral' AND entity_type = 'food' GROUP BY 1"
        expected = dict(store.sql(query).fetchall())
    [table] = [table for table in tables if table.setting == "neutral"]
    [food] = [cell for cell in table.cells if cell.column == "food"]
    assert (food.value, food.ours) == (pytest.approx(expected["probability"]), pytest.approx(expected["sum"]))


def test_the_sides_of_a_task_are_columns_and_names_of_files_are_plain(tmp_path: Path) -> None:
    cells = tuple(
        TableCell("qa", "m", side, "en", "=a/b", "qa", "prompt", value)
        for side, value in (("native", 0.5), ("Western", 0.7))
    )
    table = PaperTable("qa", "en", "=a/b", "qa", "prompt", cells)
    written = write_paper(tmp_path, papers()["camellia"], "camellia", [table], ())
    assert [path.name for path in written] == ["qa-en--a-b-qa-prompt.csv", "qa-en--a-b-qa-prompt.tex", "cells.csv"]
    assert rows(written[0]) == [{"model": "m", "native": "50.0", "Western": "70.0"}]


def test_files_of_one_folder_stay_apart_in_latex(tmp_path: Path) -> None:
    models = [f"llama:/{'folder/' * 12}{name}.gguf" for name in ("small", "large")]
    cells = tuple(TableCell("qa", model, "native", "en", "Arab", "qa", "prompt", 0.5) for model in models)
    written = write_paper(tmp_path, papers()["camellia"], "camellia", [PaperTable("qa", "en", "Arab", "qa", "prompt", cells)], ())  # fmt: skip  # noqa: E501
    latex = written[1].read_text(encoding="utf-8")
    assert all(f"folder/{name}.gguf & 50.00" in latex for name in ("small", "large"))


def separated(entity_type: str | None, gender: str | None, estimate: float | None, **other: object) -> Separation:
    place = {"model": MODEL, "dataset": "own", "language": "en", "culture": "Japanese", "layer": 2, "contexts": 4}
    size = {"by_chance": 2.0, "p": 0.5, "native_entities": 5, "western_entities": 5}
    told = {"form": "causal", "setting": "neutral", "comparison": "a" if entity_type else None}
    values = {**place, **size, **told, "entity_type": entity_type, "gender": gender, "estimate": estimate, **other}
    return Separation(**values)  # type: ignore[arg-type]


def test_the_average_of_embeddings_is_the_stored_mean_and_genders_are_columns(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    write_manifest(Manifest(experiment="paper", polyculture="0", models=[MODEL], languages=["en"]), run.manifest)
    found = [
        separated("food", None, 1.37), separated("names", "female", 1.76), separated("names", "male", 1.48),
        separated("food", None, 9.0, contexts=2, comparison="b"), separated("food", None, 9.0, layer=1),
        separated("sports", None, None), separated(None, None, 1.495, contexts=8),
        separated("food", None, 3.0, form="masked", setting="grounded", layer=1),
    ]  # fmt: skip
    write_parquet(objects_to_table(SEPARATIONS, found), run.table("separations"))
    with open_store(run, store_layout()) as store:
        tables = paper_tables(store, papers()["camel"], "own", 1)
    written = write_paper(tmp_path / "out", papers()["camel"], "own", tables, ())
    masked, causal = (path for path in written if path.suffix == ".csv" and path.stem != "cells")
    assert causal.name == "embeddings-en-japanese-neutral-causal.csv"
    wanted = {"food": "1.37", "names, female": "1.76", "names, male": "1.48", "average": "1.5"}
    assert rows(causal) == [{"model": MODEL, **wanted}]
    assert rows(masked) == [{"model": MODEL, "food": "3.0"}]
    cells = {(row["column"], row["variant"]): row["contexts"] for row in rows(written[-1])}
    assert (cells["food", "causal"], cells["average", "causal"]) == ("4", "8")
    assert all(column for column, _ in cells)


def test_shares_of_vocabularies_are_a_table_per_way_to_count(tmp_path: Path) -> None:
    run, setup = RunFolder(tmp_path), {"weights": "w"}
    manifest = Manifest(experiment="paper", polyculture="0", models=[MODEL, "m"])
    setups = {f"tokenize {model}": setup for model in (MODEL, "m")}
    write_manifest(manifest.model_copy(update={"setups": setups}), run.manifest)
    counted = [("letters", "letters", 4_000), ("ranges", "Jamo", 1), ("ranges", "all", 5_000)]
    wanted = [WantedVocabulary(m, m, setup_id(setup), "ko", "letters") for m in (MODEL, "m")]
    write_parquet(objects_to_table(WANTED_VOCABULARIES, wanted), run.table(WANTED_VOCABULARIES.name))
    for model, tokens in ((MODEL, 40_000), ("m", 0)):  # of an empty vocabulary there is no share
        found = [
            CountedVocabulary(
                model + reading,
                model,
                model,
                "ko",
                way,
                reading,
                tokens,
                own,
                0,
                own / tokens if tokens else None,
                "ok",
            )
            for way, reading, own in counted
        ]
        with JobShards(run, Job(model, "ko", "vocabulary"), (VOCABULARY_SHARES,)) as shards:
            shards.append_part({VOCABULARY_SHARES.name: objects_to_table(VOCABULARY_SHARES, found)})
    with open_store(run, store_layout()) as store:
        tables = paper_tables(store, papers()["camellia"], "own", 1)
        assert not paper_tables(store, papers()["camel"], "own", 1)  # which counts none
    written = write_paper(tmp_path / "out", papers()["camellia"], "own", tables, ())
    assert [path.stem for path in written if path.suffix == ".csv"] == ["tokens-letters", "tokens-ranges", "cells"]
    assert rows(written[0]) == [{"model": MODEL, "ko": "10.0"}]
    assert rows(written[2]) == [{"model": MODEL, "ko: Jamo": "0.0025", "ko: all": "12.5"}]


def test_the_papers_own_numbers_stand_below_those_of_its_data(tmp_path: Path) -> None:
    """Each form of contexts beside its own; accuracy of one model found by its repository, whatever runs it."""
    mine = "vllm:meta-llama/Llama-3.3-70B-Instruct"
    cells = (
        TableCell("qa", mine, "native", "zh", "Chinese", "qa", "prompt", 0.9),
        TableCell("cbs", "m", "names, female", "ar", "Arab", "grounded", "masked", 0.4),
    )
    camellia = [cell for cell in published("camellia") if compared(cell)]
    tables = [PaperTable("qa", "zh", "Chinese", "qa", "prompt", cells[:1])]
    written = write_paper(tmp_path, papers()["camellia"], "camellia", tables, (), camellia)
    table = {row["model"]: row for row in rows(written[0])}
    assert len(table) == 5
    gemma = {"native": "91.58", "Western": "92.94", "difference": "-1.36"}
    assert table["Gemma3-27b (published)"] == {"model": "Gemma3-27b (published)", **gemma}
    [beside] = [row for row in rows(written[-1]) if row["value"]]
    assert (beside["published"], beside["table"]) == ("0.9481", "12")
    camel = [cell for cell in published("camel") if compared(cell)]
    tables = [PaperTable("cbs", "ar", "Arab", "grounded", "masked", cells[1:])]
    written = write_paper(tmp_path, papers()["camel"], "camel", tables, (), camel)
    table = {row["model"]: row for row in rows(written[0])}
    assert len(table) == 12  # eleven encoders; the causal ones are of another table
    assert (table["MARBERT (published)"]["names, female"], table["MARBERT (published)"]["average"]) == (
        "50.41",
        "49.33",
    )


def test_what_reads_a_paper_needs_a_paper(folder: Path) -> None:
    assert "--paper" in polyculture("report", "exp.toml", "--data", "own", cwd=folder).stderr
    said = polyculture("report", "exp.toml", "--paper", "camel", "--published", "nowhere.tsv", cwd=folder)
    assert "cannot be read as a table of published numbers" in said.stderr
    assert said.returncode == 2
    nothing = polyculture("report", "exp.toml", "--paper", "camellia", cwd=folder)
    assert "Nothing is measured on camellia yet" in nothing.stdout
    assert one_line(polyculture("camel", "exp.toml", "--folder", "nowhere", cwd=folder))
