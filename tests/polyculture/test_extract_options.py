"""`[extract]`: a sample of each prompt's texts is read, and a prompt of the study's own is a part of what is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.errors import ChangedExperimentError
from polyculture.running.opening import open_workspace
from polyculture.running.run_status import run_status
from tests.polyculture.test_command_line import one_line, polyculture
from tests.stages import do_stages, prepare

EXPERIMENT = """
name = "some"
models = ["mock:a"]
languages = ["en"]
topics = ["food"]
countries = ["US"]
[sampling]
n = 3
[extract]
with = "{extractor}"
{more}
"""


def write(tmp_path: Path, more: str, extractor: str = "mock:reader") -> Path:
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT.format(extractor=extractor, more=more), encoding="utf-8")
    return file


def counts(file: Path) -> tuple[str, bool]:
    """Responses, extractions that count and those in `health`, as CSV; and whether nothing is left of any stage."""
    query = "SELECT (SELECT count(*) FROM responses), (SELECT count(*) FROM extractions), sum(extracted) FROM health"
    done = polyculture("sql", file, query, "--format", "csv", cwd=file.parent)
    return done.stdout.splitlines()[-1], not any(status.count.left for status in run_status(open_workspace(file)).jobs)


def extract(file: Path) -> None:
    do_stages(file, "generate", "extract")


def test_what_is_beyond_the_sample_is_not_asked_and_not_missing(tmp_path: Path) -> None:
    extract(write(tmp_path, "sample = 1"))
    file = tmp_path / "exp.toml"
    assert counts(file) == ("12,4,4", True)
    extract(write(tmp_path, "sample = 2"))
    assert counts(file) == ("12,8,8", True)
    extract(write(tmp_path, ""))
    assert counts(file) == ("12,12,12", True)
    extract(write(tmp_path, "sample = 1"))
    assert counts(file) == ("12,4,4", True), "what was read beyond the sample does not count"


def test_texts_that_are_no_longer_asked_for_are_not_read_again(tmp_path: Path) -> None:
    """Their extractions were counted as lost where as many other texts waited in the same job."""
    file = write(tmp_path, "")
    extract(file)
    two = file.read_text(encoding="utf-8").replace('["US"]', '["US", "KR"]')
    file.write_text(two, encoding="utf-8")
    do_stages(file, "generate")
    file.write_text(two.replace('["US", "KR"]', '["KR"]'), encoding="utf-8")
    prepare(open_workspace(file))  # is not refused
    extract(file)
    responses, extractions, _ = counts(file)[0].split(",")
    assert responses == extractions
    changed = two.replace('["US", "KR"]', '["US"]').replace("[extract]", "[extract]\nmax_tokens = 77")
    file.write_text(changed, encoding="utf-8")
    with pytest.raises(ChangedExperimentError, match="extractions"):
        prepare(open_workspace(file))


@pytest.mark.parametrize(
    ("more", "extractor", "told"),
    [
        ('prompt = "none.txt"', "mock:reader", "none.txt: extract.prompt cannot be read"),
        ('prompt = "bad.txt"', "mock:reader", "$sorts, which nothing fills in"),
        ("sample = 2", "gazetteer", "for a model alone"),
        ("sample = 0", "mock:reader", "extract.sample: must be 1 or more"),
    ],
)
def test_a_bad_option_is_one_line(tmp_path: Path, more: str, extractor: str, told: str) -> None:
    (tmp_path / "bad.txt").write_text("Find $sorts", encoding="utf-8")
    write(tmp_path, more, extractor)
    assert told in one_line(polyculture("plan", "exp.toml", cwd=tmp_path))


def test_the_prompt_that_is_sent_is_shown(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("List what is eaten:\n$kinds", encoding="utf-8")
    write(tmp_path, 'prompt = "own.txt"')
    shown = polyculture("prompts", "exp.toml", "--extractor", cwd=tmp_path).stdout
    assert "List what is eaten:\n- dish: " in shown


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("max_tokens = 777", "extract.max_tokens was not set and is now 777"),
        ('prompt = "other.txt"', "extract.prompt was not set and is now 'other.txt'"),
    ],
)
def test_what_a_model_would_extract_again_is_refused_first(tmp_path: Path, more: str, told: str) -> None:
    (tmp_path / "other.txt").write_text("List what is eaten:\n$kinds", encoding="utf-8")
    extract(write(tmp_path, ""))
    file = write(tmp_path, more)
    with pytest.raises(ChangedExperimentError) as fault:
        prepare(open_workspace(file))
    assert told in str(fault.value)
    assert "12 extractions" in str(fault.value)
    do_stages(file, "extract", accept_changes=True)
    assert counts(file) == ("12,12,12", True)


def test_a_prompt_whose_text_has_changed_is_another_one(tmp_path: Path) -> None:
    prompt = tmp_path / "own.txt"
    prompt.write_text("List what is eaten:\n$kinds", encoding="utf-8")
    extract(write(tmp_path, 'prompt = "own.txt"'))
    prompt.write_text("List what is drunk:\n$kinds", encoding="utf-8")
    with pytest.raises(ChangedExperimentError, match="food: the prompt has another text"):
        prepare(open_workspace(tmp_path / "exp.toml"))
