"""vLLM's process: facts about the model, numbered requests, answers in any order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import tomllib
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

import orjson

from polyculture.cache.errors import EngineError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.model_files import REMEDY, broken_file
from polyculture.generate.engines.stop_token import end_of_turn
from polyculture.generate.engines.system_prompt import Turn
from polyculture.generate.engines.vllm.kind import VllmOptions
from polyculture.generate.engines.vllm.worker import GRACE, JsonLine, shared_memory, unlink

# Texts in flight per text that vLLM runs at once: while this process handles one, vLLM has the next in its queue.
AHEAD = 2
_LIST = "`vllm serve --help=all` lists its engine arguments; they are written here with underscores."


@dataclass(frozen=True, slots=True)
class LoadedModelFacts:
    """Facts that vLLM reports about a loaded model."""

    vllm: str  # its version
    revision: str | None  # the commit of the model on the hub
    dtype: str
    quantization: str | None
    max_num_seqs: int  # texts that it works on at the same time
    max_model_len: int  # tokens of a text, prompt and answer together
    chat_template: bool
    bos_token_id: int | None  # that is put before what is scored, where the tokenizer puts nothing
    unk_token_id: int | None
    first_token_id: int | None = None  # behind which a whole text is scored


_WORKER = Path(__file__).with_name("worker.py")
_GRACE = GRACE + 5.0  # seconds in which it stops in order, or else kills itself, before it is killed


class Client:
    """A model in vLLM's process, loaded on construction. Raises `EngineError` where that fails or the process ends.

    The process is `worker.py` in the interpreter `python`. It leads its own session: a Ctrl-C at the terminal does not
    reach it, and one signal reaches it and all processes that vLLM starts. It detects the end of this process by
    itself, whatever the cause. Its log is an unnamed file, which needs no removal.
    """

    def __init__(self, spec: ModelSpec, python: str, settings: JsonLine) -> None:
        self.spec, self._python = spec, python
        self._numbers = count()
        self._early: deque[JsonLine] = deque()  # answers that came while another was waited for
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the experiment file names, or this one
                [python, "-P", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                start_new_session=True,
            )
        except OSError as fault:
            self._log.close()
            raise self._no_python() from fault
        self._to = cast("IO[bytes]", self._process.stdin)
        self._from = cast("IO[bytes]", self._process.stdout)
        try:
            self.send(settings)
            answer = self._read()
            self._need_open(answer)
            self.facts = LoadedModelFacts(**answer["ready"])
            self.unk_token_id = self.facts.unk_token_id
        except BaseException:
            self.close()
            raise

    @cached_property
    def model_version(self) -> str:
        """The model, its commit, its numerical settings, and the version of vLLM."""
        facts = self.facts
        parts = (self.spec.name, facts.revision, facts.dtype, facts.quantization, f"vllm {facts.vllm}")
        return " ".join(part for part in parts if part)

    def number(self) -> int:
        """A new request number."""
        return next(self._numbers)

    def send(self, line: JsonLine) -> None:
        """Send a request."""
        try:
            self._to.write(orjson.dumps(line) + b"\n")
            self._to.flush()
        except OSError as fault:
            raise self._ended() from fault

    def read(self) -> JsonLine:
        """The next answer, to any request."""
        return self._early.popleft() if self._early else self._read()

    def abort(self, numbers: list[int]) -> None:
        """Abort requests. Answers finished before may still arrive."""
        with suppress(EngineError):  # where the process has ended, nothing is under way any more
            self.send({"abort": numbers})

    def __call__(self, text: list[str], **options: Any) -> Mapping[str, Any]:
        """Tokenize texts with the model's own tokenizer; `options` are those of `transformers`."""
        answer = self._asked({"tokenize": text, "options": options})
        if "error" in answer:
            raise EngineError(f"cannot be tokenised: {in_short(answer['error'])}", where=self.spec.model)
        encoded: Mapping[str, Any] = answer["encoded"]
        return encoded

    @cached_property
    def stop_token_ids(self) -> Sequence[int]:
        """The token that ends a turn by the chat template; vLLM itself knows those of the model's configuration."""
        added: dict[str, int] = {}

        def render(turns: Sequence[Turn]) -> str:
            answer = self._asked({"render": list(turns)})
            added.update(answer["added"])
            return str(answer["text"])

        token = end_of_turn(render, lambda _: added)
        return () if token is None else (added[token],)

    def _asked(self, line: JsonLine) -> JsonLine:
        """The answer to a request that the process answers at once; others that come before it wait."""
        number = self.number()
        self.send({"id": number, **line})
        while (answer := self._read())["id"] != number:
            self._early.append(answer)
        return answer

    def close(self) -> None:
        """End the process and all its children: ask first, and kill those left after a minute."""
        held = shared_memory(self._process.pid)
        for pipe in (self._to, self._from):
            with suppress(OSError):  # what was still to be said has no hearer
                pipe.close()
        try:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
        finally:
            with suppress(ProcessLookupError):  # nothing of it is left
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            unlink(held)
            self._log.close()

    def _read(self) -> JsonLine:
        said = self._from.readline()
        try:
            line: JsonLine = orjson.loads(said) if said.endswith(b"\n") else {}
        except orjson.JSONDecodeError as fault:  # another program than our worker speaks
            raise self._ended() from fault
        if not line:
            raise self._ended()
        return line

    def _need_open(self, answer: JsonLine) -> None:
        """Raises `EngineError` where the model is not loaded."""
        if "unknown" in answer:
            name = answer["unknown"]
            what = f"unknown option {name!r}: none of ours, and no argument of the installed vLLM that is set here"
            remedy = did_you_mean(name, {*answer["known"], *VllmOptions.model_fields}, otherwise=_LIST)
            raise EngineError(what, where=f"options of {self.spec.model}", remedy=remedy)
        if "No module named 'vllm'" in answer.get("fatal", ""):
            what = f"python: vLLM is not installed in the environment of {self._python}"
            remedy = f"Install it there: {self._python} -m pip install vllm"
            raise EngineError(what, where=f"options of {self.spec.model}", remedy=remedy)
        if "fatal" in answer:
            raise self._ended(answer["trace"], f"vLLM cannot open it: {in_short(answer['fatal'])}")

    def _ended(self, said: str = "", otherwise: str = "vLLM's process has ended") -> EngineError:
        """The known cause of the process's end; else `otherwise`, and the log is kept under a file name."""
        log = os.pread(self._log.fileno(), os.fstat(self._log.fileno()).st_size, 0).decode("utf-8", "replace")
        if not said and not log:
            return self._no_python()  # a Python that did not find vLLM would have said so
        known = why_it_did_not_open(self.spec, said, log)
        if known:
            return known
        handle, name = tempfile.mkstemp(prefix="polyculture-vllm-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8") as kept:
            kept.write(log)
        remedy = f"Its log says why: {name}. The same command run again resumes."
        return EngineError(otherwise, where=self.spec.model, remedy=remedy)

    def _no_python(self) -> EngineError:
        return EngineError(f"python: {self._python} is no Python that runs", where=f"options of {self.spec.model}")


_LONGEST = 300  # characters of vLLM's own words
_SMALLER = "a larger tensor_parallel_size, a quantization such as 'fp8', or a smaller model"
_FOLDER = "Name a folder with config.json and the weights, or a model of the hub: 'vllm:Qwen/Qwen2.5-7B-Instruct'."


def why_it_did_not_open(spec: ModelSpec, said: str, logged: str) -> EngineError | None:
    """The error that names the cause and a remedy, or `None` for an unknown cause.

    `said` is the exception that vLLM raised, `logged` its complete log: often only the log has the cause.
    """
    for pattern, what, remedy in _known():
        match = pattern.search(said) or pattern.search(logged)
        if match:
            told = {"smaller": _SMALLER, **{name: " ".join(words.split()) for name, words in match.groupdict().items()}}
            return EngineError(what.format(**told), where=spec.model, remedy=remedy.format(**told))
    broken = broken_file(spec.place(spec.name))
    return None if broken is None else EngineError(f"{broken[0].name} {broken[1]}", where=spec.model, remedy=REMEDY)


@cache
def _known() -> Sequence[tuple[re.Pattern[str], str, str]]:
    """The rows of `faults.toml`."""
    rows = tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))["fault"]
    return [(re.compile(row["pattern"]), row["what"], row["remedy"]) for row in rows]


def in_short(words: str) -> str:
    """The first line of vLLM's message, truncated."""
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def wrong_folder(spec: ModelSpec) -> EngineError | None:
    """The error for a name that can only be a folder but is none, or for a folder without a model."""
    folder = spec.place(spec.name)
    if not folder.is_dir():
        looks_local = spec.name.startswith(("/", "./", "../", "~"))
        return EngineError("there is no such folder", where=folder, remedy=_FOLDER) if looks_local else None
    if any((folder / name).exists() for name in ("config.json", "params.json")):
        return None
    return EngineError("holds no model: there is no config.json in it", where=folder, remedy=_FOLDER)
