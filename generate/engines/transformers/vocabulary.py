"""The tokens that a model reads and writes, without the model."""

from __future__ import annotations

from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.options import TransformersOptions, read_options
from polyculture.generate.engines.transformers.loading import check_installed, load_tokenizer


def read_vocabulary(spec: ModelSpec) -> list[str]:
    """Every token as text, special ones left out; U+FFFD stands for bytes that are no whole letter.

    Raises `EngineError` where there is no such model, `MissingDependencyError` where the extra is not installed.
    """
    check_installed(spec)
    tokenizer = load_tokenizer(spec, read_options(TransformersOptions, spec))
    special = set(tokenizer.all_special_ids)
    numbers = sorted(set(tokenizer.get_vocab().values()) - special)
    texts: list[str] = tokenizer.batch_decode([[number] for number in numbers], clean_up_tokenization_spaces=False)
    return texts
