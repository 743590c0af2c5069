"""How fast a snapshot is built from a Wikidata dump, all told: unpacked, read, folded, written, sorted.

    python -m bench.wikidata_build                                  # everything, some minutes
    python -m bench.wikidata_build --dump real --packing gzip zstd --megabytes 400

Two dumps are made of the real data beside the checkout, as gzip, plain and Zstandard. `slice` is the slice of 193,325
items over and over, with new item numbers: nearly all of its JSON is kept, ten times as much of a megabyte as in
Wikidata's own dump. `real` is items as Wikidata writes them, with 300 languages, qualifiers and references: of those
at hand the ones of up to 25,000 bytes, whose mean length is the dump's (1.84 TB of some 115 million items), over and
over.

The peers only parse, in one process, from memory, and keep nothing: `json`, `orjson` and `msgspec` line by line.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec
import orjson
import psutil
import pyarrow as pa

from polyculture.cache.catalog import read_catalog
from polyculture.link.dumps.build import BuildReport, BuildSettings, build_index

MEGABYTES = 1_690  # of JSON: ten times the slice
PEER_ITEMS = 20_000  # the peers' rate is steady
LONGEST = 25_000  # bytes of an item in `real`
PACKINGS = {"gzip": "gz", "plain": "json", "zstd": "zst"}
PEERS: dict[str, Callable[[bytes], object]] = {
    "json": json.loads,
    "orjson": orjson.loads,
    "msgspec": msgspec.json.decode,
}
FIRST_NEW = 200_000_000  # item numbers that neither dump holds
DATA = Path(os.environ.get("POLYCULTURE_SHARED", Path(__file__).parents[2] / "shared")) / "data"
SMALLEST = ("--dump", "real", "--packing", "gzip", "--megabytes", "1", "--data", "{data}")


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


def slice_lines(data: Path) -> Iterator[bytes]:
    """The items of the slice, a line each."""
    with gzip.open(data / "slice.json.gz", "rb") as lines:
        yield from _items(lines)


def real_lines(data: Path) -> Iterator[bytes]:
    """Complete items as Wikidata writes them, a line each, of a dump's mean length."""
    with gzip.open(data / "entity-json" / "wdsub" / "100lines.json.gz", "rb") as lines:
        yield from (line for line in _items(lines) if len(line) <= LONGEST)
    with (data / "entity-json" / "wikibase-dump-filter" / "entities.ndjson").open("rb") as lines:
        yield from (line for line in _items(lines) if len(line) <= LONGEST)


def _items(lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        text = line.strip().rstrip(b",")
        if text.startswith(b"{") and text.endswith(b"}"):
            yield text


def numbered(lines: Iterator[bytes], megabytes: int) -> Iterator[bytes]:
    """Lines of so many megabytes: the same over and over, each time with new item numbers."""
    parts = [_around_id(line) for line in lines]
    size, number = 0, FIRST_NEW
    while size < megabytes * 10**6:
        for before, after in parts:
            number += 1
            line = b"%s%d%s" % (before, number, after)
            size += len(line)
            yield line
            if size >= megabytes * 10**6:
                return


def write_dump(path: Path, lines: Iterator[bytes]) -> None:
    """A dump of these items, packed as its name says."""
    with _opened(path) as file:
        file.write(b"[\n")
        file.write(next(lines))
        for line in lines:
            file.write(b",\n" + line)
        file.write(b"\n]\n")


def _opened(path: Path) -> IO[bytes] | Any:
    if path.suffix == ".gz":
        return gzip.open(path, "wb", compresslevel=1)
    return pa.CompressedOutputStream(str(path), "zstd") if path.suffix == ".zst" else path.open("wb")


def _around_id(line: bytes) -> tuple[bytes, bytes]:
    """What stands before and after the item's own QID."""
    own = b'"id":"%s"' % orjson.loads(line)["id"].encode()
    # The slice has it at the beginning of the line, a real dump at the beginning or the end.
    at = line.index(own) if line.index(own) < 50 else line.rindex(own)
    return line[: at + len(b'"id":"Q')], line[at + len(own) - 1 :]


def ours(dump: Path, folder: Path) -> tuple[BuildReport, Use, float]:
    """Builds; gives back when all was read, too."""
    read_at = started = time.perf_counter()

    def progress(_read: int, _size: int) -> None:
        nonlocal read_at
        read_at = time.perf_counter()

    with Use() as use:
        report = build_index(
            dump, folder / "index.duckdb", read_catalog().label_languages, BuildSettings(progress=progress)
        )
    return report, use, read_at - started


def parsing(parse: Callable[[bytes], object], items: list[bytes]) -> float:
    """Megabytes of JSON a CPU second of parsing alone."""
    started = time.process_time()
    for item in items:
        parse(item)
    return sum(map(len, items)) / 1e6 / (time.process_time() - started)


def measure(name: str, packing: str, lines: Iterator[bytes], folder: Path) -> tuple[float, float]:
    """Prints the figures of one dump; megabytes a second and a CPU second."""
    dump = folder / f"{name}.{PACKINGS[packing]}"
    write_dump(dump, lines)
    report, use, read = ours(dump, folder)
    size, counts = report.counts.json_bytes / 1e6, report.snapshot.meta["counts"]
    print(f"{name}, {packing}: {size:,.0f} MB of JSON, {dump.stat().st_size / 1e6:,.0f} on disk", end="; ")
    print(f"{report.counts.items:,} items, {counts['names']:,} names, {counts['claims']:,} claims")
    print(f"  {use.seconds:.1f} s (read {read:.1f}, sorted {use.seconds - read:.1f}): {size / use.seconds:.0f} MB/s")
    print(f"  {use.cpu:.1f} s of CPU: {size / use.cpu:.0f} MB a CPU second; peak {use.peak / 2**20:,.0f} MiB", end="; ")
    print(f"snapshot {report.snapshot.path.stat().st_size / 1e6:,.0f} MB", flush=True)
    for left in (dump, report.snapshot.path):
        left.unlink()
    return size / use.seconds, size / use.cpu


def main() -> None:
    """Prints a block per dump, and each rate as a multiple of the peers'."""
    dumps = {"slice": slice_lines, "real": real_lines}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", nargs="+", choices=dumps, default=list(dumps), help="(default: both)")
    parser.add_argument("--packing", nargs="+", choices=PACKINGS, default=list(PACKINGS), help="(default: all)")
    parser.add_argument("--megabytes", type=int, default=MEGABYTES, help=f"of JSON (default: {MEGABYTES:,})")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    told = parser.parse_args()
    megabytes, data = told.megabytes, told.data / "wikidata"
    print(f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f} at the beginning")
    for name in told.dump:
        items = list(islice(numbered(dumps[name](data), megabytes), PEER_ITEMS))
        peers = {peer: parsing(parse, items) for peer, parse in PEERS.items()}
        print(f"{name}: items of {sum(map(len, items)) / len(items):,.0f} bytes")
        for packing in told.packing:
            with tempfile.TemporaryDirectory() as folder:
                wall, cpu = measure(name, packing, numbered(dumps[name](data), megabytes), Path(folder))
            rates = (f"{peer} {rate:.0f} ({wall / rate:.2f}, {cpu / rate:.2f})" for peer, rate in peers.items())
            print(f"  parsing alone, MB a CPU second (ours by the clock, by CPU): {', '.join(rates)}")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
