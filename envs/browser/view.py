"""What the agent reads: address, title, tabs, what just happened, and the page as a tree, a page of it at a time."""

from __future__ import annotations

from dataclasses import dataclass

PAGE_CHARACTERS = 8_000
"""Characters of tree in one page of a view, about 2,500 tokens."""


@dataclass(frozen=True)
class Tab:
    title: str
    url: str


@dataclass(frozen=True)
class View:
    """A document as it stood at one moment. Lines are ready text, two spaces a level."""

    tabs: tuple[Tab, ...]
    active: int
    lines: tuple[str, ...]
    focused: str = ""
    below: int = 0
    """Pixels of the page below the window."""

    def pages(self, size: int = PAGE_CHARACTERS) -> list[list[str]]:
        """The lines in pages of about `size` characters, never cut within a line; at least one page."""
        pages: list[list[str]] = [[]]
        room = size
        for line in self.lines:
            if room < len(line) and pages[-1]:
                pages.append([])
                room = size
            pages[-1].append(line)
            room -= len(line) + 1
        return pages

    def text(self, notes: tuple[str, ...] = (), page: int = 1, size: int = PAGE_CHARACTERS) -> str:
        """The observation: header, notes on the last action, and page `page` of the tree, from 1."""
        pages = self.pages(size)
        page = min(max(page, 1), len(pages))
        if self.tabs:
            here = self.tabs[self.active]
            head = [f"url: {here.url}", f"title: {here.title}"]
        else:
            head = ["no tab is open; new_tab opens one"]
        if len(self.tabs) > 1:
            head.append("tabs: " + ", ".join(self._tab(n) for n in range(len(self.tabs))))
        if self.focused:
            head.append(f"focused: {self.focused}")
        head += [f"note: {note}" for note in notes]
        if len(pages) > 1:
            head.append(f"part {page} of {len(pages)} of this page; view_part shows another")
        return "\n".join([*head, "---", *pages[page - 1]])

    def _tab(self, n: int) -> str:
        return f'{"*" if n == self.active else ""}{n} "{self.tabs[n].title or self.tabs[n].url}"'
