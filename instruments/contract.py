"""The contract of instruments: their queries, tables and report sections.

An instrument is one folder, with one line in `instruments/__init__.py`. What it is made of is found by name: `COMMANDS`
in its module `instrument`, and, if it has them, `LAYOUT` in `layout` (tables and views) and `SECTIONS` in `section` (of
the report). A command turns options into a `Study`: the steps that the worker runs, the ids that are valid from now on,
and what follows once they are done. No other module names it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, TypeVar, runtime_checkable

from annotated_types import Ge

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pyarrow as pa
    from pydantic import BaseModel

    from polyculture.cache.catalog import Catalog
    from polyculture.cache.store.layout import Table
    from polyculture.cache.store.manifest import CurrentId
    from polyculture.cache.store.run_folder import RunFolder
    from polyculture.cache.work.outcome import Progress
    from polyculture.cache.work.worker import Step
    from polyculture.generate.engines import ModelSpec
    from polyculture.generate.engines.models import Models
    from polyculture.generate.engines.options import Use

O = TypeVar("O", bound="BaseModel")  # noqa: E741, the options of a command
AtLeastOne = Annotated[int, Ge(1)]
SeveralNames = tuple[str, ...]  # of an option that may be given several times
IN_FILE: dict[str, Any] = {"in_file": True}  # of a field of options: a preset says it or the experiment file, no flag


def in_file(description: str, **limits: Any) -> Any:
    """A field of options without a flag: a preset or the experiment file says it. `limits` as of pydantic's `Field`."""
    from pydantic import Field  # here: a list of instruments must be cheap to import

    return Field(description=description, json_schema_extra=IN_FILE, **limits)


Setup = Mapping[str, Any]  # which model it is, exactly, and what decides its numbers


class AskedExperiment(Protocol):
    """The experiment as an instrument sees it; the front door provides it."""

    @property
    def run(self) -> RunFolder: ...

    @property
    def catalog(self) -> Catalog: ...

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the experiment, or the one that the command line names."""
        ...

    @property
    def seed(self) -> int: ...

    def spec(self, model: str) -> ModelSpec:
        """A model with its options."""
        ...

    def setup(self, model: str, use: str) -> Setup:
        """The setup of a model for a use: 'score', 'represent', 'answer'."""
        ...

    def link(self, queries: pa.Table) -> pa.Table:
        """The links of queries (language, topic, kind and surface, each once) by the experiment's linker."""
        ...

    def watch(self, label: str, total: int) -> AbstractContextManager[Progress]:
        """A progress for a piece of work of `total` units."""
        ...

    def info(self, line: str) -> None:
        """Logs a remark on progress, once for each command."""
        ...

    def warning(self, line: str) -> None:
        """Logs what makes numbers doubtful, or what is left out, once for each command."""
        ...


@dataclass(frozen=True)
class Validity:
    """Which rows are current from now on: those of these setups and ids, and of requests in these tables.

    Other rows stay on disk, and out of every view. The front door keeps it in the run (`running/validity.py`).
    """

    setups: Mapping[str, Setup] = field(default_factory=dict)  # 'use model' -> the setup
    ids: Sequence[CurrentId] = ()  # of what is asked and read; one with a prompt ends the other prompts of the same
    tables: Callable[[], Mapping[Table[Any], pa.Table]] = dict  # what else decides it, where it is not written already
    reason: str = ""  # why rows do not count that these setups and ids do not explain


@dataclass(frozen=True)
class PrintedTable:
    """A declared table that a command prints, with values of its parameters and columns (`cache.store.sql_file`)."""

    file: Path
    values: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class NamesData(Protocol):
    """Options that name data sets or question sets."""

    def check_names(self) -> None:
        """Raises `DataSetError` of a name that there is not, with the nearest one."""


@dataclass(frozen=True)
class Listing:
    """Rows that no query made, for the terminal."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    notes: Sequence[str] = ()  # lines below the table


@dataclass(frozen=True)
class Study:
    """The work of a command with its options: steps, then derived tables, then what is shown.

    Of a paper it is the paper that shows something, and none of its parts.
    """

    steps: Sequence[Step[Any, Models]] = ()
    validity: Validity = Validity()
    derive: Callable[[], None] = lambda: None  # links and measures, once the steps are done
    shown: Iterable[PrintedTable | Listing] = ()  # in order; made when it is printed, as of a generator


@dataclass(frozen=True)
class InstrumentPrompt:
    """A prompt of an instrument that keeps a row for each text."""

    language: str  # of the job
    topic: str  # of the job
    text: str  # what the model reads
    about: Mapping[str, Any]  # what it asks about, by column of the row


@dataclass(frozen=True)
class Demo:
    """A command's own small study: `--demo` copies an experiment file and asks with these options.

    It brings its data: options that name others exclude it.
    """

    experiment: Path
    data: str  # what it asks about, as a word of its help: 'contexts'
    options: Mapping[str, Any]  # that hold unless the command line says otherwise

    @property
    def folder(self) -> str:
        """The folder that the file is copied into, in the working folder."""
        return self.experiment.stem.replace("_", "-")

    @property
    def help(self) -> str:
        """The help of `--demo`."""
        return f"The embedded model, {self.data} of our own; in {self.folder}/."


@dataclass(frozen=True)
class Subject:
    """What a command asks about: a name before the experiment, without a flag, as in `ask kobbq exp.toml`.

    A command with one needs no experiment file: with --model it writes its own, such as `ask-kobbq.toml`.
    """

    option: str  # the field of the options that has the name
    check: Callable[[Any], object]  # raises what is wrong with what the options name, before the file is written


@dataclass(frozen=True)
class Command(ABC, Generic[O]):
    """A command of an instrument: `polyculture NAME [ARGUMENT] exp.toml`, a flag per other field of its options.

    A field with `json_schema_extra=IN_FILE` has none.
    """

    options: type[O]  # its docstring is the command's help
    example: str  # for the end of the help
    tables: Sequence[Path] = ()  # SQL files of declared tables that no section of the report shows
    demo: Demo | None = None
    subject: Subject | None = None

    @abstractmethod
    def study(self, asked: AskedExperiment, options: O) -> Study:
        """What the options ask of the models, and what follows."""

    @abstractmethod
    def uses_of(self, options: O) -> Sequence[Use]:
        """What options use each model of the experiment for. One whose engine cannot do it is left out."""
