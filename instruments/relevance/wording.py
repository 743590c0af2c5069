"""The lines before a question: ours, or a user's."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from polyculture.cache.errors import DataSetError
from polyculture.instruments.relevance.conditions import Context

HOUSE = Path(__file__).with_name("context.toml")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    culture: str
    concepts: str
    separator: str


@dataclass(frozen=True, slots=True)
class ContextWording:
    """How a culture is named, and how concepts are introduced and joined."""

    culture: str
    concepts: str
    separator: str

    def text(self, context: Context) -> str | None:
        """What stands before the question; None: nothing."""
        if context.culture is not None:
            return self.culture.replace("{culture}", context.culture)
        if context.concepts:
            return self.concepts.replace("{concepts}", self.separator.join(context.concepts))
        return None


def read_wording(file: Path | None = None) -> ContextWording:
    """Our lines, or those of a file. Raises `DataSetError`, naming the file and what is wrong in it."""
    file, remedy = file or HOUSE, f"Its form is that of {HOUSE}."
    try:
        told = _File.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise DataSetError(f"cannot be read: {fault}", where=file, remedy=remedy) from fault
    except ValidationError as fault:
        first = fault.errors()[0]
        raise DataSetError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", where=file, remedy=remedy) from fault
    for name in ("culture", "concepts"):
        if f"{{{name}}}" not in getattr(told, name):
            raise DataSetError(f"{name} lacks the place {{{name}}}", where=file, remedy=remedy)
    return ContextWording(told.culture, told.concepts, told.separator)
