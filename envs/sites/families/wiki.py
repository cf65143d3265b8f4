"""The wiki: reading facts off articles, writing articles."""

from __future__ import annotations

import re
from typing import Any

from rebind.envs.apps.families.draw import choice, phrase
from rebind.envs.apps.families.effects import Added, Part, says
from rebind.envs.sites.content.people import MANAGER
from rebind.envs.sites.families.answers import Choice, Number
from rebind.envs.sites.families.base import (
    Bound,
    CannotBuild,
    Drawn,
    Expected,
    Family,
    Grounded,
    SiteView,
    saw,
    visited,
)
from rebind.envs.sites.families.draws import listed, lookup, queries, query
from rebind.envs.sites.families.flows import Oracle, act, click, done, fill, form, must, open_article, reads

_TITLES = (
    "SELECT r.title FROM wiki_articlerevision r JOIN wiki_article a ON a.current_revision_id = r.id JOIN "
    "wiki_urlpath u ON "
    "u.article_id = a.id WHERE u.level = {level} ORDER BY r.title"
)
ARTICLE, SECTION = query(_TITLES.format(level=2)), query(_TITLES.format(level=1))
_OF_TITLE = (
    "FROM wiki_urlpath u JOIN wiki_article a ON a.id = u.article_id JOIN wiki_articlerevision r ON r.id = "
    "a.current_revision_id WHERE r.title = ?"
)
ARTICLE_ID = lookup(f"SELECT a.id {_OF_TITLE}", "article")
FACTS = "Notice period | Limit | Room"


def fact(view: SiteView, title: str, what: str) -> int:
    """A number that an article states."""
    return _number(view.value(f"SELECT r.content {_OF_TITLE}", title), what)


def _number(page: str, what: str) -> int:
    return int(reads(rf"- {what}: (\d+)", page))


class ArticleFact(Family):
    id = "sites/article-fact-question"
    group = "<5"
    account, start = "ada.fischer", "/wiki/"
    drawn = (
        Drawn("article", "record", ARTICLE, central=True),
        Drawn("what", "parameter", choice(FACTS)),
    )
    grounded = (
        Grounded("article_id", "record", ARTICLE_ID),
        Grounded("section_id", "location", lookup(f"SELECT u.parent_id {_OF_TITLE}", "article")),
    )
    wordings = (
        'What does the wiki page "{article}" give as "{what}"? I need the number only.',
        'Look up the number behind "{what}" on the wiki page "{article}".',
        'According to the wiki, what is the "{what}" of "{article}" (a number)?',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from open_article(b.article)
        yield from done(str(_number(page, b.what)))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        return Expected(
            answer=Number(fact(start, b.article, b.what)), marks=(saw("found: opened the page", f"- # {b.article}"),)
        )


class CompareArticles(Family):
    id = "sites/compare-articles-question"
    group = "5-10"
    account, start = "ben.osei", "/wiki/"
    drawn = (
        Drawn("articles", "record", queries(3, _TITLES.format(level=2)), central=True, show=listed),
        Drawn("what", "parameter", choice(FACTS)),
        Drawn("extreme", "parameter", choice("highest | lowest")),
    )
    grounded = (
        Grounded("article_ids", "record", lambda v, b: [v.value(f"SELECT a.id {_OF_TITLE}", t) for t in b.articles]),
    )
    wordings = (
        'Which of the wiki pages {articles} has the {extreme} number for "{what}"?',
        'Compare "{what}" on the wiki pages {articles}: which page has the {extreme} one?',
        'Give me the title of the page with the {extreme} "{what}" among {articles}.',
    )

    def oracle(self, b: Bound) -> Oracle:
        values: dict[str, int] = {}
        for title in b.articles:
            if values:
                yield from act("go_back")
            values[title] = _number((yield from open_article(title)), b.what)
        yield from done((max if b.extreme == "highest" else min)(values, key=lambda title: values[title]))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        values = {title: fact(start, title, b.what) for title in b.articles}
        if len(set(values.values())) < len(values):
            raise CannotBuild("a tie")
        best = (max if b.extreme == "highest" else min)(values, key=lambda title: values[title])
        marks = [saw(f"read-{n}: opened {title}", f"- # {title}") for n, title in enumerate(b.articles, 1)]
        return Expected(answer=Choice(best, tuple(b.articles)), marks=marks)


class SectionSum(Family):
    id = "sites/section-sum-question"
    group = ">35"
    account, start = "cora.silva", "/wiki/"
    drawn = (
        Drawn("section", "location", SECTION, central=True),
        Drawn("what", "parameter", choice(FACTS)),
    )
    grounded = (
        Grounded("section_id", "record", lookup(f"SELECT u.id {_OF_TITLE}", "section")),
        Grounded("pages", "state", lambda v, b: sorted(_pages(v, b.section_id))),
    )
    wordings = (
        'Add up the numbers for "{what}" of all pages in the wiki section "{section}". What is the sum?',
        'What is the total of "{what}" over every page below "{section}" in the wiki?',
        'Go through all wiki pages of the section "{section}" and sum up their "{what}" numbers.',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from click(f'link "{b.section}"')
        listing = page.split("Pages about", 1)[-1].split("Powered by")[0]
        total = 0
        for title in re.findall(r'- \[\d+\] link "([^"]+)"', listing):
            total += _number((yield from open_article(title)), b.what)
            yield from click(f'link "{b.section}"')
        yield from done(str(total))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        marks = [
            saw("section: opened the section", f"- # {b.section}"),
            saw("last: opened its last page", f"- # {b.pages[-1]}"),
        ]
        return Expected(answer=Number(sum(fact(start, title, b.what) for title in b.pages)), marks=marks)


def _pages(view: SiteView, section: int) -> list[Any]:
    return view.column(
        "SELECT r.title FROM wiki_urlpath u JOIN wiki_article a ON a.id = u.article_id JOIN "
        "wiki_articlerevision r ON r.id = "
        "a.current_revision_id WHERE u.parent_id = ?",
        section,
    )


class RewriteArticle(Family):
    id = "sites/rewrite-article"
    group = "5-10"
    account, start = "dan.keller", "/wiki/"
    drawn = (
        Drawn("article", "record", ARTICLE, central=True),
        Drawn(
            "text",
            "parameter",
            phrase(
                "{a} {b}",
                a="This page has moved. | Out of date. | Under review.",
                b="Ask the reception. | See the handbook. | Come back in May. | Call 4711.",
            ),
        ),
        Drawn(
            "reason", "parameter", choice("Clean-up | As agreed on Monday | Old text was wrong | Asked by the board")
        ),
    )
    grounded = (Grounded("article_id", "record", ARTICLE_ID),)
    wordings = (
        'Replace the whole contents of the wiki page "{article}" by "{text}", with the edit summary "{reason}".',
        'The wiki page "{article}" should consist of this text only: "{text}". Give "{reason}" as the '
        "summary of the edit.",
        'Edit "{article}" in the wiki: its contents become "{text}". Summary: "{reason}".',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_article(b.article)
        yield from click('link "Edit"')
        yield from form(Contents=b.text, Summary=b.reason)
        yield from click('button "Save changes"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        revision = Added(
            "wiki_articlerevision",
            article_id=b.article_id,
            content=says(b.text),
            user_message=says(b.reason),
            title=b.article,
            mark="saved: the page has its text",
        )
        return Expected(effects=(revision,), marks=(saw("found: opened the page", f"- # {b.article}"),))


class CreateArticle(Family):
    id = "sites/create-article"
    group = "5-10"
    account, start = MANAGER, "/wiki/"
    drawn = (
        Drawn("section", "location", SECTION, central=True),
        Drawn(
            "title",
            "parameter",
            phrase("{a} {b}", a="Winter | Summer | Guest | Team", b="rules | plan | dinner | bikes"),
        ),
        Drawn("slug", "parameter", phrase("{a}-{n}", a="page | note | entry", n="11 | 24 | 58 | 73")),
        Drawn(
            "text",
            "parameter",
            phrase(
                "{a} {b}", a="Agreed last week. | First draft.", b="More to come. | Please comment. | Valid from June."
            ),
        ),
    )
    grounded = (Grounded("section_id", "record", lookup(f"SELECT u.id {_OF_TITLE}", "section")),)
    wordings = (
        'Create a wiki page below the section "{section}": title "{title}", slug "{slug}", contents "{text}".',
        'The wiki section "{section}" needs a new article titled "{title}" with the slug "{slug}". Its text '
        'is "{text}"',
        'Add an article to "{section}" in the wiki. Title: "{title}". Slug: {slug}. Contents: "{text}"',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from click(f'link "{b.section}"', f'button "Sub-articles for {b.section}" #2')
        must(f"New article below {b.section}" in page, f"no section {b.section}")
        yield from click(f'link "New article below {b.section}"')
        yield from form(Title=b.title, Slug=b.slug)
        yield from fill('textbox "Contents"', b.text)
        yield from click('button "Create article"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        parts = (
            Part("wiki_articlerevision", "article_id", title=says(b.title), content=says(b.text)),
            Part("wiki_urlpath", "article_id", parent_id=b.section_id, slug=b.slug),
            Part("wiki_articleforobject", "article_id"),
        )
        article = Added("wiki_article", parts=parts, mark="created: the article is in its section")
        return Expected(effects=(article,), marks=(visited("form: opened the form", "/wiki/.*/_create/"),))
