"""Figures of the paper (arXiv 2606.28376) that stand beside ours. None of them enters a computation of a result."""

from __future__ import annotations

GENERATOR: dict[str, float] = {
    "valid_episodes": 197,
    "queries": 907,
    "evidence": 2.5,
    "entity_shared": 1.0,
    "tool_shared": 0.393,
    "action_shared": 0.834,
    "shortest": 150,
    "longest": 296,
}
"""Section 5.1."""

SYNTHETIC_GAIN = {"recall": 0.399, "hit2": 0.615}
"""Section 6.1, against Flat + MMR at B = 256."""

TABLE_9: dict[str, tuple[tuple[float, float], ...]] = {
    "No LT Memory": ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)),
    "Budget-Trunc Replay": ((0.000, 0.004), (0.000, 0.004), (0.000, 0.149), (0.008, 0.321)),
    "Sliding Window": ((0.000, 0.000), (0.000, 0.000), (0.000, 0.136), (0.005, 0.314)),
    "Periodic Summary": ((0.000, 0.003), (0.000, 0.041), (0.013, 0.093), (0.073, 0.221)),
    "Flat Vector": ((0.005, 0.051), (0.016, 0.088), (0.045, 0.156), (0.147, 0.284)),
    "Flat + MMR": ((0.005, 0.045), (0.022, 0.085), (0.052, 0.158), (0.152, 0.288)),
    "Coverage-Aware": ((0.006, 0.044), (0.014, 0.086), (0.049, 0.157), (0.147, 0.289)),
    "Disjoint Hierarchy": ((0.004, 0.047), (0.014, 0.084), (0.044, 0.150), (0.145, 0.282)),
    "Tree Abstraction": ((0.002, 0.055), (0.012, 0.093), (0.044, 0.157), (0.123, 0.275)),
    "OSU-Mem": ((0.010, 0.076), (0.027, 0.130), (0.084, 0.221), (0.222, 0.364)),
    "OSU-Mem + GF": ((0.010, 0.077), (0.029, 0.130), (0.088, 0.222), (0.225, 0.367)),
    "OSU-Mem (disjoint)": ((0.003, 0.047), (0.008, 0.075), (0.034, 0.138), (0.134, 0.277)),
    "OSU-Mem (sim only)": ((0.002, 0.037), (0.008, 0.065), (0.014, 0.110), (0.083, 0.214)),
    "OSU-Mem (no novelty)": ((0.010, 0.076), (0.027, 0.130), (0.083, 0.217), (0.209, 0.361)),
}
"""(Hit@2, recall) at B = 64, 128, 256, 512."""

CELLS = ("T+E+", "T+E-", "T-E+", "T-E-")
TAU_CELLS = dict(zip(CELLS, (0.171, 0.293, 0.134, 0.402), strict=True))
"""Section 6.2, 328 queries."""
SELECTION_CELLS = dict(zip(CELLS, (0.258, 0.316, 0.106, 0.319), strict=True))
"""Section 6.6, 414 queries."""

TABLE_4 = {
    "T+E+": {"hit2": 0.179, "recall": 0.080, "overlap": 0.089},
    "T+E-": {"hit2": -0.031, "recall": -0.047, "overlap": 0.073},
    "T-E+": {"hit2": 0.159, "recall": 0.000, "overlap": -0.068},
    "T-E-": {"hit2": -0.129, "recall": -0.157, "overlap": -0.083},
    "all": {"hit2": -0.010, "recall": -0.063, "overlap": -0.006},
}
"""OSU − Flat at B = 256; `overlap` is Hit@2 of overlap − disjoint."""

TABLE_5 = {
    "T+E+": (0.161, 0.232, 0.179, 0.161),
    "T+E-": (0.094, 0.125, -0.031, -0.146),
    "T-E+": (0.045, 0.114, 0.159, 0.227),
    "T-E-": (0.008, -0.023, -0.129, -0.364),
}
"""Hit@2 of OSU − Flat at the four budgets."""

INTERACTION = {64: 0.308, 128: 0.081, 256: 0.002, 512: 0.558}
"""p of the method × cell test, Hit@2 (section 6.3)."""

AUGMENTED_GAP = {64: 0.071, 128: 0.104, 256: 0.141, 512: 0.107}
"""Table 12, OSU − Flat, Hit@2 by episode."""

BREAK_EVEN = {64: 0.0, 128: 0.0, 256: 0.211, 512: 0.543}
"""Table 17, p*."""
ORACLE = 0.052
"""Section 7, Hit@2 of oracle routing over Flat at B = 256."""

TABLE_6 = {
    0.04: (0.005, 0.012, 0.003, 0.002),
    0.08: (0.013, 0.026, 0.008, 0.009),
    0.12: (0.027, 0.037, 0.021, 0.016),
    0.16: (0.042, 0.047, 0.040, 0.026),
    0.20: (0.051, 0.064, 0.054, 0.042),
}
"""ToolBench, recall of overlap − disjoint by β at B = 200, 400, 800, 1600."""

MEMBERSHIPS = {"overlap": 2.16, "disjoint": 0.87, "evicted": 0.132}
"""ToolBench: units per evidence step, and evidence in no unit under disjoint (section 6.1)."""

TABLE_7 = {
    "T+E+": {"soft": 0.005, "hard": 0.064},
    "T+E-": {"soft": 0.019, "hard": 0.023},
    "T-E+": {"soft": 0.016, "hard": 0.039},
    "T-E-": {"soft": 0.000, "hard": 0.008},
    "all": {"soft": 0.009, "hard": 0.031},
}
"""OSU − Flat in recall after an LLM (GPT-4o-mini) selected, B = 256."""
