"""Entries of a ledger: a date, a category, a text and an amount."""

from dataclasses import dataclass

from .money import parse


@dataclass(frozen=True)
class Entry:
    """One line of a ledger."""

    date: str
    category: str
    text: str
    cents: int


def read(lines):
    """Entries of lines such as `2031-04-01,food,bread,3.50`."""
    entries = []
    for line in lines:
        date, category, text, amount = line.rstrip("\n").split(",")
        entries.append(Entry(date, category, text, parse(amount)))
    return entries


def total(entries):
    """Sum of all entries, in cents."""
    return sum(entry.cents for entry in entries)
