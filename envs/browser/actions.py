"""What an agent can do in a browser, in BrowserGym's words, and how each is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from rebind.envs.browser.refs import FORM
from rebind.envs.browser.session import Session
from rebind.envs.browser.tabs import ACTION_MS, LOAD_MS, ActionFailed
from rebind.errors import did_you_mean
from rebind.types import ToolSpec

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle

Values = Mapping[str, Any]
_ELEMENT: dict[str, JsonValue] = {"type": "string", "description": FORM}
_TEXT: dict[str, JsonValue] = {"type": "string"}
_NUMBER: dict[str, JsonValue] = {"type": "integer"}


@dataclass
class Scope:
    """What an action works on: the session, and the files the task lets the agent upload."""

    session: Session
    uploads: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class ActionSpec:
    """An action: its tool, what it does, and which arguments name elements."""

    tool: ToolSpec
    do: Callable[[Scope, Values], Awaitable[None]]
    elements: tuple[str, ...] = ()


async def act(scope: Scope, name: str, args: Values) -> dict[str, JsonValue]:
    """Does one action and waits until the page is quiet. Returns the arguments as they are stored: elements by role and
    name, never by number alone.

    Raises:
        ActionFailed: it is no action, its arguments are wrong, or the page does not let it be done; in words for the
            agent.
    """
    from playwright.async_api import Error

    spec = ACTIONS.get(name)
    if spec is None:
        raise ActionFailed(f"there is no action {name!r}{did_you_mean(name, ACTIONS)}")
    check(spec.tool, args)
    stored: dict[str, JsonValue] = dict(args)
    ready: dict[str, Any] = dict(args)
    for key in spec.elements:
        if key in args:
            ready[key], stored[key] = await scope.session.element(str(args[key]))
    try:
        await _twice(scope, spec, ready, stored)
    except Error as error:
        if _DONE not in str(error):
            raise ActionFailed(_reason(name, error)) from None
    finally:
        await scope.session.settle()
    return stored


async def _twice(scope: Scope, spec: ActionSpec, ready: dict[str, Any], stored: Values) -> None:
    """Does it, once more where the page replaced the element meanwhile."""
    from playwright.async_api import Error

    try:
        await spec.do(scope, ready)
    except Error as error:
        if not spec.elements or "not attached" not in str(error):
            raise
        await scope.session.settle()
        for key in spec.elements:
            if key in stored:
                ready[key], _ = await scope.session.element(str(stored[key]))
        await spec.do(scope, ready)


def check(tool: ToolSpec, args: Values) -> None:
    """Raises ActionFailed where the arguments are not the tool's."""
    properties: Any = tool.parameters["properties"]
    required: Any = tool.parameters["required"]
    for key in args:
        if key not in properties:
            raise ActionFailed(f"{tool.name} takes no argument {key!r}{did_you_mean(key, properties)}")
    for key in required:
        if key not in args:
            raise ActionFailed(f"{tool.name} needs the argument {key!r}")
    for key, value in args.items():
        kind = properties[key]["type"]
        fits = isinstance(value, str | int | float) if kind == "string" else isinstance(value, int)
        if not fits or isinstance(value, bool):
            raise ActionFailed(f"{tool.name}: {key!r} must be {'text' if kind == 'string' else 'a whole number'}")


def _reason(name: str, error: Exception) -> str:
    """Why Playwright could not do it, without its call log."""
    said = str(error)
    covering = [line.strip(" -") for line in said.splitlines() if "intercepts pointer events" in line]
    if covering:
        return f"{name} was not possible: another element covers it: {covering[-1].split(' from ')[0][:160]}"
    for sign, reason in _SIGNS.items():
        if sign in said:
            return f"{name} was not possible: {reason}"
    return f"{name} was not possible: {said.strip().splitlines()[0].split(': ', 1)[-1][:200]}"


_DONE = "waiting for scheduled navigations to finish"
"""Playwright lost patience after the action itself was done: a slow site is not the agent's failure; `settle` waits."""
_SIGNS = {
    "not visible": "the element is not visible",
    "not enabled": "the element is disabled",
    "not editable": "the element cannot be edited",
    "not attached": "the element is gone from the page",
    "outside of the viewport": "the element cannot be scrolled into view",
    "did not find some options": "it has no such option",
    "ERR_CONNECTION_REFUSED": "the site does not answer",
    "ERR_PROXY_CONNECTION_FAILED": "that address is outside the sites",
    "Malformed value": "the value has not the form that this kind of field takes (dates are YYYY-MM-DD, times HH:MM)",
    "Unknown key": "there is no such key; keys are named like Enter, Tab, ArrowDown or Control+a",
}


# --- the actions ----------------------------------------------------------------------------------------------------


async def _click(scope: Scope, args: Values) -> None:
    await _press_on(args["element"], lambda e: e.click(timeout=ACTION_MS))


async def _dblclick(scope: Scope, args: Values) -> None:
    await _press_on(args["element"], lambda e: e.dblclick(timeout=ACTION_MS))


async def _press_on(element: ElementHandle, how: Callable[[ElementHandle], Awaitable[None]]) -> None:
    """Clicks; a control that is drawn by its label (itself invisible) is clicked through the label."""
    label = (
        await element.evaluate_handle(
            "el => el.labels && el.labels[0] && !el.checkVisibility({opacityProperty: true}) ? el.labels[0] : null"
        )
    ).as_element()
    await how(label or element)


async def _hover(scope: Scope, args: Values) -> None:
    await args["element"].hover(timeout=ACTION_MS)


async def _focus(scope: Scope, args: Values) -> None:
    await args["element"].focus()


_SET = """(el, value) => {
  const own = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(el), "value");
  own.set.call(el, value);
  el.dispatchEvent(new Event("input", {bubbles: true}));
  el.dispatchEvent(new Event("change", {bubbles: true}));
}"""


async def _fill(scope: Scope, args: Values) -> None:
    element, value = args["element"], str(args["value"])
    if await element.evaluate("el => el.tagName === 'INPUT' && ['range', 'color'].includes(el.type)"):
        await element.evaluate(_SET, value)
    else:
        await element.fill(value, timeout=ACTION_MS)


async def _clear(scope: Scope, args: Values) -> None:
    await args["element"].fill("", timeout=ACTION_MS)


async def _select_option(scope: Scope, args: Values) -> None:
    element = args["element"]
    known = await element.evaluate("el => el.options ? Array.from(el.options, o => [o.label.trim(), o.value]) : null")
    if known is None:
        raise ActionFailed("that element has no options; click it instead")
    labels = [label for label, _ in known]
    whole = str(args["options"]).strip()
    values = []
    for one in [whole] if whole in labels else map(str.strip, whole.split("|")):
        fits = [v for label, v in known if label == one] or [v for _, v in known if v == one]
        if not fits:
            raise ActionFailed(f"it has no option {one!r}{did_you_mean(one, labels)}")
        values.append(fits[0])
    await element.select_option(value=values, timeout=ACTION_MS)


async def _press(scope: Scope, args: Values) -> None:
    key = str(args["key"])
    if "element" in args:
        await args["element"].press(key, timeout=ACTION_MS)
    else:
        await scope.session.page.keyboard.press(key)


async def _scroll(scope: Scope, args: Values) -> None:
    dx, dy = int(args.get("delta_x", 0)), int(args.get("delta_y", 0))
    if "element" in args:
        await args["element"].evaluate("(el, [x, y]) => el.scrollBy(x, y)", [dx, dy])
    else:
        await scope.session.page.evaluate("([x, y]) => window.scrollBy(x, y)", [dx, dy])


async def _drag_and_drop(scope: Scope, args: Values) -> None:
    """By the mouse, in small moves: libraries that watch the pointer need to see it travel."""
    start, end = args["from_element"], args["to_element"]
    await start.scroll_into_view_if_needed(timeout=ACTION_MS)
    a, b = await start.bounding_box(), await end.bounding_box()
    if a is None or b is None:
        raise ActionFailed("drag_and_drop was not possible: an element is not visible")
    mouse = scope.session.page.mouse
    await mouse.move(a["x"] + a["width"] / 2, a["y"] + a["height"] / 2)
    await mouse.down()
    await mouse.move(b["x"] + b["width"] / 2, b["y"] + b["height"] / 2, steps=12)
    await mouse.up()


async def _upload_file(scope: Scope, args: Values) -> None:
    name = str(args["file"])
    if name not in scope.uploads:
        raise ActionFailed(f"there is no file {name!r} to upload{did_you_mean(name, scope.uploads)}")
    await args["element"].set_input_files(scope.uploads[name], timeout=ACTION_MS)


async def _goto(scope: Scope, args: Values) -> None:
    from playwright.async_api import TimeoutError

    session, url = scope.session, str(args["url"])
    if "://" not in url and url.startswith("/"):
        url = await session.page.evaluate("path => new URL(path, location.href).href", url)
    if not session.allows(url):
        raise ActionFailed(f"{url} is outside the sites; stay within them")
    page = session.page
    try:
        answer = await page.goto(url, wait_until="domcontentloaded", timeout=LOAD_MS)
    except TimeoutError:
        await session.overdue(page, url)
        raise
    if answer is not None and answer.status >= 400:
        session.notes.append(f"the site answered {answer.status} {answer.status_text}".strip())


async def _go_back(scope: Scope, args: Values) -> None:
    await _through_history(scope, -1)


async def _go_forward(scope: Scope, args: Values) -> None:
    await _through_history(scope, 1)


async def _through_history(scope: Scope, by: int) -> None:
    from playwright.async_api import TimeoutError

    page = scope.session.page
    before = page.url
    try:
        await (page.go_back if by < 0 else page.go_forward)(wait_until="domcontentloaded", timeout=LOAD_MS)
    except TimeoutError:
        await scope.session.overdue(page, page.url)
        raise
    if page.url == "about:blank" and before != "about:blank":
        await page.goto(before, wait_until="domcontentloaded")
    if page.url == before:
        raise ActionFailed("there is no page to go " + ("back" if by < 0 else "forward") + " to")


async def _new_tab(scope: Scope, args: Values) -> None:
    await scope.session.context.new_page()


async def _tab_focus(scope: Scope, args: Values) -> None:
    scope.session.active = _tab(scope, args)
    await scope.session.page.bring_to_front()


async def _tab_close(scope: Scope, args: Values) -> None:
    session = scope.session
    if len(session.pages) == 1:
        raise ActionFailed("the last tab stays open")
    await session.page.close()


def _tab(scope: Scope, args: Values) -> Any:
    index, pages = int(args["index"]), scope.session.pages
    if not 0 <= index < len(pages):
        raise ActionFailed(f"there is no tab {index}; tabs are numbered 0 to {len(pages) - 1}")
    return pages[index]


async def _noop(scope: Scope, args: Values) -> None:
    """Waits: pages that work by timers get time to."""
    await scope.session.page.wait_for_timeout(min(max(int(args.get("ms", 500)), 0), 5_000))


def _action(
    name: str,
    says: str,
    do: Callable[[Scope, Values], Awaitable[None]],
    optional: str = "",
    **arguments: dict[str, JsonValue],
) -> ActionSpec:
    required: list[JsonValue] = [key for key in arguments if key not in optional.split()]
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {k: dict(v) for k, v in arguments.items()},
        "required": required,
        "additionalProperties": False,
    }
    elements = tuple(key for key in arguments if key.endswith("element"))
    return ActionSpec(ToolSpec(name=name, description=says, parameters=parameters), do, elements)


ACTIONS: dict[str, ActionSpec] = {
    one.tool.name: one
    for one in (
        _action("click", "Clicks an element.", _click, element=_ELEMENT),
        _action("dblclick", "Clicks an element twice.", _dblclick, element=_ELEMENT),
        _action("hover", "Moves the pointer over an element.", _hover, element=_ELEMENT),
        _action("focus", "Puts the focus on an element.", _focus, element=_ELEMENT),
        _action("fill", "Puts text into a field, in place of what is there.", _fill, element=_ELEMENT, value=_TEXT),
        _action("clear", "Empties a field.", _clear, element=_ELEMENT),
        _action(
            "select_option",
            "Chooses from a combobox or listbox, by the option's text; several of a listbox are separated by |.",
            _select_option,
            element=_ELEMENT,
            options=_TEXT,
        ),
        _action(
            "press",
            "Presses a key or combination, such as Enter or Control+a.",
            _press,
            "element",
            key=_TEXT,
            element=_ELEMENT,
        ),
        _action(
            "scroll",
            "Scrolls the page, or an element, by pixels.",
            _scroll,
            "delta_x element",
            delta_y=_NUMBER,
            delta_x=_NUMBER,
            element=_ELEMENT,
        ),
        _action(
            "drag_and_drop",
            "Drags one element onto another.",
            _drag_and_drop,
            from_element=_ELEMENT,
            to_element=_ELEMENT,
        ),
        _action(
            "upload_file",
            "Chooses one of the task's files in a file field.",
            _upload_file,
            element=_ELEMENT,
            file=_TEXT,
        ),
        _action("goto", "Opens an address of the sites.", _goto, url=_TEXT),
        _action("go_back", "Goes back a page.", _go_back),
        _action("go_forward", "Goes forward a page.", _go_forward),
        _action("new_tab", "Opens an empty tab.", _new_tab),
        _action("tab_focus", "Switches to a tab.", _tab_focus, index=_NUMBER),
        _action("tab_close", "Closes the active tab.", _tab_close),
        _action("noop", "Waits, 500 ms where not said otherwise.", _noop, "ms", ms=_NUMBER),
    )
}
VIEW_PART = ToolSpec(
    name="view_part",
    description="Shows another part of a page that is too long for one view.",
    parameters={
        "type": "object",
        "properties": {"part": {"type": "integer"}},
        "required": ["part"],
        "additionalProperties": False,
    },
)
ANSWER = ToolSpec(
    name="send_msg_to_user",
    description="Ends the task: gives the answer, or says that it is done where none was asked for.",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
)
INFEASIBLE = ToolSpec(
    name="report_infeasible",
    description="Ends the task where it cannot be done, and says why.",
    parameters={
        "type": "object",
        "properties": {"reason": {"type": "string"}},
        "required": ["reason"],
        "additionalProperties": False,
    },
)
ENDINGS = (ANSWER.name, INFEASIBLE.name)
TOOLS: tuple[ToolSpec, ...] = (*(one.tool for one in ACTIONS.values()), VIEW_PART, ANSWER, INFEASIBLE)
