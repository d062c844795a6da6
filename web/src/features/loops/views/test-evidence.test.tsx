import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";

import type { TestEvidence } from "@/api/types";

import { TestEvidenceView } from "./test-evidence";

afterEach(cleanup);

const run = { commit: "0123456789abcdef", durationMs: 1250, log: "tests-head.log" };

describe("TestEvidenceView", () => {
  test("shows both runs, new failures and weakened tests", () => {
    const tests: TestEvidence = {
      outcome: "new-failures",
      command: "npm test",
      base: { ...run, exitCode: 0, counts: { passed: 3, failed: 0, skipped: 0 } },
      head: { ...run, exitCode: 1, counts: { passed: 2, failed: 1, skipped: 0 } },
      newFailures: ["cart › adds"],
      flags: [{ kind: "test-skipped", path: "a.test.js", detail: "it.skip('x')" }],
    };
    render(<TestEvidenceView tests={tests} />);
    const cells = screen.getByRole("row", { name: /^Head/ }).textContent;
    expect(cells).toBe("Head 0123456789Failed (exit code 1)2101.3 stests-head.log");
    expect(screen.getByRole("list", { name: "New failures" }).textContent).toBe("cart › adds");
    const flags = screen.getByRole("list", { name: "Changes to the tests" }).textContent;
    expect(flags).toBe("Test skipped in a.test.js: it.skip('x')");
  });

  test("shows no table when the tests did not run", () => {
    render(
      <TestEvidenceView tests={{ outcome: "not-run", note: "The repository is not trusted." }} />,
    );
    expect(screen.queryByRole("table")).toBeNull();
    expect(screen.getByText("The repository is not trusted.")).toBeTruthy();
  });
});
