"""One declared instrument: what is asked, of whom, and which table keeps it.

From the declaration follow the jobs of each model, which rows count from now on, the command with what it takes of its
models, and the study that the front door runs. `row_step` has the steps, `cache/store/layout.py` the tables:

- `Table(wanted=Wanted(VIEW, of=REQUESTS))` says which answers count: those of requests that are asked now.
- `Table(requests=Requests(USE, ...))` says which requests those are. Their view is made from it.
- `ModelJob` makes the items of a job and the rows of its requests; an `AnswerStep` asks them.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import new_class
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_type_hints

from polyculture.cache.store.layout import Layout, Requests, Table, Wanted
from polyculture.cache.store.schema.asked import Requested
from polyculture.instruments.contract import (
    AskedExperiment,
    Command,
    InstrumentPrompt,
    Listing,
    O,
    PrintedTable,
    Study,
    Validity,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.store.schema.asked import Answered
    from polyculture.cache.work.worker import Step
    from polyculture.generate.engines.models import Models
    from polyculture.generate.engines.options import Use
    from polyculture.instruments.model_job import ModelJob

J = TypeVar("J", bound="ModelJob[Any]")


def boards(name: str) -> dict[str, tuple[str, ...]]:
    """The feeds of the boards of models: an instrument's views NAME_board_entries, NAME_board_orders and so on."""
    return {f"board_{what}": (f"{name}_board_{what}",) for what in ("entries", "orders", "failures")}


def _no_tables(_jobs: Sequence[Any]) -> Mapping[Table[Any], pa.Table]:
    return {}


@dataclass(frozen=True)
class Inquiry(Generic[J]):
    """What a command's options ask, and what is done with the answers."""

    # What a model of the experiment is asked, still without its setup; or jobs with the setups of their models.
    jobs: Callable[[str], Iterable[J]] | Sequence[J]
    # That ask them, in order, and then read the answers.
    steps: Callable[[Sequence[J]], Iterable[Step[Any, Models]]]
    data: Callable[[Sequence[J]], Mapping[Table[Any], pa.Table]] = _no_tables  # what is asked about, as it is now
    # The rows of requests to write; None: each takes the place of the one that is about the same.
    requests: Callable[[Sequence[J]], Mapping[Table[Any], pa.Table]] | None = None
    derive: Callable[[], None] = lambda: None
    shown: Iterable[PrintedTable | Listing] = ()  # as of `Study`
    reason: str = ""  # as of `Validity`


def _of_models(asked: AskedExperiment, jobs: Callable[[str], Iterable[J]], use: str) -> Iterator[J]:
    """The jobs of each model of the experiment, under its setup for a use."""
    for model in asked.models:
        setup = asked.setup(model, use)
        for one in jobs(model):
            yield one.of_model(model, setup)


@dataclass(frozen=True, kw_only=True)
class Instrument(Command[O]):
    """A command that asks models, declared once."""

    answers: Table[Any]  # what comes back
    # What options use the experiment's models for; None: what the requests declare. Empty where they bring models.
    uses: Callable[[O], Iterable[Use]] | None = None

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
        return Layout((self.asked[0], self.answers))

    def uses_of(self, options: O) -> list[Use]:
        """As of each command."""
        return [cast("Use", self.asked[1].use)] if self.uses is None else sorted(self.uses(options))

    def inquiry(self, asked: AskedExperiment, options: O) -> Inquiry[Any]:
        """What the options ask: `inquiry` in `study`, beside the options."""
        found: Inquiry[Any] = import_module(f"{self.options.__module__.rpartition('.')[0]}.study").inquiry(
            asked, options
        )
        return found

    def study(self, asked: AskedExperiment, options: O) -> Study:
        """What the options ask of each model, and which rows count from then on."""
        return self.study_of(asked, self.inquiry(asked, options))

    def study_of(self, asked: AskedExperiment, found: Inquiry[Any]) -> Study:
        """The study of an inquiry, whoever makes it."""
        from polyculture.cache.store.parquet import present_rows
        from polyculture.instruments.row_step import AnswerStep

        table, requests = self.asked
        jobs: Sequence[ModelJob[Any]] = (
            list(_of_models(asked, found.jobs, requests.use)) if callable(found.jobs) else found.jobs
        )
        steps = tuple(found.steps(jobs))
        asking = [step for step in steps if isinstance(step, AnswerStep)]
        setups = {f"{step.use} {one.job.model}": one.setup for step in asking for one in step.jobs}

        def tables() -> Mapping[Table[Any], pa.Table]:
            if found.requests is not None:
                return {**found.data(jobs), **found.requests(jobs)}
            rows = [row for one in jobs for row in one.wanted()]
            return {**found.data(jobs), **present_rows(asked.run, table, rows)}

        ids = {one.key: one for step in steps for one in step.ids}
        return Study(steps, Validity(setups, list(ids.values()), tables, found.reason), found.derive, found.shown)


@dataclass(frozen=True, kw_only=True)
class TextInstrument(Instrument[O]):
    """An instrument that asks for texts, and prints its tables."""

    prompts: Callable[[O], Iterable[InstrumentPrompt]]
    max_tokens: int
    read: Callable[[str], Mapping[str, Any]]

    def inquiry(self, asked: AskedExperiment, options: O) -> Inquiry[Any]:  # noqa: ARG002, it follows from the options
        """As of each instrument."""
        from polyculture.instruments.text_step import PromptedStep, prompted_jobs

        jobs = prompted_jobs(self.prompts(options), self.max_tokens, self.asked[0].row)
        return Inquiry(
            lambda _model: jobs,
            lambda jobs: [PromptedStep(self.answers, self.read, jobs)],
            shown=[PrintedTable(file) for file in self.tables],
        )


class _RequestRow(type):
    """The type of row types that follow from those of answers. What they follow from is pickled in their place."""

    of_answers: tuple[type[Any], tuple[str, ...]]


def _request_row(row: type[Any], of: tuple[str, ...]) -> _RequestRow:
    """The row of a request that is asked now, of which some columns of an answer's row say all. Raises `TypeError`."""
    hints = get_type_hints(row)
    if unknown := [column for column in of if column not in hints]:
        raise TypeError(f"of: {row.__name__} has no column {', '.join(unknown)}; there are {', '.join(hints)}")
    body = {
        "__annotations__": {column: hints[column] for column in of},
        "__doc__": "A request that a model is asked now.",
        "__module__": row.__module__,
        "of_answers": (row, of),
    }
    made = new_class(f"Wanted{row.__name__}", (Requested,), {"metaclass": _RequestRow}, lambda said: said.update(body))
    return cast("_RequestRow", dataclass(frozen=True)(made))


copyreg.pickle(_RequestRow, lambda made: (_request_row, made.of_answers))


def requests_about(name: str, row: type[Any], of: Sequence[str], use: str) -> Table[Any]:
    """The table of what is asked now of models for a `use`, where a few columns of an answer's row say all of it.

    Raises `TypeError` of a name in `of` that is no column.
    """
    wanted = _request_row(row, tuple(of))
    return Table(name, wanted, requests=Requests(use), same=("model", *of))


def text_instrument(
    name: str,
    row: type[Answered],
    of: Sequence[str],
    options: type[O],
    prompts: Callable[[O], Iterable[InstrumentPrompt]],
    example: str,
    *,
    max_tokens: int,
    read: Callable[[str], Mapping[str, Any]],
    tables: Sequence[Path],
) -> TextInstrument[O]:
    """An instrument that asks models for texts at temperature 0, and keeps a row for each in the table `name`.

    `of` names the columns of the row that say what was asked about; `read` makes other columns of a text; where it
    raises an exception, the row is a failure with that reason, and keeps the text. `tables` are SQL files of declared
    tables, which the command prints, and `polyculture table`. Raises `TypeError` as `requests_about`.
    """
    asked = requests_about(f"wanted_{name}", row, of, "answer")
    wants = Wanted(asked.name, tuple(of), of=asked)
    answers = Table(name, row, key="answer_id", stage=name, unit="answers", wanted=wants)
    return TextInstrument(options, example, tables, answers=answers, prompts=prompts, max_tokens=max_tokens, read=read)
