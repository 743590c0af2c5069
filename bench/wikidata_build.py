"""How fast a snapshot is built from a Wikidata dump, all told: unpacked, read, folded, written, sorted.

    python -m bench.wikidata_build            # both dumps, some minutes
    python -m bench.wikidata_build real 400   # one of them, with so many megabytes of JSON

Two dumps are made of the real data beside the checkout. `slice` is the slice of 193,325 items over and over, with new
item numbers: nearly all of its JSON is kept, ten times as much of a megabyte as in Wikidata's own dump. `real` is the
complete items as Wikidata writes them, with 300 languages, qualifiers and references, over and over: what most of a
real dump is like.

The peers only read, in one process, and keep nothing: gzip and orjson, which is what one writes first, and the dump
reader of the package qwikidata (pip install qwikidata), if it is there.
"""

from __future__ import annotations

import gzip
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson
import psutil

from cache.catalog import read_catalog
from link.dumps.build import BuildReport, BuildSettings, build_index, label_languages

MEGABYTES = 1_690  # of JSON: ten times the slice
PEER_MEGABYTES = 200  # the peers are slow, and their rate is steady
FIRST_NEW = 200_000_000  # item numbers that neither dump holds
DATA = Path(os.environ.get("POLYCULTURE_SHARED", Path(__file__).parents[2] / "shared")) / "data" / "wikidata"


class Use:
    """The wall time, CPU time and peak memory of a block, over this process and all it starts."""

    def __enter__(self) -> Self:
        self.peak, self._done = 0, threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._cpu, self._wall = _cpu(), time.perf_counter()
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds, self.cpu = time.perf_counter() - self._wall, _cpu() - self._cpu
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        """The sum of what every process has in memory, which counts the libraries they share several times."""
        me = psutil.Process()
        while not self._done.wait(0.1):
            together = 0
            for process in [me, *me.children(recursive=True)]:
                try:
                    together += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.peak = max(self.peak, together)


def _cpu() -> float:
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def slice_lines() -> Iterator[bytes]:
    """The items of the slice, a line each."""
    with gzip.open(DATA / "slice.json.gz", "rb") as lines:
        yield from _items(lines)


def real_lines() -> Iterator[bytes]:
    """Complete items as Wikidata writes them, a line each."""
    with gzip.open(DATA / "entity-json" / "wdsub" / "100lines.json.gz", "rb") as lines:
        yield from _items(lines)
    with (DATA / "entity-json" / "wikibase-dump-filter" / "entities.ndjson").open("rb") as lines:
        yield from _items(lines)


def _items(lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        text = line.strip().rstrip(b",")
        if text.startswith(b"{") and text.endswith(b"}"):
            yield text


def write_dump(path: Path, lines: Iterator[bytes], megabytes: int) -> None:
    """A packed dump of so many megabytes of JSON: the lines over and over, each time with new item numbers."""
    parts = [_around_id(line) for line in lines]
    size, number = 0, FIRST_NEW
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"[")
        while size < megabytes * 10**6:
            for before, after in parts:
                number += 1
                size += file.write(b"%s\n%sQ%d%s" % (b"," if size else b"", before, number, after))
        file.write(b"\n]\n")


def _around_id(line: bytes) -> tuple[bytes, bytes]:
    """What stands before and after the item's own QID."""
    own = b'"id":"%s"' % orjson.loads(line)["id"].encode()
    # The slice has it at the beginning of the line, a real dump at the beginning or the end.
    at = line.index(own) if line.index(own) < 50 else line.rindex(own)
    return line[: at + len(b'"id":"')], line[at + len(own) - 1 :]


def ours(dump: Path, folder: Path) -> tuple[BuildReport, Use, float]:
    """Builds; gives back when all was read, too."""
    read_at = started = time.perf_counter()

    def progress(_read: int, _size: int) -> None:
        nonlocal read_at
        read_at = time.perf_counter()

    with Use() as use:
        report = build_index(
            dump, folder / "index.duckdb", label_languages(read_catalog()), BuildSettings(progress=progress)
        )
    return report, use, read_at - started


def with_orjson(dump: Path) -> Iterator[object]:
    """What one writes first."""
    with gzip.open(dump, "rb") as lines:
        for line in lines:
            if len(line) > 3:
                yield orjson.loads(line.strip().rstrip(b","))


def with_qwikidata(dump: Path) -> Iterator[object]:
    """A package that reads dumps."""
    from qwikidata.json_dump import WikidataJsonDump

    yield from WikidataJsonDump(str(dump))


def rate(read: Callable[[Path], Iterator[object]], dump: Path) -> float:
    """Megabytes of JSON a CPU second, over the first items."""
    items, size = _first(dump)
    started = time.process_time()
    done = sum(1 for _ in islice(read(dump), items))
    if done != items:
        raise SystemExit(f"{done} of {items} items were read")
    return size / 1e6 / (time.process_time() - started)


def _first(dump: Path) -> tuple[int, int]:
    """How many items come first, and how many bytes they have."""
    items = size = 0
    with gzip.open(dump, "rb") as lines:
        for line in lines:
            if len(line) > 3:
                items, size = items + 1, size + len(line)
            if size >= PEER_MEGABYTES * 10**6:
                break
    return items, size


def measure(name: str, lines: Iterator[bytes], megabytes: int, folder: Path) -> None:
    """Prints the figures of one dump."""
    dump = folder / f"{name}.json.gz"
    write_dump(dump, lines, megabytes)
    report, use, read = ours(dump, folder)
    size, counts = report.intake.json_bytes / 1e6, report.snapshot.meta["counts"]
    print(f"{name}: {size:,.0f} MB of JSON, {dump.stat().st_size / 1e6:,.0f} MB packed, {report.intake.items:,} items")
    print(f"  kept: {counts['names']:,} names, {counts['claims']:,} claims, {counts['descriptions']:,} descriptions")
    print(
        f"  {use.seconds:.1f} s (read {read:.1f} s, sorted {use.seconds - read:.1f} s): {size / use.seconds:.0f} MB/s"
    )
    print(f"  {use.cpu:.1f} s of CPU: {size / use.cpu:.0f} MB a CPU second; peak memory {use.peak / 2**20:,.0f} MiB")
    print(f"  snapshot {report.snapshot.path.stat().st_size / 1e6:,.0f} MB")
    for peer, read_with in (("gzip + orjson.loads", with_orjson), ("qwikidata", with_qwikidata)):
        try:
            theirs = rate(read_with, dump)
        except ImportError:
            print(f"  {peer}: not installed (pip install qwikidata)")
            continue
        print(
            f"  {peer}, which keeps nothing: {theirs:.0f} MB a CPU second; ours is {size / use.cpu / theirs:.2f} of it,"
        )
        print(f"    and {size / use.seconds / theirs:.2f} by the clock, on {len(os.sched_getaffinity(0))} processors")


def main() -> None:
    """Prints a block per dump."""
    dumps = {"slice": slice_lines, "real": real_lines}
    wanted = [name for name in sys.argv[1:] if name in dumps] or list(dumps)
    megabytes = next((int(word) for word in sys.argv[1:] if word.isdecimal()), MEGABYTES)
    print(f"load {os.getloadavg()[0]:.1f} at the beginning")
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            measure(name, dumps[name](), megabytes, Path(folder))
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
