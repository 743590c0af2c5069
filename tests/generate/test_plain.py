"""The wording `plain`: a sentence for each topic, and a line below it with the country or the name."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import CatalogError, ExperimentError
from polyculture.cache.store.schema import CONDITIONS, Prompt
from polyculture.generate.design import PLAIN, PromptDesign, read_preset
from polyculture.generate.integrity import TemplateCheck, check_prompts, wrong_script
from polyculture.generate.prompts import build_prompts
from polyculture.generate.review import glosses
from polyculture.generate.wording import (
    FOLDER,
    WRITE,
    country_called,
    named_countries,
    official_names,
    read_wording,
)
from polyculture.imports.prompts import PromptReader
from polyculture.running.opening import open_workspace
from tests.generate.test_prompts import as_own, own_catalog
from tests.generate.test_wordings import experiment
from tests.polyculture.test_command_line import polyculture

CATALOG = read_catalog()
LANGUAGES = read_preset("full").languages  # that have `write`
COUNTRIES = list(CATALOG.countries)
ALONE = PromptDesign((PLAIN,))


def plain(languages: list[str], countries: list[str], conditions: tuple[str, ...] = CONDITIONS) -> list[Prompt]:
    return build_prompts(CATALOG, languages, list(CATALOG.topics), countries, conditions, design=ALONE)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", CATALOG.languages)
def test_every_country_can_be_asked_about(language: str) -> None:
    """All 249 countries, in each language and topic, pass the gate that a user's own wording has to pass."""
    prompts = plain([language], COUNTRIES)
    assert len(prompts) == len(CATALOG.topics) * (1 + len(COUNTRIES) + len(CONDITIONS) - 2)
    assert check_prompts(prompts) == []
    wording, known = read_wording(CATALOG.language(language)), CATALOG.language(language)
    check = TemplateCheck(known, wording, CATALOG, COUNTRIES)
    assert [what for text in dict.fromkeys(one.text for one in prompts) for what in check.text(text)] == []
    names = {code: country_called(code, known, wording) for code in COUNTRIES}
    assert [code for code, name in names.items() if not name or wrong_script(name, known)] == []
    assert len(set(names.values())) == len(COUNTRIES), "two countries have one name"


@pytest.mark.parametrize("language", CATALOG.languages)
def test_what_is_asked_differs_by_one_line_alone(language: str) -> None:
    prompts = plain([language], ["FR", "CI"])
    neutral = {prompt.topic: prompt.text for prompt in prompts if prompt.condition == "neutral"}
    for prompt in prompts:
        sentence, *below = prompt.text.split("\n")
        assert sentence == neutral[prompt.topic]
        assert len(below) == (prompt.condition != "neutral")
        if prompt.condition.startswith("implicit"):
            assert str(prompt.name) in below[0]
    wording, known = read_wording(CATALOG.language(language)), CATALOG.language(language)
    of_france = [
        prompt.text.split("\n")[1] for prompt in prompts if (prompt.condition, prompt.country) == ("explicit", "FR")
    ]
    assert {str(country_called("FR", known, wording)) in line for line in of_france} == {True}
    assert len(set(of_france)) == 1


def test_the_amount_is_that_of_the_published_measurement() -> None:
    """`bench/lengths.py` counts words, or characters, of the Universal Declaration in each language."""
    measured: dict[str, dict[str, str]] = {}
    with (Path(__file__).parents[2] / "bench" / "results" / "lengths.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["table"] == "How long 50 words are":
                measured.setdefault(row["row"], {})[row["column"]] = row["value"]
    for code in LANGUAGES:
        wording = read_wording(CATALOG.language(code))
        assert wording.length is not None
        assert wording.plain_length is not None
        assert wording.plain_length.amount == round(float(measured[code][f"{wording.length.unit} for 50 English"])), (
            code
        )


def test_a_text_is_as_long_as_the_declaration_of_human_rights_makes_it() -> None:
    """The amount is another than in `write`, in the digits of the language; all else of the sentence is the same."""
    for code in LANGUAGES:
        wording = read_wording(CATALOG.language(code))
        assert wording.length is not None
        assert wording.plain_length is not None
        written = build_prompts(CATALOG, [code], ["food"], [], ["neutral"], design=PromptDesign((WRITE,)))[0].text
        here = build_prompts(CATALOG, [code], ["food"], [], ["neutral"], design=ALONE)[0].text
        assert re.sub(r"\d+", "N", here) == re.sub(r"\d+", "N", written)
        assert [int(digits) for digits in re.findall(r"\d+", here)] == [wording.plain_length.amount]
        assert re.findall(r"[0-9]", here) == [] or re.findall(r"[0-9]", written) != []


@pytest.mark.parametrize(
    ("countries", "prompts", "asked"),
    [
        ('["JP"]', "", {"write"}),
        ('["JP", "FR"]', "", {"plain"}),  # all of them: no run mixes the two unasked
        ('["Brazil"]', "[prompts]\nnames = 2", {"plain"}),
    ],
)
def test_the_wording_that_has_all_countries_is_asked(
    tmp_path: Path, countries: str, prompts: str, asked: set[str]
) -> None:
    file = experiment(tmp_path, prompts)
    file.write_text(file.read_text(encoding="utf-8").replace('["JP"]', countries), encoding="utf-8")
    workspace = open_workspace(file)
    assert {prompt.wording for prompt in workspace.prompts} == asked
    assert set(workspace.manifest().prompts["wordings"]) == asked


def test_a_wording_that_is_named_is_not_replaced(tmp_path: Path) -> None:
    file = experiment(tmp_path, "[prompts]\nwordings = 1")
    file.write_text(file.read_text(encoding="utf-8").replace('["JP"]', '["FR"]'), encoding="utf-8")
    with pytest.raises(CatalogError, match="no wording of country FR") as told:
        _ = open_workspace(file).prompts
    assert 'wordings = ["plain"]' in str(told.value)


def test_a_language_that_has_plain_alone_is_not_said_to_lack_its_sentences() -> None:
    with pytest.raises(
        CatalogError, match="'food' has the wording plain alone in language 'fr', and write is asked"
    ) as told:
        build_prompts(CATALOG, ["fr"], ["food"], ["JP"], ["explicit"], design=PromptDesign(("write",)))
    assert 'wordings = ["plain"]' in str(told.value)


def test_plain_is_said_to_have_no_audience() -> None:
    with pytest.raises(CatalogError, match="the wording plain has no prompts of the condition 'audience'"):
        build_prompts(CATALOG, ["en"], ["food"], ["FR"], ["audience"], design=ALONE)


@pytest.mark.parametrize(
    ("written", "code"),
    [("sr-Latn", None), ("ur_Latn", None), ("pa-Guru", "pa"), ("zh-Hant", "zh-tw"), ("ja-Jpan", "ja"), ("en-US", "en")],
)
def test_a_code_with_another_script_than_that_of_the_prompts_is_unknown(
    tmp_path: Path, written: str, code: str | None
) -> None:
    file = experiment(tmp_path, "")
    file.write_text(
        re.sub("languages = .*", f'languages = ["{written}"]', file.read_text(encoding="utf-8")), encoding="utf-8"
    )
    if code is None:
        with pytest.raises(ExperimentError, match=f"unknown language '{written}'. Did you mean '{written[:2]}'"):
            open_workspace(file)
    else:
        assert open_workspace(file).experiment.languages == (code,)


def test_a_pack_without_the_lines_is_not_asked_as_if_it_had_them(tmp_path: Path) -> None:
    """A topic of one's own has sentences in which the country is inflected: these are no `plain`."""
    text = re.sub(r"\[plain\]\n(.+\n)+", "", (FOLDER / "it.toml").read_text(encoding="utf-8"))
    with pytest.raises(CatalogError, match="'it' has no lines for the wording 'plain'"):
        build_prompts(as_own("it", text), ["it"], ["food"], ["FR"], ["explicit"], design=ALONE)


def test_a_users_own_name_of_a_country_comes_first(tmp_path: Path) -> None:
    (tmp_path / "countries.toml").write_text(
        '[HK]\nwording.en = { name = "Hong Kong City", form = "Hong Kong City", note = "ours" }\n', encoding="utf-8"
    )
    (prompt,) = build_prompts(read_catalog(tmp_path), ["en"], ["food"], ["HK"], ["explicit"], design=ALONE)
    assert prompt.text.endswith("\nThe person's country: Hong Kong City.")


def test_no_prompt_and_no_message_has_the_official_name_of_a_place() -> None:
    """The English names of CLDR are asked and shown, but for two in their official form: Hong Kong SAR China."""
    english = read_wording(CATALOG.language("en"), CATALOG.countries)
    asked = named_countries(CATALOG, CATALOG.language("en"), english)
    assert asked == {code: country.name for code, country in CATALOG.countries.items()}
    for code, language in CATALOG.languages.items():
        wording = read_wording(language, CATALOG.countries)
        assert official_names(CATALOG, code).keys() == {"HK", "MO"}
        assert wording.plain is not None
        assert {"HK", "MO"} <= wording.plain.countries.keys(), code


@pytest.mark.parametrize(
    ("language", "country", "wrong"),
    [
        ("bn", "SC", "সিসিলি"),  # Sicily
        ("gu", "AG", "ઍન્ટિગુઆ અને બર્મુડા"),  # Antigua and Bermuda
        ("ur", "GQ", "استوائی گیانا"),  # Equatorial Guyana
        ("yo", "KP", "Guusu Kọria"),  # South Korea
        ("yo", "KR", "Ariwa Kọria"),  # North Korea
        ("yo", "NE", "Nàìjá"),  # Nigeria
    ],
)
def test_a_name_of_cldr_that_is_another_countrys_is_not_asked(language: str, country: str, wrong: str) -> None:
    (prompt,) = [prompt for prompt in plain([language], [country], ("explicit",)) if prompt.topic == "food"]
    assert wrong not in prompt.text


def test_the_sentence_about_the_language_is_a_line_of_its_own() -> None:
    prompts = build_prompts(CATALOG, ["th"], ["food"], ["FR"], ["explicit"], answer_in_language=True, design=ALONE)
    assert prompts[0].text.split("\n")[2] == read_wording(CATALOG.language("th")).answer_in_language


@pytest.mark.parametrize("language", CATALOG.languages)
def test_an_import_knows_the_country_of_each_of_its_prompts(language: str) -> None:
    reader = PromptReader(CATALOG)
    explicit = plain([language], COUNTRIES, ("explicit",))[: len(COUNTRIES)]
    wrong = [one.country for one in explicit if reader.named(one.text, language).countries != {one.country}]
    assert wrong == []


def test_the_gazetteer_is_refused_where_it_could_find_nothing(tmp_path: Path) -> None:
    """It is no number: no name of the starter is in French."""
    file = experiment(tmp_path, "")
    file.write_text(file.read_text(encoding="utf-8").replace('["en"]', '["en", "fr"]'), encoding="utf-8")
    for command, code in (("plan", 0), ("run", 2)):
        refused = polyculture(command, file, cwd=tmp_path)
        assert refused.returncode == code
        assert "the gazetteer finds nothing in French" in refused.stderr
    assert not (tmp_path / "runs").exists()


def test_a_pack_without_a_form_of_a_country_says_where_to_write_it() -> None:
    text = (FOLDER / "it.toml").read_text(encoding="utf-8")
    catalog = as_own("it", re.sub(r"^JP = .*\n", "", text, flags=re.MULTILINE))
    with pytest.raises(CatalogError, match="no wording of country JP") as told:
        build_prompts(catalog, ["it"], ["food"], ["JP"], ["explicit"], design=PromptDesign((WRITE,)))
    assert "Add JP = {" in str(told.value)


def test_each_language_stands_beside_its_literal_english() -> None:
    """Every sentence and line that is not English stands beside its literal English."""
    for code in CATALOG.languages:
        if code != "en":
            rows = glosses(CATALOG, [code], list(CATALOG.topics))
            assert [row.text for row in rows if not row.gloss] == [], code


def test_it_is_asked_alone(tmp_path: Path) -> None:
    """Its neutral prompts are those of `write`, and one prompt has one answer."""
    with pytest.raises(ExperimentError, match="plain beside others"):
        open_workspace(experiment(tmp_path, '[prompts]\nwordings = ["write", "plain"]'))


def test_a_topic_of_ones_own_has_it_without_a_word_more(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path)
    prompts = build_prompts(catalog, ["en"], ["festivals"], ["FR"], ["neutral", "explicit"], design=ALONE)
    neutral, explicit = (prompt.text for prompt in prompts)
    assert explicit == f"{neutral}\nThe person's country: France."
