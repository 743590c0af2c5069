"""The golden run: its numbers are those of `golden/`, and its second run asks no model anything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.golden.experiment import golden_models, run_all, write_workspace
from tests.golden.numbers import (
    CLOSE,
    EXACT,
    INTERVALS,
    Change,
    Rows,
    changed,
    differences,
    golden_files,
    read_changes,
    read_golden,
    read_numbers,
)

pytest.importorskip("torch", reason="the extra 'transformers' is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Rows], dict[str, int], dict[str, int]]]:
    """The run's numbers; the requests of each command; and those of each command the second time."""
    folder = tmp_path_factory.mktemp("golden")
    with golden_models() as requests:
        write_workspace(folder, requests.server.url)
        first = run_all(folder, requests)
        numbers = read_numbers(folder / "runs")
        yield numbers, first, run_all(folder, requests, again=True)


def test_every_number_is_the_golden_one_or_a_change_with_a_reason(made: tuple[dict[str, Rows], object, object]) -> None:
    """Run `python -m tests.golden.record` where many are meant to differ; `changed.tsv` is for a few."""
    numbers, _, _ = made
    golden = {name: read_golden(name) for name in golden_files()}
    for change in read_changes():
        golden[change.file] = changed(golden[change.file], change)
    assert sorted(numbers) == sorted(golden)
    found = [
        f"{name}: {row}: {old!r} -> {new!r}"
        for name, rows in numbers.items()
        for row, (old, new) in differences(golden[name], rows, CLOSE if name == INTERVALS else EXACT).items()
    ]
    assert not found, f"{len(found)} numbers differ:\n" + "\n".join(found[:20])


def test_a_meant_change_takes_the_place_of_what_stood_there_and_of_nothing_else() -> None:
    golden: Rows = {"cbs cbs type=food": {"estimate": "0.5", "n": "36", "units": "1"}, "report .05": {}}
    line = ("estimate=0.5 n=36 units=1", "estimate=0.25 n=36 units=1", "ties are counted", "abc1234")
    meant = changed(golden, Change("cbs", "cbs cbs type=food", *line))
    assert not differences(meant, {**golden, "cbs cbs type=food": {"estimate": ".25", "n": "36", "units": "1"}}, EXACT)
    assert list(differences(meant, golden, EXACT)) == ["cbs cbs type=food"], "a change that is none is an error"
    assert "report .05" not in changed(golden, Change("report", "report .05", "there", "", "a section went", "abc1234"))
    with pytest.raises(AssertionError, match="not so in golden"):
        changed(golden, Change("cbs", "cbs cbs type=drink", *line))


def test_the_second_run_of_every_command_asks_nothing(made: tuple[object, dict[str, int], dict[str, int]]) -> None:
    _, first, again = made
    assert sum(map(bool, first.values())) > 12
    assert not {command: requests for command, requests in again.items() if requests}
