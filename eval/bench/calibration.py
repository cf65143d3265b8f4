"""`rebind bench calibration`: whether intervals cover and tests hold their level, on simulated studies whose effects
are planted (`calibration_world`). Every study passes through the code of a report: episodes, treatments, pairing,
effects. Most start as frames; the first few are also written as ledgers and read back, which must give the same frame.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebind.eval.bench import calibration_world as world
from rebind.eval.contrasts import Pair, Pairing
from rebind.eval.metrics import TREATMENTS, Dimension, Treatment
from rebind.eval.ratios import ratios
from rebind.eval.stats import RESAMPLES, Asked, Effect, Interval, effects, with_holm

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

SOURCES = 60
SMALL = (5, 8, 12, 20, 30)
"""Numbers of sources of the studies that show where intervals stop to hold."""
LEDGERS = 3
ALPHA = 0.05
PLANTED: tuple[Pair, ...] = (("full", "none"), ("qcr", "none"), ("qcr", "full"))
NULL: tuple[Pair, ...] = (("placebo", "none"), ("mixed", "none"))
PAIRS = (*PLANTED, *NULL)
SPARSE = 4
"""Every so many studies also count invalid runs as failures and test the interaction, which is slow."""
METRICS = ("success", "online", "stale_binding")
WHAT = (
    "A simulated actor draws outcomes from planted probabilities: this measures the statistics, and says nothing about "
    "any model or memory."
)
Tell = Callable[[str, int, int], None]
Contrast = tuple[str, Dimension, Pair]
"""A metric, a grouping of the targets, and two conditions."""


@dataclass
class Tally:
    """Hits of a share, by name."""

    hits: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    n: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, name: str, hit: bool | None) -> None:
        """None where the study had nothing to say."""
        if hit is not None:
            self.hits[name] += hit
            self.n[name] += 1

    def share(self, *names: str) -> float | None:
        """Pooled over names."""
        n = sum(self.n[name] for name in names)
        return round(sum(self.hits[name] for name in names) / n, 4) if n else None

    def table(self, prefix: str) -> dict[str, float | None]:
        """The shares of the names that begin with a prefix, without it."""
        return {name.removeprefix(prefix): self.share(name) for name in sorted(self.n) if name.startswith(prefix)}


def run(studies: int, seed: int, progress: Tell, sources: int = SOURCES) -> dict[str, Any]:
    """Simulates studies and counts; the numbers of the table, as JSON values.

    Args:
        studies: of the main size; a quarter as many of each small size are added.
        sources: source trajectories of the main size, one to four targets each, three seeds.
    """
    import numpy as np

    began, tally = time.perf_counter(), Tally()
    small = max(4, studies // 4)
    steps = studies + small * len(SMALL)
    targets = 0
    for n in range(studies):
        rng = np.random.default_rng([seed, 0, n])
        design = world.draw_design(rng, sources)
        targets += len(design.level)
        drawn = world.draw(rng, design)
        episodes = world.frame(design, drawn)
        if n < LEDGERS:
            tally.add("ledger", _through_ledger(design, drawn, episodes))
        _count(tally, design, episodes, n)
        progress("studies", n + 1, steps)
    rows = []
    for place, size in enumerate(SMALL):
        tell = partial(_tell_small, progress, studies + place * small, steps)
        rows.append(_small(size, small, seed, tell))
    return _result(tally, studies, sources, targets / studies, seed) | {
        "small_samples": rows,
        "seconds": round(time.perf_counter() - began, 1),
    }


def _through_ledger(design: world.Design, drawn: world.Drawn, episodes: pd.DataFrame) -> bool:
    """Whether the same study, written as a ledger and read back, gives the same frame."""
    from rebind.eval.bench.calibration_ledger import write_ledger
    from rebind.eval.frames import load_run

    with tempfile.TemporaryDirectory(prefix="rebind-calibration-") as folder:
        read = load_run(write_ledger(Path(folder) / "run", design, drawn))
    return not read.discrepancies and read.episodes.equals(episodes)


def _count(tally: Tally, design: world.Design, episodes: pd.DataFrame, n: int) -> None:
    """One study's intervals and tests against what was planted."""
    treatments: tuple[Treatment, ...] = TREATMENTS if n % SPARSE == 0 else TREATMENTS[:1]
    for treatment in treatments:
        pairing = Pairing(episodes, treatment)
        expected = {c: world.planted(design, c, treatment) for c in world.CONDITIONS}
        whole: list[Contrast] = [(m, "all", p) for m in METRICS for p in PLANTED]
        rest: list[Contrast] = [(m, "all", p) for m in METRICS for p in NULL]
        rest.extend((m, "macro", p) for m in METRICS for p in PAIRS)
        by: dict[Contrast, Effect] = {}
        for asked, bootstrap in ((whole, True), (rest, False)):
            samples = [pairing.sample(m, p, d) for m, d, p in asked]
            by |= zip(asked, effects(samples, Asked(bootstrap=bootstrap, seed=n)), strict=True)
        _count_family(tally, [by["success", "all", p] for p in PAIRS], treatment)
        for (metric, dimension, pair), effect in by.items():
            truth = _truth(expected, pair, metric, design, dimension, pairing)
            _count_effect(tally, f"{metric}:{dimension}:{treatment}:{'−'.join(pair)}", pair, effect, truth)
        if treatment == "excluded":
            _count_ratios(tally, pairing, expected, design, n)
            if n % SPARSE == 0:
                tally.add("interaction", _below(pairing.interaction("success", NULL[0], "level").p))


def _truth(
    expected: dict[str, dict[str, NDArray[np.float64]]],
    pair: Pair,
    metric: str,
    design: world.Design,
    dimension: Dimension,
    pairing: Pairing,
) -> float:
    """The planted mean difference over the targets that have a pair, or the mean of their environments' means."""
    import numpy as np

    order = np.argsort(design.keys())  # a pairing's targets are in the order of their keys
    difference = (expected[pair[0]][metric] - expected[pair[1]][metric])[order]
    kept = (pairing.differences(metric, pair)[1] > 0) & np.isfinite(difference)
    where = design.environment[order][kept]
    if dimension == "all":
        return float(difference[kept].mean())
    return float(np.mean([difference[kept][where == e].mean() for e in np.unique(where)]))


def _count_effect(tally: Tally, name: str, pair: Pair, effect: Effect, truth: float) -> None:
    p = effect.sign_flip.p
    if pair in PLANTED:
        tally.add(f"robust:{name}", _covers(effect.robust, truth))
        tally.add(f"bca:{name}", _covers(effect.bootstrap, truth))
        tally.add(f"power:{name}", _below(p))
    else:
        tally.add(f"level:{name}", _below(p))
        tally.add(f"null-robust:{name}", _covers(effect.robust, 0.0))


def _count_family(tally: Tally, family: Sequence[Effect], treatment: str) -> None:
    """Whether Holm's adjustment over all contrasts lets a true null through."""
    nulls = with_holm(family)[len(PLANTED) :]
    tally.add(f"fwer:{treatment}", any(e.sign_flip.holm is not None and e.sign_flip.holm <= ALPHA for e in nulls))


def _count_ratios(tally: Tally, pairing: Pairing, expected: dict[str, Any], design: world.Design, n: int) -> None:
    """Utility kept at a large shift, against no shift."""
    asked = [pair for pair in PLANTED if pair[1] == "none"]
    samples = [
        (pairing.sample("success", pair, "level", "large"), pairing.sample("success", pair, "level", "none"))
        for pair in asked
    ]
    for pair, ratio in zip(asked, ratios(samples, seed=n), strict=True):
        gain = expected[pair[0]]["success"]
        truth = float(gain[design.level == 3].mean() / gain[design.level == 0].mean())
        tally.add(f"retained:{pair[0]}", _covers(ratio.interval, truth))


def _tell_small(progress: Tell, before: int, of: int, done: int) -> None:
    progress("small", before + done, of)


def _small(size: int, studies: int, seed: int, tell: Callable[[int], None]) -> dict[str, Any]:
    """Coverage and level with few sources, on success; `shown` is how often there is an interval at all."""
    import numpy as np

    tally, asked = Tally(), (("qcr", "none"), ("placebo", "none"))
    for n in range(studies):
        rng = np.random.default_rng([seed, size, n])
        design = world.draw_design(rng, size)
        pairing = Pairing(world.frame(design, world.draw(rng, design)), "excluded")
        (planted,) = effects([pairing.sample("success", asked[0])], Asked(seed=n))
        (null,) = effects([pairing.sample("success", asked[1])], Asked(bootstrap=False, seed=n))
        gain = world.planted(design, "qcr", "excluded")["success"][np.argsort(design.keys())]
        truth = float(gain[pairing.differences("success", asked[0])[1] > 0].mean())
        tally.add("robust", _covers(planted.robust, truth))
        tally.add("bca", _covers(planted.bootstrap, truth))
        tally.add("shown", planted.robust.low is not None)
        tally.add("level", _below(null.sign_flip.p))
        tell(n + 1)
    names = ("robust", "bca", "shown", "level")
    return {"sources": size, "studies": studies, **{name: tally.share(name) for name in names}}


def _covers(interval: Interval, truth: float) -> bool | None:
    """Whether an interval holds the planted value; None where there is no interval."""
    if interval.low is None or interval.high is None:
        return None
    return interval.low <= truth <= interval.high


def _below(p: float | None) -> bool:
    """Whether a test rejects; one without a p-value does not."""
    return p is not None and p <= ALPHA


def _result(tally: Tally, studies: int, sources: int, targets: float, seed: int) -> dict[str, Any]:
    named = ["−".join(pair) for pair in PLANTED]
    micro = [f"robust:{m}:all:excluded:{name}" for m in METRICS for name in named]
    level = [f"level:{m}:all:excluded:placebo−none" for m in METRICS]
    return {
        "simulated": True,
        "what": WHAT,
        "studies": studies,
        "seed": seed,
        "sources": sources,
        "targets": round(targets, 1),
        "seeds": len(world.SEEDS),
        "resamples": RESAMPLES,
        "ledgers_written": tally.n["ledger"],
        "ledgers_equal": tally.hits["ledger"],
        "coverage95": tally.share(*micro),
        "coverage95_macro": tally.share(*(name.replace(":all:", ":macro:") for name in micro)),
        "coverage95_bca": tally.share(*(name.replace("robust:", "bca:") for name in micro)),
        "coverage95_retained": tally.share("retained:full", "retained:qcr"),
        "coverage95_se": _error(0.95, studies * len(METRICS)),
        "level05": tally.share(*level),
        "level05_by_metric": {m: tally.share(name) for m, name in zip(METRICS, level, strict=True)},
        "level05_mixed": tally.share(*(name.replace("placebo", "mixed") for name in level)),
        "level05_se": _error(ALPHA, studies * len(METRICS)),
        "fwer05_holm": tally.share("fwer:excluded", "fwer:failed"),
        "level05_interaction": tally.share("interaction"),
        "power": tally.share("power:success:all:excluded:full−none"),
        "power_planted_points": round(100 * sum(world.GAIN["full"]) / 4, 1),
        "by": {
            kind: tally.table(f"{kind}:") for kind in ("robust", "bca", "retained", "level", "null-robust", "power")
        },
    }


def _error(share: float, n: int) -> float:
    """Standard error of a share of n draws: a study's metrics are drawn apart; its contrasts are not, counted once."""
    return round(math.sqrt(share * (1 - share) / n), 4)
