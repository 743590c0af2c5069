"""The list of instruments: every name is its own, and what a line says is there."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from polyculture.cache.store.layout import Layout, Table, compose
from polyculture.cache.store.schema import Prompt
from polyculture.cache.store.store import open_store
from polyculture.cli.app import PANELS
from polyculture.instruments import INSTRUMENTS
from polyculture.running.layout import store_layout
from polyculture.running.tables import all_tables
from tests.instruments.toy.instrument import TOY
from tests.store_builder import StoreBuilder

ROOT = Path(__file__).parents[2]
OWN_VIEWS = "database_name = current_database()"  # a process has the databases of other stores, too
OWN = {name: told for panel in PANELS.values() for name, told in panel.items()}


def test_commands_are_those_of_the_list_and_nobody_elses() -> None:
    listed = [command for entry in INSTRUMENTS for command in entry.lines]
    assert max(Counter(listed).values()) == 1
    assert not set(OWN).intersection(listed)
    for entry in INSTRUMENTS:
        assert entry.commands.keys() == entry.lines.keys()


def test_commands_load_nothing_that_takes_long() -> None:
    """Each `--help` and each experiment file needs their options, and no table of a run."""
    heavy = "{'pyarrow', 'duckdb', 'numpy', 'scipy', 'torch', 'openai'}"
    listed = "from polyculture.instruments import INSTRUMENTS; [entry.commands for entry in INSTRUMENTS]"
    program = f"import sys; {listed}; print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_instrument_of_texts_has_its_tables_in_the_list_of_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a section of the report, too: the declaration names them."""
    assert "letters" not in all_tables()
    toy = SimpleNamespace(commands={"toy": TOY}, sections=(), layout=TOY.layout)
    monkeypatch.setattr("polyculture.running.tables.INSTRUMENTS", (*INSTRUMENTS, toy))
    assert all_tables()["letters"].declared.header.title == "Letters of answers"


def test_tables_that_are_paid_for_feed_what_was_bought(tmp_path: Path) -> None:
    layout = store_layout()
    with open_store(StoreBuilder(tmp_path).write(), layout) as store:
        ((fed,),) = store.sql("SELECT sql FROM duckdb_views() WHERE view_name = 'bought' AND " + OWN_VIEWS).fetchall()
    assert [table.name for table in layout.tables if table.stage and table.name not in fed] == []


def test_two_tables_of_one_name_are_refused() -> None:
    one, other = (Table("answers", Prompt, key="id") for _ in range(2))
    with pytest.raises(ValueError, match=r"several.*answers"):
        compose(Layout((one,)), Layout((other,)))
