import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { announce } from "./announce";
import { Announcer } from "./announcer";

afterEach(cleanup);

test("the same text is announced again by a new element in the same region", () => {
  render(<Announcer />);
  const region = screen.getByRole("status");
  act(() => announce("Copied"));
  const first = screen.getByText("Copied");
  act(() => announce("Copied"));
  expect(screen.getByText("Copied")).not.toBe(first);
  expect(screen.getByRole("status")).toBe(region);
  expect(region.textContent).toBe("Copied");
});
