"""Every action does what it says; what cannot be done is answered in words, and stored elements never go by number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Opened = Callable[..., Any]
LOG = "<p id=log></p><script>const say = w => { log.textContent += w + ' ' }</script>"


def test_pointer_actions_reach_the_element(opened: Opened) -> None:
    env = opened(
        LOG + """<button onclick="say('clicked')" ondblclick="say('twice')" onmouseover="say('over')">b</button>"""
    )
    env.begin()
    assert "over" in env.act("hover", element='button "b"')
    assert "clicked" in env.act("click", element='button "b"')
    assert "twice" in env.act("dblclick", element='button "b"')


def test_fields_are_filled_cleared_and_chosen(opened: Opened) -> None:
    env = opened(
        """<input aria-label=t value=old><input type=range aria-label=r min=0 max=9 value=1>
        <input type=date aria-label=d>
        <select aria-label=s><option value=1>one<option value=2>two</select>
        <select aria-label=m multiple><option>a<option>b<option>c</select>"""
    )
    env.begin()
    assert 'textbox "t" value="new"' in env.act("fill", element="t", value="new")
    assert 'textbox "t"\n' in env.act("clear", element="t")
    assert 'slider "r" value="7"' in env.act("fill", element="r", value="7")
    assert 'date "d" value="2025-03-01"' in env.act("fill", element="d", value="2025-03-01")
    assert 'options="one"|*"two"' in env.act("select_option", element="s", options="two")
    assert 'options=*"a"|"b"|*"c"' in env.act("select_option", element="m", options="a|c")


def test_a_control_drawn_by_its_label_is_clicked_through_it(opened: Opened) -> None:
    env = opened("<input type=checkbox id=c style='opacity:0;position:absolute;left:-900px'><label for=c>Agree</label>")
    env.begin()
    assert 'checkbox "Agree" checked' in env.act("click", element='checkbox "Agree"')


def test_keys_go_to_the_element_or_to_the_page(opened: Opened) -> None:
    env = opened(
        LOG
        + """<input aria-label=t onkeydown="say(event.key)"><script>
        document.addEventListener('keydown', e => e.target === document.body && say('page:' + e.key))</script>"""
    )
    env.begin()
    assert "page:Escape" in env.act("press", key="Escape")
    assert "Enter" in env.act("press", element="t", key="Enter")
    assert "no such key" in env.refused("press", key="Entre")


def test_dragging_moves_one_element_onto_another(opened: Opened) -> None:
    env = opened("""<button onmousedown="say('down')">from</button><button onmouseup="say('up')">to</button>""" + LOG)
    env.begin()
    seen = env.act("drag_and_drop", from_element='button "from"', to_element='button "to"')
    assert "down up" in seen


def test_only_the_tasks_files_can_be_uploaded(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "invoice.txt").write_text("x")
    env = opened(
        LOG + """<input type=file aria-label=f onchange="say(this.files[0].name)">""",
        uploads={"invoice.txt": tmp_path / "invoice.txt"},
    )
    env.begin()
    assert "did you mean 'invoice.txt'" in env.refused("upload_file", element="f", file="invoise.txt")
    assert "invoice.txt" in env.act("upload_file", element="f", file="invoice.txt")


def test_history_and_tabs_are_walked(opened: Opened) -> None:
    env = opened({"/": "<title>one</title><a href=/b>b</a>", "/b": "<title>two</title>"})
    env.begin()
    assert "there is no page to go back to" in env.refused("go_back")
    env.act("click", element='link "b"')
    assert "title: one" in env.act("go_back")
    assert "title: two" in env.act("go_forward")
    env.act("new_tab")
    assert "title: one" in env.act("goto", url=env.site.origin + "/")
    assert "title: two" in env.act("tab_focus", index=0)
    assert "title: one" in env.act("tab_close")
    assert "the last tab stays open" in env.refused("tab_close")


def test_a_stored_element_is_role_name_and_path_and_can_be_acted_on_again(opened: Opened) -> None:
    page = """<ul><li><h3>Lamp</h3><button onclick="say('lamp')">Add</button></li>
        <li><h3>Desk</h3><button onclick="say('desk')">Add</button></li></ul>"""
    env = opened(LOG + page)
    env.begin()
    stored = env.stored("click", element="2")
    assert stored == {"element": 'button "Add" in listitem "Desk"'}
    env.begin()
    assert "desk" in env.act("click", **stored)


def test_twins_that_nothing_sets_apart_are_counted(opened: Opened) -> None:
    env = opened(LOG + "".join(f"""<button onclick="say('{n}')">x</button>""" for n in ("a", "b", "c")))
    env.begin()
    stored = env.stored("click", element="2")
    assert stored == {"element": 'button "x" #2'}
    assert "3 elements fit" in env.refused("click", element='button "x"')
    assert "b b" in env.act("click", **stored)


@pytest.mark.parametrize(
    ("tool", "args", "answer"),
    [
        ("klick", {"element": "1"}, "there is no action 'klick'; did you mean 'click'?"),
        ("click", {}, "click needs the argument 'element'"),
        ("click", {"elemnt": "1"}, "did you mean 'element'?"),
        ("click", {"element": "99"}, "there is no element 99"),
        ("click", {"element": 'button "Sav"'}, 'on this page: button "Save"'),
        ("click", {"element": " "}, "no element is named"),
        ("scroll", {"delta_y": "far"}, "'delta_y' must be a whole number"),
        ("select_option", {"element": "Save", "options": "x"}, "has no options"),
        ("tab_focus", {"index": 4}, "there is no tab 4"),
    ],
)
def test_a_wrong_action_is_answered_with_what_would_be_right(
    opened: Opened, tool: str, args: dict[str, Any], answer: str
) -> None:
    env = opened("<button>Save</button>")
    env.begin()
    assert answer in env.refused(tool, **args)


def test_what_covers_an_element_is_named(opened: Opened) -> None:
    env = opened("<button>b</button><div id=veil style='position:fixed;inset:0'>wait</div>")
    env.begin()
    assert "another element covers it" in env.refused("click", element='button "b"')


def test_an_element_replaced_under_the_action_is_found_again(opened: Opened) -> None:
    env = opened(
        """<div id=box></div><script>let made = 0;
        const make = () => { made += 1;
          box.innerHTML = `<button onclick="document.title = 'made ${made}'">b</button>` };
        box.addEventListener('mouseover', () => made < 2 && make(), true); make();</script>"""
    )
    env.begin()
    assert "title: made 2" in env.act("click", element='button "b"')


def test_an_action_that_is_no_call_is_answered_and_costs_nothing(opened: Opened) -> None:
    env = opened("<p>x</p>")
    env.begin()
    seen, reward, ended, cut, info = env.step("click 1")
    assert "not valid JSON" in seen
    assert (reward, ended, cut, info["calls"]) == (0.0, False, False, ())


@pytest.mark.parametrize(
    ("tool", "args"), [("send_msg_to_user", {"text": "42"}), ("report_infeasible", {"reason": "-"})]
)
def test_a_message_to_the_user_ends_the_task(opened: Opened, tool: str, args: dict[str, str]) -> None:
    env = opened("<p>x</p>")
    env.begin()
    assert env.step(json.dumps({"tool": tool, "args": args}))[2]
