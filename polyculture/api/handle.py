"""A run, open for reading: its tables as frames of pandas or Arrow, its comparisons, its report."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import duckdb

from polyculture.api.filters import filtered
from polyculture.cache.errors import StoreError
from polyculture.cache.files import scratch_folder
from polyculture.cache.store.damage import damaged_file
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.queries import LiveStore, check_query, known_view, query_faults
from polyculture.cache.store.sql_file import DICTIONARY
from polyculture.cache.store.store import Store
from polyculture.experiment.workspace import Workspace
from polyculture.running.layout import store_layout
from polyculture.running.results import measure_run, report_copy, report_run

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Target = Literal["same_prompts", "new_prompts"]
T = TypeVar("T")
_CODES = {
    "model": "models",
    "language": "languages",
    "topic": "topics",
    "country": "countries",
    "condition": "conditions",
}
_SEE = "run.tables, run.describe(TABLE)"


class Run:
    """An open run. `polyculture.open` and `polyculture.run` return one; you do not construct it yourself.

    All methods only read, except `report()` without a path, which writes into the run's folder. While another process
    works on the run, each call returns the rows that are stored at that moment. You can open several runs at once. A
    run is closed by `close()`, at the end of a `with` block, or when it is garbage-collected.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._manifest = require_run(workspace.run)
        self._open = ExitStack()
        self._live: LiveStore | None = None
        self._close = weakref.finalize(self, self._open.close)

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self._manifest.experiment

    @property
    def path(self) -> Path:
        """The folder of the run."""
        return self._workspace.run.root

    @property
    def models(self) -> tuple[str, ...]:
        """The models as the tables name them: `engine:name`."""
        return tuple(self._manifest.models)

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages, for example `ja`."""
        return tuple(self._manifest.languages)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, for example `food`."""
        return tuple(self._manifest.topics)

    @property
    def countries(self) -> tuple[str, ...]:
        """The codes of the countries, for example `JP`."""
        return tuple(self._manifest.countries)

    @property
    def tables(self) -> list[str]:
        """The names of the tables of the store, with the current rows and the metrics.

        The tables of the report are others: `polyculture table` lists them.
        """
        return sorted({view for view in self.sql(DICTIONARY)["view"] if "*" not in view})

    def describe(self, table: str | None = None) -> pd.DataFrame:
        """Explains the columns of a table, or all tables if you name none.

        The result has a row for each column of `table`, with its type and meaning, and `attrs["meaning"]` says what a
        row of the table is. Without `table`, it has a row for each table. Raises `StoreError` for an unknown table.
        """
        if table is None:
            found = self.sql(DICTIONARY)
            views = found[(found["column"] == "") & ~found["view"].str.contains("*", regex=False)]
            listed: pd.DataFrame = views[["view", "meaning"]].rename(columns={"view": "table"}).reset_index(drop=True)
            return listed

        def ask(store: Store) -> pd.DataFrame:
            meaning, columns = store.describe(known_view(store, table, "run.tables"))
            frame: pd.DataFrame = columns.df()
            frame.attrs["meaning"] = meaning
            return frame

        return self._ask(ask)

    def table(self, name: str, /, **where: Any) -> pd.DataFrame:
        """Returns the rows of a table as a pandas frame: all rows, or those whose columns have the given values.

            run.table("granularity", language="ja", topic=["food", "music"], country=None)

        A value is text (its case does not matter), a number, a truth value, `None` for a missing value, or a list of
        these. The rows have no fixed order. A column of whole numbers in which some are missing becomes a column of
        floats, because pandas has it so; `arrow` keeps whole numbers. Raises `StoreError` for an unknown table, column
        or value; the message lists those that are known.
        """

        def ask(store: Store) -> pd.DataFrame:
            frame: pd.DataFrame = self._rows(store, name, where).df()
            return frame

        return self._ask(ask)

    def arrow(self, name: str, /, **where: Any) -> pa.Table:
        """Returns the rows that `table` returns as an Arrow table, with the types of the store."""

        def ask(store: Store) -> pa.Table:
            rows: pa.Table = self._rows(store, name, where).to_arrow_table()
            return rows

        return self._ask(ask)

    def responses(self, **where: Any) -> pd.DataFrame:
        """Returns the current responses, one row for each, with its `text`. `where` works as in `table`."""
        return self.table("responses", **where)

    def sql(
        self, query: str, params: Mapping[str, Any] | Sequence[Any] | None = None, *, timeout: float | None = None
    ) -> pd.DataFrame:
        """Returns the result of one SELECT statement in DuckDB's SQL as a pandas frame.

        `params` replace `?` (a sequence) or `$name` (a mapping) in the query. The query can read the files of this run
        and no others, and it cannot write. After `timeout` seconds it is cancelled. Raises `StoreError` if the query is
        not a SELECT, fails, or is cancelled.
        """

        def ask(store: Store) -> pd.DataFrame:
            check_query(query)
            frame: pd.DataFrame = store.sql(query, params=params).df()
            return frame

        return self._ask(ask, timeout)

    def compare(
        self,
        *names: str,
        rest: bool = False,
        group: Literal["origin", "open", "size"] | None = None,
        native: bool = False,
        baselines: Sequence[Path | str] = (),
        snapshots: Sequence[str] = (),
        by: Sequence[str] = (),
        metrics: Sequence[str] = (),
        targets: Sequence[Target] = (),
    ) -> pd.DataFrame:
        """Compares models, languages, conditions, countries or wordings, as `polyculture compare` does.

        - `names` are two or more of one kind. Every pair of them is compared, or with `rest` each with all others.
        - Without `names`: `native` compares each country's own languages with the other languages, `group` compares
          groups of models by a fact of `[model_facts]`, `baselines` are experiment files or folders of other runs, and
          `snapshots` are those of `polyculture link --snapshot`.
        - `by` names columns, such as `language`: there is a row for each of their values.
        - `metrics` and `targets` limit the comparison; the targets are `same_prompts` and `new_prompts`.

        The result has a row for each pair, metric, target, selection of texts and value of `by`, with the columns of
        the table `differences`. `attrs["remarks"]` lists what was left out, and why some rows have no interval. Raises
        `StoreError` if the run does not have what you name.
        """
        from polyculture.metrics.comparison.compare import TARGETS
        from polyculture.metrics.comparison.question import ComparisonQuestion
        from polyculture.metrics.comparison.table import as_table, remarks_of
        from polyculture.running.comparing import compared

        for target in targets:
            if target not in TARGETS:
                raise StoreError(f"there is no target {target!r}", remedy=f"Known: {', '.join(TARGETS)}.")
        others, remarks = tuple(map(Path, baselines)), list[str]()
        terms = tuple(by), tuple(metrics), tuple(targets), others, tuple(snapshots)
        question = ComparisonQuestion(names, native, rest, group, *terms)
        with self._faults(), ExitStack() as stack:
            found = compared(stack, self._workspace, question, remarks.append)
            frame: pd.DataFrame = as_table(found.rows).to_pandas()
        frame.attrs["remarks"] = [*remarks, *remarks_of(found.rows)]
        return frame

    def report(self, path: Path | str | None = None) -> Path:
        """Writes the report and returns its path.

        Without `path`, missing intervals are computed, and the report is written into the run's folder, as by
        `polyculture report`. With `path`, an HTML file, nothing is written into the run's folder, and the report shows
        only the numbers that are stored. A large report has a folder `report-data` next to it. Raises `StoreError` if
        the file cannot be written.
        """
        run, catalog = self._workspace.run, self._workspace.catalog
        with self._faults():
            if path is None:
                measure_run(run, catalog)
                return report_run(run, catalog)
            return report_copy(run, catalog, Path(path).expanduser())

    def export(self, to: Path | str, *, licence: str | None = None, every_eval_ever: bool = False) -> Path:
        """Writes all tables that have rows to the portable folder `to`, as `polyculture export` does; returns its path.

        `licence` is the licence under which you publish the folder. With `every_eval_ever`, the folder also contains a
        record of each model's numbers in the common form of that name. An earlier export in `to` is replaced. Raises
        `StoreError` if `to` contains anything else or cannot be written.
        """
        from polyculture.instruments.questions.rules.opened import citation_of
        from polyculture.reports.export.write import write_export
        from polyculture.running.standings import RECORD_FACTS

        with self._faults():
            run, folder = self._workspace.run, Path(to).expanduser()
            facts = RECORD_FACTS if every_eval_ever else None
            done = write_export(run, store_layout(), folder, licence, citation_of, every_eval_ever=facts)
            return done.path

    def close(self) -> None:
        """Closes the store of the run and removes its temporary files. A later call opens it again."""
        self._live = None
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        """Without the folder: notebooks are handed on with what they show."""
        return f"<polyculture.Run {self.name!r}>"

    def _rows(self, store: Store, name: str, where: Mapping[str, Any]) -> duckdb.DuckDBPyRelation:
        view = known_view(store, name, "run.tables")
        known_codes = {column: getattr(self._manifest, part) for column, part in _CODES.items()}
        return filtered(store.table(view), view, where, known_codes)

    def _ask(self, ask: Callable[[Store], T], timeout: float | None = None) -> T:
        with self._faults(timeout):
            return self._store().asked(ask, timeout)

    def _store(self) -> LiveStore:
        if self._live is None:
            folder = self._open.enter_context(scratch_folder("python"))
            self._live = LiveStore(self._workspace.run, folder, store_layout(), pause=1.0)
            self._open.callback(self._live.close)
        return self._live

    def _faults(self, timeout: float | None = None) -> ExitStack:
        """Errors of DuckDB as ours: of a query, of a damaged file."""
        faults = ExitStack()
        faults.push(self._damaged)
        faults.enter_context(query_faults(_SEE, [self._workspace.run.root], timeout, "timeout=SECONDS"))
        return faults

    def _damaged(
        self, _kind: type[BaseException] | None, fault: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if not isinstance(fault, Exception):
            return
        damaged = damaged_file(fault, store_layout(), [self._workspace.run.root])
        if damaged is not None:
            raise damaged from fault
