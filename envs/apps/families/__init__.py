"""All task families, by id. To add one: import its class and put it in the list."""

from __future__ import annotations

from rebind.envs.apps.families.add_task import AddTask
from rebind.envs.apps.families.adjust_standing_order import AdjustStandingOrder
from rebind.envs.apps.families.answer_requests import AnswerRequests
from rebind.envs.apps.families.answer_with_date import AnswerWithDate
from rebind.envs.apps.families.append_to_note import AppendToNote
from rebind.envs.apps.families.base import Family
from rebind.envs.apps.families.budget_left import BudgetLeft
from rebind.envs.apps.families.change_number import ChangeNumber
from rebind.envs.apps.families.collect_replies import CollectReplies
from rebind.envs.apps.families.cost_with_coupon import CostWithCoupon
from rebind.envs.apps.families.file_by_quarter import FileByQuarter
from rebind.envs.apps.families.fill_cart import FillCart
from rebind.envs.apps.families.forward_invoice import ForwardInvoice
from rebind.envs.apps.families.group_branch import GroupBranch
from rebind.envs.apps.families.handover_files import HandoverFiles
from rebind.envs.apps.families.message_namesake import MessageNamesake
from rebind.envs.apps.families.most_sessions import MostSessions
from rebind.envs.apps.families.move_appointment import MoveAppointment
from rebind.envs.apps.families.order_hamper import OrderHamper
from rebind.envs.apps.families.paid_in_month import PaidInMonth
from rebind.envs.apps.families.postpone_meeting import PostponeMeeting
from rebind.envs.apps.families.return_order import ReturnOrder
from rebind.envs.apps.families.send_gift import SendGift
from rebind.envs.apps.families.settle_group import SettleGroup
from rebind.envs.apps.families.shift_week import ShiftWeek
from rebind.envs.apps.families.sort_mails import SortMails
from rebind.envs.apps.families.star_newest_mail import StarNewestMail
from rebind.envs.apps.families.tidy_list import TidyList
from rebind.envs.apps.families.top_songs import TopSongs

_ALL: tuple[type[Family], ...] = (
    AddTask,
    AdjustStandingOrder,
    AnswerRequests,
    AnswerWithDate,
    AppendToNote,
    BudgetLeft,
    ChangeNumber,
    CollectReplies,
    CostWithCoupon,
    FileByQuarter,
    FillCart,
    ForwardInvoice,
    GroupBranch,
    HandoverFiles,
    MessageNamesake,
    MostSessions,
    MoveAppointment,
    OrderHamper,
    PaidInMonth,
    PostponeMeeting,
    ReturnOrder,
    SendGift,
    SettleGroup,
    ShiftWeek,
    SortMails,
    StarNewestMail,
    TidyList,
    TopSongs,
)

FAMILIES: dict[str, Family] = {family.id: family() for family in _ALL}
if len(FAMILIES) != len(_ALL):
    raise ValueError("two families share an id")
