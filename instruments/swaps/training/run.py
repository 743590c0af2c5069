"""Fine-tunes a model once per seed, each into a folder of its own that stays once it is whole."""

from __future__ import annotations

import platform
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from polyculture.cache.errors import JobHeldError, StoreError
from polyculture.cache.files import store_faults
from polyculture.cache.identity import content_id, model_sha256
from polyculture.cache.locks import Lock
from polyculture.cache.work.outcome import Outcome, Progress
from polyculture.generate.engines.base import ModelSpec
from polyculture.instruments.swaps.training.examples import (
    Example,
    ExampleFile,
    FineTuning,
    LabelledText,
    Split,
    TaggedSentence,
)

RECORD = "fine_tuning.json"
Task = Literal["sentiment", "ner"]
Watch = Callable[[str, int], AbstractContextManager[Progress]]
_PACKAGES = ("polyculture", "torch", "transformers", "tokenizers", "accelerate")


@dataclass(frozen=True)
class Course:
    """What is trained on what: all that decides the models, but for the seed."""

    task: Task
    base: ModelSpec
    file: ExampleFile[Any]
    test: ExampleFile[Any] | None
    split: Split[Any]
    settings: FineTuning
    chosen: Mapping[str, Any]  # what the command line says of the file: columns, rows

    def made_of(self, seed: int) -> str:
        """An id of everything that decides a model."""
        name = Path(self.base.name).expanduser()
        return content_id(
            "fine-tuning",
            self.task,
            model_sha256(name) if name.is_dir() else self.base.name,
            self.base.options.get("revision"),
            self.file.sha256,
            self.test.sha256 if self.test else None,
            self.settings.model_dump(exclude={"first_seed"}),
            dict(self.chosen),
            seed,
        )


@dataclass(frozen=True)
class SeedResult:
    """The model of a seed: where it is, and its scores on the held-out examples."""

    seed: int
    folder: Path
    scores: Mapping[str, float]
    before: bool  # it was there already


def train_seed(course: Course, seed: int, output: Path, watch: Watch) -> SeedResult:
    """The model of a seed, trained now or before.

    Raises `StoreError` where its folder holds something else, and `JobHeldError` where another process trains it.
    """
    folder, made_of = output / f"seed-{seed}", course.made_of(seed)
    with store_faults(output):
        output.mkdir(parents=True, exist_ok=True)
    try:
        with Lock(output / f".seed-{seed}.lock"):
            if folder.exists():
                return SeedResult(seed, folder, _known(folder, made_of)["scores"], before=True)
            return SeedResult(seed, folder, _train(course, seed, folder, made_of, watch), before=False)
    except JobHeldError as fault:
        raise JobHeldError(f"{folder}: another process trains it") from fault


def _known(folder: Path, made_of: str) -> dict[str, Any]:
    """The record of a finished model. Raises `StoreError` where it is of something else."""
    try:
        record: dict[str, Any] = orjson.loads((folder / RECORD).read_bytes())
    except (OSError, orjson.JSONDecodeError) as fault:
        raise StoreError("holds something else", where=folder, remedy="Name another folder with --output.") from fault
    if record.get("made_of") != made_of:
        what = "holds a model of other data, settings, base or options"
        raise StoreError(what, where=folder, remedy="Name another folder with --output, or move this one away.")
    return record


def _train(course: Course, seed: int, folder: Path, made_of: str, watch: Watch) -> Mapping[str, float]:
    partial = folder.with_name(f".{folder.name}.partial")
    with store_faults(partial):
        if partial.exists():  # of a run that was killed; the lock says that nobody writes to it
            shutil.rmtree(partial)
        partial.mkdir()
    with watch(f"fine-tune {course.task}, seed {seed}, steps", _steps(course)) as progress:
        trained = _trained(course, seed, lambda done, _: progress(Outcome(done, 0)))
    with store_faults(partial):
        trained.save(partial)
    scores = _scores(course, partial)
    told = {"base_version": trained.loaded.version, "steps": trained.steps, "cut_examples": trained.cut}
    with store_faults(partial):
        record = {"made_of": made_of, "seed": seed, "scores": dict(scores), **told, **_record(course)}
        (partial / RECORD).write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2))
        partial.rename(folder)
    return scores


def _steps(course: Course) -> int:
    return course.settings.epochs * -(-len(course.split.train) // course.settings.batch_size)


def _trained(course: Course, seed: int, tell: Callable[[int, int], None]) -> Any:
    from polyculture.generate.engines.transformers.labelling import Hyperparameters, train_classifier, train_tagger

    how = Hyperparameters(**{one.name: getattr(course.settings, one.name) for one in fields(Hyperparameters)})
    if course.task == "sentiment":
        texts = [(one.text, one.label) for one in cast("Sequence[LabelledText]", course.split.train)]
        return train_classifier(course.base, texts, how, seed, tell)
    words = [(one.words, one.tags) for one in cast("Sequence[TaggedSentence]", course.split.train)]
    return train_tagger(course.base, words, how, seed, tell)


def _scores(course: Course, folder: Path) -> Mapping[str, float]:
    """The scores of a model as the commands load it, from its folder."""
    from polyculture.generate.engines.transformers.labelling import open_classifier, open_tagger
    from polyculture.instruments.swaps.training.scores import classifier_scores, tagger_scores

    spec = ModelSpec(f"transformers:{folder}")
    if course.task == "sentiment":
        return classifier_scores(open_classifier(spec), course.split.test)
    return tagger_scores(open_tagger(spec), course.split.test)


def _record(course: Course) -> dict[str, Any]:
    return {
        "task": course.task,
        "base": course.base.name,
        "base_options": dict(course.base.options),
        "data": {"file": course.file.path.name, "sha256": course.file.sha256},
        "test_data": {"file": course.test.path.name, "sha256": course.test.sha256} if course.test else None,
        "chosen": dict(course.chosen),
        "train": counts(course.split.train),
        "test": counts(course.split.test),
        "left_out": dict(course.split.left_out),
        "settings": course.settings.model_dump(mode="json", exclude={"first_seed"}),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    """The versions of what the numbers depend on; a package that runs from its source has none."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "from source"
    return found


def counts(examples: Sequence[Example]) -> dict[str, int]:
    """The number of examples, and of those of each label or of the names of each kind."""
    labels = Counter(
        label
        for one in examples
        for label in ([one.label] if isinstance(one, LabelledText) else [t[2:] for t in one.tags if t[:1] == "B"])
    )
    return {"examples": len(examples), **dict(sorted(labels.items()))}
