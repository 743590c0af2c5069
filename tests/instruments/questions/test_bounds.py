"""What cannot be read is one-sided: biases as bounds where it matters, and the unread share by language."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from polyculture.cache.store.layout import compose
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.sql_file import read_table
from polyculture.cache.store.store import open_store
from polyculture.instruments.questions import section
from polyculture.instruments.questions.layout import LAYOUT
from polyculture.instruments.questions.section import SECTIONS
from polyculture.instruments.questions.unread import UNEQUAL, unread_lines
from polyculture.metrics import METRICS_LAYOUT
from polyculture.reports.building import build_sections, open_report
from tests.instruments.questions.answered import UNREAD, Said, designed, numbers, of, right_role, stored

SEVERAL = "several"  # an answer that names two options is unread, too
FOLDER = Path(section.__file__).parent


def leaning(lost: str | None, seed: int = 1) -> list[Said]:
    """In disambiguated contexts a model is right in most biased ones, and says nothing readable in many others."""
    drawn = random.Random(seed)
    found = []
    for row in designed(lambda context, _: right_role(context), templates=20, prompts=("1",), orders=((0, 1, 2),)):
        context, said = row.facets["context"], row.said
        if context == "biased" and drawn.random() < 0.3:
            said = 2
        if context == "counter-biased" and drawn.random() < 0.45:
            said = lost or 2
        found.append(of([row], said=said)[0])
    return found


def estimates(rows: list[Said]) -> dict[str, float | None]:
    return {
        row.metric: row.estimate for row in numbers(rows) if (row.wording, row.topic) == ("*", "*") and not row.facets
    }


def test_a_bias_whose_sign_depends_on_unread_answers_has_its_other_end() -> None:
    found, counted = estimates(leaning(UNREAD)), estimates(leaning(None))
    assert (found["diff_bias_d"] or 0) < 0 < (counted["diff_bias_d"] or 0)
    assert found["diff_bias_d_as_unknown"] == pytest.approx(counted["diff_bias_d"])
    assert found["acc_a_as_unknown"] == pytest.approx(counted["acc_a"])
    assert "diff_bias_a_as_unknown" not in found  # 0 at either end


def test_answers_that_name_options_and_few_unread_ones_make_no_bounds() -> None:
    for rows in (leaning(SEVERAL), leaning(None)):
        assert not [metric for metric in estimates(rows) if metric.endswith("_as_unknown")]
    told = [row for row in leaning(None) if row.said != 2 or row.facets["context"] == "ambiguous"]
    assert not [metric for metric in estimates([*told, of([told[0]], said=UNREAD, name="one")[0]]) if "_as_" in metric]


def test_bounds_stand_in_the_table_and_on_the_page(tmp_path: Path) -> None:
    run = stored(leaning(UNREAD), tmp_path / "run")
    with open_store(run, compose(CORE, LAYOUT)) as store:
        table = read_table(FOLDER / "question_scores.sql").select(store, {"metric": "diff_bias_d"})
        [(low, high)] = table.project("estimate, as_unknown").fetchall()
        assert low < 0 < high
        metrics = read_table(FOLDER / "question_scores.sql").select(store).project("metric").fetchall()
        assert not [metric for (metric,) in metrics if metric.endswith("_as_unknown")]
    with open_report(run, None, compose(METRICS_LAYOUT, LAYOUT), SECTIONS) as data:
        (found,) = build_sections(data, SECTIONS)
        (one,) = found.context.sets  # type: ignore[attr-defined]
        assert one.has_bounds
        cells = [cell for group in one.table.groups for line in group.lines for cell in line.cells]
        assert any("bounds" in str(cell) for cell in cells)


def in_languages(**lost: int) -> list[Said]:
    """Right answers to one set in several languages, of which so many of a hundred are unread."""
    right = list(designed(lambda context, _: right_role(context), templates=13, prompts=("1",), orders=((0, 1, 2),)))[
        :100
    ]
    return [
        of([row], language=language, dataset="mbbq", said=UNREAD if place < number else row.said)[0]
        for language, number in lost.items()
        for place, row in enumerate(right)
    ]


def test_languages_that_are_read_unequally_are_a_warning_and_on_the_page(tmp_path: Path) -> None:
    run = stored(in_languages(en=0, es=30, nl=2), tmp_path / "run")
    [line] = unread_lines(run, ["mbbq"])
    assert "es 30 %, nl 2 %, en 0 %" in line
    assert line.endswith(UNEQUAL)
    with open_report(run, None, compose(METRICS_LAYOUT, LAYOUT), SECTIONS) as data:
        (found,) = build_sections(data, SECTIONS)
        [told] = found.context.languages  # type: ignore[attr-defined]
    assert "Spanish 30\xa0%" in told


def test_languages_that_are_read_alike_are_no_warning(tmp_path: Path) -> None:
    assert unread_lines(stored(in_languages(en=10, es=13), tmp_path / "run"), ["mbbq"]) == []


def test_scores_are_a_view_that_sql_and_python_read(tmp_path: Path) -> None:
    with open_store(stored(leaning(UNREAD), tmp_path / "run"), compose(CORE, LAYOUT)) as store:
        [(low, high)] = store.sql(
            "SELECT estimate, as_unknown FROM question_scores "
            "WHERE metric = 'diff_bias_d' AND part = 'all' AND prompt IS NULL"
        ).fetchall()
    assert low < 0 < high
