"""An export stands alone: whole or absent, nothing of this machine in it, and nobody else's file is replaced."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.identity import file_sha256
from polyculture.cache.store.manifest import FORMAT, read_manifest, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.store import open_store
from polyculture.cli import export as cli
from polyculture.metrics import METRICS_LAYOUT
from polyculture.metrics.measure import measure
from polyculture.reports.export import tables as exported_tables
from polyculture.reports.export.front_matter import front_matter
from polyculture.reports.export.read import check_export
from polyculture.reports.export.redaction import ADDRESS, redaction_of
from polyculture.reports.export.tables import WORKING_VIEWS
from polyculture.reports.export.write import CARD, METADATA, write_export
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import ROOT, one_line
from tests.polyculture.test_command_line import polyculture as command
from tests.store_builder import StoreBuilder

PATH_MODEL = "llamacpp:/home/jane/models/secret-project/q4.gguf"
URL = "http://gpu7.lab.example:8000/v1"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run whose models, setups and errors name this machine and a server in a private net."""
    builder = StoreBuilder(tmp_path_factory.mktemp("private") / "runs" / "one", models=(PATH_MODEL, "openai:b"))
    for language in ("en", "ja"):
        builder.answer(
            builder.ask(language), ["ramen"], text="She read /usr/share/dict and https://example.org/x | <b>"
        )
        error = f"Connection to {URL}/chat failed; see /var/log/vllm/jane.log"
        builder.answer(builder.ask(language), model="openai:b", status="failed", text=None, error=error)
    run = builder.write()
    manifest = read_manifest(run.manifest)
    setups = {"sample openai:b": {"endpoint": URL, "cache": "/home/jane/cache dir/x"}, f"sample {PATH_MODEL}": {}}
    more = {
        "setups": setups,
        "notes": ["a | bar\nand <script>"],
        "experiment": "private-one",
        "languages": ["en", "ja"],
    }
    write_manifest(manifest.model_copy(update=more), run.manifest)
    measure(run)
    return run


@pytest.fixture(scope="module")
def folder(run: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_export(run, store_layout(), tmp_path_factory.mktemp("out") / "data", "CC-BY-4.0").path


def rows(folder: Path, table: str) -> list[tuple[object, ...]]:
    return duckdb.sql(f"FROM '{folder}/{table}.parquet'").fetchall()


def test_a_folder_has_every_table_with_rows(run: RunFolder, folder: Path) -> None:
    assert {"prompts.parquet", "responses.parquet", "mentions.parquet", "diversity.parquet"} <= {
        file.name for file in folder.iterdir()
    }
    assert len(rows(folder, "responses")) == 4
    assert not list(folder.glob("answers*"))
    texts = [row[0] for row in duckdb.sql(f"SELECT text FROM '{folder}/responses.parquet'").fetchall() if row[0]]
    assert texts == ["She read /usr/share/dict and https://example.org/x | <b>"] * 2  # what models write stays


def test_nothing_of_this_machine_is_in_it(run: RunFolder, folder: Path) -> None:
    seen = " ".join(
        [
            (folder / CARD).read_text(encoding="utf-8"),
            (folder / METADATA).read_text(encoding="utf-8"),
            RunFolder(folder).manifest.read_text(encoding="utf-8"),
            *(str(pq.read_table(file).to_pylist()) for file in folder.glob("*.parquet")),
        ]
    )
    for private in ("/home/jane", "secret-project", "gpu7.lab", "jane.log", str(run.root), "cache dir"):
        assert private not in seen, private
    assert "llamacpp:q4.gguf" in seen
    assert f"Connection to {ADDRESS} failed; see (path left out)" in seen


def test_the_metadata_describe_the_files_that_are_there(folder: Path) -> None:
    """The keys that Croissant 1.0 asks for; mlcroissant itself reads the same (docs/store.md)."""
    said = json.loads((folder / METADATA).read_text(encoding="utf-8"))
    assert said["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert said["@type"] == "sc:Dataset"
    assert said["license"] == "CC-BY-4.0"
    files = {file["@id"]: file for file in said["distribution"]}
    assert set(files) == {file.name for file in folder.glob("*.parquet")}
    for name, file in files.items():
        assert file["@type"] == "cr:FileObject"
        assert file["contentUrl"] == name
        assert file["sha256"] == file_sha256(folder / name)
    types = {"string": "sc:Text", "int64": "sc:Integer", "double": "sc:Float", "bool": "sc:Boolean"}
    for records in said["recordSet"]:
        schema = pq.read_schema(folder / f"{records['name']}.parquet")
        columns = {field["source"]["extract"]["column"]: field for field in records["field"]}
        assert list(columns) == schema.names
        for name, field in columns.items():
            assert field["source"]["fileObject"]["@id"] in files
            assert field["dataType"] == types.get(str(schema.field(name).type), field["dataType"])
            assert field["description"], (records["name"], name)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # of that library's own dependencies
def test_the_metadata_are_read_by_the_library_of_the_format(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    import mlcroissant

    read = mlcroissant.Dataset(jsonld=str(folder / METADATA))
    assert not caplog.messages  # no fault, and nothing that it recommends is missing
    found = {bytes(row["responses/response_id"]).decode() for row in read.records("responses")}
    assert found == {row[0] for row in duckdb.sql(f"SELECT response_id FROM '{folder}/responses.parquet'").fetchall()}


@pytest.mark.filterwarnings("ignore")  # of that library's own dependencies
def test_a_hub_and_its_library_read_the_card_and_every_table(folder: Path, tmp_path: Path) -> None:
    from datasets import load_dataset
    from huggingface_hub import DatasetCard

    said = DatasetCard.load(folder / CARD).data.to_dict()
    assert (said["pretty_name"], said["license"], said["language"]) == ("private-one", "cc-by-4.0", ["en", "ja"])
    configs = {config["config_name"]: config["data_files"] for config in said["configs"]}
    assert set(configs.values()) == {file.name for file in folder.glob("*.parquet")}
    assert [config["config_name"] for config in said["configs"] if config.get("default")] == ["numbers"]
    for name in configs:
        loaded = load_dataset(str(folder), name, split="train", cache_dir=str(tmp_path))
        table = pq.read_table(folder / f"{name}.parquet")
        assert loaded.column_names == table.column_names
        assert loaded.num_rows == table.num_rows
    found = load_dataset(str(folder), "responses", split="train", cache_dir=str(tmp_path)).sort("response_id")
    assert found["text"] == [
        row["text"]
        for row in sorted(pq.read_table(folder / "responses.parquet").to_pylist(), key=lambda row: row["response_id"])
    ]


@pytest.mark.parametrize(
    ("licence", "named"),
    [("CC-BY-4.0", "cc-by-4.0"), ("ODbL-1.0", "odbl"), ("CC0-1.0", "cc0-1.0"), ("as its authors say: yes", "other")],
)
def test_a_licence_that_the_hub_has_no_name_for_is_another_one(licence: str, named: str) -> None:
    from huggingface_hub import DatasetCard

    said = DatasetCard(front_matter('no: "x"', licence, ["no", "zh-tw"], []) + "\ntext").data.to_dict()
    assert (said["pretty_name"], said["license"], said["language"]) == ('no: "x"', named, ["no", "zh"])
    assert said.get("license_name") == (licence if named == "other" else None)
    assert said["language_bcp47"] == ["zh-TW"]


def test_the_card_says_what_is_in_it(folder: Path) -> None:
    card = (folder / CARD).read_text(encoding="utf-8")
    for part in ("How it was made", "Tables", "Limits", "Licences", "How to cite"):
        assert f"## {part}\n" in card
    assert "<script>" not in card
    assert "The export as a whole: CC-BY-4.0." in card
    assert "(4 rows)" in card
    lines = [line for line in card.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in lines} == {3, 4}  # two columns, or three: no cell broke out


def test_texts_are_cited_by_their_metrics_and_views_of_hashes_are_left_out(run: RunFolder, folder: Path) -> None:
    card, metadata = ((folder / name).read_text(encoding="utf-8") for name in (CARD, METADATA))
    assert "MAKIEval" in json.loads(metadata)["citeAs"]
    assert "MAKIEval" in card
    assert not {f"{name}.parquet" for name in WORKING_VIEWS} & {file.name for file in folder.iterdir()}
    with open_store(run, store_layout()) as store:
        assert {view for (view,) in store.sql("SELECT DISTINCT view FROM dictionary").fetchall()} >= WORKING_VIEWS


def test_large_views_that_others_give_are_left_out_and_told(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exported_tables, "MOST_DERIVED", 3)
    done = write_export(run, CORE, tmp_path / "data")
    left = {table.name for table in done.tables if table.left_out}
    assert left
    assert "responses" not in left
    card = (done.path / CARD).read_text(encoding="utf-8")
    for name in left:
        assert not (done.path / f"{name}.parquet").exists()
        assert f"- {name}: " in card


def test_an_export_is_replaced_and_nothing_else_is(run: RunFolder, tmp_path: Path) -> None:
    target = tmp_path / "data"
    target.mkdir()
    write_export(run, CORE, target)
    write_export(run, CORE, target)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]

    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years of work", encoding="utf-8")
    (tmp_path / "link").symlink_to(theirs)
    for place in (theirs, tmp_path / "link", theirs / "thesis.txt"):
        with pytest.raises(StoreError, match="is no export"):
            write_export(run, CORE, place)
    with pytest.raises(StoreError, match=r"inside.*itself"):
        write_export(run, CORE, run.root / "out")
    assert (theirs / "thesis.txt").read_text(encoding="utf-8") == "years of work"

    (target / "notes").mkdir()
    before = sorted((path, path.stat().st_mtime_ns) for path in target.iterdir())
    with pytest.raises(StoreError, match=r"notes.*none of its files") as fault:
        write_export(run, CORE, target)
    assert fault.value.remedy
    assert sorted((path, path.stat().st_mtime_ns) for path in target.iterdir()) == before


def test_a_killed_export_leaves_nothing_that_looks_whole(run: RunFolder, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from polyculture.reports.export import write; from polyculture.cache.store.run_folder import RunFolder\n"
        "from polyculture.cache.store.schema import CORE\n"
        "write.data_card = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write.write_export(RunFolder(Path(sys.argv[1])), CORE, Path(sys.argv[2]))\n"
    )
    target = tmp_path / "data"
    done = subprocess.run([sys.executable, "-c", code, run.root, target], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not target.exists()
    left = list(tmp_path.iterdir())
    assert left
    assert all(path.name.startswith(".") for path in left)
    long_ago = time.time() - 7200
    for path in (one for folder in left for one in (*folder.rglob("*"), folder)):
        os.utime(path, (long_ago, long_ago))
    own = tmp_path / ".data.backup.tmp"
    own.write_text("mine", encoding="utf-8")
    os.utime(own, (long_ago, long_ago))
    write_export(run, CORE, target)
    assert target.exists()
    assert set(tmp_path.iterdir()) == {target, own}, "what a killed export left is removed, and nothing else"


@pytest.mark.slow
@pytest.mark.usefixtures("all_threads")
def test_two_exports_of_a_run_are_the_same_bytes(run: RunFolder, folder: Path, tmp_path: Path) -> None:
    again = write_export(run, store_layout(), tmp_path / "again", "CC-BY-4.0").path
    assert {file.name: file.read_bytes() for file in again.iterdir()} == {
        file.name: file.read_bytes() for file in folder.iterdir()
    }


def test_an_export_is_never_away(run: RunFolder, tmp_path: Path) -> None:
    target = write_export(run, CORE, tmp_path / "data").path
    absent, done = [], threading.Event()

    def watch() -> None:
        while not done.is_set():
            if not (target / CARD).exists() and not (target / CARD).exists():
                absent.append(time.time())
            time.sleep(0.0002)  # a watcher that never rests takes most of the interpreter's time from the export

    watching = threading.Thread(target=watch)
    watching.start()
    write_export(run, CORE, target)
    done.set()
    watching.join()
    assert not absent


def test_two_models_of_one_file_name_stay_two(run: RunFolder) -> None:
    manifest = read_manifest(run.manifest)
    models = ["llamacpp:/a/b/q4.gguf", "llamacpp:/c/d/q4.gguf"]
    redaction = redaction_of(manifest.model_copy(update={"models": models}), run.root)
    assert len(set(redaction.plain(models))) == 2
    assert redaction.plain(f"Bearer {'x' * 3}, {URL}") == f"Bearer xxx, {ADDRESS}"
    assert redaction.plain("https://api.openai.com/v1") == "https://api.openai.com/v1"


def test_the_command_line_exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "store_layout", lambda: CORE)  # each layout is exported alike
    (tmp_path / "exp.toml").write_text(
        'name = "one"\nmodels = ["mock:a"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["JP"]\n', "utf-8"
    )
    builder = StoreBuilder(tmp_path / "runs" / "one")
    builder.answer(builder.ask("en"), ["ramen"])
    builder.write()
    done = command("export", "exp.toml", "--to", "out/data", "--licence", "CC0-1.0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("out/data: ")
    assert "CC0-1.0" in (tmp_path / "out" / "data" / CARD).read_text(encoding="utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").touch()
    assert "is no export" in one_line(command("export", "exp.toml", "--to", "notes", cwd=tmp_path))


def test_an_export_opens_as_a_run_with_the_same_views(run: RunFolder, folder: Path) -> None:
    """Numbers that it came with, and what views compute from its texts, mentions and links."""
    own = RunFolder(folder)
    assert check_export(own, METRICS_LAYOUT) == ()
    private = {PATH_MODEL: "llamacpp:q4.gguf"}
    views = ("models", "numbers", "health", "diversity", "entities", "leaderboard", "model_flows", "stale_measures")
    with open_store(run, METRICS_LAYOUT) as before, open_store(own, METRICS_LAYOUT) as after:
        for view in views:
            rows, found = (store.sql(f'FROM "{view}"').fetchall() for store in (before, after))
            said = [tuple(private.get(cell, cell) if isinstance(cell, str) else cell for cell in row) for row in rows]
            assert sorted(map(str, found)) == sorted(map(str, said)), view
        assert after.sql("FROM numbers").fetchall()
        assert after.sql("FROM health").fetchall()


def test_views_that_an_export_leaves_out_are_computed(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exported_tables, "MOST_DERIVED", 0)
    done = write_export(run, METRICS_LAYOUT, tmp_path / "data")
    assert not (done.path / "health.parquet").exists()
    with open_store(run, METRICS_LAYOUT) as before, open_store(RunFolder(done.path), METRICS_LAYOUT) as after:
        count = "SELECT sum(mentions), sum(asked) FROM health"
        assert after.sql(count).fetchall() == before.sql(count).fetchall()


def test_an_export_that_somebody_changed_is_told_apart(run: RunFolder, tmp_path: Path) -> None:
    """A table that is gone, a column that is gone or of another type, a file that is no Parquet, another format."""
    folder = write_export(run, METRICS_LAYOUT, tmp_path / "data").path
    own, file = RunFolder(folder), folder / "responses.parquet"
    whole = file.read_bytes()
    table = pq.read_table(file)

    for changed in (
        table.drop(["text"]),
        table.set_column(table.column_names.index("sample"), "sample", table["text"]),
    ):
        pq.write_table(changed, file)
        assert check_export(own, METRICS_LAYOUT) == ("responses.parquet",)
        with (
            open_store(own, METRICS_LAYOUT) as store,
            pytest.raises(StoreError, match=r"responses.parquet.* column (text|sample)") as fault,
        ):
            store.sql("FROM health").fetchall()
        assert fault.value.remedy
    file.write_bytes(b"PK")
    with open_store(own, METRICS_LAYOUT) as store, pytest.raises(StoreError, match=r"responses.parquet.*Parquet"):
        store.sql("FROM health").fetchall()
    file.write_bytes(whole)
    assert check_export(own, METRICS_LAYOUT) == ()

    (folder / "mentions.parquet").unlink()
    with pytest.raises(StoreError, match=r"data.*lacks mentions.parquet") as fault:
        check_export(own, METRICS_LAYOUT)
    assert fault.value.remedy
    said = own.manifest.read_text(encoding="utf-8")
    own.manifest.write_text(said.replace(f'"format": {FORMAT}', '"format": 9'), encoding="utf-8")
    with pytest.raises(StoreError, match=r"format 9"):
        open_store(own, METRICS_LAYOUT)
