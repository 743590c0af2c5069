"""Explain in one line, with a remedy, why vLLM did not open a model. vLLM's own message fills pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from re import Match

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.broken_files import REMEDY, broken_file

_LONGEST = 300  # characters of vLLM's own words
_SMALLER = "a larger tensor_parallel_size, a quantization such as 'fp8', or a smaller model"

_FOLDER = "Name a folder with config.json and the weights, or a model of the hub: 'vllm:Qwen/Qwen2.5-7B-Instruct'."

Explain = Callable[[Match[str]], tuple[str, str]]


def _cache_too_small(match: Match[str]) -> tuple[str, str]:
    length, needed, there, fits = match["length"], float(match["needed"]), float(match["there"]), match["fits"]
    what = (
        f"does not fit: a text of max_model_len = {length} tokens needs {needed:g} GiB of cache, "
        f"{there:g} GiB are free, {needed - there:.2f} GiB are missing"
    )
    shorter = f"max_model_len = {fits} fits" if fits else "a smaller max_model_len needs less"
    return what, f"In [options.vllm], {shorter}; or take a higher gpu_memory_utilization, or {_SMALLER}."


def _no_cache(_: Match[str]) -> tuple[str, str]:
    what = "does not fit: with its weights loaded no memory is left for a single token of text"
    return what, f"Take a higher gpu_memory_utilization, {_SMALLER}."


def _taken(match: Match[str]) -> tuple[str, str]:
    free, total, share, wanted = (float(match[key]) for key in ("free", "total", "share", "wanted"))
    what = (
        f"does not fit beside what else runs there: {free:g} of {total:g} GiB are free, vLLM would take {wanted:g} GiB "
        f"(gpu_memory_utilization = {share:g}), {wanted - free:.2f} GiB are missing"
    )
    fits = int(100 * free / total) / 100
    return what, f"End what else uses the memory, or set gpu_memory_utilization = {fits:g} or less in [options.vllm]."


def _out_of_memory(match: Match[str]) -> tuple[str, str]:
    wanted, unit = match["wanted"], match["unit"]
    total = f" of {match['total']} {match['total_unit']}" if match["total"] else ""
    free = f"; {match['free']} {match['free_unit']}{total} were free" if match["free"] else ""
    what = f"does not fit: the device had no room for another {wanted} {unit}{free}"
    return what, f"Take {_SMALLER}; or a smaller max_model_len or max_num_seqs, if its weights alone fit."


def _unknown_model(_: Match[str]) -> tuple[str, str]:
    what = "there is no such model: neither a folder here nor a name on the model hub"
    return what, "Check its spelling; for a gated model, accept its terms there and set HF_TOKEN."


def _unreachable(_: Match[str]) -> tuple[str, str]:
    what = "is not on this machine, and the model hub cannot be reached"
    return what, "Fetch it where there is a network (hf download NAME), or name the folder that holds it."


def _architecture(match: Match[str]) -> tuple[str, str]:
    return f"is of a kind that this vLLM cannot run: {match['names']}", "Try a newer vLLM, or another engine."


def _wrong_value(match: Match[str]) -> tuple[str, str]:
    return f"{match['name']}: {' '.join(match['why'].split())}, not {match['value']}", "Correct it in [options.vllm]."


def _too_long(match: Match[str]) -> tuple[str, str]:
    what = f"max_model_len = {match['asked']} is more than the model was made for, {match['most']} tokens"
    return what, f"Set max_model_len = {match['most']} or less in [options.vllm]."


# Messages of vLLM, PyTorch and the hub's client, most specific first.
_KNOWN: tuple[tuple[re.Pattern[str], Explain], ...] = (
    (
        re.compile(
            r"max seq len \((?P<length>\d+)\), \((?P<needed>[\d.]+) GiB KV cache is needed.*?"
            r"\((?P<there>[\d.]+) GiB\)\.(?: Based on the available memory, the estimated maximum model length is "
            r"(?P<fits>\d+))?",
            re.DOTALL,
        ),
        _cache_too_small,
    ),
    (re.compile(r"No available memory for the cache blocks"), _no_cache),
    (
        re.compile(
            r"\((?P<free>[\d.]+)/(?P<total>[\d.]+) GiB\) on startup is less than desired \w+ memory utilization "
            r"\((?P<share>[\d.]+), (?P<wanted>[\d.]+) GiB\)"
        ),
        _taken,
    ),
    (
        re.compile(
            r"out of memory\. Tried to allocate (?P<wanted>[\d.]+) (?P<unit>\w+)"
            r"(?:.*?total capacity of (?P<total>[\d.]+) (?P<total_unit>\w+) of which (?P<free>[\d.]+) "
            r"(?P<free_unit>\w+) is free)?"
        ),
        _out_of_memory,
    ),
    (
        re.compile(
            r"can't allocate memory: you tried to allocate (?P<wanted>\d+) (?P<unit>bytes)"
            r"(?P<free>)(?P<free_unit>)(?P<total>)(?P<total_unit>)"
        ),
        _out_of_memory,
    ),
    (
        re.compile(r"max_model_len \((?P<asked>\d+)\) is greater than the derived max_model_len \(\D*(?P<most>\d+)"),
        _too_long,
    ),
    (
        re.compile(
            r"validation errors? for \w+\n(?P<name>\w+)\S*\n +(?P<why>.+?) "
            r"\[type=\w+, input_value=(?P<value>.+?), input_type"
        ),
        _wrong_value,
    ),
    (re.compile(r"Model architectures (?P<names>\[.*?\]) (?:are not supported|failed)"), _architecture),
    (
        re.compile(
            r"outgoing traffic has been disabled|offline mode is enabled|couldn't connect to|ConnectError"
            r"|Failed to resolve|Max retries exceeded|LocalEntryNotFoundError"
        ),
        _unreachable,
    ),
    (
        re.compile(
            r"RepositoryNotFound|404 Client Error|is not a local folder and is not a valid model|Repo id must"
            r"|401 Client Error|GatedRepo|Invalid repository ID or local directory"
        ),
        _unknown_model,
    ),
)


def why_it_did_not_open(spec: ModelSpec, said: str, logged: str) -> EngineError | None:
    """The error that names the cause and a remedy, or `None` for an unknown cause.

    `said` is the exception that vLLM raised, `logged` its complete log: often only the log has the cause.
    """
    for pattern, explain in _KNOWN:
        for text in (said, logged):
            match = pattern.search(text)
            if match:
                what, remedy = explain(match)
                return EngineError(what, where=spec.model, remedy=remedy)
    broken = broken_file(Path(spec.name).expanduser())
    return None if broken is None else EngineError(f"{broken[0].name} {broken[1]}", where=spec.model, remedy=REMEDY)


def in_short(words: str) -> str:
    """The first line of vLLM's message, truncated."""
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def wrong_folder(spec: ModelSpec) -> EngineError | None:
    """The error for a name that can only be a folder but is none, or for a folder without a model."""
    folder = Path(spec.name).expanduser()
    if not folder.is_dir():
        looks_local = spec.name.startswith(("/", "./", "../", "~"))
        return EngineError("there is no such folder", where=folder, remedy=_FOLDER) if looks_local else None
    if any((folder / name).exists() for name in ("config.json", "params.json")):
        return None
    return EngineError("holds no model: there is no config.json in it", where=folder, remedy=_FOLDER)
