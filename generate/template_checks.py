"""The check of templates: placeholders, script and language, length, glosses, and that wordings differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.catalog import Catalog, Language, Topic
from polyculture.cache.errors import CatalogError
from polyculture.cache.schema import Condition
from polyculture.cache.scripts import script_counts, script_share
from polyculture.generate.design import known_wordings
from polyculture.generate.detection import detect, detectable
from polyculture.generate.wording import (
    PLACEHOLDERS,
    Length,
    Template,
    TopicWording,
    Wording,
    topic_wordings,
    wording_file,
)

# Text that resembles a placeholder, in our notation or in another.
MARK = re.compile(r"\{[^{}]*\}|[{}]|<\w+>|\[\w+\]|%s|\$\w+|_{2,}")
GLOSS_LANGUAGE = "en"  # glosses are in English; templates in English need none


# A text may contain a word or two of another script (a brand, an abbreviation), not more.
MINIMUM_SCRIPT_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect in a file that must be fixed before prompts are built from it."""

    file: Path
    place: str  # 'wordings.write.food.explicit', 'countries.JP'
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.what}"


def refuse(findings: Sequence[Finding]) -> None:
    """Raises `CatalogError` with the first finding and the number of others, if there is any."""
    if findings:
        first, more = findings[0], len(findings) - 1
        others = f" (and {more} more)" if more else ""
        raise CatalogError(f"{first.place}: {first.what}{others}", where=first.file, remedy="See docs/extending.md.")


def wrong_script(text: str, language: Language) -> str | None:
    """What is wrong with the script of a text in this language; None where nothing is."""
    share = script_share(script_counts(text), language.scripts)
    if share is None or share >= MINIMUM_SCRIPT_SHARE:
        return None
    return f"only {share:.0%} of its letters are in {', '.join(language.scripts)}: {text!r}"


@dataclass(frozen=True, slots=True)
class TemplateCheck:
    """What the templates of a language are held against."""

    language: Language
    wording: Wording
    catalog: Catalog
    countries: Sequence[str]

    def topic(self, topic: Topic) -> Iterator[Finding]:
        """All wordings of a topic, each condition of them."""
        wordings = topic_wordings(topic, self.language, self.wording)
        for wording in wordings:
            for condition, template in wording.templates.items():
                yield from self._template(wording, condition, template)
        yield from _same_texts(wordings)

    def _template(self, wording: TopicWording, condition: Condition, template: Template) -> Iterator[Finding]:
        file, place = wording.file, f"{wording.place}.{condition}"
        findings = [_placeholder(condition, template.text), self.text(template.text)]
        known = known_wordings().get(wording.name or "")
        if known and known.length and self.wording.length:
            findings.append(_length(template.text, self.wording.length))
        if template.gloss is not None or self._needs_gloss(wording):
            findings.append(_gloss(template))
        yield from (Finding(file, place, what) for one in findings for what in one)

    def _needs_gloss(self, wording: TopicWording) -> bool:
        """Of the built-in languages; a user may leave glosses out."""
        built_in = not self.language.wording and wording.file == wording_file(self.language)
        return built_in and wording.name is not None and self.language.code != GLOSS_LANGUAGE

    def text(self, template: str) -> Iterator[str]:
        """Script and language of a template: the script without the inserted names, the language with a country."""
        if not template or template != template.strip():
            yield "is empty, or begins or ends with a space"
        text = MARK.sub("", self._with_country(template))
        wrong = wrong_script(text, self.language)
        if wrong:
            yield wrong
        elif detectable(self.language.detector):
            detected = detect(text, self.language, self.catalog).language
            if detected not in (self.language.code, None):
                yield f"is detected as {detected}, not as {self.language.code}: {text!r}"

    def _with_country(self, template: str) -> str:
        for forms in (self.wording.countries[code] for code in self.countries if code in self.wording.countries):
            return template.replace("{country}", forms.form).replace("{origin}", forms.origin or forms.form)
        return template


def _placeholder(condition: Condition, text: str) -> Iterator[str]:
    allowed = PLACEHOLDERS[condition]
    marks = MARK.findall(text)
    times = sum(marks.count(mark) for mark in allowed)
    wanted = " or ".join(allowed)
    if allowed and times != 1:
        yield f"holds {wanted} {times} times; it must stand there exactly once"
    for stray in dict.fromkeys(mark for mark in marks if mark not in allowed):
        only = f"{wanted} and nothing else" if wanted else "no placeholder"
        yield f"holds {stray}; a template of this condition holds {only}"


def _length(text: str, length: Length) -> Iterator[str]:
    """The digits may be those of any script."""
    numbers = [int(digits) for digits in re.findall(r"\d+", text)]
    if numbers != [length.amount]:
        said = ", ".join(map(str, numbers)) or "no number"
        yield f"says {said}; [length] has {length.amount} {length.unit}, which must stand there once: {text!r}"


def _gloss(template: Template) -> Iterator[str]:
    if not (template.gloss or "").strip():
        yield "has no gloss: what the text says, word by word, in English"
        return
    gloss = template.gloss or ""
    if script_share(script_counts(MARK.sub("", gloss)), ["Latn"]) not in (1.0, None):
        yield f"has a gloss that is not in Latin letters: {gloss!r}"
    if gloss == template.text:
        yield "has itself as its gloss"


def _same_texts(wordings: Sequence[TopicWording]) -> Iterator[Finding]:
    first: dict[tuple[Condition, str], TopicWording] = {}
    for wording in wordings:
        for condition, template in wording.templates.items():
            other = first.setdefault((condition, template.text), wording)
            if other is not wording:
                what = f"the same text as {other.place}.{condition}: wordings of one cell must differ"
                yield Finding(wording.file, f"{wording.place}.{condition}", what)
