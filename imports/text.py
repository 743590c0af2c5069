"""One imported text: a record's fields, brought into the catalogue's words, or the reason why it cannot be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.catalog.cldr import country_names, long_codes
from polyculture.cache.sanitize import ResponseSanitizer, mended
from polyculture.cache.schema import ALL_CONDITIONS
from polyculture.generate.engines.imported import PREFIX
from polyculture.imports.mapping import known_names
from polyculture.imports.record import LONGEST_TEXT, shown

NO_SEED = "no whole number"  # in the note of a text whose seed is not kept
UNSTATED = "unstated"  # the condition of a text whose file says none: cells are joined by it, and NULL joins nothing
_MISSING_IN_R = "NA"
_LONGEST_LABEL = 100
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
    text: str
    key: str | None
    seed: int | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    note: str | None


@dataclass(frozen=True)
class TextReader:
    """Reads fields as texts of a catalogue."""

    catalog: Catalog

    def read(self, values: Mapping[str, Any]) -> ImportedText:
        """The text of a row. Raises `NoTextError` with the reason where it has none that can be measured."""
        text, sanitizer = values.get("text"), ResponseSanitizer()
        if text is None or (isinstance(text, str) and not text.strip()):
            raise NoTextError("the text is empty", None)
        if not isinstance(text, str):
            raise NoTextError(f"the text is a {type(text).__name__}", shown(text))
        if len(text) > LONGEST_TEXT:
            raise NoTextError(f"the text is longer than {LONGEST_TEXT} characters", shown(text[:80]))
        if mended(text) != text:
            raise NoTextError("the text is not UTF-8", shown(mended(text[:200])))
        prompt, key, label = values.get("prompt"), values.get("id"), values.get("condition")
        label = UNSTATED if _missing(label) else self._label("condition", label)
        return ImportedText(
            model=PREFIX + self._label("model", values.get("model")),
            language=self.language(values.get("language")),
            topic=self.topic(values.get("topic")),
            condition=_folded(label),
            label=label,
            country=self.country(values.get("country")),
            prompt=None if _missing(prompt) else sanitizer.text("prompt", prompt, LONGEST_TEXT),
            text=text,
            key=None if _missing(key) else mended(str(key))[:1_000],
            seed=_seed(values.get("seed"), sanitizer),
            finish_reason=sanitizer.text("finish_reason", values.get("finish_reason"), 40),
            prompt_tokens=sanitizer.count("prompt_tokens", values.get("prompt_tokens")),
            completion_tokens=sanitizer.count("completion_tokens", values.get("completion_tokens")),
            note=sanitizer.note,
        )

    def language(self, value: Any) -> str:
        """A catalogue's code: by BCP-47 code in any case (`en-US`, `zh_Hant`), ISO 639-2/3 code, or name."""
        written = self._label("language", value)
        code = written.casefold().replace("_", "-")
        tried = ["-".join(code.split("-")[:end]) for end in range(len(code.split("-")), 0, -1)]
        for one in tried:
            known = known_names()["languages"].get(one, one)
            if known in self.catalog.languages:
                return str(known)
        if code in self._languages:
            return self._languages[code]
        remedy = (
            f"(in this spelling: known codes are {', '.join(self.catalog.languages)}; docs/extending.md adds others)"
        )
        raise NoTextError(f"the language is not in the catalogue {remedy}", shown(written))

    def topic(self, value: Any) -> str:
        """A catalogue's topic: by code or name, in any case."""
        written = self._label("topic", value)
        if written.casefold() in self._topics:
            return self._topics[written.casefold()]
        raise NoTextError(
            "the topic is not in the catalogue (--like TOPIC=food reads it with the kinds of food)", shown(written)
        )

    def country(self, value: Any) -> str | None:
        """A catalogue's country: by ISO 3166 code or name, in any case; None where the row says none.

        `NA` is refused: R and its kin write it for a missing value, and it is Namibia's code, too.
        """
        if _missing(value):
            return None
        written = self._label("country", value)
        if written.upper() == _MISSING_IN_R:
            raise NoTextError("NA may be Namibia or R's missing value: write NAM or leave it empty", shown(written))
        code = known_names()["countries"].get(written.casefold()) or long_codes().get(written.upper(), written.upper())
        if code in self.catalog.countries:
            return str(code)
        if written.casefold() in self._countries:
            return self._countries[written.casefold()]
        remedy = "(in this spelling: write its ISO 3166 code, as JP or JPN; docs/extending.md adds others)"
        raise NoTextError(f"the country is not in the catalogue {remedy}", shown(written))

    def _label(self, what: str, value: Any) -> str:
        if _missing(value):
            raise NoTextError(f"the {what} is missing", None)
        written = str(value).strip()
        if len(written) > _LONGEST_LABEL or not _LABEL.fullmatch(written) or mended(written) != written:
            raise NoTextError(f"the {what} is no name on one line of at most {_LONGEST_LABEL} characters",
                              shown(mended(written)))  # fmt: skip
        return written

    @cached_property
    def _languages(self) -> dict[str, str]:
        every = self.catalog.languages.values()
        return {name.casefold(): one.code for one in every for name in (one.name, one.endonym)}

    @cached_property
    def _topics(self) -> dict[str, str]:
        every = self.catalog.topics.values()
        return {name.casefold(): one.code for one in every for name in (one.name, one.code)}

    @cached_property
    def _countries(self) -> dict[str, str]:
        """Codes by name: the catalogue's, and CLDR's in its languages where the name is of one country alone."""
        codes_of: dict[str, set[str]] = {}
        for language in self.catalog.languages:
            for code, name in country_names(language).items():
                if code in self.catalog.countries:
                    codes_of.setdefault(name.casefold(), set()).add(code)
        alone = {name: next(iter(codes)) for name, codes in codes_of.items() if len(codes) == 1}
        return alone | {one.name.casefold(): one.code for one in self.catalog.countries.values()}


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
