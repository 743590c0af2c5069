"""Open a model and its tokenizer: from the hub, from a folder, or from a GGUF file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from polyculture.cache.errors import EngineError, MissingDependencyError
from polyculture.cache.extras import Extra
from polyculture.cache.identity import model_sha256
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.model_files import (
    REMEDY,
    SILENT,
    broken_file,
    find_gguf,
    hub_arguments,
    is_gguf,
    let_waiting_threads_sleep,
)
from polyculture.generate.engines.models import Closing
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.transformers.options import EXTRA, TransformersOptions

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

_CAUSAL = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_MASKED = ("ForMaskedLM", "ForPreTraining")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded model, its tokenizer, and its exact version."""

    model: PreTrainedModel
    tokenizer: Any
    masked: bool  # fills gaps, and does not write on
    version: str  # with its revision or checksum, the precision and the device

    @property
    def window(self) -> int:
        """The model's context length, in tokens."""
        config = self.model.config.get_text_config()
        longest = getattr(config, "max_position_embeddings", None) or 2**30
        return int(min(longest, self.tokenizer.model_max_length))

    def too_long(self, tokens: int) -> str | None:
        """Why so many tokens cannot be read; None where they can."""
        return f"{tokens} tokens are more than the {self.window} that the model reads" if tokens > self.window else None


@dataclass(frozen=True, slots=True)
class _ModelLocation:
    """The location of the files: a hub name or a folder, with the arguments for `from_pretrained`."""

    name: str
    arguments: dict[str, Any]
    gguf: Path | None = None


def check_installed(spec: ModelSpec) -> None:
    """Raises `MissingDependencyError` where the extra is not installed. Imports nothing.

    Says how torch's threads wait, which torch reads when it is imported; tqdm draws no bars where no terminal is.
    """
    packages = (*EXTRA.packages, "gguf") if is_gguf(spec.name) else EXTRA.packages
    Extra(EXTRA.name, packages).check(f"The model {spec.model}")
    let_waiting_threads_sleep()
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_DISABLE", "1")


def load(spec: ModelSpec, options: TransformersOptions) -> Loaded:
    """Load a model. Raises `EngineError` where none exists, or none that this version of transformers can open."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    place = place_of(spec, options)
    device = _device(options)
    config = _config(spec, place)
    masked = _is_masked(config.architectures, spec)
    kind = AutoModelForMaskedLM if masked else AutoModelForCausalLM
    if options.random_weights is None:
        # With the settings at hand: a GGUF file would be parsed anew for them.
        arguments = {"config": config, "dtype": _dtype(options, device), **_attention(options)}
        model = _model(spec, kind, place, device, arguments)
    else:
        model = _untrained(kind, config, options, device).to(device)
    drawn = "" if options.random_weights is None else f" random weights {options.random_weights}"
    return _loaded(spec, place, model, device, masked=masked, drawn=drawn)


def _device(options: TransformersOptions) -> str:
    import torch

    return options.device or ("cuda" if torch.cuda.is_available() else "cpu")


def _loaded(
    spec: ModelSpec, place: _ModelLocation, model: Any, device: str, *, masked: bool = False, drawn: str = ""
) -> Loaded:
    tokenizer, dtype = _tokenizer(spec, place), str(model.dtype).removeprefix("torch.")
    if not tokenizer.is_fast:
        raise EngineError("has no fast tokenizer, and no other tells where a token stands in a text", where=spec.model)
    return Loaded(model, tokenizer, masked, f"{_version(place)}{drawn} {dtype} {device}")


def _untrained(kind: Any, config: PretrainedConfig, options: TransformersOptions, device: str) -> Any:
    """The same architecture with weights as before training, drawn by a seed on the CPU: the same anywhere."""
    import torch

    dtype = _dtype(options, device)
    told = getattr(config, "dtype", None) or torch.float32 if dtype == "auto" else dtype
    code = {"trust_remote_code": options.trust_remote_code}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.random_weights or 0)
        return kind.from_config(config, dtype=told, **_attention(options), **code)


def load_labeller(spec: ModelSpec, options: TransformersOptions, architecture: str) -> Loaded:
    """A model that labels texts ('ForSequenceClassification') or tokens ('ForTokenClassification').

    Raises `EngineError` as `load` does, and for a model of another kind.
    """
    import transformers

    place, device = place_of(spec, options), _device(options)
    config = _config(spec, place)
    if not any(name.endswith(architecture) for name in config.architectures or ()):
        what = f"is a {', '.join(config.architectures or ['model of no kind'])}, and gives no labels of that sort"
        remedy = f"Name a model whose architecture ends in {architecture}."
        raise EngineError(what, where=spec.model, remedy=remedy)
    kind: Any = getattr(transformers, f"AutoModel{architecture}")
    arguments = {"config": config, "dtype": _dtype(options, device)}
    return _loaded(spec, place, _model(spec, kind, place, device, arguments), device)


def tokens_of(loaded: Loaded, text: str, *, bos: bool) -> tuple[list[int], list[tuple[int, int]]]:
    """The tokens of a text to be continued, and where they stand in it; the BOS token, if any, stands nowhere."""
    tokenizer = loaded.tokenizer
    read = tokenizer(text, return_offsets_mapping=True)
    ids, offsets = list(read["input_ids"]), list(read["offset_mapping"])
    while offsets and offsets[-1][0] == offsets[-1][1]:  # a token that the tokenizer puts at the end of a text
        ids, offsets = ids[:-1], offsets[:-1]
    if ids and bos and tokenizer.bos_token_id is not None and ids[0] != tokenizer.bos_token_id:
        ids, offsets = [tokenizer.bos_token_id, *ids], [(0, 0), *offsets]
    return ids, offsets


def place_of(spec: ModelSpec, options: TransformersOptions) -> _ModelLocation:
    if is_gguf(spec.name):
        file = find_gguf(spec.name, spec.folder)
        return _ModelLocation(str(file.parent), {"gguf_file": file.name}, gguf=file)
    arguments = {"trust_remote_code": options.trust_remote_code}
    folder = spec.place(spec.name)
    if folder.is_dir():
        return _ModelLocation(str(folder), arguments)
    return _ModelLocation(spec.name, {**arguments, "revision": options.revision or "main", **hub_arguments()})


def is_masked(spec: ModelSpec, options: TransformersOptions) -> bool:
    """Whether a model fills gaps, by its settings alone. What cannot be opened is told by whoever opens it."""
    try:
        return _is_masked(_settings(spec, options).get("architectures"), spec)
    except EngineError:
        return False


# The number of layers in a model's settings: most call it by the first name, GPT-2, GPT-Neo and MPT by the others.
_DEPTHS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")


def layers_of(spec: ModelSpec, options: TransformersOptions) -> int | None:
    """How many layers a model has, by its settings alone; of one that also sees or hears, the part that writes."""
    if is_gguf(spec.name):
        return _layers_of_gguf(spec.name, spec.folder)
    settings = _settings(spec, options)
    own = settings.get("text_config")
    texts = own if isinstance(own, dict) else settings
    depth = next((texts[name] for name in _DEPTHS if name in texts), None)
    return depth if isinstance(depth, int) and depth > 0 else None


@cache  # some seconds, for its vocabulary
def _layers_of_gguf(name: str, folder: Path) -> int | None:
    """The key `ARCHITECTURE.block_count` of a GGUF file, as the specification of the format in ggml names it.

    None where the file is not here, or the package that reads it is not.
    """
    if find_spec("gguf") is None:
        return None
    from gguf import GGUFReader

    try:
        reader = GGUFReader(find_gguf(name, folder))
    except (EngineError, OSError, ValueError, KeyError, IndexError):
        return None
    kind = reader.get_field("general.architecture")
    depth = reader.get_field(f"{kind.contents()}.block_count") if kind else None
    return int(depth.contents()) if depth else None


def _settings(spec: ModelSpec, options: TransformersOptions) -> dict[str, Any]:
    """The content of a model's config.json; nothing where it cannot be read, and of a GGUF file, which has none."""
    if is_gguf(spec.name):
        return {}
    from huggingface_hub import hf_hub_download

    try:
        check_installed(spec)
        place = place_of(spec, options)
        hub = {name: value for name, value in place.arguments.items() if name != "trust_remote_code"}
        folder = Path(place.name)
        file = folder / "config.json" if folder.is_dir() else hf_hub_download(place.name, "config.json", **hub)
        # Read here: to import transformers costs each `plan` and `status` three seconds.
        found = json.loads(Path(file).read_text(encoding="utf-8"))
    except (EngineError, MissingDependencyError, OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_masked(architectures: Sequence[str] | None, spec: ModelSpec) -> bool:
    names = architectures or ["ForCausalLM"]  # a GGUF file names none, and holds nothing else
    if any(name.endswith(_CAUSAL) for name in names):
        return False
    if any(name.endswith(_MASKED) for name in names):
        return True
    what = f"is a {names[0]}, neither a causal nor a masked language model"
    raise EngineError(
        what, where=spec.model, remedy="Name a model whose architecture ends in ForCausalLM or ForMaskedLM."
    )


def _dtype(options: TransformersOptions, device: str) -> Any:
    """Single precision on a CPU, where others are slower and in effect no smaller; elsewhere the checkpoint's own."""
    import torch

    if options.dtype is not None:
        return getattr(torch, options.dtype)
    return torch.float32 if device == "cpu" else "auto"


def _attention(options: TransformersOptions) -> dict[str, Any]:
    return {} if options.attention is None else {"attn_implementation": options.attention}


def _version(place: _ModelLocation) -> str:
    if place.gguf is not None:
        return f"{place.gguf.name} sha256:{model_sha256(place.gguf)[:16]}"
    if "revision" in place.arguments:  # of the hub, whose cache has a folder per commit
        folder = _folder(place)
        return f"{place.name}@{folder.name if folder.is_dir() else place.arguments['revision']}"
    return f"{Path(place.name).name} sha256:{model_sha256(Path(place.name))[:16]}"


def _config(spec: ModelSpec, place: _ModelLocation) -> PretrainedConfig:
    from transformers import AutoConfig

    with _opening(spec, place, "config.json"):
        config: PretrainedConfig = AutoConfig.from_pretrained(place.name, **place.arguments)
    return config


def _model(spec: ModelSpec, kind: Any, place: _ModelLocation, device: str, arguments: Mapping[str, Any]) -> Any:
    """A model with all its weights: transformers draws those that no file holds at random, and only logs it."""
    with _opening(spec, place, "its weights"):
        model, told = kind.from_pretrained(
            place.name, output_loading_info=True, ignore_mismatched_sizes=True, **arguments, **place.arguments
        )
        model = model.to(device)
        settings = _folder(place) / "generation_config.json"
        if place.gguf is None and settings.exists():
            # A broken one is left out by transformers in silence, and with it the tokens that end a turn.
            json.loads(settings.read_text(encoding="utf-8"))
    missing, other = sorted(told["missing_keys"]), sorted(told["mismatched_keys"])
    if missing:
        what = f"{len(missing)} of its weights are in no file, {missing[0]} among them: they would be random numbers"
        raise EngineError(what, where=spec.model, remedy=REMEDY)
    if other:
        name, there, wanted = other[0]
        what = f"{name} has the shape {list(there)}, and {list(wanted)} by config.json: they do not belong together"
        raise EngineError(what, where=spec.model, remedy=REMEDY)
    return model


def _tokenizer(spec: ModelSpec, place: _ModelLocation) -> Any:
    from transformers import AutoTokenizer

    with _opening(spec, place, "its tokenizer"):
        return AutoTokenizer.from_pretrained(place.name, **place.arguments)


@contextmanager
def _opening(spec: ModelSpec, place: _ModelLocation, what: str) -> Iterator[None]:
    """Files of strangers are read in the block: any exception of the libraries that read them is one line."""
    try:
        yield
    except Exception as fault:
        raise _cannot_open(spec, place, what, fault) from fault


def _cannot_open(spec: ModelSpec, place: _ModelLocation, what: str, fault: Exception) -> EngineError:
    reason = " ".join(str(fault).split()) or type(fault).__name__
    if place.arguments.get("local_files_only") and isinstance(fault, OSError):
        reason = SILENT
    if "trust_remote_code" in reason:
        remedy = "If you trust its authors, set trust_remote_code = true under [options.transformers]."
        return EngineError("comes with code of its own", where=spec.model, remedy=remedy)
    broken = None if place.gguf is not None else broken_file(_folder(place))
    if broken is not None:
        file, why = broken
        return EngineError(f"{file.name} {why}", where=f"{spec.model} in {file.parent}", remedy=REMEDY)
    remedy = (
        "Give a name of the hub (HF_TOKEN for gated models), a folder with config.json and weights, or a .gguf file; "
        "where it is one, download it again."
    )
    if isinstance(fault, MemoryError) or type(fault).__name__ == "OutOfMemoryError":
        return EngineError(
            "the memory is used up", where=spec.model, remedy='Set dtype = "bfloat16", or device = "cpu".'
        )
    what = what if place.gguf is None else place.gguf.name
    return EngineError(f"{what} cannot be opened: {reason[:300]}", where=spec.model, remedy=remedy)


def _folder(place: _ModelLocation) -> Path:
    """Where a model's files lie: its own folder, or that of a download."""
    from huggingface_hub import try_to_load_from_cache

    if Path(place.name).is_dir():
        return Path(place.name)
    config = try_to_load_from_cache(place.name, "config.json", revision=place.arguments.get("revision"))
    return Path(config).parent if isinstance(config, str) else Path(place.name)


class ModelTokenizer(Closing):
    """The tokenizer published with a model: on the hub, in a folder, or in a GGUF file."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        # A model's files are the same for all engines that open them here.
        own = spec.engine == "transformers"
        self._options = read_options(TransformersOptions, spec) if own else TransformersOptions()
        check_installed(spec)

    def __enter__(self) -> Self:
        self._tokenizer = _tokenizer(self._spec, place_of(self._spec, self._options))
        return self

    def close(self) -> None:
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
