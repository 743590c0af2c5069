"""A sentence encoder: texts to vectors, the mean over the tokens of a transformer's last states.

It is what sentence-transformers does with encoders that pool by the mean, as MiniLM, mpnet and multilingual E5 do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.errors import EngineError, MissingDependencyError

_AT_ONCE = 64
_REMEDY = "Give a folder or a name of the hub, e.g. sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2."


def open_encoder(encoder: str) -> tuple[Any, Any]:
    """Its tokenizer and model. Raises `EngineError` where there is no such encoder."""
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError as fault:
        raise MissingDependencyError("transformers", "transformers", f"The encoder {encoder}") from fault
    try:
        return AutoTokenizer.from_pretrained(encoder), AutoModel.from_pretrained(encoder).eval()
    except (OSError, ValueError, ImportError, KeyError) as fault:
        reason = " ".join(str(fault).split())[:300]
        raise EngineError(f"cannot be opened as an encoder: {reason}", where=encoder, remedy=_REMEDY) from fault


def encode(encoder: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """A vector of length 1 per text. Raises `EngineError` where there is no such encoder."""
    tokenizer, model = open_encoder(encoder)
    import torch

    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    found = np.zeros((len(texts), model.config.hidden_size), np.float32)
    with torch.inference_mode():
        for start in range(0, len(order), _AT_ONCE):
            places = order[start : start + _AT_ONCE]
            fed = tokenizer([texts[place] for place in places], padding=True, truncation=True, return_tensors="pt")
            states, mask = model(**fed).last_hidden_state, fed["attention_mask"][..., None].float()
            mean = (states.float() * mask).sum(1) / mask.sum(1).clamp(min=1)
            found[places] = torch.nn.functional.normalize(mean, dim=-1).numpy()
    return found
