import { expect, test } from "vitest";

import { parseSearch, VIEWS, withPerson } from "./search";

test("qualifiers are separated from the text", () => {
  expect(parseSearch("dark mode repo:acme/shop state:failed state:running is:mine")).toEqual({
    text: "dark mode",
    repo: "acme/shop",
    state: ["failed", "running"],
    mine: true,
  });
  expect(parseSearch("state:plan-ready")).toEqual({ state: ["plan_ready"] });
});

test("person replaces the one of the search", () => {
  expect(parseSearch("person:ada@example.org cart")).toEqual({
    text: "cart",
    person: "ada@example.org",
  });
  expect(withPerson("cart person:ada@example.org  is:mine", "ben@example.org")).toBe(
    "cart is:mine person:ben@example.org",
  );
  expect(withPerson("person:ada@example.org", undefined)).toBe("");
});

test("unknown qualifiers and states are part of the text", () => {
  expect(parseSearch("state:done2 is:blue repo: http://x")).toEqual({
    text: "state:done2 is:blue repo: http://x",
  });
});

test("repeated state is sent once, and a long text is cut", () => {
  expect(parseSearch("state:done state:done").state).toEqual(["done"]);
  expect(parseSearch("x".repeat(300)).text).toHaveLength(200);
});

test("views contain known qualifiers only", () => {
  for (const { search } of VIEWS) expect(parseSearch(search)).not.toHaveProperty("text");
});
