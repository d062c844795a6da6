/** Pages while the mock server is down, after its restart, and in many tabs. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock } from "./mock";
import { expectAccessible } from "./quality";

const RUNNING_LOOP = "/acme/loops/01980000-0000-7000-8000-000000000010";

let mock: Mock;
test.beforeEach(async () => {
  mock = await startMock();
});
test.afterEach(() => mock.stop());

const open = (page: Page, path: string) => page.goto(mock.origin + path);

async function restart(): Promise<void> {
  mock = await startMock(mock.origin);
}

test("page states that the server does not respond, pauses, and continues when it responds", async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await signInTo(mock, page);
  await open(page, RUNNING_LOOP);
  await expect(page.getByText("Tool: Read(package.json)").first()).toBeVisible();
  const bar = page.getByText(
    /^Loopgate is not responding\. Last update \d\d:\d\d:\d\d\. Reconnecting…$/,
  );
  const duration = page.locator("dt", { hasText: /^Time$/ }).locator("+ dd");
  const cancel = page.getByRole("button", { name: "Cancel loop" });
  await mock.stop();
  await expect(bar).toBeVisible({ timeout: 6_000 });
  await expect(page.getByRole("status").filter({ has: bar })).toHaveCount(1);
  await expect(cancel).toBeDisabled();
  await expect(cancel).toHaveAccessibleDescription("Loopgate is not responding.");
  await expect(page.locator(".animate-breathe")).toHaveCount(0);
  await expect(page.locator(".bg-ok.border-ok")).toHaveCount(0);
  const stopped = await duration.textContent();
  await page.waitForTimeout(2_500);
  expect(await duration.textContent()).toBe(stopped);
  await expectAccessible(page);
  await restart();
  await expect(bar).toBeHidden({ timeout: 8_000 });
  await expect(cancel).toBeEnabled();
  await expect(duration).not.toHaveText(stopped ?? "");
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
});

test("active queries are refetched when the server responds again", async ({ page }) => {
  await signInTo(mock, page);
  await open(page, "/acme/settings/members");
  await expect(page.getByText("Ben Lindqvist")).toBeVisible();
  await mock.stop();
  await expect(page.getByText("Loopgate is not responding")).toBeVisible({ timeout: 20_000 });
  const refetched = page.waitForResponse((response) => response.url().endsWith("/members"));
  await restart();
  await refetched;
  await expect(page.getByText("Loopgate is not responding")).toBeHidden();
});
