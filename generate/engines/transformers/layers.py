"""The layers of a causal model: where its blocks are, and hooks that see or change what they give.

Plain hooks of torch: pyvene and transformer-lens know a list of architectures, nnsight any, but none of them runs a
batch whose rows are patched at different layers behind one cached prefix. See docs/probe.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from transformers import PreTrainedModel

from polyculture.cache.errors import EngineError

Change = Callable[[torch.Tensor], torch.Tensor | None]  # a state [rows, tokens, width] -> another, None: it stays
_REMEDY = "Name a decoder whose blocks stand in one list, as those of Llama, Qwen, Gemma, Mistral or GPT-2 do."


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
def hooked(layers: Sequence[torch.nn.Module], changes: Mapping[int, Change]) -> Iterator[None]:
    """Calls `changes[n]` with what layer `n` (from 1) gives, and puts what that returns in its place.

    The hooks are gone afterwards, also after an exception.
    """
    with ExitStack() as stack:
        for number, change in changes.items():
            stack.enter_context(layers[number - 1].register_forward_hook(_hook(change)))
        yield


def _hook(change: Change) -> Callable[[torch.nn.Module, Any, Any], Any]:
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
