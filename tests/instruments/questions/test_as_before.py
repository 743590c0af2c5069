"""The numbers of `instruments/bbq` and these, of the same answers: equal while both stand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from polyculture.instruments.bbq.numbers import interval_rows
from polyculture.instruments.bbq.paired import arm_differences
from polyculture.instruments.bbq.rows import AnswerRow
from polyculture.instruments.questions.numbers.measure import families_of, number_rows
from polyculture.instruments.questions.numbers.paired import paired_differences
from tests.instruments.bbq.chosen import opened as opened_before
from tests.instruments.questions.answered import (
    FAILED,
    PERSONS,
    REFUSAL,
    UNREAD,
    Said,
    designed,
    of,
    opened,
    right_role,
)

SILENT = (REFUSAL, UNREAD, FAILED)


def answers(seed: int, model: str, templates: int = 14) -> list[Said]:
    """A responder that is mostly right, of templates that differ, a tenth silent; undirected questions among them."""
    draw = random.Random(seed)
    rows = []
    for row in designed(lambda context, _: right_role(context), templates):
        (right,) = row.right
        wrong = int(row.unit[1:]) % 5 / 6
        said: int | str = right if draw.random() > wrong else draw.randrange(3)
        rows.append(Said(**{**vars(row), "said": draw.choice(SILENT) if draw.random() < 0.1 else said, "model": model}))
    for row in rows[::7]:
        facets = {
            **row.facets,
            "context": "ambiguous" if row.right == (2,) else "disambiguated",
            "pair": f"{row.unit}x",
        }
        right = 2 if row.right == (2,) else 0
        rows.append(Said(**{**vars(row), "roles": PERSONS, "facets": facets, "right": (right,)}))
    return rows


def before(row: Said) -> AnswerRow:
    """The same answer as a row of `bbq_answers`."""
    facets, question = row.facets, row.question
    letters = {"biased": "b", "other": "o", "unknown": "u"}
    if row.roles == PERSONS:
        signs = [
            "u" if role == "unknown" else "r" if index in row.right else "p" for index, role in enumerate(row.roles)
        ]
        names = ["unknown" if sign == "u" else {"r": "right", "p": "person"}[sign] for sign in signs]
    else:
        signs, names = [letters[role] for role in row.roles], list(row.roles)
    shown = "".join(signs[index] for index in row.order)
    picked = row.said if isinstance(row.said, int) else None
    reading = {REFUSAL: "refusal", UNREAD: "out-of-choice", FAILED: None}.get(str(row.said))
    if picked is not None:
        reading = "ABC"[row.order.index(picked)]
    return AnswerRow(
        answer_id=row.answer.answer_id, prompt_id=row.prompt, setup_id=None, answer_method=row.method, model=row.model,
        dataset=row.dataset, language=row.language, category=facets["category"], label=facets["label"],
        template_id=row.unit, sample_id=question.name, pair_id=facets["pair"], context=facets["context"],
        polarity=facets["polarity"], prompt=row.prompt, permutation="".join(map(str, row.order)), shown=shown, raw="",
        scores=None, tokens=None, unconditional=None, reader=row.reader, reading=reading, ground=None,
        role=None if picked is None else names[picked], status="failed" if row.said == FAILED else "ok", error=None,
        retryable=None, prompt_tokens=None, completion_tokens=None, model_version=None, purchase=None,
    )  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list[Said]:
    first = answers(1, "a")
    return [*first, *answers(2, "b"), *of(answers(3, "a"), method="letter", reader="sum")]


def test_numbers_and_intervals(rows: list[Said]) -> None:
    store = opened(rows)
    found: dict[tuple[Any, ...], Any] = {}
    for number in number_rows(store, families_of(store), ""):
        label = number.facets.get("label")
        part = ("category", number.topic) if number.topic != "*" else ("label", label) if label else ("overall", None)
        place = (number.model, number.method, number.reader, number.facets["averaging"], *part, number.wording)
        found[*place, number.metric] = number
    told = 0
    for row in interval_rows(opened_before([before(row) for row in rows])):
        averaging = {"by template": "by unit"}.get(row.averaging, row.averaging)
        place = (row.model, row.answer_method, row.reader, averaging, row.part, row.name, row.prompt or "*", row.metric)
        number = found[place]
        assert number.estimate == pytest.approx(row.estimate, abs=1e-12), place
        assert (number.low, number.high) == pytest.approx((row.low, row.high), abs=1e-12), place
        assert (number.units, number.cells) == (row.templates, row.prompts)
        assert (number.no_interval is None) == (row.lacking is None)
        told += row.low is not None
    assert told > 200


def test_bounds_and_ratios(rows: list[Said]) -> None:
    store, old = opened(rows), opened_before([before(row) for row in rows])
    found = list(number_rows(store, families_of(store), ""))
    names = ("out_of_choice_ratio", "refusal_ratio", "acc_a", "acc_d", "diff_bias_a", "diff_bias_d", "s_dis",
             "max_bias_a", "max_bias_d", "most_bias_d")  # fmt: skip
    columns = f"model, answer_method, reader, averaging, {', '.join(names)}, answered, refused, failed, undirected"
    for view, wording in (("bbq_metrics WHERE prompt = '2' AND", "2"), ("bbq_over_prompts WHERE", "*")):
        for row in old.execute(f"SELECT {columns} FROM {view} part = 'overall'").fetchall():
            averaging = "by unit" if row[3] == "by template" else row[3]
            own = {
                number.metric: number
                for number in found
                if (number.model, number.method, number.reader) == row[:3]
                and number.facets == {"averaging": averaging}
                and (number.topic, number.wording) == ("*", wording)
            }
            values = {name: own[name].estimate if name in own else None for name in names}
            assert list(values.values()) == pytest.approx(list(row[4:14]), abs=1e-12)
            sizes = own["acc_a"].sizes
            assert (sizes["answered"], sizes["refusal"], sizes["failed"], sizes["undirected"]) == row[14:]


def test_differences(rows: list[Said]) -> None:
    store = opened(rows)
    rows_of = paired_differences(store, families_of(store), "")
    found = {(row.dimension, row.a, row.b, row.metric, row.target): row for row in rows_of}
    old = list(arm_differences(opened_before([before(row) for row in rows]), "kobbq", ""))
    assert {(row.dimension, row.a, row.b, row.metric, row.target) for row in old} == found.keys()
    for row in old:
        new = found[row.dimension, row.a, row.b, row.metric, row.target]
        theirs, ours = (
            (one.a_estimate, one.b_estimate, one.difference, one.low, one.high, one.p) for one in (row, new)
        )
        assert ours == pytest.approx(theirs, abs=1e-12)
        assert new.units == row.units
