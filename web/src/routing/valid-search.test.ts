import { expect, test } from "vitest";

import { onlyValid } from "./valid-search";

test("parameters that a validation leaves out replace those of the address", () => {
  const address = { tab: "x", version: "abc", other: 1 };
  const validate = onlyValid(({ tab }) => ({ tab }));
  // As the router merges them.
  expect({ ...address, ...validate(address) }).toEqual({
    tab: "x",
    version: undefined,
    other: undefined,
  });
});
