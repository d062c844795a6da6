import unittest

from ledger.entries import Entry, read, total

LINES = ["2031-04-01,food,bread,3.50\n", "2031-04-02,rent,April,800\n"]


class Entries(unittest.TestCase):
    def test_lines_are_read(self):
        self.assertEqual(read(LINES)[0], Entry("2031-04-01", "food", "bread", 350))

    def test_entries_are_added_up(self):
        self.assertEqual(total(read(LINES)), 80350)
