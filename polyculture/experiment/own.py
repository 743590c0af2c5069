"""Experiment files of commands that name their models themselves: `polyculture ask kobbq --model ollama:qwen2.5:7b`."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from polyculture.cache.files import replacing
from polyculture.cache.log import get_logger
from polyculture.instruments import command_line

_log = get_logger(__name__)

_NAME = re.compile(r"[^A-Za-z0-9]+")
_TEXT = """\
# Written by `{command}`. Go on with it: polyculture plan, report, table or sql {file}

name = {name}
models = {models}
{design}
# Where models are, and what they cost:
# [options.openai]
# base_url = "http://localhost:8000/v1"
# [prices."{hosted}"]
# input = {price[0]}
# output = {price[1]}
"""


def is_experiment(file: Path) -> bool:
    """Whether a TOML file is an experiment: it names models. What cannot be read is left to whoever reads it."""
    try:
        return "models" in tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return False


def own_file(command: str, about: str) -> Path:
    """Where the experiment file of a command about something is, in the working folder: `ask-kobbq.toml`."""
    stems = [Path(one.strip().partition(":")[0]).name.removesuffix(".toml") for one in about.split(",")]
    return Path(f"{_NAME.sub('-', '-'.join([command, *stems])).strip('-')}.toml")


def check_models(file: Path, models: Sequence[str]) -> None:
    """Raises `EngineError` of what is no model, with the options that the file has if it is there."""
    from polyculture.experiment.file import read_experiment
    from polyculture.generate.engines import ModelSpec, check_model

    spec = read_experiment(file).model_spec if file.exists() else ModelSpec
    for model in models:
        check_model(spec(model))


def add_models(file: Path, models: Sequence[str], command: str = "import", design: str = "") -> None:
    """Adds models to an experiment file; writes one, called like the file, where it is not there.

    `design` is what else stands in it then, in TOML.

    Raises `EngineError` of what is no model, `ExperimentError` where its list of models does not stand on one line.
    """
    from polyculture.experiment.imported import name_of, write_lists

    check_models(file, models)
    if file.exists():
        lists = {"models": models, "languages": (), "topics": (), "countries": ()}
        added = write_lists(file, lists, (), {})
        if added:
            _log.info(f"{file}: added {', '.join(added)}")
        return
    from polyculture.generate.engines.openai.hosted import HOSTED, HOSTED_PRICE

    with replacing(file) as temporary:
        listed = json.dumps(list(models), ensure_ascii=False)
        words = {"command": command_line(command), "file": file, "models": listed, "design": design}
        words |= {"hosted": HOSTED, "price": HOSTED_PRICE}
        text = _TEXT.format(name=json.dumps(name_of(file)), **words)
        temporary.write_text(text, encoding="utf-8")
    _log.info(f"Wrote {file}")
