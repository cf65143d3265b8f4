"""All task families, by id. To add one: import its class and put it in the list."""

from __future__ import annotations

from rebind.envs.apps.families.base import Family
from rebind.envs.apps.families.budget_left import BudgetLeft
from rebind.envs.apps.families.forward_invoice import ForwardInvoice
from rebind.envs.apps.families.handover_files import HandoverFiles
from rebind.envs.apps.families.postpone_meeting import PostponeMeeting
from rebind.envs.apps.families.send_gift import SendGift
from rebind.envs.apps.families.settle_group import SettleGroup

_ALL: tuple[type[Family], ...] = (
    BudgetLeft,
    ForwardInvoice,
    HandoverFiles,
    PostponeMeeting,
    SendGift,
    SettleGroup,
)

FAMILIES: dict[str, Family] = {family.id: family() for family in _ALL}
if len(FAMILIES) != len(_ALL):
    raise ValueError("two families share an id")
