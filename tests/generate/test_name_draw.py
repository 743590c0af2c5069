"""The draw of names: the same in all languages and topics, different between wordings, kept as designs grow."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.errors import CatalogError
from polyculture.cache.store.schema import Prompt
from polyculture.generate.design import PromptDesign
from polyculture.generate.names import POOL, PersonName, drawn_names, read_names
from polyculture.generate.prompts import build_prompts
from polyculture.generate.wording import names_source, read_wording

ALL = ("write", "describe", "imagine", "paragraph")


def people(number: int) -> list[PersonName]:
    return [PersonName(latin=f"Name{index}") for index in range(number)]


def draw(known: int, wordings: int, names: int, seed: int = 1, country: str = "IT") -> list[list[str]]:
    """The names by wording."""
    asked = tuple(f"w{place}" for place in range(wordings))
    design = PromptDesign(asked, names, seed)
    return [[name.latin for name in drawn_names(country, "implicit_male", people(known), design, one)] for one in asked]


designs = st.integers(1, 12).flatmap(
    lambda known: st.tuples(st.just(known), st.integers(1, 8), st.integers(1, min(known, 6)))
)


@given(designs, st.integers(0, 2**31 - 1))
def test_wordings_have_different_names_while_there_are_enough(design: tuple[int, int, int], seed: int) -> None:
    known, wordings, names = design
    drawn = draw(known, wordings, names, seed)
    for of_wording in drawn:
        assert len(set(of_wording)) == names
    if wordings * names <= min(known, POOL):
        assert len({name for of_wording in drawn for name in of_wording}) == wordings * names


@given(designs, st.integers(0, 3), st.integers(0, 3), st.integers(0, 2**31 - 1))
def test_more_wordings_and_names_change_nothing(
    design: tuple[int, int, int], more_wordings: int, more_names: int, seed: int
) -> None:
    known, wordings, names = design
    small = draw(known, wordings, names, seed)
    large = draw(known, wordings + more_wordings, min(known, names + more_names), seed)
    assert [of_wording[:names] for of_wording in large[:wordings]] == small


@given(st.integers(POOL, 3 * POOL), st.integers(1, 4), st.integers(1, 2))
def test_names_that_are_added_to_a_file_change_nothing(known: int, wordings: int, names: int) -> None:
    assert draw(known, wordings, names) == draw(POOL, wordings, names)


@pytest.mark.parametrize(("known", "wordings", "names"), [(2, 4, 1), (3, 4, 2), (8, 4, 3), (8, 3, 3), (5, 4, 4)])
def test_names_come_again_evenly(known: int, wordings: int, names: int) -> None:
    uses = Counter(name for of_wording in draw(known, wordings, names) for name in of_wording)
    assert len(uses) == known
    assert max(uses.values()) - min(uses.values()) <= 1


def test_a_single_name_is_drawn_too() -> None:
    drawn = {seed: draw(8, 1, 1, seed)[0][0] for seed in range(200)}
    counts = Counter(drawn.values())
    assert len(counts) == 8
    assert max(counts.values()) < 50  # 25 of each on average
    assert len({draw(8, 1, 1, 1, country)[0][0] for country in ("IT", "JP", "KR", "TH", "TR", "CN")}) > 1


CATALOG = """
{code}.wording.en = {{ name = "{name}", form = "{name}" }}
{code}.wording.de = {{ name = "{german}", form = "in {german}", origin = "{german}" }}
{code}.names.male = [{male}]
{code}.names.female = [{female}]
"""


def own_countries(folder: Path, names: int = 8) -> Catalog:
    text = ""
    for code, name, german in (("KE", "Kenya", "Kenia"), ("GH", "Ghana", "Ghana")):
        of_sex = [
            ", ".join(
                f'{{ latin = "{code}{sex}{chr(97 + number)}", hi = "ह{chr(0x0915 + number)}" }}'
                for number in range(names)
            )
            for sex in ("m", "f")
        ]
        text += CATALOG.format(code=code, name=name, german=german, male=of_sex[0], female=of_sex[1])
    (folder / "countries.toml").write_text(text, encoding="utf-8")
    return read_catalog(folder)


def named(prompts: list[Prompt]) -> dict[tuple[str, str, str, str], list[str]]:
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for prompt in prompts:
        if prompt.name:
            key = (prompt.language, prompt.topic, str(prompt.country), prompt.condition)
            found.setdefault(key, []).append(prompt.name)
    return found


def test_languages_and_topics_are_asked_about_the_same_persons(tmp_path: Path) -> None:
    catalog = own_countries(tmp_path)
    design = PromptDesign(("write",), 2)
    implicit = ("implicit_male", "implicit_female")
    prompts = build_prompts(catalog, ["en", "de"], ["food", "music"], ["KE", "GH"], implicit, "all", design=design)
    assert all(prompt.name and prompt.name in prompt.text for prompt in prompts)
    found = named(prompts)
    assert {len(names) for names in found.values()} == {2}
    for condition in implicit:
        for country in ("KE", "GH"):
            asked = {
                tuple(found[lang, topic, country, condition]) for lang in ("en", "de") for topic in ("food", "music")
            }
            assert len(asked) == 1
    other = build_prompts(catalog, ["en"], ["food"], ["KE", "GH"], implicit, "all", design=replace(design, seed=2))
    assert named(other) != {key: names for key, names in found.items() if key[:2] == ("en", "food")}


def test_fewer_names_than_are_asked_is_one_line(tmp_path: Path) -> None:
    catalog = own_countries(tmp_path, names=1)
    with pytest.raises(CatalogError, match="country KE has 1 of male persons") as told:
        build_prompts(catalog, ["en"], ["food"], ["KE"], ["implicit_male"], "all", design=PromptDesign(names=2))
    assert "set names = 1 under [prompts]" in str(told.value)


def test_the_file_that_names_came_from_is_named(tmp_path: Path) -> None:
    """A language's file of templates was named, which has no names to add to."""
    catalog, nine = own_countries(tmp_path, names=1), PromptDesign(names=9)
    for country, file in (("KE", "countries.toml"), ("JP", "generate/names/JP.toml")):
        with pytest.raises(CatalogError, match=r"names.*wording") as told:
            build_prompts(catalog, ["en"], ["food"], [country], ["implicit_male"], "all", design=nine)
        assert Path(str(told.value.where)).as_posix().endswith(file)
    language = catalog.languages["it"]
    own = language.model_copy(update={"wording": {"any": "table"}})
    known = {"KE": read_names()["IT"]}
    wording = read_wording(language).model_copy(update={"names": known})
    assert names_source("KE", own, wording, {}).as_posix().endswith("languages/it.toml")


def test_a_missing_wording_is_told_before_missing_names(tmp_path: Path) -> None:
    design = PromptDesign(("write", "mine"), 9)
    with pytest.raises(CatalogError, match="mine"):
        build_prompts(own_countries(tmp_path), ["en"], ["food"], ["KE"], ["implicit_male"], "all", design=design)
