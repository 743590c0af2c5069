"""Accuracy and bias of every KoBBQ sample under five prompts in three orders: the views and numbers beside pandas.

    python -m bench.questions [--templates N]     1,148,520 answers; N: of so many templates only

The answers are made up, as many as KoBBQ has. The views count them; the numbers by prompt, category and label, pooled
and by template, with their intervals, are made of these counts. pandas gives the numbers by prompt, and must give the
same.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bench.questions_in_pandas import NUMBERS, numbers_in_pandas
from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.schema.measured import Number
from polyculture.instruments.questions.layout import ANSWERS, LAYOUT, QUESTIONS, READINGS
from polyculture.instruments.questions.numbers.measure import families_of, number_rows
from polyculture.instruments.questions.numbers.tally import count_answers

PROMPTS, TEMPLATES, SAMPLES = 5, 269, 76_568
ORDERS = ([0, 2, 1], [1, 0, 2], [2, 1, 0])
SMALLEST = ("--templates", "3")
CONTEXTS = ("ambiguous", "counter-biased", "ambiguous", "biased")
ROLES = ("biased", "other", "unknown")
RIGHT = {"ambiguous": 2, "biased": 0, "counter-biased": 1}
_TABLES = (QUESTIONS, ANSWERS, READINGS)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--templates", type=int, default=TEMPLATES)
    templates = options.parse_args().templates
    with tempfile.TemporaryDirectory() as name:
        print(f"{write(Path(name), templates):,} answers of {templates} templates")
        views, numbers, theirs = compare(Path(name))
    print(f"views      {views:7.2f} s of CPU time")
    print(f"numbers    {numbers:7.2f} s, with intervals")
    print(f"pandas     {theirs:7.2f} s, the numbers by prompt alone")


def compare(folder: Path) -> tuple[float, float, float]:
    """Seconds of CPU time of the views, the numbers, and pandas. Raises `AssertionError` where these differ."""
    store = duckdb.connect(config={"threads": 2, "memory_limit": "700MB"})
    for table in _TABLES:
        store.execute(f"CREATE VIEW {table.name} AS FROM read_parquet('{folder / table.name}.parquet')")
    store.execute(LAYOUT.views.files[0].read_text(encoding="utf-8"))
    started = time.process_time()
    count_answers(store)
    counted, started = time.process_time() - started, time.process_time()
    rows = list(number_rows(store, families_of(store), ""))
    numbers = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{len(rows):,} numbers; peak {peak:.0f} MiB, writing included")
    started = time.process_time()
    found = numbers_in_pandas(folder)
    theirs = time.process_time() - started
    check(rows, found)
    return counted, numbers, theirs


def check(rows: list[Number], found: pd.DataFrame) -> None:
    """Both ways must give the same numbers."""
    ours = {(*_part(row), row.wording, row.metric): row.estimate for row in rows}
    compared = 0
    for line in found.to_dict("records"):
        for name in NUMBERS:
            mine = ours[line["part"], line["name"], line["prompt"], name]
            assert math.isclose(mine or 0.0, line[name], abs_tol=1e-9), (line, name, mine)
            compared += 1
    by_prompt = [key for key in ours if key[2] != "*" and key[3] in NUMBERS]
    assert compared == len(by_prompt), (compared, len(by_prompt))


def _part(row: Number) -> tuple[str, str]:
    if row.topic != "*":
        return "category", row.topic
    return ("label", row.facets["label"]) if "label" in row.facets else ("overall", "")


def write(folder: Path, templates: int) -> int:
    """Parquet files of answers, three quarters of them right, a twentieth out of choice; how many answers there are."""
    files = {table.name: pq.ParquetWriter(folder / f"{table.name}.parquet", table.schema) for table in _TABLES}
    written = 0
    for name, rows in _tables(templates, np.random.default_rng(1)):
        files[name].write_table(rows)
        written += rows.num_rows if name == ANSWERS.name else 0
    for file in files.values():
        file.close()
    return written


def _tables(templates: int, random: np.random.Generator) -> Iterator[tuple[str, pa.Table]]:
    sizes = np.maximum(2, random.lognormal(0, 1.2, TEMPLATES))
    sizes = np.maximum(1, (sizes / sizes.sum() * SAMPLES / 8).round()).astype(int)[:templates]
    if templates == TEMPLATES:
        sizes[0] += (SAMPLES - 8 * sizes.sum()) // 8
    kinds = random.dirichlet((8, 1.5, 1.0, 0.5), templates)  # right, biased, other, out of choice
    for template, size in enumerate(sizes):
        names = [f"template-{template:03}-{number:05}" for number in range(size)]
        asked = list(product(names, range(4), ("biased", "counter-biased")))
        yield QUESTIONS.name, _questions(template, asked)
        for prompt in range(PROMPTS):
            yield from _answers(asked, kinds[template], str(prompt + 1), random)


Asked = tuple[str, int, str]  # a set of names, a variant in a context, a polarity


def _id(asked: Asked) -> str:
    return content_id(*map(str, asked))


def _questions(template: int, asked: list[Asked]) -> pa.Table:
    return _table(QUESTIONS, len(asked), {
        "question_id": [_id(one) for one in asked],
        "set": "kobbq", "language": "ko", "kind": "choice", "unit": f"template-{template:03}",
        "name": [f"{name}-{kind}-{polarity}" for name, kind, polarity in asked],
        "options": [["a", "b", "c"]] * len(asked), "roles": [list(ROLES)] * len(asked),
        "right": [[RIGHT[CONTEXTS[kind]]] for _, kind, _ in asked],
        "facets": [
            [("category", f"category {template % 12}"), ("label", ("NC", "ST", "TM")[template % 3]),
             ("context", CONTEXTS[kind]), ("polarity", polarity), ("pair", f"{name}-{kind}")]
            for name, kind, polarity in asked
        ],
        "numbers": [["kobbq", "bbq"]] * len(asked),
    })  # fmt: skip


def _answers(
    asked: list[Asked], kinds: NDArray[np.float64], prompt: str, random: np.random.Generator
) -> Iterator[tuple[str, pa.Table]]:
    cells = [(one, order) for one in asked for order in ORDERS]
    drawn = random.choice(4, len(cells), p=kinds)
    picked = [(RIGHT[CONTEXTS[one[1]]], 0, 1, None)[kind] for (one, _), kind in zip(cells, drawn, strict=True)]
    ids = [content_id(prompt, _id(one), str(order)) for one, order in cells]
    yield ANSWERS.name, _table(ANSWERS, len(cells), {
        "answer_id": ids, "request_id": ids, "question_id": [_id(one) for one, _ in cells], "model": "m",
        "language": "ko", "topic": "kobbq", "method": "generated", "prompt": prompt,
        "order": [order for _, order in cells], "labels": [["A", "B", "C"]] * len(cells), "status": "ok",
        "shown": [["a", "b", "c"]] * len(cells),
    })  # fmt: skip
    yield READINGS.name, _table(READINGS, len(cells), {
        "reading_id": ids, "answer_id": ids, "reader": "ours", "reader_id": "now", "picked": picked,
        "ground": ["unread" if one is None else "letter" for one in picked], "status": "ok",
    })  # fmt: skip


def _table(table: Table[Any], size: int, given: Mapping[str, Any]) -> pa.Table:
    """Rows of a table: a value of each row, or one of all; what is not given is empty."""
    columns = {}
    for field in table.schema:
        value = given.get(field.name, None if field.nullable else [] if pa.types.is_nested(field.type) else "")
        value = 0 if value == "" and pa.types.is_integer(field.type) else value
        columns[field.name] = value if isinstance(value, list) and len(value) == size else [value] * size
    return pa.table(columns, table.schema)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
