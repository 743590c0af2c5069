"""The same file again by another mapping, another file of the same name, and values that are easily misread."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import StoreError, UserError
from polyculture.cache.identity import content_id
from polyculture.cache.store.inventory import recorded_parts
from polyculture.cache.store.parquet import write_parquet
from polyculture.cache.store.run_folder import RunFolder, incoming_folder, sealed_import
from polyculture.cache.store.schema import RESPONSES
from polyculture.experiment.imported import read_imported
from polyculture.imports.incoming import unreadable
from polyculture.imports.mapping import Columns
from polyculture.imports.text import NoTextError, TextReader
from polyculture.running.importing import ImportRequest, import_file
from polyculture.sources.record import Record
from tests.imports.conftest import stored, take, write_lines
from tests.polyculture.test_command_line import polyculture
from tests.polyculture.test_retry_failed import answer
from tests.servers import Reply, StubServer
from tests.stored import rows

MORE = ("topic==food", "model==m")
FIRST = {"text": "text", "topic": "=food", "model": "=m", "language": "=en"}
WANTED = ImportRequest(columns=FIRST)


def part_of(run: RunFolder, source: str) -> Path:
    """The part of responses that an imported file brought."""
    return next(path for path, _, file in recorded_parts(run, RESPONSES) if file == source)


def _imported(folder: Path, base: Path) -> None:
    """Three files of a text by two mappings, of which two are in the run `base`."""
    for name in ("a", "b", "c"):
        (folder / f"{name}.csv").write_text(f"text,more\n{name} one,{name} two\n", encoding="utf-8")
    for name in ("a", "b"):
        take(RunFolder(base), folder / f"{name}.csv", FIRST)


def test_the_same_file_by_another_mapping_replaces_once_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("ja,en\n寿司が好き。,I like sushi.\n", encoding="utf-8")
    ja, en = ("text=ja", "language==ja"), ("text=en", "language==en")
    done = polyculture("import", "wide.csv", "--as", "exp.toml", *ja, *MORE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = polyculture("import", "wide.csv", "--as", "exp.toml", *en, *MORE, cwd=tmp_path)
    assert done.returncode == 2
    assert "by other columns; texts: 1" in done.stderr
    done = polyculture("import", "wide.csv", "--as", "exp.toml", *en, *MORE, "--replace", cwd=tmp_path)
    assert "1 text taken, in place of 1" in done.stderr
    assert [(row["text"], row["language"]) for row in stored(RunFolder(tmp_path / "runs" / "exp"))] == [
        ("I like sushi.", "en")
    ]
    assert 'languages = ["en"]' in (tmp_path / "exp.toml").read_text(encoding="utf-8")


def test_what_replaces_leaves_other_files_and_their_numbers_without_gaps(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    for name, texts in (("a", ["one", "two"]), ("b", ["three", "four"]), ("c", ["five"])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["text,more", *(f"{text},x" for text in texts)]), "utf-8")
        take(run, tmp_path / f"{name}.csv")
    told = {"text": "text", "topic": "=food", "model": "=m", "language": "=en", "seed": "=7"}
    assert take(run, tmp_path / "b.csv", told, again=lambda _: True).replaced == 2
    rows = sorted(stored(run), key=lambda row: row["sample"])
    assert [row["sample"] for row in rows] == [0, 1, 2, 3, 4]
    assert {row["text"]: row["seed"] for row in rows} == {"one": None, "two": None, "five": None, "three": 7, "four": 7}
    with pytest.raises(UserError, match="by other columns"):
        take(run, tmp_path / "b.csv")


def test_a_country_na_is_not_namibia_in_silence(tmp_path: Path) -> None:
    lines = ["text,country", "Pizza.,IT", "Rice.,NA", "Soup.,na", "Meat.,NAM", "Tea.,"]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UserError, match="2 of 5 rows cannot be taken: 2 because NA may be Namibia"):
        take(RunFolder(tmp_path / "run"), tmp_path / "a.csv")
    taken = take(RunFolder(tmp_path / "run"), tmp_path / "a.csv", skip_rows=True)
    assert (taken.file.texts, taken.file.failed) == (3, 2)
    assert taken.reasons == {"NA may be Namibia or R's missing value: write NAM or leave it empty": 2}


def test_countries_are_known_by_long_codes_and_names_and_others_have_a_remedy() -> None:
    reader = TextReader(read_catalog(), Columns({}))
    written = {
        "NAM": "NA",
        "bra": "BR",
        "日本": "JP",
        "Great Britain": "GB",
        "Deutschland": "DE",
        "Côte d’Ivoire": "CI",
    }
    assert {name: reader.country(name) for name in written} == written
    with pytest.raises(NoTextError, match=r"ISO 3166"):
        reader.country("Narnia")
    with pytest.raises(NoTextError, match=r"known are am, ar, bn"):
        reader.language("Elvish")


def test_a_misspelled_value_is_met_with_what_was_meant() -> None:
    reader = TextReader(read_catalog(), Columns({}))
    for read_value, written, meant in (
        (reader.topic, "foood", "Food"), (reader.language, "engish", "English"), (reader.country, "Germny", "Germany"),
    ):  # fmt: skip
        with pytest.raises(NoTextError, match=f"did you mean '{meant}'"):
            read_value(written)
        with pytest.raises(NoTextError) as fault:
            read_value("Xyzzyx")
        assert "did you mean" not in str(fault.value)


def test_seeds_of_tables_are_read_and_unreadable_ones_are_counted(tmp_path: Path) -> None:
    lines = ["text,seed", "Pizza.,1.0", "Rice.,-2", "Soup.,1.5", "Meat.,NA", "Tea.,", "Ramen.,one"]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    run = RunFolder(tmp_path / "run")
    assert take(run, tmp_path / "a.csv").unread_seeds == 2
    seeds = {row["text"]: (row["seed"], row["note"] is not None) for row in stored(run)}
    assert seeds == {
        **{"Pizza.": (1, False), "Rice.": (-2, False), "Soup.": (None, True)},
        **{"Meat.": (None, False), "Tea.": (None, False), "Ramen.": (None, True)},
    }


def test_known_conditions_are_read_in_any_case_and_ids_stay(tmp_path: Path) -> None:
    values = {"text": "Pizza.", "language": "en", "topic": "food", "model": "m"}
    written = {"Explicit": "explicit", "NEUTRAL": "neutral", "Implicit-Male": "implicit_male", "My Own": "My Own"}
    reader = TextReader(read_catalog(), Columns({name: name for name in (*values, "condition")}))
    found = {label: reader.read(Record("1", {**values, "condition": label})) for label in written}
    assert {label: text.condition for label, text in found.items()} == written
    (tmp_path / "a.csv").write_text("text,condition\nPizza.,Explicit\n", encoding="utf-8")
    run = RunFolder(tmp_path / "run")
    take(run, tmp_path / "a.csv")
    (row,) = stored(run)
    words = content_id("a.csv", "imported:m", "en", "food", "Explicit", None, None, "Pizza.")
    assert (row["condition"], row["response_id"]) == ("explicit", content_id("imported", words, 1))


def test_another_file_of_the_same_name_is_refused_and_is_whole_once_renamed(tmp_path: Path) -> None:
    for folder, texts in (("one", ["Pizza.", "Rice."]), ("two", ["Pizza.", "Soup."])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("\n".join(["text", *texts]), encoding="utf-8")
    words = ("--as", "exp.toml", "language==en", *MORE)
    assert polyculture("import", "one/a.csv", *words, cwd=tmp_path).returncode == 0
    done = polyculture("import", "two/a.csv", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "rename one of the two" in done.stderr
    (tmp_path / "two" / "b.csv").write_bytes((tmp_path / "two" / "a.csv").read_bytes())
    done = polyculture("import", "two/b.csv", *words, cwd=tmp_path)
    assert "2 texts taken, 0 rows" in done.stderr
    run = RunFolder(tmp_path / "runs" / "exp")
    ids = [row["response_id"] for row in stored(run)]
    assert len(set(ids)) == len(ids) == 4


def _killed_at_write(step: int, root: Path, file: Path, told: dict[str, str]) -> None:
    """Replaces an import in a process that ends with SIGKILL before its flush or renaming of a file number `step`."""
    writes = 0

    def killing(real: Callable[..., None]) -> Callable[..., None]:
        def write(*words: Any) -> None:
            nonlocal writes
            writes += 1
            if writes > step:
                os.kill(os.getpid(), signal.SIGKILL)
            real(*words)

        return write

    os.fsync, os.replace = killing(os.fsync), killing(os.replace)
    take(RunFolder(root), file, told, again=lambda _: True)


def _all_writes(folder: Path, file: Path, told: dict[str, str], base: Path) -> Iterator[tuple[RunFolder, int, bool]]:
    """A run per write of an import, which was killed before that write; and last a run in which the import ended."""
    context, step = get_context("forkserver"), 0
    context.set_forkserver_preload(["tests.imports.test_again"])
    while True:
        root = folder / f"run-{step}"
        shutil.copytree(base, root)
        process = context.Process(target=_killed_at_write, args=(step, root, file, told))
        process.start()
        process.join()
        run = RunFolder(root)
        moving = sealed_import(run).exists()
        if moving:
            with pytest.raises(StoreError, match="moved into"):
                read_imported(run)
        yield run, step, moving
        if process.exitcode == 0:
            return
        assert process.exitcode == -signal.SIGKILL
        step += 1


def test_a_replacement_that_is_killed_at_any_write_is_there_as_before_or_as_after(tmp_path: Path) -> None:
    """Whichever file is imported next: a's texts went without a word once where that was b."""
    base, told, found, step = tmp_path / "base", {**FIRST, "text": "more"}, set[str](), 0
    _imported(tmp_path, base)
    for run, step, moving in _all_writes(tmp_path, tmp_path / "b.csv", told, base):
        take(run, tmp_path / "c.csv", FIRST)
        texts = {row["text"] for row in stored(run)}
        assert texts in ({"a one", "b one", "c one"}, {"a one", "b two", "c one"}), step
        assert "b two" in texts or not moving, step
        found |= texts
        assert sum(read_imported(run).texts.values()) == 3
        assert sorted(row["sample"] for row in stored(run)) == [0, 1, 2]
        assert not incoming_folder(run).exists()
    assert step > 24
    assert {"b one", "b two"} <= found


def test_a_mending_that_is_killed_at_any_write_is_ended_by_the_same_command(tmp_path: Path) -> None:
    base, step = tmp_path / "base", 0
    _imported(tmp_path, base)
    before = sorted(stored(RunFolder(base)), key=lambda row: row["sample"])
    part = part_of(RunFolder(base), "b.csv")
    part.write_bytes(part.read_bytes()[:-9])
    for run, step, moving in _all_writes(tmp_path, tmp_path / "b.csv", FIRST, base):
        if not moving:  # either all is mended, or the damage is named
            assert [one.source for one in unreadable(run).values()] in ([], ["b.csv"])
        take(run, tmp_path / "b.csv", FIRST)
        rows = sorted(stored(run), key=lambda row: row["sample"])
        assert [{**row, "requested_at": None} for row in rows] == [{**row, "requested_at": None} for row in before]
        assert sum(read_imported(run).texts.values()) == 2
        assert not incoming_folder(run).exists()
        assert not unreadable(run), step
    assert step > 16


def _flipped(part: Path, column: str) -> None:
    """A byte in the last page of a column: headers of pages have none whose change would be seen."""
    group = pq.ParquetFile(part).metadata.row_group(0)
    chunks = {chunk.path_in_schema: chunk for chunk in map(group.column, range(group.num_columns))}
    data, chunk = bytearray(part.read_bytes()), chunks[column]
    begin = chunk.dictionary_page_offset or chunk.data_page_offset
    data[begin + chunk.total_compressed_size - 3] ^= 0x10
    part.write_bytes(data)


def _linked(part: Path) -> None:
    part.rename(part.parents[6] / "elsewhere.parquet")
    part.symlink_to(part.parents[6] / "elsewhere.parquet")


def _other_rows(part: Path) -> None:
    write_parquet(pq.read_table(part).slice(0, 7), part)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "its folder gone": lambda part: shutil.rmtree(part.parent),  # with the other file's part
    "all folders gone": lambda part: shutil.rmtree(part.parents[3]),
    "cut": lambda part: part.write_bytes(part.read_bytes()[:-9]),
    "half": lambda part: part.write_bytes(part.read_bytes()[: part.stat().st_size // 2]),
    "empty": lambda part: part.write_bytes(b""),
    "zeros": lambda part: part.write_bytes(bytes(part.stat().st_size)),
    "a byte in its ids": lambda part: _flipped(part, "response_id"),
    "a byte in a column": lambda part: _flipped(part, "text"),
    "a link out of the run": _linked,
    "a link to nothing": lambda part: (part.unlink(), part.symlink_to("nowhere.parquet")),
    "other rows": _other_rows,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_part_that_cannot_be_read_is_named_and_made_again_by_its_file(damage: str, tmp_path: Path) -> None:
    """`import` used to say that there was nothing to do, with `--replace`, too."""
    run, names = RunFolder(tmp_path / "runs" / "exp"), ("a.jsonl", "b.jsonl")
    for name in names:
        write_lines(tmp_path / name, *({"text": f"We ate {name} on day {day}.", "id": f"r{day}"} for day in range(30)))
        assert import_file(tmp_path / name, tmp_path / "exp.toml", None, WANTED).file.texts == 30
    before, part = {row["response_id"]: row["text"] for row in stored(run)}, part_of(run, "a.jsonl")
    DAMAGE[damage](part)
    (tmp_path / "c.csv").write_text("text\nSoup.\n", encoding="utf-8")
    with pytest.raises(StoreError) as fault:  # nobody knows how many texts its prompts have
        import_file(tmp_path / "c.csv", tmp_path / "exp.toml", None, WANTED)
    assert fault.value.where == part
    assert "import a.jsonl again" in str(fault.value.remedy)
    taken = import_file(tmp_path / "a.jsonl", tmp_path / "exp.toml", None, WANTED)
    assert (taken.file.texts, taken.replaced) == (30, 30)
    assert [(one.path, one.rows, one.source) for one in taken.mended][:1] == [(part, 30, "a.jsonl")]
    if damage.endswith(" gone"):
        import_file(tmp_path / "b.jsonl", tmp_path / "exp.toml", None, WANTED)
    assert {row["response_id"]: row["text"] for row in stored(run)} == before
    assert sorted(row["sample"] for row in stored(run)) == list(range(60))
    assert not unreadable(run)
    assert rows(tmp_path / "exp.toml", "SELECT count(*) FROM responses") == [(60,)]
    assert (tmp_path / "elsewhere.parquet").exists() == (damage == "a link out of the run")


def test_a_folder_that_is_elsewhere_is_not_written_to(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "runs" / "exp")
    write_lines(tmp_path / "a.jsonl", {"text": "We ate ramen."})
    import_file(tmp_path / "a.jsonl", tmp_path / "exp.toml", None, WANTED)
    part = part_of(run, "a.jsonl")
    shutil.move(run.root / "responses", tmp_path / "elsewhere")
    (run.root / "responses").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="out of the run's folder") as fault:
        import_file(tmp_path / "a.jsonl", tmp_path / "exp.toml", None, WANTED)
    assert fault.value.remedy == "Move the folder itself to this place."
    assert part.exists()


def test_every_command_names_a_lost_part_and_the_import_that_brings_it_back(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", *({"text": f"We ate ramen on day {day}.", "id": f"r{day}"} for day in range(30)))
    words = ("import", "a.jsonl", "--as", "exp.toml", "language==en", *MORE)
    assert polyculture(*words, cwd=tmp_path).returncode == 0
    run = RunFolder(tmp_path / "runs" / "exp")
    part = part_of(run, "a.jsonl")
    for lose in (Path.unlink, DAMAGE["cut"]):
        lose(part)
        for command in (("run", "exp.toml"), ("sql", "exp.toml", "SELECT text FROM responses"), ("status", "exp.toml")):
            done = polyculture(*command, cwd=tmp_path)
            assert done.returncode == 2, command
            assert str(part) in done.stderr.replace(str(tmp_path / "runs"), str(run.root.parent)), command
            assert "import a.jsonl again" in done.stderr
            assert "elete" not in done.stderr
        done = polyculture(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert str(part) in done.stderr
        assert "30 texts taken, in place of 30" in done.stderr
        assert "30" in polyculture("sql", "exp.toml", "SELECT count(*) FROM responses", cwd=tmp_path).stdout
    DAMAGE["cut"](part)
    write_lines(tmp_path / "a.jsonl", {"text": "We ate tacos."})
    done = polyculture(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert str(part) in done.stderr
    assert "--replace" in done.stderr
    assert polyculture(*words, "--replace", cwd=tmp_path).returncode == 0
    assert [row["text"] for row in stored(run)] == ["We ate tacos."]


def test_what_an_extractor_said_of_equal_texts_is_paid_once_whatever_replaces(tmp_path: Path) -> None:
    file, texts = tmp_path / "exp.toml", [f"We ate ramen on day {day}." for day in range(8)]

    def asked(*texts: str) -> list[str]:
        """The texts that the extractor is asked about, once a request, after a file with these has been imported."""
        before = len(server.bodies)
        write_lines(tmp_path / "a.jsonl", *({"text": text, "id": f"r{row}"} for row, text in enumerate(texts)))
        done = polyculture("import", "a.jsonl", "--as", "exp.toml", "--replace", "language==en", *MORE, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        setup = re.sub("(?m)^with = .*", 'with = "openai:x"', file.read_text(encoding="utf-8"))
        options = f'[options."openai:x"]\nbase_url = "{server.url}"\n'
        file.write_text(setup if options in setup else setup + options, encoding="utf-8")
        done = polyculture("run", "--only", "extract", "exp.toml", cwd=tmp_path)
        assert done.returncode in (0, 4), done.stderr
        about = [" ".join(turn["content"] for turn in body["messages"][-3:]) for body in server.bodies[before:]]
        return [text for text in texts for one in about if text in one]

    with StubServer(behaviour=says_ramen) as server:
        assert asked(*texts[:4]) == texts[:4]
        odd = ["Nothing."] * 3  # no answer about it is of use
        assert asked("Nothing.", *texts) == [*odd, *texts[4:]]  # and the ids are of other texts now
        assert asked(*texts[2:6]) == []
        joined = "FROM extractions AS e JOIN responses AS r USING (response_id)"
        found = f"SELECT r.text, r.sample = e.sample, e.status, e.mentions {joined}"
        assert sorted(rows(file, found)) == [(text, True, "ok", 1) for text in texts[2:6]]
        assert asked("Nothing.", *texts) == []
    assert sorted(rows(file, found)) == [("Nothing.", True, "failed", 0), *((text, True, "ok", 1) for text in texts)]
    assert rows(file, "SELECT count(*) FROM mentions") == [(8,)]
    assert rows(file, "SELECT count(*) FROM purchases WHERE stage = 'extract'") == [(8 + len(odd),)]


def says_ramen(body: Mapping[str, Any], _: int) -> Reply:
    item = {"text": "ramen", "kind": "dish", "name": "ramen", "english": "ramen"}
    is_odd = any("Nothing." in turn["content"] for turn in body["messages"][-3:])
    return answer("no JSON" if is_odd else json.dumps({"mentions": [item]}))
