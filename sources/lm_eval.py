"""What the files of lm-evaluation-harness say outside their records: whose samples they are, and of which task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from polyculture.sources.files import json_beside
from polyculture.sources.record import Record

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d{2}-\d{2}T[^_]+)\.jsonl?$")
_FIRST = re.compile(r"pretrained__(?P<model>(?:__|[^_,])+)[_,].*\.jsonl$")  # of 0.4.0: model arguments, task


def model_of(path: Path) -> str | None:
    """The model of a file of samples: by the results beside it, else by the folder's or the file's name.

    Version 0.4.0 wrote one `results.json` beside `pretrained__MODEL_TASK.jsonl`, which names the model's arguments.
    """
    named, first = _SAMPLES.search(path.name), _FIRST.fullmatch(path.name)
    results, model = json_beside(results_of(path)), None
    if isinstance(results, Mapping):
        told = Record("", results)
        arguments = str(told.get("config.model_args") or "")
        model = told.get("model_name|config.model_name") or re.sub(r"^.*pretrained=|,.*$", "", arguments)
    by_name = first["model"] if first else path.resolve().parent.name if named else None
    return str(model) if model else by_name


def older_samples(files: Iterable[Path]) -> dict[Path, Path]:
    """The files of samples of which the same folder has a later one of the same task, each with the latest."""
    latest: dict[tuple[Path, str], Path] = {}
    dated = [(file, named) for file in files if (named := _SAMPLES.search(file.name))]
    for file, named in sorted(dated, key=lambda one: one[1]["date"]):
        latest[file.parent, named["task"]] = file
    return {file: newest for file, named in dated if (newest := latest[file.parent, named["task"]]) != file}


def results_of(path: Path) -> Path:
    """The file of results beside a file of samples, which need not be there."""
    named = _SAMPLES.search(path.name)
    return path.with_name(f"results_{named['date']}.json" if named else "results.json")


def task_of(path: Path) -> str:
    """The task of a file of samples; the file's name where it does not say one."""
    named = _SAMPLES.search(path.name)
    return named["task"] if named else path.stem
