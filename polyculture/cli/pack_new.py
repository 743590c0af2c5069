"""New files of one's own: a language with what data say of it, and topics; what a person writes is ""."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.catalog.cldr import language_names
from polyculture.cache.catalog.facts import LanguageFacts, language_facts
from polyculture.cache.errors import CatalogError
from polyculture.cache.files import replacing, store_faults
from polyculture.generate.detection import detector_line
from polyculture.generate.wording import AMOUNT, official_names, plain_sentence, read_wording, topic_wordings

_CODE = re.compile(r"[a-z]{2,3}(-[a-z0-9]+)*")
_TOPIC = re.compile(r"[a-z0-9][a-z0-9_-]*")
_ENGLISH = "en"


def write_files(folder: Path, code: str, topics: Sequence[str]) -> list[Path]:
    """Writes the file of a language that is new, and those of topics that are new, into a folder; returns their paths.

    A file that is there as it would be written is left as it is: a command that was stopped had written it. Raises
    `CatalogError` for a code that is none or that there is already, and for a file that is there with other content.
    """
    catalog = read_catalog()
    _check(catalog, code, topics)
    files: dict[Path, str] = {}
    if code not in catalog.languages:
        files[folder / f"{code}.toml"] = _lines(_language(catalog, language_facts(code)))
    files |= {folder / f"{topic}.toml": _lines(_topic(topic, code)) for topic in topics}
    for file, text in files.items():
        if file.exists() and file.read_bytes() != text.encode():
            raise CatalogError("is there already", where=file, remedy="Name another folder, or remove it first.")
    with store_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            with replacing(file) as arriving:
                arriving.write_text(text, encoding="utf-8")
    return list(files)


def _check(catalog: Catalog, code: str, topics: Sequence[str]) -> None:
    if not _CODE.fullmatch(code):
        english = {name.casefold(): known.replace("_", "-").lower() for known, name in language_names(_ENGLISH).items()}
        meant = english.get(code.casefold())
        remedy = f"Did you mean {meant}?" if meant else "Write its BCP-47 code, such as zu or pt-br."
        raise CatalogError(f"{code!r} is no code of a language", remedy=remedy)
    if code in catalog.languages and not topics:
        remedy = f'Write languages = ["{code}"] into an experiment. For a topic of your own: --topic NAME.'
        raise CatalogError(f"language {code!r} is built in", remedy=remedy)
    for topic in topics:
        if not _TOPIC.fullmatch(topic):
            raise CatalogError(f"{topic!r} is no code of a topic", remedy="Small letters, digits, - and _ alone.")
        if topic in catalog.topics:
            raise CatalogError(f"topic {topic!r} is built in", remedy="Leave it out: the language's file words it.")


def _language(catalog: Catalog, facts: LanguageFacts) -> Iterator[str]:
    file = f"{facts.code}.toml"
    yield f'# {facts.name or facts.code}: whoever speaks it writes what is "".'
    yield f"# To see what is left, and what is asked: polyculture pack check {file}"
    yield f"code = {_string(facts.code)}"
    yield ""
    yield "# Unicode's CLDR and measurements say this. To correct a line, take its # away."
    said = {key: list(value) if isinstance(value, tuple) else value for key, value in facts.of_catalog.items()}
    for key, value in said.items():
        yield f"# {key} = {json.dumps(value, ensure_ascii=False)}{_note(key, facts)}"
    for key, empty in _UNKNOWN.items():
        if key not in said:
            yield f"{key} = {empty}{_note(key, facts)}"
    yield ""
    yield "[wording]"
    yield f'# answer_in_language = ""  # Please answer in {facts.name or "this language"}.'
    yield ""
    yield "[wording.plain]  # lines below the sentence; {country_name} becomes CLDR's name of the country"
    lines, sentences = _english(catalog)
    yield from _to_write(lines)
    yield ""
    yield "[wording.plain.topics]  # a sentence each; delete those of topics that you do not ask about"
    unit = facts.unit or "words"
    yield from _to_write({topic: text.replace("words", unit) for topic, text in sentences.items()})
    if official := official_names(catalog, facts.code):
        yield ""
        yield "# CLDR may have the official form of these. To correct a name, take its # and that of the table away."
        yield "# [wording.plain.countries]"
        yield from (f"# {country} = {_string(name)}" for country, name in official.items())


# What an experiment needs of a language of which data do not say it.
_UNKNOWN: Mapping[str, str] = {
    "name": '""',
    "endonym": '""',
    "direction": '""',
    "scripts": '[""]',
    "first_country": '""',
    "native_countries": '[""]',
    "amount": "50",
}


def _note(key: str, facts: LanguageFacts) -> str:
    known = "amount" in facts.of_catalog
    notes = {
        "endonym": "what its speakers call it",
        "direction": "ltr or rtl",
        "scripts": "ISO 15924, such as Latn",
        "first_country": "whose people's names implicit prompts use",
        "native_countries": "whose language it is",
        "detector": detector_line(facts.detector, facts.decided),
        "label_languages": "where Wikidata keeps its names, in order",
        "amount": "of 50 English words in the Declaration of Human Rights" if known else "not measured: correct it",
    }
    return f"  # {notes[key]}" if key in notes else ""


def _english(catalog: Catalog) -> tuple[dict[str, str], dict[str, str]]:
    """The English lines, and the English sentence of each topic with its amount left open."""
    english = catalog.language(_ENGLISH)
    wording = read_wording(english)
    sentences: dict[str, str] = {}
    for topic in catalog.topics.values():
        found = plain_sentence(topic, english, wording, topic_wordings(topic, english, wording))
        if found:
            sentences[topic.code] = found[0].text.replace(str(english.amount), AMOUNT)
    lines = {"country": wording.plain.country, "name": wording.plain.name} if wording.plain else {}
    return {key: line.text for key, line in lines.items() if line}, sentences


def _to_write(texts: Mapping[str, str]) -> Iterator[str]:
    for key, english in texts.items():
        yield f"# {english}"
        yield f'{key} = ""'


def _topic(topic: str, code: str) -> Iterator[str]:
    yield f"code = {_string(topic)}"
    yield f"name = {_string(topic.replace('-', ' ').replace('_', ' ').capitalize())}"
    yield ""
    yield "[sentences]  # one per language that is asked, of the form:"
    yield "# Write a text of about {amount} words on a person who is having dinner."
    yield from (f'{language} = ""' for language in dict.fromkeys((_ENGLISH, code)))
    for kind, granularity in ((topic, 1), (f"{topic}_category", 0)):
        yield from ("", f"[kinds.{kind}]", f"granularity = {granularity}  # 1 specific, 0 general")
        yield 'description = ""  # for the extractor, with examples'
        yield "roots = []  # Wikidata classes, such as Q132241"
    for kind, what in (("place", "a named place"), ("person", "a named person")):
        yield from ("", f"[kinds.{kind}]", "counted = false  # kept, never in a metric", f'description = "{what}"')
    yield ""
    yield "# What a model that extracts is shown: a text with its mentions, by kind, as in extract/prompts/examples/:"
    yield "# [[examples]]"
    yield '# text = "..."'
    yield f'# mentions.{topic} = [["in the text", "dictionary form", "English name"]]'


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _lines(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
