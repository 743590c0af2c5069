"""What models cannot do of the instruments that an experiment asks, told before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.experiment.workspace import Workspace
from polyculture.running.questions import PartQuestion
from polyculture.running.studies import questions_asked


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a model cannot do of a command, for one reason."""

    command: str
    model: str
    parts: tuple[str, ...]  # of a command that asks several; else none
    reason: str
    remedy: str


def left_out(workspace: Workspace) -> list[LeftOut]:
    """The commands and parts that models of the experiment cannot do, by what their engines declare. Opens nothing."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for asked in questions_asked(workspace):
        command, part = (
            (asked.suite.command, asked.part.name) if isinstance(asked, PartQuestion) else (asked.command, "")
        )
        for model, fault in asked.unable():
            key = command, model, fault.what.removeprefix(f"{model} "), fault.remedy or ""
            found.setdefault(key, []).extend([part] if part else [])
    return [LeftOut(command, model, tuple(parts), *why) for (command, model, *why), parts in found.items()]
