"""The wiki: sections with articles below them, some revised."""

from __future__ import annotations

import random
from typing import Any

from rebind.envs.sites.content import words


def wiki(rng: random.Random, writers: list[Any]) -> None:
    from django.utils.text import slugify
    from wiki.models import URLPath

    root = URLPath.create_root(title="Northgate wiki", content=_index(), user=writers[0])
    for section, titles in words.WIKI.items():
        listing = "\n".join([f"Pages about {section.lower()}.", "", *_links(section)])
        parent = _page(root, slugify(section), section, listing, rng.choice(writers))
        for title in titles.split("|"):
            _page(parent, slugify(title), title, _text(rng, title, section), rng.choice(writers))


def _index() -> str:
    from django.utils.text import slugify

    lines = ["What we know, by section.", ""]
    for section in words.WIKI:
        lines += [f"## [{section}](/wiki/{slugify(section)}/)", "", *_links(section), ""]
    return "\n".join(lines)


def _links(section: str) -> list[str]:
    """Links to a section's pages, written out: the wiki's own lists of that many take seconds to make."""
    from django.utils.text import slugify

    return [f"- [{title}](/wiki/{slugify(section)}/{slugify(title)}/)" for title in words.WIKI[section].split("|")]


def _page(parent: Any, slug: str, title: str, content: str, writer: Any) -> Any:
    from wiki.models import URLPath

    permissions = {"owner": writer, "group": None, "group_read": True, "group_write": True, "other_read": True,
                   "other_write": True}  # fmt: skip
    return URLPath.create_urlpath(
        parent,
        slug,
        title=title,
        article_kwargs=permissions,
        content=content,
        user_message="First version",
        user=writer,
    )


def _text(rng: random.Random, title: str, section: str) -> str:
    """An article with facts that can be asked for."""
    days, limit, room = rng.randrange(2, 40), rng.randrange(2, 60) * 10, rng.randrange(100, 480)
    owner = f"{rng.choice(words.FIRST)} {rng.choice(words.LAST)}"
    sentences = " ".join(rng.sample(words.SENTENCES, 3))
    return (
        f"This page belongs to {section.lower()}.\n\n## Summary\n\n{title}: {sentences}\n\n## Facts\n\n"
        f"- Responsible: {owner}\n- Notice period: {days} days\n- Limit: {limit} dollars\n- Room: {room}\n"
    )
