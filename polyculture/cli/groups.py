"""Command groups that are also a stage: `extract EXPERIMENT` beside `extract audit`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

STAGE = "stage"  # the hidden command that a group runs when no other is named


class StageGroup(TyperGroup):
    """A group whose first argument may be an experiment file, which goes to the hidden command `stage`."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = [STAGE, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The group's own options, then those that stand behind an experiment file."""
        stage = self.commands[STAGE]
        commands = [
            record for one in stage.get_params(ctx) if "--help" not in one.opts and (record := one.get_help_record(ctx))
        ]
        with formatter.section(f"Options of `{ctx.command_path} EXPERIMENT`"):
            formatter.write_dl(commands)
        super().format_options(ctx, formatter)
