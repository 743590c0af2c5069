"""The engine arguments of the installed vLLM, parsed from its source, because importing vLLM takes seconds."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from polyculture.cache.errors import EngineError, MissingDependencyError, did_you_mean
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.vllm.options import VllmOptions

_SOURCE = Path("engine") / "arg_utils.py"
_FIND = "from importlib.util import find_spec; found = find_spec('vllm'); print(found.origin if found else '')"
# Annotations that TOML's types can be checked against. vLLM checks all others.
_PLAIN: Mapping[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}


@dataclass(frozen=True, slots=True)
class Installed:
    """A vLLM installation: its interpreter and its folder."""

    python: str
    folder: Path


def find_vllm(spec: ModelSpec, options: VllmOptions) -> Installed:
    """The vLLM installation for a model: of this environment, or of the interpreter that the option names.

    Raises `MissingDependencyError` or `EngineError` where there is none.
    """
    if options.python is None:
        module = find_spec("vllm")
        if module is None or module.origin is None:
            raise MissingDependencyError("vllm", "vllm", f"The model {spec.model}")
        return Installed(sys.executable, Path(module.origin).parent)
    python = shutil.which(Path(options.python).expanduser())
    if python is None:
        remedy = "Name the python of the environment in which vLLM is installed."
        raise EngineError(f"python: there is no program {options.python}", where=_where(spec), remedy=remedy)
    return Installed(python, _folder(spec, python))


def check_what_can_be_checked(spec: ModelSpec, options: VllmOptions) -> None:
    """Raises `EngineError` where an option is wrong for the installed vLLM. Without vLLM there is no check: a laptop on
    which a cluster job is planned has none, and the machine that opens the model checks then.
    """
    try:
        installed = find_vllm(spec, options)
    except (EngineError, MissingDependencyError):
        return
    check_arguments(spec, options.arguments, installed)


def check_arguments(spec: ModelSpec, arguments: Mapping[str, Any], installed: Installed) -> None:
    """Raises `EngineError` for an argument unknown to vLLM, or for a value of another type."""
    known = engine_arguments(installed.folder)
    for name, value in arguments.items():
        if name not in known:
            what = f"unknown option {name!r}: neither an engine argument of the installed vLLM nor an option of ours"
            remedy = did_you_mean(name, {*known, *VllmOptions.model_fields})
            raise EngineError(what, where=_where(spec), remedy=remedy if "Did" in remedy else _LIST)
        wanted = _plain_types(known[name])
        if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)):
            raise EngineError(f"{name}: takes {known[name]}, not {value!r}", where=_where(spec))


@cache
def engine_arguments(folder: Path) -> Mapping[str, str]:
    """The fields of vLLM's `EngineArgs` and their annotations. Raises `EngineError` where they cannot be found."""
    file = folder / _SOURCE
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError) as fault:
        raise EngineError("holds no vLLM that can be read", where=folder, remedy="Install vLLM again.") from fault
    bodies = [node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "EngineArgs"]
    fields = [line for body in bodies for line in body if isinstance(line, ast.AnnAssign)]
    names = {line.target.id: ast.unparse(line.annotation) for line in fields if isinstance(line.target, ast.Name)}
    # The experiment sets the model.
    return {name: hint for name, hint in names.items() if name != "model" and not name.startswith("_")}


_LIST = "`vllm serve --help=all` lists its engine arguments; they are written here with underscores."


def _folder(spec: ModelSpec, python: str) -> Path:
    """The folder of an interpreter's vLLM, found without importing vLLM."""
    try:
        asked = subprocess.run(  # noqa: S603 - the program that the experiment file names
            [python, "-c", _FIND], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as fault:
        raise EngineError(f"python: {python} is no Python that runs", where=_where(spec)) from fault
    if not asked.stdout.strip():
        remedy = f"Install it there: {python} -m pip install vllm"
        raise EngineError(
            f"python: vLLM is not installed in the environment of {python}", where=_where(spec), remedy=remedy
        )
    return Path(asked.stdout.strip()).parent


def _plain_types(annotation: str) -> tuple[type, ...]:
    """The Python types that an annotation allows, or none where it is more than a union of plain types."""
    names = {name.strip() for name in annotation.split("|")} - {"None"}
    return tuple(kind for name in names for kind in _PLAIN[name]) if names <= _PLAIN.keys() else ()


def _where(spec: ModelSpec) -> str:
    return f"options of {spec.model}"
