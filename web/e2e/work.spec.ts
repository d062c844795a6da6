/** The pages of change requests, against the mock server. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";
import { expectAccessible, expectNoHorizontalScroll } from "./quality";

let mock: Mock;

test.beforeEach(async ({ page }) => {
  mock = await startMock(undefined, 120);
  await signInTo(mock, page);
});

stopAfterEach(() => mock);

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
  await expect(page.getByText("No archived change requests")).toBeVisible();
});

test("undo is in view after a change at the end of a scrolled list", async ({ page }) => {
  await open(page, "work");
  await rows(page).first().hover();
  const entry = page.getByRole("listitem").filter({ hasText: "Change 30:" });
  await expect(async () => {
    await page.mouse.wheel(0, 1_000);
    await expect(entry).toBeInViewport({ timeout: 500 });
  }).toPass();
  await entry.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await expect(page.getByRole("button", { name: "Undo" })).toBeInViewport();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(entry).toBeInViewport();
});

test("empty list says whether all change requests are archived", async ({ page }) => {
  let archived = 0;
  await page.route(/\/change-requests\?/, async (route) => {
    const total = route.request().url().includes("archived=true") ? archived : 0;
    await route.fulfill({ json: { data: [], total } });
  });
  await open(page, "work");
  await expect(page.getByText("No change requests yet")).toBeVisible();
  archived = 2;
  await page.reload();
  await expect(page.getByText("All change requests are archived")).toBeVisible();
});

test("search with qualifiers is part of the address", async ({ page }) => {
  await open(page, "work?q=state:bogus");
  await expect(page.getByText("States: ")).toContainText("plan_ready");
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

test.describe("page of a change request", () => {
  const menu = (page: Page, title: string) =>
    page.getByRole("button", { name: `Actions for ${title}` });
  const item = (page: Page, name: string) => page.getByRole("menuitem", { name });

  test("stays unread when it is marked as unread", async ({ page }) => {
    await open(page, "work/feature-101?tab=history");
    await menu(page, "Change 1: question").click();
    await item(page, "Mark as unread").click();
    await menu(page, "Change 1: question").click();
    await expect(item(page, "Mark as read")).toBeVisible();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Needs you" }).click();
    await expect(rows(page).nth(1).getByText("Unread:")).toBeAttached();
  });

  test("its mark as unread and its snooze appear in another tab", async ({ page, context }) => {
    await open(page, "work/feature-101?tab=history");
    await expect(menu(page, "Change 1: question")).toBeVisible();
    const inbox = await context.newPage();
    await open(inbox, "inbox");
    const row = rows(inbox).filter({ hasText: "Change 1: question" });
    await expect(row).toBeVisible();
    await expect(row.getByText("Unread:")).toHaveCount(0);
    await menu(page, "Change 1: question").click();
    await item(page, "Mark as unread").click();
    await expect(row.getByText("Unread:")).toBeAttached();
    await menu(page, "Change 1: question").click();
    await item(page, "Mark as read").click();
    await expect(row.getByText("Unread:")).toHaveCount(0);
    await menu(page, "Change 1: question").click();
    await item(page, "Snooze for an hour").click();
    await expect(row).toHaveCount(0);
  });

  test("is snoozed, says until when, and is shown again", async ({ page }) => {
    await open(page, "work/feature-101?tab=history");
    await menu(page, "Change 1: question").click();
    await item(page, "Snooze until tomorrow").click();
    await expect(page.getByText(/^Snoozed until .* 9:00|^Snoozed until .*09:00/)).toBeVisible();
    await expect(page.getByText("Snoozed “Change 1: question”.")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByText(/^Snoozed until/)).toBeHidden();
    await menu(page, "Change 1: question").click();
    await item(page, "Snooze for an hour").click();
    await page.reload();
    await page.getByRole("button", { name: "Show now" }).click();
    await expect(page.getByText(/^Snoozed until/)).toBeHidden();
  });

  test("is deleted with undo", async ({ page }) => {
    await open(page, "work/feature-107?tab=history");
    await menu(page, "Change 7: failed").click();
    await item(page, "Delete").click();
    await expect(page.getByText("This can be undone for an hour.")).toBeVisible();
    await expect(page.getByRole("tab")).toHaveCount(0);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByRole("tab", { name: "History" })).toBeVisible();
  });

  test("disables its menu while the server does not respond", async ({ page }) => {
    await open(page, "work/feature-101?tab=history");
    await expect(menu(page, "Change 1: question")).toBeEnabled();
    // Loads the code of the palette.
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("option", { name: "Archive" })).toBeVisible();
    await page.keyboard.press("Escape");
    await mock.stop();
    await expect(page.getByText("Loopgate is not responding. Last")).toBeVisible({
      timeout: 20_000,
    });
    await menu(page, "Change 1: question").click();
    await expect(item(page, "Archive")).toHaveAttribute("aria-disabled", "true");
    await expect(page.getByText("Loopgate is not responding.", { exact: true })).toBeVisible();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("option", { name: "Archive" })).toHaveAttribute(
      "aria-disabled",
      "true",
    );
  });

  test("offers Stop on every stage while its loop runs, and announces the new state", async ({
    page,
  }) => {
    await open(page, "new");
    await page.getByLabel("Describe the change").fill("Say hello");
    await page.getByLabel("Repository").fill("acme/shop");
    await page.getByRole("button", { name: "Create plan" }).click();
    const stop = page.getByRole("button", { name: "Stop loop" });
    await expect(page.getByRole("tab", { name: "Live", selected: true })).toBeVisible();
    await expect(stop).toHaveCount(1);
    await page.getByRole("tab", { name: "Request", exact: true }).click();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Stop loop" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Stop this loop?" });
    await dialog.getByRole("button", { name: "Stop loop" }).click();
    await expect(stop).toBeHidden();
    await expect(page.getByRole("status", { name: "Announcements" })).toHaveText("Stopped");
  });

  test("leads to what is due, and the palette carries out its actions", async ({ page }) => {
    await open(page, "work/feature-1?tab=history");
    const search = async (option: string) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("option", { name: option, exact: true }).click();
    };
    await expect(page.getByRole("link", { name: "Read the plan" })).toBeVisible();
    await search("Execute");
    await expect(page.getByRole("button", { name: /^Execute/ })).toBeFocused();
    await expect(page.getByRole("link", { name: "Read the plan" })).toHaveCount(0);
    await search("Archive");
    await expect(page.getByText(/^Archived “Add a --version/)).toBeVisible();
    await search("Loops");
    await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("option", { name: "Archive", exact: true })).toHaveCount(0);
  });
});

test.describe("selection", () => {
  const bar = (page: Page) => page.getByRole("region", { name: "Selection" });

  test("is changed as one by keyboard, undone as one, and cleared by Escape", async ({ page }) => {
    await open(page, "inbox");
    await expect(page.getByText("8 change requests")).toBeVisible();
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await expect(bar(page).getByRole("status")).toHaveText("2 selected");
    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await expect(list.getByText("Select the item")).toBeVisible();
    await expect(list.getByText("Clear the selection")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(list).toBeHidden();
    await expectAccessible(page);
    await page.keyboard.press("x");
    await expect(bar(page).getByRole("status")).toHaveText("1 selected");
    await page.keyboard.press("Escape");
    await expect(bar(page)).toBeHidden();

    await page.keyboard.press("x");
    await page.keyboard.press("k");
    await page.keyboard.press("x");
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Archive: 2 selected" }).click();
    await expect(page.getByText("6 change requests")).toBeVisible();
    await expect(page.getByText("Archived 2 change requests.")).toBeVisible();
    await expect(bar(page)).toBeHidden();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByText("8 change requests")).toBeVisible();
  });

  test("by mouse; a running loop keeps its change request", async ({ page }) => {
    await open(page, "work");
    for (const title of ["Change 7: failed", "Change 8: running"]) {
      await rows(page).filter({ hasText: title }).hover();
      await page.getByRole("checkbox", { name: `Select ${title}` }).click();
    }
    await expect(bar(page).getByRole("button", { name: "Snooze for an hour" })).toBeVisible();
    await bar(page).getByRole("button", { name: "Delete" }).click();
    await expect(page.getByText("131 change requests")).toBeVisible();
    await expect(page.getByText("Deleted “Change 7: failed”.")).toBeVisible();
    await expect(page.getByText("Stop it, then delete the change request.")).toBeVisible();
  });

  test.describe("on a phone", () => {
    test.use({ viewport: { width: 320, height: 700 }, hasTouch: true, isMobile: true });

    test("begins in the menu of a row", async ({ page }) => {
      await open(page, "inbox");
      await page.getByRole("button", { name: "Actions for Change 1: question" }).tap();
      await page.getByRole("menuitem", { name: "Select", exact: true }).tap();
      await page.getByRole("checkbox", { name: "Select Change 2: waiting for approval" }).tap();
      await expect(bar(page).getByRole("status")).toHaveText("2 selected");
      await expect(bar(page)).toBeInViewport({ ratio: 1 });
      await expectAccessible(page);
      await expectNoHorizontalScroll(page);
      await bar(page).getByRole("button", { name: "Mark as unread" }).tap();
      await expect(page.getByText("Marked 2 change requests as unread.")).toBeVisible();
    });
  });
});
