"""One rule for all that a run asks: what a model would have to answer again is refused until it is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import polyculture.instruments.cbs as cbs
from tests.instruments.questions.test_command import answering, oracle
from tests.instruments.questions.test_command import write as write_set
from tests.instruments.test_probe import write_questions
from tests.instruments.test_swaps_command import write as write_swaps
from tests.polyculture.test_command_line import polyculture
from tests.servers import StubServer
from tests.stored import rows
from tests.tiny_models import save_causal

EXPERIMENT = """
name = "asked"
models = ["{model}"]
[sampling]
n = 2
{sampling}
[options.openai]
base_url = "{url}"
{openai}
[options.transformers]
device = "cpu"
bare_prompts = true
{transformers}
[instruments.{command}]
{asked}
"""
DEMO = Path(cbs.__file__).with_name("demo")
OWN = f'data = "own"\nfolder = "{DEMO}"\ntype = ["food"]\nculture = ["Indian"]\ncontexts = 2\nentities = 2'
ASK = 'set = "made-up.toml"\nunits = 2'
SWAP = 'data = "own"\nfolder = "."\ndraws = 1\nentities = 2'
PROBE = 'set = "open.toml"\ntagger = ["rule"]\nresamples = 19\nanswer_tokens = 8\nitem_tokens = 4\nunits = 1'
ATTENTION = 'set = "made-up.toml"\nunits = 2\nmethod = ["attention"]'
TOKENS = 'language = ["hi"]'


class Kind(NamedTuple):
    """An instrument with options, a setting that decides its answers, and an option that only adds some."""

    command: str
    asked: str
    table: str
    unit: str
    changed: tuple[str, str]  # the place in the file, and the line that is written there
    said: str
    more: tuple[str, str]  # what of the options is replaced by what
    local: bool = False  # asked of a model in this process, and not of a server


KINDS = {
    "ask, its temperature": Kind(
        "ask", ASK, "answers", "answers", ("asked", "temperature = 0.5"),
        "made-up en generated, prompt house: temperature was 0.0 and is now 0.5", ("units = 2", "units = 3"),
    ),
    "ask, its limit of tokens": Kind(
        "ask", ASK, "answers", "answers", ("asked", "max_tokens = 9"),
        "made-up en generated, prompt house: max_tokens was 30 and is now 9", ("units = 2", "units = 3"),
    ),
    "ask, its model": Kind(
        "ask", ASK, "answers", "answers", ("openai", "extra_body = { min_p = 0.1 }"),
        "openai:stub: extra_body was not set", ("units = 2", "units = 3"),
    ),
    "swap, its temperature": Kind(
        "sentiment", SWAP, "swap_responses", "answers", ("asked", "temperature = 0.5"),
        "sentiment prompt en: temperature was 0.0 and is now 0.5", ("draws = 1", "draws = 3"),
    ),
    "swap, its seed": Kind(
        "sentiment", f"{SWAP}\ntemperature = 0.5", "swap_responses", "answers", ("sampling", "seed = 7"),
        "sentiment prompt en: seed was 1 and is now 7", ("draws = 1", "draws = 2"),
    ),
    "cbs": Kind(
        "cbs", OWN, "scores", "scores", ("transformers", "bos = true"), "bos was not set and is now True",
        ("contexts = 2", "contexts = 3"), local=True,
    ),
    "embeddings": Kind(
        "embeddings", OWN, "representations", "vectors", ("transformers", "bos = true"),
        "bos was not set and is now True", ("entities = 2", "entities = 3"), local=True,
    ),
    "tokens": Kind(
        "tokens", TOKENS, "vocabulary_shares", "shares of vocabularies", ("transformers", 'revision = "other"'),
        "revision was not set and is now 'other'", ('"hi"', '"hi", "ko"'), local=True,
    ),
    "probe, its rules": Kind(
        "probe", PROBE, "probes", "probes", ("asked", 'protocol = "released"'),
        "protocol was 'paper' and is now 'released'", ("units = 1", "units = 2"), local=True,
    ),
    "attention": Kind(
        "ask", ATTENTION, "answers", "answers", ("transformers", 'dtype = "bfloat16"'),
        "and is now 'bfloat16'", ("units = 2", "units = 3"), local=True,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch", reason="the extra 'transformers' is not installed")
    folder = save_causal("llama", tmp_path_factory.mktemp("model") / "llama")
    template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    return f"transformers:{folder}"


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer(behaviour=answering(_answer)) as stub:
        yield stub


def _answer(message: str) -> str:
    return oracle(message) if "\nA: " in message else '{"sentiment": "neutral"}'


def write(
    folder: Path, server: StubServer, kind: Kind, model: str = "openai:stub", *, asked: str = "", **lines: str
) -> None:
    """The experiment file, with lines in its sections."""
    blank = dict.fromkeys(("sampling", "openai", "transformers"), "")
    said = {**blank, **lines, "url": server.url, "model": model, "command": kind.command}
    (folder / "exp.toml").write_text(EXPERIMENT.format(**said, asked=asked or kind.asked), encoding="utf-8")


@pytest.mark.parametrize("name", KINDS)
def test_answers_that_would_be_made_again_are_refused_and_more_are_not(
    name: str, tmp_path: Path, server: StubServer, request: pytest.FixtureRequest
) -> None:
    kind = KINDS[name]
    write_swaps(tmp_path, server.url)
    write_set(tmp_path, server.url)
    write_questions(tmp_path)
    model = str(request.getfixturevalue("llama")) if kind.local else "openai:stub"
    section, line = kind.changed
    changed = {"asked": f"{kind.asked}\n{line}"} if section == "asked" else {section: line}

    def run(*words: str, report: bool = False) -> str:
        done = polyculture("run", "exp.toml", *words, cwd=tmp_path, report=report)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def stored() -> tuple[int, int]:
        return rows(tmp_path, f"SELECT count(*) FROM stored_{kind.table}")[0][0], len(server.asked)

    write(tmp_path, server, kind, model)
    run()
    first = stored()
    assert first[0]
    write(tmp_path, server, kind, model, **changed)
    for command in ("plan", "run"):
        refused = polyculture(command, "exp.toml", cwd=tmp_path)
        assert refused.returncode == 2, refused.stdout + refused.stderr
        assert kind.said in refused.stderr
        assert f"To be redone: {first[0]} {kind.unit}" in refused.stderr
        assert "--accept-changes" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    assert stored() == first, "what is refused asks nothing"
    write(tmp_path, server, kind, model, asked=kind.asked.replace(*kind.more))
    run()
    more = stored()
    assert more[0] > first[0], "what only adds answers is asked"
    write(tmp_path, server, kind, model)
    run()
    assert stored() == more, "fewer make nothing again"
    write(tmp_path, server, kind, model, **changed)
    assert "no longer current" in run("--accept-changes")
    accepted = stored()
    assert accepted[0] > more[0]
    write(tmp_path, server, kind, model)
    run(report=True)  # of a folder that has rows of all kinds
    assert stored() == accepted, "what was made before the change is current again"
    assert (tmp_path / "runs" / "asked" / "report.html").exists()
