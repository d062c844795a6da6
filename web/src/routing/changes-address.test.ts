import { expect, test } from "vitest";

import { changesAddress, rangeOf } from "./changes-address";

const COMMIT = "de980441c3ab03a8c07dda1ad27b8a11f39deb1e";

test("invalid parameters are removed", () => {
  const valid = { repo: "acme/shop", file: "a b.ts", line: "R12", range: `since:${COMMIT}` };
  expect(changesAddress({ ...valid, view: "split", tab: "changes" })).toEqual({
    ...valid,
    view: "split",
  });
  expect(
    changesAddress({ repo: 5, file: "", line: "12", range: "since:main", view: "unified" }),
  ).toEqual({});
  const notes = { comment: "01980000-0000-7000-8000-000000000001", finding: "0a1b-2" };
  expect(changesAddress(notes)).toEqual(notes);
  expect(changesAddress({ comment: "a b", finding: 5 })).toEqual({});
});

test("range names its commit and the repository", () => {
  expect(rangeOf({ repo: "acme/shop", range: `commit:${COMMIT}` })).toEqual({
    repository: "acme/shop",
    commit: COMMIT,
  });
  expect(rangeOf({ repo: "acme/shop" })).toEqual({});
});
