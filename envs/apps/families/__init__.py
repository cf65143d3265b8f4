"""All task families, by id. To add one: import its class and put it in the list."""

from __future__ import annotations

from rebind.envs.apps.families.add_task import AddTask
from rebind.envs.apps.families.answer_requests import AnswerRequests
from rebind.envs.apps.families.append_to_note import AppendToNote
from rebind.envs.apps.families.base import Family
from rebind.envs.apps.families.budget_left import BudgetLeft
from rebind.envs.apps.families.change_number import ChangeNumber
from rebind.envs.apps.families.fill_cart import FillCart
from rebind.envs.apps.families.forward_invoice import ForwardInvoice
from rebind.envs.apps.families.handover_files import HandoverFiles
from rebind.envs.apps.families.message_namesake import MessageNamesake
from rebind.envs.apps.families.move_appointment import MoveAppointment
from rebind.envs.apps.families.paid_in_month import PaidInMonth
from rebind.envs.apps.families.postpone_meeting import PostponeMeeting
from rebind.envs.apps.families.send_gift import SendGift
from rebind.envs.apps.families.settle_group import SettleGroup
from rebind.envs.apps.families.star_newest_mail import StarNewestMail
from rebind.envs.apps.families.tidy_list import TidyList
from rebind.envs.apps.families.top_songs import TopSongs

_ALL: tuple[type[Family], ...] = (
    AddTask,
    AnswerRequests,
    AppendToNote,
    BudgetLeft,
    ChangeNumber,
    FillCart,
    ForwardInvoice,
    HandoverFiles,
    MessageNamesake,
    MoveAppointment,
    PaidInMonth,
    PostponeMeeting,
    SendGift,
    SettleGroup,
    StarNewestMail,
    TidyList,
    TopSongs,
)

FAMILIES: dict[str, Family] = {family.id: family() for family in _ALL}
if len(FAMILIES) != len(_ALL):
    raise ValueError("two families share an id")
