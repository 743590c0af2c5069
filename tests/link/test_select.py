"""`polyculture wikidata starter`: what it takes from a snapshot, what it leaves out, that the bytes are the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from polyculture.experiment.snapshots import find_snapshot
from tests.link_world import index_of, item, link_one
from tests.polyculture.test_command_line import one_line, polyculture


def named(word: str, languages: str = "en de es", **others: str) -> dict[str, str]:
    return dict.fromkeys(languages.split(), word) | others


ITEMS = [
    item("Q10", named("goulash"), {"de": ["Puszta-Topf"]}, 9, P31="Q746549", P495="Q28"),
    item("Q11", named("knedlo", "en de"), sitelinks=50, P31="Q746549"),  # names in two languages
    item("Q12", named("Zebra", **{"is": "sebra"}), sitelinks=2, P31="Q2088357"),  # a band
    item("Q13", {"en": "zebra"}, sitelinks=90, P31="Q16521"),
    item("Q14", named("Anna Okoye"), sitelinks=70, P31="Q5"),  # neither occupation nor work
    item("Q15", named("Ben Achebe"), sitelinks=3, P31="Q5", P27="Q1033"),
    item("Q16", named("The Long Road"), sitelinks=4, P31="Q7725634", P50="Q15"),
    item("Q17", named("Cem Kaya"), sitelinks=3, P31="Q5", P106="Q36834"),
    item("Q18", named("oil cake"), sitelinks=8, P31="Q2095"),
    item("Q28", named("Hungary", "en de es ja"), P31="Q6256"),
    item("Q19", named("Live"), sitelinks=6, P31="Q2188189"),
    item("Q1033", {"en": "Nigeria"}),
    item("Q20", named("paprikash"), {"en": ["zebra"]}, 1, P31="Q21"),
    item("Q21", {"en": "stew", "de": "Eintopf"}, P279="Q746549"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of(tmp_path_factory.mktemp("index"), ITEMS).path


def made(index: Path, out: Path, *options: str) -> str:
    done = polyculture("wikidata", "starter", index, "-o", out, *options, cwd=out.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def roles(folder: Path) -> dict[int, str]:
    return {row["item"]: row["role"] for row in pq.read_table(folder / "items.parquet").to_pylist()}


def names(folder: Path, number: int) -> set[str]:
    rows = pq.read_table(folder / "names.parquet").to_pylist()
    return {f"{row['language']}:{row['name']}" for row in rows if row["item"] == number}


def test_items_of_the_topics_with_names_in_enough_languages_are_taken(index: Path, tmp_path: Path) -> None:
    printed = made(index, tmp_path / "starter")
    taken = roles(tmp_path / "starter")
    entities = {number for number, role in taken.items() if role == "entity"}
    assert entities == {10, 15, 16, 17, 18, 20}
    assert (taken[28], taken[21], taken[1033]) == ("country", "class", "country")
    assert "Wrote " in printed
    assert "left out, persons without an occupation or a work: 1" in printed
    assert names(tmp_path / "starter", 10) == {"en:goulash", "de:goulash", "es:goulash", "de:Puszta-Topf"}
    assert names(tmp_path / "starter", 21) == {"en:stew"}  # of a class its label alone


def test_names_that_mean_something_else_are_left_out(index: Path, tmp_path: Path) -> None:
    """The band loses its name in English to the animal, and so has names in too few languages; *live* is a word."""
    made(index, tmp_path / "starter")
    assert not {12, 19} & roles(tmp_path / "starter").keys()
    assert names(tmp_path / "starter", 20) == {"en:paprikash", "de:paprikash", "es:paprikash"}
    made(index, tmp_path / "two", "--languages", "2")
    assert names(tmp_path / "two", 12) == {"de:Zebra", "es:Zebra"}


def test_the_best_known_come_first_and_what_the_limit_cuts_is_counted(index: Path, tmp_path: Path) -> None:
    printed = made(index, tmp_path / "some", "--items", "2")
    assert {number for number, role in roles(tmp_path / "some").items() if role == "entity"} == {10}
    assert "left out, beyond the first: 6" in printed


@pytest.mark.usefixtures("all_threads")
def test_the_same_snapshot_gives_the_same_bytes(index: Path, tmp_path: Path) -> None:
    made(index, tmp_path / "one")
    made(index, tmp_path / "two")
    first, second = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert first == second
    assert set(first) == {"manifest.json", "items.parquet", "names.parquet", "claims.parquet"}


def test_an_experiment_links_with_the_folder(index: Path, tmp_path: Path) -> None:
    made(index, tmp_path / "starter")
    found = link_one(find_snapshot("starter", tmp_path), "de", "food", "dish", "Puszta-Topf")
    assert found["status"] == "no candidate"  # the word names the bundled one
    own = link_one(find_snapshot("./starter", tmp_path), "de", "food", "dish", "Puszta-Topf")
    assert (own["qid"], own["status"]) == ("Q10", "linked")


def test_mistakes_are_told_in_a_line(index: Path, tmp_path: Path) -> None:
    made(index, tmp_path / "starter")
    again = ("wikidata", "starter", index, "-o", "starter")
    assert "is there already" in one_line(polyculture(*again, cwd=tmp_path))
    assert "has no item of a topic" in one_line(polyculture(*again, "--replace", "--languages", "9", cwd=tmp_path))
    (tmp_path / "starter" / "claims.parquet").unlink()
    lacking = polyculture("wikidata", "audit", "./starter", cwd=tmp_path)
    assert "claims.parquet: is no table of a starter" in one_line(lacking)
