"""Texts of different lengths in one pass, and the check that what a model computes are numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import torch

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.transformers.loading import Loaded

T = TypeVar("T")


def batches(texts: Iterable[T], most: int, length: Callable[[T], int]) -> Iterator[list[T]]:
    """Texts that are sorted by their length, as many together as fit `most` tokens when padded."""
    batch: list[T] = []
    for text in texts:
        if batch and (len(batch) + 1) * max(length(batch[0]), length(text)) > most:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def padded(
    rows: Sequence[Sequence[int]], device: torch.device, padding: int = 0, *, left: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens as one tensor [rows, longest], and which of them are read; `left`: padded before the first token."""
    width = max(map(len, rows))
    fed = torch.full((len(rows), width), padding, dtype=torch.long)
    mask = torch.zeros_like(fed)
    for number, row in enumerate(rows):
        place = slice(width - len(row), width) if left else slice(len(row))
        fed[number, place] = torch.tensor(row)
        mask[number, place] = 1
    return fed.to(device), mask.to(device)


def stop_tokens(loaded: Loaded) -> set[int]:
    """The tokens with which a model ends a text."""
    stops = loaded.model.generation_config.eos_token_id if loaded.model.generation_config else None
    listed = stops if isinstance(stops, list | tuple) else [stops]
    return {one for one in (*listed, loaded.tokenizer.eos_token_id) if isinstance(one, int)}


def padding_of(loaded: Loaded) -> int:
    """The token that fills a batch; any will do, since none is read."""
    token: int | None = loaded.tokenizer.pad_token_id
    return token if token is not None else next(iter(sorted(stop_tokens(loaded))), 0)


def need_finite(values: torch.Tensor, version: str, what: str = "logits") -> None:
    """Raises `EngineError` where a value is no finite number: whatever rests on it would be chance."""
    if not bool(torch.isfinite(values).all()):
        remedy = 'Are its weights broken? Download it again; or set dtype = "float32" under [options.transformers].'
        fault = f"computes {what} that are no finite numbers: what rests on them would be chance"
        raise EngineError(fault, where=version, remedy=remedy)
