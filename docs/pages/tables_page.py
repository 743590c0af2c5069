"""The page of tables, with a drawing of the main ones: what the store's own dictionary says."""

from __future__ import annotations

from functools import cache

from polyculture.cache.store.layout import Layout
from polyculture.cache.store.sql_file import Header
from polyculture.cache.store.store import open_store
from polyculture.instruments import INSTRUMENTS, command_line
from polyculture.metrics import METRICS_LAYOUT
from polyculture.running.layout import store_layout
from polyculture.running.tables import all_tables

HEAD = """# Tables

Everything that a run holds is a table or a view, read by SQL: `polyculture sql exp.toml "SELECT ..."`. `make docs`
writes this page from the store's own dictionary. The same for your run, with every column:

    polyculture sql exp.toml
    polyculture sql exp.toml --describe granularity

## The main tables

A row of one table leads to rows of the next by columns that both have. A **cell** is a model, language, topic,
condition, country and wording. [The store](store.md) describes the files. [Queries](queries.md) has worked questions.

"""
# From a prompt to the metrics: a table, the next one, and the columns by which its rows lead there.
LEADS = (
    ("prompts", "responses", ("prompt_id",)),
    ("responses", "extractions", ("response_id",)),
    ("extractions", "mentions", ("extraction_id",)),
    ("mentions", "links", ("query",)),
    ("links", "candidates", ("query",)),
    ("candidates", "entities", ("qid",)),
    ("entities", "entity_countries", ("qid",)),
    ("links", "linked_mentions", ("surface", "qid")),
    ("linked_mentions", "entity_counts", ("qid",)),
    ("entity_counts", "granularity", ("model", "language", "topic", "country")),
    ("granularity", "numbers", ("model",)),
)
READY = """## Tables that are ready to read

    polyculture table cbs exp.toml rule=mean language=ja --format csv -o cbs.csv

`polyculture table` lists them, `polyculture table NAME` says what the columns mean. `KEY=VALUE` is a parameter, or a
column whose rows are chosen. The report has the same tables as downloads. A table is one SQL file whose header says all
of this (`cache/store/sql_file.py`).

"""
LISTED = """## All views

What a row of each is. Views whose names begin with `stored_` hold all rows on disk, those of former
settings too. Those that begin with `run_` hold what the experiment asks now. Both are left out here.

"""


@cache
def dictionary() -> dict[str, dict[str, tuple[str, str]]]:
    """Per view: its columns with type and meaning; under the empty name what a row is."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    with open_store(None, store_layout()) as store:
        for view, column, kind, meaning in store.sql("FROM dictionary ORDER BY rowid").fetchall():
            found.setdefault(view, {})[column] = (kind, meaning)
    return found


def page() -> str:
    """The main tables and their columns, then a line a view, by the part that declares it."""
    columns = f"{_leads()}\n\n{''.join(map(_columns, dict.fromkeys(name for lead in LEADS for name in lead[:2])))}"
    lists = "".join(f"### {title}\n\n{_listed(views)}\n\n" for title, views in _parts().items())
    return f"{HEAD}{columns}{READY}{_ready()}\n\n{LISTED}{lists}".rstrip() + "\n"


def _leads() -> str:
    rows = [
        f"| [`{one}`](#{one}) | [`{other}`](#{other}) | {', '.join(f'`{column}`' for column in columns)} |"
        for one, other, columns in LEADS
    ]
    return "\n".join(["| from | to | by |", "| --- | --- | --- |", *rows])


def _ready() -> str:
    """A line per declared table."""
    headers = [table.declared.header for table in all_tables().values()]
    rows = [f"| `{one.name}` | {_sentence(one.row)} | {_parameters(one)} |" for one in headers]
    return "\n".join(["| table | a row is | parameters |", "| --- | --- | --- |", *rows])


def _parameters(header: Header) -> str:
    return ", ".join(f"`{name}={one.default}`" for name, one in header.parameters.items() if one.default is not None)


def _columns(view: str) -> str:
    said = dictionary()[view]
    rows = [f"| `{name}` | {_plain(kind)} | {_plain(meaning)} |" for name, (kind, meaning) in said.items() if name]
    return (
        "\n".join(
            [
                f"### {view}\n",
                f"{_sentence(said[''][1])}\n",
                "| column | type | meaning |",
                "| --- | --- | --- |",
                *rows,
            ]
        )
        + "\n\n"
    )


def _parts() -> dict[str, list[str]]:
    """The views that a user asks, under the part whose layout brings them."""
    left = [view for view in dictionary() if not view.startswith(("stored_", "run_", "no_")) and view.isidentifier()]
    parts: dict[str, list[str]] = {}
    owners: list[tuple[str, Layout]] = [("Texts, entities and the four metrics", METRICS_LAYOUT)]
    titles = [", ".join(f"`{command_line(command)}`" for command in entry.lines) for entry in INSTRUMENTS]
    owners += [(title, one.layout) for title, one in zip(titles, INSTRUMENTS, strict=True)]
    for title, layout in owners:
        sql = "\n".join(file.read_text(encoding="utf-8") for file in layout.files)
        tables = {table.name for table in layout.tables}
        own = [view for view in left if view in tables or f"VIEW {view} " in sql or f"VIEW {view}\n" in sql]
        left = [view for view in left if view not in own]
        if own:
            parts[title] = own
    return parts | ({"Of several parts": left} if left else {})


def _listed(views: list[str]) -> str:
    rows = [f"| `{view}` | {_sentence(dictionary()[view][''][1])} |" for view in views]
    return "\n".join(["| view | a row is |", "| --- | --- |", *rows])


def _sentence(meaning: str) -> str:
    return _plain(meaning).removeprefix("a row is ")


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")
