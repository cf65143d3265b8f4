"""The report of a small run in all its forms, and of runs that have next to nothing to report."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.ledgers import MadeRun, call

from rebind.eval.frames import load_run
from rebind.eval.report import build, print_report, to_html, to_json, write_csv, write_html, write_latex
from rebind.eval.report.drill import drill
from rebind.eval.report.files import table_latex
from rebind.eval.report.model import Report
from rebind.types import ReuseNote

CONDITIONS = ("none", "full", "qcr")
NOTE = ReuseNote(
    workflow="Find the payee, then transfer.",
    rebind="The payee's name.",
    applies="The payee exists.",
    verify="Read the balance.",
)
VOID = {"meta", "br", "col", "img", "link", "hr", "input"}


class Page(HTMLParser):
    """Checks that tags nest, and collects what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[int] = []
        self.tables: list[str] = []
        self.captions = 0
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.captions += tag == "caption"
        if tag == "table":
            self.tables.append(found.get("id") or "")
        self.ids += [v for k, v in attrs if k == "id" and v]
        self.links += [v for k, v in attrs if k in ("href", "src", "action", "xlink:href") and v]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def small_run(*, simulated: bool = True, people: int = 4) -> MadeRun:
    """People to be paid; the direct condition copies the source's name and fails, the bound one succeeds."""
    made = MadeRun(conditions=CONDITIONS, seeds=(0, 1), simulated=simulated, name="pay & <go>")
    for n in range(people):
        made.record(f"r{n}", {"person": "Ben Moss"}, family="pay" if n % 2 else "settle", actions=8 + 10 * n)
        for level, person in (("none", "Ben Moss"), ("large", "Anna Keller")):
            goal = f"Pay <b>{person}</b> & co, no. {n}."
            family = "pay" if n % 2 else "settle"
            target = made.target(goal, f"r{n}", {"person": person}, level=level, family=family)
            for seed in (0, 1):
                made.episode(target, "none", n == 0, seed=seed, steps=[call("bank_list", access_token="tok-abc-123")])
                copied = call("bank_transfer", "422 no such payee", status=422, to="Ben Moss")
                made.episode(target, "full", level == "none", seed=seed, steps=[copied], text="A long trajectory.")
                steps = [call("bank_transfer", to=person), call("supervisor_complete_task", answer="done")]
                outcome = "invalid-infra" if (n, seed) == (3, 1) else "valid"
                ending = "done" if outcome == "valid" else "ProviderError"
                made.episode(
                    target, "qcr", True, seed=seed, steps=steps, note=NOTE, outcome=outcome, ending=ending,
                    milestones=(2, 2),
                )  # fmt: skip
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run().write(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    return build(folder)


@pytest.fixture(scope="module")
def html(report: Report) -> str:
    return to_html(report)


def test_the_headline_numbers_are_the_hand_counted_ones(report: Report) -> None:
    """No Memory succeeds for 1 person of 4; Full where nothing changed; QCR always, in 14 valid runs of 8 targets."""
    rows = {row[0].text: row for row in report.table("end_to_end").rows}
    assert [(e.text, e.n) for e in rows["No Memory"][1:2]] == [("25.0", 8)]
    assert [(e.text, e.n) for e in rows["Full Trajectory"][1:2]] == [("50.0", 8)]
    assert [(e.text, e.n) for e in rows["QCR"][1:2]] == [("100.0", 8)]
    assert rows["QCR"][-1].text == "14"
    failed = {row[0].text: row for row in report.table("end_to_end_failed").rows}
    assert failed["QCR"][1].text == f"{100 * (6 + 2 * 0.5) / 8:.1f}"
    large = next(c for c in report.select(metric="success", dimension="level", group="large", treatment="excluded"))
    assert (large.condition, large.effect.mean, large.effect.targets) == ("full", -0.25, 4)


def test_no_number_stands_without_its_denominator(report: Report) -> None:
    counted = {"end_to_end", "utility_by_level", "utility_by_length_group", "tokens", "staleness", "retrieval"}
    counted |= {"savings"}
    for table in report.tables:
        if table.id in counted:
            means = [e for row in table.rows for e in row[1:] if not isinstance(e.value, int | str)]
            assert means
            assert all(e.n is not None for e in means), table.id


def test_a_row_without_any_number_is_left_out_and_named_once(tmp_path: Path) -> None:
    made = MadeRun(conditions=CONDITIONS)
    made.record("r", {"person": "Ben"})
    target = made.target("Pay Anna.", "r", {"person": "Anna"})
    made.episode(target, "none", True)
    made.episode(target, "full", outcome="invalid-infra", ending="ProviderError")
    report = build(made.write(tmp_path))
    excluded, failed = report.table("end_to_end"), report.table("end_to_end_failed")
    assert [row[0].text for row in excluded.rows] == ["No Memory"]
    assert excluded.caption.endswith("No number for Full Trajectory, QCR: left out.")
    assert [(row[0].text, row[1].text) for row in failed.rows] == [("No Memory", "100.0"), ("Full Trajectory", "0.0")]
    assert report.summary("full").means["success"].model_dump(exclude={"interval"}) == {
        "value": None, "targets": 0, "episodes": 0,
    }  # fmt: skip


def test_where_no_run_is_invalid_both_treatments_are_shown_once_and_a_note_says_so(tmp_path: Path) -> None:
    made = MadeRun(conditions=("none", "full"))
    for n in range(3):
        made.record(f"r{n}", {"person": "Ben"})
        target = made.target(f"Pay Anna {n}.", f"r{n}", {"person": "Anna"})
        made.episode(target, "none", n > 0)
        made.episode(target, "full", True)
    report = build(made.write(tmp_path))
    assert any("No run ended invalid" in note for note in report.notes)
    assert "end_to_end_failed" not in {t.id for t in report.tables}
    assert [c.key for c in report.table("utility_by_level").columns] == ["group", "none", "full.excluded"]
    assert "treatment" not in {c.key for t in report.tables for c in t.columns}
    assert {c.treatment for c in report.contrasts} == {"excluded", "failed"}


def test_json_holds_every_table_and_is_free_of_nan(report: Report) -> None:
    text = to_json(report)
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    assert {t["id"] for t in found["tables"]} >= {"end_to_end", "effects", "utility_by_level", "staleness", "endings"}
    assert found["study"]["simulated"] is True
    assert found["retrieval"]["paired_at_1"] == {"value": 1.0, "hits": 8, "n": 8}
    assert "drill" not in found
    assert Report.model_validate_json(text).tables == report.tables


def test_building_twice_gives_the_same_bytes(folder: Path, report: Report, html: str) -> None:
    again = build(folder)
    assert to_json(again) == to_json(report)
    assert to_html(again) == html


def test_csv_files_hold_unrounded_values_beside_their_denominators(report: Report, tmp_path: Path) -> None:
    files = {p.name: p for p in write_csv(report, tmp_path / "csv")}
    assert len(files) == len(report.tables)
    rows = list(csv.DictReader(io.StringIO(files["utility_by_level.csv"].read_text(encoding="utf-8"))))
    large = next(r for r in rows if r["group"] == "Large")
    assert (float(large["qcr.excluded"]), large["qcr.excluded.n"]) == (0.75, "4")
    assert not list((tmp_path / "csv").glob("*.tmp"))


def test_latex_tables_are_balanced_and_escape_what_latex_would_read(report: Report, tmp_path: Path) -> None:
    files = write_latex(report, tmp_path)
    assert len(files) == len(report.tables)
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert text.count(r"\begin{") == text.count(r"\end{")
        unescaped = re.sub(r"\\[\\&%$#_{}]", "", text)
        assert unescaped.count("{") == unescaped.count("}")
        assert not re.search(r"[%#_]", re.sub(r"\\(label|ref)\{[^}]*\}", "", unescaped))
        columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", text).group(1))  # type: ignore[union-attr]
        body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
        for line in body.strip().splitlines():
            assert len(re.findall(r"(?<!\\)&", line)) == columns - 1


def test_latex_tables_parse_into_the_rows_that_the_report_has(report: Report) -> None:
    latexwalker = pytest.importorskip("pylatexenc.latexwalker", reason="pylatexenc is not installed")
    for table in report.tables:
        nodes, _, _ = latexwalker.LatexWalker(table_latex(table), tolerant_parsing=False).get_latex_nodes()
        outer = next(n for n in nodes if n.isNodeType(latexwalker.LatexEnvironmentNode))
        inner = next(n for n in outer.nodelist if n.isNodeType(latexwalker.LatexEnvironmentNode))
        assert (outer.environmentname, inner.environmentname) == ("table", "tabular")
        rules = [n.macroname for n in inner.nodelist if n.isNodeType(latexwalker.LatexMacroNode)]
        assert [r for r in rules if r.endswith("rule") and r != "cmidrule"] == ["toprule", "midrule", "bottomrule"]
        assert rules[rules.index("midrule") :].count("\\") == len(table.rows)


def test_the_page_is_well_formed_self_contained_and_in_order(html: str, report: Report) -> None:
    page = Page(html)
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert not re.search(r"(?:https?:)?//[a-z]", re.sub(r"<(code|pre|span)[^>]*>.*?</\1>", "", html, flags=re.S))
    assert not re.search(r"@import|url\(|@font-face", html)
    assert not re.search(r"<script[^>]*src|\b(?:fetch|XMLHttpRequest|WebSocket|import)\b", html)
    assert len(page.ids) == len(set(page.ids))
    assert page.headings[0] == 1
    assert all(b - a <= 1 for a, b in zip(page.headings, page.headings[1:], strict=False))
    shown = {t.removeprefix("table-") for t in page.tables}
    assert shown == {t.id for t in report.tables if t.rows} | {""}
    assert re.findall(r"<b>Table (\d+)\.", html) == [str(n) for n in range(1, len(shown))]
    assert "prefers-color-scheme: dark" in html


def test_text_from_the_run_cannot_become_markup(html: str) -> None:
    assert "<b>Anna Keller</b>" not in html
    assert "&lt;b&gt;Anna Keller&lt;/b&gt; &amp; co" in html
    assert "pay &amp; &lt;go&gt;" in html


def test_a_simulated_run_says_so_first_and_a_real_one_does_not(html: str, tmp_path: Path) -> None:
    banner = "SIMULATED MODEL: harness test, not a result"
    assert html.index(banner) < html.index("<h1>")
    real = to_html(build(small_run(simulated=False, people=2).write(tmp_path)))
    assert "SIMULATED" not in real


def test_cases_follow_table_a14_and_prefer_a_stale_failure_beside_a_success(report: Report) -> None:
    case = report.cases[0]
    assert (case.direct, case.bound, case.level) == ("full", "qcr", "large")
    assert case.picked == "Full Trajectory failed with a stale value, QCR succeeded"
    labels = [e.label for e in case.elements]
    assert labels == [
        "Source task and selected record", "Target task and changed binding", "Target-side evidence",
        "Full Trajectory decision", "QCR note and final action", "Outcome",
    ]  # fmt: skip
    text = {e.label: " ".join((*e.lines, *e.code)) for e in case.elements}
    assert "person (entity): Ben Moss → Anna Keller" in text["Target task and changed binding"]
    assert "person: in the query" in text["Target-side evidence"]
    assert "“Ben Moss”" in text["Full Trajectory decision"]
    assert "422" in text["Full Trajectory decision"]
    assert 'bank_transfer(to="Anna Keller")' in text["QCR note and final action"]
    assert NOTE.verify in text["QCR note and final action"]
    assert "QCR: success, 2 of 2 milestones" in text["Outcome"]


def unpacked(report: Report) -> dict[str, list[dict[str, Any]]]:
    """What the page's script finds in each family."""
    return {f.name: json.loads(zlib.decompress(base64.b64decode(f.packed))) for f in report.drill.families}


def test_credentials_canaries_and_verifier_detail_stay_out_of_the_page(html: str, report: Report) -> None:
    everything = html + json.dumps(unpacked(report))
    assert "bank_list" in everything
    for hidden in ("tok-abc-123", "canary-", "an effect is missing", "sealed milestone"):
        assert hidden not in everything


def test_the_drill_down_packs_every_episode_with_its_steps_side_by_side(report: Report, html: str) -> None:
    families = unpacked(report)
    assert {name: len(groups) for name, groups in families.items()} == {"pay": 8, "settle": 8}
    group = next(g for g in families["pay"] if g["level"] == "large" and g["seed"] == 0)
    assert [run["condition"] for run in group["runs"]] == ["No Memory", "Full Trajectory", "QCR"]
    assert [run["outcome"] for run in group["runs"]] == ["failure", "failure", "success"]
    first, second = group["steps"]
    assert first[1] == ['bank_transfer(to="Ben Moss")', "422 no such payee", None, ["person “Ben Moss”"]]
    assert first[2][:2] == ['bank_transfer(to="Anna Keller")', "ok"]
    assert second[:2] == [None, None]
    assert group["runs"][2]["support"].startswith(f"Workflow: {NOTE.workflow}")
    assert "All 16 target × seed groups, step by step." in html
    assert all(f.packed in html for f in report.drill.families)


def test_the_drill_down_is_capped_by_a_rule_that_the_page_states_and_drops_no_episode(
    folder: Path, report: Report
) -> None:
    run = load_run(folder)
    found = drill(run, CONDITIONS, report.cases, budget=700)
    assert 0 < found.shown < found.groups == 16
    assert f"All 16 target × seed groups are listed; the steps of {found.shown} are here" in found.rule
    groups = [g for each in unpacked(report.model_copy(update={"drill": found})).values() for g in each]
    assert len(groups) == 16
    assert sum(g["steps"] is not None for g in groups) == found.shown
    assert all(run["outcome"] and run["cell"] for g in groups for run in g["runs"])
    first = report.cases[0]
    assert any((g["target"], g["seed"]) == (first.target[:16], first.seed) and g["steps"] for g in groups)


def test_provenance_names_lock_last_hash_and_merkle_root(folder: Path, report: Report, html: str) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert report.provenance.merkle_root == manifest["merkle_root"]
    assert report.provenance.manifest_matches is True
    for value in ("1" * 64, manifest["last_hash"], manifest["merkle_root"]):
        assert value in html


def test_an_unfinished_run_is_reported_as_such(tmp_path: Path) -> None:
    made = MadeRun(conditions=CONDITIONS)
    made.record("r", {"person": "Ben"})
    target = made.target("Pay Anna.", "r", {"person": "Anna"})
    made.episode(target, "none", True)
    report = build(made.write(tmp_path, seal=False))
    assert any("2 of 3 cells have not ended" in note for note in report.notes)
    assert report.provenance.merkle_root is None
    assert "none yet: the run has no manifest" in to_html(report)


@pytest.mark.parametrize("conditions", [("none",), ("full",), ("full", "skill"), ("none", "mine")])
@pytest.mark.parametrize("episodes", [0, 1])
def test_the_barest_run_still_gives_every_form(tmp_path: Path, conditions: tuple[str, ...], episodes: int) -> None:
    made = MadeRun(conditions=conditions)
    made.record("r", {"person": "Ben"})
    target = made.target("Pay Anna.", "r", {"person": "Anna"}, candidates=(), chosen=None)
    for condition in conditions[: episodes * 2]:
        made.episode(target, condition, True)
    report = build(made.write(tmp_path / "run"))
    Page(to_html(report))
    json.loads(to_json(report))
    assert write_csv(report, tmp_path / "csv")
    assert write_latex(report, tmp_path / "tex")


def test_a_plan_without_targets_still_gives_a_page(tmp_path: Path) -> None:
    report = build(MadeRun(conditions=CONDITIONS).write(tmp_path / "run"))
    path = write_html(report, tmp_path / "out" / "report.html")
    Page(path.read_text(encoding="utf-8"))


def test_the_terminal_shows_the_banner_and_numbers_beside_denominators_within_100_columns(report: Report) -> None:
    screen = Console(file=io.StringIO(), width=100, force_terminal=False)
    print_report(report, screen, everything=True)
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "SIMULATED MODEL: harness test, not a result" in text
    assert re.search(r"n 8.*\n(?:.*\n)*?QCR +100\.0", text)
    assert "pay & <go>" in text
    assert max(map(len, text.splitlines())) <= 100
    assert "…" not in text[text.index("End-to-end") : text.index("Success and Milestone in percent")]
