"""The papers' protocols as presets: their files, what they ask of the published data, and what a user changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from polyculture.instruments.cbs.camel_draws import CamelDraws
from polyculture.instruments.cbs.instrument import CbsOptions
from polyculture.instruments.cbs.presets import PRESETS, PresetOptions, label, overridden, read_preset, told
from polyculture.instruments.cbs.selection import scoring_jobs
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import BOTH, DataSet, MaskedContext
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import Selection, chosen_contexts
from tests.instruments.test_cbs_command import folder, rows  # noqa: F401
from tests.instruments.test_cbs_store import DEMO, MODEL
from tests.instruments.test_datasets import SHARED, write_own
from tests.polyculture.test_command_line import one_line, polyculture

NAMES = sorted(path.stem for path in PRESETS.glob("*.toml"))


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_makes_every_choice(name: str) -> None:
    preset = read_preset(name)
    options = CbsOptions.model_validate({"preset": name})
    for option in PresetOptions.model_fields:
        assert getattr(options, option) == getattr(preset.options, option)
    assert not overridden(preset, options.model_dump())
    assert CbsOptions.model_validate(options.model_dump(mode="json")) == options  # as a run keeps it


def test_ours_is_what_is_done_without_one() -> None:
    assert CbsOptions.model_validate({}) == CbsOptions.model_validate({"preset": "ours"})
    assert label("ours", read_preset("ours"), CbsOptions().model_dump()) is None


def test_what_the_user_says_wins_and_is_told() -> None:
    options = CbsOptions.model_validate({"preset": "camel", "draws": 2, "as_published": False, "contexts": 3})
    assert (options.draws, options.entities, options.as_published, options.average) == (2, 50, False, "columns")
    line = told("camel", read_preset("camel"), options.model_dump())
    assert "You changed: --as-published no, not yes, --draws 2, not 5" in line
    assert "Only a part is asked (--contexts)" in line
    expected = "camel, as_published = no, draws = 2, in part"
    assert label("camel", read_preset("camel"), options.model_dump()) == expected


def test_a_type_that_is_named_is_not_left_out() -> None:
    options = CbsOptions.model_validate({"preset": "camellia", "type": ["names"]})
    assert options.kinds_left_out == (("ur", "sports"),)


@pytest.fixture
def names(tmp_path: Path) -> DataSet:
    """Contexts of names with and without a gender; three native women, two native men, four Western ones of each."""
    native = [("female", name) for name in ("Asha", "Neema", "Zawadi")] + [("male", name) for name in ("Juma", "Ali")]
    western = [("female", f"Ann{n}") for n in range(4)] + [("male", f"Bob{n}") for n in range(4)]
    people = [("Swahili", *one) for one in native] + [("Western", *one) for one in western]
    entities = [f"sw,{culture},names,{name},{gender}" for culture, gender, name in people]
    contexts = ["sw,Swahili,names,grounded,Rafiki yangu [MASK],", "sw,Swahili,names,grounded,Dada yangu [MASK],female"]
    return write_own(
        tmp_path,
        **{
            "entities.csv": "\n".join(["language,culture,type,entity,gender", *entities, ""]),
            "contexts.csv": "\n".join(["language,culture,type,setting,context,gender", *contexts, ""]),
        },
    )


def drawn(dataset: DataSet, drawing: CamelDraws) -> dict[str, Counter[tuple[str, str | None]]]:
    (job,) = scoring_jobs(dataset, MODEL, Selection(), drawing=drawing)
    return {context.text: Counter((e.culture, e.gender) for e in entities) for context, entities in job.asked}


def test_a_context_of_no_gender_is_asked_once_for_each(names: DataSet) -> None:
    together = drawn(names, CamelDraws(draws=1, entities=2))["Rafiki yangu [MASK]"]
    assert (together.total(), sum(n for (culture, _), n in together.items() if culture == "Western")) == (4, 2)
    apart = drawn(names, CamelDraws(draws=1, entities=2, genders_apart=True))
    assert apart["Rafiki yangu [MASK]"] == Counter(
        {(culture, gender): 2 for culture in ("Swahili", "Western") for gender in ("female", "male")}
    )
    assert apart["Dada yangu [MASK]"] == Counter({("Swahili", "female"): 2, ("Western", "female"): 2})


def test_both_sides_are_capped_by_the_native_one(names: DataSet) -> None:
    capped = drawn(names, CamelDraws(draws=1, entities=50, equal_sides=True, genders_apart=True))
    assert capped["Rafiki yangu [MASK]"] == Counter(
        {("Swahili", "female"): 3, ("Western", "female"): 3, ("Swahili", "male"): 2, ("Western", "male"): 2}
    )
    free = drawn(names, CamelDraws(draws=1, entities=50, genders_apart=True))
    assert free["Rafiki yangu [MASK]"]["Western", "male"] == 4


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published files are not here")
@pytest.mark.parametrize("form", ["causal", "masked"])
def test_camellias_table_counts_contexts_so(form: str) -> None:
    """Table 10: 307 + 51 in Chinese, 424 + 66 in Korean, 277 in Japanese. Both sheets have these totals.

    They differ by type, in Chinese alone: the causal sheets have 51 contexts of names (27 + 24) as the masked ones have
    (25 + 26), so that the totals cannot tell which of them the paper counted.
    """
    dataset = load(rules_of("camellia"), SHARED / "camellia", as_published=True)
    preset = CbsOptions.model_validate({"preset": "camellia", "form": form})
    selection = preset.selection((), form, None, None)
    chosen = chosen_contexts(dataset, _with(selection, preset))
    asked = Counter[str]()
    again = Counter[str]()
    for (language, _, kind), contexts in chosen:
        asked[language] += len(contexts)
        again[language] += len(contexts) if kind == "names" and all(_of_none(context) for context in contexts) else 0
    assert asked == {"zh": 307, "ko": 424, "ja": 277}
    assert again == {"zh": 51, "ko": 66, "ja": 0}
    of_names = [c.setting for _, contexts in chosen for c in contexts if (c.language, c.entity_type) == ("zh", "names")]
    assert Counter(of_names) == (
        {"grounded": 27, "neutral": 24} if form == "causal" else {"grounded": 25, "neutral": 26}
    )


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published files are not here")
def test_camellias_causal_sheets_without_names() -> None:
    dataset = load(rules_of("camellia"), SHARED / "camellia", as_published=True)
    preset = CbsOptions.model_validate({"preset": "camellia-causal"})
    chosen = chosen_contexts(dataset, _with(preset.selection((), "causal", None, None), preset))
    asked = Counter[str]()
    for (language, _, _), contexts in chosen:
        asked[language] += len(contexts)
    assert asked == {"zh": 307 - 51, "ko": 424 - 66, "ja": 277}


def _with(selection: Selection, options: CbsOptions) -> Selection:
    from dataclasses import replace

    return replace(selection, left_out=options.kinds_left_out)


def _of_none(context: MaskedContext) -> bool:
    return context.gender in (None, BOTH)


def test_a_slip_in_what_is_left_out_is_refused_and_not_asked(folder: Path) -> None:  # noqa: F811
    own = ("cbs", "exp.toml", "--data", "own", "--folder", DEMO)
    slip = polyculture(*own, "--leave-out", "beverages", cwd=folder)
    assert "--leave-out beverages: own has no such contexts. Did you mean 'beverage'?" in one_line(slip)
    assert not (folder / "runs").exists()


def test_the_command_runs_a_preset_and_tells_what_was_changed(folder: Path) -> None:  # noqa: F811
    few = ("--data", "own", "--folder", DEMO, "--culture", "Indian", "--contexts", "3", "--leave-out", "names")
    done = polyculture(
        "cbs", "exp.toml", "--preset", "camellia", *few, "--no-as-published", "--entities", "6", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "preset camellia (Naous et al. 2025, Table 10)" in done.stderr
    assert "You changed: --data own, not camellia, --as-published no, not yes, --entities 6, not 50" in done.stderr
    assert "names" not in done.stdout
    assert "average types" in " ".join(done.stdout.split())
    kinds = {kind for (kind,) in rows(folder, "SELECT DISTINCT entity_type FROM scores")}
    assert kinds == {"food", "beverage"}
    (made,) = rows(folder, "SELECT DISTINCT preset FROM bias_variants")
    assert made == ("camellia, as_published = no, entities = 6, leave_out = names, in part",)
    assert rows(folder, "SELECT DISTINCT draws, drawn FROM bias_variants WHERE metric = 'cbs'") == [(3, 6)]
    half = polyculture(
        "cbs", "exp.toml", "--preset", "camellia", *few, "--no-as-published", "--entities", "6",
        "--ties", "half", "--average", "pairs", "--rule", "probability", cwd=folder,
    )  # fmt: skip
    assert half.returncode == 0, half.stderr
    assert "Loading weights" not in half.stderr  # nothing is asked again
    assert "(rule probability, ties half, average pairs)" in half.stdout


def test_an_unknown_preset_is_one_line(folder: Path) -> None:  # noqa: F811
    assert "camellia-causal" in one_line(polyculture("cbs", "exp.toml", "--preset", "camelia", cwd=folder), 2)
