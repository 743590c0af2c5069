"""Logs of lm-evaluation-harness: `samples_<task>_<date>.jsonl` of `--log_samples`, with `results_<date>.json` beside.

A line is a document under one filter: `doc`, `arguments` (`gen_args_0` -> `arg_0`, the prompt, and `arg_1`, the
decoding), `resps` (per request a list, an item per repeat) and `filtered_resps`. Read from version 0.4.13; older ones
write `arguments` as a list. A text is an item of `resps`, before any filter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from polyculture.cache.sanitize import parse
from polyculture.imports.readers.lines import first_object, read_lines
from polyculture.imports.record import BadRow, Reader, Record, Rows

_FILE = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d{2}-\d{2}T[^_]+)\.jsonl$")
_LARGEST_RESULTS = 64 * 2**20  # bytes


def read_lm_eval(path: Path, _inputs: Path | None = None) -> Rows:
    """A record per text of a log. Lines of further filters, and answers that are scores, are rows not taken."""
    common = _of_run(path)
    first: dict[str, Any] = {}
    for row in read_lines(path):
        if isinstance(row, BadRow):
            yield row
            continue
        key, filtered_by = str(row.get("doc_id")), row.get("filter")
        if first.setdefault(key, filtered_by) != filtered_by:
            yield BadRow(row.row, f"the same answers under another filter than {first[key]}")
            continue
        yield from _texts(row, common)


def _texts(row: Record, common: Mapping[str, Any]) -> Iterator[Record | BadRow]:
    answers = row.get("resps")
    if not isinstance(answers, list) or not answers:
        yield BadRow(row.row, "has no resps")
        return
    arguments = _arguments(row.get("arguments"))
    for request, repeats in enumerate(answers):
        prompt, decoding = arguments[request] if request < len(arguments) else (None, None)
        for repeat, text in enumerate(repeats if isinstance(repeats, list) else [repeats]):
            if not isinstance(text, str):
                yield BadRow(row.row, "its resps are scores of choices, not texts")
                return
            key = f"{row.get('doc_id')}/{request}/{repeat}"
            yield Record(row.row, {**row.values, **common, "prompt": prompt, "decoding": decoding,
                                   "text": text, "key": key})  # fmt: skip


def _arguments(arguments: Any) -> list[tuple[Any, Any]]:
    """Prompt and decoding per request, of either layout."""
    if isinstance(arguments, Mapping):
        arguments = [[one.get("arg_0"), one.get("arg_1")] for one in arguments.values() if isinstance(one, Mapping)]
    if not isinstance(arguments, list):
        return []
    pairs = [one if isinstance(one, list) else [one] for one in arguments]
    return [(one[0] if one else None, one[1] if len(one) > 1 else None) for one in pairs]


def _of_run(path: Path) -> dict[str, Any]:
    """The task by the file's name, and the model by the results beside it, else by the folder's name."""
    named = _FILE.search(path.name)
    task, date = (named["task"], named["date"]) if named else (path.stem.removeprefix("samples_"), "")
    results = path.with_name(f"results_{date}.json")
    model = None
    if date and results.is_file() and results.stat().st_size <= _LARGEST_RESULTS:
        try:
            parsed = parse(results.read_bytes())
        except ValueError:
            parsed = None
        model = parsed.get("model_name") if isinstance(parsed, dict) else None
    return {"task": task, "date": date, "model_name": model or (path.resolve().parent.name if named else None)}


def _recognises(path: Path) -> bool:
    return path.suffix.lower() == ".jsonl" and {"doc", "resps", "arguments"} <= set(first_object(path))


READER = Reader(
    "lm-eval",
    "lm-evaluation-harness, `--log_samples`: samples_<task>_<date>.jsonl, with results_<date>.json beside",
    _recognises,
    read_lm_eval,
    {"text": "text", "prompt": "prompt", "model": "model_name", "id": "key", "topic": "doc.topic",
     "language": "doc.language", "country": "doc.country", "condition": "doc.condition",
     "seed": "decoding.seed"},
)  # fmt: skip
