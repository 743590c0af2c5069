"""What the files of lm-evaluation-harness say outside their records: whose samples they are, and of which task."""

from __future__ import annotations

import re
from pathlib import Path

from polyculture.cache.text.sanitize import parse
from polyculture.sources.record import Record

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d{2}-\d{2}T[^_]+)\.jsonl?$")
_FIRST = re.compile(r"pretrained__(?P<model>(?:__|[^_,])+)[_,].*\.jsonl$")  # of 0.4.0: model arguments, task
_LARGEST_RESULTS = 64 * 2**20  # bytes


def model_of(path: Path) -> str | None:
    """The model of a file of samples: by the results beside it, else by the folder's or the file's name.

    Version 0.4.0 wrote one `results.json` beside `pretrained__MODEL_TASK.jsonl`, which names the model's arguments.
    """
    named, first = _SAMPLES.search(path.name), _FIRST.fullmatch(path.name)
    results = path.with_name(f"results_{named['date']}.json" if named else "results.json")
    model = None
    if results.is_file() and results.stat().st_size <= _LARGEST_RESULTS:
        try:
            told = Record("", parse(results.read_bytes()))
            arguments = str(told.get("config.model_args") or "")
            model = told.get("model_name|config.model_name") or re.sub(r"^.*pretrained=|,.*$", "", arguments)
        except (ValueError, TypeError):
            model = None
    by_name = first["model"] if first else path.resolve().parent.name if named else None
    return str(model) if model else by_name


def task_of(path: Path) -> str:
    """The task of a file of samples; the file's name where it does not say one."""
    named = _SAMPLES.search(path.name)
    return named["task"] if named else path.stem
