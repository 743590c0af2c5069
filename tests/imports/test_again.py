"""The same file again by another mapping, another file of the same name, and values that are easily misread."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import UserError
from polyculture.cache.outcome import silent
from polyculture.cache.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import IMPORTED_FILES, ImportedFile
from polyculture.imports.mapping import PARTS, find_mapping
from polyculture.imports.readers import find_reader
from polyculture.imports.record import Record
from polyculture.imports.taking import Taken, take_file
from polyculture.imports.text import NoTextError, TextReader
from tests.polyculture.test_command_line import polyculture

MORE = ("--topic", "=food", "--model", "=m")


def take(run: RunFolder, file: Path, told: dict[str, str], parts: str | None = None, *, add: bool = False) -> Taken:
    reader = find_reader(file)
    first = next(row for row in reader.read(file, None) if isinstance(row, Record))
    columns = find_mapping(first, {"model": "=m", "topic": "=food", **told}, {}, parts, file)
    return take_file(run, file, reader, columns, read_catalog(), silent, add=add)


def test_the_same_file_by_another_mapping_is_refused_and_the_remedy_works(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("ja,en\n寿司が好き。,I like sushi.\n", encoding="utf-8")
    ja, en = ("--text", "ja", "--language", "=ja"), ("--text", "en", "--language", "=en")
    done = polyculture("import", "wide.csv", "--as", "exp.toml", *ja, *MORE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for add in ((), ("--add",)):
        done = polyculture("import", "wide.csv", "--as", "exp.toml", *en, *MORE, *add, cwd=tmp_path)
        assert done.returncode == 2
        assert "by another mapping" in done.stderr
        assert "--as OTHER.toml" in done.stderr
    done = polyculture("import", "wide.csv", "--as", "other.toml", *en, *MORE, cwd=tmp_path)
    assert "1 texts taken" in done.stderr


def test_a_pattern_is_a_part_of_the_mapping_and_older_rows_lack_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,key\nPizza.,en|ja\n", encoding="utf-8")
    run = RunFolder(tmp_path / "run")
    one, other = "key={language}|{}", "key={}|{language}"
    assert not take(run, tmp_path / "a.csv", {}, one).before
    assert take(run, tmp_path / "a.csv", {}, one).before
    with pytest.raises(UserError, match="another mapping"):
        take(run, tmp_path / "a.csv", {}, other)
    path = run.table(IMPORTED_FILES.name)
    (row,) = read_rows(path, IMPORTED_FILES).to_pylist()
    columns = {name: column for name, column in json.loads(row["columns"]).items() if name != PARTS}
    older = ImportedFile(**{**row, "columns": json.dumps(columns)})
    write_parquet(objects_to_table(IMPORTED_FILES, [older]), path)
    assert take(run, tmp_path / "a.csv", {}, one).before


def test_a_country_na_is_not_namibia_in_silence(tmp_path: Path) -> None:
    lines = ["text,country", "Pizza.,IT", "Rice.,NA", "Soup.,na", "Meat.,NAM", "Tea.,"]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    taken = take(RunFolder(tmp_path / "run"), tmp_path / "a.csv", {"language": "=en"})
    assert (taken.file.texts, taken.file.failed) == (3, 2)
    assert taken.reasons == {"NA may be Namibia or R's missing value: write NAM or leave it empty": 2}


def test_countries_are_known_by_long_codes_and_names_and_others_have_a_remedy() -> None:
    reader = TextReader(read_catalog())
    written = {
        "NAM": "NA",
        "bra": "BR",
        "日本": "JP",
        "Great Britain": "GB",
        "Deutschland": "DE",
        "Côte d’Ivoire": "CI",
    }
    assert {name: reader.country(name) for name in written} == written
    with pytest.raises(NoTextError, match=r"in this spelling .*ISO 3166"):
        reader.country("Narnia")
    with pytest.raises(NoTextError, match=r"in this spelling .*known codes are ar, de"):
        reader.language("Englisch")
