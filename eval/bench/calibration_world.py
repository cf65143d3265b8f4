"""A simulated actor with planted effects, for calibrating the statistics: it acts on no task, it draws outcomes from
known probabilities. Everything it produces is simulated and says nothing about a model or a memory.

All random parts are bounded and have mean 0, so that every probability stays within [0, 1] and the planted
differences are the exact expectations of the measured ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from rebind.eval.metrics import Treatment
from rebind.eval.rows import episodes_frame
from rebind.types import SHIFT_LEVELS, Task, length_group

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

ENVIRONMENTS = ("simulated/Apps-v0", "simulated/Sites-v0", "simulated/Desk-v0")
ENVIRONMENT_SHARES = (0.37, 0.32, 0.31)
CONDITIONS = ("none", "full", "qcr", "placebo", "mixed")
"""`placebo` is No Memory under another name: every contrast of the two is null. `mixed` helps some sources and harms
others as much, so that its mean effect is 0."""
SEEDS = (0, 1, 2)
FAMILY = "simulated"

_BASE = (0.45, 0.30, 0.37)
"""No Memory's success probability by environment."""
GAIN = {
    "full": (0.20, 0.14, 0.08, 0.02),
    "qcr": (0.22, 0.21, 0.18, 0.15),
}
"""Planted gains in success by shift level, from none to large."""
_TILT = (0.02, 0.0, -0.02)
"""What an environment adds to a gain."""
_SOURCE, _TARGET, _REACTION = 0.15, 0.05, 0.10
"""Half-widths of the random parts: of a source, of a target, of a source's reaction to a condition."""
_STALE = {"full": (0.0, 0.10, 0.25, 0.45), "qcr": (0.0, 0.04, 0.06, 0.11)}
_STALE_BASE = 0.04
_TOKENS, _TOKENS_SOURCE, _TOKENS_TARGET, _TOKENS_REACTION, _TOKENS_SPREAD = 20_000, 4_000, 1_500, 1_500, 2_500
_TOKENS_ADDED = {"full": 3_000.0, "qcr": -5_800.0}
_INVALID_AGENT = {"full": 0.05}
_INVALID_AGENT_BASE, _INVALID_INFRA = 0.03, 0.01
_LEVEL_CHANCE = (1.0, 0.97, 0.94, 0.93)
"""How often a source has a target of each level (QCR, Table A3: 623, 602, 588, 578)."""
MILESTONES = 4


@dataclass(frozen=True)
class Design:
    """The targets of one simulated study; arrays have one entry per target."""

    source: Indices
    environment: Indices
    level: Indices
    actions: Indices
    """Effective actions of the source."""

    @property
    def sources(self) -> int:
        return int(self.source.max()) + 1

    @cached_property
    def _keys(self) -> list[str]:
        places = zip(self.environment.tolist(), self.source.tolist(), self.level.tolist(), strict=True)
        return [task(*place).key for place in places]

    def keys(self) -> list[str]:
        """The task keys."""
        return self._keys


@dataclass(frozen=True)
class Drawn:
    """What happened in a simulated study; arrays are conditions × targets × seeds."""

    success: NDArray[np.bool_]
    reached: Indices
    """Milestones reached."""
    outcome: Indices
    """0 valid, 1 invalid-agent, 2 invalid-infra."""
    stale: NDArray[np.bool_]
    tokens: Indices
    calls: Indices


@cache
def task(environment: int, source: int, level: int) -> Task:
    """The task of a source's target at a level; its goal names the target's value."""
    goal = f"Simulated task of source {source}: pay {target_value(source, level)}"
    return Task(env=ENVIRONMENTS[environment], goal=goal, state=f"simulated-{source}-{level}")


def source_value(source: int) -> str:
    return f"Payee S{source:04d}"


def target_value(source: int, level: int) -> str:
    """The source's own value where nothing changed."""
    return source_value(source) if level == 0 else f"Recipient T{source:04d}L{level}"


def source_name(source: int) -> str:
    return f"simulated-source-{source:04d}"


def draw_design(rng: np.random.Generator, sources: int) -> Design:
    """Sources of three environments and of every length, with one to four targets each."""
    import numpy as np

    environment = rng.choice(len(ENVIRONMENTS), sources, p=ENVIRONMENT_SHARES)
    actions = rng.integers(5, 45, sources)
    source, level = np.nonzero(rng.random((sources, len(SHIFT_LEVELS))) < np.array(_LEVEL_CHANCE))
    return Design(source, environment[source], level, actions[source])


def planted(design: Design, condition: str, treatment: Treatment) -> dict[str, Floats]:
    """Expected difference to No Memory of each target, by metric; NaN where a metric is not known for a target.
    Counted as failures, invalid runs take their share of both success probabilities."""
    import numpy as np

    gain, base = _gain(design, condition), np.array(_BASE)[design.environment]
    if treatment == "failed":
        gain = _valid(condition) * (base + gain) - _valid("none") * base
    stale = np.array(_STALE.get(condition, (0.0, *(_STALE_BASE,) * 3)))[design.level] - _STALE_BASE
    return {
        "success": gain,
        "online": np.full(len(design.level), _TOKENS_ADDED.get(condition, 0.0)),
        "stale_binding": np.where(design.level > 0, stale, np.nan),
    }


def _valid(condition: str) -> float:
    """How often a run is valid."""
    return 1 - _INVALID_INFRA - _INVALID_AGENT.get(condition, _INVALID_AGENT_BASE)


def _gain(design: Design, condition: str) -> Floats:
    import numpy as np

    if condition not in GAIN:
        return np.zeros(len(design.level))
    return np.asarray(np.array(GAIN[condition])[design.level] + np.array(_TILT)[design.environment])


def draw(rng: np.random.Generator, design: Design) -> Drawn:
    """One simulated study."""
    import numpy as np

    shape = len(CONDITIONS), len(design.level), len(SEEDS)
    probability = np.stack([_success_probability(rng, design, *parts) for parts in _common(rng, design)])
    success = rng.random(shape) < probability[:, :, None]
    agent = np.array([_INVALID_AGENT.get(c, _INVALID_AGENT_BASE) for c in CONDITIONS])[:, None, None]
    chance = rng.random(shape)
    outcome = np.where(chance < _INVALID_INFRA, 2, np.where(chance < _INVALID_INFRA + agent, 1, 0))
    return Drawn(
        success=success,
        reached=np.where(success, MILESTONES, rng.integers(0, MILESTONES, shape)),
        outcome=outcome,
        stale=_stale(rng, design, shape),
        tokens=_tokens(rng, design, shape),
        calls=1 + rng.binomial(4, 0.5, shape),
    )


def _common(rng: np.random.Generator, design: Design) -> list[tuple[str, Floats]]:
    """Each condition with the success probability that the targets have without memory."""
    import numpy as np

    base = np.array(_BASE)[design.environment]
    base = base + rng.uniform(-_SOURCE, _SOURCE, design.sources)[design.source]
    base = base + rng.uniform(-_TARGET, _TARGET, len(design.level))
    return [(c, base) for c in CONDITIONS]


def _success_probability(rng: np.random.Generator, design: Design, condition: str, base: Floats) -> Floats:
    reaction = rng.uniform(-_REACTION, _REACTION, design.sources)[design.source]
    if condition in ("none", "placebo"):
        return base
    return base + _gain(design, condition) + reaction


def _stale(rng: np.random.Generator, design: Design, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Each source copies more or less than others, by up to half."""
    import numpy as np

    rates = np.stack([np.array(_STALE.get(c, (0.0, *(_STALE_BASE,) * 3)))[design.level] for c in CONDITIONS])
    habit = rng.uniform(0.5, 1.5, (len(CONDITIONS), design.sources))[:, design.source]
    return np.asarray(rng.random(shape) < (rates * habit)[:, :, None])


def _tokens(rng: np.random.Generator, design: Design, shape: tuple[int, ...]) -> Indices:
    """Skewed to the right, as token counts are."""
    import numpy as np

    mean = _TOKENS + rng.uniform(-_TOKENS_SOURCE, _TOKENS_SOURCE, design.sources)[design.source]
    mean = mean + rng.uniform(-_TOKENS_TARGET, _TOKENS_TARGET, len(design.level))
    added = np.array([_TOKENS_ADDED.get(c, 0.0) for c in CONDITIONS])[:, None]
    reaction = rng.uniform(-_TOKENS_REACTION, _TOKENS_REACTION, (len(CONDITIONS), design.sources))[:, design.source]
    reaction = reaction * np.array([c not in ("none", "placebo") for c in CONDITIONS])[:, None]
    noise = (rng.gamma(4.0, 0.5, shape) - 2.0) * _TOKENS_SPREAD  # mean 0, sd 1 before scaling, skew 1
    tokens: Indices = np.rint((mean + added + reaction)[:, :, None] + noise).astype(np.intp)
    return tokens


def fixed_parts(condition: str) -> dict[str, int]:
    """The token components of a run that are the same in every run of a condition; the rest of its tokens is I_base."""
    memory = {"full": 4_000, "qcr": 900}.get(condition, 0)
    written = (1_200, 150) if condition == "qcr" else (0, 0)
    return {"i_mem": memory, "i_syn": written[0], "o_syn": written[1], "o_act": 600}


def frame(design: Design, drawn: Drawn) -> pd.DataFrame:
    """The episodes of a study as `frames.load_run` gives them for its ledger, without one being written."""
    import numpy as np

    keys, shape = np.array(design.keys(), dtype=object), drawn.success.shape
    condition, target, seed = (axis.ravel() for axis in np.indices(shape))
    conditions = np.array(CONDITIONS, dtype=object)
    valid, judged = drawn.outcome.ravel() == 0, drawn.outcome.ravel() < 2
    checkable = design.level[target] > 0
    stale = drawn.stale.ravel()
    fixed = [fixed_parts(c) for c in CONDITIONS]
    spent = {name: np.array([f[name] for f in fixed])[condition] for name in fixed[0]}
    spent["i_base"] = drawn.tokens.ravel() - sum(spent.values())
    groups = np.array([length_group(n) for n in design.actions.tolist()], dtype=object)
    unknown: Any = None  # `np.where` takes None, its types do not say so
    columns: dict[str, Any] = {
        "cell": [
            f"{k[:16]}/{c}/{s}"  # as `Cell.id`, which a model made for each row would give at fifty times the cost
            for k, c, s in zip(keys[target], conditions[condition], seed.tolist(), strict=True)
        ],
        "attempt": np.zeros(len(target), dtype=int),
        "target": keys[target],
        "source": np.array([source_name(s) for s in range(design.sources)], dtype=object)[design.source][target],
        "environment": np.array(ENVIRONMENTS, dtype=object)[design.environment][target],
        "family": FAMILY,
        "level": np.array(SHIFT_LEVELS, dtype=object)[design.level][target],
        "length_group": groups[target],
        "actions": design.actions[target],
        "condition": conditions[condition],
        "seed": np.array(SEEDS)[seed],
        "outcome": np.array(["valid", "invalid-agent", "invalid-infra"], dtype=object)[drawn.outcome.ravel()],
        "ending": np.array(["done", "over-steps", "SimulatedFailure"], dtype=object)[drawn.outcome.ravel()],
        "success": np.where(valid, drawn.success.ravel(), unknown),
        "milestone": np.where(judged, drawn.reached.ravel() / MILESTONES, unknown),
        "api_calls": drawn.calls.ravel(),
        "steps": drawn.calls.ravel(),
        "seconds": 1.0,
        **spent,
        "online": drawn.tokens.ravel(),
        "once": drawn.tokens.ravel(),
        "once_dropped": False,
        "cached": None,
        "wasted": 0,
        "cost": None,
        "checkable": checkable,
        "stale": np.where(checkable, stale.astype(int), unknown),
        "rebound": np.where(checkable, ~stale, unknown),
        "bound_share": np.where(checkable, 1.0 - stale, unknown),
    }
    made: Any = columns  # pandas takes columns as it takes rows, ten times as fast
    return episodes_frame(made)
