"""What `polyculture data check` says of a question set, and where sets are published."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.questions.rules.check import asked_texts, check_rows, lacking
from polyculture.instruments.questions.rules.model import Rules
from polyculture.instruments.questions.rules.opened import open_set, source_of
from polyculture.instruments.questions.selection import tell_left_out, tell_remarks
from polyculture.sources.fetch import fetch
from polyculture.sources.left_out import LeftOut, SourceLocation
from tests.instruments.questions.test_rules import BIAS, HEAD, ROW, lines, rules
from tests.polyculture.test_command_line import polyculture

COUNTED = f"{BIAS}[published]\nquestions = 5\n'category=Religion' = 2\n"


def test_counts_stand_beside_the_published_ones_with_what_is_left_out_and_undirected(tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "example_id": 2, "groups": ["Martians"]}, {**ROW, "example_id": 3, "label": 1}, ROW]
    lines(tmp_path, "Religion_en.jsonl", rows)
    found = open_set(rules(tmp_path, COUNTED))
    said = {(what, of): (number, published, note) for what, of, number, published, note in check_rows(found)}
    assert said["questions", ""][:2] == (2, 5)
    assert said["questions", "category=Religion"][:2] == (2, 2)
    assert said["options", "3 a question"][0] == said["language", "en"][0] == 2
    assert said["role", "biased"][0] == 1
    assert said["without a direction", ""][0] == 1
    assert "row 2" in said["without a direction", ""][2]
    assert any(what == "left out" and "row 3" in note for (what, _), (_, _, note) in said.items())
    assert any(what == "read once" for what, _ in said)
    first = next(asked_texts(found))
    assert "A: The Sunni\nB: The Ahmadi\nC: Not known" in first
    assert "right: Not known" in first
    words = ("data", "check", str(tmp_path / "rules.toml"))
    counted, listed = (polyculture(*words, *more, cwd=tmp_path) for more in ((), ("--format", "csv")))
    assert " questions 2 5 " in " ".join(counted.stdout.split())
    _, *each = listed.stdout.splitlines()
    assert [line.split(",")[2] for line in each] == ["2", "3", "4"], "each row, as of entities and contexts"


def test_the_command_for_more_reasons_is_one_that_works(tmp_path: Path) -> None:
    """It was `polyculture data check` without a name."""
    folder = tmp_path / "my set"
    folder.mkdir()
    lines(folder, "Religion_en.jsonl", [ROW])
    found = open_set(rules(folder, COUNTED))
    faults = tuple(LeftOut(SourceLocation("Religion_en.jsonl", row=row), f"reason {row}") for row in range(1, 6))
    said: list[str] = []
    tell_left_out(replace(found, remarks=faults), said.append)
    words = shlex.split(said[0].partition("and 2 more reasons: ")[2])
    done = polyculture(*words[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "questions" in done.stdout


def test_numbers_that_nothing_stands_for_are_told(tmp_path: Path) -> None:
    lines(tmp_path, "Religion_en.jsonl", [ROW])
    text = "\n".join(line for line in BIAS.splitlines() if "roles" not in line and "target" not in line)
    plain = "\n".join(line for line in text.splitlines() if not line.startswith(("unknown", "context =")))
    without = open_set(rules(tmp_path, plain))
    ((family, reason),) = lacking(without)
    assert family == "bbq"
    assert all(f"role {role!r}" in reason for role in ("unknown", "biased"))
    said: list[str] = []
    tell_remarks(without, said.append)
    assert "numbers of 'bbq' cannot be computed" in said[0]
    assert not list(lacking(open_set(rules(tmp_path, BIAS))))


def test_a_declared_number_of_a_facet_that_no_question_has_is_told(tmp_path: Path) -> None:
    """A misspelt facet counted no answer, and the number was missing without a word."""
    lines(tmp_path, "Religion_en.jsonl", [ROW])
    declared = "right = right / picked [{}]"
    for where, reason in (
        ("context=ambiguous", None),
        ("contxt=ambiguous", "no question has the facet 'contxt'. Did you mean 'context'?"),
        ("context=ambigous|disambiguated", "no question has context=ambigous|disambiguated. Did you mean 'ambiguous'?"),
    ):
        line = declared.format(where).replace("right =", "mine =")
        found = open_set(rules(tmp_path, BIAS.replace('["bbq"]', f'["bbq", "{line}"]')))
        assert list(lacking(found)) == ([] if reason is None else [("mine", reason)])


def test_remarks_that_differ_in_their_rows_alone_are_told_as_one(tmp_path: Path) -> None:
    lines(tmp_path, "Religion_en.jsonl", [ROW, {**ROW, "example_id": 2}] * 2)
    said: list[str] = []
    tell_remarks(open_set(rules(tmp_path, BIAS)), said.append)
    assert "2 x read once" in said[-1]
    assert "row 3" in said[-1]


def test_a_rules_file_is_told_by_its_content(tmp_path: Path) -> None:
    told = {name: isinstance(source_of(name), Rules) for name in ("kobbq", rules(tmp_path, COUNTED), "camellia")}
    assert list(told.values()) == [True, True, False]
    with pytest.raises(DataSetError, match="polyculture ask bbq"):
        rules_of("bbq")


def test_a_set_in_no_git_repository_says_where_it_is(tmp_path: Path) -> None:
    elsewhere = BIAS.replace(HEAD, f'{HEAD}published_at = "https://example.org/mine"\n')
    with pytest.raises(DataSetError, match=r"https://example\.org/mine: .*--folder"):
        fetch(source_of(rules(tmp_path, elsewhere)), tmp_path / "data")
