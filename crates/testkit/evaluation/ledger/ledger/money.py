"""Amounts of money in whole cents."""


def parse(text):
    """Cents of a text such as `3.50` or `3`."""
    whole, _, fraction = text.strip().partition(".")
    if not whole.isdigit() or not (fraction.isdigit() or fraction == "") or len(fraction) > 2:
        raise ValueError(f"not an amount: {text!r}")
    return int(whole) * 100 + int((fraction + "00")[:2])


def show(cents):
    """Text of an amount, for example `3.50`."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02}"


def split(cents, people):
    """Shares of an amount among people."""
    return [cents // people] * people
