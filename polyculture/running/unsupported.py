"""What models cannot do of the instruments that an experiment asks, told before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.experiment.workspace import Workspace
from polyculture.running.instrument_calls import PartCall
from polyculture.running.studies import calls_of_run


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What a model cannot do of a command, for one reason."""

    command: str
    model: str
    parts: tuple[str, ...]  # of a command that asks several; else none
    reason: str
    remedy: str


def unsupported(workspace: Workspace) -> list[Unsupported]:
    """The commands and parts that models of the experiment cannot do, by what their engines declare. Opens nothing."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for asked in calls_of_run(workspace):
        command, part = (asked.suite.command, asked.part.name) if isinstance(asked, PartCall) else (asked.command, "")
        for model, fault in asked.unable():
            key = command, model, fault.what.removeprefix(f"{model} "), fault.remedy or ""
            found.setdefault(key, []).extend([part] if part else [])
    return [Unsupported(command, model, tuple(parts), *why) for (command, model, *why), parts in found.items()]
