"""Optional packages: a command that needs one says how to install it, and nothing else needs one."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from polyculture.cache import extras
from polyculture.cache.errors import MissingDependencyError
from polyculture.cache.extras import DUMPS, MINING, Extra
from polyculture.collect.mining.units import Segments
from polyculture.generate.engines.transformers.options import EXTRA
from tests.test_house import ROOT

OPTIONAL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
# In a new process, with every optional package blocked: all modules but those of engines that an extra loads.
WITHOUT = """
import importlib, pkgutil, sys
import polyculture
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1:]:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
for found in pkgutil.walk_packages(polyculture.__path__, "polyculture.", onerror=print):
    if not found.name.startswith("polyculture.generate.engines.transformers."):
        importlib.import_module(found.name)
"""


@pytest.mark.parametrize("extra", [DUMPS, EXTRA, MINING], ids=lambda extra: extra.name)
def test_an_extra_that_the_code_names_exists(extra: Extra) -> None:
    assert extra.name in OPTIONAL


def test_what_needs_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'polyculture\[{MINING.name}\]'"):
        Segments(3, "th")


def test_nothing_else_imports_an_optional_package() -> None:
    blocked = {*DUMPS.packages, *MINING.packages, *EXTRA.packages}
    blocked |= {"bpe_openai", "pytz", "ray", "sklearn", "spacy", "vllm", "xllamacpp"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *blocked], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
