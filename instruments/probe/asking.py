"""What is asked of a model: questions under arms, the inspection text, and all that decides an answer."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.run_folder import Job
from polyculture.generate.engines.base import Decoding
from polyculture.generate.engines.patching import Inspection
from polyculture.instruments.probe.questions import OpenQuestion, question_key
from polyculture.instruments.probe.words import RULE, function_words, word_rule

Arm = Literal["patched", "noise", "text", "unpatched"]
PATCHED: Arm = "patched"
HOUSE = Path(__file__).with_name("inspection.toml")
_SPLITTING = 1  # the rule of `splitting`: another number asks anew


@dataclass(frozen=True, slots=True)
class ProbeRules:
    """All that decides what is read of a model, but model and question."""

    inspection: Inspection
    answering: Decoding
    window: int = 1  # layers around one whose states are replaced together
    seed: int = 1  # of noise
    taggers: Mapping[str, str] = field(
        default_factory=dict
    )  # language -> tagger; the rule for those that are not there

    def tagger_of(self, language: str) -> str:
        """What tells content words of a language."""
        return self.taggers.get(language, RULE)

    def asked_id(self, arm: Arm, language: str) -> str:
        """A hash of the rules as they hold for one arm and language."""
        words = (
            word_rule(language, self.tagger_of(language)),
            sorted(function_words(language)),
            sorted(function_words("en")),
        )
        told = asdict(self.inspection), asdict(self.answering), self.window if arm == PATCHED else None
        return content_id("probe", arm, *told, self.seed if arm == "noise" else None, *words, _SPLITTING)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question under one arm."""

    probe_id: str
    asked_id: str
    question: OpenQuestion
    arm: Arm


@dataclass(frozen=True)
class ProbeJob:
    """The questions about one culture in one language, to one model."""

    job: Job
    dataset: str
    setup_id: str | None
    questions: Sequence[OpenQuestion]
    arms: Sequence[Arm]
    rules: ProbeRules

    @property
    def size(self) -> int:
        return len(self.questions) * len(self.arms)

    def asks(self) -> Iterator[Asked]:
        """Every question, with its arms one after another."""
        for question in self.questions:
            key = question_key(self.dataset, question)
            for arm in self.arms:
                asked = self.rules.asked_id(arm, question.language)
                yield Asked(content_id(asked, self.job.model, self.setup_id, key), asked, question, arm)


def read_inspection(file: Path, max_tokens: int) -> Inspection:
    """The text to continue, from a TOML file with `prompt`, which ends in `placeholder`.

    Raises `DataSetError` that names the file.
    """
    remedy = "Give a TOML file with prompt, a text that ends in the placeholder, and placeholder, e.g. 'x'."
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise DataSetError(f"cannot be read: {fault}", where=file, remedy=remedy) from fault
    prompt, placeholder = told.get("prompt"), told.get("placeholder")
    if not (isinstance(prompt, str) and isinstance(placeholder, str) and placeholder) or set(told) != {
        "prompt",
        "placeholder",
    }:
        raise DataSetError("does not hold prompt and placeholder alone, two texts", where=file, remedy=remedy)
    prompt = prompt.strip("\n")
    if not prompt.endswith(placeholder):
        raise DataSetError("its prompt does not end in its placeholder", where=file, remedy=remedy)
    return Inspection(prompt, placeholder, max_tokens)
