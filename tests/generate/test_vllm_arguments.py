"""The vllm engine as far as it goes without vLLM: its options, and what is told of a model that does not open.

What it samples and scores is tested with a real vLLM in `tests/vllm`: `make test-vllm`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from polyculture.cache.errors import EngineError, MissingDependencyError
from polyculture.generate.engines import ModelSpec, check_model, open_engine
from polyculture.generate.engines.vllm.arguments import engine_arguments
from polyculture.generate.engines.vllm.faults import why_it_did_not_open
from polyculture.generate.engines.vllm.worker import shared_memory, unlink

QWEN = "vllm:Qwen/Qwen2.5-7B-Instruct"
SOURCE = '''
class Other:
    unrelated: int = 1

@dataclass
class EngineArgs:
    """Arguments for vLLM engine."""

    model: str = ModelConfig.model
    dtype: ModelDType = ModelConfig.dtype
    max_model_len: int = ModelConfig.max_model_len
    tensor_parallel_size: int = ParallelConfig.tensor_parallel_size
    gpu_memory_utilization: float = CacheConfig.gpu_memory_utilization
    max_num_seqs: int | None = None
    quantization: QuantizationMethods | str | None = ModelConfig.quantization
    enforce_eager: bool = ModelConfig.enforce_eager
    _api_process_count: int = 1
'''


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like an installed vLLM to whoever does not import it."""
    folder = tmp_path / "vllm"
    (folder / "engine").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise AssertionError('is imported')")
    (folder / "engine" / "arg_utils.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "vllm", raising=False)
    return folder


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without vLLM, also where it is installed."""
    monkeypatch.setattr("polyculture.generate.engines.vllm.arguments.find_spec", lambda _: None)


def told(**options: object) -> str:
    with pytest.raises(EngineError) as fault:
        check_model(ModelSpec(QWEN, options))
    assert "\n" not in str(fault.value)
    return str(fault.value)


def test_engine_arguments_are_those_of_the_installed_version(installed: Path) -> None:
    assert set(engine_arguments(installed)) == {
        "dtype",
        "max_model_len",
        "tensor_parallel_size",
        "gpu_memory_utilization",
        "max_num_seqs",
        "quantization",
        "enforce_eager",
    }
    check_model(ModelSpec(QWEN, {"dtype": "float32", "max_model_len": 4096, "gpu_memory_utilization": 1}))
    check_model(ModelSpec(QWEN, {"quantization": "fp8", "enforce_eager": True, "chat_template_kwargs": {"a": 1}}))


def test_an_unknown_argument_gets_its_near_name(installed: Path) -> None:
    assert "unknown option 'tensor_paralel_size'" in told(tensor_paralel_size=2)
    assert "Did you mean 'tensor_parallel_size'?" in told(tensor_paralel_size=2)
    assert "Did you mean 'chat_template'?" in told(chat_templat="x.jinja")
    assert "vllm serve --help" in told(xyz=1)
    assert "unknown option 'model'" in told(model="other")  # the experiment names it
    assert "unknown option 'temperature'" in told(temperature=0.7)


@pytest.mark.parametrize(
    ("name", "value"), [("max_model_len", "long"), ("max_num_seqs", True), ("enforce_eager", 1), ("python", 3)]
)
def test_a_value_of_another_type_is_told(installed: Path, name: str, value: object) -> None:
    assert name in told(**{name: value})
    assert repr(value) in told(**{name: value})


@pytest.mark.usefixtures("nowhere")
def test_without_vllm_one_plans_and_is_told_when_the_model_is_opened() -> None:
    check_model(ModelSpec(QWEN, {"tensor_paralel_size": 2}))  # nobody here knows better
    with pytest.raises(MissingDependencyError, match=r"pip install 'polyculture\[vllm\]'"):
        open_engine(ModelSpec(QWEN))


def test_an_interpreter_of_another_environment(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="python: there is no program /nowhere/python"):
        open_engine(ModelSpec(QWEN, {"python": "/nowhere/python"}))
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(EngineError, match="is no Python that runs"):
        open_engine(ModelSpec(QWEN, {"python": str(broken)}))
    broken.write_text("#!/bin/sh\necho\n")
    with pytest.raises(EngineError, match=r"vLLM is not installed in the environment of .*-m pip install vllm"):
        open_engine(ModelSpec(QWEN, {"python": str(broken)}))


def test_what_is_wrong_with_files_is_told_before_anything_is_loaded(installed: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"absent: there is no such folder"):
        open_engine(ModelSpec(f"vllm:{tmp_path}/absent"))
    with pytest.raises(EngineError, match=r"vllm: holds no model: there is no config\.json"):
        open_engine(ModelSpec(f"vllm:{installed}"))
    with pytest.raises(EngineError, match=r"chat_template: .*no\.jinja cannot be read"):
        open_engine(ModelSpec(QWEN, {"chat_template": str(tmp_path / "no.jinja")}))


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
        assert holder.stdout is not None
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
        "a text of max_model_len = 32768 tokens needs 3.5 GiB of cache, 1.25 GiB are free, 2.25 GiB are missing. "
        "In [options.vllm], max_model_len = 11696 fits;",
        id="cache too small",
    ),
    pytest.param(
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when",
        "does not fit: with its weights loaded no memory is left",
        id="no cache at all",
    ),
    pytest.param(
        "ValueError: Free memory on device cuda:0 (20.1/79.2 GiB) on startup is less than desired GPU memory "
        "utilization (0.92, 72.9 GiB). Decrease GPU memory utilization",
        "20.1 of 79.2 GiB are free, vLLM would take 72.9 GiB (gpu_memory_utilization = 0.92), 52.80 GiB are missing. "
        "End what else uses the memory, or set gpu_memory_utilization = 0.25 or less",
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
