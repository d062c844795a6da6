import { expect, test } from "vitest";

import { planSearch } from "./plan-search";

test("versions in an address are positive integers, other members are left out", () => {
  expect(
    planSearch({ version: 2, compare: 1, edit: true, comment: "sent-1", tab: "plan" }),
  ).toEqual({
    version: 2,
    compare: 1,
    edit: true,
    comment: "sent-1",
  });
  expect(planSearch({ version: 0, compare: "1", edit: "yes", comment: "<b>" })).toEqual({});
  expect(planSearch({ version: 1.5 })).toEqual({});
});
