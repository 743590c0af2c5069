"""What a person must bring: ranges that leave room, and the exact versions that the tests were run with."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.test_house import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
REQUIREMENTS = [
    Requirement(line) for line in PROJECT["dependencies"] + [line for extra in EXTRAS.values() for line in extra]
]
APART = {"vllm"}  # another torch, in an environment of its own: the Makefile names its versions


def constraints() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert all(len(pair) == 2 for pair in pairs), [pair for pair in pairs if len(pair) != 2]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def test_a_requirement_leaves_room_above_the_lowest_version() -> None:
    for requirement in REQUIREMENTS:
        signs = {specifier.operator for specifier in requirement.specifier}
        assert ">=" in signs, f"{requirement}: which version is the lowest that the tests pass with?"
        assert not signs & {"==", "===", "~="}, f"{requirement}: an exact version refuses a person's own"
        if requirement.name not in APART:
            assert signs == {">="}, f"{requirement}: a highest version needs a reason, here and in pyproject.toml"


def test_the_constraints_hold_an_exact_version_of_each() -> None:
    exact = constraints()
    asked = [one for one in REQUIREMENTS if one.name not in APART]
    lacking = [f"{one}" for one in asked if exact.get(canonicalize_name(one.name)) not in one.specifier]
    assert not lacking, "constraints.txt has no version that pyproject.toml allows; remedy: make constraints"


def test_the_constraints_can_be_installed_on_the_first_release_of_every_python_that_is_supported() -> None:
    supported = [
        line.split()[-1] for line in PROJECT["classifiers"] if line.startswith("Programming Language :: Python :: 3.")
    ]
    asked = {name: SpecifierSet(takes) for name in constraints() if (takes := requires_python(name))}
    assert len(supported) >= 2
    assert len(asked) > 50
    assert [name for name, takes in asked.items() if not all(f"{python}.0" in takes for python in supported)] == []


def requires_python(name: str) -> str | None:
    """What an installed package says; None where it says nothing, or is not installed here."""
    try:
        return metadata(name).get("Requires-Python")
    except PackageNotFoundError:
        return None


def test_every_command_that_installs_reads_the_constraints() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (installs,) = (line for line in makefile.splitlines() if line.startswith("PIP_INSTALL := "))
    assert installs.endswith("--constraint constraints.txt")
    for line in makefile.splitlines():
        plain = "pip install" in line and "$(PIP_INSTALL)" not in line and not line.startswith("PIP_INSTALL")
        # vLLM, and every-eval-ever (huggingface_hub below 2, rich below 15), want other versions than the rest.
        apart = ("$(VLLM_VENV)/", "build/every-eval-ever/", "build/constraints/")
        assert not plain or line.lstrip().startswith(apart), line
