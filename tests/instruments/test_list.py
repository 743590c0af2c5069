"""The list of instruments: every name is its own, and what a line says is there."""

from __future__ import annotations

from collections import Counter

import pytest
from typer.main import get_command

from polyculture.cache.layout import Layout, Table, compose
from polyculture.cache.schema import Prompt
from polyculture.cli.app import OWN, app
from polyculture.instruments import INSTRUMENTS
from polyculture.running.layout import store_layout


def test_commands_are_those_of_the_list_and_nobody_elses() -> None:
    listed = [command for entry in INSTRUMENTS for command in entry.commands]
    assert max(Counter(listed).values()) == 1
    assert not set(OWN).intersection(listed)
    for entry in INSTRUMENTS:
        assert entry.load().name == entry.name
        assert entry.load().commands.keys() == entry.commands.keys()


@pytest.mark.parametrize("name", OWN)
def test_the_line_in_the_list_of_commands_begins_the_command_s_own_help(name: str) -> None:
    group = get_command(app)
    command = group.get_command(group.context_class(group, info_name="polyculture"), name)
    assert command.get_short_help_str(1000) == OWN[name][0]


def test_tables_that_are_paid_for_feed_what_was_bought() -> None:
    layout = store_layout()
    paid = {table.name for table in layout.tables if table.account}
    fed = {view.removeprefix("bought_") for view in layout.current.feeds["bought"]}
    assert fed | {table.name for table in layout.tables if table.wanted and table.account} == paid


def test_two_tables_of_one_name_are_refused() -> None:
    one, other = (Table("answers", Prompt, key="id") for _ in range(2))
    with pytest.raises(ValueError, match=r"several.*answers"):
        compose(Layout((one,)), Layout((other,)))
