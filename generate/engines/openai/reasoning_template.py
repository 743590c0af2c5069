"""Whether a served model's chat template opens the reasoning itself, by what its answers show.

A server tells nobody how its prompts end. Where the template writes `<think>`, an answer that is cut within its
reasoning has no tag at all, and looks like a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyculture.generate.engines.answer import NO_ANSWER
from polyculture.generate.engines.base import Completion


class ReasoningTemplate:
    """What is known of one model's template: `opens` is None until an answer shows it."""

    def __init__(self) -> None:
        self.opens: bool | None = None

    def settled(self, answers: Iterator[Completion], most: int) -> Iterator[Completion]:
        """The answers. Cut ones without a tag wait, at most `most` of them, until a whole one shows what they are: its
        reasoning was closed and never opened, or it has none."""
        waiting: list[Completion] = []
        for answer in answers:
            self._learn(answer)
            if self.opens is None and _is_doubtful(answer) and len(waiting) < most:
                waiting.append(answer)
                continue
            if self.opens is not None:
                yield from map(self._settle, waiting)
                waiting.clear()
            yield self._settle(answer)
        yield from map(self._settle, waiting)

    def _learn(self, answer: Completion) -> None:
        if answer.prompt_opened:
            self.opens = True
        elif self.opens is None and answer.ending == "whole" and answer.text and not answer.reasoning:
            self.opens = False

    def _settle(self, answer: Completion) -> Completion:
        if not (self.opens and _is_doubtful(answer)):
            return answer
        error = f"{NO_ANSWER}: finish reason {answer.finish_reason}"
        return replace(answer, text=None, error=error, reasoning=answer.text, raw=answer.as_it_came)


def _is_doubtful(answer: Completion) -> bool:
    return answer.ending == "cut" and bool(answer.text) and not answer.reasoning
