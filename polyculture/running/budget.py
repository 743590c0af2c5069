"""Counts what a run spends, and enforces `max_cost`, over all processes that work on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.log import get_logger
from polyculture.cache.store.layout import Table
from polyculture.cache.store.ledger import FOLDER, Ledger
from polyculture.cache.store.model_facts import Price
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.shards import JobShards
from polyculture.experiment.workspace import Workspace
from polyculture.generate.budget import Bills, JobBudget, budgeted
from polyculture.generate.engines import find_kind, read_options
from polyculture.generate.engines.capabilities import Capability, E
from polyculture.generate.named_costs import NamedCosts, with_named_costs
from polyculture.running.layout import store_layout
from polyculture.running.money import SHOWN, spent_line

_log = get_logger(__name__)


@cache
def paid_tables() -> dict[str, Table[Any]]:
    """The tables of paid answers, by their stage."""
    return {table.stage: table for table in store_layout().tables if table.stage}


@dataclass(frozen=True)
class Budget:
    """Wraps engines so that what they spend is booked, within the limit; without prices, returns them unchanged."""

    workspace: Workspace
    ledger: Ledger | None
    bills: dict[str, Bills] = field(default_factory=dict)  # by model
    told: set[tuple[str, str]] = field(default_factory=set)  # what was said of the costs that servers name

    def engine(self, engine: E, needs: Capability[E], model: str, stage: str, job: Job, *, batch: bool) -> E:
        """`engine`, which runs `model`, booked on the account of one stage's work on a job, within the limit.

        `batch`: whether it is asked in batches, which go on at the provider when this process ends.

        Raises `EngineError` for a capability whose cost is not counted, if the run has a limit and the model a price.
        """
        price, spec = self.workspace.experiment.price(model), self.workspace.experiment.model_spec(model)
        if price is None:
            return engine
        engine = with_named_costs(engine, needs, NamedCosts(model, price, self.told))
        if self.ledger is None:
            return engine
        spent = partial(spent_on, self.workspace, stage, job)
        account = f"{stage} {job}"
        bills = self.bills.setdefault(model, Bills())
        job_budget = JobBudget(self.ledger, account, spent, batch=batch, bills=bills, model=model)
        kind = find_kind(spec)  # a model's options may raise the most tokens of an answer
        return budgeted(engine, needs, price, job_budget, partial(kind.most_tokens, read_options(kind.options, spec)))


@contextmanager
def open_budget(workspace: Workspace) -> Iterator[Budget]:
    """The experiment's budget, with what its jobs have spent until now counted from their rows.

    At the end a line says what was spent, where a part of it is in no row.
    """
    limit = workspace.experiment.max_cost
    if limit is None and not workspace.experiment.prices:
        yield Budget(workspace, None)
        return
    ledger = Ledger(workspace.run.root / FOLDER, math.inf if limit is None else limit, _tariff(workspace))
    try:
        ledger.refresh(_accounts(workspace))
        yield Budget(workspace, ledger)
    finally:
        spent, lost, unknown = ledger.spent(), ledger.lost(), ledger.unknown()
        ledger.close()
        if lost > SHOWN:
            _log.info(f"spent: {spent_line(spent, lost, unknown)}")


def _tariff(workspace: Workspace) -> str:
    """The prices, so that what was booked under others is counted anew."""
    prices = sorted((model, price.model_dump_json()) for model, price in workspace.experiment.prices.items())
    return content_id(prices)


def spent_on(workspace: Workspace, stage: str, job: Job) -> float:
    """What a stage's rows of a job cost, as their servers named it or else at the experiment's prices; invalidated
    rows are included."""
    return sum(_cost(row, stage, workspace.experiment.price) for row in _rows(workspace.run, stage, job))


def _accounts(workspace: Workspace) -> dict[str, Callable[[], float]]:
    """Every account that has rows on disk. Another one is opened with its first work (`Ledger.begin`)."""
    stored = {(stage, job) for stage, table in paid_tables().items() for job in workspace.run.jobs(table.name)}
    return {f"{stage} {job}": partial(spent_on, workspace, stage, job) for stage, job in sorted(stored)}


def _rows(run: RunFolder, stage: str, job: Job) -> Iterator[Mapping[str, Any]]:
    """The paid rows in a job's parts and its journal."""
    table = paid_tables()[stage]
    shards = JobShards(run, job, [table])
    columns = list(dict.fromkeys(("purchase", "prompt_tokens", "completion_tokens", "named_cost", table.asked)))
    for batch in shards.read(table.name, columns).to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()
    for record in shards.read_journal():
        yield from record.get(table.name, ())


def _cost(row: Mapping[str, Any], stage: str, price_of: Callable[[str], Price | None]) -> float:
    asked = row[paid_tables()[stage].asked]
    if not asked or not row["purchase"]:
        return 0.0
    price, named = price_of(asked), row["named_cost"]
    if named is not None:
        return float(named)
    return price.cost(row["prompt_tokens"] or 0, row["completion_tokens"] or 0, row["purchase"]) if price else 0.0
