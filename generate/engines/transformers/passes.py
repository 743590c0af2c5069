"""Passes of a model: texts of different lengths in one, its blocks, and hooks that see or change what these give.

Plain hooks of torch: pyvene and transformer-lens know a list of architectures, nnsight any, but none of them runs a
batch whose rows are patched at different layers behind one cached prefix. See docs/probe.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import torch
from transformers import PreTrainedModel

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.stop_token import end_of_turn
from polyculture.generate.engines.transformers.loading import Loaded
from polyculture.generate.engines.vllm.worker import added_tokens, special_tokens

T = TypeVar("T")
StateChange = Callable[[torch.Tensor], torch.Tensor | None]  # a state [rows, tokens, width] -> another, None: it stays
_REMEDY = "Name a decoder whose blocks stand in one list, as those of Llama, Qwen, Gemma, Mistral or GPT-2 do."


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
    """The tokens with which a model ends a text, or its turn in a chat."""
    stops = loaded.model.generation_config.eos_token_id if loaded.model.generation_config else None
    listed = stops if isinstance(stops, list | tuple) else [stops]
    turn = _end_of_turn(loaded.tokenizer) if loaded.tokenizer.chat_template else None
    return {one for one in (*listed, loaded.tokenizer.eos_token_id, turn) if isinstance(one, int)}


def _end_of_turn(tokenizer: Any) -> int | None:
    numbers = added_tokens(tokenizer)
    token = end_of_turn(lambda turns: str(tokenizer.apply_chat_template(turns, tokenize=False)), lambda _: numbers)
    return None if token is None else numbers[token]


def decoder_of(tokenizer: Any) -> Callable[[Sequence[int]], tuple[str, set[str]]]:
    """Gives the text of tokens as a model wrote them, and the special ones in it."""
    specials = special_tokens(tokenizer)

    def decode(ids: Sequence[int]) -> tuple[str, set[str]]:
        return tokenizer.decode(ids, skip_special_tokens=False), {specials[one] for one in ids if one in specials}

    return decode


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


def find_layers(model: PreTrainedModel, name: str) -> Sequence[torch.nn.Module]:
    """The blocks of a model's stack, in order, tried on one token.

    Raises `EngineError` where there is no list of as many modules as the model says it has layers, or where what these
    give is not one state per token. `name` is what the error calls the model.
    """
    depth = getattr(model.config.get_text_config(decoder=True), "num_hidden_layers", None)
    lists = [
        (path.count("."), path, module)
        for path, module in model.named_modules()
        if isinstance(module, torch.nn.ModuleList) and depth and len(module) == depth
    ]
    if not lists:
        raise EngineError(f"no list of its {depth or 'unknown number of'} layers is found", where=name, remedy=_REMEDY)
    layers = list(min(lists, key=lambda one: one[:2])[2])
    _check(model, layers, name)
    return layers


@contextmanager
def hooked(layers: Sequence[torch.nn.Module], changes: Mapping[int, StateChange]) -> Iterator[None]:
    """Calls `changes[n]` with what layer `n` (from 1) gives, and puts what that returns in its place.

    The hooks are gone afterwards, also after an exception.
    """
    with ExitStack() as stack:
        for number, change in changes.items():
            stack.enter_context(layers[number - 1].register_forward_hook(_hook(change)))
        yield


def _hook(change: StateChange) -> Callable[[torch.nn.Module, Any, Any], Any]:
    def hook(_: torch.nn.Module, __: Any, output: Any) -> Any:
        changed = change(output[0] if isinstance(output, tuple) else output)
        if changed is None:
            return None
        return (changed, *output[1:]) if isinstance(output, tuple) else changed

    return hook


@torch.inference_mode()
def _check(model: PreTrainedModel, layers: Sequence[torch.nn.Module], name: str) -> None:
    shapes: list[tuple[int, ...]] = []

    def see(state: torch.Tensor) -> None:
        shapes.append(tuple(getattr(state, "shape", ())))

    run: Any = model
    with hooked(layers, dict.fromkeys(range(1, len(layers) + 1), see)):
        run(input_ids=torch.zeros((1, 2), dtype=torch.long, device=model.device), use_cache=False)
    if len(shapes) != len(layers) or any(len(shape) != 3 or shape[:2] != (1, 2) for shape in shapes):
        raise EngineError("its layers do not give one state per token", where=name, remedy=_REMEDY)
