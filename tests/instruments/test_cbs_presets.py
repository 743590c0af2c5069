"""The papers' protocols as presets: where each choice is from, what they ask, and what a user changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyculture.instruments.cbs.camel_draws import CamelDraws
from polyculture.instruments.cbs.options import CbsOptions
from polyculture.instruments.cbs.protocol import ScoreProtocol
from polyculture.instruments.cbs.step import scoring_jobs
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.datasets.presets import PRESETS, PaperPreset, read_preset, told
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.instruments.papers.options import protocol_values
from polyculture.running.call_list import checked_call, entry_of, expanded
from polyculture.running.opening import open_workspace
from tests.instruments.test_cbs_command import folder, rows  # noqa: F401
from tests.instruments.test_cbs_store import DEMO, MODEL
from tests.instruments.test_datasets import SHARED, write_own
from tests.instruments.test_swaps_command import says_in_file
from tests.polyculture.test_command_line import one_line, polyculture

NAMES = sorted(path.stem for path in PRESETS.glob("*.toml"))
COMMANDS = ("cbs", "sentiment", "qa", "ner")
PAPERS = SHARED.parent / "papers"
_PLACE = re.compile(r"(Table|Figure|Appendix) \w+|\b\d(?:\.\d)*\b|\b[A-Z]\.\d\b")


def places(preset: PaperPreset) -> Iterator[str]:
    """Every place that a preset names for a choice or a part."""
    for command in COMMANDS:
        yield from (choice.where for choice in preset.choices(command).values())
    yield from (choice.where for choice in preset.experiment.values())
    for part in preset.parts:
        yield part.where
        yield from (choice.where for choice in part.options.values())


@pytest.mark.parametrize("name", NAMES)
def test_each_choice_names_a_place_in_the_paper_or_is_ours(name: str) -> None:
    named = [where for where in places(read_preset(name)) if not where.startswith("ours: ")]
    assert named
    for where in named:
        found = _PLACE.match(where)
        assert found, where
        if PAPERS.is_dir():
            text = (PAPERS / f"{name}.txt").read_text(encoding="utf-8")
            place = found[0].removeprefix("Appendix ")
            assert re.search(rf"^[#*\s]*(?:Appendix )?{re.escape(place)}[* :]", text, re.MULTILINE), where


@pytest.mark.parametrize("name", NAMES)
def test_each_part_of_a_paper_is_asked_by_options_that_its_command_has(name: str) -> None:
    """A part whose option a command does not know, or whose set is not there, would fail at the user's."""
    for part in read_preset(name).parts:
        entry = entry_of(part.command)
        assert entry is not None, part.command
        options = entry.commands[part.command].options
        checked = options.model_validate(protocol_values(name, part)).model_dump()
        assert {option: checked[option] for option in part.options}.keys() == part.options.keys()


def test_what_a_file_says_of_a_study_reaches_the_part_of_a_paper(tmp_path: Path) -> None:
    """`[probe]` did, and `[instruments.probe]` did not: numbers were of other settings than the file names."""
    file = tmp_path / "exp.toml"
    text = 'name = "p"\nmodels = ["mock:m"]\n[instruments.probe]\nset = "culturescope"\nculture = ["Chinese"]\n'
    file.write_text(f"{text}answer_tokens = 9\nseed = 4\n", encoding="utf-8")
    workspace = open_workspace(file)
    whole = checked_call(workspace, "paper", {"name": "culturescope", "part": ["probe"]})
    probes = [one.options.model_dump() for one in expanded(whole) if one.command == "probe"]
    assert probes
    assert {(one["answer_tokens"], one["seed"]) for one in probes} == {(9, 4)}
    assert not any(
        one["culture"] for one in probes
    )  # which cultures the own study is about is no setting of the paper's part


def test_camellias_score_is_over_all_pairs_and_camels_over_draws() -> None:
    camellia, camel = (CbsOptions.model_validate({"preset": name}) for name in ("camellia", "camel"))
    assert (camellia.protocol, camellia.entities) == (ScoreProtocol("sum", "types"), None)
    assert (camel.protocol, camel.form) == (ScoreProtocol("probability", "columns", 5, 50), "model")
    assert camellia.as_published
    assert camel.as_published
    for options in (camellia, camel):
        assert CbsOptions.model_validate(options.model_dump(mode="json")) == options  # as a run keeps it
    assert CbsOptions().protocol == ScoreProtocol()


def test_what_the_user_says_wins_and_is_told() -> None:
    options = CbsOptions.model_validate({"preset": "camel", "draws": 2, "as_published": False, "contexts": 3})
    assert (options.draws, options.entities, options.as_published, options.average) == (2, 50, False, "columns")
    line = told("camel", "cbs", options.model_dump())
    assert "draws 5 (4.2.2)" in line
    assert "You changed: as_published no, not yes, draws 2, not 5" in line
    assert "Only a part is asked (contexts)" in line


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


def drawn(dataset: DataSet, drawing: CamelDraws | None) -> dict[str, Counter[tuple[str, str | None]]]:
    (job,) = scoring_jobs(dataset, MODEL, DataSelection(), drawing=drawing)
    return {context.text: Counter((e.culture, e.gender) for e in entities) for context, entities in job.asked}


def test_for_a_context_of_no_gender_a_draw_takes_so_many_of_each_column(names: DataSet) -> None:
    together = drawn(names, CamelDraws(1, 2, 1, by_gender=False))["Rafiki yangu [MASK]"]
    assert (together.total(), sum(n for (culture, _), n in together.items() if culture == "Western")) == (4, 2)
    apart = drawn(names, CamelDraws(1, 2, 1))
    assert apart["Rafiki yangu [MASK]"] == Counter(
        {(culture, gender): 2 for culture in ("Swahili", "Western") for gender in ("female", "male")}
    )
    assert apart["Dada yangu [MASK]"] == Counter({("Swahili", "female"): 2, ("Western", "female"): 2})
    assert drawn(names, None)["Rafiki yangu [MASK]"].total() == 13  # as Camellia asks: all of them


def test_the_command_runs_a_preset_marks_its_number_and_tells_what_was_changed(folder: Path) -> None:  # noqa: F811
    few = ("--data", "own", "--folder", DEMO, "--culture", "Indian", "--contexts", "3", "--type", "food")
    few = (*few, "--type", "beverage")
    says_in_file(folder / "exp.toml", "cbs", as_published=False)
    done = polyculture("cbs", "exp.toml", "--preset", "camellia", *few, "--entities", "6", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "preset camellia (Naous et al. 2025, arXiv:2510.05291): data camellia (3)" in done.stderr
    assert "You changed: data own, not camellia, as_published no, not yes" in done.stderr
    head = next(line for line in done.stdout.splitlines() if "ours" in line).split()
    assert head[:3] == ["place", "setting", "camellia"]
    assert "en Indian, all types" in done.stdout
    assert max(map(len, map(str.rstrip, done.stdout.splitlines()))) <= 100
    assert {kind for (kind,) in rows(folder, "SELECT DISTINCT entity_type FROM scores")} == {"food", "beverage"}
    camel = polyculture("cbs", "exp.toml", "--preset", "camel", *few, "--entities", "4", cwd=folder)
    assert camel.returncode == 0, camel.stderr
    assert " sd " in camel.stdout


def test_an_unknown_preset_is_one_line(folder: Path) -> None:  # noqa: F811
    assert "camellia" in one_line(polyculture("cbs", "exp.toml", "--preset", "camelia", cwd=folder), 2)
