"""The paper's figures, to stand beside what is measured here (ShardMemo, Tables 2, 4, 5, 6, 10, 11, 12).

VecScan and p95 are not comparable as such: the paper's 414 vectors cannot come from 3 of 40 similar shards of about 25
(design). Compare fractions.
"""

from __future__ import annotations

from collections.abc import Mapping

Figures = Mapping[str, float | None]


def _row(f1: float, shard_hit: float | None, vec_scan: float, p95: float) -> Figures:
    return {"f1": f1, "shard_hit": shard_hit, "vec_scan": vec_scan, "p95_ms": p95}


TABLE_6: Mapping[str, Figures] = {
    "cosine": _row(47.34, 0.67, 521, 95),
    "simple": _row(51.14, 0.75, 472, 86),
    "untrained": _row(39.82, 0.52, 627, 116),
    "scoped-global-ann": _row(53.74, None, 782, 113),
    "scoped-all-admissible": _row(54.58, None, 1065, 142),
    "mlp-no-cost": _row(53.47, 0.80, 478, 86),
    "mlp-post-filter": _row(51.68, 0.73, 560, 100),
    "mlp-no-top-p": _row(53.85, 0.81, 465, 85),
    "mlp-session-only": _row(51.12, 0.77, 601, 106),
    "mlp-no-tier-a": _row(50.38, 0.73, 509, 93),
    "mlp-no-surrogate": _row(53.07, 0.78, 428, 78),
    "mlp": _row(54.21, 0.82, 414, 76),
}
TABLE_4: Mapping[int, Figures] = {
    5: _row(51.5, 0.93, 580, 86),
    10: _row(52.8, 0.89, 485, 78),
    20: _row(53.7, 0.85, 438, 74),
    40: _row(54.2, 0.82, 414, 76),
    80: _row(53.8, 0.76, 388, 81),
}
TABLE_5: Mapping[float, Figures] = {
    0.0: _row(54.21, 0.82, 414, 76),
    0.2: _row(52.14, 0.79, 431, 79),
    0.4: _row(49.87, 0.73, 462, 85),
}


def _sweep(f1: float, vec_scan: float, p95: float, probed: float) -> Figures:
    return {"f1": f1, "vec_scan": vec_scan, "p95_ms": p95, "probed": probed}


SWEEPS: Mapping[str, Mapping[float, Figures]] = {
    "gamma": {
        0.2: _sweep(54.02, 448, 81, 2.85),
        0.4: _sweep(54.10, 432, 79, 2.72),
        0.6: _sweep(54.21, 414, 76, 2.58),
        0.8: _sweep(54.08, 395, 73, 2.38),
        1.0: _sweep(53.82, 378, 71, 2.20),
    },
    "p_min": {
        0.3: _sweep(53.75, 372, 70, 2.12),
        0.4: _sweep(53.98, 393, 73, 2.35),
        0.5: _sweep(54.21, 414, 76, 2.58),
        0.6: _sweep(54.28, 440, 80, 2.78),
        0.7: _sweep(54.22, 458, 82, 2.90),
    },
    "p_max": {
        0.80: _sweep(53.88, 388, 72, 2.28),
        0.85: _sweep(54.00, 398, 74, 2.38),
        0.90: _sweep(54.12, 406, 75, 2.48),
        0.95: _sweep(54.21, 414, 76, 2.58),
        1.00: _sweep(54.16, 435, 79, 2.72),
    },
}
"""Tables 10, 11 and 12."""
HOTPOT_56K_F1 = 64.37
"""Table 2."""
