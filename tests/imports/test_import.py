"""`polyculture import`: texts that somebody else generated, from their file to the metrics, with no model."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.catalog.written import WrittenNames
from polyculture.cache.errors import UserError
from polyculture.cache.store.run_folder import RunFolder, incoming_folder, sealed_import
from polyculture.cache.text.suggestions import near_words
from polyculture.imports.mapping import Columns
from polyculture.imports.text import NoTextError, TextReader
from polyculture.running.linking import assumed_mentions
from polyculture.running.opening import open_workspace
from polyculture.sources.record import Record
from tests.imports.conftest import ALL, read, stored, take
from tests.polyculture.test_command_line import polyculture

ROWS: list[dict[str, object]] = [
    {"answer": "In Italy I love pizza, risotto and tiramisu.", "lang": "en-US", "land": "it", "topic": "Food"},
    {"answer": "In Italy I love pizza, risotto and tiramisu.", "lang": "eng", "land": "ITA", "topic": "food"},
    {"answer": "Sushi and ramen, of course. Also tempura.", "lang": "English", "land": "jp", "topic": "food"},
    {"answer": "寿司とラーメンが好きです。", "lang": "ja_JP", "land": None, "topic": "food"},
    {"answer": " ", "lang": "en", "land": "jp", "topic": "food"},
    {"answer": "Truita de patates", "lang": "ca", "land": "jp", "topic": "food"},
    {"answer": "Pizza", "lang": "en", "land": "Narnia", "topic": "food"},
    {"answer": 7, "lang": "en", "land": "jp", "topic": "food"},
]
TOLD = ("text=answer", "language=lang", "country=land", "model==gpt-4o")


def write_lines(file: Path, rows: list[dict[str, object]], more: bytes = b"") -> Path:
    file.write_bytes(b"\xef\xbb\xbf" + b"".join(json.dumps(row).encode() + b"\n" for row in rows) + more)
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    write_lines(folder / "a.jsonl", ROWS, b'{"answer": "\xff\xfe", "lang": "en", "topic": "food"}\nnonsense\n')
    refused = polyculture("import", "a.jsonl", "--as", "exp.toml", *TOLD, cwd=folder)
    assert refused.returncode == 2
    assert "5 of 10 rows cannot be taken" in refused.stderr
    assert "--skip-rows" in refused.stderr
    assert not (folder / "exp.toml").exists()
    done = polyculture("import", "a.jsonl", "--as", "exp.toml", *TOLD, "--skip-rows", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "10 rows: 5 texts taken, 5 rows or items not taken" in done.stderr
    assert "of these texts, empty: 1" in done.stderr
    assert "text from 'answer'" in done.stderr
    assert "not made up: condition, prompt" in done.stderr
    return folder


def rows_of(folder: Path, query: str) -> list[dict[str, str]]:
    done = polyculture("sql", "exp.toml", query, "--format", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines()))


def test_what_is_missing_is_null_and_bad_rows_have_a_reason(folder: Path) -> None:
    (row,) = rows_of(folder, "SELECT * FROM responses WHERE language = 'ja'")
    assert (row["model"], row["condition"], row["country"], row["seed"]) == ("imported:gpt-4o", "unstated", "", "")
    assert row["origin"].endswith(":4")
    prompts = rows_of(folder, "SELECT DISTINCT text, template_id FROM prompts")
    assert prompts == [{"text": "", "template_id": ""}]
    reasons = {row["row"]: row["reason"] for row in rows_of(folder, "SELECT row, reason FROM import_failures")}
    assert reasons.keys() == {"6", "7", "8", "9", "10"}
    assert "not UTF-8" in reasons["9"]


def test_an_empty_text_counts_as_one_that_was_generated(folder: Path) -> None:
    (row,) = rows_of(folder, "SELECT status, text FROM responses WHERE origin LIKE '%:5'")
    assert (row["status"], row["text"].strip()) == ("ok", "")
    (row,) = rows_of(folder, "SELECT sum(answered) AS answered, sum(empty) AS empty FROM health")
    assert (row["answered"], row["empty"]) == ("5", "1")


def test_two_samples_of_one_cell_are_told_apart(folder: Path) -> None:
    samples = rows_of(folder, "SELECT sample FROM responses WHERE country = 'IT' ORDER BY sample")
    assert [row["sample"] for row in samples] == ["0", "1"]
    assert rows_of(folder, "SELECT asked FROM cells WHERE country = 'IT'") == [{"asked": "2"}]


def test_the_same_file_twice_changes_nothing_and_a_changed_one_is_told(folder: Path) -> None:
    again = polyculture("import", "a.jsonl", "--as", "exp.toml", *TOLD, cwd=folder)
    assert again.returncode == 0
    assert "nothing to do" in again.stderr
    copy = folder / "elsewhere"
    copy.mkdir()
    write_lines(copy / "a.jsonl", [*ROWS[1:4], {"answer": "Baklava.", "lang": "tr", "land": "TR", "topic": "food"}])
    before = rows_of(folder, "SELECT count(*) AS n FROM responses")
    changed = polyculture("import", copy / "a.jsonl", "--as", "exp.toml", *TOLD, cwd=folder)
    assert changed.returncode == 2
    assert "has changed since it was imported" in changed.stderr
    assert rows_of(folder, "SELECT count(*) AS n FROM responses") == before


def test_status_and_plan_say_that_the_texts_are_imported(folder: Path) -> None:
    plan = polyculture("plan", "exp.toml", cwd=folder)
    assert plan.returncode == 0, plan.stderr
    assert "nothing to generate" in plan.stdout
    assert "a.jsonl" in plan.stdout
    # Five texts were taken, each of which is assumed to mention three names.
    assert assumed_mentions(open_workspace(folder / "exp.toml")) == 15
    assert "Imported a.jsonl" in polyculture("status", "exp.toml", cwd=folder).stdout


def test_a_run_extracts_links_and_measures_and_generates_nothing(folder: Path) -> None:
    refused = polyculture("run", "--only", "generate", "exp.toml", cwd=folder)
    assert refused.returncode == 2
    assert "extract, link, measure" in refused.stderr
    for stage in ("extract", "link", "measure"):
        done = polyculture("run", "--only", stage, "exp.toml", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert stage != "extract" or "no text is generated" in done.stderr
    (row,) = rows_of(folder, "SELECT diversity FROM diversity WHERE country = 'IT'")
    assert int(row["diversity"]) >= 1


def test_what_an_import_does_not_have_is_one_line_and_no_multiple(tmp_path: Path) -> None:
    """`prompts` multiplied imported texts by `n`, and `paper` printed 85 lines about empty jobs."""
    rows: list[dict[str, object]] = [
        {"model": "a", "lang": "en", "topic": "food", "prompt": "What do you eat?", "text": "Pizza, and more pizza."},
        {"model": "a", "lang": "en", "topic": "food", "prompt": "What do you eat?", "text": "Ramen, on Sunday."},
        {"model": "b", "lang": "de", "topic": "music", "prompt": "Was hörst du?", "text": "Am liebsten Jazz."},
    ]
    write_lines(tmp_path / "a.jsonl", rows)
    done = polyculture("import", "a.jsonl", "--as", "exp.toml", "language=lang", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = polyculture("prompts", "exp.toml", cwd=tmp_path)
    assert "2 prompts" in shown.stderr
    assert "3 texts" in shown.stderr
    assert "samples" not in shown.stderr
    table = polyculture("prompts", "exp.toml", "--format", "csv", cwd=tmp_path).stdout
    assert [(row["models"], row["text"]) for row in csv.DictReader(table.splitlines())] == [
        ("imported:a", "What do you eat?"), ("imported:b", "Was hörst du?"),
    ]  # fmt: skip
    done = polyculture("run", "--only", "extract", "exp.toml", cwd=tmp_path)
    about = [line for line in done.stderr.splitlines() if line.startswith("extract")]
    assert len(about) == 3
    assert "6 of 8" in about[-1]
    assert "imported files have no text" in about[-1]


def test_imported_and_generated_models_are_not_mixed(folder: Path, tmp_path: Path) -> None:
    text = (folder / "exp.toml").read_text(encoding="utf-8")
    (tmp_path / "exp.toml").write_text(text.replace('"imported:gpt-4o"', '"imported:gpt-4o", "mock:x"'), "utf-8")
    done = polyculture("plan", "exp.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "experiment of their own" in done.stderr


@pytest.mark.parametrize(("written", "topic"), [("Essen", "food"), ("meals", "food"), ("Fashion", "clothing")])
def test_what_people_call_a_topic_leads_to_it(written: str, topic: str) -> None:
    assert WrittenNames(read_catalog()).topic(written) == topic
    assert near_words(written, read_catalog().topics) == [topic]


@pytest.mark.parametrize(
    ("written", "language"),
    [
        ("Spanisch", "es"),
        ("espagnol", "es"),
        ("Türkisch", "tr"),
        ("koreański", "ko"),
        ("英語", "en"),
        ("zh_Hant", "zh-tw"),
    ],
)
def test_languages_are_known_by_their_names_in_any_language(written: str, language: str) -> None:
    assert WrittenNames(read_catalog(), everywhere=True).language(written) == language


@pytest.mark.parametrize(
    ("written", "country"),
    [("Niemcy", "DE"), ("Allemagne", "DE"), ("Япония", "JP"), ("England", "GB"), ("Kongo", None)],
)
def test_countries_are_known_by_their_names_in_any_language(written: str, country: str | None) -> None:
    assert WrittenNames(read_catalog(), everywhere=True).country(written) == country


def test_a_model_is_known_without_its_engine() -> None:
    assert near_words("Qwen2.5", ["openai:qwen2.5", "ollama:llama3"]) == ["openai:qwen2.5"]
    assert near_words("qwen", ["openai:llama3", "xqwen:other"]) == []


def test_a_label_of_ones_own_means_a_topic(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "text": "Pizza.",
        "language": "en",
        "topic": "festival",
        "model": "m",
        "condition": "persona",
    }
    write_lines(tmp_path / "b.jsonl", [row])
    refused = polyculture("import", "b.jsonl", "--as", "exp.toml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--like" in refused.stderr
    done = polyculture("import", "b.jsonl", "--as", "exp.toml", "--like", "festival=food", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = rows_of(tmp_path, "SELECT topic, condition, country FROM responses")
    assert found == [{"topic": "food", "condition": "persona", "country": ""}]
    for stage in ("extract", "link", "measure"):  # no text of the run is of any country
        done = polyculture("run", "--only", stage, "exp.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_column_that_the_first_row_lacks_is_found(tmp_path: Path) -> None:
    row: dict[str, object] = {"text": "Pizza.", "language": "en", "topic": "food", "model": "m"}
    found, texts, _ = read(write_lines(tmp_path / "d.jsonl", [row, {**row, "country": "it"}]), {})
    assert "country from 'country'" in found.columns.line
    assert [text.country for text in texts] == [None, "IT"]


def test_parts_of_a_column(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "c.jsonl", [{"out": "Pizza.", "key": "en|food|IT|17"}])
    _, (text,), _ = read(file, {"text": "out", "model": "=m"}, parts="key={language}|{topic}|{country}|{}")
    assert (text.language, text.topic, text.country) == ("en", "food", "IT")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("text=anser",), "no anser: it has answer_, answer"),
        (("--parts", "answer={languge}"), "no COLUMN=PATTERN"),
        (("--format", "inspct"), "Did you mean 'inspect'"),
        (("model==m",), "no column is clearly the text"),
    ],
)
def test_a_wrong_mapping_is_one_line(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    write_lines(
        tmp_path / "a.jsonl", [{"answer_": "Pizza.", **ROWS[0]}] if words != ("model==m",) else [{"lang": "en"}]
    )
    done = polyculture("import", "a.jsonl", "--as", "exp.toml", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "exp.toml").exists()


def test_a_ragged_table_loses_its_ragged_rows_alone(tmp_path: Path) -> None:
    lines = [
        "text;language;topic;model",
        "Pizza;en;food;m",
        "Pizza;en",
        '=HYPERLINK("x");en;food;m',
        '"two\nlines";en;food;m',
    ]
    (tmp_path / "a.csv").write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    _, texts, bad = read(tmp_path / "a.csv", {})
    assert ([text.text for text in texts], len(bad)) == (["Pizza", '=HYPERLINK("x")', "two\nlines"], 1)


def test_texts_that_were_cut_are_counted(tmp_path: Path) -> None:
    rows = [{"text": text} for text in ("Pizza.\n\nUser: More?\n\nAI: Udon.", "Sushi.</s>", "Ramen.")]
    assert take(RunFolder(tmp_path / "run"), write_lines(tmp_path / "a.jsonl", rows)).cut == 1


def test_a_parquet_file_and_one_that_is_none(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"response": "Pizza.", "meta": {"lang": "en"}, "topic": "food", "model": "m"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert len(read(tmp_path / "a.parquet", {"language": "meta.lang"})[1]) == 1
    (tmp_path / "b.parquet").write_bytes(b"PAR1 is not enough")
    with pytest.raises(UserError, match="no Parquet file"):
        read(tmp_path / "b.parquet", {})


def test_an_import_that_was_killed_is_repeated_without_doubles(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"text": f"Pizza number {number} is good."} for number in range(600)]
    file = write_lines(tmp_path / "a.jsonl", rows)
    run = RunFolder(tmp_path / "runs" / "exp")
    program = (
        "import polyculture.imports.taking as t\nt.FLUSH_ROWS = 20\n"
        "from pathlib import Path\nfrom tests.imports.conftest import take\n"
        "from polyculture.cache.store.run_folder import RunFolder\n"
        f"take(RunFolder(Path({str(run.root)!r})), Path({str(file)!r}))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    while not list(run.root.glob("importing/run/responses/*/*/*/part-*.parquet")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert incoming_folder(run).exists()
    assert not sealed_import(run).exists()
    assert take(run, file).file.texts == 600
    assert not incoming_folder(run).exists()
    changed = write_lines(tmp_path / "a.jsonl", [*rows, {"text": "Pizza number 600."}])
    assert take(run, changed, again=lambda _: True).file.texts == 601
    assert len(stored(run)) == 601


def test_codes_are_read_in_any_writing() -> None:
    values = {"text": "Pizza.", "language": "zh-Hant-HK", "topic": "food", "model": "m", "country": "uk"}
    reader = TextReader(read_catalog(), Columns({name: name for name in values}))
    text = reader.read(Record("1", values))
    assert (text.language, text.country) == ("zh-tw", "GB")
    assert reader.read(Record("1", {**values, "country": float("nan")})).country is None
    for wrong in ({"model": "a\nb"}, {"text": "x" * 1_000_001}, {"topic": None}, {"country": "Atlantis"}):
        with pytest.raises(NoTextError):
            reader.read(Record("1", {**values, **wrong}))


def test_a_column_that_no_field_is_taken_from_is_named(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("Antwort", "Herkunftsland", "Nr."), ("Sie isst Pizza.", "Italien", "1")])
    found, _, _ = read(tmp_path / "a.csv", {**ALL, "text": "Antwort", "language": "=de"})
    assert "not made up: country," in found.columns.line
    assert "Columns not taken: Herkunftsland, Nr. (FIELD=COLUMN takes one)" in found.columns.line


def test_the_experiment_file_in_the_place_of_the_texts_leads_to_what_was_meant(tmp_path: Path) -> None:
    refused = polyculture("import", "exp.toml", "a.csv", cwd=tmp_path)
    assert refused.returncode == 2
    assert "'a.csv' is no FIELD=COLUMN" in refused.stderr
    assert "polyculture import FILE --as EXPERIMENT" in refused.stderr


def test_a_missing_text_is_a_failed_answer_in_every_format(tmp_path: Path) -> None:
    import openpyxl
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [None if number < 5 else f"Dish number {number}." for number in range(40)]
    pq.write_table(pa.table({"text": pa.array(texts), "n": range(40)}), tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("text,n\n" + "".join(f"{one or ''},1\n" for one in texts), "utf-8")
    (tmp_path / "c.csv").write_text("text,n\n" + "".join(f"{one or 'NA'},1\n" for one in texts), "utf-8")
    lines = [json.dumps({"text": one or float("nan")}) for one in texts]
    (tmp_path / "d.jsonl").write_text("\n".join(lines), "utf-8")
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (("text", "n"), *((one, 1) for one in texts)):
        book.active.append(row)
    book.save(tmp_path / "e.xlsx")
    for name in ("a.parquet", "b.csv", "c.csv", "d.jsonl", "e.xlsx"):
        taken = take(RunFolder(tmp_path / f"run {name}"), tmp_path / name)
        assert (name, taken.file.texts, taken.empty, taken.broken, taken.file.failed) == (name, 40, 0, 5, 0)
        assert taken.columns is not None
        told = [note for note in taken.columns.notes if "a missing value" in note]
        assert ["NA 5" in note for note in told] == [True] * (name == "c.csv")


def test_a_text_none_of_an_answer_that_ended_is_that_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('text,n\nNone,1\n"",2\nPizza.,3\n', encoding="utf-8")
    run = RunFolder(tmp_path / "run")
    taken = take(run, tmp_path / "a.csv", {**ALL, "text": "text", "finish_reason": "=stop"})
    assert (taken.empty, taken.broken) == (1, 0)
    assert sorted(row["text"] for row in stored(run)) == ["", "None", "Pizza."]
