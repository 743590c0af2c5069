"""What a wrapper around an opened engine shares: whoever opened the engine closes it."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Wrapper:
    """Entering and leaving it does nothing. A wrapper has the capabilities whose methods it defines, and no others."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
