"""A section of the report: what it shows, how it is built, and the tables that it exports.

The page, its navigation and its exports follow from a list of sections. A section is a folder's worth of files: SQL, a
template, texts, and one function. Importing this module loads neither DuckDB nor pandas, so that a list of sections is
cheap to import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from polyculture.cache.store.sql_file import DeclaredTable, read_table

if TYPE_CHECKING:
    import pandas as pd

    from polyculture.cache.store.layout import Layout
    from polyculture.cache.store.manifest import Manifest
    from polyculture.reports.names import Names
    from polyculture.reports.reading import Reading

T = TypeVar("T")


@dataclass(frozen=True)
class ReportData:
    """What a section is built from.

    `about_texts` says whether the report is about texts that the models wrote: false where there are none and another
    section can stand alone. `board_titles` holds leaderboard titles by '<task>.<metric>', from all sections.
    """

    reading: Reading
    manifest: Manifest
    names: Names
    layout: Layout  # the store's tables and views
    about_texts: bool = True
    board_titles: Mapping[str, str] = field(default_factory=dict)
    _computed: dict[object, Any] = field(default_factory=dict, repr=False)

    def frame(self, table: ReportTable) -> pd.DataFrame:
        """The rows of a table, read once per report."""
        return self._once(table.name, table.read)

    def once(self, compute: Callable[[ReportData], T]) -> T:
        """What a module's function computes from these data; once per report, whoever asks for it."""
        return self._once(compute, compute)

    def _once(self, key: object, compute: Callable[[ReportData], T]) -> T:
        if key not in self._computed:
            self._computed[key] = compute(self)
        result: T = self._computed[key]
        return result


@dataclass(frozen=True)
class ReportTable:
    """A table of a section: the SQL file that declares it (`cache.store.sql_file`).

    `computed` gives the rows where no SQL does; the file's header then says what they are.
    """

    file: Path
    computed: Callable[[ReportData], pd.DataFrame] | None = None

    @property
    def declared(self) -> DeclaredTable:
        """Its declaration."""
        return read_table(self.file)

    @property
    def name(self) -> str:
        """The name of its files: `<name>.csv`."""
        return self.declared.name

    @property
    def sql(self) -> str:
        """What tells a reader how to get its rows."""
        return self.declared.filled()

    def read(self, data: ReportData) -> pd.DataFrame:
        """The rows that the report shows."""
        return self.computed(data) if self.computed else data.reading.frame(self.file)


@dataclass(frozen=True)
class Section:
    """A section of the report.

    `name` is its anchor on the page. `build` returns the section's context, a frozen dataclass, or None where there is
    nothing to show: the section is then neither on the page nor in the navigation nor exported. `build` imports what
    it needs itself.

    `template` (Jinja, with autoescape) is the body below the heading. It sees `section` (the context), `texts` (the
    file `texts`) and `tables` (a download for each table, by name), and nothing else; `parts.html.jinja` has macros for
    numbers and downloads. Where it defines the macro `opening`, this is a sentence in the page's opening; the macro
    `basis` says what the report rests on where no text was written.

    `texts` is a TOML file in the form of `SectionTexts`, or one with a table of this form for the section's name. Every
    table of `tables` is exported under its name.

    A section is a fold. Among texts that models wrote, those that are `first` stand open and the others are folded;
    where no text was written, all stand open.
    """

    name: str
    build: Callable[[ReportData], object | None]
    template: Path
    texts: Path
    tables: tuple[ReportTable, ...] = ()
    needs_texts: bool = False  # the report may not consist of this section alone
    first: bool = False  # it stands open when the page is opened
