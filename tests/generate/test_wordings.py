"""Wordings: which are asked, those of a user's own, and what the gate holds the built-in ones against."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.errors import CatalogError, ExperimentError
from polyculture.cache.store.schema import ALL_CONDITIONS, CONDITIONS
from polyculture.cache.text.scripts import script_counts, script_share
from polyculture.experiment.file import read_experiment
from polyculture.generate.design import PromptDesign, choose_wordings, known_wordings, read_preset, study_wordings
from polyculture.generate.integrity import check_wording
from polyculture.generate.prompts import build_prompts
from polyculture.generate.review import glosses
from polyculture.generate.wording import FOLDER
from polyculture.running.opening import open_workspace
from tests.generate.test_prompts import FESTIVALS, SWAHILI, as_own, own_catalog

CATALOG = read_catalog()
LANGUAGES = list(read_preset("full").languages)  # that have all wordings
TEMPLATES = FESTIVALS.partition("[wording.en]\n")[2]
DESCRIBE = TEMPLATES.replace("Write a short paragraph about", "In about 50 words, describe")
WRITE = TEMPLATES.replace("a short paragraph", "a text of about 50 words")
KINDS = FESTIVALS.partition("[wording.en]\n")[0]
NAMED = f"{KINDS}[wording.en.describe]\n{DESCRIBE}[wording.en.write]\n{WRITE}"


def test_the_built_in_wordings_and_their_order() -> None:
    assert tuple(known_wordings()) == ("write", "describe", "imagine", "paragraph", "plain")
    assert study_wordings() == ("write", "describe", "imagine")
    assert choose_wordings(2) == ("write", "describe")
    assert choose_wordings(["paragraph", "diary"]) == ("paragraph", "diary")


def experiment(folder: Path, prompts: str, more: str = "") -> Path:
    file = folder / "exp.toml"
    text = (
        f'name = "e"\nmodels = ["mock:a"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["JP"]\n{more}\n{prompts}'
    )
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("prompts", "counts"),
    [
        ("", {"write": 4}),
        ("[prompts]\nwordings = 3", {"write": 4, "describe": 4, "imagine": 4}),
        ("[prompts]\nwordings = 3\nnames = 2", {"write": 6, "describe": 6, "imagine": 6}),
        ('[prompts]\nwordings = ["write", "paragraph"]', {"write": 4, "paragraph": 4}),
    ],
)
def test_an_experiment_says_what_is_asked(tmp_path: Path, prompts: str, counts: dict[str, int]) -> None:
    workspace = open_workspace(experiment(tmp_path, prompts))
    assert Counter(prompt.wording for prompt in workspace.prompts) == counts
    told = workspace.manifest().prompts
    assert told["wordings"] == list(counts)
    assert told["seed"] == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("wordings = 4", "prompts.wordings: the study's task has 3 wordings; write a number from 1 to 3, or name them"),
        ("wordings = 0", "prompts.wordings: the study's task has 3 wordings"),
        ("wordings = []", "prompts.wordings: names no wording"),
        ('wordings = ["write", "write"]', "prompts.wordings: names write twice"),
        ('wordings = "write"', "prompts.wordings: is neither a number nor a list of names"),
        ("wordings = true", "prompts.wordings: is neither a number nor a list of names"),
        ("wordings = 1.5", "prompts.wordings: is neither a number nor a list of names"),
        ('wordings = ["a b"]', "prompts.wordings"),
        ("names = 0", "prompts.names"),
        ('names = "frist"', "prompts.names"),
        ("seed = -1", "prompts.seed"),
        ("wording = 3", "unknown key 'prompts.wording'. Did you mean 'wordings'?"),
    ],
)
def test_a_mistake_in_prompts_is_one_line(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(ExperimentError) as fault:
        read_experiment(experiment(tmp_path, f"[prompts]\n{line}"))
    assert told in str(fault.value).replace("exp.toml: ", "", 1)
    assert "\n" not in str(fault.value)


def test_an_unknown_wording_is_told_with_the_nearest() -> None:
    with pytest.raises(CatalogError, match=r"no wording 'paragrph' in language 'en'\. Did you mean 'paragraph'"):
        build_prompts(CATALOG, ["en"], ["food"], ["JP"], CONDITIONS, design=PromptDesign(("paragrph",)))


def test_a_wording_without_a_name_is_the_first_that_is_asked(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path)
    for first in ("write", "paragraph", "diary"):
        design = PromptDesign((first,))
        prompts = build_prompts(catalog, ["en"], ["festivals"], ["JP"], CONDITIONS, design=design)
        assert {prompt.wording for prompt in prompts} == {first}
    with pytest.raises(
        CatalogError, match=r"topics/festivals\.toml: topic 'festivals' has no wording 'describe'"
    ) as told:
        build_prompts(catalog, ["en"], ["festivals"], ["JP"], CONDITIONS, design=PromptDesign(choose_wordings(3)))
    assert "set wordings = 1 under [prompts]" in str(told.value)


def test_wordings_of_ones_own_have_names(tmp_path: Path) -> None:
    language = SWAHILI.replace("[wording.topics.food]", "[wording.wordings.write.food]")
    catalog = own_catalog(tmp_path, NAMED, language)
    design = PromptDesign(("write", "describe"))
    prompts = build_prompts(catalog, ["en"], ["festivals"], ["JP"], CONDITIONS, design=design)
    assert [prompt.text[:15] for prompt in prompts if prompt.condition == "neutral"] == [
        "Write a text of",
        "In about 50 wor",
    ]
    swahili = build_prompts(catalog, ["sw"], ["food"], ["JP"], ["neutral"], design=PromptDesign())
    assert [prompt.wording for prompt in swahili] == ["write"]
    assert check_wording(catalog, ["en"], ["festivals"], ["JP"]) == []
    with pytest.raises(CatalogError, match="no wording 'imagine' in language 'en'") as told:
        build_prompts(catalog, ["en"], ["festivals"], ["JP"], CONDITIONS, design=PromptDesign(("imagine",)))
    assert "set wordings = ['describe', 'write'] under [prompts]" in str(told.value)


def test_two_wordings_of_a_cell_may_not_be_the_same(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path, NAMED.replace(WRITE, DESCRIBE))
    found = [str(finding) for finding in check_wording(catalog, ["en"], ["festivals"], ["JP"])]
    assert len(found) == 4
    assert found[0] == (
        f"{tmp_path}/topics/festivals.toml: wording.en.write.neutral: the same text as wording.en.describe.neutral: "
        "wordings of one cell must differ"
    )


def test_an_audience_is_written_for_a_friend_from_the_country() -> None:
    design = PromptDesign(study_wordings())
    prompts = build_prompts(CATALOG, LANGUAGES, ["music"], ["TR", "US"], ["audience"], design=design)
    assert len(prompts) == 13 * 2 * 3
    assert {prompt.country for prompt in prompts} == {"TR", "US"}
    english = next(prompt for prompt in prompts if prompt.language == "en")
    assert english.text == (
        "Write a text of about 50 words for a friend from Türkiye on a person who is listening to favourite music."
    )
    assert english.name is None


@pytest.mark.parametrize(("topic", "wording"), [("festivals", "write"), ("food", "paragraph")])
def test_a_wording_without_an_audience_is_told(tmp_path: Path, topic: str, wording: str) -> None:
    with pytest.raises(CatalogError, match="no template for audience") as told:
        build_prompts(own_catalog(tmp_path), ["en"], [topic], ["JP"], ["audience"], design=PromptDesign((wording,)))
    assert "take 'audience' out of the conditions" in str(told.value)


@pytest.mark.parametrize(
    ("new", "what"),
    [
        ("circa 60 parole", "says 60; [length] has 50 words"),
        ("poche parole", "says no number; [length] has 50 words"),
        ("circa 50 parole in 5 frasi", "says 50, 5;"),
    ],
)
def test_a_wording_with_another_length_is_found(new: str, what: str) -> None:
    text = (FOLDER / "it.toml").read_text(encoding="utf-8")
    start = text.index("[wordings.write.food]")
    catalog = as_own("it", text[:start] + text[start:].replace("circa 50 parole", new, 1))
    found = check_wording(catalog, ["it"], ["food"], ["JP"])
    assert [finding.place for finding in found if what in finding.what] == ["wording.wordings.write.food.neutral"]


def test_a_country_without_an_origin_is_told_where_the_language_has_them(tmp_path: Path) -> None:
    own = tmp_path / "countries.toml"
    own.write_text('[KE]\nwording.de = { name = "Kenia", form = "in Kenia" }\n', encoding="utf-8")
    catalog: Catalog = read_catalog(tmp_path)
    with pytest.raises(CatalogError, match=r"countries\.toml: KE\.wording\.de: no origin") as told:
        build_prompts(catalog, ["de"], ["food"], ["KE"], ["explicit"])
    assert "aus den Vereinigten Arabischen Emiraten" in str(told.value)


def test_glosses_stand_side_by_side() -> None:
    languages, topics = LANGUAGES, list(CATALOG.topics)
    rows = glosses(CATALOG, languages, topics)
    assert len(rows) == 13 * 6 * (3 * 5 + 4 + 4)
    assert all(
        row.gloss and script_share(script_counts(re.sub(r"{.*?}", "", row.gloss)), ["Latn"]) == 1 for row in rows
    )
    assert all(row.gloss != row.text for row in rows if row.language != "en")
    assert [row.language for row in rows[:13]] == languages
    first = {(row.wording, row.topic, row.condition) for row in rows[:13]}
    assert first == {("write", topics[0], "neutral")}
    assert [row.condition for row in rows[: 13 * 5 : 13]] == list(ALL_CONDITIONS)
    english = [row for row in rows if row.language == "en"]
    assert all(row.gloss == row.text for row in english)
