"""Every shipped set reads ten made-up rows in its publisher's form, up to its numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polyculture.instruments.questions.rules.opened import SHELF, open_set
from tests.instruments.questions.made_up_files import write
from tests.polyculture.test_command_line import polyculture
from tests.stored import rows

LANGUAGES = {
    "bbq": "en", "kobbq": "ko", "esbbq": "es", "cabbq": "ca", "basqbbq": "eu", "mbbq": "en es nl tr", "pakbbq": "en ur",
    "cbbq": "zh", "crows-pairs": "en", "indibias": "en hi", "geomlama": "en sw", "click": "ko", "copal-id": "id",
    "include": "sq", "culturalbench": "en", "blend-choice": "en", "blend-short": "ko",
    "eloquent": "en uk", "blend": "en", "culturescope": "en",
}  # fmt: skip
BIAS = ("bbq", "kobbq", "esbbq", "cabbq", "basqbbq", "mbbq", "pakbbq", "cbbq")
READ = [name for name, rules in SHELF.known.items() if rules.loader is None and not rules.files_of]


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
        assert question.answers or found.kind != "open" or name == "eloquent"
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


def test_every_spelling_of_an_answer_has_its_votes_and_few_words_of_a_row_leave_it_out(tmp_path: Path) -> None:
    write("blend-short", tmp_path)
    file = tmp_path / "data" / "annotations" / "South_Korea_data.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    told["a-0"]["annotations"].append({"answers": ["물"], "en_answers": ["water"], "count": 1})
    told["a-1"]["annotations"] = []
    told["a-2"]["idks"] |= {"no-answer": 2, "not-applicable": 1}
    told["a-3"]["idks"]["idk"] = 5
    file.write_text(json.dumps(told), encoding="utf-8")
    found = open_set("blend-short", tmp_path)
    one = found.questions[0]
    assert dict(zip(one.answers, one.weights, strict=True)) == {"차": 3, "녹차": 3, "물": 1, "tea": 3, "water": 1}
    assert (one.name, one.facets["country"], one.facets["topic"]) == ("South_Korea-a-0", "KR", "Food")
    assert [remark.text for remark in found.remarks] == ["South_Korea-a-1", "South_Korea-a-2", "South_Korea-a-3"]


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


def test_all_sets_are_asked_read_and_measured_together(tmp_path: Path) -> None:
    for name in READ:
        folder = tmp_path / "cache" / "data" / name
        folder.mkdir(parents=True)
        write(name, folder)
    (tmp_path / "exp.toml").write_text('name = "all"\nmodels = ["mock:one"]\n', encoding="utf-8")
    done = polyculture("ask", ",".join(READ), "exp.toml", cwd=tmp_path, POLYCULTURE_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    read = rows(tmp_path, "SELECT DISTINCT dataset FROM question_readings WHERE reader <> '-'", "all")
    measured = rows(tmp_path, "SELECT DISTINCT dataset FROM numbers WHERE estimate IS NOT NULL", "all")
    assert sorted(name for (name,) in read) == sorted(READ)
    assert sorted(name for (name,) in measured) == sorted(READ)


@pytest.mark.parametrize(
    ("name", "unknown"), [("esbbq", "No hay suficiente información"), ("cabbq", "No hi ha prou informació")]
)
def test_unknown_is_asked_in_the_sets_language(name: str, unknown: str, tmp_path: Path) -> None:
    write(name, tmp_path)
    for question in open_set(name, tmp_path).questions:
        assert question.options[2] == unknown
        assert question.roles[2] == "unknown"
        assert "unknown" not in f"{question.context} {question.text} {question.options}"
