/** Evidence and history of a change request, against the mock server. */
import { expect, type Page, type Route, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";
import { expectAccessible, expectContrast, expectNoHorizontalScroll } from "./quality";

const EXECUTED = "01980000-0000-7000-8000-000000000011";
const JUDGED = "01980000-0000-7000-8000-000000000099";

let mock: Mock;

test.beforeEach(async ({ page }) => {
  mock = await startMock();
  await signInTo(mock, page);
});

stopAfterEach(() => mock);

const run = (passed: number, failed: number, fields: object = {}) => ({
  commit: "9fceb02d0ae598e95dc970b74767f19372d61af8",
  exitCode: failed === 0 ? 0 : 1,
  durationMs: 4_200,
  counts: { passed, failed, skipped: 0 },
  log: "tests.log",
  ...fields,
});

const SKIPPED =
  "diff --git a/test/cart.test.ts b/test/cart.test.ts\n--- a/test/cart.test.ts\n+++ b/test/cart.test.ts\n" +
  '@@ -1,2 +1,2 @@\n-it("adds", () => {\n+it.skip("<img src=x onerror=alert(1)>", () => {\n   expect(1).toBe(1);\n';

const TESTS = {
  outcome: "new-failures",
  command: "npm test",
  base: run(210, 0),
  head: run(212, 1, { output: "FAIL cart\n  expected 3, received 4" }),
  newFailures: ["cart › total"],
  flags: [{ kind: "test-skipped", path: "test/cart.test.ts", detail: "it.skip" }],
  diffs: [{ path: "test/cart.test.ts", diff: SKIPPED }],
};

interface Answer {
  data: Record<string, unknown> & { loops: Record<string, unknown>[] };
}

/** Changes the data of a response of the control plane. */
const changing = (change: (data: Answer["data"]) => object) => async (route: Route) => {
  if (route.request().resourceType() === "document") return route.fallback();
  const response = await route.fetch();
  const body = (await response.json()) as Answer;
  await route.fulfill({ response, json: { ...body, data: change(body.data) } });
};

/** Opens the evidence of an execution that left a task open, broke a test and weakened another. */
async function openEvidence(page: Page): Promise<void> {
  await page.route(
    `${mock.origin}/change-requests/feature-1`,
    changing((data) => {
      const executed = data.loops.find(({ id }) => id === EXECUTED);
      const planned = data.loops.find(({ command }) => command === "PLAN");
      const judged = { ...executed, id: JUDGED, command: "EVALUATE_CODE", estimatedCost: 0.1 };
      return { ...data, loops: [judged, executed, planned] };
    }),
  );
  await page.route(
    `${mock.origin}/loops/${EXECUTED}`,
    changing((data) => {
      const [delivered] = data.results as object[];
      const heldBack = [{ path: ".env", reason: "secret" }];
      return {
        ...data,
        status: "FAILED",
        error: {
          code: "NEW_TEST_FAILURES",
          message: "1 test fails that did not fail at the base.",
        },
        tasks: { completed: 6, total: 7, current: "T-2.1" },
        results: [{ ...delivered, heldBack, tests: TESTS }],
        uploadedArtifacts: {
          plan: { raw: { pendingTasks: [{ id: "T-2.1", description: "Describe the flag" }] } },
        },
      };
    }),
  );
  await page.route(`${mock.origin}/loops/${JUDGED}`, (route) => {
    const metrics = [
      { metric_name: "clarity", score: 0.4, threshold: 0.7, justification: "Names are vague." },
    ];
    const codeJudges = { stats: [{ case_id: "clarity-judge", final_status: 2, metrics }] };
    return route.fulfill({
      json: {
        success: true,
        data: { id: JUDGED, status: "COMPLETED", uploadedArtifacts: { codeJudges } },
      },
    });
  });
  await page.goto(`${mock.origin}/acme/work/feature-1?tab=evidence`);
}

test("evidence is summarized in one sentence, and shown in full", async ({ page }) => {
  await openEvidence(page);
  await expect(
    page.getByText(
      "6 of 7 tasks done; 212 tests pass, 2 more than before; 1 test that passed before fails; 1 test was weakened.",
    ),
  ).toBeVisible();
  await expect(page.getByText("T-2.1")).toBeVisible();
  await expect(page.getByText("Describe the flag")).toBeVisible();
  await expect(page.getByText(/^The loop introduced test failures\. 1 test fails/)).toBeVisible();
  await expect(page.getByRole("list", { name: "Files excluded from delivery" })).toContainText(
    ".env",
  );
  await expect(page.getByRole("list", { name: "New failures" })).toContainText("cart › total");

  const output = page.locator("summary").filter({ hasText: "Output at the head" });
  await output.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Output at the head" })).toHaveText(
    "FAIL cart\n  expected 3, received 4",
  );
  await page.getByText("Changes of test/cart.test.ts", { exact: true }).click();
  const patch = page.getByRole("region", { name: "Changes of test/cart.test.ts" });
  await expect(patch).toContainText('-it("adds"');
  await expect(patch).toContainText('+it.skip("<img src=x onerror=alert(1)>');

  await expect(page.getByText("0.40 is below 0.70")).toBeVisible();
  await expect(page.getByText("Names are vague.")).toBeVisible();
  const costs = page.getByRole("table", { name: "Cost by phase" });
  await expect(costs.getByRole("row")).toHaveText([
    "PhaseLoopsCost",
    "Plan1$0.21",
    "Execute1$0.87",
    "Judges1$0.10",
  ]);
  await expectAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await expectNoHorizontalScroll(page);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await expectContrast(page);
});

test("evidence of ended work stays while a later loop runs", async ({ page }) => {
  await page.goto(`${mock.origin}/acme/work/feature-1?tab=evidence`);
  await expect(page.getByText("A later loop is running.")).toBeVisible();
  await expectAccessible(page);
});

test("history names persons, decisions and questions, and offers the support bundle", async ({
  page,
}) => {
  await page.goto(`${mock.origin}/acme/work/feature-1?tab=history`);
  const entries = page.getByRole("list", { name: "History" }).getByRole("listitem");
  await expect(entries).toHaveCount(5);
  await expect(entries.nth(0)).toContainText("The assistant asked a question");
  await expect(entries.nth(0)).toContainText("Which of the two addresses");
  await expect(entries.nth(1)).toContainText("Ada Okafor sent a message to the loop (delivered)");
  await expect(entries.nth(1)).toContainText("Keep the redirects of the shop, too.");
  await expect(entries.nth(2)).toContainText("Ada Okafor approved the plan and started Execute");
  await expect(entries.nth(2)).toContainText("Keep the old addresses");
  await expect(entries.nth(3)).toContainText("Ada Okafor wrote version 2 of the plan");
  await expect(entries.nth(4)).toContainText("Ada Okafor wrote the request");
  await expect(page.getByText(/^loopgate support-bundle 01980000-/)).toBeVisible();
  await entries.nth(2).getByRole("link", { name: "Loop" }).click();
  await expect(page).toHaveURL(/\/acme\/loops\/01980000-/);
});
