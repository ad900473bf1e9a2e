"""Are twenty visitors of the explorer who move sliders for a minute all answered? In what memory?

Every visitor loads the page, then moves a slider as soon as the last move was answered; one move in
thirty is a count, which compiles another program. All on this machine.

    python benchmarks/explorer_visitors.py [--visitors 20] [--seconds 60]
"""

import argparse
import json
import random
import statistics
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

from explorer_latency import explorer

_PRESETS = ("pegr", "pegr", "pegr", "kou")


class Visitor(threading.Thread):
    """One who moves sliders until the time is up."""

    def __init__(self, address: str, number: int, until: float):
        super().__init__(daemon=True)
        self.address, self.until = address, until
        self.draw = random.Random(number)
        self.preset = _PRESETS[number % len(_PRESETS)]
        self.seconds: list[float] = []
        self.found: Counter[str] = Counter()

    def run(self) -> None:
        for path in ("", "_dash-layout", "_dash-dependencies"):
            self._get(path)
        fields: dict[str, str] = {}
        while time.monotonic() < self.until:
            if self.draw.random() < 1 / 30:
                fields["net.width"] = str(self.draw.choice([5, 10, 20, 50]))
            else:
                name = self.draw.choice(["data.noise", "data.signal", "rule.rate"])
                low, high = (0.003, 0.03) if name == "rule.rate" else (0.2, 2.0)
                fields[name] = f"{self.draw.uniform(low, high):.3g}"
            query = "&".join(f"{name}={value}" for name, value in fields.items())
            begun = time.perf_counter()
            answer = self._get(f"live/answer?preset={self.preset}&{query}")
            self.seconds.append(time.perf_counter() - begun)
            good = answer is not None and "panels" in json.loads(answer)
            self.found["answered" if good else "failed"] += 1

    def _get(self, path: str) -> bytes | None:
        try:
            with urllib.request.urlopen(self.address + path, timeout=120) as answer:
                return answer.read()
        except (urllib.error.URLError, OSError) as error:
            self.found[f"error: {error}"] += 1
            return None


def memory(process: int) -> float:
    """MB that a process holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    asked = parser.parse_args()
    with explorer() as (address, process):
        until = time.monotonic() + asked.seconds
        visitors = [Visitor(address, i, until) for i in range(asked.visitors)]
        for visitor in visitors:
            visitor.start()
        held = []
        while any(visitor.is_alive() for visitor in visitors):
            held.append(memory(process))
            time.sleep(1)
    found = sum((visitor.found for visitor in visitors), Counter())
    seconds = [s for visitor in visitors for s in visitor.seconds]
    print(f"{asked.visitors} visitors, {asked.seconds:.0f} s: {dict(found)}")
    print(f"answer: median {statistics.median(seconds):.2f} s, slowest {max(seconds):.2f} s")
    half = len(held) // 2
    print(f"memory of the server: most {max(held):.0f} MB; second half / first half of the time: "
          f"{max(held[half:]) / max(held[:half]):.2f}")  # fmt: skip
    if set(found) != {"answered"}:
        raise SystemExit("some visitors were not answered")


if __name__ == "__main__":
    main()
