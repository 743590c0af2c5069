"""Models that label texts or the names in them: any sequence or token classifier of transformers, opened or fine-tuned.

They are trained by transformers' own `Trainer`: https://huggingface.co/docs/transformers/main_classes/trainer
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.model_files import is_gguf
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.transformers.loading import Loaded, check_installed, load_labeller
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


IGNORED = -100  # the label of tokens that are no part of a word; torch leaves it out of the loss
Tell = Callable[[int, int], None]  # steps done, steps in all


@dataclass(frozen=True)
class Hyperparameters:
    """What decides how a model is trained; `warmup_share` is of all steps, `longest` is in tokens."""

    epochs: int
    learning_rate: float
    warmup_share: float
    weight_decay: float
    batch_size: int
    max_gradient_norm: float
    longest: int


@dataclass(frozen=True)
class Trained:
    """A trained model, not yet written, and what is known of its making."""

    loaded: Loaded  # its version is that of the base model
    steps: int
    cut: int  # examples that were longer than `longest`

    def save(self, folder: Path) -> None:
        """Writes weights, settings and tokenizer, as `from_pretrained` reads them."""
        self.loaded.model.save_pretrained(folder)
        self.loaded.tokenizer.save_pretrained(folder)


def train_classifier(
    spec: ModelSpec, examples: Sequence[tuple[str, str]], how: Hyperparameters, seed: int, tell: Tell
) -> Trained:
    """A model that labels whole texts, trained on pairs of a text and its label.

    Raises `EngineError` where the base model cannot be opened.
    """
    labels = sorted({label for _, label in examples})
    numbers = {label: number for number, label in enumerate(labels)}
    base, texts = _seeded_base(spec, "ForSequenceClassification", labels, seed), [text for text, _ in examples]
    longest = min(how.longest, base.window)
    whole = base.tokenizer(texts, verbose=False)["input_ids"]
    cut = sum(len(ids) > longest for ids in whole)
    short = base.tokenizer(texts, truncation=True, max_length=longest)["input_ids"]
    rows = [{"input_ids": ids, "labels": numbers[label]} for ids, (_, label) in zip(short, examples, strict=True)]
    return Trained(base, _train(base, rows, how, seed, tell, of_words=False), cut)


def train_tagger(
    spec: ModelSpec,
    examples: Sequence[tuple[Sequence[str], Sequence[str]]],
    how: Hyperparameters,
    seed: int,
    tell: Tell,
) -> Trained:
    """A model that labels tokens, trained on words and their tags in IOB2.

    The first piece of a word has its tag, and each further one goes on with it (I-): a finished tagger is asked for
    whole names. Raises `EngineError` where the base model cannot be opened.
    """
    kinds = sorted({tag[2:] for _, tags in examples for tag in tags if tag != "O"})
    labels = ["O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")]
    numbers = {label: number for number, label in enumerate(labels)}
    base = _seeded_base(spec, "ForTokenClassification", labels, seed)
    rows, cut, longest = [], 0, min(how.longest, base.window)
    for words, tags in examples:
        row = base.tokenizer(list(words), is_split_into_words=True, truncation=True, max_length=longest)
        places = row.word_ids()
        cut += max((place for place in places if place is not None), default=-1) < len(words) - 1
        rows.append({"input_ids": row["input_ids"], "labels": list(_piece_labels(places, tags, numbers))})
    return Trained(base, _train(base, rows, how, seed, tell, of_words=True), cut)


def _piece_labels(places: Sequence[int | None], tags: Sequence[str], numbers: dict[str, int]) -> Iterator[int]:
    last = None
    for place in places:
        if place is None:
            yield IGNORED
        else:
            tag = tags[place]
            yield numbers[tag if place != last else tag.replace("B-", "I-", 1)]
        last = place


def _seeded_base(spec: ModelSpec, architecture: str, labels: Sequence[str], seed: int) -> Loaded:
    """The base model with a new head for the labels, whose weights the seed decides."""
    check_installed(spec)
    from transformers import set_seed

    if is_gguf(spec.name):
        raise _quantised(spec)
    set_seed(seed)
    base = load_labeller(spec, read_options(TransformersOptions, spec), architecture, labels)
    if getattr(base.model, "is_quantized", False):
        raise _quantised(spec)
    if base.tokenizer.pad_token_id is None:
        remedy = "Name a base model that has one, as those of BERT's kind have."
        raise EngineError("its tokenizer has no token for padding", where=spec.model, remedy=remedy)
    base.tokenizer.model_max_length = base.window  # whoever loads the finished model cuts texts there
    return base


def _quantised(spec: ModelSpec) -> EngineError:
    remedy = "Name a base model in 16 or 32 bits, no GGUF file."
    return EngineError("is quantised, and cannot be trained", where=spec.model, remedy=remedy)


def _train(
    base: Loaded, rows: Sequence[dict[str, Any]], how: Hyperparameters, seed: int, tell: Tell, *, of_words: bool
) -> int:
    """Trains in place; returns the number of steps."""
    import math

    from transformers import (
        DataCollatorForTokenClassification,
        DataCollatorWithPadding,
        PrinterCallback,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    class Told(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            tell(state.global_step, state.max_steps)

    total = how.epochs * math.ceil(len(rows) / how.batch_size)
    with TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=how.epochs,
            learning_rate=how.learning_rate,
            warmup_steps=math.ceil(how.warmup_share * total),
            weight_decay=how.weight_decay,
            per_device_train_batch_size=how.batch_size,
            max_grad_norm=how.max_gradient_norm,
            seed=seed,
            data_seed=seed,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=base.model.device.type == "cpu",
        )
        collator = DataCollatorForTokenClassification if of_words else DataCollatorWithPadding
        trainer = Trainer(
            model=base.model,
            args=arguments,
            train_dataset=list(rows),
            data_collator=collator(base.tokenizer),
            callbacks=[Told()],
        )
        trainer.remove_callback(PrinterCallback)  # it prints among our results
        steps = int(trainer.train().global_step)
    if not all(bool(weight.isfinite().all()) for weight in base.model.parameters()):
        remedy = "Lower learning_rate in the file of --settings."
        raise EngineError("the weights are no longer numbers", where=base.version, remedy=remedy)
    return steps
