"""Copies count once and are reported; equal texts that chance explains are samples like others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from polyculture.cache.store.manifest import require_run, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.engines.answer import read_text
from polyculture.metrics.measure import measure
from polyculture.metrics.text_doubts import text_doubts
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

N = 60
DISHES = ("sushi", "ramen", "udon", "tempura", "okonomiyaki", "mochi")


def written(tmp_path: Path, text_of: Callable[[str, int], str]) -> StoreBuilder:
    """Two models that name the same dishes in `text_of(model, sample)`."""
    builder = StoreBuilder(tmp_path / "run", n=N, models=("one", "two"))
    prompts = [builder.ask("en", "food", country) for country in ("JP", "IT")]
    for model in builder.models:
        for prompt in prompts:
            for sample in range(N):
                named = [dish for k, dish in enumerate(DISHES) if (sample >> k) & 1 or sample % 6 == k]
                builder.answer(prompt, named, model=model, sample=sample, text=text_of(model, sample))
    for number, dish in enumerate(DISHES):
        builder.link(dish, f"Q{number + 1}")
    return builder


def measured(builder: StoreBuilder) -> RunFolder:
    """The run, whose dishes are linked."""
    for number, dish in enumerate(DISHES):
        builder.link(dish, f"Q{number + 1}")
    run = builder.write()
    measure(run)
    return run


def doubts(builder: StoreBuilder, **sampling: float) -> tuple[list[str], set[tuple[str | None, int]]]:
    """The lines, and why numbers of the two models have no interval, and how many do."""
    run = builder.write()
    asked = require_run(run).model_copy(update={"sampling": sampling})
    write_manifest(asked, run.manifest)
    measure(run)
    with open_store(run, store_layout()) as store:
        reasons = store.sql(
            "SELECT no_interval, count(low) FROM numbers WHERE metric = 'granularity' AND level = 'cell' GROUP BY ALL"
        )
        return list(text_doubts(store, asked)), set(reasons.fetchall())


def test_copies_count_once_and_are_reported(tmp_path: Path) -> None:
    """Each text occurs twice: half of them are the sample."""
    builder = written(tmp_path, lambda model, sample: f"{model} {sample // 2}" + "\n" * (sample % 3))
    lines, intervals = doubts(builder)
    assert [line.split(":")[0] for line in lines] == ["one", "two"]
    assert all(f"{N} of {2 * N} texts" in line for line in lines)
    assert intervals == {(None, 4)}
    with open_store(RunFolder(tmp_path / "run"), store_layout()) as store:
        counts = "SELECT DISTINCT answered, distinct_texts, repeated, copies, extracted, copied FROM health"
        assert store.sql(counts).fetchall() == [(N, N // 2, N // 2, N // 2, N // 2, N // 2)]
        units = "SELECT DISTINCT units FROM numbers WHERE metric = 'diversity' AND level = 'cell'"
        assert store.sql(units).fetchall() == [(N // 2,)]


def test_short_answers_repeat_by_chance_and_have_intervals(tmp_path: Path) -> None:
    random = Random(3)
    lines, intervals = doubts(written(tmp_path, lambda *_: f"My friend had {random.choice(DISHES)}."))
    assert lines == []
    assert intervals == {(None, 4)}


def test_short_answers_that_differ_in_a_number_alone_are_named(tmp_path: Path) -> None:
    """Chance explains them, and so do copies that somebody numbered: nothing in the texts says which it is."""
    random = Random(3)
    builder = StoreBuilder(tmp_path / "run", n=N, models=("one", "two"))
    prompt = builder.ask("en", "food", "JP")
    for model in builder.models:
        for sample in range(N):
            dish = random.choice(DISHES) if model == "one" else f"dish {chr(97 + sample % 26)}{sample // 26 * 'x'}"
            text = f"My friend had {dish}. {sample}"
            builder.answer(prompt, [], model=model, sample=sample, text=text, origin=f"file:{sample}")
    with open_store(run := measured(builder), store_layout()) as store:
        [line] = text_doubts(store, require_run(run))
        told = dict(store.sql("SELECT model, renumbered FROM health").fetchall())
    assert line.startswith("one: in en ")
    assert f"{told['one']} of {N} texts differ" in line
    assert told["one"] > 0.9 * N
    assert told["two"] == 0


def test_refusals_in_the_same_words_are_samples_all_the_same(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run", n=N, models=("one", "two"))
    prompt = builder.ask("en", "food", "JP")
    for model in builder.models:
        for sample in range(N):
            if refused := sample % 5 > 0:
                builder.answer(prompt, [], model=model, sample=sample, text="I cannot help.", refused=refused)
            else:
                builder.answer(prompt, [DISHES[sample % 4]], model=model, sample=sample, text=f"{model} {sample}")
    with open_store(run := measured(builder), store_layout()) as store:
        lines = list(text_doubts(store, require_run(run)))
        assert lines == [
            f"{model}: in en {N - N // 5} of {N} texts are refusals, which name nothing" for model in ("one", "two")
        ]
        found = store.sql("SELECT DISTINCT distinct_texts, repeated, shared, refused FROM health").fetchall()
    assert found == [(N // 5, 0, 0, N - N // 5)]


def test_texts_that_were_cut_are_counted(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run", n=3, models=("one", "two"))
    prompt = builder.ask("en", "food", "JP")
    for model in builder.models:
        for sample, raw in enumerate(("Ramen.\n\nUser: More?\n\nAI: Udon.", "Sushi.<|im_end|>", "Udon.")):
            answer = read_text(raw if model == "one" else "Mochi", None)
            builder.answer(prompt, model=model, sample=sample, text=f"{answer.text} {model} {sample}", note=answer.note)
    with open_store(builder.write(), store_layout()) as store:
        lines = list(text_doubts(store, require_run(RunFolder(tmp_path / "run"))))
    assert lines == ["one: 1 of 3 texts lost a next turn that they began; `note` in responses says at what"]


@pytest.mark.parametrize(("texts", "distinct", "why"), [(N, N, None), (N, N // 2, None), (24, 8, "few responses")])
def test_a_difference_is_tested_over_the_distinct_texts(
    tmp_path: Path, texts: int, distinct: int, why: str | None
) -> None:
    """Of equal texts one counts: of 24, each three times, 8 are left."""
    builder = StoreBuilder(tmp_path / "run", n=N, models=("one", "two"))
    prompts = [builder.ask("en", "food", country) for country in ("JP", "IT")]
    for model, sizes in (("one", (N, N)), ("two", (texts // 2, distinct // 2))):
        for prompt in prompts:
            for sample in range(sizes[0]):
                told = sample % sizes[1]
                mention = {"surface": DISHES[told % 4], "granularity": told // 2 % 2}
                builder.answer(prompt, [mention], model=model, sample=sample, text=f"{model} {told}")
    with open_store(measured(builder), store_layout()) as store:
        found = store.sql(
            "SELECT DISTINCT low IS NULL, reason FROM differences WHERE metric = 'granularity'"
            " AND target = 'same_prompts' AND dimension = 'model'"
        ).fetchall()
    assert found == [(why is not None, why)]


@pytest.mark.parametrize(("own", "why"), [(True, None), (False, "models with the same texts")])
def test_what_two_models_wrote_alike_is_no_further_sample_of_both_together(
    tmp_path: Path, own: bool, why: str | None
) -> None:
    """One model under two names once halved the variance of every difference over all models."""
    builder = StoreBuilder(tmp_path / "run", n=N, models=("one", "two"))
    for country in ("JP", None):
        prompt = builder.ask("en", "food", country)
        for model in builder.models:
            for sample in range(N):
                mention = {"surface": DISHES[sample % 4], "granularity": (sample + (country is None)) // 3 % 2}
                text = f"{country} {sample} {model if own else ''}"
                builder.answer(prompt, [mention], model=model, sample=sample, text=text)
    with open_store(measured(builder), store_layout()) as store:
        found = store.sql(
            "SELECT DISTINCT reason FROM differences WHERE metric = 'granularity' AND target = 'same_prompts'"
            " AND dimension = 'condition'"
        ).fetchall()
    assert found == [(why,)]


def test_each_language_is_decided_by_itself(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run", n=N, models=("one",))
    for language, distinct in (("en", N // 2), ("de", N)):
        prompt = builder.ask(language, "food", "JP")
        for sample in range(N):
            told = sample % distinct
            builder.answer(prompt, [DISHES[told % 4]], model="one", sample=sample, text=f"{language} {told}")
    with open_store(run := measured(builder), store_layout()) as store:
        found = store.sql(
            "SELECT language, units FROM numbers WHERE metric = 'diversity' AND level = 'cell' ORDER BY ALL"
        ).fetchall()
        [line] = text_doubts(store, require_run(run))
    assert found == [("de", N), ("en", N // 2)]
    assert f"in en {N // 2} of {N}" in line


@pytest.mark.parametrize("shown", ["seed", "text", "numbered text", "short text"])
def test_answers_to_two_prompts_of_one_seed_or_text_are_one_sample(tmp_path: Path, shown: str) -> None:
    """The file says it: each sample names the same in all four prompts, so that more prompts tell no more."""
    long = 3 * "They had it for dinner at home on that evening, as they do each day that God sends them. "
    widths = []
    for known in (False, True):
        builder = StoreBuilder(tmp_path / str(known), n=N, models=("one",))
        for country in ("JP", "IT", "MX", "KR"):
            prompt = builder.ask("en", "food", country)
            for sample in range(N):
                own = {"text": long, "numbered text": f"{long} {len(country + str(sample))}", "short text": "."}
                text = f"{sample * 'x'}x {own.get(shown, country) if known else country}"
                mention = {"surface": DISHES[sample % 4], "granularity": sample // 3 % 2}
                seed = sample if known and shown == "seed" else None
                builder.answer(prompt, [mention], model="one", sample=sample, text=text, seed=seed, origin="f:1")
        with open_store(measured(builder), store_layout()) as store:
            [row] = store.sql(
                "SELECT low, high FROM numbers WHERE metric = 'granularity' AND level = 'model'"
            ).fetchall()
        widths.append(row[1] - row[0])
    assert widths[1] / widths[0] == pytest.approx(2, abs=0.15), "four times the variance"


def test_answers_of_one_record_are_one_sample(tmp_path: Path) -> None:
    """A request gave four texts, and all of them name the same: the file shows which these are."""
    widths = []
    for together in (1, 4):
        builder = StoreBuilder(tmp_path / str(together), n=N, models=("one",))
        for at, country in enumerate(("JP", "IT", "MX", "KR")):
            prompt = builder.ask("en", "food", country)
            for sample in range(N):
                mention = {"surface": DISHES[sample % 4], "granularity": (sample // 4 + at) % 2}
                origin = f"f:{at * N + sample // together}"
                text = f"{country} {sample * 'x'}"
                builder.answer(prompt, [mention], model="one", sample=sample, text=text, origin=origin)
        with open_store(measured(builder), store_layout()) as store:
            [row] = store.sql(
                "SELECT low, high FROM numbers WHERE metric = 'granularity' AND level = 'model'"
            ).fetchall()
        widths.append(row[1] - row[0])
    assert widths[1] / widths[0] == pytest.approx(2.05, abs=0.15), "four times the variance"


def test_deterministic_sampling_is_named_as_the_reason(tmp_path: Path) -> None:
    long = "They eat what was there yesterday, and nobody asks why, or what there will be on the next day"
    lines, intervals = doubts(written(tmp_path, lambda model, sample: f"{sample // 2} {model} {long}"), temperature=0.0)
    assert len(lines) == 2
    assert all("deterministic" in line for line in lines)
    assert intervals == {("deterministic sampling", 0)}


def test_two_names_of_one_model_are_told(tmp_path: Path) -> None:
    [line], intervals = doubts(written(tmp_path, lambda _, sample: str(sample)))
    assert line.startswith("one and two: ")
    assert f"{2 * N} of {2 * N}" in line
    assert intervals == {(None, 4)}, "each model's own numbers stand"


def test_of_many_names_of_one_model_there_is_one_line(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run", models=[f"m{number}" for number in range(5)])
    for country in ("JP", "IT", "MX"):
        prompt = builder.ask(country=country)
        for model in builder.models:
            for sample in range(20):
                builder.answer(prompt, model=model, sample=sample, text=f"{country} {sample}")
    lines, _ = doubts(builder)
    assert [line.split(":")[0] for line in lines] == ["m0 and m1 and 3 more models"]


def test_answers_in_another_language_are_told_where_they_are_most(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    for language, other in (("de", 2), ("ja", 1)):
        prompt = builder.ask(language)
        for sample in range(3):
            found = "en" if sample < other else language
            builder.answer(prompt, text=f"{language} {sample}", sample=sample, detected_language=found)
    lines, _ = doubts(builder)
    assert len(lines) == 1
    assert "in de, 2 of 3 texts" in lines[0]


def test_an_ending_that_no_table_knows_is_told_with_its_word(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    prompt = builder.ask()
    builder.answer(prompt, finish_reason="sunset")
    builder.answer(prompt, finish_reason="stop")
    lines, _ = doubts(builder)
    assert len(lines) == 1
    assert "sunset" in lines[0]
    assert lines[0].startswith("m: 1 ")
