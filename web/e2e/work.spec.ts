/** The pages of change requests, against the mock server. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock } from "./mock";
import { expectAccessible, expectNoHorizontalScroll } from "./quality";

let mock: Mock;

test.beforeEach(async ({ page }) => {
  mock = await startMock(undefined, 120);
  await signInTo(mock, page);
});

test.afterEach(() => mock.stop());

const open = (page: Page, path: string) => page.goto(`${mock.origin}/acme/${path}`);
const rows = (page: Page) => page.getByRole("listitem");

test("inbox names what each change request needs, and leads to it", async ({ page }) => {
  await open(page, "inbox");
  await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
  await expect(page.getByText("8 change requests")).toBeVisible();
  await expect(rows(page).first()).toContainText("The plan is ready.");
  await expect(rows(page).first()).toContainText("Plan ready · 2 questions");
  await rows(page).first().getByRole("link", { name: "Read the plan" }).click();
  await expect(page.getByRole("tab", { name: "Plan", selected: true })).toBeVisible();
  await expect(page.getByRole("article", { name: "Plan" })).toContainText("Open questions");
});

test("snoozed entry leaves the inbox and comes back by undo", async ({ page }) => {
  await open(page, "inbox");
  await rows(page)
    .first()
    .getByRole("button", { name: /^Actions for/ })
    .click();
  await page.getByRole("menuitem", { name: "Snooze for an hour" }).click();
  await expect(page.getByText("7 change requests")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("8 change requests")).toBeVisible();
});

test("archived entry is in its view, and comes back by undo", async ({ page }) => {
  await open(page, "work");
  await rows(page)
    .nth(7)
    .getByRole("button", { name: /^Actions for/ })
    .click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await expect(page.getByText("131 change requests")).toBeVisible();
  await page.getByRole("button", { name: "Archived", exact: true }).click();
  await expect(page.getByText("1 change request", { exact: true })).toBeVisible();
  await expect(rows(page).first()).toContainText("Change 7: failed");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("No change requests match the search")).toBeVisible();
});

test("search with qualifiers is part of the address", async ({ page }) => {
  await open(page, "work");
  await page.getByRole("searchbox").fill("change state:failed state:queued");
  await expect(page.getByText("2 change requests")).toBeVisible();
  await expect(page).toHaveURL(/[?]q=/);
  await page.reload();
  await expect(rows(page)).toHaveCount(2);
  await page.getByRole("searchbox").fill("nowhere");
  await page.getByRole("button", { name: "Clear the search" }).click();
  await expect(page.getByText("132 change requests")).toBeVisible();
});

test("list loads further pages while it scrolls", async ({ page }) => {
  await open(page, "work");
  const last = page.getByText("Change 131: not started");
  await expect(async () => {
    await page.mouse.wheel(0, 4_000);
    await expect(last).toBeVisible({ timeout: 200 });
  }).toPass();
});

test("unread entry is marked as seen when its page is opened", async ({ page }) => {
  await open(page, "inbox");
  await expect(rows(page).nth(1).getByText("Unread:")).toBeAttached();
  await rows(page).nth(1).getByRole("link").first().click();
  await expect(page.getByRole("heading", { level: 1, name: "Change 1: question" })).toBeVisible();
  await page.goBack();
  await expect(rows(page).nth(1).getByText("Unread:")).toHaveCount(0);
});

test("page of a change request that does not exist says so", async ({ page }) => {
  await open(page, "work/feature-999");
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
});

for (const path of ["inbox", "work", "work?group=state", "work/feature-1?tab=history"]) {
  test(`${path} is accessible and fits a narrow screen`, async ({ page }) => {
    await page.setViewportSize({ width: 320, height: 640 });
    await open(page, path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectAccessible(page);
    await expectNoHorizontalScroll(page);
  });
}

test("row shows the progress, the person, and the stages that were reached", async ({ page }) => {
  await open(page, "work");
  await expect(rows(page).nth(1)).toContainText("3 of 7 tasks");
  await expect(rows(page).nth(1)).toContainText("Ben Lindqvist");
  const delivered = rows(page).filter({ hasText: "Pull request opened" });
  await expect(
    delivered.getByRole("img", {
      name: "Stage Pull request. Reached: Request, Plan, Execute, Pull request",
    }),
  ).toBeVisible();
});

test("deleted entry disappears and comes back by undo; a running loop prevents it", async ({
  page,
}) => {
  await open(page, "work");
  const act = async (text: string, action: string) => {
    await rows(page)
      .filter({ hasText: text })
      .getByRole("button", { name: /^Actions for/ })
      .click();
    await page.getByRole("menuitem", { name: action }).click();
  };
  await act("Change 7: failed", "Delete");
  await expect(page.getByText("131 change requests")).toBeVisible();
  await expect(page.getByText("Change 7: failed", { exact: true })).toBeHidden();
  await expect(page.getByText("This can be undone for an hour.")).toBeVisible();
  await page.reload();
  await expect(page.getByText("131 change requests")).toBeVisible();
  await act("Change 6: machine offline", "Delete");
  await expect(page.getByText("130 change requests")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("131 change requests")).toBeVisible();
  await expect(page.getByText("Change 6: machine offline")).toBeVisible();

  await act("Change 8: running", "Delete");
  await expect(page.getByText("Stop it, then delete the change request.")).toBeVisible();
  await expect(page.getByText("131 change requests")).toBeVisible();
});

test("list is grouped by the address, with the number of each group", async ({ page }) => {
  await open(page, "work");
  await page.getByRole("combobox", { name: "Group by" }).selectOption("By state");
  await expect(page).toHaveURL(/group=state/);
  await expect(page.getByRole("button", { name: "Plan ready 1", exact: true })).toBeVisible();
  await page.reload();
  const failed = page.getByRole("button", { name: "Failed 1", exact: true });
  await expect(failed).toHaveAttribute("aria-expanded", "false");
  await failed.press("Enter");
  await expect(page.getByRole("group", { name: "Failed" }).getByRole("listitem")).toHaveCount(1);
  await expectAccessible(page);
  await page.getByRole("combobox", { name: "Group by" }).selectOption("By repository");
  await expect(page.getByRole("button", { name: /^acme\/shop \d+$/ })).toBeVisible();
});

test("person filters the list", async ({ page }) => {
  await open(page, "work?group=person");
  await page.getByRole("combobox", { name: "Person" }).selectOption("Ben Lindqvist");
  await expect(page).toHaveURL(/person/);
  await expect(page.getByText("66 change requests")).toBeVisible();
  await expect(page.getByRole("heading", { level: 2 })).toHaveCount(1);
  await expect(page.getByRole("searchbox")).toHaveValue("person:ben@example.org");
});

test("view is saved, selected again, and removed", async ({ page }) => {
  await open(page, "work");
  await page.getByRole("searchbox").fill("state:failed");
  await page.getByRole("combobox", { name: "Group by" }).selectOption("By person");
  await page.getByRole("button", { name: "Save this view" }).click();
  await page.getByRole("textbox", { name: "Name of the view" }).fill("Failures by person");
  await page.keyboard.press("Enter");
  const view = page.getByRole("button", { name: "Failures by person" });
  await expect(view).toHaveAttribute("aria-pressed", "true");
  await expectAccessible(page);
  await open(page, "work");
  await expect(page.getByText("132 change requests")).toBeVisible();
  await view.click();
  await expect(page.getByText("1 change request", { exact: true })).toBeVisible();
  await expect(page).toHaveURL(/group=person/);
  await page.getByRole("button", { name: "Remove this view" }).click();
  await expect(view).toBeHidden();
});

test("change of another person appears without a poll", async ({ page }) => {
  await open(page, "inbox");
  await expect(page.getByText("8 change requests")).toBeVisible();
  await page.request.patch(`${mock.origin}/change-requests/feature-101`, {
    headers: { "x-session-key": "mock" },
    data: { archived: true },
  });
  await expect(page.getByText("7 change requests")).toBeVisible();
});

test("log of a change request shows the warnings of its loop", async ({ page }) => {
  await open(page, "work/feature-110?tab=live");
  await expect(page.getByText("Completed with warnings")).toBeVisible();
  await expect(page.getByText("The support files could not be uploaded.")).toBeVisible();
});
