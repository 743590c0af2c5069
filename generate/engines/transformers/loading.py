"""Open a model and its tokenizer: from the hub, from a folder, or from a GGUF file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import EngineError
from polyculture.cache.identity import model_sha256
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.gguf import find_gguf, is_gguf
from polyculture.generate.engines.kind import Extra
from polyculture.generate.engines.threads import let_waiting_threads_sleep
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


@dataclass(frozen=True, slots=True)
class _Place:
    """The location of the files: a hub name or a folder, with the arguments for `from_pretrained`."""

    name: str
    arguments: dict[str, Any]
    gguf: Path | None = None


def check_installed(spec: ModelSpec) -> None:
    """Raises `MissingDependencyError` where the extra is not installed. Imports nothing.

    Says how torch's threads wait, which torch reads when it is imported.
    """
    packages = (*EXTRA.packages, "gguf") if is_gguf(spec.name) else EXTRA.packages
    Extra(EXTRA.name, packages).check(f"The model {spec.model}")
    let_waiting_threads_sleep()


def load(spec: ModelSpec, options: TransformersOptions) -> Loaded:
    """Load a model. Raises `EngineError` where none exists, or none that this version of transformers can open."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

    place = place_of(spec, options)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        config = AutoConfig.from_pretrained(place.name, **place.arguments)
        masked = _is_masked(config, spec)
        kind = AutoModelForMaskedLM if masked else AutoModelForCausalLM
        # With the settings at hand: a GGUF file would be parsed anew for them.
        model: Any = (
            kind.from_pretrained(
                place.name, config=config, dtype=_dtype(options, device), **_attention(options), **place.arguments
            )
            if options.random_weights is None
            else _untrained(kind, config, options, device)
        )
        tokenizer = AutoTokenizer.from_pretrained(place.name, **place.arguments)
    except (OSError, ValueError, ImportError, KeyError) as fault:
        raise _cannot_open(spec, fault) from fault
    if not tokenizer.is_fast:
        raise EngineError("has no fast tokenizer, and no other tells where a token stands in a text", where=spec.model)
    model = model.to(device).eval()
    drawn = "" if options.random_weights is None else f" random weights {options.random_weights}"
    return Loaded(model, tokenizer, masked, f"{_version(place, config)}{drawn} {_short(model.dtype)} {device}")


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
    import torch
    import transformers

    place = place_of(spec, options)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        config = transformers.AutoConfig.from_pretrained(place.name, **place.arguments)
        if not any(name.endswith(architecture) for name in config.architectures or ()):
            what = f"is a {', '.join(config.architectures or ['model of no kind'])}, and gives no labels of that sort"
            remedy = f"Name a model whose architecture ends in {architecture}."
            raise EngineError(what, where=spec.model, remedy=remedy)
        kind: Any = getattr(transformers, f"AutoModel{architecture}")
        model: Any = kind.from_pretrained(place.name, dtype=_dtype(options, device), **place.arguments)
        tokenizer = transformers.AutoTokenizer.from_pretrained(place.name, **place.arguments)
    except (OSError, ValueError, ImportError, KeyError) as fault:
        raise _cannot_open(spec, fault) from fault
    if not tokenizer.is_fast:
        raise EngineError("has no fast tokenizer, and no other tells where a token stands in a text", where=spec.model)
    version = f"{_version(place, config)} {_short(model.dtype)} {device}"
    return Loaded(model.to(device).eval(), tokenizer, False, version)


def load_base(spec: ModelSpec, options: TransformersOptions, architecture: str, labels: Sequence[str]) -> Loaded:
    """A model to be fine-tuned for `labels`. Its head has random weights.

    Raises `EngineError` as `load` does.
    """
    import torch
    import transformers

    place = place_of(spec, options)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    numbers = dict(enumerate(labels))
    names = {"num_labels": len(labels), "id2label": numbers, "label2id": {label: n for n, label in numbers.items()}}
    try:
        config = transformers.AutoConfig.from_pretrained(place.name, **names, **place.arguments)
        kind: Any = getattr(transformers, f"AutoModel{architecture}")
        # In single precision: with fewer bits small steps of the optimiser would be rounded away.
        model: Any = kind.from_pretrained(
            place.name, config=config, dtype=torch.float32, ignore_mismatched_sizes=True, **place.arguments
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(place.name, **place.arguments)
    except (OSError, ValueError, ImportError, KeyError) as fault:
        raise _cannot_open(spec, fault) from fault
    if not tokenizer.is_fast:
        raise EngineError("has no fast tokenizer, and no other tells where a token stands in a text", where=spec.model)
    version = f"{_version(place, config)} {_short(model.dtype)} {device}"
    return Loaded(model.to(device), tokenizer, False, version)


def load_tokenizer(spec: ModelSpec, options: TransformersOptions) -> Any:
    """A model's tokenizer alone, fast or not. Raises `EngineError` as `load` does."""
    from transformers import AutoTokenizer

    place = place_of(spec, options)
    try:
        return AutoTokenizer.from_pretrained(place.name, **place.arguments)
    except (OSError, ValueError, ImportError, KeyError) as fault:
        raise _cannot_open(spec, fault) from fault


def place_of(spec: ModelSpec, options: TransformersOptions) -> _Place:
    if is_gguf(spec.name):
        file = find_gguf(spec.name)
        return _Place(str(file.parent), {"gguf_file": file.name}, gguf=file)
    arguments = {"trust_remote_code": options.trust_remote_code}
    folder = Path(spec.name).expanduser()
    if folder.is_dir():
        return _Place(str(folder), arguments)
    return _Place(spec.name, {**arguments, "revision": options.revision or "main"})


def _is_masked(config: PretrainedConfig, spec: ModelSpec) -> bool:
    names = config.architectures or ["ForCausalLM"]  # a GGUF file names none, and holds nothing else
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


def _short(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")


def _version(place: _Place, config: PretrainedConfig) -> str:
    if place.gguf is not None:
        return f"{place.gguf.name} sha256:{model_sha256(place.gguf)[:16]}"
    commit = getattr(config, "_commit_hash", None)
    if commit:
        return f"{place.name}@{commit}"
    return f"{Path(place.name).name} sha256:{model_sha256(Path(place.name))[:16]}"


def _cannot_open(spec: ModelSpec, fault: Exception) -> EngineError:
    reason = " ".join(str(fault).split())
    if "trust_remote_code" in reason:
        remedy = "If you trust its authors, set trust_remote_code = true under [options.transformers]."
        return EngineError("comes with code of its own", where=spec.model, remedy=remedy)
    remedy = (
        "Give a name of the hub (HF_TOKEN for gated models), a folder with config.json and weights, or a .gguf file."
    )
    return EngineError(f"cannot be opened: {reason[:300]}", where=spec.model, remedy=remedy)
