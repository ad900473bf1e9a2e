"""The ledger and conditions on a terminal."""

from rich.console import Console
from rich.table import Table

from learnscope.lab.ledger import Ledger

_COLOURS = {"reproduced": "green", "differs": "yellow", "not run": "dim"}


def print_ledger(ledger: Ledger, console: Console) -> None:
    """A table of claims, a row each."""
    table = Table(title="Ledger", expand=True, show_lines=True)
    for heading, ratio in (
        ("where", 2), ("claim", 5), ("setting", 4), ("paper", 3), ("measured", 5), ("verdict", 2),
    ):  # fmt: skip
        table.add_column(heading, ratio=ratio, overflow="fold")
    for entry in ledger:
        row = entry.to_dict()
        verdict = row["verdict"]
        measured = row["measured"] + (f" ({row['why']})" if row["why"] else "")
        table.add_row(
            f"{row['study']}\n{row['where']}", row["statement"], row["setting"], row["reported"],
            measured.strip(), f"[{_COLOURS[verdict]}]{verdict}[/]",
        )  # fmt: skip
    console.print(table)
    console.print(f"{len(ledger)} claims: {ledger.summary()}.")
