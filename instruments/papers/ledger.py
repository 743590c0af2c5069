"""The difference ledger: from a paper's protocol to ours, one switch at a time, with the number after each.

The order of the switches is that of `papers.toml`. Each line has all switches of the lines above it, so that the
changes add up to the whole difference. Nothing is asked: all comes from the scores that are stored. What a protocol
compares and the store lacks stands in the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.store import open_store
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.papers.needed import ALL, Holdings, Needed
from polyculture.instruments.papers.paper import Paper, Protocol
from polyculture.instruments.papers.protocol import ScoredContext, protocol_score
from polyculture.instruments.papers.scored import Choice, Place, places, scored_contexts

COLUMNS = (*Place._fields, "step", "switch", "cbs", "change", "sd_of_draws", "contexts", "columns", "lacking")


ALL_TAKEN = "nothing was drawn: no side has more entities in the store, all were taken"
NOTHING = "no context with scores of both sides"
ROUNDING = 1e-12  # a change below it is none
Readings = Mapping[bool, tuple[Sequence[ScoredContext], Needed]]  # by whether it is that as published


@dataclass(frozen=True, slots=True)
class LedgerStep:
    """A protocol on the way, and what was switched to come to it."""

    switch: str
    protocol: Protocol


def ledger_steps(paper: Paper, ours: Protocol) -> list[LedgerStep]:
    """The paper's protocol, then one more switch a step, until it is ours."""
    now = paper.protocol
    steps = [LedgerStep(f"{paper.title}: {_in_words(now)}", now)]
    for name in paper.switches:
        then = _folded(now, ours) if name == "columns" else _switched(now, ours, name)
        if then != now:
            steps.append(LedgerStep(f"{name}: {_word(now, name)} -> {_word(then, name)}", then))
        now = then
    return steps


def _switched(now: Protocol, ours: Protocol, name: str) -> Protocol:
    return replace(now, **{field: getattr(ours, field) for field in _FIELDS.get(name, (name,))})


def _folded(now: Protocol, ours: Protocol) -> Protocol:
    """The genders of a type as one column, where ours has no columns of genders."""
    return replace(now, average="types") if now.average == "columns" != ours.average else now


def ledger_listing(run: RunFolder, paper: Paper, ours: Protocol, choice: Choice, seed: int) -> list[tuple[Any, ...]]:
    """A row per model, place and step. Raises `StoreError` where there is no run."""
    steps = ledger_steps(paper, ours)
    with open_store(run, compose(CORE, CBS)) as store:
        return [row for place, readings in _readings(store, choice) for row in _of_place(place, readings, steps, seed)]


def _readings(store: duckdb.DuckDBPyConnection, choice: Choice) -> Iterator[tuple[Place, Readings]]:
    """The scores of each place in both readings of the data set, and what each has to score."""
    holdings = Holdings(store, choice)
    for place in places(store, choice):
        found = {
            published: (
                scored_contexts(store, place, choice, as_published=published),
                holdings.of(place, as_published=published),
            )
            for published in (True, False)
        }
        if any(contexts for contexts, _ in found.values()):  # else of what the data set no longer has
            yield place, found


def _of_place(place: Place, readings: Readings, steps: Sequence[LedgerStep], seed: int) -> Iterator[tuple[Any, ...]]:
    before: float | None = None
    for number, step in enumerate(steps):
        contexts, wanted = readings[step.protocol.as_published]
        found = protocol_score(contexts, step.protocol, seed)
        lacking = wanted.lacking(contexts, step.protocol, seed)[ALL]
        if found is None:
            yield (*place, number, step.switch, None, None, None, 0, 0, lacking or NOTHING)
            before = None
            continue
        change = None if before is None else found.value - before
        if change is not None and abs(change) < ROUNDING:
            change = 0.0
        all_taken = step.protocol.draws is not None and not found.drawn
        switch = f"{step.switch} ({ALL_TAKEN})" if all_taken else step.switch
        yield (
            *place, number, switch, found.value, change, found.deviation, found.contexts, len(found.columns),
            lacking or None,
        )  # fmt: skip
        before = found.value


_FIELDS = {
    "rows": ("as_published",),
    "entities": ("draws", "entities", "equal_sides"),
    "types": ("leave_out",),
}
_WORDS = {
    "strict": "ties count as not Western",
    "half": "ties count half",
    "sum": "whole entity",
    "mean": "per token",
    "columns": "mean of types, genders apart",
    "types": "mean of types",
    "together": "genders together",
    "apart": "each gender compared once",
    "contexts": "mean of contexts",
    "pairs": "mean of pairs",
}


def _in_words(protocol: Protocol) -> str:
    return ", ".join(
        _word(protocol, name) for name in ("rows", "types", "entities", "genders", "ties", "rule", "average")
    )


def _word(protocol: Protocol, name: str) -> str:
    if name == "rows":
        return "rows as published" if protocol.as_published else "each row once, names of one side"
    if name == "columns":
        name = "average"
    if name == "types":
        return f"without {' '.join(protocol.leave_out)}" if protocol.leave_out else "all types"
    if name == "entities":
        equal = ", no more Western than native" if protocol.equal_sides else ""
        return "all entities" if protocol.draws is None else f"{protocol.draws} draws of {protocol.entities}{equal}"
    return _WORDS[getattr(protocol, name)]
