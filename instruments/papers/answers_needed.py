"""What a paper's tables of answers rest on that was not asked as the paper does, and the command that asks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb

from polyculture.cache.sql_file import read_sql
from polyculture.instruments import command_line
from polyculture.instruments.datasets.presets import read_preset
from polyculture.instruments.papers.paper import Paper
from polyculture.instruments.papers.scored import QUERIES
from polyculture.instruments.swaps.asking import PROMPT, TASKS

Where = tuple[str, str, str, str, str]  # task, model, who answered, language, culture
Row = Mapping[str, Any]


def answers_needed(store: duckdb.DuckDBPyConnection, paper: Paper, data: str) -> dict[Where, str]:
    """What is lacking of the paper's protocol, in words, with the command; nothing of what was asked in full."""
    found = {}
    for task in (task for task in TASKS if task in paper.parts):
        values = read_preset(paper.name).values(task)
        asked = {"settings": values.get("setting", []), "types": values.get("type", [])}
        cursor = store.execute(read_sql(QUERIES, "answers_asked"), {"dataset": data, "task": task, **asked})
        columns = [column[0] for column in cursor.description or ()]
        for row in (dict(zip(columns, row, strict=True)) for row in cursor.fetchall()):
            lacking = list(_lacking(row, paper, values))
            if lacking:
                where = task, row["model"], row["answer_method"], row["language"], row["culture"]
                found[where] = f"{'; '.join(lacking)}: {_command(row, paper, data)}"
    return found


def _lacking(row: Row, paper: Paper, values: Mapping[str, Any]) -> Iterator[str]:
    if row["asked"] < row["contexts"]:
        yield f"{row['contexts'] - row['asked']} of {row['contexts']} contexts not asked"
    if row["draws"] < values["draws"]:
        yield f"{row['draws']} of {values['draws']} draws"
    most = min(values["entities"], row["most"])
    if row["entities"] < most:
        yield f"{row['entities']} of {most} entities of a side in a draw"
    if read_preset(paper.name).prompts and row["answer_method"] == PROMPT and set(row["wordings"]) != {paper.name}:
        yield "asked by other prompts"


def _command(row: Row, paper: Paper, data: str) -> str:
    """What asks it: the paper's own choices, in that place."""
    place = f"--english --culture {row['culture']}" if row["english"] else f"--language {row['language']}"
    other = "" if data == paper.data else f" --data {data}"
    own = "" if row["answer_method"] == PROMPT else f" --{row['answer_method']} {row['model'].partition(':')[2]}"
    return f"{command_line(row['task'])} EXPERIMENT --preset {paper.name}{other} {place}{own}"
