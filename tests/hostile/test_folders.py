"""Folders that are not ours stay, and no text of a rules file runs a command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from polyculture.cache.errors import CatalogError, DataSetError, StoreError
from polyculture.cache.files import claim_folder, is_folder_name, remove_folder
from polyculture.instruments.datasets.rules import SHELF, DatasetRules, rules_of
from polyculture.sources.fetch import SOURCE, SUMS, check_as_received, data_folder, fetch, fetched_commit, git_address

RULES = """
name = "{name}"
title = "T"
licence = "none"
repository = "{repository}"
commit = "{commit}"
[[entities]]
files = "*.csv"
text = "entity"
fixed.culture = "Arab"
fixed.type = "food"
fixed.language = "en"
"""


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def publisher(tmp_path: Path) -> Path:
    folder = tmp_path / "publisher"
    folder.mkdir()
    (folder / "a.csv").write_text("entity\nramen\n", encoding="utf-8")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "data")
    return folder


def rules_at(tmp_path: Path, publisher: Path, **keys: str) -> DatasetRules:
    values = {"name": "x", "repository": str(publisher), "commit": git(publisher, "rev-parse", "HEAD"), **keys}
    file = tmp_path / "rules.toml"
    file.write_text(RULES.format(**values), encoding="utf-8")
    return SHELF.read(file)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_with_somebodys_files_is_left_alone(tmp_path: Path, publisher: Path) -> None:
    home = tmp_path / "home"
    (home / "thesis").mkdir(parents=True)
    (home / "thesis" / "chapter.tex").write_text("years of work")
    before = contents(home)
    with pytest.raises(DataSetError, match=r"Move.*away"):
        fetch(rules_at(tmp_path, publisher), home)
    assert contents(home) == before


@pytest.mark.parametrize("forged", ["SOURCE only", "sums only", "both, of another"])
def test_files_that_are_called_like_ours_are_no_marker(tmp_path: Path, publisher: Path, forged: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "chapter.tex").write_text("years of work")
    if forged != "sums only":
        (home / SOURCE).write_text(f"/somewhere {'a' * 40}\n")
    if forged != "SOURCE only":
        (home / SUMS).write_text(f"{'0' * 64}  chapter.tex\n{'0' * 64}  SOURCE\n")
    before = contents(home)
    with pytest.raises(DataSetError):
        fetch(rules_at(tmp_path, publisher), home)
    assert contents(home) == before


def test_what_was_fetched_is_replaced_and_a_file_beside_it_is_not(tmp_path: Path, publisher: Path) -> None:
    rules, target = rules_at(tmp_path, publisher), tmp_path / "got"
    target.mkdir()  # empty: nothing is lost
    commit = fetch(rules, target)
    assert fetched_commit(target) == commit
    (target / "a.csv").write_text("changed")
    fetch(rules, target)
    check_as_received(target)
    (target / "notes.txt").write_text("mine")
    with pytest.raises(DataSetError, match=r"'notes\.txt'.*fetched"):
        fetch(rules, target)
    assert (target / "notes.txt").read_text() == "mine"
    assert not [path for path in tmp_path.iterdir() if "arriving" in path.name]


def test_a_link_to_a_folder_is_left_alone(tmp_path: Path, publisher: Path) -> None:
    rules, real = rules_at(tmp_path, publisher), tmp_path / "real"
    fetch(rules, real)
    (tmp_path / "link").symlink_to(real)
    with pytest.raises(DataSetError, match=r"folder.*fetched"):
        fetch(rules, tmp_path / "link")
    check_as_received(real)


def test_a_folder_that_is_called_like_the_passing_one_is_left_alone(tmp_path: Path, publisher: Path) -> None:
    passing = tmp_path / ".got.arriving"
    passing.mkdir()
    (passing / "mine.txt").write_text("mine")
    fetch(rules_at(tmp_path, publisher), tmp_path / "got")
    assert (passing / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "name",
    [
        "../../victim",
        "/etc",
        "..",
        ".",
        ".hidden",
        "-x",
        "a/b",
        "a\\\\b",
        "",
        "a\\nb",
        "a\\u0000b",
        "ラーメン",
        "a" * 101,
    ],
)
def test_a_rules_file_names_no_place_outside_the_cache(tmp_path: Path, publisher: Path, name: str) -> None:
    with pytest.raises(CatalogError, match="name"):
        rules_at(tmp_path, publisher, name=name)


@pytest.mark.parametrize("name", ["../../victim", "..", "", "a/b", "-x"])
def test_no_name_leads_out_of_the_cache(name: str) -> None:
    assert not is_folder_name(name)
    with pytest.raises(DataSetError, match="no name"):
        data_folder(name)
    with pytest.raises(DataSetError):
        rules_of(f"own:{name}")
    with pytest.raises(DataSetError):
        rules_of(name)


@pytest.mark.parametrize(
    "address",
    [
        "--upload-pack=touch {ran}", "-u touch {ran}", "ext::sh -c touch% {ran}", "fd::17",
        "ssh://-oProxyCommand=touch {ran}/x",
        "git@example.org:a/b", "ssh://example.org/a", "http://example.org/a", "git://example.org/a", "ftp://example.org/a",
        "https://", "https:///a", "https://example.org:port/a", "https://example.org/a b",
        "https://user:pass@example.org/a",
        "file:///no/such/folder", "/no/such/folder", "", "https://[", "https://example.org/\n--x", "::https://example.org",
    ],
)  # fmt: skip
def test_an_address_that_is_neither_https_nor_a_folder_reaches_no_git(
    tmp_path: Path, publisher: Path, address: str
) -> None:
    ran, rules = tmp_path / "ran", rules_at(tmp_path, publisher)
    with pytest.raises(DataSetError) as fault:
        fetch(rules, tmp_path / "got", repository=address.format(ran=ran) or " ")
    assert "pass@" not in str(fault.value)
    assert not ran.exists()
    assert not (tmp_path / "got").exists()


def test_https_and_folders_are_addresses(tmp_path: Path) -> None:
    assert git_address("https://example.org:8443/a.git") == "https://example.org:8443/a.git"
    assert git_address(str(tmp_path)) == git_address(f"file://{tmp_path}") == str(tmp_path.resolve())


def test_a_folder_that_is_called_like_an_option_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "--upload-pack=x").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataSetError):
        git_address("--upload-pack=x")


def test_git_runs_nothing_of_the_environment_or_the_users_configuration(
    tmp_path: Path, publisher: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, hooks, home = tmp_path / "ran", tmp_path / "hooks", tmp_path / "home"
    hooks.mkdir()
    home.mkdir()
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (hooks / "post-checkout").chmod(0o700)
    (home / ".gitconfig").write_text(f"[core]\n\thooksPath = {hooks}\n")
    rules = rules_at(tmp_path, publisher)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(hooks))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(hooks))
    fetch(rules, tmp_path / "got")
    assert not ran.exists()
    assert not (tmp_path / "elsewhere").exists()
    assert sorted(contents(tmp_path / "got")) == [SUMS, SOURCE, "a.csv"]


def test_a_link_in_a_repository_arrives_as_a_plain_file(tmp_path: Path, publisher: Path) -> None:
    (publisher / "b.csv").symlink_to("/etc/passwd")
    git(publisher, "add", ".")
    git(publisher, "commit", "--quiet", "-m", "link")
    fetch(rules_at(tmp_path, publisher), tmp_path / "got")
    assert not (tmp_path / "got" / "b.csv").is_symlink()
    assert (tmp_path / "got" / "b.csv").read_text() == "/etc/passwd"


@pytest.mark.parametrize("source", ["", "x", "a\nb", "\0"])
def test_a_source_that_is_not_ours_is_no_commit(tmp_path: Path, source: str) -> None:
    (tmp_path / SOURCE).write_text(source)
    assert fetched_commit(tmp_path) is None


@pytest.mark.parametrize("sums", ["nonsense", "0  a", f"{'0' * 64} a"])
def test_sums_that_are_not_ours_are_one_line(tmp_path: Path, sums: str) -> None:
    (tmp_path / SUMS).write_text(f"{sums}\n")
    with pytest.raises(DataSetError, match="not written"):
        check_as_received(tmp_path)


def test_a_passing_folder_is_claimed_and_anothers_is_not(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    claim_folder(ours)
    claim_folder(ours)
    (ours / "sub").mkdir()
    (ours / "link").symlink_to(tmp_path)
    remove_folder(ours)
    assert not ours.exists()
    theirs.mkdir()
    (theirs / "thesis.tex").write_text("years of work")
    for act in (claim_folder, remove_folder):
        with pytest.raises(StoreError, match="did not make it"):
            act(theirs)
    assert [path.name for path in theirs.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    "pattern", ["{type}{type}.csv", "{culture}/{topic}.csv", "{}.csv", "*a*b*c*d*.csv", "{type}*{culture}*{form}.csv"]
)
def test_a_pattern_that_would_take_for_ever_is_refused(tmp_path: Path, pattern: str) -> None:
    file = tmp_path / "rules.toml"
    said = RULES.format(name="x", repository="https://example.org/x", commit="0" * 40)
    file.write_text(said.replace("*.csv", pattern), encoding="utf-8")
    with pytest.raises(CatalogError, match=r"rules\.toml: entities\.0(\.|: )files"):
        SHELF.read(file)
