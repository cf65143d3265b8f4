"""The paper's scale from one world: at least 194 verified records and 745 targets (QCR, section 5.2), in one go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from rebind.banks.build import build
from rebind.banks.files import silent
from rebind.banks.freeze import freeze
from rebind.banks.rollers import oracle_roller
from rebind.banks.shift import BuiltTargets, build_targets
from rebind.banks.store import Bank
from rebind.envs import world
from rebind.errors import TargetsError
from rebind.types import Progress

RECORDS = 194
TARGETS = 745
_SURPLUS = 1.1
"""More records than needed are made: near-duplicates go, and not every record gives a target at every level."""


@dataclass(frozen=True)
class PaperScale(BuiltTargets):
    """What was built: the targets in `path`, the bank in `path/bank`, its rollouts in `path/rollouts`."""

    bank: str
    near_duplicates_removed: int
    skills: int
    length_groups: dict[str, int]


def build_paper_scale(env: str, out: Path, *, workers: int = 2, progress: Progress = silent) -> PaperScale:
    """Rolls out every family of a world with the same number of seeds (oracle with detours), freezes the bank, and
    builds its targets. A stopped run goes on with the rollouts it has.

    Raises:
        TargetsError: fewer records or targets came out than the paper has. BankError: `out` already holds a bank.
    """
    one = world(env)
    each = math.ceil(RECORDS * _SURPLUS / len(one.families()))
    build(one, out / "rollouts", oracle_roller(one), seeds=range(each), progress=progress)
    bank_path = out / "bank"
    if not bank_path.exists():
        freeze([out / "rollouts"], bank_path, [one], progress=progress)
    counts = Bank.open(bank_path).manifest["counts"]
    made = build_targets(bank_path, out, workers=workers, progress=progress)
    if counts["records"] < RECORDS or made.targets < TARGETS:
        raise TargetsError(
            f"{out} has {counts['records']} records and {made.targets} targets of the {RECORDS} and {TARGETS} wanted; "
            f"rejected: {made.rejected}"
        )
    return PaperScale(
        path=out,
        digest=made.digest,
        records=counts["records"],
        targets=made.targets,
        by_level=made.by_level,
        rejected=made.rejected,
        bank=str(bank_path),
        near_duplicates_removed=counts["near_duplicates_removed"],
        skills=counts["skills"],
        length_groups=counts["length_groups"],
    )
