import { expect, test } from "vitest";

import { fromSaved, toSaved, workAddress } from "./work-address";

test("unknown parameters and groupings are ignored", () => {
  expect(workAddress({ q: 42, group: "state", other: 1 })).toEqual({ q: "42", group: "state" });
  expect(workAddress({ q: "", group: "toString" })).toEqual({});
});

test("saved view is the address that it was created from", () => {
  for (const address of [
    {},
    { q: "is:mine state:failed & 100% +1" },
    { group: "person" as const },
    { q: "repo:acme/shop", group: "state" as const },
  ]) {
    expect(fromSaved(toSaved(address))).toEqual(address);
  }
});
