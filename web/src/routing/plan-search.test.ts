import { expect, test } from "vitest";

import { planSearch } from "./plan-search";

test("versions in an address are positive integers, other members are left out", () => {
  expect(planSearch({ version: 2, compare: 1, edit: true, tab: "plan" })).toEqual({
    version: 2,
    compare: 1,
    edit: true,
  });
  expect(planSearch({ version: 0, compare: "1", edit: "yes" })).toEqual({});
  expect(planSearch({ version: 1.5 })).toEqual({});
});
