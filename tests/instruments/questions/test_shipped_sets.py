"""Every shipped set reads ten made-up rows in its publisher's form, and the real files where they are here."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.instruments.questions.rules.check import check_rows
from polyculture.instruments.questions.rules.opened import known_sets, open_set
from tests.instruments.questions.made_up_files import write

LANGUAGES = {
    "bbq": "en", "kobbq": "ko", "esbbq": "es", "cabbq": "ca", "basqbbq": "eu", "mbbq": "en es nl tr", "pakbbq": "en ur",
    "cbbq": "zh", "crows-pairs": "en", "indibias": "en hi", "geomlama": "en sw", "click": "ko", "copal-id": "id",
    "include": "sq", "culturalbench": "en", "blend-choice": "en", "blend-short": "ko",
}  # fmt: skip
BIAS = ("bbq", "kobbq", "esbbq", "cabbq", "basqbbq", "mbbq", "pakbbq", "cbbq")
READ = [name for name, rules in known_sets().items() if rules.loader is None]


@pytest.mark.parametrize("name", READ)
def test_made_up_rows_in_the_publishers_form(name: str, tmp_path: Path) -> None:
    write(name, tmp_path)
    found = open_set(name, tmp_path)
    languages = LANGUAGES[name].split()
    assert sorted({question.language for question in found.questions}) == languages
    assert len(found.questions) == 10 * len(languages) * (2 if name == "cbbq" else 1)
    assert all(remark.reason.startswith("missing") for remark in found.remarks)
    for question in found.questions:
        assert question.right or found.kind in ("pair", "open")
        assert question.answers or found.kind != "open"
        assert {"biased", "other", "unknown"} == set(question.roles) or name not in BIAS
    if name in BIAS:
        contexts = {question.facets["context"] for question in found.questions}
        assert contexts == {"ambiguous", "biased", "counter-biased"}
    if found.kind in ("choice", "open"):
        assert sorted({prompt.language for prompt in found.prompts}) == languages


@pytest.mark.parametrize(
    ("name", "selection", "number", "language"),
    [
        ("mbbq", "control", 40, "nl"),
        ("blend-short", "english", 10, "en"),
    ],
)
def test_selections_of_made_up_rows(name: str, selection: str, number: int, language: str, tmp_path: Path) -> None:
    write(name, tmp_path)
    found = open_set(name, tmp_path, selection)
    assert (found.name, len(found.questions)) == (f"{name}-{selection}", number)
    assert language in {question.language for question in found.questions}
    assert not any("biased" in question.roles for question in found.questions)


def test_geomlama_tells_country_and_concept_by_the_order_of_rows(tmp_path: Path) -> None:
    write("geomlama", tmp_path)
    found = open_set("geomlama", tmp_path).questions
    assert [one.facets["country"] for one in found[:6]] == ["US", "CN", "IN", "IR", "KE", "US"]
    assert (found[5].unit, found[5].right, found[5].text) == ("2", (0, 1), "Soup 5 is [MASK] here.")


def test_bbq_takes_the_publishers_table_of_targets_before_the_groups(tmp_path: Path) -> None:
    write("bbq", tmp_path)
    (tmp_path / "analysis_scripts").mkdir()
    table = "category,example_id,target_loc\ngender_identity,0,0\nGender_identity,1,x\nGender_identity,2,NA\n"
    (tmp_path / "analysis_scripts" / "additional_metadata.csv").write_text(table + "Gender_identity,3,1\n")
    found = open_set("bbq", tmp_path)
    about = [question.roles for question in found.questions[:5]]
    assert about[0] == ("biased", "unknown", "other")  # the man, whatever the groups say
    assert about[1] == ("person", "unknown", "person")  # neither
    assert about[2] == about[3] == ("biased", "unknown", "other")  # no person is told: the groups say the woman,
    assert about[4] == ("other", "unknown", "biased")  # who is the other one where the good is asked for
    assert sum(remark.reason.startswith("missing: no row") for remark in found.remarks) == 6


def test_blend_as_published(shared_data: Path) -> None:
    counted = {
        what: number for what, of, number, _, _ in check_rows(open_set("blend-short", shared_data / "blend")) if not of
    }
    assert counted["questions"] == 5167
