"""Probing as an instrument: `polyculture probe blend exp.toml`, `polyculture probe attention SET exp.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polyculture.instruments.contract import Asked, Command, Study
from polyculture.instruments.probe.options import AttentionOptions, ProbeOptions

_OWN = Path(__file__).parent


def study(asked: Asked, options: ProbeOptions) -> Study:
    """Probes, filters, measures. Raises `DataSetError` without questions about three cultures."""
    from polyculture.instruments.probe.study import study as made

    return made(asked, options)


def attention_study(asked: Asked, options: AttentionOptions) -> Study:
    """Reads attention, then tests it. Raises `EngineError` where a model does not show it, before anything is read."""
    from polyculture.instruments.probe.attention.study import study as made

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
    "attention": Command(
        AttentionOptions,
        attention_study,
        "polyculture probe attention culture-mcq exp.toml --folder mcq_hard-negatives --units 20",
        argument="set",
        needs=lambda _: ("attend",),
    ),
}
