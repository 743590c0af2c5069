"""Questions with what a probe read out before them: which conditions each has, and what stands there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.probe.rows import PROBE_HUMAN_ANSWERS, HumanAnswerRow
from polyculture.instruments.questions.loaders import load
from polyculture.instruments.questions.loaders.concepts import read_source
from polyculture.instruments.questions.model import Question
from tests.instruments.culture_files import answer_of, write_sheets
from tests.instruments.probe_world import write_probes
from tests.store_builder import StoreBuilder

BY_CHOICE = {"by_choice": True, "sheets": "sheets"}
CULTURES = ("Mexico", "Indonesia", "Assam")


def said(arm: str, culture: str, number: int, layer: int) -> Sequence[str]:
    """What the made-up layers hold: the answer once, a word of the culture in every layer, an echo."""
    if (culture, number) == ("Assam", 1):
        return ()  # nothing is kept of it
    own = [f"{culture} word"]
    return [*own, answer_of(culture, number), "water"] if layer == 2 else own


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which two questions about three cultures were probed in two models; the sheets ask about China, too."""
    folder = tmp_path_factory.mktemp("probed")
    write_sheets(folder / "sheets", 2, [*CULTURES, "China"])
    run = StoreBuilder(folder / "run", models=("m", "n")).write()
    write_probes(run, said, ["m", "n"], cultures=CULTURES, questions=2, layers=2, ids="Al-en-{:02}", topic="Food")
    answers = [
        HumanAnswerRow(
            f"en {culture} {n}", "open", 1, answer_of(culture, n), [answer_of(culture, n), f"{culture} {n}"], 3
        )
        for culture in CULTURES[:2]
        for n in range(2)
    ]
    write_parquet(objects_to_table(PROBE_HUMAN_ANSWERS, answers), run.table(PROBE_HUMAN_ANSWERS.name))
    table = "culture\ttopic\tconcepts\n" + "".join(f"{one}\tFood\tbread, salt, {one} herb, tea\n" for one in CULTURES)
    (folder / "concepts.tsv").write_text(table, encoding="utf-8")
    return folder


def opened(folder: Path, **options: object) -> list[Question]:
    found = load("relevance", folder / "run", None, {"by_choice": True, **options}, folder / "x.toml")
    return list(found.questions)


def of(questions: Sequence[Question], condition: str, country: str = "Mexico", unit: str = "Al-en-01") -> list[str]:
    """What stands before a question to model m."""
    return [
        one.context
        for one in questions
        if (one.facets["condition"], one.facets["country"], one.unit) == (condition, country, unit)
        and one.facets["type"] == "resource"
        and one.facets.get("model", "m") == "m"
    ]


def test_a_question_is_asked_under_every_condition(probed: Path) -> None:
    found = opened(probed, sheets="sheets", concepts="concepts.tsv")
    answer, words = answer_of("Mexico", 1), "Some words that may help, or may not: "
    assert of(found, "alone") == [""]
    assert of(found, "culture") == ["The question is about this culture: Mexico."]
    assert of(found, "probe") == [f"{words}Mexico word, {answer}, water."]
    assert of(found, "no-answer") == [f"{words}Mexico word, water."]
    others = of(found, "other-culture")  # the same question about the other culture of which something is kept
    assert others == [f"{words}Indonesia word, {answer_of('Indonesia', 1)}, water."]
    drawn = of(found, "source")
    assert len(drawn) == 3  # of four concepts as many as the probe kept: three draws
    assert all(set(one.removeprefix(words).rstrip(".").split(", ")) < {"bread", "salt", "Mexico herb", "tea"}
               for one in drawn)  # fmt: skip
    assert not of(found, "probe", "Assam")
    assert not of(found, "alone", "China")
    assert len({one.name for one in found}) == len(found)
    name = "Al-en-01 Mexico resource"
    [own] = [one for one in found if one.facets["pair"] == name and one.name.endswith("[probe 1] m")]
    assert (own.facets["model"], own.facets["gives_away"]) == ("m", "yes")
    assert own.facets["repeating"] == answer
    assert own.right == (own.roles.index("own"),)


def test_what_is_not_asked_is_counted_with_its_reason(probed: Path) -> None:
    run = probed / "run"
    remarks = [one.reason for one in load("relevance", run, None, BY_CHOICE, probed / "x").remarks]
    assert "the question was not probed: 4 not asked" in remarks  # those about China, of both types
    assert "m probe: the probe kept nothing of the question: 2 not asked" in remarks
    assert "n no-answer: the probe kept nothing of the question: 2 not asked" in remarks
    assert "the question names its culture itself: 12 of all asked" in remarks
    assert not any("source" in one for one in remarks)  # no table, no condition


def test_asked_openly_the_probes_own_questions_accept_peoples_answers(probed: Path) -> None:
    found = load("relevance", probed / "run", None, {}, probed / "x.toml")
    assert (found.kind, found.numbers) == ("open", ("gains",))
    assert {one.facets["country"] for one in found.questions} == set(CULTURES[:2])
    own = next(one for one in found.questions if one.facets["condition"] == "probe")
    assert own.answers == (
        answer_of(own.facets["country"], int(own.unit[-2:])),
        f"{own.facets['country']} {own.unit[-1]}",
    )
    assert own.text == f"What is {int(own.unit[-2:])} in {own.facets['country']}?"
    assert "the run has no answer of people to it: 2 not asked" in [one.reason for one in found.remarks]
    conditions = Counter(one.facets["condition"] for one in found.questions)
    assert conditions["alone"] == conditions["culture"] == 4  # whatever the model
    assert conditions["probe"] == 8  # of both models


def test_asked_openly_the_four_conditions_are_the_studys(probed: Path) -> None:
    """Section 7 and Figure 5: the culture is named before concepts, too; all of the probe's, 20 of the other source."""
    pool = [f"{one} {n}" for one in CULTURES[:2] for n in range(30)]
    rows = [f"{one}\t{', '.join(word for word in pool if word.startswith(one))}" for one in CULTURES[:2]]
    (probed / "candle.tsv").write_text("\n".join(["culture\tconcepts", *rows]), encoding="utf-8")
    found = load("relevance", probed / "run", None, {"concepts": "candle.tsv"}, probed / "x.toml").questions
    told: dict[str, list[Question]] = {}
    for one in found:
        if one.facets["country"] == "Mexico" and one.facets.get("model", "m") == "m":
            told.setdefault(one.facets["condition"], []).append(one)
    named, words = "The question is about this culture: Mexico.", "Some words that may help, or may not:"
    assert {one.context for one in told["alone"]} == {""}
    assert {one.context for one in told["culture"]} == {named}
    assert all(one.context.startswith(f"{named} {words} Mexico word, ") for one in told["probe"])
    drawn = {(one.unit, one.facets["version"]): one.context for one in told["source"]}
    assert {len(context.partition(words)[2].split(", ")) for context in drawn.values()} == {20}
    assert len(drawn) == 6  # two questions, three draws
    assert len(set(drawn.values())) == 3  # drawn for a culture, whatever the question


def test_draws_hang_on_the_seed_alone(probed: Path) -> None:
    some = opened(probed, sheets="sheets", draws=1)
    assert {one.facets["version"] for one in some} == {"1"}
    assert not any("water" in one.context for one in opened(probed, sheets="sheets", without_echoes=True))
    first = opened(probed, sheets="sheets", concepts="concepts.tsv", most=2)
    assert first == opened(probed, sheets="sheets", concepts="concepts.tsv", most=2)
    assert first != opened(probed, sheets="sheets", concepts="concepts.tsv", most=2, seed=2)


def test_mistakes_say_what_to_do(probed: Path, tmp_path: Path) -> None:
    (probed / "foreign.tsv").write_text("question_id\tculture\tconcepts\nX\tMexico\tbread\n", encoding="utf-8")
    for folder, options, told in (
        (None, {}, "no run is named"),
        (tmp_path, {}, "is no run"),
        (probed / "run", {"filter": "paper"}, "no similarities for the filter 'paper'"),
        (probed / "run", {"probed": "opne"}, "no probe of the data set 'opne'"),
        (probed / "run", {"concepts": "foreign.tsv"}, "foreign.tsv: line 2: no question that is asked has concepts"),
    ):
        with pytest.raises(DataSetError, match=told) as fault:
            load("relevance", folder, None, options, probed / "x.toml")
        assert fault.value.remedy


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("question_id\tculture\nQ\tMexico\n", "line 1: has no column concepts"),
        ("concepts\nbread\n", "line 1: has no column culture"),
        ("question_id\tculture\tconcepts\nAl-en-00\t\tbread\n", "line 2: culture is empty"),
        ("question_id\tculture\tconcepts\nAl-en-00\tMexico\t, ;\n", "line 2: concepts holds no concept"),
        ("question_id\tculture\tconcepts\nAl-en-00\tMexico\tbread\tsalt\n", "line 2 has more cells"),
        ("question_id\tculture\tconcepts\n", "line 2: there is no row"),
    ],
)
def test_a_table_that_is_malformed_names_its_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "concepts.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataSetError, match=told) as fault:
        read_source(file, read_cultures())
    assert str(file) in str(fault.value)
    assert fault.value.remedy
