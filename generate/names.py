"""Names of persons for implicit prompts, by country and sex, and the draw of them for each wording.

The names of a country are `generate/names/<country>.toml`; a user's own stand in `countries.toml` or a language file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from polyculture.cache.catalog import Language
from polyculture.cache.catalog.model import CountryCode, LabelLanguage
from polyculture.cache.errors import CatalogError
from polyculture.cache.identity import content_id
from polyculture.cache.store.schema import Condition
from polyculture.cache.text.scripts import script_counts, script_share
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel
from polyculture.generate.design import PromptDesign

FOLDER = Path(__file__).with_name("names")
# Names are drawn from the first eight of a country; from eight more where an experiment asks for more. So a name that
# is added to a file changes no draw that exists.
POOL = 8
_FACTS = ("latin", "reading", "source")


class PersonName(ClosedModel):
    """A name: in Latin letters, and by language code where that has another script."""

    latin: str = Field(min_length=1)
    reading: str | None = None  # how it is read, where the script leaves that open
    source: str | None = None  # where it is said to be common
    spellings: Mapping[LabelLanguage, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _by_language(cls, data: Any) -> Any:
        """In a file the spellings stand beside the rest, a key for each language."""
        if not isinstance(data, Mapping) or "spellings" in data:
            return data
        if "latin" not in data:
            raise ValueError("no spelling in Latin letters: latin = ...")
        facts = {key: data[key] for key in _FACTS if key in data}
        return {**facts, "spellings": {key: text for key, text in data.items() if key not in _FACTS}}

    def spelled(self, language: str) -> str:
        """The name in a language's script; in Latin letters where no other spelling is known."""
        return self.spellings.get(language, self.latin)


def _as_list(data: Any) -> Any:
    return [data] if isinstance(data, Mapping) else data


SeveralPersons = Annotated[tuple[PersonName, ...], BeforeValidator(_as_list), Field(min_length=1)]


class PersonNames(ClosedModel):
    """The names of men and women of a country."""

    male: SeveralPersons
    female: SeveralPersons

    def of(self, condition: Condition) -> tuple[PersonName, ...]:
        """The names for an implicit condition."""
        return self.male if condition == "implicit_male" else self.female


class _NamesFile(PersonNames):
    country: CountryCode
    source: str | None = None  # of all names without a source of their own
    form: str | None = None  # what a name is here: a given name, or one with the surname


def names_file(country: str) -> Path:
    """The file with the built-in names of a country, as named in errors and findings."""
    return FOLDER / f"{country}.toml"


def _read(country: str) -> PersonNames:
    file = names_file(country)
    names = parse_model(_NamesFile, read_toml(file), file)
    if names.country != country:
        raise CatalogError(f"country is {names.country!r}", where=file, remedy=f"Write {country!r}.")
    return PersonNames(male=names.male, female=names.female)


@cache
def read_names() -> Mapping[str, PersonNames]:
    """The built-in names of persons by country."""
    return {country: _read(country) for country in sorted(file.stem for file in FOLDER.glob("*.toml"))}


def drawn_names(
    country: str, condition: Condition, known: Sequence[PersonName], design: PromptDesign, wording: str
) -> list[PersonName]:
    """The names that one wording asks about: the same in all languages and topics.

    They are drawn by the seed, the country and the sex. Wordings have different names while there are enough of them
    (wordings x names <= 8); then names come again, as evenly as can be. Further wordings, names a wording and countries
    change nothing that is drawn already.
    """
    order = _shuffled(country, condition, known, design.seed)
    slots = _slots(len(known), len(design.wordings) * design.names)
    place = design.wordings.index(wording)
    return [order[slots[place, number]] for number in range(design.names)]


def _shuffled(country: str, condition: Condition, known: Sequence[PersonName], seed: int) -> list[PersonName]:
    """The names in the order of the draw: shuffled by eights."""
    pools = [known[start : start + POOL] for start in range(0, len(known), POOL)]
    return [
        name for pool in pools for name in sorted(pool, key=lambda one: content_id(seed, country, condition, one.latin))
    ]


@cache
def _slots(known: int, largest: int) -> Mapping[tuple[int, int], int]:
    """Which of `known` names, by position, the names of the wordings are: by the place of the wording and of the name.

    Slots are filled in the order of the smallest design (wordings x names) that has them, up to the `largest`: so each
    is what it is in any larger design. A slot takes a name that its wording does not have yet, and of these the one
    whose other uses are met only in the largest designs.
    """
    slots = [
        (place, number)
        for place in range(largest)
        for number in range(min(known, largest))
        if _size(place, number) <= largest
    ]
    filled: dict[tuple[int, int], int] = {}
    for slot in sorted(slots, key=lambda slot: (_size(*slot), slot)):
        allowed = range(min(known, POOL * -(-_size(*slot) // POOL)))
        filled[slot] = min(allowed, key=partial(_cost, filled, slot))
    return filled


def _size(place: int, number: int) -> int:
    return (place + 1) * (number + 1)


def _cost(filled: Mapping[tuple[int, int], int], slot: tuple[int, int], name: int) -> tuple[int, list[int], int]:
    """How soon a design asks about this name twice, if it takes this slot, too; uses in the same wording come first."""
    uses = [other for other, taken in filled.items() if taken == name]
    met = sorted(_size(max(slot[0], i), max(slot[1], j)) for i, j in uses)
    return sum(i == slot[0] for i, _ in uses), [-size for size in met], name


def has_names(country: str, condition: Condition, language: Language, names: Mapping[str, PersonNames]) -> bool:
    """Whether a country has a name for one prompt of an implicit condition, spelled in a language's letters."""
    design = PromptDesign()
    try:
        return bool(person_names(country, condition, language, names, design, design.wordings[0], names_file(country)))
    except CatalogError:  # whoever asks for the prompt is told what is missing
        return False


def _is_in_script(name: str, language: Language) -> bool:
    """Names are in Latin letters, or in those of the language; a gate says what is wrong with the former."""
    return "Latn" in language.scripts or script_share(script_counts(name), language.scripts) in (1.0, None)


def person_names(
    country: str,
    condition: Condition,
    language: Language,
    names: Mapping[str, PersonNames],
    design: PromptDesign,
    wording: str,
    file: Path,
) -> list[tuple[str, str]]:
    """The persons of one wording of an implicit condition: each name in Latin letters, and spelled in the language.

    Raises `CatalogError`, naming `file`, where the country has none, or fewer than a wording needs, or one that is not
    spelled in a script of the language: in foreign letters a name would say more than where it is common.
    """
    if country not in names:
        raise CatalogError(
            f"no names of persons for country {country}",
            where=file,
            remedy=f"{_without(condition, country, language, names)}; or add names to [{country}] in the "
            f"countries.toml of your catalog (docs/extending.md). Known: {', '.join(sorted({*names, *read_names()}))}.",
        )
    known = names[country].of(condition)
    if len(known) < design.names:
        sex = condition.removeprefix("implicit_")
        raise CatalogError(
            f"{design.names} names are asked in each wording, and country {country} has {len(known)} of {sex} persons",
            where=file,
            remedy=f"Add names, or set names = {len(known)} under [prompts]. See docs/extending.md.",
        )
    drawn = drawn_names(country, condition, known, design, wording)
    foreign = [name.latin for name in drawn if not _is_in_script(name.spelled(language.code), language)]
    if foreign:
        raise CatalogError(
            f"the name {foreign[0]} of country {country} has no spelling in {language.name}, which has other letters",
            where=file,
            remedy=f"{_without(condition, country, language, names)}; or add names with "
            f'{language.code} = "..." to [{country}] in the countries.toml of your catalog (docs/extending.md).',
        )
    return [(name.latin, name.spelled(language.code)) for name in drawn]


def _without(condition: Condition, country: str, language: Language, names: Mapping[str, PersonNames]) -> str:
    """What to write where a country's names cannot be asked in a language: no implicit conditions, or those of the
    language's first country, where that has names in its letters."""
    first = language.first_country
    own = names.get(first) or read_names().get(first)
    spelled = own and all(_is_in_script(name.spelled(language.code), language) for name in own.of(condition))
    other = (
        f'; or take implicit_countries = "first", which asks about {first} here' if spelled and first != country else ""
    )
    return f"Leave implicit_male and implicit_female out of the conditions{other}"
