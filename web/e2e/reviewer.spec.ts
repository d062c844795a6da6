/** Reviews of changes by the real reviewer, on the page of a change request. */
import { expect, type Locator, type Page } from "@playwright/test";

import { test } from "./demo";
import { expectAccessible, PageMonitor } from "./quality";
import { LOOP_LIMIT_MS } from "./story";

/** Goes from finding to finding, since only those near the view are in the page. */
async function goTo(page: Page, finding: Locator): Promise<void> {
  await expect(async () => {
    await page.keyboard.press("f");
    await expect(finding).toBeFocused({ timeout: 1_000 });
  }).toPass();
}

test("findings of the reviewer are decided one by one", async ({ page, demo }) => {
  const { pageUrl, repository, request } = demo.ready;
  const monitor = new PageMonitor(page, new URL(pageUrl).origin);
  await page.goto(await demo.freshLink());
  await page.getByRole("link", { name: "Start the first loop" }).click();
  await expect(page.getByLabel("Repository")).toHaveValue(repository);
  await page.getByLabel("Describe the change").fill(request);
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page.getByText(/^Plan ready/).first()).toBeVisible({ timeout: LOOP_LIMIT_MS });
  await page.getByRole("tab", { name: "Plan" }).click();
  await page.getByRole("button", { name: "Execute" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Execute this plan?" });
  await dialog.getByRole("button", { name: "Execute" }).click();
  await expect(page.getByText("Pull request opened").first()).toBeVisible({
    timeout: LOOP_LIMIT_MS,
  });

  const reviewer = page.getByRole("region", { name: "Reviewer" });
  const blocked = page.getByRole("article", { name: /nothing where storage is blocked/ });
  const key = page.getByRole("article", { name: /storage key is not specific/ });
  await test.step("the reviewer reports findings at their lines, and a verdict", async () => {
    await page.getByRole("tab", { name: "Changes" }).click();
    await reviewer.getByRole("button", { name: "Review these changes" }).click();
    await expect(page.getByText("2 findings · 2 open")).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await goTo(page, key);
    await expect(key).toContainText("theme.js, line 1");
    await goTo(page, blocked);
    await expect(blocked).toContainText("theme.js, line 28");
    await expect(blocked).toContainText("setItem throws there");
    await expect(reviewer).toContainText("The button fails without storage", {
      timeout: LOOP_LIMIT_MS,
    });
    await expectAccessible(page);
  });

  await test.step("the change request needs the person until the findings are decided", async () => {
    await page.getByRole("link", { name: /Needs you/ }).click();
    await expect(page.getByText("2 findings to decide").first()).toBeVisible();
    await page.getByRole("link", { name: "See findings" }).click();
    await goTo(page, key);
  });

  await test.step("both sides argue about one, which is dismissed", async () => {
    const argument = key.getByRole("textbox");
    // By keyboard: the viewer ignores the pointer for a moment after it has scrolled.
    await key.getByRole("button", { name: "Argue" }).press("Enter");
    await argument.fill("Does another page write this key?");
    await key.getByRole("checkbox").check();
    await key.getByRole("button", { name: "Argue" }).last().press("Enter");
    const conversation = key.getByRole("list", { name: "Conversation" });
    await expect(conversation).toContainText("so I give this one up", { timeout: LOOP_LIMIT_MS });
    await key.getByRole("button", { name: "Dismiss" }).press("Enter");
    await key.getByLabel("Reason (optional)").fill("No other page has this origin.");
    await key.getByRole("button", { name: "Dismiss" }).last().press("Enter");
    await expect(page.getByText("2 findings · 1 open")).toBeVisible();
  });

  await test.step("the fix of the other one is requested with a review", async () => {
    await goTo(page, blocked);
    await blocked.getByRole("button", { name: "Fix" }).press("Enter");
    await page.getByRole("button", { name: "Finish review (1)" }).click();
    const finish = page.getByRole("dialog", { name: "Finish review" });
    await finish.getByRole("button", { name: "Request changes" }).click();
    await expect(page).toHaveURL(/tab=live$/);
    await page.getByRole("link", { name: /Needs you/ }).click();
    await expect(page.getByText(/to decide/)).toHaveCount(0);
  });
  monitor.expectClean();
});
