"""Sentence encoders: texts to vectors, the mean over the tokens of a transformer's last states.

It is equation 3 of CultureScope, and what sentence-transformers does with encoders that pool by the mean, as MiniLM,
mpnet and multilingual E5 do. A language may have its own (section 4.1, step 3).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.errors import DataSetError, EngineError, MissingDependencyError
from polyculture.cache.identity import model_sha256
from polyculture.generate.engines.model_files import SILENT, hub_arguments

_AT_ONCE = 64
_OF_LANGUAGE = re.compile(r"([a-z]{2,3}(?:-\w+)*)=(.+)")
_REMEDY = "Give a folder or a name of the hub, e.g. sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2."


def encoders_of(named: Sequence[str], languages: Sequence[str]) -> Mapping[str, str]:
    """The encoder of each language, from 'NAME' for all and 'LANGUAGE=NAME' for one; a language may have none.

    Raises `DataSetError` for a language that is not asked, and for two encoders of one.
    """
    found: dict[str, str] = {}
    for one in named:
        of_language = _OF_LANGUAGE.fullmatch(one)
        language, name = (of_language[1], of_language[2]) if of_language else ("", one)
        if language and language not in languages:
            what = f"the encoder {one!r} is of a language that is not asked"
            raise DataSetError(what, remedy=f"Asked are {', '.join(languages)}.")
        if found.setdefault(language, name) != name:
            what = f"two encoders of {language or 'all languages'}: {found[language]} and {name}"
            raise DataSetError(what, remedy="Name one, or LANGUAGE=NAME for a language of its own.")
    return {code: name for code in languages if (name := found.get(code, found.get("")))}


def identity_of(encoder: str) -> str | None:
    """The hash of a folder's files, or the hub's commit as the cache of this machine has it; None where it has none."""
    if Path(encoder).is_dir():
        return model_sha256(Path(encoder))
    with suppress(ImportError, ValueError):  # what is no name of the hub is told when it is opened
        from huggingface_hub import try_to_load_from_cache

        file = try_to_load_from_cache(encoder, "config.json")
        return Path(file).parent.name if isinstance(file, str) else None
    return None


def open_encoder(encoder: str) -> tuple[Any, Any]:
    """Its tokenizer and model. Raises `EngineError` where there is no such encoder."""
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError as fault:
        raise MissingDependencyError("transformers", "transformers", f"The encoder {encoder}") from fault
    arguments = {} if Path(encoder).is_dir() else hub_arguments()
    try:
        tokenizer = AutoTokenizer.from_pretrained(encoder, **arguments)
        return tokenizer, AutoModel.from_pretrained(encoder, **arguments).eval()
    except (OSError, ValueError, ImportError, KeyError) as fault:
        reason = SILENT if arguments else " ".join(str(fault).split())[:300]
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
