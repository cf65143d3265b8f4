"""The report on the families: its keys, and that it tells what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rebind.envs.apps.check import check
from rebind.envs.apps.families import FAMILIES
from rebind.envs.apps.families.draw import Bound
from rebind.envs.apps.families.forward_invoice import ForwardInvoice
from rebind.envs.apps.families.oracle import Oracle, finish, login
from rebind.errors import UserError


class Careless(ForwardInvoice):
    """Its oracle declares the task done without having done it."""

    id = "apps/careless"

    def oracle(self, b: Bound) -> Oracle:
        yield from login("mail")
        yield from finish()


class Refused(ForwardInvoice):
    """Its oracle makes a call that is refused."""

    id = "apps/refused"

    def oracle(self, b: Bound) -> Oracle:
        mail = yield from login("mail")
        yield from mail("show", mail_id="mail_0")


def test_a_sound_family_passes_and_the_report_has_the_keys_of_the_contract() -> None:
    report = check([ForwardInvoice.id], seeds=(0,))
    assert report.pop("reset_ms_median") > 0
    assert report.pop("apis") >= 80
    assert report == {
        "families": 1,
        "oracle_pass": 1.0,
        "noop_pass": 0.0,
        "literal_replay_pass": 0.0,
        "none_replay_pass": 1.0,
        "length_groups": {"5-10": 1},
        "failures": [],
    }


@pytest.mark.parametrize("family", [Careless, Refused])
def test_a_family_whose_oracle_fails_is_named_with_the_seed(
    family: type[ForwardInvoice], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FAMILIES, family.id, family())
    report = check([family.id], seeds=(2,))
    assert report["oracle_pass"] == 0
    first = report["failures"][0]
    assert (first["family"], first["seed"]) == (family.id, 2)
    assert any(failure["what"].startswith("oracle: ") for failure in report["failures"])


def test_an_unknown_family_is_a_user_error_that_suggests_the_nearest() -> None:
    with pytest.raises(UserError, match=r"did you mean 'apps/forward-latest-invoice'"):
        check(["apps/forward-latest-invoise"])


def test_the_module_prints_the_report_as_json() -> None:
    command = [sys.executable, "-m", "rebind.envs.apps.check", ForwardInvoice.id]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["failures"] == []
