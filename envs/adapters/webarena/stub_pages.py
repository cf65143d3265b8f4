"""The pages of the stub sites. Addresses, fields and statuses are those that the package's evaluators look for;
content is ours."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote

_COMMITS = (("kilian", "March 5, 2023"), ("Eric", "March 2, 2023"), ("Eric", "March 2, 2023"))
_REQUESTS = {
    "a11yproject/a11yproject.com": (72594, "Semantic HTML post"),
    "primer/design": (139245, "Octovisuals page"),
}
_PRODUCTS = {"78": "Teton pullover hoodie", "478": "Ryker Tee Crew Neck"}
_GOODS = {"1": "Sensitive Laundry Detergent, 50 oz", "2": "Whitening Toothpaste, 3.5 oz", "3": "Dish Sponge, 6 Pack"}
_BIOGRAPHY = "/user/MarvelsGrantMan136/edit_biography"
_WISHES = "/wishlist/index/add/"
_SIGN_IN = "/users/sign_in"
_CONTACT = "/contact/index/post"

_COMMENT = """<label>Comment <textarea id="text"></textarea></label><button id="send">Comment</button><script>
document.getElementById("send").onclick = () => fetch(ADDRESS, {
  method: "POST",
  headers: {"Content-Type": "application/json", "X-Requested-With": "XMLHttpRequest"},
  body: JSON.stringify({note: {noteable_type: "MergeRequest", note: document.getElementById("text").value}}),
})
</script>"""
_DRAFT = """<script>
document.forms[0].onchange = () => fetch("http://drafts.example/dummy_bin", {
  method: "POST", mode: "no-cors", body: new URLSearchParams(new FormData(document.forms[0])),
}).catch(() => null)
</script>"""
"""Tells a filled form that is not sent to an address where nobody answers, which is what the package looks for."""


@dataclass(frozen=True)
class Answer:
    """What a site says to a request."""

    body: str
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


Taker = Callable[[str], Answer]
"""Answers the body of a POST."""


@dataclass(frozen=True)
class Site:
    """One stub site, by paths."""

    pages: Mapping[str, Answer]
    takes: Mapping[str, Taker]


def sites() -> dict[str, Site]:
    """All of them, by the package's names."""
    return {"gitlab": _gitlab(), "reddit": _reddit(), "shopping": _shopping(), "shopping_admin": _admin()}


def _gitlab() -> Site:
    """Projects with issues, commits, and one merge request each that takes comments."""
    pages = {"/": _page("Projects", *(_link(f"/{name}", name) for name in _REQUESTS))}
    for name, (number, title) in _REQUESTS.items():
        base, notes = f"/{name}/-", f"/{name}/notes?target_id={number}&target_type=merge_request"
        menu = _link(f"{base}/issues", "Issues") + _link(f"{base}/merge_requests", "Merge requests")
        menu += _link(f"{base}/commits/main", "Commits")
        pages[f"/{name}"] = _page(name, menu)
        pages[f"{base}/issues"] = _page("Issues", menu)
        pages[f"{base}/commits/main"] = _page("Commits", *(f"<p>{who} authored on {day}</p>" for who, day in _COMMITS))
        pages[f"{base}/merge_requests"] = _page("Merge requests", _link(f"{base}/merge_requests/{number}", title))
        pages[f"{base}/merge_requests/{number}"] = _page(title, _COMMENT.replace("ADDRESS", json.dumps(notes)))
    labels = ("Username or email", "user"), ("Password", "password")
    fields = "".join(f"<label>{label} <input name={name}></label>" for label, name in labels)
    pages[_SIGN_IN] = _page("GitLab", _form(_SIGN_IN, fields, "Sign in"))
    kept = Answer('{"valid": true}', kind="application/json")
    takes: dict[str, Taker] = {f"/{name}/notes": lambda _: kept for name in _REQUESTS}
    return Site(pages, {**takes, _SIGN_IN: lambda _: _to("/")})


def _reddit() -> Site:
    """A user's biography, in a form of fields."""
    area = '<label>Biography <textarea name="user_biography[biography]"></textarea></label>'
    pages = {
        "/": _page("Forums", _link(_BIOGRAPHY, "Edit biography")),
        _BIOGRAPHY: _page("Edit biography", _form(_BIOGRAPHY, area, "Save")),
    }
    return Site(pages, {_BIOGRAPHY: lambda _: _to("/")})


def _shopping() -> Site:
    """Goods for a wish list, and a contact form."""
    goods = (_form(_WISHES, _hidden("product", key), f"Wish for {name}") for key, name in _GOODS.items())
    fields = "".join(
        f"<label>{label} <input name={name}></label>" for label, name in (("Name", "name"), ("Email", "email"))
    )
    fields += '<label>Message <textarea name="comment"></textarea></label>' + _hidden("form_id", "contact-form")
    pages = {
        "/": _page("Shop", *goods, _link("/contact", "Contact Us")),
        "/contact": _page("Contact Us", _form(_CONTACT, fields, "Submit"), _DRAFT),
    }
    return Site(pages, {_WISHES: _wished, _CONTACT: lambda _: _to("/contact")})


def _wished(body: str) -> Answer:
    name = _GOODS[parse_qs(body)["product"][0]]
    said = json.dumps([{"type": "success", "text": f"{name} has been added to your Wish List."}])
    return _to("/", f"mage-messages={quote(said)}; Path=/")


def _admin() -> Site:
    """Products that can be disabled, in a form of parts."""
    choice = (
        '<label>Status <select name="product[status]"><option value=1>Enabled<option value=2>Disabled</select></label>'
    )
    choice += '<input type="file" name="image" hidden>'
    pages = {
        "/": _page("Products", *(_link(f"/catalog/product/edit/id/{key}", name) for key, name in _PRODUCTS.items()))
    }
    takes: dict[str, Taker] = {}
    for key, name in _PRODUCTS.items():
        save = f"/catalog/product/save/id/{key}/type/configurable/store/0/set/9/back/edit"
        pages[f"/catalog/product/edit/id/{key}"] = _page(name, _form(save, choice, "Save", "multipart/form-data"))
        takes[save] = lambda _: _to("/")
    return Site(pages, takes)


def _page(title: str, *body: str) -> Answer:
    shown = html.escape(title)
    return Answer(f"<!doctype html><title>{shown}</title><h1>{shown}</h1>{''.join(body)}")


def _link(path: str, text: str) -> str:
    return f'<p><a href="{path}">{html.escape(text)}</a></p>'


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{value}">'


def _form(action: str, fields: str, button: str, kind: str = "application/x-www-form-urlencoded") -> str:
    return (
        f'<form method="post" action="{action}" enctype="{kind}">{fields}<button>{html.escape(button)}</button></form>'
    )


def _to(path: str, cookie: str = "") -> Answer:
    return Answer("", 302, headers={"Location": path} | ({"Set-Cookie": cookie} if cookie else {}))
