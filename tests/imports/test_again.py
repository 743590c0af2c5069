"""The same file again by another mapping, another file of the same name, and values that are easily misread."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.identity import content_id
from polyculture.cache.outcome import silent
from polyculture.cache.parquet import read_rows
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import RESPONSES
from polyculture.cache.shards import committed_parts
from polyculture.imports.mapping import find_mapping
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
    with pytest.raises(NoTextError, match=r"in this spelling.*ISO 3166"):
        reader.country("Narnia")
    with pytest.raises(NoTextError, match=r"in this spelling.*known codes are ar, de"):
        reader.language("Englisch")


def test_seeds_of_tables_are_read_and_unreadable_ones_are_counted(tmp_path: Path) -> None:
    lines = ["text,seed", "Pizza.,1.0", "Rice.,-2", "Soup.,1.5", "Meat.,NA", "Tea.,", "Ramen.,one"]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    done = polyculture("import", "a.csv", "--as", "exp.toml", "--language", "=en", *MORE, cwd=tmp_path)
    assert "2 texts have a seed that is no whole number" in done.stderr
    run = RunFolder(tmp_path / "runs" / "exp")
    rows = [row for part in committed_parts(run, RESPONSES) for row in read_rows(part, RESPONSES).to_pylist()]
    seeds = {row["text"]: (row["seed"], row["note"] is not None) for row in rows}
    assert seeds == {
        **{"Pizza.": (1, False), "Rice.": (-2, False), "Soup.": (None, True)},
        **{"Meat.": (None, False), "Tea.": (None, False), "Ramen.": (None, True)},
    }


def test_known_conditions_are_read_in_any_case_and_ids_stay(tmp_path: Path) -> None:
    reader = TextReader(read_catalog())
    values = {"text": "Pizza.", "language": "en", "topic": "food", "model": "m"}
    written = {"Explicit": "explicit", "NEUTRAL": "neutral", "Implicit-Male": "implicit_male", "My Own": "My Own"}
    found = {label: reader.read({**values, "condition": label}) for label in written}
    assert {label: text.condition for label, text in found.items()} == written
    (tmp_path / "a.csv").write_text("text,condition\nPizza.,Explicit\n", encoding="utf-8")
    run = RunFolder(tmp_path / "run")
    take(run, tmp_path / "a.csv", {"language": "=en"})
    (part,) = committed_parts(run, RESPONSES)
    (row,) = read_rows(part, RESPONSES).to_pylist()
    words = content_id("a.csv", "imported:m", "en", "food", "Explicit", None, None, "Pizza.")
    assert (row["condition"], row["response_id"]) == ("explicit", content_id("imported", words, 1))


def test_another_file_of_the_same_name_is_refused_and_is_whole_once_renamed(tmp_path: Path) -> None:
    for folder, texts in (("one", ["Pizza.", "Rice."]), ("two", ["Pizza.", "Soup."])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("\n".join(["text", *texts]), encoding="utf-8")
    words = ("--as", "exp.toml", "--language", "=en", *MORE)
    assert polyculture("import", "one/a.csv", *words, cwd=tmp_path).returncode == 0
    done = polyculture("import", "two/a.csv", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "rename one of the files" in done.stderr
    (tmp_path / "two" / "b.csv").write_bytes((tmp_path / "two" / "a.csv").read_bytes())
    done = polyculture("import", "two/b.csv", *words, cwd=tmp_path)
    assert "2 texts taken, 0 rows" in done.stderr
    run = RunFolder(tmp_path / "runs" / "exp")
    ids = [
        one for part in committed_parts(run, RESPONSES) for one in read_rows(part, RESPONSES)["response_id"].to_pylist()
    ]
    assert len(set(ids)) == len(ids) == 4
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "a.csv").write_text("text\nPizza.\nTea.\n", encoding="utf-8")
    done = polyculture("import", "three/a.csv", *words, "--add", cwd=tmp_path)
    assert done.returncode == 0
    assert "1 texts taken, 1 were there before" in done.stderr
    assert "these 1 count once" in done.stderr
