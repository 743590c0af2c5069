"""One declared instrument: what is asked, of whom, and which table keeps it.

From the declaration follow the jobs of each model, which rows count from now on, the command with what it takes of its
models, and the study that the front door runs. `row_step` has the steps, `cache/store/layout.py` the tables:

- `Table(wanted=Wanted(VIEW, of=REQUESTS))` says which answers count: those of requests that are asked now.
- `Table(requests=Requests(USE, ...))` says which requests those are. Their view is made from it.
- `ModelJob` makes the items of a job and the rows of its requests; an `AnswerStep` asks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_type_hints

from polyculture.instruments.contract import (
    AskedExperiment,
    Command,
    Demo,
    Idle,
    Listing,
    Need,
    Prompted,
    Setup,
    Shown,
    Study,
    Validity,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pydantic import BaseModel

    from polyculture.cache.store.layout import Layout, Requests, Table
    from polyculture.cache.store.manifest import CurrentId
    from polyculture.cache.store.schema.asked import Answered
    from polyculture.cache.work.worker import Step
    from polyculture.generate.engines.models import Models
    from polyculture.instruments.model_job import ModelJob

O = TypeVar("O", bound="BaseModel")  # noqa: E741, the options of a command
J = TypeVar("J", bound="ModelJob[Any]")


def boards(name: str) -> dict[str, tuple[str, ...]]:
    """The feeds of the boards of models: an instrument's views NAME_board_entries, NAME_board_orders and so on."""
    return {f"board_{what}": (f"{name}_board_{what}",) for what in ("entries", "orders", "failures")}


def _no_tables(_jobs: Sequence[Any]) -> Mapping[Table[Any], pa.Table]:
    return {}


@dataclass(frozen=True)
class Inquiry(Generic[J]):
    """What a command's options ask, and what is done with the answers."""

    jobs: Callable[[str], Iterable[J]]  # that a model is asked, still of no model
    step: Callable[[Sequence[J]], Step[Any, Models]]  # that asks those of all models
    data: Callable[[Sequence[J]], Mapping[Table[Any], pa.Table]] = _no_tables  # what is asked about, as it is now
    # The rows of requests to write; None: each takes the place of the one that is about the same.
    requests: Callable[[Sequence[J]], Mapping[Table[Any], pa.Table]] | None = None
    setups: Mapping[str, Setup] | None = None  # of models that the options bring; None: those of the experiment
    then: Sequence[Step[Any, Models]] = ()  # steps that read the answers
    derive: Callable[[], None] = lambda: None
    shown: Sequence[Shown] | Callable[[], Iterable[Listing]] = ()
    reason: str = ""  # as of `Validity`, like the following
    ids: Sequence[CurrentId] = ()


# What a use of a model takes of its engine, where that has another name.
_NEEDS: Mapping[str, Need] = {"answer": "sample"}


@dataclass(frozen=True)
class Instrument(Generic[O]):
    """A command that asks models, declared once."""

    answers: Table[Any]  # what comes back
    options: type[O]
    ask: Callable[[AskedExperiment, O], Inquiry[Any]]
    example: str
    tables: Sequence[Path] = ()  # SQL files of declared tables that no section of the report shows
    demo: Demo | None = None
    idle: Sequence[Idle] = ()
    brings: Callable[[O], bool] = lambda _options: False  # do these options bring models of their own?

    @property
    def asked(self) -> tuple[Table[Any], Requests]:
        """The table of what is asked now, with its declaration."""
        of = self.answers.wanted.of if self.answers.wanted is not None else None
        if of is None or of.requests is None:
            raise TypeError(f"{self.answers.name} does not declare which requests its rows answer")
        return of, of.requests

    @property
    def layout(self) -> Layout:
        """Both tables, of an instrument that has no others."""
        from polyculture.cache.store.layout import Layout

        return Layout((self.asked[0], self.answers))

    @property
    def command(self) -> Command:
        """The command of the instrument."""
        use = self.asked[1].use
        need = _NEEDS.get(use, cast("Need", use))
        return Command(
            self.options,
            self.study,
            self.example,
            self.demo,
            tables=self.tables,
            idle=self.idle,
            needs=lambda options: () if self.brings(options) else (need,),
        )

    def study(self, asked: AskedExperiment, options: O) -> Study:
        """What the options ask of each model, and which rows count from then on."""
        from polyculture.cache.store.parquet import present_rows

        found, (table, requests) = self.ask(asked, options), self.asked
        setups = found.setups
        if setups is None:
            setups = {model: asked.setup(model, requests.use) for model in asked.models}
        jobs = [one.of_model(model, setup) for model, setup in setups.items() for one in found.jobs(model)]

        def tables() -> Mapping[Table[Any], pa.Table]:
            if found.requests is not None:
                return {**found.data(jobs), **found.requests(jobs)}
            rows = [row for one in jobs for row in one.wanted()]
            return {**found.data(jobs), **present_rows(asked.run, table, rows)}

        named = {f"{requests.use} {model}": setup for model, setup in setups.items()}
        validity = Validity(named, found.ids, tables, found.reason)
        steps = (found.step(jobs), *found.then)
        return Study(steps, validity, found.derive, found.shown)


def text_instrument(
    name: str,
    row: type[Answered],
    of: Sequence[str],
    options: type[O],
    prompts: Callable[[O], Iterable[Prompted]],
    example: str,
    *,
    max_tokens: int,
    read: Callable[[str], Mapping[str, Any]],
    shown: Sequence[Path] = (),
) -> Instrument[O]:
    """An instrument that asks models for texts at temperature 0, and keeps a row for each in the table `name`.

    `of` names the columns of the row that say what was asked about; `read` makes other columns of a text.
    """
    from polyculture.cache.store.layout import Requests, Table, Wanted
    from polyculture.cache.store.schema.asked import Requested

    hints = get_type_hints(row)
    columns = [(column, hints[column]) for column in of]
    wanted = make_dataclass(f"Wanted{row.__name__}", columns, bases=(Requested,), frozen=True)
    asked: Table[Any] = Table(f"wanted_{name}", wanted, requests=Requests("answer"), same=("model", *of))
    wants = Wanted(asked.name, tuple(of), of=asked)
    answers = Table(name, row, key="answer_id", stage=name, unit="answers", wanted=wants)

    def ask(_asked: AskedExperiment, options: O) -> Inquiry[Any]:
        from polyculture.instruments.text_step import PromptedStep, prompted_jobs

        jobs = prompted_jobs(prompts(options), max_tokens, wanted)
        return Inquiry(lambda _model: jobs, partial(PromptedStep, answers, read), shown=[Shown(one) for one in shown])

    return Instrument(answers, options, ask, example)
