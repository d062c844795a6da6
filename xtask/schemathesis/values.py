"""Selection of values for the hooks."""

import zlib


def number_of(value):
    """Returns a number derived from a value, so that requests are reproducible."""
    return zlib.crc32(repr(value).encode("utf-8", "backslashreplace"))


def known_of(lists):
    """Returns a function that replaces three of four values by a value from the list of their name."""

    def known(name, value):
        values, number = lists.get(name), number_of(value)
        if values is None or not isinstance(value, str) or number % 4 == 0:
            return value
        return values[number // 4 % len(values)]

    return known


def each(members, change):
    if not isinstance(members, dict):
        return members
    return {name: change(name, value) for name, value in members.items()}
