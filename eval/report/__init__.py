"""`rebind report`: a Report from a ledger, and its forms: JSON, terminal, CSV, LaTeX, one HTML page."""

from rebind.eval.report.build import build, report_of
from rebind.eval.report.files import to_json, write_csv, write_latex
from rebind.eval.report.model import Report, Table
from rebind.eval.report.page import to_html, write_html
from rebind.eval.report.terminal import print_report

__all__ = [
    "Report",
    "Table",
    "build",
    "print_report",
    "report_of",
    "to_html",
    "to_json",
    "write_csv",
    "write_html",
    "write_latex",
]
