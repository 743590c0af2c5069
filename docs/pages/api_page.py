"""The pages of the Python interface: what `import polyculture` offers, and what an extension provides.

Only the names are listed here. mkdocstrings reads signatures and docstrings from the modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polyculture

HEAD = """# Python: every call

`make docs` writes this page from the docstrings. [Python](python.md) shows how you use these calls.

"""
EXTENSIONS_HEAD = """# Interfaces of extensions

`make docs` writes this page from the docstrings of the modules that you read when you add
[an engine](repository/CONTRIBUTING.md#add-an-engine), an extractor or
[an instrument](repository/CONTRIBUTING.md#add-an-instrument) to Polyculture. You do not need them for
[languages and topics of your own](extending.md), which are data files.

The interface may change between versions, as long as the version begins with 0.

"""
MODULES = {
    "Engines: what they can do": "generate.engines.capabilities",
    "Engines: requests and answers": "generate.engines.base",
    "Engines: the declaration": "generate.engines.kind",
    "Extractors": "extract.base",
    "Instruments: the contract": "instruments.contract",
}


def page() -> str:
    """A section per name of the interface, functions first, errors last."""
    names = [name for name in polyculture.__all__ if not name.startswith("__")]
    ordered = sorted(names, key=lambda name: (name.endswith("Error"), name != name.lower(), name == "Experiment", name))
    return HEAD + "".join(_sections(ordered))


def extensions_page() -> str:
    """A section per module."""
    options = {"heading_level": "3", "show_root_heading": "false", "show_root_toc_entry": "false"}
    parts = (f"## {title}\n\n{_reference(f'polyculture.{module}', options)}" for title, module in MODULES.items())
    return EXTENSIONS_HEAD + "".join(parts)


def _sections(names: list[str]) -> Iterator[str]:
    for name in names:
        home, title = getattr(polyculture, name).__module__, f'"polyculture.{name}"'
        members = {} if name == "Run" else {"members": "false"}  # the page of the experiment file has its keys
        yield _reference(f"{home}.{name}", {"heading": title, "toc_label": title, "heading_level": "2"} | members)


def _reference(path: str, options: Mapping[str, str]) -> str:
    """What mkdocstrings replaces by the documentation of a module, class or function."""
    lines = "".join(f"        {name}: {value}\n" for name, value in options.items())
    return f"::: {path}\n    options:\n{lines}\n"
