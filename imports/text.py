"""One imported text: a record's fields, brought into the catalogue's words, or the reason why it cannot be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from polyculture.cache.catalog import Catalog, Country, Language, Topic
from polyculture.cache.catalog.written import WrittenNames
from polyculture.cache.spreadsheet import NO_VALUE, is_error
from polyculture.cache.store.manifest import UNSTATED
from polyculture.cache.store.schema import ALL_CONDITIONS
from polyculture.cache.text.sanitize import ResponseSanitizer, mended
from polyculture.cache.text.suggestions import near_words
from polyculture.generate.detection import detect
from polyculture.generate.engines.answer import Answer, read_content, read_text
from polyculture.generate.engines.bodies import content_of
from polyculture.generate.engines.imported import PREFIX
from polyculture.imports.chats import asked_words, message_in
from polyculture.imports.look import without_beginning
from polyculture.imports.mapping import DETECTED, TOKENS, Columns
from polyculture.imports.prompts import PromptReader
from polyculture.sources.cells import opened
from polyculture.sources.faults import is_fault
from polyculture.sources.record import LONGEST_TEXT, Record, known_names, listed_names, missing, shown

NO_SEED = "no whole number"  # in the note of a text whose seed is not kept
_MISSING_IN_R = "NA"
_LONGEST_LABEL = 100
_NEAR = 75  # of 100: a country that is in no list here is not to be taken for one that sounds like it
_SEED = re.compile(r"([+-]?[0-9]{1,20})(?:\.0*)?")
_LABEL = re.compile(r"[^\x00-\x1f\x7f]+")


class NoTextError(ValueError):
    """A row that cannot be taken; the second argument is the value that was refused."""


@dataclass(frozen=True, slots=True)
class ImportedText:
    """A text and what its file says of it."""

    model: str  # 'imported:NAME'
    language: str
    topic: str
    condition: str  # a known one in its own spelling, or any other label
    label: str  # the condition as it is written: ids are of it, as they were before known ones were folded
    country: str | None
    prompt: str | None
    text: str  # as it came
    answer: Answer  # what it answers, without reasoning and markers; without a text where there is none
    key: str | None
    seed: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    note: str | None

    @property
    def cell(self) -> tuple[str | None, ...]:
        """What it answers, as its file says."""
        return (self.model, self.language, self.topic, self.label, self.country, self.prompt)


@dataclass(frozen=True)
class TextReader:
    """Reads the records of a file as texts of a catalogue."""

    catalog: Catalog
    columns: Columns

    def read(self, record: Record) -> ImportedText:
        """The text of a record. Raises `NoTextError` with the reason where it has none that can be measured.

        An empty text, and one that is missing, is a text as `generate` has it: an answer that names nothing, and one
        that failed. An empty cell of CSV or XLSX is missing, and so is a text that is only a word for that (`NA`),
        unless the row says how the answer ended: then there was one.
        """
        values, sanitizer = self.columns.read(record), ResponseSanitizer()
        text, answer = self._text(record, values)
        if self.columns.cut and answer.text is not None:
            prompt = values.get("prompt")
            said = without_beginning(answer.text, prompt if isinstance(prompt, str) else None, self.columns.cut)
            raw = answer.raw if answer.raw is not None or said == answer.text else answer.text
            answer = replace(answer, text=said, raw=raw)
        for name, value in values.items():
            if name not in ("text", "seed", *TOKENS):  # a number that is none is NULL, and noted
                _check_computed(name, value)
        prompt, key = values.get("prompt"), values.get("id")
        if isinstance(inside := opened(prompt), list) and record.at and isinstance(record.at[-1], int):
            turns = [one for one in inside if isinstance(one, str)]  # a turn each, as the texts are
            inside = turns[: record.at[-1] + 1] if len(turns) == len(inside) else inside
        prompt = asked_words(inside) or prompt if isinstance(inside, list | Mapping) else prompt
        prompt = None if _missing(prompt) or is_missing_word(prompt) else sanitizer.text("prompt", prompt, LONGEST_TEXT)
        language = self.language(values.get("language"), answer.text or "", prompt)
        country = self.country(values.get("country"))
        label = values.get("condition")
        if not _missing(label):
            label = self._label("condition", label)
        else:
            written = values.get("country")
            label, country = self._by_prompt(prompt, country, language, written if isinstance(written, str) else None)
        given = (values.get("prompt_tokens"), values.get("completion_tokens"))
        tokens = (answer.usage.prompt, answer.usage.completion) if given == (None, None) else given
        return ImportedText(
            model=PREFIX + self._once("model", values.get("model")),
            language=language,
            topic=self._once("topic", values.get("topic")),
            condition=_folded(label),
            label=label,
            country=country,
            prompt=prompt,
            text=text,
            answer=answer,
            key=None if _missing(key) or is_missing_word(key) else mended(str(key))[:1_000],
            seed=_seed(values.get("seed"), sanitizer),
            prompt_tokens=sanitizer.count("prompt_tokens", tokens[0]),
            completion_tokens=sanitizer.count("completion_tokens", tokens[1]),
            note="; ".join(filter(None, (sanitizer.note, answer.note))) or None,
        )

    def words(self, record: Record) -> tuple[str, str | None] | None:
        """The answer of a record and its prompt, in which its language can be detected; None where it has no text."""
        values = self.columns.read(record)
        try:
            _, answer = self._text(record, values)
        except NoTextError:
            return None
        prompt = values.get("prompt")
        return answer.text or "", prompt if isinstance(prompt, str) else None

    def _text(self, record: Record, values: Mapping[str, Any]) -> tuple[str, Answer]:
        """The text as it came, and the answer that it is."""
        text, ending = message_in(values.get("text")), _word(values.get("finish_reason"))
        cell = opened(text) if isinstance(text, str) else None
        if isinstance(cell, list) and _is_parts(cell) and isinstance(content_of(cell)[0], str):
            text = cell  # the parts of an answer, as JSON or as the client of a service writes them
        if isinstance(text, float) and text != text:
            text = None
        absent = ending is None and isinstance(text, str) and (is_missing_word(text) or (not text and not record.nulls))
        if isinstance(text, Answer):
            answer, text = text, text.raw or text.text or ""
        elif isinstance(parts := content_of(text)[0] if _is_parts(text) else None, str):
            answer = read_content(text, ending)
            text = answer.raw or parts
        elif text is None or isinstance(text, str):
            column = self.columns.columns.get("text", "")
            if text is None and (why := missing(record.values, column)):
                raise NoTextError(f"text={column}: {why}" if not column.startswith(" ") else why, None)
            notes = [f"text: {shown(text)!r} is a missing value"] if absent and text else []
            fault = shown(text) if ending is None and text and is_fault(text) else None
            answer, text = read_text(None if absent else text, ending, error=fault, notes=notes), text or ""
        else:
            column = self.columns.columns["text"]
            within = f": one of them is {column}[-1], all are {column}[*]" if isinstance(text, list) else ""
            within = f" with {listed_names(text)}: text={column}.KEY takes one" if isinstance(text, Mapping) else within
            raise NoTextError(
                f"the text is a {'table' if isinstance(text, Mapping) else type(text).__name__}{within}", shown(text)
            )
        _check_computed("text", text)
        if len(text) > LONGEST_TEXT:
            raise NoTextError(f"the text is longer than {LONGEST_TEXT} characters", shown(text[:80]))
        if mended(text) != text:
            raise NoTextError("the text is not UTF-8", shown(mended(text[:200])))
        return text, answer

    def _by_prompt(
        self, prompt: str | None, country: str | None, language: str, written: str | None
    ) -> tuple[str, str | None]:
        """The condition, and the country, by the prompt where the file has no column of it.

        `written` is what that column says, in the file's spelling.
        """
        if prompt is None:
            return UNSTATED, country
        named = self._prompts.named(prompt, language)
        if country is None and "country" not in {*self.columns.columns, *self.columns.parts}:
            country = next(iter(named.countries)) if len(named.countries) == 1 else None
        # The column and the prompt are two witnesses: then a name that may be another thing is the country's.
        if country is None:
            return UNSTATED, None
        there = country in named.possible or (written and self._prompts.holds(prompt, written, language))
        return "explicit" if there else UNSTATED, country

    @cached_property
    def _names(self) -> WrittenNames:
        return WrittenNames(self.catalog, everywhere=True)

    @cached_property
    def _prompts(self) -> PromptReader:
        return PromptReader(self.catalog)

    def language(self, value: Any, text: str = "", prompt: str | None = None) -> str:
        """A catalogue's code: by BCP-47 code in any case (`en-US`, `zh_Hant`), ISO 639-2/3 code, or name; detected
        where the column of it is `DETECTED`."""
        if value == DETECTED[1:]:
            value, _ = detected_language(text, prompt, self.catalog)
            if value is None:
                raise NoTextError(
                    "its language cannot be detected: language=COLUMN or language==CODE says it", shown(text)
                )
        if isinstance(value, str) and (known := self._known.get(("language", value))):
            return known
        written = self._label("language", value)
        code = self._names.language(written)
        if code is not None:
            self._known["language", str(value)] = code
            return code
        codes = ", ".join(self.catalog.languages)
        near = _near(written, self.catalog.languages)
        what = f"the language is not in the catalogue ({near}known are {codes}; docs/extending.md adds others)"
        raise NoTextError(what, shown(written))

    def topic(self, value: Any) -> str:
        """A catalogue's topic: by code or name, in any case."""
        written = self._label("topic", value)
        code = self.columns.alike.get(written) or self._names.topic(written)
        if code is not None:
            return code
        known = ", ".join(self.catalog.topics)
        near = _near(written, self.catalog.topics)
        what = f"the topic is not in the catalogue ({near}known are {known}; --like LABEL=food takes it for food)"
        raise NoTextError(what, shown(written))

    def country(self, value: Any) -> str | None:
        """A catalogue's country: by ISO 3166 code or name, in any case; None where the row says none.

        `NA` is refused: R and its kin write it for a missing value, and it is Namibia's code, too.
        """
        if _missing(value):
            return None
        written = self._label("country", value)
        if written.casefold() in known_names()["people"]["nowhere"]:
            return None
        if written.upper() == _MISSING_IN_R:
            raise NoTextError("NA may be Namibia or R's missing value: write NAM or leave it empty", shown(written))
        code = self._names.country(written) or self._prompts.country(written)
        if code is not None:
            return code
        near = _near(written, self.catalog.countries)
        what = (
            f"the country is not in the catalogue ({near}its ISO 3166 code is read, too; docs/extending.md adds others)"
        )
        raise NoTextError(what, shown(written))

    def _once(self, what: str, value: Any) -> str:
        """A model or a topic, read once for each that a file names."""
        if not isinstance(value, str):
            return self._label(what, value) if what == "model" else self.topic(value)
        if (what, value) not in self._known:
            self._known[what, value] = self._label(what, value) if what == "model" else self.topic(value)
        return self._known[what, value]

    @cached_property
    def _known(self) -> dict[tuple[str, str], str]:
        return {}

    def _label(self, what: str, value: Any) -> str:
        if _missing(value):
            raise NoTextError(f"the {what} is missing", None)
        if isinstance(value, list | Mapping):
            raise NoTextError(f"the {what} is a {'list' if isinstance(value, list) else 'table'}", shown(value))
        written = str(value).strip()
        if len(written) > _LONGEST_LABEL or not _LABEL.fullmatch(written) or mended(written) != written:
            raise NoTextError(f"the {what} is no name on one line of at most {_LONGEST_LABEL} characters",
                              shown(mended(written)))  # fmt: skip
        return written


def _near(written: str, known: Mapping[str, Topic | Language | Country]) -> str:
    """A proposal of what was meant, by codes and names."""
    every = {*known, *(one.name for one in known.values()), *(getattr(one, "endonym", "") for one in known.values())}
    near = near_words(written, every, alike=_NEAR)
    return f"did you mean {near[0]!r}? " if near else ""


def _check_computed(name: str, value: Any) -> None:
    """Raises `NoTextError` where a spreadsheet has no value for a field: nobody knows what it would be."""
    if isinstance(value, str) and is_error(value):
        uncomputed = value.strip() == NO_VALUE
        what = "a formula without a value (save the file in a spreadsheet)" if uncomputed else "a spreadsheet's error"
        raise NoTextError(f"{what} stands in place of the {name}", value.strip())


def detected_language(text: str, prompt: str | None, catalog: Catalog) -> tuple[str | None, str]:
    """The language that a text was asked in, and of what it was detected: its 'prompt', else the 'text' itself. None
    where neither can be told."""
    for one, witness in ((prompt, "prompt"), (text, "text")):
        if not one:
            continue
        for asked in ("en", "zh"):  # of Chinese without a distinctive character the one that is asked for
            found = detect(one, catalog.language(asked), catalog)
            if found.language is not None or (found.script or "")[:3] != "Han":
                break
        if found.language is not None:
            return found.language, witness
    return None, "text"


def _is_parts(value: Any) -> bool:
    """Whether a value is a message or the content of one: one part, or a list of parts of one text."""
    if not isinstance(value, list):
        return isinstance(value, Mapping)
    return any(isinstance(one, Mapping) and ("type" in one or len(value) == 1) for one in value)


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and not _missing(value) and not is_missing_word(value) else None


def is_missing_word(value: Any) -> bool:
    """Whether a value is only what a tool writes for a missing one."""
    return isinstance(value, str) and value.strip().casefold() in known_names()["missing"]["words"]


def _folded(label: str) -> str:
    """A known condition in its own spelling, whatever its case and its gaps; any other label as it is."""
    name = re.sub(r"[\s-]+", "_", label.casefold())
    return name if name in (*ALL_CONDITIONS, UNSTATED) else label


def _missing(value: Any) -> bool:
    """Whether a value says nothing; a float that is no number is what tables write for it."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _seed(value: Any, sanitizer: ResponseSanitizer) -> int | None:
    """A seed, also as tables with gaps write it (`1.0`); None where there is none, noted where it is unreadable."""
    if _missing(value):
        return None
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    written = "" if isinstance(value, bool) else str(whole).strip()
    if matched := _SEED.fullmatch(written):
        seed = int(matched[1])
        if -(2**63) <= seed < 2**63:
            return seed
    if written.upper() != _MISSING_IN_R:
        sanitizer.drop("seed", NO_SEED, value)
    return None
