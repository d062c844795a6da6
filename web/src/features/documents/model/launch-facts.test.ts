import { expect, test } from "vitest";

import type { Loop } from "@/api/types";

import { launchFacts } from "./launch-facts";

const loop = (fields: Partial<Loop>): Loop =>
  ({ command: "PLAN", status: "COMPLETED", createdAt: "2031-01-01", ...fields }) as Loop;
const machine = (machineName: string) => ({ id: machineName, machineName, isOnline: true });

test("machine is that of the newest completed loop, branch and peers are those of the loops before", () => {
  const request = {
    loops: [
      loop({
        branchName: "orchestrator/plan-1",
        computeTarget: machine("studio"),
        additionalRepos: [{ fullName: "acme/docs", branch: "main" }],
      }),
    ],
  };
  const plan = {
    repo: { fullName: "acme/shop", branch: "main" },
    loops: [
      loop({ command: "EXECUTE", status: "FAILED", createdAt: "2031-01-03" }),
      loop({
        command: "REQUEST_CHANGES",
        createdAt: "2031-01-02",
        computeTarget: machine("laptop"),
      }),
    ],
  };
  const facts = launchFacts(plan, request);
  expect(facts.repositories.map(({ fullName }) => fullName)).toEqual(["acme/shop", "acme/docs"]);
  expect(facts.machine?.machineName).toBe("laptop");
  expect(facts.branch).toBe("orchestrator/plan-1");
});

test("plan without loops has a repository only", () => {
  const plan = { repo: { fullName: "acme/shop", branch: "main" }, loops: [] };
  expect(launchFacts(plan, undefined)).toEqual({
    repositories: [plan.repo],
    branch: undefined,
    machine: undefined,
  });
});
