"""What a culture pack lacks: each gap with its file, its key and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.catalog import Catalog, Language, Topic, read_catalog
from polyculture.cache.catalog.pack import GOLD, PACK, REVIEWS
from polyculture.cache.catalog.read import COUNTRIES, REGIONS, own_files, read_pack
from polyculture.cache.errors import CatalogError, StoreError, UserError
from polyculture.cache.store.schema import CONDITIONS
from polyculture.cache.text.inflection import key_rules
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import read_toml
from polyculture.extract.gold import read_gold
from polyculture.generate.design import PLAIN, PromptDesign
from polyculture.generate.integrity import check_prompts, check_wording
from polyculture.generate.prompts import build_prompts
from polyculture.generate.refusals import own_phrases
from polyculture.generate.wording import (
    Wording,
    named_countries,
    official_names,
    read_wording,
    topic_file,
    topic_wordings,
    with_plain,
    wording_file,
)
from polyculture.link.keys import stemmed

if TYPE_CHECKING:
    from polyculture.link.index.snapshot import Snapshot

EMPTY = "empty"
_BY_KEY = {
    "latin": "Write a person's name in Latin letters; delete the line to do without implicit prompts.",
    "answer_in_language": "A speaker writes it.",
    "description": "Say in English, on one line, what the extractor shall look for.",
    "roots": "Name Wikidata classes; `polyculture wikidata collect --class QID` shows what one leads to.",
    "scripts": "Write its ISO 15924 code, such as Latn.",
    "direction": "Write ltr or rtl.",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """One gap. Without what is `needed` an experiment is refused; without the rest its numbers say less."""

    file: Path
    key: str
    what: str
    remedy: str
    needed: bool = True

    def __str__(self) -> str:
        place = f"{self.file}: {self.key}" if self.key else f"{self.file}"
        return f"{place}: {self.what}. {self.remedy}".strip()


def find_gaps(folders: Sequence[Path]) -> list[Gap]:
    """The gaps of packs that are read together, those that are needed first.

    That two of them say the same thing is a gap, too. Raises `CatalogError` for a folder that is no pack.
    """
    for folder in folders:
        if not (folder / PACK).exists():
            read_pack(folder)  # raises where it is no pack
    gaps = [gap for folder in folders for gap in _unwritten(folder)]
    if not gaps:  # else the files cannot be read any further
        try:
            catalog = read_catalog(*folders)
            gaps = [gap for folder in folders for gap in _of_content(folder, catalog)]
            gaps += [gap for folder in folders for gap in _optional(folder)]
        except CatalogError as fault:
            gaps = [_of_fault(fault, folders[0])]
    return sorted(dict.fromkeys(gaps), key=lambda gap: not gap.needed)


def _of_fault(fault: UserError, folder: Path) -> Gap:
    file = Path(str(fault.where or folder))
    inside = folder / file  # of a pack's own files errors name the place in it
    return Gap(inside if inside.exists() else file, "", fault.what, fault.remedy or "")


def _unwritten(folder: Path) -> Iterator[Gap]:
    """What is "" in the files of a pack, and files that are no TOML."""
    for file in _files(folder):
        try:
            data = read_toml(file)
        except CatalogError as fault:
            yield _of_fault(fault, folder)
            continue
        for key in _empty(data, ""):
            yield Gap(file, key, EMPTY, _remedy(key.rpartition(".")[2]))


def _files(pack: Path) -> list[Path]:
    parts = [file for part in ("languages", "topics") for file in own_files(pack, part)]
    return [*(one for one in (pack / PACK, pack / COUNTRIES, pack / REGIONS) if one.exists()), *parts]


def _empty(data: Any, place: str) -> Iterator[str]:
    """The keys of empty texts, of a kind's empty `roots` and of lists that hold an empty text alone."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _empty(value, f"{place}.{key}" if place else key)
    elif isinstance(data, list):
        if data == [""] or (not data and place.endswith((".roots", ".declines"))):
            yield place
        for number, one in enumerate(data, start=1):
            if isinstance(one, Mapping):
                yield from _empty(one, f"{place}.{number}" if data[1:] else place)
    elif data == "":
        yield place


def _remedy(key: str) -> str:
    return _BY_KEY.get(key, "A speaker writes it; delete the line, or its table, to do without such prompts.")


def _of_content(pack: Path, catalog: Catalog) -> Iterator[Gap]:
    """What hinders an experiment with the pack's languages, topics and countries."""
    topics = [catalog.topics[file.stem] for file in own_files(pack, "topics")]
    for file in own_files(pack, "languages"):
        language = catalog.language(file.stem)
        try:
            own_phrases(language)
            wording = read_wording(language, catalog.countries)
            worded = [one for one in catalog.topics.values() if with_plain(one, language, wording)]
            findings = check_wording(catalog, [language.code], [one.code for one in worded], list(wording.countries))
        except CatalogError as fault:
            yield _of_fault(fault, pack)
            continue
        for code in wording.plain.topics if wording.plain else ():
            if code not in catalog.topics:
                remedy = did_you_mean(code, catalog.topics)
                yield Gap(file, f"wording.plain.topics.{code}", "there is no such topic", remedy)
        if not worded:
            yield Gap(file, "wording.plain.topics", "no topic has a sentence", "Add one: docs/extending.md.")
        for topic in topics:
            if topic not in worded:
                remedy = f'Add {language.code} = "..." to [sentences] of the topic\'s file.'
                yield Gap(file, f"wording.plain.topics.{topic.code}", "the pack's topic has no sentence", remedy)
        yield from (Gap(one.file, one.place, one.what, "Correct it.") for one in findings)
        if not findings:  # prompts of wrong sentences would be wrong for the same reasons
            yield from _unasked(language, wording, catalog, worded)
            yield from _unnamed(file, language, wording, catalog)
            yield from _in_full(file, language, wording, catalog)
        yield from _without_templates(file, language, wording, worded)
    for topic in topics:
        for code in topic.sentences:
            if code not in catalog.languages:
                yield Gap(topic_file(topic), f"sentences.{code}", "there is no such language", "Correct the code.")
            else:
                yield from (
                    Gap(one.file, one.place, one.what, "Correct it.")
                    for one in check_wording(catalog, [code], [topic.code], [])
                )
    if (pack / GOLD).is_dir():
        try:
            read_gold(catalog, [pack / GOLD])
        except StoreError as fault:
            yield _of_fault(fault, pack)


def _unasked(language: Language, wording: Wording, catalog: Catalog, topics: Sequence[Topic]) -> Iterator[Gap]:
    """What a plan would refuse: prompts of the wording `plain` in each condition, about any country that has a name."""
    for condition in CONDITIONS if wording.plain else ():
        implicit = condition.startswith("implicit")
        countries = [] if implicit else list(named_countries(catalog, language, wording))
        try:
            prompts = build_prompts(
                catalog, [language.code], [one.code for one in topics], countries, [condition],
                design=PromptDesign((PLAIN,)),
            )  # fmt: skip
            for one in check_prompts(prompts):
                yield Gap(wording_file(language), one.place, one.what, "Correct it.")
        except CatalogError as fault:
            file = Path(str(fault.where or wording_file(language)))
            yield Gap(file, "", fault.what, fault.remedy or "", needed=not implicit)


def _unnamed(file: Path, language: Language, wording: Wording, catalog: Catalog) -> Iterator[Gap]:
    """The countries that the wording `plain` cannot name, since Unicode's CLDR has no names in the language."""
    if not wording.plain:
        return
    named = named_countries(catalog, language, wording)
    if lacking := [code for code in catalog.countries if code not in named]:
        what = f"{len(lacking)} of {len(catalog.countries)} countries have no name, such as {', '.join(lacking[:3])}"
        remedy = f'An experiment on one of these is refused. Add {lacking[0]} = "..." for each that you ask about.'
        yield Gap(file, "wording.plain.countries", what, remedy, needed=not named)


def _in_full(file: Path, language: Language, wording: Wording, catalog: Catalog) -> Iterator[Gap]:
    """The places that the wording `plain` may name in their official form, since the file has no everyday name."""
    named = named_countries(catalog, language, wording) if wording.plain else {}
    for code, official in official_names(catalog, language.code).items():
        if named.get(code) == official:
            what = f"prompts say {official!r}, as Unicode's CLDR does, which may be the official form"
            remedy = f'Add {code} = "..." as people say it: {catalog.countries[code].name}, in this language.'
            yield Gap(file, f"wording.plain.countries.{code}", what, remedy, needed=False)


def _without_templates(file: Path, language: Language, wording: Wording, topics: Sequence[Topic]) -> Iterator[Gap]:
    """Conditions that experiments ask by default, and that a wording has no template of."""
    for topic in topics:
        for one in topic_wordings(topic, language, wording):
            for condition in (name for name in CONDITIONS if name not in one.templates):
                what = "missing: prompts of this condition cannot be asked"
                remedy = "Add it, or name the other conditions in the experiment."
                yield Gap(file, f"{one.place}.{condition}", what, remedy, needed=False)


def refused_topics(packs: Sequence[Path], catalog: Catalog, snapshot: Snapshot) -> Iterator[Gap]:
    """The packs' topics that a plan refuses with a snapshot, which knows none of their classes."""
    from polyculture.link.index.classes import check_classes  # here: DuckDB

    for file in (file for pack in packs for file in own_files(pack, "topics")):
        try:
            check_classes(snapshot, catalog, [file.stem])
        except CatalogError as fault:
            yield Gap(file, "", fault.what, f"{fault.remedy} Name it with --snapshot.")


def in_groups(gaps: Sequence[Gap]) -> Iterator[Gap]:
    """Gaps in a file that ask for the same, one after the other, as one: `topics.{food,book}.{neutral,explicit}`."""
    for _, same in groupby(gaps, key=lambda one: (one.file, one.what, one.remedy)):
        group = list(same)
        for key in _alternatives([tuple(one.key.split(".")) for one in group]):
            yield replace(group[0], key=key)


def _alternatives(keys: Sequence[tuple[str, ...]]) -> list[str]:
    """Keys as a shell writes alternatives, first of their last parts, then of what differs before these."""
    ends: dict[tuple[str, ...], list[str]] = {}
    for *start, last in keys:
        ends.setdefault(tuple(start), []).append(last)
    tables: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for place, own in ends.items():
        tables.setdefault((place[:-1], tuple(own)), []).extend(place[-1:])
    parts = [(*place, _one_of(names), _one_of(own)) for (place, own), names in tables.items()]
    return [".".join(filter(None, one)) for one in parts]


def _one_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{{{','.join(names)}}}" if names else ""


def _optional(pack: Path) -> Iterator[Gap]:
    """Without these an experiment runs, and its numbers say less."""
    if pack.is_dir() and not (pack / PACK).exists():
        remedy = 'Write name = "..." and version = "1" into it.'
        yield Gap(pack / PACK, "", "is missing: runs will say no version", remedy, needed=False)
    for file in own_files(pack, "languages"):
        data, code = read_toml(file), file.stem
        if not data.get("refusals"):
            remedy = 'Add [refusals] declines = ["..."], or extract with a model, which says it.'
            yield Gap(file, "refusals", "none: `refused` will be NULL", remedy, needed=False)
        if not data.get("endings"):
            remedy = "Add pairs [ending, other ending], unless words never change theirs."
            yield Gap(file, "endings", "none: inflected names are found in dictionary form alone", remedy, needed=False)
        if not data.get("key") and not key_rules(code) and not stemmed(code):
            remedy = "Add rules [pattern, replacement], unless words never change."
            yield Gap(file, "key", "none: inflected mentions link by other names alone", remedy, needed=False)
        if pack.is_dir() and not (pack / GOLD / f"{code}.jsonl").exists():
            remedy = f"Mark texts: polyculture extract audit --catalog {pack} measures on them."
            yield Gap(pack / GOLD / f"{code}.jsonl", "", "is missing: no extractor is measured", remedy, needed=False)
        if pack.is_dir() and not list((pack / REVIEWS).glob(f"*.{code}.csv")):
            remedy = f"polyculture prompts review --html {code} --catalog {pack} -o review-{code}.html"
            yield Gap(pack / REVIEWS, "", f"no speaker of {code} has judged the prompts", remedy, needed=False)
    for file in own_files(pack, "topics"):
        if not read_toml(file).get("examples"):
            remedy = "Add [[examples]], a text and its mentions in each script that is asked."
            yield Gap(file, "examples", "none: a model that extracts is shown none", remedy, needed=False)
