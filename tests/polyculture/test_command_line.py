"""The front door: what a user gets wrong ends in one line, exit code 2, and nothing lost."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import polyculture as package
from polyculture.__main__ import main
from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import UserError
from polyculture.cli.init import PRESETS, TEMPLATE, init
from polyculture.experiment.file import read_experiment
from polyculture.generate.engines.openai.hosted import HOSTED
from polyculture.progress import Rate
from polyculture.running.call_list import calls_in_file, check_asks
from polyculture.running.opening import open_workspace
from tests.stages import check, without_report

ROOT = Path(__file__).parents[2]

EXPERIMENT = """
name = "small"
models = ["{model}"]
languages = ["en"]
topics = ["food"]
countries = ["IT", "JP"]
[sampling]
n = 2
max_tokens = 16
[options.openai]
base_url = "{url}"
"""


def polyculture(
    *words: str | Path, cwd: Path, report: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command line to its end, in this process: seconds faster than in one of its own.

    A command that ends in a report writes it where the test says so: it takes half of the time of a small run. The
    command `report` always does.
    """
    out, err = io.StringIO(), io.StringIO()
    written = contextlib.nullcontext() if report or words[:1] == ("report",) else without_report()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(cwd), written:
        patch.setattr(sys, "argv", ["polyculture", *map(str, words)])
        for name, value in environment.items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
            main()
    return subprocess.CompletedProcess([*words], int(end.value.code or 0), out.getvalue(), err.getvalue())


def polyculture_process(*words: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line as a user runs it: for tests of how it starts and ends, and of what it does beside others."""
    command, variables = _command(words, environment)
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=550, env=variables)


def start_polyculture(
    *words: str | Path, cwd: Path, stdout: int = subprocess.DEVNULL, stderr: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """The command line, left running. Ctrl-C reaches it even where the tests run as a shell's background job."""
    command, variables = _command(words, {})
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a child inherits only whether it is ignored
    try:
        return subprocess.Popen(command, cwd=cwd, stdout=stdout, stderr=stderr, env=variables)
    finally:
        signal.signal(signal.SIGINT, before)


def _command(words: Sequence[str | Path], environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    return [sys.executable, "-m", "polyculture", *map(str, words)], {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        **environment,
    }


def one_line(result: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """The one line that a user's mistake ends in, or a service's systematic fault (6).

    How long a model loads hangs on the machine: on a busy one lines say that it is still being loaded, and then is.
    """
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    loading = re.compile(": still being loaded$")
    lines = [line for line in result.stderr.strip().splitlines() if not loading.search(line)]
    assert len(lines) == 1, result.stderr
    return lines[0]


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT.format(model="openai:any", url="http://127.0.0.1:9/v1"), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("runn", "exp.toml"), "'runn'. Did you mean 'run'? See:"),
        (("zzzz",), "'zzzz'. See:"),
        (("swap", "sentimet"), "'sentimet'. Did you mean 'sentiment'? See:"),
        (("status", "exp.toml", "--format", "jsn"), "'parquet'. Did you mean 'json'? See:"),
        (("run", "exp.toml", "--acept-changes"), "--acept-changes. Did you mean '--accept-changes'? See:"),
        (("run", "exp.toml", "--zzzz"), "--zzzz. See:"),
    ],
)
def test_a_misspelt_command_choice_or_flag_leads_to_the_one_that_is_meant(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    assert said in one_line(polyculture(*words, cwd=tmp_path))


def checked(file: Path) -> None:
    """What `run` checks before it asks anything."""
    workspace = open_workspace(file)
    check_asks(workspace, calls_in_file(workspace))
    check(workspace)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[sampling]", '[languages_of]\n"openai:anny" = ["en"]\n[sampling]', "Did you mean 'openai:any'?"),
        ("[sampling]", '[languages_of]\n"openai:any" = ["ja"]\n[sampling]', "'ja' is none of the languages"),
        ('name = "small"', 'name = "small"\nsamples = 2', "Did you mean 'n' under [sampling]?"),
        ('name = "small"', 'name = "small"\nn = 2', "Write 'n' under [sampling]."),
        ("n = 2", 'n = 2\nnotes = ["a"]', "Write 'notes' at the top of the file"),
        ("openai:any", "gpt-4o", "names no engine"),
        ('topics = ["food"]', "", "names no topics: prompts are made of them, and only instruments do without. Add"),
        ('countries = ["IT", "JP"]', "countries = []", 'Add, for example, countries = ["JP"]'),
        ("n = 2", "n = = 2", "not valid TOML"),
        ('name = "small"', 'name = "../small"', "name"),
        ('languages = ["en"]', 'languages = ["en", "en"]', "names en twice"),
        ('name = "small"', 'name = "small"\npreset = "makievl"', "Did you mean 'makieval'?"),
        ("openai:any", "llama3.1:8b", "Did you mean 'ollama:llama3.1:8b'?"),
        ("[sampling]", 'conditions = ["baseline"]\n[sampling]', "conditions.0: must be 'neutral'"),
        ("[sampling]", "[link]\nsnapshot = 'none.duckdb'\n[sampling]", "none.duckdb"),
        (
            "[sampling]",
            "[link]\nsnapshot = 'x.duckdb'\nfill = true\ncontact = 'me'\n[sampling]",
            "'me' is neither an e-mail address",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_place(experiment: Path, before: str, after: str, said: str) -> None:
    text = experiment.read_text(encoding="utf-8")
    assert before in text
    experiment.write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(UserError) as told:
        checked(experiment)
    line = str(told.value)
    assert "\n" not in line
    assert said in line
    assert str(experiment) in line
    assert not (experiment.parent / "runs").exists()


def test_windows_is_refused_in_one_line_before_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There, `os.kill(process, 0)` ends the process that a lock's holder is looked for by."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delitem(vars(package), "open", raising=False)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "WSL2" in capsys.readouterr().err
    with pytest.raises(ImportError, match="WSL2"):
        package.open(tmp_path)


def test_a_folder_is_no_experiment_file(tmp_path: Path) -> None:
    assert "is a folder, not an experiment file" in one_line(polyculture("plan", ".", cwd=tmp_path))


def test_a_file_that_is_not_there_says_how_to_write_one(tmp_path: Path) -> None:
    assert "polyculture init" in one_line(polyculture_process("run", "none.toml", cwd=tmp_path))


def test_a_closed_port_is_named(experiment: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    text = experiment.read_text(encoding="utf-8").replace(":9/", f":{port}/")
    experiment.write_text(text, encoding="utf-8")
    assert f"127.0.0.1:{port}" in one_line(
        polyculture("run", "--only", "generate", experiment, cwd=experiment.parent), code=6
    )


def test_a_missing_key_names_the_variable_and_prints_no_key(experiment: Path) -> None:
    text = experiment.read_text(encoding="utf-8").split("[options.openai]")[0]
    experiment.write_text(text, encoding="utf-8")
    result = polyculture("run", "--only", "generate", experiment, cwd=experiment.parent, OPENAI_API_KEY="")
    assert "OPENAI_API_KEY" in one_line(result)


def test_a_file_that_is_no_gguf_is_named(experiment: Path) -> None:
    (experiment.parent / "model.gguf").write_text("<html>Not found</html>")
    text = experiment.read_text(encoding="utf-8").replace("openai:any", f"llamacpp:{experiment.parent}/model.gguf")
    experiment.write_text(text, encoding="utf-8")
    assert "model.gguf" in one_line(polyculture("run", "--only", "generate", experiment, cwd=experiment.parent))


def test_a_folder_that_cannot_be_written_is_named(experiment: Path) -> None:
    (experiment.parent / "runs").write_text("a file where the folder must be")
    assert "runs" in one_line(polyculture("run", "--only", "generate", experiment, cwd=experiment.parent))


def test_init_writes_an_experiment_that_plan_accepts(tmp_path: Path) -> None:
    assert polyculture_process("init", "mine.toml", cwd=tmp_path).returncode == 0
    planned = polyculture("plan", "mine.toml", cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    assert "pilot" in planned.stdout
    assert not (tmp_path / "runs").exists()
    assert "there already" in one_line(polyculture("init", "mine.toml", cwd=tmp_path))


def test_init_asks_the_small_model_for_the_language_that_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polyculture.generate.engines.openai.kind.LOCAL", {})  # no server is looked for
    init(tmp_path / "mine.toml")
    asked = open_workspace(tmp_path / "mine.toml").experiment
    assert (list(asked.models), list(asked.languages)) == (["llamacpp:smollm2"], ["en"])


def test_the_hosted_model_of_init_is_asked_without_reasoning_and_is_that_of_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its maker ends models: what init writes and what pages name is one constant, and its options go with it."""
    monkeypatch.setattr("polyculture.generate.engines.openai.kind.LOCAL", {})  # no server is looked for
    monkeypatch.setattr("polyculture.cli.init.find_spec", lambda _: None)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    init(tmp_path / "hosted.toml")
    written = read_experiment(tmp_path / "hosted.toml")
    for experiment in (written, read_experiment(PRESETS / "camel-texts" / "experiment.toml")):
        assert experiment.models == (HOSTED,)
        assert experiment.model_spec(HOSTED).options["extra_body"] == {"reasoning_effort": "none"}
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "polyculture" / "cli").rglob("*.toml")]
    named = {
        (page.name, name) for page in pages for name in re.findall(r"openai:gpt-[\w.-]*\w", page.read_text("utf-8"))
    }
    others = {(page, name) for page, name in named if name != HOSTED}
    priced = {("statistics.md", "openai:gpt-6-sol"), ("standard-study.md", "openai:gpt-6-sol")}
    assert others == priced, "pages name the model that init writes, or none that ends"


def test_the_readme_shows_what_init_writes() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.partition("```toml\n")[2].partition("\n```")[0]
    assert tomllib.loads(block) == tomllib.loads(TEMPLATE.read_text(encoding="utf-8"))


def test_what_init_writes_says_how_many_languages_there_are() -> None:
    [line] = [one for one in TEMPLATE.read_text(encoding="utf-8").splitlines() if one.startswith("languages = ")]
    named, more = re.fullmatch(r".*# ([a-z -]+); (\d+) more, and yours: docs/experiments\.md", line).groups()  # type: ignore[union-attr]
    known = read_catalog().languages
    assert known.keys() >= set(named.split())
    assert len(known) == len(named.split()) + int(more)


def test_names_of_languages_and_countries_are_taken_for_their_codes(experiment: Path) -> None:
    text = experiment.read_text(encoding="utf-8").replace('["en"]', '["english", "Deutsch"]')
    experiment.write_text(text.replace('["IT", "JP"]', '["USA", "Japón", "uk"]'), encoding="utf-8")
    asked = open_workspace(experiment).experiment
    assert (asked.languages, asked.countries) == (("en", "de"), ("US", "JP", "GB"))
    assert "Did you mean 'en'?" in one_line(polyculture("run", experiment, "--language", "english", cwd=ROOT))


def test_sql_before_any_run_says_what_to_do(experiment: Path) -> None:
    assert "polyculture run" in one_line(polyculture("sql", experiment, "select 1", cwd=experiment.parent))


def test_a_snapshot_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.duckdb").write_text("the work of a night")
    line = one_line(polyculture("wikidata", "build", "dump.json", "-o", "mine.duckdb", cwd=tmp_path))
    assert "mine.duckdb" in line
    assert "--replace" in line
    assert (tmp_path / "mine.duckdb").read_text() == "the work of a night"


CTRL_C_WHILE_LOADING = """
import sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == "polyculture.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from polyculture.__main__ import main
main()
"""


def test_ctrl_c_while_the_commands_are_loaded_is_one_line() -> None:
    command = [sys.executable, "-c", CTRL_C_WHILE_LOADING]
    stopped = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=550, check=False)
    assert stopped.returncode == 130
    assert stopped.stderr.splitlines() == ["polyculture: stopped; the same command resumes"]


def test_pace_counts_what_this_process_did() -> None:
    """The rate once counted what earlier runs had done, then the time in which nothing was finished yet."""
    moments = iter([0.0, 10.0, 50.0, 100.0, 150.0, 150.0])
    pace = Rate(10_000, clock=lambda: next(moments))
    assert pace.tell(4_000) == ""
    assert pace.tell(4_000) == ""
    assert pace.tell(4_001) == ""
    assert pace.tell(4_051) == "1.0 a second, 1 h 39 min left"
    assert pace.tell(9_901) == "59.0 a second, 2 s left"
    assert pace.tell(10_000) == "60.0 a second, 0 s left"


def test_the_help_of_a_group_s_own_command_has_the_name_of_the_group(tmp_path: Path) -> None:
    """It was `polyculture probe stage`, which is no command."""
    for words in (["probe", "blend"], ["prompts", "exp.toml"]):
        done = polyculture(*words, "--help", cwd=tmp_path)
        assert f"polyculture {words[0]} [OPTIONS] " in done.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "help_of"),
    [(["link", "exp.toml"], "link"), (["run", "--modle", "x"], "run"), (["data", "check"], "data check")],
)
def test_a_wrong_command_line_names_the_help_that_says_what_is_right(
    words: list[str], help_of: str, tmp_path: Path
) -> None:
    done = polyculture(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip().endswith(f"polyculture {help_of} --help")
