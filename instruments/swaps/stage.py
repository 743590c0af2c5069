"""The stage that asks: contexts and drawn entities in, answers in the store out, one job at a time.

A job is a task, a model, a language, and one type of one native culture of a data set. Its unit of work is one entity
in one context and draw: what is in the store stays, what is missing is asked. Where the answer does not hang on the
seed, a text that several draws hold is asked once, and its answer stands in each of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.shards import JobShards
from polyculture.instruments.datasets.model import CulturalEntity, MaskedContext
from polyculture.instruments.swaps.asking import TASKS, Answered, Ask, Asker
from polyculture.instruments.swaps.rows import SWAP_ANSWERS
from polyculture.instruments.swaps.selection import SwapJob
from polyculture.instruments.swaps.text import Filled

TABLE, KEY = "swap_answers", "answer_id"
REPORT_EVERY = 0.25  # seconds between two reports of progress
_COLUMNS = (KEY, "prompt_id", "setup_id", "context_id", "entity_id", "status", "retryable")

Pair = tuple[str, str]  # ids of a context and an entity


@dataclass
class _Stock:
    """What the store holds of a job, under the present prompt and setup."""

    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)  # failures that may pass
    answered: set[Pair] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Lack:
    """A text, and the draws in which it has no answer yet."""

    filled: Filled
    draws: tuple[int, ...]

    @property
    def pair(self) -> Pair:
        return self.filled.context.context_id, self.filled.entity.entity_id


def swap_job(run: RunFolder, swap: SwapJob, asker: Asker, progress: Progress = silent) -> Outcome:
    """Asks what is missing of a job, and says what has become of all that it asks.

    Every answer is on disk before the next one is taken. A failure is a row with its reason. Raises `JobHeldError`
    where another process holds the job, and what the asker's engine and the store raise.
    """
    with JobShards(run, swap.job, [SWAP_ANSWERS]) as shards:
        stock = _take_stock(shards, swap, asker.prompt_id)
        shards.retire(stock.again)
        lacking = list(_lacking(swap, asker.prompt_id, stock))
        outcome = _reused(swap, asker.prompt_id, stock)
        progress(outcome)
        work = _Work(shards, swap, asker, outcome, progress)
        if asker.repeatable:
            lacking = work.copy(lacking, stock.answered)
        work.ask(lacking)
    progress(work.outcome)
    return work.outcome


def settled(run: RunFolder, swap: SwapJob, prompt_id: str) -> Outcome | None:
    """What has become of a job of which nothing is left to ask; None where something is."""
    with JobShards(run, swap.job, [SWAP_ANSWERS]) as shards:
        stock = _take_stock(shards, swap, prompt_id)
    left = any(True for _ in _lacking(swap, prompt_id, stock))
    return None if left else _reused(swap, prompt_id, stock)


class _Work:
    """One job being asked, and what became of it so far."""

    def __init__(self, shards: JobShards, swap: SwapJob, asker: Asker, outcome: Outcome, progress: Progress) -> None:
        self._shards, self._swap, self._asker = shards, swap, asker
        self._progress, self._told = progress, -math.inf
        self.outcome = outcome

    def copy(self, lacking: list[_Lack], answered: set[Pair]) -> list[_Lack]:
        """Takes the answers of earlier draws over where there are some; returns what is still to be asked."""
        if not any(lack.pair in answered for lack in lacking):
            return lacking
        rows = {
            (row["context_id"], row["entity_id"]): row
            for row in self._shards.read(TABLE).to_pylist()
            if (row["prompt_id"], row["setup_id"]) == (self._asker.prompt_id, self._swap.setup_id)
        }
        for lack in lacking:
            if lack.pair in rows:
                self._keep([self._again(rows[lack.pair], draw) for draw in lack.draws])
        return [lack for lack in lacking if lack.pair not in rows]

    def ask(self, lacking: list[_Lack]) -> None:
        """Asks about each text, once if its answer stands for all draws."""
        draws = {lack.pair: lack.draws for lack in lacking}
        for answered in self._asker.answers(self._asks(lacking)):
            row = _row(self._swap, self._asker, answered)
            pair = row["context_id"], row["entity_id"]
            others = [draw for draw in draws[pair] if draw != row["draw"]] if self._asker.repeatable else []
            self._keep([row, *(self._again(row, draw) for draw in others)])

    def _asks(self, lacking: list[_Lack]) -> Iterator[Ask]:
        for lack in lacking:
            for draw in lack.draws[:1] if self._asker.repeatable else lack.draws:
                key = _answer_id(self._swap, self._asker.prompt_id, *lack.pair, draw)
                yield Ask(key, lack.filled, draw, self._swap.seed + draw)

    def _again(self, row: Mapping[str, Any], draw: int) -> dict[str, Any]:
        """An answer as that of another draw: nothing was asked for it."""
        key = _answer_id(self._swap, self._asker.prompt_id, row["context_id"], row["entity_id"], draw)
        unpaid = {"prompt_tokens": None, "completion_tokens": None, "purchase": None}
        return {**row, **unpaid, KEY: key, "draw": draw}

    def _keep(self, rows: list[dict[str, Any]]) -> None:
        self._shards.append({TABLE: rows})
        ok = rows[0]["status"] == "ok"
        self.outcome += Outcome(len(rows), 0) if ok else Outcome(0, len(rows))
        if time.monotonic() - self._told >= REPORT_EVERY:
            self._told = time.monotonic()
            self._progress(self.outcome)


def _take_stock(shards: JobShards, swap: SwapJob, prompt_id: str) -> _Stock:
    """Rows under other prompts or setups stay as they are: they count again when those come back."""
    stock = _Stock()
    table = shards.read(TABLE, _COLUMNS)
    rows = zip(*(table[name].to_pylist() for name in _COLUMNS), strict=True)
    for key, prompt, setup, context, entity, status, retryable in rows:
        if (prompt, setup) != (prompt_id, swap.setup_id):
            continue
        (stock.again if retryable else stock.done if status == "ok" else stock.failed).add(key)
        if not retryable:
            stock.answered.add((context, entity))
    return stock


def _wanted(swap: SwapJob) -> Iterator[tuple[MaskedContext, CulturalEntity, tuple[int, ...]]]:
    for context, drawn in swap.asked:
        for entity, draws in drawn:
            yield context, entity, draws


def _lacking(swap: SwapJob, prompt_id: str, stock: _Stock) -> Iterator[_Lack]:
    known = stock.done | stock.failed
    for context, entity, draws in _wanted(swap):
        ids = (context.context_id, entity.entity_id)
        left = tuple(draw for draw in draws if _answer_id(swap, prompt_id, *ids, draw) not in known)
        if left:
            yield _Lack(Filled(context, entity), left)


def _reused(swap: SwapJob, prompt_id: str, stock: _Stock) -> Outcome:
    ids = [_answer_id(swap, prompt_id, c.context_id, e.entity_id, draw) for c, e, d in _wanted(swap) for draw in d]
    done = sum(key in stock.done for key in ids)
    return Outcome(done, sum(key in stock.failed for key in ids), reused=done)


def _answer_id(swap: SwapJob, prompt_id: str, context_id: str, entity_id: str, draw: int) -> str:
    return content_id(prompt_id, swap.job.model, swap.setup_id, context_id, entity_id, draw)


def _row(swap: SwapJob, asker: Asker, answered: Answered) -> dict[str, Any]:
    """The row of `swap_answers` that an answer becomes."""
    filled, said, judged = answered.ask.filled, answered.completion, answered.judged
    context, entity = filled.context, filled.entity
    return {
        KEY: answered.ask.key,
        "prompt_id": asker.prompt_id,
        "task": swap.task,
        "instrument": asker.instrument,
        "model": swap.job.model,
        "dataset": context.dataset,
        "language": context.language,
        "culture": context.culture,
        "entity_type": context.entity_type,
        "setting": context.setting,
        "context_id": context.context_id,
        "context": context.text,
        "entity_id": entity.entity_id,
        "entity": entity.surface,
        "entity_culture": entity.culture,
        "native": entity.culture == context.culture,
        "draw": answered.ask.draw,
        "seed": answered.ask.seed,
        "gold": TASKS[swap.task].gold(filled),
        "status": "failed" if judged is None else "ok",
        "error": said.error,
        "retryable": said.retryable if judged is None else None,
        "raw": said.text,
        "answer": judged.answer if judged else None,
        "matched": judged.matched if judged else None,
        "predicted": judged.predicted if judged else None,
        "elsewhere": judged.elsewhere if judged else None,
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": said.completion_tokens,
        "model_version": said.model_version,
        "purchase": said.purchase,
        "setup_id": swap.setup_id,
    }
