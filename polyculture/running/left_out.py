"""What models cannot do of a command that asks several, told before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.experiment.workspace import Workspace
from polyculture.running.questions import PartQuestion
from polyculture.running.studies import questions_asked


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a model cannot do of a command that asks several, for one reason."""

    command: str
    model: str
    parts: tuple[str, ...]
    reason: str
    remedy: str


def left_out(workspace: Workspace) -> list[LeftOut]:
    """The parts that models of the experiment cannot do, by what their engines declare. Nothing is opened."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for asked in questions_asked(workspace):
        if isinstance(asked, PartQuestion):
            for model, fault in asked.unable():
                key = asked.suite.command, model, fault.what.removeprefix(f"{model} "), fault.remedy or ""
                found.setdefault(key, []).append(asked.part.name)
    return [LeftOut(command, model, tuple(parts), *why) for (command, model, *why), parts in found.items()]
