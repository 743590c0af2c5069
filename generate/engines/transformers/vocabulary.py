"""A model's tokenizer, without the model."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.transformers.loading import check_installed, load_tokenizer
from polyculture.generate.engines.transformers.options import TransformersOptions


class ModelTokenizer:
    """The tokenizer published with a model: on the hub, in a folder, or in a GGUF file."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        # A model's files are the same for all engines that open them here.
        own = spec.engine == "transformers"
        self._options = read_options(TransformersOptions, spec) if own else TransformersOptions()
        check_installed(spec)

    def __enter__(self) -> Self:
        self._tokenizer = load_tokenizer(self._spec, self._options)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._tokenizer

    def vocabulary(self) -> list[str]:
        """Every token as text, without special ones; U+FFFD replaces bytes that form no complete character."""
        tokenizer = self._tokenizer
        special = set(tokenizer.all_special_ids)
        numbers = sorted(set(tokenizer.get_vocab().values()) - special)
        texts: list[str] = tokenizer.batch_decode([[number] for number in numbers], clean_up_tokenization_spaces=False)
        return texts

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of each text in the vocabulary's spelling, without special tokens."""
        encoded = self._tokenizer(list(texts), add_special_tokens=False)["input_ids"] if texts else []
        return [self._tokenizer.convert_ids_to_tokens(numbers) for numbers in encoded]
