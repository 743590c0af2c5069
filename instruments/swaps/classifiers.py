"""Answers of models that were trained for the task: text classifiers for sentiment, taggers for names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError, EngineError
from polyculture.cache.identity import content_id
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel
from polyculture.generate.engines.base import Completion, ModelSpec
from polyculture.generate.engines.models import Models
from polyculture.generate.engines.transformers.labelling import BATCH, Labeller, open_classifier, open_tagger
from polyculture.generate.request import request_id
from polyculture.instruments.datasets.model import Label, gold_label
from polyculture.instruments.swaps.asking import AskedText
from polyculture.instruments.swaps.layout import SwapQuestion
from polyculture.instruments.swaps.tasks import FilledContext, JudgedAnswer, ReaderResult, judge_spans

LABELS = Path(__file__).parent / "labels.toml"
CLASSIFIER, TAGGER = "classifier", "tagger"
_BETWEEN = "; "  # names in a tagger's answer, each '12-17 PER'


class Labels(ClosedModel):
    """The meaning of models' labels: the three sentiments, and the entity types."""

    sentiment: Mapping[Label, tuple[str, ...]]
    names: Mapping[str, tuple[str, ...]]

    def sentiment_of(self, label: str) -> Label | None:
        return next((ours for ours, theirs in self.sentiment.items() if label.casefold() in theirs), None)

    def means(self, label: str, entity_type: str) -> bool:
        """Does a label of a name stand for a type?"""
        return label.casefold() in self.names.get(entity_type, ())


def read_labels(file: Path | None = None) -> Labels:
    """The labels in a file, or ours. Raises `DataSetError` if it is invalid."""
    return parse_model(Labels, read_toml(file or LABELS, DataSetError), file or LABELS)


@dataclass(frozen=True)
class LabelledTexts:
    """A classifier or a tagger of transformers that is asked instead of the experiment's models."""

    task: str
    method: str
    labels: Labels
    spec: ModelSpec
    seed: int = 1  # of the draws

    repeatable = True

    @cached_property
    def reader_id(self) -> str:
        return content_id("swap reader", self.method, self.labels.model_dump())

    def read(self, raw: str, filled: FilledContext, *, cut: bool = False) -> ReaderResult:  # noqa: ARG002, it has no limit
        """What a text's label says, or the names in it: those whose label means the entity's type."""
        if self.method == CLASSIFIER:
            label = self.labels.sentiment_of(raw)
            if label is None:  # as where another file of labels reads what is stored
                return ReaderResult(None, f"the label {raw!r} is no sentiment")
            return ReaderResult(JudgedAnswer(label, int(label == gold_label(filled.context))))
        named = [name.partition(" ") for name in raw.split(_BETWEEN) if name]
        kind = filled.context.entity_type
        places = [place.split("-") for place, _, label in named if self.labels.means(label, kind)]
        return ReaderResult(judge_spans([(int(start), int(end)) for start, end in places], filled))

    @property
    def question(self) -> SwapQuestion:
        asked_id = content_id("swap", self.method, self.labels.model_dump(), self.seed)
        return SwapQuestion(asked_id, self.task, self.method, None, None, self.seed)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"labels": self.labels.model_dump(mode="json"), "seed": self.seed}

    def request_id(self, model: str, setup: Mapping[str, Any], filled: FilledContext) -> str:
        return request_id("label", model, setup, filled.text)

    def load(self, filled: FilledContext) -> None:  # noqa: ARG002, no model of the experiment is asked
        return None

    def completions(self, asks: Iterable[AskedText], models: Models) -> Iterator[Completion]:  # noqa: ARG002, its own
        """Raises `EngineError` where a classifier has a label that is no sentiment."""
        labeller = self._opened
        source = iter(asks)
        while batch := list(islice(source, BATCH)):
            said = labels_of(self.method, labeller, [ask.filled.text for ask in batch])
            for ask, raw in zip(batch, said, strict=True):
                yield Completion(ask.answer_id, ask.seed, raw, model_version=labeller.version)

    @cached_property
    def _opened(self) -> Labeller:
        if self.method == TAGGER:
            return open_tagger(self.spec)
        labeller = open_classifier(self.spec)
        check_labels(labeller, self.labels, self.spec.name)
        return labeller


def check_labels(labeller: Labeller, labels: Labels, model: str) -> None:
    """Raises `EngineError` if one of a classifier's labels is not a sentiment."""
    strange = sorted(label for label in labeller.labels if labels.sentiment_of(label) is None)
    if strange:
        remedy = (
            "Say what it means in a file like instruments/swaps/labels.toml, and name it: labels under [sentiment]."
        )
        raise EngineError(f"gives the label {strange[0]!r}, which is no sentiment", where=model, remedy=remedy)


def labels_of(method: str, labeller: Labeller, texts: list[str]) -> Iterator[str]:
    """What a model says of each text: its label, or the names in it with their places and labels."""
    if method == CLASSIFIER:
        yield from labeller.label(texts)
    else:
        for names in labeller.tag(texts):
            yield _BETWEEN.join(f"{name.start}-{name.end} {name.label}" for name in names)
