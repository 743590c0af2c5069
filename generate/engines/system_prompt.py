"""System prompts that a chat template has no place for: refused, never dropped or put elsewhere in silence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from polyculture.cache.errors import EngineError
from polyculture.cache.log import get_logger

Turn = Mapping[str, str]  # role and content
Render = Callable[[Sequence[Turn]], str]
REMEDY = "Take `system` out of its options, or out of [prompts]; or name a model whose template has a system role."
REFUSES = "its chat template has no system role"
_ASKED = {"role": "user", "content": "?"}
_log = get_logger(__name__)


class SystemPrompts:
    """Checks the system prompts that go to a model, each once, by what its chat template makes of them."""

    def __init__(self, model: str, render: Render) -> None:
        self._model, self._render = model, render
        self._checked: set[str] = set()

    def check(self, turns: Sequence[Turn]) -> None:
        """Raises `EngineError` where the template refuses a system message, or leaves it out.

        One line says where the template itself puts it into the user's turn.
        """
        first = turns[0]
        if first["role"] != "system" or first["content"] in self._checked:
            return
        self._checked.add(first["content"])
        alone = self._rendered([_ASKED])
        if alone is None:  # the template refuses any chat: its own error says why
            return
        rendered = self._rendered([first, _ASKED])
        if rendered is None:
            raise EngineError(REFUSES, where=self._model, remedy=REMEDY)
        if first["content"].strip() not in rendered:
            raise EngineError("its chat template leaves the system prompt out", where=self._model, remedy=REMEDY)
        if _in_one_turn(first["content"].strip(), rendered, alone):
            _log.warning("%s: its chat template puts the system prompt into the user's turn", self._model)

    def _rendered(self, turns: Sequence[Turn]) -> str | None:
        try:
            return self._render(turns)
        except Exception as fault:
            if not _is_of_template(fault):
                raise
            return None


def _is_of_template(fault: Exception) -> bool:
    """Is it an error that Jinja raises, or that a template raises through it? Without Jinja there is none."""
    return any(kind.__name__ == "TemplateError" for kind in type(fault).__mro__)


def _in_one_turn(system: str, both: str, alone: str) -> bool:
    """Does the system prompt stand between the signs that open the user's turn, and the user's text?"""
    opening = alone.partition(str(_ASKED["content"]))[0]
    before = both.partition(system)[0]
    return bool(opening.strip()) and before.endswith(opening)
