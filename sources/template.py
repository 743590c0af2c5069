"""What a target declares, for people: the table of its fields in docs/datasets.md, and a rules file to start from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from polyculture.sources.rules import FileRules, TargetField

_WIDTH = 100
_MORE = '# rows, join, skip, split, header, fixed, replace: see docs/datasets.md. Tables may lack a column "name|".'


def fields_table(block: type[FileRules]) -> list[str]:
    """The lines of a table of Markdown with the fields of a target: which are needed, and what they are."""
    rows = [f"| `{one.name}` | {_needed(one)} | {one.meaning} |" for one in block.target_fields()]
    return [f"| field of `[[{block.target}]]` | needed | what it is |", "| --- | --- | --- |", *rows]


def rules_template(name: str, head: Sequence[str], blocks: Sequence[type[FileRules]], kind: str = "") -> str:
    """A rules file with every field of its targets, each with what it is; those that can be left out are comments.

    `head` are the lines of a kind of data set above its blocks, beside its name.
    """
    lines = [f'name = "{name}"', f'title = "{name}"', 'licence = "yours"', *head]
    for block in blocks:
        lines += ["", f"[[{block.target}]]", f'files = "{block.target}.csv"', _MORE]
        of_kind = [one for one in block.target_fields() if isinstance(one.needed, bool) or kind in one.needed]
        for one in sorted(of_kind, key=lambda one: not one.is_needed(kind)):
            lines += _field(one, kind)
    return "\n".join([*lines, ""])


def _field(one: TargetField, kind: str) -> Iterator[str]:
    yield from (f"# {line}" for line in wrap(f"{one.name}: {one.meaning}", _WIDTH))
    yield f"{'' if one.is_needed(kind) else '# '}{one.name} = {one.example}"


def _needed(one: TargetField) -> str:
    return "yes" if one.needed is True else ", ".join(one.needed or ())
