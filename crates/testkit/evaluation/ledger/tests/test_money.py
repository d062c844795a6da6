import unittest

from ledger.money import parse, show, split


class Money(unittest.TestCase):
    def test_amounts_are_read(self):
        self.assertEqual(parse("3.50"), 350)
        self.assertEqual(parse("3"), 300)
        self.assertEqual(parse(" 0.5 "), 50)

    def test_other_texts_are_refused(self):
        for text in ["", "x", "1.234", "1,5"]:
            with self.assertRaises(ValueError):
                parse(text)

    def test_amounts_are_shown(self):
        self.assertEqual(show(350), "3.50")
        self.assertEqual(show(-5), "-0.05")

    def test_even_amounts_are_split(self):
        self.assertEqual(split(900, 3), [300, 300, 300])
