import { expect, test } from "vitest";

import { ago, count, duration, fileSize, loopDuration, money } from "./format";

test.each([
  [0, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min 00 s"],
  [3_599_000, "59 min 59 s"],
  [3_600_000, "1 h 00 min"],
  [-5, "0 s"],
])("%i ms is %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test("duration of a loop is undefined before its start and fixed after its end", () => {
  const startedAt = "2031-01-01T00:00:00.000Z";
  const now = Date.parse(startedAt) + 90_000;
  expect(loopDuration({ startedAt }, now)).toBe("1 min 30 s");
  expect(loopDuration({ startedAt, completedAt: "2031-01-01T00:00:10.000Z" }, now)).toBe("10 s");
  expect(loopDuration({ startedAt: null }, now)).toBeUndefined();
});

test("times are formatted relative to now", () => {
  const now = Date.parse("2031-01-02T00:00:00Z");
  expect(ago("2031-01-01T23:59:30Z", now)).toBe("just now");
  expect(ago("2031-01-01T23:57:00Z", now)).toMatch(/^3\s?m/);
  expect(ago("2031-01-01T00:00:00Z", now)).toBe("yesterday");
});

test("numbers and amounts are formatted", () => {
  expect([count(9_999), count(57_330), money(0.004), money(1.5)]).toEqual([
    "9,999",
    "57.3K",
    "< $0.01",
    "$1.50",
  ]);
});

test("file sizes have the largest unit below them", () => {
  expect([0, 999, 12_345, 2_500_000].map(fileSize)).toEqual([
    "0 byte",
    "999 byte",
    "12.3 kB",
    "2.5 MB",
  ]);
});
