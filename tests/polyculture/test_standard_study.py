"""The standard study: its file, what it refuses, the control, and a second run."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyculture import __version__
from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import require_run
from polyculture.experiment.sections import StudySection
from polyculture.generate.engines import ModelSpec, check_model
from polyculture.generate.request import PromptRequests
from polyculture.generate.sampling import SamplingSettings
from polyculture.metrics.comparison.study import study_id
from polyculture.running.opening import open_workspace
from polyculture.running.study import STANDARD, STANDARD_VERSION, with_study
from polyculture.running.texts import TextsCall
from tests.polyculture.test_command_line import ROOT, one_line, polyculture
from tests.servers import StubServer
from tests.stages import texts_of
from tests.stored import rows

SMALL = """name = "small"
models = ["openai:a"]
languages = ["en", "ja"]
topics = ["food"]
countries = ["IT"]
conditions = ["neutral", "explicit"]
[variants."openai:a"]
control = {{ sampling_seed = 2 }}
[sampling]
n = 2
max_tokens = 16
[options.openai]
base_url = "{url}"
"""
STUDY = '[study]\nname = "small"\nversion = 1\n'


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer() as one:
        yield one


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("standard")
    done = polyculture("init", "standard.toml", "--preset", "standard", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "standard.toml"


def small(folder: Path, server: StubServer) -> Path:
    """A small study of a file of its own, that states all of its parts."""
    file = folder / "small.toml"
    file.write_text(SMALL.format(url=server.url), encoding="utf-8")
    file.write_text(file.read_text(encoding="utf-8") + STUDY, encoding="utf-8")
    [texts] = texts_of(open_workspace(file))
    texts.state_study()
    return file


def change(file: Path, old: str, new: str) -> None:
    told = file.read_text(encoding="utf-8")
    assert told.count(old) == 1, old
    file.write_text(told.replace(old, new), encoding="utf-8")


def test_the_standard_study_asks_each_model_for_3900_texts(standard: Path) -> None:
    workspace = open_workspace(standard)
    texts = Counter[str]()
    for job in workspace.jobs:
        texts[job.model] += workspace.texts_of(job)
    assert texts == {"openai:gpt-6-luna": 3900, "openai:gpt-6-luna@control": 3900}
    assert len(workspace.prompts) == 780
    planned = polyculture("plan", "standard.toml", cwd=standard.parent)
    assert planned.returncode == 0, planned.stderr
    assert "780 prompts, 5 samples each" in planned.stdout


def test_version_1_asks_what_it_always_asked(standard: Path) -> None:
    """If this fails, prompts or settings have changed: raise the version in `cli/presets/standard`, and write the new
    hash here. Runs of the version before are another study from then on."""
    workspace = open_workspace(standard)
    stated = workspace.experiment.study
    assert stated is not None
    measured = ("extractor", "reader of", "links", "snapshot", "linker")
    asked = {part: value for part, value in stated.parts.items() if not part.startswith(measured)}
    assert (stated.name, stated.version, content_id(asked)) == ("standard", 1, "2de2794affac95b3e55640d8")


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("\nn = 5", "\nn = 6", "n (5 against 6)"),
        ('"food", "music", ', '"food", ', "topics (music against none)"),
        ('\nwith = "openai:gpt-6-luna"', '\nwith = "gazetteer"', "extractor (openai:gpt-6-luna against gazetteer)"),
        ('"prompts in ja" = "', '"prompts in ja" = "0', "prompts in ja"),
    ],
    ids=["samples", "topics", "extractor", "prompts"],
)
def test_a_file_that_differs_from_the_study_is_refused_and_the_part_is_named(
    standard: Path, tmp_path: Path, old: str, new: str, differs: str
) -> None:
    file = tmp_path / "changed.toml"
    file.write_text(standard.read_text(encoding="utf-8"), encoding="utf-8")
    change(file, old, new)
    for command in ("plan", "run"):
        done = polyculture(command, "changed.toml", cwd=tmp_path)
        assert done.returncode == 2
        assert f"changed.toml: [study] is standard, version 1, and the experiment differs from it in {differs}." in (
            " ".join(done.stderr.split())
        )
    assert not (tmp_path / "runs").exists()


def test_other_models_and_their_languages_are_the_same_study(standard: Path, tmp_path: Path) -> None:
    file = tmp_path / "others.toml"
    told = standard.read_text(encoding="utf-8").replace(
        'models = ["openai:gpt-6-luna"]', 'models = ["mock:a", "mock:b"]'
    )
    told = told.replace('[variants."openai:gpt-6-luna"]', '[languages_of]\n"mock:b" = ["en"]\n[variants."mock:a"]')
    file.write_text(told, encoding="utf-8")
    done = polyculture("plan", "others.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    parts = TextsCall(open_workspace(file)).study_parts
    assert parts == TextsCall(open_workspace(standard)).study_parts


def test_a_file_of_the_study_states_all_parts_or_is_not_written(tmp_path: Path) -> None:
    """Without its parts, `plan` took any experiment for the study, and `init` said that the file is there already."""
    run = tmp_path / "runs" / "standard"
    run.mkdir(parents=True)
    (run / "manifest.json").write_text("{}", encoding="utf-8")
    done = polyculture("init", "my study.toml", "--preset", "standard", cwd=tmp_path)
    assert done.returncode == 2
    assert "standard: is a run of format" in " ".join(done.stderr.split())
    assert not (tmp_path / "my study.toml").exists()
    (run / "manifest.json").unlink()
    done = polyculture("init", "my study.toml", "--preset", "standard", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "polyculture plan 'my study.toml'" in " ".join(done.stderr.split())
    text = (tmp_path / "my study.toml").read_text(encoding="utf-8")
    assert "polyculture run 'my study.toml'" in text
    assert "THIS-FILE" not in text
    assert "[study.parts]" in text


def test_a_study_that_another_version_stated_says_so(tmp_path: Path, server: StubServer) -> None:
    file = small(tmp_path, server)
    change(file, f'polyculture = "{__version__}"', 'polyculture = "0.0.9"')
    assert polyculture("plan", "small.toml", cwd=tmp_path).returncode == 0
    change(file, '"linker" = "', '"linker" = "0')
    done = polyculture("plan", "small.toml", cwd=tmp_path)
    assert f"linker. It was stated with Polyculture 0.0.9, and this is {__version__}." in " ".join(done.stderr.split())


def test_a_control_is_asked_with_seeds_of_its_own_and_a_second_run_sends_nothing(
    tmp_path: Path, server: StubServer
) -> None:
    file = small(tmp_path, server)
    done = polyculture("run", "small.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seeds = Counter(body["seed"] for body in server.bodies)
    assert len(server.bodies) == len(seeds) == 2 * 2 * 2 * 2  # models, languages, prompts, samples: no seed twice
    counts = rows(file, "SELECT model, count(*), count(DISTINCT seed) FROM responses GROUP BY ALL ORDER BY ALL")
    assert counts == [("openai:a", 8, 8), ("openai:a@control", 8, 8)]
    first = study_id(require_run(open_workspace(file).run))
    assert polyculture("run", "small.toml", cwd=tmp_path).returncode == 0
    assert len(server.bodies) == 16
    change(file, "control = { sampling_seed = 2 }", 'control = { sampling_seed = 2 }\n[variants."openai:b"]')
    change(file, 'models = ["openai:a"]', 'models = ["openai:a", "openai:b"]')
    assert polyculture("run", "small.toml", cwd=tmp_path).returncode == 0
    assert len(server.bodies) == 24
    assert study_id(require_run(open_workspace(file).run)) == first


def test_a_seed_of_a_model_takes_the_place_of_the_experiments(tmp_path: Path) -> None:
    check_model(ModelSpec("llamacpp:smollm2", {"sampling_seed": 2}))
    one, control, seven = (PromptRequests("m", setup) for setup in ({}, {"sampling_seed": 2}, {"sampling_seed": 7}))
    settings = SamplingSettings(n=2)
    assert one.base_seed("Write.", settings) == settings.base_seed("Write.")
    assert seven.base_seed("Write.", settings) == SamplingSettings(seed=7).base_seed("Write.")
    assert len({each.request_id("Write.", settings) for each in (one, control, seven)}) == 3


def blocks(kind: str) -> list[str]:
    """The fenced blocks of the study's page."""
    page = (ROOT / "docs" / "standard-study.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_the_commands_print(standard: Path, tmp_path: Path) -> None:
    plan, refusal, *_ = blocks("text")
    planned = polyculture("plan", "standard.toml", cwd=standard.parent)
    printed = {line.strip() for line in planned.stdout.splitlines()}
    assert [line for line in plan.splitlines() if line.strip() not in printed] == []
    assert " 132,835    297,599 " in planned.stdout
    assert " 6,328,198  595,198 " in planned.stdout  # of the model and its control
    file = tmp_path / "standard.toml"
    file.write_text(standard.read_text(encoding="utf-8"), encoding="utf-8")
    change(file, "\nn = 5", "\nn = 6")
    change(file, '"food", "music", "clothing"', '"food", "music"')
    refused = polyculture("plan", "standard.toml", cwd=tmp_path)
    assert refused.stderr.split() == refusal.split()
    shown = tomllib.loads(blocks("toml")[-1])["study"]
    stated = tomllib.loads(standard.read_text(encoding="utf-8"))["study"]
    assert len(stated["parts"]) == 37
    assert stated == {**stated, **shown, "parts": {**stated["parts"], **shown["parts"]}}


def test_a_study_states_all_of_its_parts_or_is_refused(tmp_path: Path, server: StubServer) -> None:
    """A [study] without parts took any experiment for the study, and so did an unknown version of the standard one."""
    file = small(tmp_path, server)
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole.partition("[study.parts]")[0], encoding="utf-8")
    done = polyculture("plan", "small.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "states none of its parts" in one_line(done)
    assert "polyculture plan small.toml --state-study" in one_line(done)
    assert polyculture("plan", "small.toml", "--state-study", cwd=tmp_path).returncode == 0
    assert file.read_text(encoding="utf-8") == whole
    file.write_text(whole.replace('name = "small"\nversion = 1', f'name = "{STANDARD}"\nversion = 7'), encoding="utf-8")
    done = polyculture("plan", "small.toml", cwd=tmp_path)
    assert f"knows version {STANDARD_VERSION} of it alone" in one_line(done)
    done = polyculture("plan", "small.toml", "--state-study", cwd=tmp_path)
    assert "Give your study a name of its own" in one_line(done)


def test_the_standard_study_states_no_part_less(standard: Path, tmp_path: Path) -> None:
    lines = standard.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "less.toml").write_text("".join(one for one in lines if not one.startswith('"prompts in ja"')))
    done = polyculture("plan", "less.toml", cwd=tmp_path)
    assert "[study] is standard, version 1, and does not state prompts in ja" in one_line(done)


def test_a_study_that_is_stated_again_gets_its_next_version_if_a_part_differs(
    tmp_path: Path, server: StubServer
) -> None:
    file = small(tmp_path, server)
    whole = file.read_text(encoding="utf-8")
    own, _, study = whole.partition("[study]")
    file.write_text(
        f'{own.replace("n = 2", "n = 3", 1)}[study]{study}[model_facts."openai:a"]\nopen = true\n', encoding="utf-8"
    )
    assert "n (2 against 3)" in one_line(polyculture("plan", "small.toml", cwd=tmp_path))
    done = polyculture("plan", "small.toml", "--state-study", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[study] is small, version 2" in done.stderr
    stated = open_workspace(file).experiment.study
    assert stated is not None
    assert (stated.version, stated.parts["n"]) == (2, "3")
    assert "[model_facts." in file.read_text(encoding="utf-8")
    assert polyculture("plan", "small.toml", cwd=tmp_path).returncode == 0


def test_a_file_whose_study_is_no_table_of_its_own_is_not_changed() -> None:
    study = StudySection(name="own", version=1, parts={"n": "2"})
    assert tomllib.loads(with_study('a = """\nb\n"""\n', study))["study"]["parts"] == {"n": "2"}
    for text in ('study = { name = "own", version = 1 }\n', 'a = """\n[study]\nb\n"""\n[c]\nd = 1\n'):
        with pytest.raises(ValueError, match="table of its own"):
            with_study(text, study)
