import { expect, test } from "vitest";

import { hasDirectionControls, visibleName } from "./visible-name";

test("characters that are not visible in a name are marked", () => {
  expect(visibleName("rtl-\u202egnp.md")).toBe("rtl-[U+202E]gnp.md");
  expect(visibleName("new\nline\t.md")).toBe("new[U+000A]line[U+0009].md");
  expect(visibleName(" a b.md ")).toBe("[U+0020]a b.md[U+0020]");
  for (const name of ["src/a b.ts", "Übung.md", "שלום.md", "a\u0301.md", "👩.md"])
    expect(visibleName(name)).toBe(name);
});

test("direction controls are found", () => {
  expect(hasDirectionControls("if (isAdmin\u2066) {")).toBe(true);
  expect(hasDirectionControls("שלום")).toBe(false);
});
