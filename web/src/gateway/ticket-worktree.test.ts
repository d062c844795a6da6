// @vitest-environment node
import { expect, test, vi } from "vitest";

import { ticketWorktree } from "./ticket-worktree";

vi.mock("./request", () => ({}));

test("worktree is named by what follows the name of its clone", () => {
  expect(ticketWorktree("~/src/shop", "/home/sam/worktrees/shop-loop-plan-7")).toEqual({
    repo: "~/src/shop",
    ticket: "loop-plan-7",
  });
  expect(ticketWorktree("/src/shop/", "/src/shop-AB-1/")?.ticket).toBe("AB-1");
  for (const worktree of ["/src/shop", "/src/shop-", "/src/shopping-1", ""])
    expect(ticketWorktree("/src/shop", worktree)).toBeUndefined();
  expect(ticketWorktree("", "-1")).toBeUndefined();
});
