import { expect, test } from "vitest";

import { insertMention, mentionAt } from "./mention";

test.each([
  ["See @src/a", "src/a"],
  ["@", ""],
  ["(@theme", "theme"],
  ["first\n@b", "b"],
])("%j mentions %j", (text, query) => {
  expect(mentionAt(text, text.length)).toMatchObject({ query });
});

test.each(["ada@example.org", "See @a b", "", "a@", "@@x"])("%j mentions nothing", (text) => {
  expect(mentionAt(text, text.length)).toBeUndefined();
});

test("only the part before the caret is searched for, and it alone is replaced", () => {
  const text = "Change @th, please";
  const mention = mentionAt(text, 10);
  expect(mention).toEqual({ start: 7, end: 10, query: "th" });
  if (!mention) throw new Error("there is a mention");
  const result = insertMention(text, mention, "src/theme.js");
  expect(result).toEqual({ text: "Change @src/theme.js , please", caret: 21 });
  expect(result.text.slice(0, result.caret)).toBe("Change @src/theme.js ");
});

test("a blank after the mention is not repeated", () => {
  const result = insertMention("@a b", { start: 0, end: 2, query: "a" }, "a.ts");
  expect(result.text).toBe("@a.ts b");
});
