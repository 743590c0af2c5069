"""What is asked of a model: questions under arms, the inspection text, and all that decides an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import CurrentId
from polyculture.cache.store.run_folder import Job
from polyculture.cache.toml_files import read_toml
from polyculture.generate.engines.base import Decoding
from polyculture.generate.engines.patching import Inspection
from polyculture.generate.request import request_id
from polyculture.instruments.model_job import ModelJob
from polyculture.instruments.probe.arms import CONTROLS, LENT, PATCHED, SEEDED, TEXT, Arm, ProbeProtocol
from polyculture.instruments.probe.layout import ProbedQuestion, WantedProbe
from polyculture.instruments.probe.taggers import RULE
from polyculture.instruments.probe.words import function_words, word_rule

HOUSE = Path(__file__).with_name("inspection.toml")
_SPLITTING = 2  # the rule of `splitting`: another number asks anew
BEFORE: Mapping[ProbeProtocol, int] = {"paper": 0, "released": 2}  # layers below one that are replaced with it


@dataclass(frozen=True, slots=True)
class ProbeRules:
    """All that decides what is read of a model, but model and question."""

    inspection: Inspection
    answering: Decoding
    protocol: ProbeProtocol = "paper"
    seed: int = 1  # of noise, and of which question lends another its vector
    taggers: Mapping[str, str] = field(default_factory=dict)  # by language; the rule for those that are not there

    def tagger_of(self, language: str) -> str:
        """What tells content words of a language."""
        return self.taggers.get(language, RULE)

    def replaced_with(self, layer: int) -> range:
        """The layers, from 1, whose states are replaced together: `layer` (CultureScope, section 4.1), or by its
        published code the two below as well."""
        return range(max(1, layer - BEFORE[self.protocol]), layer + 1)

    def of_arm(self, arm: Arm, language: str) -> list[Any]:
        """The rules as they hold for one arm and language: what another of them reads is not comparable."""
        rule = word_rule(language, self.tagger_of(language))
        words = rule, sorted(function_words(language)), sorted(function_words("en"))
        replaced = None if arm == TEXT else BEFORE[self.protocol]
        return [arm, asdict(self.inspection), replaced, self.seed if arm in SEEDED else None, *words, _SPLITTING]

    def asked_id(self, arm: Arm, language: str) -> str:
        """A hash of these rules."""
        return content_id("probe", asdict(self.answering), self.of_arm(arm, language))

    def settings(self, arm: Arm, language: str) -> dict[str, Any]:
        """What `asked_id` is made of, to say what has changed of it: by the names of the options."""
        inspection = {"prompt": content_id(self.inspection.prompt, self.inspection.placeholder)}
        tokens = {"item_tokens": self.inspection.max_tokens, "answer_tokens": self.answering.max_tokens}
        protocol = {} if arm == TEXT else {"protocol": self.protocol}
        seed = {"seed": self.seed} if arm in SEEDED else {}
        return {**inspection, **tokens, **protocol, **seed, "tagger": self.tagger_of(language)}


class Lenders:
    """The questions in one language whose answers' vectors may stand in for those of another question."""

    def __init__(self, questions: Sequence[ProbedQuestion], seed: int) -> None:
        self._seed = seed
        self._by_topic: dict[str | None, list[ProbedQuestion]] = defaultdict(list)
        for one in sorted(questions, key=lambda one: one.question_key):
            self._by_topic[one.topic].append(one)

    def lender(self, one: ProbedQuestion) -> ProbedQuestion | None:
        """A question of the same topic about another culture; None: there is none.

        The same one in every run. A question without a topic lends nothing and is lent nothing.
        """
        found = [other for other in self._by_topic[one.topic] if other.culture != one.culture] if one.topic else []
        chance = np.random.default_rng([self._seed, int(one.question_key[:12], 16)])
        return found[int(chance.integers(len(found)))] if found else None


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A question under one arm."""

    probe_id: str
    request_id: str
    question: ProbedQuestion
    arm: Arm
    source: ProbedQuestion | None  # whose answer's vectors are put in place; None: no question can lend it any
    asked_id: str  # as in `wanted_probes`

    @property
    def question_key(self) -> str:
        return self.question.question_key

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.probe_id,)


@dataclass(frozen=True)
class ProbeJob(ModelJob[ProbeRequest]):
    """The questions about one culture in one language, to one model."""

    requested = WantedProbe
    job: Job
    questions: Sequence[ProbedQuestion]
    arms: Sequence[Arm]
    rules: ProbeRules
    lenders: Lenders | None = None  # for the arm that lends vectors
    setup: Mapping[str, Any] = field(default_factory=dict)  # of the model

    @property
    def size(self) -> int:
        return len(self.questions) * len(self.arms)

    def asks(self) -> Iterator[ProbeRequest]:
        """Every question, with its arms one after another."""
        rules = {arm: self.rules.of_arm(arm, self.job.language) for arm in self.arms}
        ids = {arm: self.rules.asked_id(arm, self.job.language) for arm in self.arms}
        answering = asdict(self.rules.answering)
        for question in self.questions:
            key = question.question_key
            for arm in self.arms:
                source = self.lenders.lender(question) if arm == LENT and self.lenders else question
                read = [["user", question.question], ["user", source.question] if source else None]
                request = request_id("patch", self.job.model, self.setup, [read, rules[arm]], answering)
                yield ProbeRequest(content_id(request, key), request, question, arm, source, ids[arm])

    def ids(self) -> Iterator[CurrentId]:
        """Those of the controls that are not asked, too: one of other rules is no control of this probe."""
        dataset, language = self.questions[0].dataset, self.job.language
        for arm in (PATCHED, *CONTROLS):
            what, settings = f"probe {dataset} {arm} {language}", self.rules.settings(arm, language)
            yield CurrentId(what=what, id=self.rules.asked_id(arm, language), settings=settings)


def read_inspection(file: Path, max_tokens: int) -> Inspection:
    """The text to continue, from a TOML file with `prompt`, which ends in `placeholder`.

    Raises `DataSetError` that names the file.
    """
    remedy = "Give a TOML file with prompt, a text that ends in the placeholder, and placeholder, e.g. 'x'."
    told = read_toml(file, DataSetError)
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
