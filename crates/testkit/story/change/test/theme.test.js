import assert from "node:assert/strict";
import { test } from "node:test";

import { firstTheme, otherTheme } from "../theme.js";

test("a choice outlives what the system prefers", () => {
  assert.equal(firstTheme("light", true), "light");
  assert.equal(firstTheme("dark", false), "dark");
});

test("without a choice the system decides", () => {
  assert.equal(firstTheme(null, true), "dark");
  assert.equal(firstTheme("sepia", false), "light");
});

test("the switch goes there and back", () => {
  assert.equal(otherTheme(otherTheme("dark")), "dark");
});
