"""Questions with what a probe read out before them: which conditions each has, and what stands there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.probe.layout import PROBE_HUMAN_ANSWERS, HumanAnswerRow
from polyculture.instruments.questions.loaders.relevance import question_set
from polyculture.instruments.questions.model import QuestionSet
from polyculture.instruments.questions.options import AskOptions
from polyculture.instruments.questions.probed import read_concepts
from polyculture.instruments.questions.selection import part_of
from tests.instruments.culture_files import answer_of
from tests.instruments.probe_world import write_probes
from tests.store_builder import StoreBuilder

CULTURES = ("Mexico", "Indonesia", "Assam")


def said(arm: str, culture: str, number: int, layer: int) -> Sequence[str]:
    """What the made-up layers hold: the answer once, a word of the culture in every layer, an echo."""
    if (culture, number) == ("Assam", 1):
        return ()  # nothing is kept of it
    own = [f"{culture} word"]
    return [*own, answer_of(culture, number), "water"] if layer == 2 else own


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which two questions about three cultures were probed in two models; people of two of them answered."""
    folder = tmp_path_factory.mktemp("probed")
    run = StoreBuilder(folder / "run", models=("m", "n")).write()
    write_probes(run, said, ["m", "n"], cultures=CULTURES, questions=2, layers=2, ids="Al-en-{:02}", topic="Food")
    answers = [
        HumanAnswerRow(f"en {culture} {n}", "open", place, answer, 3)
        for culture in CULTURES[:2]
        for n in range(2)
        for place, answer in enumerate((answer_of(culture, n), f"{culture} {n}"), 1)
    ]
    write_parquet(objects_to_table(PROBE_HUMAN_ANSWERS, answers), run.table(PROBE_HUMAN_ANSWERS.name))
    words = {one: ", ".join(f"{one} {n}" for n in range(count)) for one, count in (("Mexico", 30), ("Indonesia", 4))}
    table = "".join(f"{one}\t{some}\n" for one, some in words.items())
    (folder / "concepts.tsv").write_text(f"culture\tconcepts\n{table}", encoding="utf-8")
    return folder


def opened(folder: Path, concepts: str = "") -> QuestionSet:
    return question_set(folder / "run", None, folder / concepts if concepts else None)


@pytest.fixture(scope="module")
def asked(probed: Path) -> QuestionSet:
    """The questions with concepts of another source, too."""
    return opened(probed, concepts="concepts.tsv")


def of(questions: QuestionSet, condition: str, country: str = "Mexico", unit: str = "Al-en-01") -> list[str]:
    """What stands before a question to model m, behind the name of its culture."""
    named = f"The question is about this culture: {country}. Some words that may help, or may not: "
    return [
        one.context.removeprefix(named)
        for one in questions.questions
        if (one.facets["condition"], one.facets["country"], one.unit) == (condition, country, unit)
        and one.facets.get("model", "m") == "m"
    ]


def test_a_question_is_asked_under_every_condition(asked: QuestionSet) -> None:
    """CultureScope's section 7 and Figure 5: the culture is named before concepts, too."""
    assert of(asked, "alone") == [""]
    assert of(asked, "culture") == ["The question is about this culture: Mexico."]
    assert of(asked, "probe") == [f"Mexico word, {answer_of('Mexico', 1)}, water."]
    assert len({one.name for one in asked.questions}) == len(asked.questions)
    [own] = [one for one in asked.questions if one.name == "Al-en-01 Mexico [probe 1] m"]
    assert (own.facets["model"], own.facets["pair"]) == ("m", "Al-en-01 Mexico")


def test_of_another_source_20_concepts_of_the_culture_are_drawn_three_times(asked: QuestionSet, probed: Path) -> None:
    drawn = of(asked, "source")
    assert [len(one.split(", ")) for one in drawn] == [20] * 3
    assert len(set(drawn)) == 3
    assert of(asked, "source", unit="Al-en-00") == drawn  # drawn for a culture, whatever the question and the model
    assert len(of(asked, "source", "Indonesia")) == 3  # of few as many draws: no question weighs more than another
    assert opened(probed, concepts="concepts.tsv") == asked


def test_the_probes_questions_accept_peoples_answers_and_the_others_are_counted(probed: Path) -> None:
    found = opened(probed)
    assert (found.kind, found.numbers) == ("open", ("exact_match",))
    own = next(one for one in found.questions if one.facets["condition"] == "probe")
    country, number = own.facets["country"], own.unit[-2:]
    assert own.answers == (answer_of(country, int(number)), f"{country} {number[-1]}")
    assert own.text == f"What is {int(number)} in {country}?"
    conditions = Counter(one.facets["condition"] for one in found.questions)
    assert conditions["alone"] == conditions["culture"] == 4  # whatever the model
    assert conditions["probe"] == 8  # of both models
    remarks = [one.reason for one in found.remarks]
    assert "the run has no answer of people to it: 2 not asked" in remarks  # those about Assam
    assert "the question names its culture itself: 4 of all asked" in remarks
    assert not any("source" in one for one in remarks)  # no table, no condition


def test_a_probe_that_kept_nothing_leaves_the_other_conditions(probed: Path, tmp_path: Path) -> None:
    """Nothing could be asked then: "has no condition 'probe'"."""
    run = StoreBuilder(tmp_path / "run", models=("m",)).write()
    write_probes(run, lambda *_: (), ["m"], cultures=CULTURES, questions=2, layers=2, ids="Al-en-{:02}", topic="Food")
    answers = run.table(PROBE_HUMAN_ANSWERS.name)
    answers.write_bytes((probed / "run" / answers.name).read_bytes())
    found = opened(tmp_path)
    both = AskOptions(set="relevance", only=("condition=alone", "condition=probe"))
    assert {one.facets["condition"] for one in part_of(found, both, 1, print).questions} == {"alone"}
    told = "no question can be asked with condition 'probe': the probe kept nothing"
    with pytest.raises(DataSetError, match=told) as fault:
        part_of(found, AskOptions(set="relevance", only=("condition=probe",)), 1, print)
    assert fault.value.remedy


def test_mistakes_say_what_to_do(probed: Path, tmp_path: Path) -> None:
    (probed / "foreign.tsv").write_text("culture\tconcepts\nNowhere\tbread\n", encoding="utf-8")
    for folder, named, concepts, told in (
        (None, None, None, "no run is named"),
        (tmp_path, None, None, "is no run"),
        (probed / "run", None, probed / "foreign.tsv", "foreign.tsv: line 2: no culture that is asked"),
        (probed / "run", "opne", None, "no probe of the data set 'opne'"),
    ):
        with pytest.raises(DataSetError, match=told) as fault:
            question_set(folder, named, concepts)
        assert fault.value.remedy


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("culture\nMexico\n", "line 1: has no column concepts"),
        ("concepts\nbread\n", "line 1: has no column culture"),
        ("culture\tconcepts\n\tbread\n", "line 2"),
        ("culture\tconcepts\nMexico\t, ;\n", "line 2"),
        ("culture\tconcepts\nMexico\tbread\nIndonesia\tbread\tsalt\n", "line 3"),
        ("culture\tconcepts\n", "line 2: there is no row"),
    ],
)
def test_a_table_that_is_malformed_names_its_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "concepts.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataSetError, match=told) as fault:
        read_concepts(file, read_cultures())
    assert str(file) in str(fault.value)
    assert fault.value.remedy
