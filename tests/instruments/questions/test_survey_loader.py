"""The survey behind KoBBQ as questions: the people's votes, and our wordings of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.instruments.questions.loaders.kobbq_survey import TEMPLATES
from polyculture.instruments.questions.model import QuestionSet
from polyculture.instruments.questions.rules.opened import open_set

FILE = "KoBBQ_survey_result.json"


def survey(folder: Path, *entries: Any) -> QuestionSet:
    (folder / FILE).write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")
    return open_set("kobbq-survey", folder)


def entry(stereotype: str, **votes: int) -> dict[str, Any]:
    return {"category": "Age", "stereotype": stereotype, "survey_stats": votes}


def test_votes_are_weights_and_no_stereotype_is_the_last_option(tmp_path: Path) -> None:
    found = survey(tmp_path, entry("a", no_stereo=5, old=90, young=5), entry("b", p=60, q=50, r=9, no_stereo=10),
                   entry("c", old=70, young=60, no_stereo=0))  # fmt: skip
    assert [one.text for one in found.questions] == ["b", "c"]  # more answers than three, or more votes than people
    [left] = found.remarks
    assert left.reason == "left out: people chose one of two groups"
    one = found.questions[1]
    assert (one.options, one.roles) == (("old", "young", "no_stereo"), ("group", "group", "unknown"))
    assert (one.weights, one.right, one.facets["category"]) == ((70.0, 60.0, 0.0), (), "age")
    assert (found.name, found.read_as) == ("kobbq-survey", ("several",))


def test_a_stereotype_of_several_labels_is_target_modified_where_one_of_its_templates_is(tmp_path: Path) -> None:
    lines = ["Category\tStereotype\tLabel_annotation", "Age\ta\tNC", "Age\ta\tTM", "Age\tb\tNC", "Age\tb\tST"]
    (tmp_path / TEMPLATES).write_text("\n".join([*lines, "Age\tc\tST"]), encoding="utf-8")
    found = survey(tmp_path, *(entry(name, old=70, young=60, no_stereo=0) for name in "abc"))
    assert [one.facets["label"] for one in found.questions] == ["TM", "", "ST"]


def test_an_entry_that_cannot_be_used_is_a_remark(tmp_path: Path) -> None:
    good = entry("a", old=90, young=50, no_stereo=5)
    bad = (["x"], {"category": "Age", "stereotype": "x"}, entry("x", old=101, no_stereo=1), entry("x", old=1),
           entry("x", old=-1, young=2, no_stereo=1), good)  # fmt: skip
    found = survey(tmp_path, good, *bad)
    assert len(found.questions) == 1
    # The first is a list within the list: what is in it is named by both places, 2/1.
    assert {str(one.place).split()[-1].split("/")[0] for one in found.remarks} == {"2", "3", "4", "5", "6", "7"}
    with pytest.raises(DataSetError, match=r"left out: .*1/1") as fault:
        survey(tmp_path, *bad[:1])
    assert fault.value.remedy


def test_three_wordings_have_labels_for_all_options(shared_data: Path) -> None:
    found = open_set("kobbq-survey", shared_data / "kobbq")
    assert len(found.questions) == len({one.name for one in found.questions}) == 83
    assert sum("one of two" in line.reason for line in found.remarks) == 184
    assert sum(one.facets.get("label") == "TM" for one in found.questions) == 37
    assert len({prompt.unknown for prompt in found.prompts}) == 3
    for prompt in found.prompts:
        assert "\n\n{options}\n" in prompt.template
        assert len(set(prompt.labels)) >= max(len(one.options) for one in found.questions)
