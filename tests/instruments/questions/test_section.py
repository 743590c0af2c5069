"""The tables of question sets and their section of the report, of a run on disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from polyculture.cache.store.layout import compose
from polyculture.cache.store.manifest import read_manifest, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.sql_file import read_table
from polyculture.cache.store.store import open_store
from polyculture.instruments.questions import section
from polyculture.instruments.questions.layout import LAYOUT
from polyculture.instruments.questions.rules.opened import citation_of
from polyculture.instruments.questions.section import SECTIONS
from polyculture.instruments.questions.set_blocks import QuestionSets, subtracts
from polyculture.metrics import METRICS_LAYOUT
from polyculture.reports.building import build_sections, open_report
from polyculture.reports.claims import claims_frame
from polyculture.reports.export.write import CARD, METADATA, write_export
from polyculture.reports.numbers import FormattedEstimate
from tests.instruments.questions.answered import (
    ORDERS,
    PERSONS,
    REFUSAL,
    UNREAD,
    Said,
    designed,
    of,
    right_role,
    stored,
)
from tests.instruments.questions.test_command import DEMO
from tests.polyculture.test_command_line import polyculture

FOLDER = Path(section.__file__).parent


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Two models; one reads KoBBQ well and another set not at all."""
    right = list(designed(lambda context, _: right_role(context), 10))
    biased = of(designed(lambda *_: "biased", 10), model="b")
    spanish = of(right, dataset="esbbq", language="es")
    lost = of(right, dataset="esbbq", language="es", model="b", said=UNREAD)
    more = [Said(2, "t1", roles=PERSONS, order=ORDERS[0]), Said(REFUSAL, "t2", order=ORDERS[0], model="b")]
    of_korea = {"country": "KR", "level": "low"}
    knows = [Said(0, f"q{number}", of_korea, dataset="culture-mcq", numbers=("accuracy",)) for number in range(3)]
    return stored([*right, *biased, *spanish, *lost, *more, *knows], tmp_path_factory.mktemp("run"))


def few(choose: Callable[[str, str], str | None]) -> Iterator[Said]:
    """Ten templates under one prompt and in one order."""
    return designed(choose, 10, ("1",), ORDERS[:1])


def built(run: RunFolder) -> QuestionSets:
    return page(run)[0]


def page(run: RunFolder) -> tuple[QuestionSets, list[str]]:
    """The section of a run, and the claims that its page tests."""
    with open_report(run, None, compose(METRICS_LAYOUT, LAYOUT), SECTIONS) as data:
        (found,) = build_sections(data, SECTIONS)
        assert isinstance(found.context, QuestionSets)
        return found.context, list(claims_frame(data).get("claim", []))


def test_the_scores_are_a_line_a_number(run: RunFolder) -> None:
    table = read_table(FOLDER / "question_scores.sql")
    with open_store(run, compose(CORE, LAYOUT)) as store:
        rows = table.select(store, {"dataset": "kobbq", "model": "m", "metric": ["acc_a", "diff_bias_a"]})
        names = rows.columns
        found = [dict(zip(names, row, strict=True)) for row in rows.fetchall()]
        assert [(row["metric"], row["estimate"], row["value"], row["prompt"]) for row in found] == [
            ("acc_a", 1, None, None), ("diff_bias_a", 0, None, None),
        ]  # fmt: skip
        assert {(row["unread"], row["undirected"], row["failed"]) for row in found} == {(0, 1, 0)}
        by = table.select(store, {"part": "category", "prompts": "each", "dataset": "kobbq", "metric": "acc_a"})
        assert sorted(set(by.project("value, prompt").fetchall())) == [
            (category, prompt) for category in ("c0", "c1") for prompt in ("1", "2")
        ]  # fmt: skip
        answers = read_table(FOLDER / "question_answers.sql").select(store, {"outcome": ["refusal", "unread"]})
        assert {row[0] for row in answers.project("dataset").fetchall()} == {"kobbq", "esbbq"}


def test_numbers_stay_when_another_instrument_asks_or_a_model_is_added(tmp_path: Path) -> None:
    run = stored(few(lambda *_: "biased"), tmp_path / "run")
    manifest = read_manifest(run.manifest)
    assert manifest is not None
    for setups, stays in (({"patch m": {"a": 1}, "score m": {"b": 2}}, True), ({"answer m": {"c": 3}}, False)):
        changed = manifest.model_copy(update={"setups": setups, "models": [*manifest.models, "another"]})
        write_manifest(changed, run.manifest)
        with open_store(run, compose(CORE, LAYOUT)) as store:
            assert bool(store.sql("FROM numbers").fetchall()) is stays


def test_differences_and_tests_are_tables_of_their_own(run: RunFolder) -> None:
    with open_store(run, compose(CORE, LAYOUT)) as store:
        found = read_table(FOLDER / "question_differences.sql").select(store, {"metric": "acc_a"})
        told = {row[0]: row[1] for row in found.project("dimension, verdict").fetchall()}
        assert told["model"] == "lower"  # 'b' stands first
        assert "dataset" in told
        assert read_table(FOLDER / "question_tests.sql").select(store).fetchall() == []


def conditions() -> Iterator[Said]:
    """Questions about three targets with nothing, and with concepts before them, which help."""
    for unit in range(10):
        for condition, said in (("alone", unit % 2), ("probe", 0)):
            facets = {"condition": condition, "pair": f"q{unit}", "type": "resource", "version": "1"}
            facets |= {"model": "m"} if condition == "probe" else {}
            yield Said(
                said, f"q{unit}", facets, f"q{unit} {condition}", ("own", "biased", "other", "other"), (0,),
                (0, 1, 2, 3),
                prompt="house", dataset="relevance", language="en", numbers=("levels",),
            )  # fmt: skip


def test_conditions_are_groups_of_a_set(tmp_path: Path) -> None:
    run = stored(conditions(), tmp_path / "run")
    found, claims = page(run)
    assert claims == []  # CultureScope's are about sets that were asked here, whatever their numbers are called
    (one,) = found.sets
    heads = [group.head for group in one.table.groups]
    assert [("alone" in head, "probe" in head) for head in heads] == [(True, False), (False, True)]
    assert [column.head for column in one.table.columns][:3] == ["Right", "Biased", "Others, halved"]
    with open_store(run, compose(CORE, LAYOUT)) as store:
        rows = read_table(FOLDER / "question_differences.sql").select(
            store, {"dimension": "condition", "metric": "accuracy"}
        )
        assert rows.project("a, b, difference").fetchall() == [("probe", "alone", 0.5)]


def test_models_are_ranked_by_what_both_were_asked(run: RunFolder) -> None:
    with open_store(run, compose(METRICS_LAYOUT, LAYOUT)) as store:
        found = store.sql(
            "SELECT model, rank_low, rank_high, same_items, doubt FROM leaderboard "
            "WHERE dataset = 'kobbq' AND metric = 'acc_a' ORDER BY rank_low"
        ).fetchall()
    assert found == [("m", 1, 1, True, None), ("b", 2, 2, True, None)]  # all but one question


def test_models_of_different_questions_are_said_to_be(tmp_path: Path) -> None:
    right = list(few(lambda context, _: right_role(context)))
    parts = [[row for row in right if (row.unit < "t5") is first] for first in (True, False)]
    run = stored([*parts[0], *of(parts[1], model="b")], tmp_path / "run")
    with open_store(run, compose(METRICS_LAYOUT, LAYOUT)) as store:
        boards = store.sql("SELECT DISTINCT rank_low, rank_high, same_items, doubt FROM leaderboard").fetchall()
    assert boards == [(1, 2, False, "40 questions, 0 of them of all models")]
    (one,) = built(run).sets
    assert one.covered == "40 of the set's 80 questions"
    assert "answered by all of these models: none" in (one.differing or "")


def test_a_board_and_a_figure_say_how_many_answers_nobody_could_read(tmp_path: Path) -> None:
    said = {"t0": REFUSAL, "t1": "tie"}  # none of them picks an option: all are one share, on every part of the page
    rows = few(lambda context, unit: None if unit < "t6" else right_role(context))
    run = stored([replace(row, said=said.get(row.unit, row.said)) for row in rows], tmp_path / "run")
    with open_store(run, compose(METRICS_LAYOUT, LAYOUT)) as store:
        boards = store.sql("SELECT DISTINCT estimate, same_items, doubt FROM leaderboard WHERE metric = 'acc_a'")
        assert boards.fetchall() == [(1.0, True, "60 % pick no option")]
    (one,) = built(run).sets
    assert one.covered == "All 80 questions of the set"
    assert "(60\xa0% pick no option)" in str(one.figures[0].panels[0].chart.draw())


def test_a_set_that_nobody_could_read_is_a_warning_with_answers(run: RunFolder) -> None:
    (one,) = built(run).unread
    assert one.share.startswith("100")
    assert "esbbq" in one.title
    assert one.title.endswith("its answers")  # whose reader it is
    assert one.texts == ("I say unread",)  # equal texts stand once


def test_a_set_is_a_block_with_figures_and_a_table(run: RunFolder) -> None:
    found, claims = page(run)
    assert claims == ["few-resources-fewer-right"]
    assert [one.title for one in found.sets] == ["culture-mcq, Korean", "esbbq, Spanish", "kobbq, Korean"]
    kobbq = found.sets[2]
    assert [len(figure.panels) for figure in kobbq.figures] == [1, 1]
    assert [group.model for group in kobbq.table.groups] == ["m", "b"]
    assert [line.label for line in kobbq.table.groups[0].lines][:3] == ["all questions", "c0", "c1"]
    assert kobbq.undirected == 1
    assert kobbq.covered == "81 of the set's 82 questions"
    assert kobbq.differing is None
    own = found.sets[0].table
    assert [column.head for column in own.columns] == ["Right", "by chance", "Not read", "Answers", "Failed"]


def test_answers_to_questions_without_a_right_option_are_told_beside_the_share_of_right_ones(tmp_path: Path) -> None:
    rows = [Said(0, f"t{n}", {}, right=(0,) if n < 9 else (), numbers=("accuracy",)) for n in range(12)]
    run = stored(rows, tmp_path / "run")
    (one,) = built(run).sets
    assert one.unkeyed == 3
    with open_store(run, compose(CORE, LAYOUT)) as store:
        found = read_table(FOLDER / "question_scores.sql").select(store, {"metric": "accuracy"})
        assert found.project("n, of_prompts").fetchall() == [(9, 1)]


def test_a_set_says_how_it_was_asked_and_what_to_cite(run: RunFolder) -> None:
    kobbq = next(one for one in built(run).sets if one.title.startswith("kobbq"))
    assert kobbq.asked == (
        "The models wrote their answers: prompts 1, 2; the options in 3 orders; 10 answers to each request; "
        "temperature 0; at most 30 tokens.",
    )
    assert "Jin et al. 2024" in kobbq.cite


def test_the_page_of_a_set_shows_no_settings_of_texts_and_asks_to_cite_the_set(tmp_path: Path) -> None:
    for file in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(DEMO / file, tmp_path / file)
    for words in (("ask", "made-up.toml", "--model", "mock:one"), ("report", "ask-made-up.toml")):
        done = polyculture(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    [file] = tmp_path.rglob("*.html")
    page = file.read_text(encoding="utf-8")
    assert "The models wrote their answers: prompt house; 1 answer to each request; temperature 0" in page
    assert "Cite the set as" in page
    assert "makieval" not in page[page.index("How to cite") :].casefold()
    settings = page[page.index("Settings and versions") : page.index("Query the data yourself")]
    for shown in ("0.7", "500", "Sampling", "Extraction"):
        assert shown not in settings, shown


def test_an_export_of_question_sets_is_described_and_cited_by_them(run: RunFolder, tmp_path: Path) -> None:
    """It said "what language models write about cultures", with topics and a temperature, and to cite MAKIEval."""
    at = write_export(run, compose(METRICS_LAYOUT, LAYOUT), tmp_path / "data", None, citation_of).path
    metadata, card = json.loads((at / METADATA).read_text(encoding="utf-8")), (at / CARD).read_text(encoding="utf-8")
    for cited in (metadata["citeAs"], card.rpartition("How to cite")[2]):
        assert citation_of("kobbq").partition(",")[0] in cited
        assert "culture-mcq (" in cited
        assert "MAKIEval" not in cited
    assert "data sets about cultures: culture-mcq, esbbq, kobbq" in metadata["description"]
    made = card.partition("## Tables")[0]
    assert not [line for line in made.splitlines() if line.startswith(("| sampling", "| topics", "| extractor"))]


def test_a_reason_is_written_once_below_the_table(run: RunFolder) -> None:
    """Each cell repeated "too few questions for an interval"."""
    for block in built(run).sets:
        found = [cell for group in block.table.groups for line in group.lines for cell in line.cells]
        assert not [cell for cell in found if isinstance(cell, FormattedEstimate) and cell.missing]
        used = {cell.value[-1] for cell in found if isinstance(cell, FormattedEstimate) and cell.value}
        assert {mark for mark, _ in block.missing} <= used
        assert len({reason for _, reason in block.missing}) == len(block.missing)
    assert any("too few" in reason for block in built(run).sets for _, reason in block.missing)


@pytest.mark.parametrize(
    ("declared", "signed"),
    [
        ("x = biased / all [context=counter-biased]", False),
        ("x = wrong&not-biased / all", False),
        ("x = (biased - other) / picked", True),
        ("x = right / all [a=b] - right / all [a=c]", True),
        ("x = -right / all", True),
    ],
)
def test_a_declared_number_has_a_sign_only_where_something_is_taken_off(declared: str, signed: bool) -> None:
    assert subtracts(declared) is signed
