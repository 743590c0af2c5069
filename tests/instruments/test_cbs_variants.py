"""Contexts with help before them and contexts in two phrasings, against the plain ones, on a toy model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polyculture.cache.errors import DataSetError
from polyculture.cache.store.run_folder import RunFolder
from polyculture.instruments.cbs.averages import averaged, mean_contrast, paired, tally
from polyculture.instruments.cbs.context_prompts import PrefixKind, PrefixOptions, with_prefixes
from polyculture.instruments.cbs.score_matrix import ScoreMatrix
from polyculture.instruments.cbs.step import prefixed_contexts, scoring_jobs
from polyculture.instruments.datasets.load import Loader
from polyculture.instruments.datasets.model import DataSet, MaskedContext
from polyculture.instruments.datasets.phrasings import dropped_pronouns, with_phrasings
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.metrics.inference.paired import PairedDifference
from polyculture.sources.left_out import SourceLocation
from tests.instruments.test_cbs_store import EVERY_PAIR, MODEL, ToyEngine, demo, hold, measured, rows, run, score  # noqa: F401
from tests.instruments.test_datasets import write_own
from tests.simulated import data_sets, most

BOTH = PrefixOptions((PrefixKind.TOKEN, PrefixKind.DEMONSTRATIONS), 3)
FOOD = DataSelection(types=("food",), cultures=("Japanese",), contexts=2)
PAIRED = """language,culture,type,setting,phrasing,pair,context
sw,Swahili,food,neutral,english-like,one,Mimi nimekula [MASK]
sw,Swahili,food,neutral,pro-drop,one,Nimekula [MASK]
sw,Swahili,food,neutral,english-like,two,Sisi tunapika [MASK]
sw,Swahili,food,neutral,pro-drop,two,Tunapika [MASK]
sw,Swahili,food,neutral,,,Leo ni siku ya [MASK]
"""


def food_context(dataset: DataSet) -> MaskedContext:
    return next(c for c in dataset.contexts if (c.culture, c.entity_type) == ("Japanese", "food"))


def test_a_name_that_a_file_repeats_is_in_one_draw(demo: DataSet) -> None:  # noqa: F811
    context = food_context(demo)
    first, *others = [one for one in demo.fitting(context) if one.culture == context.culture][:6]
    repeated = replace(
        demo, every_entity=(*(replace(first, occurrence=number) for number in range(6)), *others), as_published=True
    )
    with_help = with_prefixes(repeated, context, [first], PrefixOptions((PrefixKind.NAMES,), 3))
    assert all(first.surface not in asked.text.removesuffix(context.text) for asked, _ in with_help)


def test_no_entity_is_scored_behind_itself(demo: DataSet) -> None:  # noqa: F811
    for context in (c for c in demo.contexts if c.culture == "Japanese"):
        entities = demo.fitting(context)
        asked = with_prefixes(demo, context, entities, BOTH)
        assert Counter(
            entity for c, group in asked for entity in group if c.context_prefix == "3 demonstrations"
        ) == Counter(entities)
        for with_help, group in asked:
            before = with_help.text.removesuffix(context.text)
            assert with_help.text == before + context.text
            assert with_help.base_context_id == context.context_id
            if with_help.context_prefix == "3 demonstrations":
                assert before.count(context.prefix) == 3
                assert not any(entity.surface in before.replace(context.prefix, "") for entity in group)
            else:
                assert before == "[Japanese] "


def test_too_few_entities_to_draw_from_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        DataSetError, match=r"contexts.csv row 2: 1 Swahili entities of type 'food' in 'sw' are too few"
    ):
        scoring_jobs(write_own(tmp_path), MODEL, DataSelection(), BOTH)


def test_help_is_compared_with_the_plain_contexts(run: RunFolder, demo: DataSet) -> None:  # noqa: F811
    jobs = scoring_jobs(demo, MODEL, FOOD, BOTH)
    plain = scoring_jobs(demo, MODEL, FOOD)
    assert score(run, jobs, ToyEngine()) == (3 * plain[0].size, 0)
    found = measured(run)
    scores = {(r.rule, r.setting, r.context_prefix): r for r in found if r.metric == "cbs" and r.entity_type}
    by_pairs = rows(run, f"SELECT rule, setting, context_prefix, cbs, contexts FROM ({EVERY_PAIR})")
    assert len(by_pairs) == len(scores) == 3 * 2 * 3
    for rule, setting, prefix, cbs, contexts in by_pairs:
        row = scores[rule, setting, prefix]
        assert (row.estimate, row.contexts) == (pytest.approx(cbs), contexts)
    differences = [r for r in found if r.plain and r.entity_type]
    assert len(differences) == 3 * 2 * 2
    for row in differences:
        with_help, without = (scores[row.rule, row.setting, prefix] for prefix in (row.context_prefix, None))
        assert row.estimate == pytest.approx(with_help.estimate - without.estimate)
        assert row.contexts == 2
    assert {r.entity_type for r in found if r.plain} == {"food"}  # over one type is that type
    health = rows(run, "SELECT sum(contexts) FROM cultural_entities")
    assert health == [(plain[0].size,)], "an entity's average is over plain contexts"


def test_plain_and_helped_scores_are_kept_beside_each_other(run: RunFolder, demo: DataSet) -> None:  # noqa: F811
    engine = ToyEngine()
    score(run, scoring_jobs(demo, MODEL, FOOD, PrefixOptions((PrefixKind.DEMONSTRATIONS,), 3)), engine)
    size = scoring_jobs(demo, MODEL, FOOD)[0].size
    for helping in (PrefixOptions(), PrefixOptions((PrefixKind.DEMONSTRATIONS,), 4), BOTH):
        score(run, scoring_jobs(demo, MODEL, FOOD, helping), engine)
    counted = dict(rows(run, "SELECT coalesce(context_prefix, 'plain'), count(*) FROM scores GROUP BY 1"))
    assert counted == dict.fromkeys(("plain", "token", "3 demonstrations", "4 demonstrations"), size)
    assert engine.asked == 4 * size


def test_other_demonstrations_take_the_place_of_the_old_ones(run: RunFolder, demo: DataSet) -> None:  # noqa: F811
    helping = PrefixOptions((PrefixKind.DEMONSTRATIONS,), 3)
    jobs = scoring_jobs(demo, MODEL, FOOD, helping)
    hold(run, demo, prefixed_contexts(demo, jobs, helping))
    score(run, jobs, ToyEngine())
    context = food_context(demo)
    shown = {e for c, _ in with_prefixes(demo, context, demo.fitting(context), helping) for e in demo.fitting(context)
             if e.surface in c.text.removesuffix(context.text)}  # fmt: skip
    gone = next(entity for entity in demo.entities if entity in shown)
    fewer = replace(demo, every_entity=tuple(entity for entity in demo.entities if entity != gone))
    (job,) = scoring_jobs(fewer, MODEL, FOOD, helping)
    hold(run, fewer, prefixed_contexts(fewer, [job], helping))
    score(run, [job], ToyEngine())
    assert rows(run, "SELECT count(*) FROM scores") == [(job.size,)]
    assert rows(run, f"SELECT count(*) FROM scores WHERE contains(context, '{gone.surface}') OR entity = "
                     f"'{gone.surface}'") == [(0,)]  # fmt: skip


def test_phrasings_are_asked_on_demand_and_compared_in_pairs(run: RunFolder, tmp_path: Path) -> None:  # noqa: F811
    names = ["ugali", "wali", "pilau", "chapati"]
    entities = "language,culture,type,entity\n" + "".join(
        f"sw,{culture},food,{mark}{name}\n" for culture, mark in (("Swahili", ""), ("Western", "x")) for name in names
    )
    dataset = write_own(tmp_path, **{"contexts.csv": PAIRED, "entities.csv": entities})
    (job,) = scoring_jobs(dataset, MODEL, DataSelection(phrasings=True))
    assert [context.phrasing for context, _ in job.asked].count("pro-drop") == 2
    (one,) = scoring_jobs(dataset, MODEL, DataSelection(phrasings=True, contexts=1))
    assert len({context.pair for context, _ in one.asked}) == 1
    assert len(one.asked) == 2
    plain = scoring_jobs(dataset, MODEL, DataSelection())
    assert [context.text for context, _ in plain[0].asked] == ["Leo ni siku ya [MASK]"]
    score(run, [job, *plain], ToyEngine())
    assert rows(run, "SELECT count(*) FROM scores") == [(5 * 8,)]
    found = [r for r in measured(run) if r.rule == "sum" and r.entity_type]
    by_phrasing = {r.phrasing: r for r in found if r.metric == "cbs"}
    (difference,) = [r for r in found if r.metric == "cbs_difference"]
    assert (difference.phrasing, difference.other_phrasing) == ("pro-drop", "english-like")
    assert difference.estimate == pytest.approx(by_phrasing["pro-drop"].estimate - by_phrasing["english-like"].estimate)
    assert difference.contexts == 2


def test_a_data_set_without_phrasings_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match=r"has no context in two phrasings.*columns phrasing and pair"):
        scoring_jobs(write_own(tmp_path), MODEL, DataSelection(phrasings=True))


def test_names_stand_alone_before_a_context_and_never_the_one_that_is_scored(demo: DataSet) -> None:  # noqa: F811
    wanted = PrefixOptions((PrefixKind.DEMONSTRATIONS, PrefixKind.NAMES), 3)
    for context in (c for c in demo.contexts if c.culture == "Japanese"):
        entities = demo.fitting(context)
        native = {entity.surface for entity in entities if entity.culture == "Japanese"}
        asked = with_prefixes(demo, context, entities, wanted)
        named = [(c, group) for c, group in asked if c.context_prefix == "3 names"]
        assert Counter(entity for _, group in named for entity in group) == Counter(entities)
        for with_names, group in named:
            line, _, rest = with_names.text.partition("\n")
            names = line.split("、" if context.language in ("ja", "zh") else ", ")
            assert rest == context.text
            assert len(names) == 3
            assert native.issuperset(names)
            assert not any(entity.surface in names for entity in group)
            assert with_names.base_context_id == context.context_id


ARABIC = """language,culture,type,setting,form,context
ar,Arab,food,neutral,causal,بس لما انا طبخت [MASK]
ar,Arab,food,neutral,causal,وأنا بالبيت أكلت [MASK]
ar,Arab,food,neutral,causal,انام بعد ما اشرب [MASK]
ar,Arab,food,neutral,causal,أنا [MASK] أحب
ar,Arab,food,neutral,masked,أنا [MASK] أحب
"""
ARAB_FOOD = "language,culture,type,entity\n" + "".join(
    f"ar,{culture},food,{name}\n"
    for culture, names in (("Arab", "كبسة منسف"), ("Western", "بيتزا برغر"))
    for name in names.split()
)


def test_pairs_come_from_the_contexts_of_the_data_set_by_rule(run: RunFolder, tmp_path: Path) -> None:  # noqa: F811
    plain = write_own(tmp_path, **{"contexts.csv": ARABIC, "entities.csv": ARAB_FOOD})
    dataset = with_phrasings(plain)
    texts = [(c.phrasing, c.form, c.text) for c in dataset.contexts if c.phrasing]
    assert texts == [
        ("english-like", "causal", "بس لما انا طبخت [MASK]"), ("pro-drop", "causal", "بس لما طبخت [MASK]"),
        ("english-like", "causal", "وأنا بالبيت أكلت [MASK]"), ("pro-drop", "causal", "وبالبيت أكلت [MASK]"),
    ]  # fmt: skip
    told = [str(one) for one in dropped_pronouns(plain.contexts)]
    assert told[0].startswith(
        "3 of 4 ar contexts (causal, neutral) have the pronoun that the language drops, 1 of them"
    )
    assert told[1].startswith("1 of 1 ar contexts (masked, neutral)")
    engine = ToyEngine()
    hold(run, plain)
    score(run, scoring_jobs(dataset, MODEL, DataSelection()), engine)
    assert engine.asked == 4 * 4
    jobs = scoring_jobs(dataset, MODEL, DataSelection(phrasings=True))
    score(run, jobs, engine)
    assert engine.asked == 16 + 2 * 4, "a text that stands in the data set is not scored again as a phrasing"
    assert rows(run, "SELECT phrasing, count(*) FROM scores GROUP BY 1 ORDER BY 1") == [
        ("english-like", 8), ("pro-drop", 8), (None, 16),
    ]  # fmt: skip
    different = (
        "SELECT count(*) FROM scores AS a JOIN scores AS b USING (context, entity_id) "
        "WHERE a.phrasing = 'english-like' AND b.phrasing IS NULL AND a.log_probability <> b.log_probability"
    )
    assert rows(run, different) == [(0,)]
    (difference,) = [r for r in measured(run) if r.rule == "sum" and r.entity_type and r.metric == "cbs_difference"]
    assert (difference.phrasing, difference.other_phrasing, difference.contexts) == ("pro-drop", "english-like", 2)


def test_camels_contexts_with_the_pronoun_are_those_that_were_counted(shared_data: Path) -> None:
    found = dropped_pronouns(Loader(rules_of("camel"), shared_data / "camel").load().contexts)
    counts = {(one.form, one.setting): (one.with_pronoun, one.contexts, one.pairs) for one in found}
    assert counts["causal", "neutral"] == (309, 378, 309)
    assert counts["masked", "neutral"] == (324, 378, 324)


def paired_difference(one: ScoreMatrix, other: ScoreMatrix) -> PairedDifference | None:
    sides = tally(one), tally(other)
    assert sides[0] is not None
    assert sides[1] is not None
    contrast = paired(*sides)
    return mean_contrast([contrast]) if contrast else None


@data_sets(100, 300)
def test_paired_differences_hold_their_level_and_see_more(count: int) -> None:
    """Contexts and entities that differ much, asked twice: 5 % false alarms, and a small difference is seen."""
    random = np.random.default_rng(11)
    called = seen = 0
    for _ in range(count):
        own, other = random.normal(0, 1, 40), random.normal(0, 1, 50)
        level = random.normal(0, 1, (15, 1))

        def panel(shift: float) -> ScoreMatrix:
            drift = random.normal(0, 0.3, (15, 1))
            noise = random.normal(0, 0.5, (15, 40)), random.normal(0, 0.5, (15, 50))
            return ScoreMatrix(own + noise[0], other + level + shift + drift + noise[1])  # noqa: B023

        plain = panel(0.0)
        same, moved = paired_difference(panel(0.0), plain), paired_difference(panel(0.5), plain)
        called += same.p is not None and same.p < 0.05
        seen += moved.p is not None and moved.p < 0.05
    assert 1 <= called <= most(count) * count
    assert seen > 0.9 * count


def test_a_difference_rests_on_what_both_sides_have() -> None:
    random = np.random.default_rng(5)
    one, other = (ScoreMatrix(random.normal(size=(6, 8)), random.normal(size=(6, 9))) for _ in range(2))
    one.native[:, 0] = other.western[2] = np.nan
    other.native[4, 3] = np.nan
    found = paired_difference(one, other)
    missing = [np.isnan(one.native) | np.isnan(other.native), np.isnan(one.western) | np.isnan(other.western)]
    brute = []
    for matrix in (one, other):
        rows = [
            np.mean([b > a for a in own[~gone] for b in west[~lost]])
            for own, west, gone, lost in zip(matrix.native, matrix.western, *missing, strict=True)
            if not lost.all()
        ]
        brute.append(np.mean(rows))
    assert (found.one, found.other) == (pytest.approx(brute[0]), pytest.approx(brute[1]))
    nothing = ScoreMatrix(one.native, np.where(np.arange(9) < 4, one.western, np.nan))
    against = ScoreMatrix(one.native, np.where(np.arange(9) < 4, np.nan, one.western))
    assert paired_difference(nothing, against) is None


def test_the_same_name_in_two_scripts_is_one_entity() -> None:
    """A context and its translation, entities under their English forms, two spellings of one: paired by these."""
    random = np.random.default_rng(9)
    levels = random.normal(0, 1, 8), random.normal(0, 1, 9)
    units = tuple(f"c{n}" for n in range(6)), tuple(f"n{n}" for n in range(8)), tuple(f"w{n}" for n in range(9))

    def language(code: str, order: list[int]) -> ScoreMatrix:
        sides = [level + random.normal(0, 0.3, (6, len(level))) for level in levels]
        ids = tuple(f"{code}{n}" for n in order), tuple(f"{code}w{n}" for n in range(9))
        return ScoreMatrix(
            sides[0][:, order], sides[1], tuple(f"{code}{n}" for n in range(6)), units[0], *ids,
            tuple(units[1][n] for n in order), units[2],
        )  # fmt: skip

    native, english = language("ja", [3, 1, 0, 2, 7, 6, 5, 5]), language("en", [0, 1, 2, 3, 5, 6])
    found = paired_difference(native, english)
    apart = [bias_limits(native), bias_limits(english)]
    assert found.high - found.low < sum(high - low for low, high in apart) / 3


def bias_limits(matrix: ScoreMatrix) -> tuple[float, float]:
    found = tally(matrix)
    assert found is not None
    score = averaged([found], "contexts")
    assert score.low is not None
    assert score.high is not None
    return score.low, score.high


def test_the_translations_of_a_row_share_a_unit_and_so_do_two_phrasings() -> None:
    place = SourceLocation("contexts-indian.xlsx", "Sheet1", 7)
    kind = ("Indian", "food", None, "grounded", "causal")
    hindi, gujarati = (
        MaskedContext("camellia", code, *kind, f"{code} [MASK]", english, None, place)
        for code, english in (("hi", "We  eat [MASK]"), ("gu", "we eat [MASK]"))
    )
    assert hindi.unit == gujarati.unit
    assert replace(hindi, english=None).unit == replace(gujarati, english=None).unit == str(place)
    assert replace(hindi, english=None, place=replace(place, row=8)).unit != str(place)
    pair = [replace(hindi, text=text, phrasing=text, pair="one", english=text) for text in ("english-like", "pro-drop")]
    assert pair[0].unit == pair[1].unit != replace(pair[0], language="gu").unit
