import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { LoopDetail } from "@/api/types";

import { LoopFacts } from "./facts";

afterEach(cleanup);

const loop = (startedAt?: string) =>
  ({
    status: startedAt === undefined ? "PENDING" : "RUNNING",
    createdAt: new Date(Date.now() - 3_600_000).toISOString(),
    ...(startedAt !== undefined && { startedAt }),
    tokensInput: 0,
    tokensOutput: 0,
  }) as LoopDetail;

test("loop that has not started says when it was created", () => {
  render(<LoopFacts loop={loop()} />);
  expect(screen.getByText("Not started")).toBeDefined();
  expect(screen.getByText("created 1h ago")).toBeDefined();
});

test("running loop says when it started, not when it was created", () => {
  render(<LoopFacts loop={loop(new Date().toISOString())} />);
  expect(screen.getByText("started just now")).toBeDefined();
  expect(screen.queryByText("Not started")).toBeNull();
});
