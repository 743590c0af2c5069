"""The wording of a question with options: ours, or a user's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from polyculture.cache.catalog.read import read_toml
from polyculture.cache.errors import DataSetError

_HOUSE = Path(__file__).with_name("prompts.toml")
_LETTER = re.compile(r"\b[A-D][).:]|\([A-Da-d]\)")


class _Wording(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    instruction: str = ""
    question: str
    options: str
    option: str
    answer: str


@dataclass(frozen=True, slots=True)
class McqPrompt:
    """What stands before each part of a question."""

    name: str
    instruction: str
    question: str
    options: str
    option: str
    answer: str

    def text(self, question: str, choices: Sequence[str]) -> str:
        """The whole message."""
        lines = [f"{self.question}{question}", self.options, *(f"{self.option}{one}" for one in choices)]
        before = [self.instruction, ""] if self.instruction else []
        return "\n".join([*before, *lines, self.answer])

    def spans(self, question: str, choices: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """Where each option stands in the message: its first character, and the one behind its last."""
        ends = accumulate(len(self.option) + len(one) + 1 for one in choices)
        first = len(self.text(question, ())) - len(self.answer) - 1  # the line break before the first option
        return tuple((first + end - len(one), first + end) for one, end in zip(choices, ends, strict=True))

    @property
    def wording(self) -> Mapping[str, str]:
        """All that decides what a model reads, for ids: the name is no part of it."""
        return {part: text for part, text in asdict(self).items() if part != "name"}


def read_prompts(file: Path | None = None) -> tuple[McqPrompt, ...]:
    """Our wording, or those of a file. Raises `DataSetError`, naming the file and what is wrong in it."""
    file = file or _HOUSE
    try:
        told = TypeAdapter(dict[str, _Wording]).validate_python(read_toml(file, DataSetError))
    except ValidationError as fault:
        first = fault.errors()[0]
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise DataSetError(what, where=file, remedy=f"Its form is that of {_HOUSE}.") from fault
    if not told:
        raise DataSetError("holds no wording", where=file, remedy=f"Its form is that of {_HOUSE}.")
    lettered = next((name for name, one in told.items() if _LETTER.search(one.option)), None)
    if lettered:
        what = f"{lettered}.option: options stand without letters, and answers that name a letter are out of choice"
        raise DataSetError(what, where=file, remedy="Leave the letter out.")
    return tuple(McqPrompt(name, **one.model_dump()) for name, one in told.items())
