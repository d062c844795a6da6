"""Small helpers for plain text."""

import sys


def wrap(text, width):
    """Lines of at most so many characters, broken between words."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        lines.append(line)
    return lines


def title(text):
    """The text with each word capitalised."""
    return " ".join(word.capitalize() for word in text.split())


def main(arguments):
    """Runs `textkit.py wrap WIDTH FILE` or `textkit.py title FILE`; the exit code."""
    if len(arguments) == 3 and arguments[0] == "wrap":
        with open(arguments[2], encoding="utf-8") as file:
            print("\n".join(wrap(file.read(), int(arguments[1]))))
        return 0
    if len(arguments) == 2 and arguments[0] == "title":
        with open(arguments[1], encoding="utf-8") as file:
            print(title(file.read()))
        return 0
    print("usage: textkit.py wrap WIDTH FILE | title FILE", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
