"""The layout of a store: tables and views, which the rooms declare and the store knows none of by name.

A `Table` is a frozen dataclass of rows with what the store must know to keep them. A `Layout` is tables and the SQL
over them. Rooms and instruments declare theirs; the front door composes them in the order of their dependencies.
"""

from __future__ import annotations

import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    import pyarrow as pa
    from _typeshed import DataclassInstance

    from polyculture.cache.store.manifest import Manifest
    from polyculture.cache.store.run_folder import RunFolder

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of a table count: those of a request that stands in the view `view`, of samples below its `n`.

    `view` has the columns request_id, of a table with samples n, and those of `alike`, which must have the same value
    in both. With `facts`, its other columns stand beside the rows: what is asked about is kept once, not in every row.
    """

    view: str
    alike: tuple[str, ...] = ()
    facts: bool = False  # then `alike` is never NULL
    of: Table[Any] | None = None  # what is asked now, of which the view is made; its declaration is a `Requests`


@dataclass(frozen=True, slots=True)
class Requests:
    """Which rows of a table of requests (`schema/asked.py`) are asked now: those of the experiment's models, under the
    setups that they have now.

    The view of the table's name has them. It is made from this declaration, and no SQL file says it again.
    """

    use: str  # of the models, as setups name it: 'score', 'represent', 'answer'; '': the rows say it in `use`
    instrument: str = ""  # whose present ids `asked_id` has to be among; '': the rows have no such column
    # In SQL, rows of models that no experiment file names: a corpus, a classifier. Nothing else tells them from rows of
    # models that have left the experiment, whose setups are kept for the day that they come back.
    brought: str = ""


PAID = ("prompt_tokens", "completion_tokens", "named_cost", "purchase")  # what rows say that were paid for


@dataclass(frozen=True, eq=False)
class Table(Generic[R]):
    """A table of the store: its rows, and how they are kept.

    A table with a `key` is written job by job, in shards: `folder/model=<m>/language=<l>/topic=<t>/`. One with a
    `commit` is written together with that table, whose part says whether the row counts. One `by_measure` is a folder
    with a file for each measure. Any other is one file a run.
    """

    name: str  # of its folder or file, too
    row: type[R]  # a frozen dataclass: the one place where the columns are written down
    key: str | None = None  # the column that says which work is done
    commit: str | None = None  # the table whose parts commit this one's
    stage: str | None = None  # that pays for its rows: in the ledger, and in `bought` and `failed`
    subject: str | None = None  # the column that names what was asked, where several rows share it; else the key
    unit: str = "rows"  # the word for its rows in messages: 'scores', 'answers'
    # Its view, of this name, has the rows that count, `failed` and (with a stage) `bought` have its own; None: SQL
    # says which.
    wanted: Wanted | None = None
    requests: Requests | None = None  # of a table of what is asked: its view has the rows that are asked now
    # Of a table that commands write as things are now: a row takes the place of those with the same values in these.
    same: tuple[str, ...] = ()
    asked: str = "model"  # the column that names the model that was asked and paid
    by_measure: bool = False

    def __post_init__(self) -> None:
        """Raises `TypeError` of a table with a stage whose rows do not say what was paid."""
        if self.stage is not None and (lacking := [column for column in PAID if column not in self.columns]):
            raise TypeError(f"rows of {self.name} are paid for, and lack the columns {', '.join(lacking)}")

    def of_measure(self, measure: str) -> Table[R]:
        """The file of a measure in the folder of a table that is `by_measure`, as a table of its own."""
        return replace(self, name=f"{self.name}/{measure}", by_measure=False)

    @property
    def sharded(self) -> bool:
        """Whether the table is written job by job."""
        return self.key is not None or self.commit is not None

    @cached_property
    def schema(self) -> pa.Schema:
        """A field per column, nullable where the row type allows None."""
        import pyarrow as pa  # here: a list of instruments holds tables, and must be cheap to import

        hints = typing.get_type_hints(self.row)
        return pa.schema([_arrow_field(name, hints[name]) for name in self.columns])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in fields(cast("type[DataclassInstance]", self.row)))


@dataclass(frozen=True)
class Layer:
    """SQL files, tables whose view has all of their rows, and views that are the union of several others, called feeds.

    Files and tables come first, in order. Then each feed becomes a view: `UNION ALL BY NAME` of its sources. The
    closing files run last: they may read the feeds.
    """

    files: tuple[Path | Table[Any], ...] = ()
    feeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # view -> the views that it unites
    closing: tuple[Path, ...] = ()

    @property
    def all_files(self) -> tuple[Path, ...]:
        """The SQL files in the order in which they run."""
        return (*(file for file in self.files if isinstance(file, Path)), *self.closing)


@dataclass(frozen=True, eq=False)
class Measure:
    """What computes numbers, and the data that these rest on: numbers of other data are not shown.

    Which rows of its tables count follows from what they declare (`data_identity.py`).
    """

    name: str  # as in the column `measure` of `numbers`
    tables: tuple[Table[Any], ...]
    settings: Callable[[RunFolder, Manifest], object] | None = None  # what else decides it, which no table declares
    topics: str = ""  # how the topics of the jobs begin that it measures; '' is all


@dataclass(frozen=True)
class Layout:
    """Tables, the SQL that says which of their rows count now, the views on top of these, and what measures them."""

    tables: tuple[Table[Any], ...] = ()
    current: Layer = Layer()
    views: Layer = Layer()
    measures: tuple[Measure, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """All SQL files in the order in which they run."""
        return (*self.current.all_files, *self.views.all_files)

    def table(self, name: str) -> Table[Any]:
        """A table by its name. Raises `KeyError` where there is none."""
        return {table.name: table for table in self.tables}[name]


def compose(*layouts: Layout) -> Layout:
    """One layout of several, in order. What several of them hold stands where it came first.

    Raises `ValueError` where two tables have one name.
    """
    tables = tuple(dict.fromkeys(table for layout in layouts for table in layout.tables))
    twice = sorted(name for name, count in Counter(table.name for table in tables).items() if count > 1)
    if twice:
        raise ValueError(f"several tables are called {', '.join(twice)}: give each a name of its own")
    return Layout(
        tables,
        _join(layout.current for layout in layouts),
        _join(layout.views for layout in layouts),
        tuple(dict.fromkeys(measure for layout in layouts for measure in layout.measures)),
    )


def _join(layers: Iterable[Layer]) -> Layer:
    layers = list(layers)
    feeds: dict[str, tuple[str, ...]] = {}
    for layer in layers:
        for view, sources in layer.feeds.items():
            feeds[view] = tuple(dict.fromkeys((*feeds.get(view, ()), *sources)))
    return Layer(
        tuple(dict.fromkeys(file for layer in layers for file in layer.files)),
        feeds,
        tuple(dict.fromkeys(file for layer in layers for file in layer.closing)),
    )


def _arrow_field(name: str, hint: Any) -> pa.Field[Any]:
    import pyarrow as pa

    kinds: dict[Any, pa.DataType] = {
        str: pa.string(),
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        list[str]: pa.list_(pa.string()),
        list[float]: pa.list_(pa.float64()),
        list[int]: pa.list_(pa.int64()),
        dict[str, str]: pa.map_(pa.string(), pa.string()),
        dict[str, int]: pa.map_(pa.string(), pa.int64()),
    }
    nullable = isinstance(hint, types.UnionType)
    plain = next(arm for arm in typing.get_args(hint) if arm is not types.NoneType) if nullable else hint
    return pa.field(name, kinds[plain], nullable=nullable)
