import unittest

from textkit import main, title, wrap


class Textkit(unittest.TestCase):
    def test_lines_are_broken_between_words(self):
        self.assertEqual(wrap("the quick brown fox", 9), ["the quick", "brown fox"])

    def test_empty_text_has_no_lines(self):
        self.assertEqual(wrap("  ", 9), [])

    def test_words_are_capitalised(self):
        self.assertEqual(title("the quick fox"), "The Quick Fox")

    def test_unknown_command_is_refused(self):
        self.assertEqual(main(["shout"]), 2)
