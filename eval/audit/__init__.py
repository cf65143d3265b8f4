"""`rebind audit`: what a ledger alone can prove about a run, check by check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rebind.errors import LedgerError
from rebind.eval.audit.attempts import Attempts
from rebind.eval.audit.boundary import Boundary
from rebind.eval.audit.budgets import Budgets
from rebind.eval.audit.facts import Facts
from rebind.eval.audit.findings import Check, Findings
from rebind.eval.audit.leaks import Leaks
from rebind.eval.audit.selections import Selections
from rebind.eval.ledger import Verification, explained, read_events, verify

COUNTS: tuple[Check, ...] = (
    "canaries",
    "sealed_fields",
    "target_leaks",
    "token_identity_violations",
    "missing_cells",
    "doubled_cells",
    "deleted_attempts",
    "decoding_differs",
    "budget_differs",
    "broken_prompts",
)


def audit(folder: Path) -> dict[str, Any]:
    """Audits a run from its ledger.

    Returns:
        A JSON object: each of `COUNTS` with how often it was found, `selections_shared`, `clean` (nothing was found),
        `findings` (each with `check`, `event`, `kind`, `what`), `checked` (how many texts, supports, selections, calls
        and episodes were looked at), `skipped` (values too short or common to search for; values that are redacted, and
        what could not be checked without them), and `manifest` ("matches", or "absent" while the run goes on).

    Raises:
        LedgerError: there is no ledger, it was edited, it has no plan, or what no check can do without is redacted.
    """
    verification = _verified(folder)
    facts = Facts.gather(read_events(folder))
    if not facts.plan:
        raise LedgerError(f"the ledger of {folder} has no plan event: there is nothing to audit it against")
    findings = Findings()
    attempts = Attempts(facts, findings, finished=verification.manifest == "matches")
    auditors = (
        Boundary(facts, findings),
        Leaks(facts, findings),
        Selections(facts, findings),
        Budgets(facts, findings),
        attempts,
    )
    for event in read_events(folder):
        if event.redacted:
            findings.skipped["redacted_values"] += len(event.redacted)
        with explained(event, "the audit"):
            for auditor in auditors:
                auditor.take(event)
    attempts.close()
    return {
        "run": str(folder),
        "clean": not findings.items,
        **{name: findings.counts[name] for name in COUNTS},
        "selections_shared": not findings.counts["selections"],
        "checked": dict(findings.checked),
        "skipped": dict(findings.skipped),
        "manifest": verification.manifest,
        "findings": findings.items,
    }


def holds(found: dict[str, Any]) -> bool:
    """Whether an audit's result is that the protocol was kept."""
    return bool(found["clean"])


def _verified(folder: Path) -> Verification:
    found = verify(folder)
    if not found.ok and not found.torn:
        where = f"line {found.first_bad}: " if found.first_bad else ""
        raise LedgerError(f"the ledger of {folder} does not verify ({where}{found.why}): an audit would prove nothing")
    return found
