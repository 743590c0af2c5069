"""The contact that Wikimedia requires of every client: an e-mail address or a page, sent in the User-Agent."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version

import httpx

_ADDRESS = re.compile(r"[^\s@<>()]+@[^\s@<>()]+\.[A-Za-z0-9-]{2,}")
_PAGE = re.compile(r"https?://[^\s/()]+\.[^\s()]+")


def is_contact(text: str) -> bool:
    """Is it an e-mail address or the URL of a page, in ASCII, and nothing else?"""
    plain = text.strip()
    return plain.isascii() and any(form.fullmatch(plain) for form in (_ADDRESS, _PAGE))


def user_agent(contact: str) -> str:
    """The User-Agent header: name and version, contact, HTTP library."""
    try:
        ours = version("polyculture")
    except PackageNotFoundError:
        ours = "0"
    return f"Polyculture/{ours} ({contact.strip()}) httpx/{httpx.__version__}"
