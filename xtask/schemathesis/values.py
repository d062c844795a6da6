"""How the hooks choose values."""

import zlib


def number_of(value):
    """A number that follows from a value, so that a question can be asked again."""
    return zlib.crc32(repr(value).encode("utf-8", "backslashreplace"))


def known_of(lists):
    """A change of members: three of four values become one of their list, which leads somewhere."""

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
