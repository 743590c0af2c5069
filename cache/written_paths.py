"""Paths that people write: in a file they are relative to the file's folder, on a command line to the shell's.

class MyOptions(BaseModel):
    words: FilePath                     # a file or folder of the user's
    encoder: NameOrFolder = "minilm"    # a name, or the user's folder
    data: NameOrRules = "camel"         # a name, or the user's TOML file

MyOptions.model_validate(values, context=WrittenOptions(file.parent))       # as an experiment file says them
MyOptions.model_validate(values)                                            # as somebody typed them
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, PlainSerializer, ValidationInfo

_OF_LANGUAGE = re.compile(r"([a-z]{2,3}(?:-\w+)*=)(.+)")  # LANGUAGE=NAME
_RULES = ".toml"


@dataclass
class WrittenOptions:
    """Where the values of options were written, as the context of pydantic.

    Values are a file's, in `folder`, but for the options in `typed`, which a user typed. The check adds to `paths` what
    each option of the file names, by option.
    """

    folder: Path
    typed: Collection[str] = ()
    section: Collection[str] = ()  # the options that the file says of this command alone
    paths: dict[str, list[Path]] = field(default_factory=dict)

    @property
    def meant(self) -> Collection[str]:
        """The options that must have an effect: what is typed may leave some of the file's without one."""
        return self.typed or self.section


def whole_path(written: str | Path, folder: Path) -> Path:
    """A path as somebody wrote it in a file of `folder`; `~` is the user's home."""
    return folder / Path(written).expanduser()


def whole_name(written: str, folder: Path) -> str:
    """A name; or the whole path of what exists under it, as seen from `folder`, or is no name but a path."""
    place = whole_path(written, folder)
    return str(place.absolute()) if place.exists() or written.startswith(("/", ".", "~")) else written


def name_in(name: str, folder: Path) -> str:
    """The name of a whole path as seen from `folder`, if it lies in it: tables hold no place of one machine."""
    path, inside = Path(name), folder.absolute()
    return path.relative_to(inside).as_posix() if path.is_absolute() and path.is_relative_to(inside) else name


def _placed(path: Path, info: ValidationInfo) -> Path:
    return _note(whole_path(path, _folder(info)), info)


def _folder_or_name(word: str, info: ValidationInfo) -> str:
    of_language = _OF_LANGUAGE.fullmatch(word)
    language, name = of_language.groups() if of_language else ("", word)
    placed = whole_name(name, _folder(info))
    if placed != name:
        _note(Path(placed), info)
    return f"{language}{placed}"


def _rules_or_name(word: str, info: ValidationInfo) -> str:
    """'rules.toml', 'rules.toml:SELECTION', or a name."""
    name, colon, selection = word.partition(f"{_RULES}:") if f"{_RULES}:" in word else (word, "", "")
    if not (colon or name.endswith(_RULES)):
        return word
    file = _note(whole_path(f"{name.strip()}{_RULES if colon else ''}", _folder(info)).absolute(), info)
    return f"{file}:{selection}" if colon else str(file)


def _rules_or_names(words: str, info: ValidationInfo) -> str:
    return ",".join(_rules_or_name(word, info) for word in words.split(","))


def _folder(info: ValidationInfo) -> Path:
    written = info.context
    return written.folder if isinstance(written, WrittenOptions) and info.field_name not in written.typed else Path()


def _note(path: Path, info: ValidationInfo) -> Path:
    written = info.context
    if isinstance(written, WrittenOptions) and info.field_name not in written.typed:
        written.paths.setdefault(str(info.field_name), []).append(path)
    return path


# What a run keeps of options is read from any folder: JSON has whole paths.
FilePath = Annotated[
    Path, AfterValidator(_placed), PlainSerializer(lambda path: str(path.absolute()), str, when_used="json")
]
NameOrFolder = Annotated[str, AfterValidator(_folder_or_name)]  # a tagger, an encoder; also LANGUAGE=NAME
NameOrRules = Annotated[str, AfterValidator(_rules_or_name)]
NamesOrRules = Annotated[str, AfterValidator(_rules_or_names)]  # several with commas
