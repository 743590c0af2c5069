"""Models that label texts or the names in them: any sequence or token classifier of transformers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.transformers.loading import check_installed, load_labeller
from polyculture.generate.engines.transformers.options import TransformersOptions

BATCH = 32  # texts that are labelled at the same time


@dataclass(frozen=True, slots=True)
class Tagged:
    """A span of a text, in characters, and the model's label for it."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Labeller:
    """An opened model. `labels` are all its labels; those of a tagger have no B- and I- prefixes."""

    pipe: Any
    labels: frozenset[str]
    version: str

    def label(self, texts: Sequence[str]) -> Iterator[str]:
        """The most probable label of each text."""
        for label in self.pipe(list(texts), batch_size=BATCH, truncation=True):
            yield str(label["label"])

    def tag(self, texts: Sequence[str]) -> Iterator[list[Tagged]]:
        """The names in each text. Adjacent pieces with one label form one name, without surrounding spaces."""
        for text, spans in zip(texts, self.pipe(list(texts), batch_size=BATCH), strict=True):
            yield _joined(text, [Tagged(one["start"], one["end"], str(one["entity_group"])) for one in spans])


def open_classifier(spec: ModelSpec) -> Labeller:
    """A model that labels whole texts. Raises `EngineError` where there is no such model."""
    return _open(spec, "text-classification", "ForSequenceClassification")


def open_tagger(spec: ModelSpec) -> Labeller:
    """A model that labels tokens. Raises `EngineError` where there is no such model."""
    return _open(spec, "token-classification", "ForTokenClassification", aggregation_strategy="simple")


def _open(spec: ModelSpec, task: Any, architecture: str, **arguments: Any) -> Labeller:
    check_installed(spec)
    from transformers import pipeline

    loaded = load_labeller(spec, read_options(TransformersOptions, spec), architecture)
    model, tokenizer = loaded.model, loaded.tokenizer
    pipe = pipeline(task, model=model, tokenizer=tokenizer, device=model.device, **arguments)
    labels = frozenset(plain_label(str(label)) for label in (model.config.id2label or {}).values())
    return Labeller(pipe, labels, loaded.version)


def plain_label(label: str) -> str:
    """A token label without its B- or I- prefix."""
    return label[2:] if label[:2] in ("B-", "I-", "E-", "S-", "L-", "U-") else label


def _joined(text: str, spans: Sequence[Tagged]) -> list[Tagged]:
    joined: list[Tagged] = []
    for one in spans:
        last = joined[-1] if joined else None
        if last is not None and last.label == one.label and last.end == one.start and not text[one.start].isspace():
            joined[-1] = Tagged(last.start, one.end, one.label)
        else:
            joined.append(one)
    return [_trimmed(text, one) for one in joined]


def _trimmed(text: str, one: Tagged) -> Tagged:
    inner = text[one.start : one.end]
    return Tagged(one.start + len(inner) - len(inner.lstrip()), one.end - len(inner) + len(inner.rstrip()), one.label)
