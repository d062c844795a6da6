import { expect, test } from "vitest";

import { withChange } from "./search-change";

test("other parameters stay, and undefined removes one", () => {
  const search: { tab?: string; range?: string; view?: "split" } = { tab: "changes", range: "a" };
  expect(withChange(search, { range: undefined, view: "split" })).toEqual({
    tab: "changes",
    view: "split",
  });
});
