"""Probing as an instrument: `polyculture probe blend exp.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polyculture.instruments.contract import AskedExperiment, Command, Study
from polyculture.instruments.probe.options import ProbeOptions

_OWN = Path(__file__).parent


def study(asked: AskedExperiment, options: ProbeOptions) -> Study:
    """Probes, filters, measures. Raises `DataSetError` without questions about three cultures."""
    from polyculture.instruments.probe.study import study as made

    return made(asked, options)


COMMANDS: Mapping[str, Command] = {
    "probe": Command(
        ProbeOptions,
        study,
        "polyculture probe blend exp.toml --folder BLEnD/data --units 50 --control noise",
        argument="set",
        own_experiment=ProbeOptions.opened,
        tables=(_OWN / "entity_knowledge.sql",),
        needs=lambda _: ("patch",),
    ),
}
