import assert from "node:assert/strict";
import { test } from "node:test";

import { withNote } from "../notes.js";

test("the newest note comes first", () => {
  const notes = withNote([{ text: "Sowed peas", day: "1" }], " Peas are up ", "2");
  assert.deepEqual(notes.map((note) => note.text), ["Peas are up", "Sowed peas"]);
});

test("a blank note is not kept", () => {
  assert.deepEqual(withNote([], "  ", "1"), []);
});
