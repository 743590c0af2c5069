"""Readers of answers and of likelihoods. Each is known by its name and a hash of its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polyculture.cache.identity import content_id, file_sha256
from polyculture.generate.engines.answer import text_in
from polyculture.generate.refusals import refusal_rules_id
from polyculture.generate.refusals.phrases import built_in_languages
from polyculture.instruments.questions.model import Kind, QuestionSet
from polyculture.instruments.questions.reading.choice import Reading, read_choice
from polyculture.instruments.questions.reading.likelihoods import Rule, read_likelihoods
from polyculture.instruments.questions.reading.open_answers import match, soft_match
from polyculture.instruments.questions.reading.publisher import read_as_published
from polyculture.instruments.questions.reading.several import read_several

_FOLDER = Path(__file__).parent
OURS, PUBLISHER, SEVERAL = "ours", "publisher", "several"


@dataclass(frozen=True)
class ChoiceReader:
    """Reads which option a text picks, in any language: `choice`."""

    name: str = OURS

    @property
    def reader_id(self) -> str:
        """It changes with the rules: reading again is free, and nobody has to raise a version."""
        return _text_rules()

    def read(
        self, text: str, shown: Sequence[str], labels: Sequence[str], unknown: int | None, language: str
    ) -> Reading:
        """The option that an answer as it came picks, by place: `choice.read_choice`."""
        return read_choice(text, shown, labels, unknown, language)


@dataclass(frozen=True)
class SeveralReader:
    """Reads which options a text picks, where all that fit are asked for: `several`."""

    name: str = OURS

    @property
    def reader_id(self) -> str:
        return content_id(SEVERAL, _text_rules())

    def read(
        self,
        text: str,
        shown: Sequence[str],
        labels: Sequence[str],  # noqa: ARG002
        unknown: int | None,
        language: str,
    ) -> Reading:
        """The options that an answer as it came picks: `several.read_several`."""
        return read_several(text, shown, unknown, language)


@dataclass(frozen=True)
class PublisherReader:
    """Reads as the code that was published with KoBBQ: `publisher`."""

    name: str = PUBLISHER

    @property
    def reader_id(self) -> str:
        return content_id("questions", self.name, file_sha256(_FOLDER / "publisher.py"))

    def read(
        self,
        text: str,
        shown: Sequence[str],
        labels: Sequence[str],  # noqa: ARG002
        unknown: int | None,  # noqa: ARG002
        language: str,  # noqa: ARG002
    ) -> Reading:
        """The option that the publisher's code reads, by place, of an answer without its reasoning."""
        return read_as_published(text_in(text) or "", shown)


@dataclass(frozen=True)
class LikelihoodReader:
    """Takes the likeliest option under a rule; of equal ones none."""

    name: Rule

    @property
    def reader_id(self) -> str:
        return content_id("questions", self.name, file_sha256(_FOLDER / "likelihoods.py"))

    def read_scores(
        self, scores: Sequence[float], tokens: Sequence[float] = (), unconditional: Sequence[float] = ()
    ) -> Reading:
        """The likeliest option by place: `likelihoods.read_likelihoods`."""
        return read_likelihoods(self.name, scores, tokens, unconditional)


@dataclass(frozen=True)
class OpenReader:
    """Compares an answer in words with those of people: 'exact', 'f1', 'soft' or 'weighted' (BLEnD's SEM-B, SEM-W)."""

    name: str

    @property
    def reader_id(self) -> str:
        return content_id("questions", self.name, _text_rules())

    def match(self, text: str, answers: Sequence[str], weights: Sequence[float], language: str) -> float:
        """How far the answer matches, 0 to 1: see `open_answers`."""
        exact, f1 = match(text, answers, language)
        soft, weighted = soft_match(text, answers, weights, language)
        return {"exact": exact, "f1": f1, "soft": soft, "weighted": weighted}[self.name]


Reader = ChoiceReader | SeveralReader | PublisherReader | LikelihoodReader | OpenReader

_BY_KIND: dict[Kind, tuple[Reader, ...]] = {
    "choice": (ChoiceReader(), LikelihoodReader("sum"), LikelihoodReader("mean"), LikelihoodReader("corrected")),
    "gap": (LikelihoodReader("sum"), LikelihoodReader("mean")),
    "pair": (LikelihoodReader("sum"), LikelihoodReader("mean")),
    "open": (OpenReader("exact"), OpenReader("f1"), OpenReader("soft"), OpenReader("weighted")),
}


def readers_of(questions: QuestionSet) -> list[Reader]:
    """The readers of a set: those of its kind, and the publisher's where its rules name it."""
    if SEVERAL in questions.read_as:
        return [SeveralReader()]
    return [*_BY_KIND[questions.kind], *([PublisherReader()] if PUBLISHER in questions.read_as else [])]


@cache
def _text_rules() -> str:
    """A hash of the files that decide how texts are read, refusals included."""
    files = sorted([*_FOLDER.glob("*.py"), *_FOLDER.glob("languages/*.toml")])
    refusals = [refusal_rules_id(language) for language in sorted(built_in_languages())]
    return content_id("questions", [(file.name, file_sha256(file)) for file in files], refusals)
