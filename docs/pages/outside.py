"""Brings into the site what the pages of docs/ link to outside docs/.

Links between files are written as a forge follows them: `../CONTRIBUTING.md` from a page of docs/ lies beside docs/. In
the site such a file is a page of the folder `repository/`; a link to a file that is no Markdown is its path in plain
type. MkDocs calls the functions by their names: https://www.mkdocs.org/dev-guide/plugins/#events
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ELSEWHERE = "repository/"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for each file outside docs/ that a page links to, those that such pages link to, too."""
    root = Path(config.docs_dir).parent
    left = [(f"docs/{page.src_uri}", page.content_string) for page in files.documentation_pages()]
    while left:
        place, text = left.pop()
        for *_, target in LINK.findall(CODE.sub("", text)):
            name = _elsewhere(place, target)
            if name is None or not name.endswith(".md") or files.get_file_from_path(ELSEWHERE + name):
                continue
            if (root / name).is_file():
                content = (root / name).read_text(encoding="utf-8")
                added = File.generated(config, ELSEWHERE + name, content=content, inclusion=InclusionLevel.NOT_IN_NAV)
                files.append(added)
                left.append((name, content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links that leave docs/ to the pages added above."""
    uri = page.file.src_uri
    place = uri.removeprefix(ELSEWHERE) if uri.startswith(ELSEWHERE) else f"docs/{uri}"

    def turned(found: re.Match[str]) -> str:
        picture, text, target = found.groups()
        if picture or _is_address(target):
            return found.group()
        path, _, anchor = target.partition("#")
        name = posixpath.normpath(posixpath.join(posixpath.dirname(place), path)) if path else place
        inside = name.removeprefix("docs/") if name.startswith("docs/") else ELSEWHERE + name
        if not files.get_file_from_path(inside):
            exists = (Path(config.docs_dir).parent / name).exists()
            return f"{text} (`{name}`)" if exists and not name.startswith("docs/") else found.group()
        relative = posixpath.relpath(inside, posixpath.dirname(uri) or ".")
        return f"[{text}]({relative}{'#' + anchor if anchor else ''})"

    pieces, at = [], 0
    for code in CODE.finditer(markdown):
        pieces += [LINK.sub(turned, markdown[at : code.start()]), code.group()]
        at = code.end()
    return "".join([*pieces, LINK.sub(turned, markdown[at:])])


def _elsewhere(place: str, target: str) -> str | None:
    """The file of the repository that a link on the page `place` means, if it lies outside docs/."""
    path = target.partition("#")[0]
    if not path or _is_address(target):
        return None
    name = posixpath.normpath(posixpath.join(posixpath.dirname(place), path))
    return None if name.startswith(("docs/", "../")) else name


def _is_address(target: str) -> bool:
    return bool(re.match(r"[a-z][a-z0-9+.-]*:|//", target))
