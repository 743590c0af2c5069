"""What a command that stands outside the run's stages may spend: it has an account of its own in the run's ledger.

Its answers stand in a journal of its own, not in the run's tables. So the limit of the experiment holds for both: what
one has spent, the other cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from polyculture.console import say
from polyculture.experiment.file import check_price
from polyculture.experiment.workspace import Workspace
from polyculture.generate.budget import budgeted, most_prompt_tokens
from polyculture.generate.engines import SAMPLING, ModelSpec, find_kind, read_options
from polyculture.generate.engines.base import Request
from polyculture.generate.engines.capabilities import Sampling
from polyculture.generate.job_budget import JobBudget
from polyculture.running.batching import asked_in_batches
from polyculture.running.budget import open_budget


def check_limit(workspace: Workspace, model: str) -> None:
    """Raises `ExperimentError` where the experiment has a limit, and the model costs money and has no price."""
    check_price(workspace.experiment, model, workspace.file)


def most_cost(workspace: Workspace, spec: ModelSpec, request: Request) -> float | None:
    """The most that an answer may cost; None for a model without a price."""
    price, kind = workspace.experiment.price(spec.model), find_kind(spec)
    if price is None:
        return None
    tokens = most_prompt_tokens(request), request.decoding.max_tokens
    return price.cost(*kind.most_tokens(read_options(kind.options, spec), *tokens))


@contextmanager
def within_budget(
    workspace: Workspace, engine: Sampling, spec: ModelSpec, account: str, spent: Callable[[], float]
) -> Iterator[Sampling]:
    """`engine`, which keeps to the experiment's limit; unchanged where there is none, or the model has no price.

    `account` names the work in the ledger; `spent` counts what its answers on disk have cost.
    """
    with open_budget(workspace) as budget:
        price = workspace.experiment.price(spec.model)
        if budget.ledger is None or price is None:
            yield engine
            return
        batch, kind = asked_in_batches(spec), find_kind(spec)
        job_budget = JobBudget(budget.ledger, account, spent, say, batch=batch)
        yield budgeted(engine, SAMPLING, price, job_budget, partial(kind.most_tokens, read_options(kind.options, spec)))
