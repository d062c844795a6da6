/** A Loopgate that is killed or suspended while a loop runs and a person writes a comment. */
import { expect, type Locator, type Page } from "@playwright/test";

import type { Demo } from "./demo";
import { PageMonitor } from "./quality";
import { LOOP_LIMIT_MS, NEAR_LIMIT_MS } from "./story";
import { test } from "./supervised";

// The page polls a running loop every 15 seconds, and a request fails after 10 seconds.
const FAILURE_LIMIT_MS = 30_000;
// A failed request is followed by a probe of 1.5 seconds.
const REPORT_LIMIT_MS = 3_000;

const bar = (page: Page) =>
  page.getByText(/^Loopgate is not responding\. Last update \d\d:\d\d:\d\d\. Reconnecting…$/);

/** Plans the change, and opens the changes of its execution, which does not end before the returned function is called. */
async function readRunningLoop(page: Page, demo: Demo): Promise<() => Promise<void>> {
  await page.goto(demo.ready.signInUrl);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "New" }).click();
  await expect(page.getByLabel("Base branch")).toHaveAttribute("placeholder", "main");
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page.getByText(/^Plan ready/).first()).toBeVisible({ timeout: LOOP_LIMIT_MS });
  const release = await demo.holdNext("npm");
  await page.getByRole("tab", { name: "Plan" }).click();
  await page.getByRole("button", { name: "Execute" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Execute" }).click();
  await page.getByRole("tab", { name: "Changes" }).click();
  const files = page.getByRole("navigation", { name: "Changed files" });
  await expect(files.getByRole("button", { name: "theme.test.js" })).toBeVisible({
    timeout: LOOP_LIMIT_MS,
  });
  return release;
}

/** Opens a comment and types its beginning. */
async function beginComment(page: Page): Promise<Locator> {
  await expect(page.getByText('[data-theme="dark"]').first()).toBeVisible();
  await page.getByRole("button", { name: "Comment on styles.css" }).click();
  const field = page.getByRole("textbox", { name: "Comment" });
  await expect(field).toBeFocused();
  await page.keyboard.type("Make the dark ");
  return field;
}

/** Checks that the loop still runs, and that the comment is complete and can be added. */
async function expectKept(page: Page, field: Locator): Promise<void> {
  const text = "Make the dark paper darker.";
  await expect(page.getByRole("main").getByText("Running", { exact: true })).toBeVisible();
  await expect(field).toBeFocused();
  await expect(field).toHaveValue(text);
  await page.getByRole("button", { name: "Add comment" }).click();
  await expect(page.getByRole("article", { name: /^Comment on styles\.css/ })).toContainText(text);
}

/** Checks that the loop completes, and that no other was started. */
async function expectCompleted(page: Page): Promise<void> {
  await expect(page.getByText("Pull request opened").first()).toBeVisible({
    timeout: LOOP_LIMIT_MS,
  });
  await page.getByRole("tab", { name: "History" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "Completed" })).toHaveCount(2);
}

test("page and loop survive a kill of Loopgate", async ({ page, demo, loopgate }) => {
  const monitor = new PageMonitor(page, new URL(demo.ready.pageUrl).origin);
  const release = await readRunningLoop(page, demo);
  const field = await beginComment(page);
  await loopgate.signal("SIGKILL");
  await page.keyboard.type("paper ");
  await expect(bar(page)).toBeVisible();
  await page.keyboard.type("darker.");
  await loopgate.restart();
  await expect(bar(page)).toBeHidden({ timeout: NEAR_LIMIT_MS });
  await expectKept(page, field);
  await release();
  await expectCompleted(page);
  monitor.expectClean();
});

test("page reports a suspended Loopgate, and continues with it", async ({
  page,
  demo,
  loopgate,
}) => {
  const { origin } = new URL(demo.ready.pageUrl);
  const monitor = new PageMonitor(page, origin);
  const release = await readRunningLoop(page, demo);
  const field = await beginComment(page);
  await loopgate.signal("SIGSTOP");
  await page.keyboard.type("paper ");
  await page.waitForEvent("requestfailed", {
    predicate: (request) => request.url().startsWith(origin),
    timeout: FAILURE_LIMIT_MS,
  });
  await expect(bar(page)).toBeVisible({ timeout: REPORT_LIMIT_MS });
  await page.keyboard.type("darker.");
  await loopgate.signal("SIGCONT");
  await expect(bar(page)).toBeHidden();
  await expectKept(page, field);
  await release();
  await expectCompleted(page);
  monitor.expectClean();
});
