import { expect, test } from "vitest";

import { pullRequestHref, safeHref } from "./pull-request";

test.each([
  ["https://github.com/a/b/pull/1", true],
  ["http://ghe.local/a", true],
  ["javascript:alert(1)", false],
  ["data:text/html,x", false],
  ["pull/1", false],
])("%s is safe as a link: %s", (url, linked) => {
  expect(safeHref(url)).toBe(linked ? url : undefined);
});

test("pull request links to the configured code host", () => {
  const url = "https://github.com/a/b/pull/1";
  expect(pullRequestHref(url)).toBe(url);
  expect(pullRequestHref(url, "http://127.0.0.1:8080")).toBe("http://127.0.0.1:8080/a/b/pull/1");
  expect(pullRequestHref("https://github.com.evil/a", "http://127.0.0.1:8080")).toBe(
    "https://github.com.evil/a",
  );
  expect(pullRequestHref("javascript:alert(1)", "http://127.0.0.1:8080")).toBeUndefined();
});
