"""The vllm engine as far as it goes without vLLM: its interpreter, and what is told of a model that does not open.

What it samples and scores is tested with a real vLLM in `tests/vllm`: `make test-vllm`.
"""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from polyculture.cache.errors import EngineError, MissingDependencyError
from polyculture.generate.engines import ModelSpec, check_model, open_engine
from polyculture.generate.engines.vllm import worker
from polyculture.generate.engines.vllm.client import why_it_did_not_open
from polyculture.generate.engines.vllm.worker import shared_memory, unlink

QWEN = "vllm:Qwen/Qwen2.5-7B-Instruct"


def test_the_worker_uses_names_that_vllm_exports_and_nothing_private() -> None:
    """A module of vLLM, or a private attribute, is another one in its next version."""
    tree = ast.parse(Path(worker.__file__).read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert imported.count("vllm") >= 2
    assert not [name for name in imported if name.startswith("vllm.")]
    private = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and re.match("_(?!_)", node.attr) and ast.unparse(node.value) != "self"
    ]
    assert not [ast.unparse(node) for node in private]


def test_without_vllm_one_plans_and_is_told_when_the_model_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyculture.generate.engines.vllm.engine.find_spec", lambda _: None)
    check_model(ModelSpec(QWEN, {"tensor_paralel_size": 2}))  # nobody here knows better
    with pytest.raises(MissingDependencyError, match=r"pip install 'polyculture\[vllm\]'"):
        open_engine(ModelSpec(QWEN))


def test_an_interpreter_of_another_environment(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"program.*/nowhere/python"):
        open_engine(ModelSpec(QWEN, {"python": "/nowhere/python"}))
    other = tmp_path / "python"
    other.touch(0o755)
    for script, said in {
        "no program": "is no Python that runs",
        "#!/bin/sh\nexit 3\n": "is no Python that runs",
        "#!/bin/sh\necho\n": "is no Python that runs",
        f"#!/bin/sh\nexec {sys.executable} -S $@\n": r"vLLM is not installed in .*-m pip install vllm",
    }.items():
        other.write_text(script)
        with pytest.raises(EngineError, match=said):
            open_engine(ModelSpec(QWEN, {"python": str(other)})).__enter__()


def test_what_is_wrong_with_files_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    options = {"python": sys.executable}
    with pytest.raises(EngineError, match=r"absent.*folder"):
        open_engine(ModelSpec(f"vllm:{tmp_path}/absent", options))
    with pytest.raises(EngineError, match=r"holds.*config\.json"):
        open_engine(ModelSpec(f"vllm:{tmp_path}", options))
    with pytest.raises(EngineError, match=r"chat_template: .*no\.jinja cannot be read"):
        open_engine(ModelSpec(QWEN, {**options, "chat_template": str(tmp_path / "no.jinja")}))


def test_the_commit_of_a_model_is_read_from_the_hub_s_cache(tmp_path: Path) -> None:
    snapshots = tmp_path / "models--org--small" / "snapshots"
    for name, branch in (("ab12", "main"), ("cd34", "old")):
        (snapshots / name).mkdir(parents=True)
        (snapshots / name / "config.json").touch()
        (tmp_path / "models--org--small" / "refs").mkdir(exist_ok=True)
        (tmp_path / "models--org--small" / "refs" / branch).write_text(name)
    code = f"from polyculture.generate.engines.vllm.worker import commit; print(*({', '.join(ASKED)}))"
    environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["ab12", "cd34", "None", "None"]


ASKED = (
    "commit('org/small', None)",
    "commit('org/small', 'old')",
    "commit('org/other', None)",
    "commit('/a/folder/somewhere', None)",
)

HOLDS_MEMORY = """
import sys, time
from multiprocessing.shared_memory import SharedMemory
held = SharedMemory(create=True, size=10_000)
print(held.name, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system does not tell what a process has mapped")
def test_shared_memory_of_processes_that_are_killed_is_taken_away() -> None:
    command = [sys.executable, "-c", HOLDS_MEMORY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as holder:
        segment = Path("/dev/shm") / holder.stdout.readline().strip()
        held = shared_memory(holder.pid)
        os.killpg(holder.pid, signal.SIGKILL)
    assert held == {segment}
    assert segment.exists()  # it would stay until the machine is started again
    unlink(held)
    assert not segment.exists()
    unlink(held)  # another may have come first


# What vLLM 0.32 and PyTorch 2.13 write, and the line that comes of it.
SAID = [
    pytest.param(
        "ValueError: To serve at least one request with the model's max seq len (32768), (3.50 GiB KV cache is needed, "
        "which is larger than the available KV cache memory (1.25 GiB). Based on the available memory, the estimated "
        "maximum model length is 11696. Try increasing `gpu_memory_utilization` ...",
        "a text of max_model_len = 32768 tokens needs 3.50 GiB of cache, 1.25 GiB are free. "
        "In [options.vllm], max_model_len = 11696 fits;",
        id="cache too small",
    ),
    pytest.param(
        "ValueError: To serve at least one request with the model's max seq len (32768), (3.50 GiB KV cache is needed, "
        "which is larger than the available KV cache memory (0.00 GiB). Try increasing `gpu_memory_utilization` ...",
        "In [options.vllm], a smaller max_model_len needs less;",
        id="cache too small for any length",
    ),
    pytest.param(
        "ValueError: Model architectures ['MambaVisionModel'] are not supported for now. Supported architectures: ...",
        "is of a kind that this vLLM cannot run: ['MambaVisionModel']. Try a newer vLLM",
        id="unknown architecture",
    ),
    pytest.param(
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when",
        "does not fit: with its weights loaded no memory is left",
        id="no cache at all",
    ),
    pytest.param(
        "ValueError: Free memory on device cuda:0 (20.1/79.2 GiB) on startup is less than desired GPU memory "
        "utilization (0.92, 72.9 GiB). Decrease GPU memory utilization",
        "20.1 of 79.2 GiB are free, vLLM would take 72.9 GiB (gpu_memory_utilization = 0.92). "
        "End what else uses the memory, or set gpu_memory_utilization below 20.1 / 79.2",
        id="others use it",
    ),
    pytest.param(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of "
        "23.64 GiB of which 512.00 MiB is free. Including non-PyTorch memory",
        "the device had no room for another 1.02 GiB; 512.00 MiB of 23.64 GiB were free. "
        "Take a larger tensor_parallel_size, a quantization such as 'fp8', or a smaller model",
        id="weights too large",
    ),
    pytest.param(
        "RuntimeError: [enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: "
        "you tried to allocate 9437184000 bytes. Error code 12 (Cannot allocate memory)",
        "the device had no room for another 9437184000 bytes. Take",
        id="no memory on a CPU",
    ),
    pytest.param(
        "OSError: Qwen/Qwen9 is not a local folder and is not a valid model identifier listed on 'https://...'",
        "neither a folder here nor a name on the model hub",
        id="unknown model",
    ),
    pytest.param(
        "ValueError: Invalid repository ID or local directory specified: 'Qwen/Qwen9'.\nPlease verify the following",
        "neither a folder here nor a name on the model hub",
        id="no such name",
    ),
    pytest.param(
        "LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder\n\nThe above exception was the "
        "direct cause of the following exception:\n\nValueError: Invalid repository ID or local directory: 'Qwen/Q'.",
        "is not on this machine, and the model hub cannot be reached",
        id="not fetched",
    ),
    pytest.param(
        "OSError: We couldn't connect to 'https://...' to load the files, and couldn't find them in the cached files.",
        "is not on this machine, and the model hub cannot be reached",
        id="no network",
    ),
    pytest.param(
        "1 validation error for CacheConfig\ngpu_memory_utilization\n  Input should be a valid number, unable to parse "
        "string as a number [type=float_parsing, input_value='x', input_type=str]\n    For further information visit",
        "gpu_memory_utilization: Input should be a valid number, unable to parse string as a number, not 'x'. Correct",
        id="a value of another type",
    ),
    pytest.param(
        "Value error, User-specified max_model_len (99999) is greater than the derived max_model_len "
        "(max_position_embeddings=2048 or model_max_length=None in model's config.json).",
        "max_model_len = 99999 is more than the model was made for, 2048 tokens",
        id="longer than the model",
    ),
]


@pytest.mark.parametrize(("words", "line"), SAID)
def test_a_model_that_does_not_open_says_what_would_help(words: str, line: str) -> None:
    log = f"(EngineCore pid=1) ERROR core.py:1109] Traceback (most recent call last):\n(EngineCore pid=1) {words}\n"
    for said, logged in ((words, ""), ("RuntimeError: Engine core initialization failed.", log)):
        fault = why_it_did_not_open(ModelSpec(QWEN), said, logged)
        assert fault is not None
        assert line in str(fault)
        assert "\n" not in str(fault)


def test_a_cause_that_is_not_known_is_not_guessed() -> None:
    assert why_it_did_not_open(ModelSpec(QWEN), "RuntimeError: something else", "a log\nof two lines") is None
