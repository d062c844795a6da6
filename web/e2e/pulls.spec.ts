/** The pull requests of a change request: read, answered, addressed by a loop, updated and merged. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";
import { expectAccessible, expectDarkAndNarrow, PageMonitor } from "./quality";

const TITLE = "Retry webhooks with a growing delay";

let mock: Mock;
// Tests change the pull requests.
test.beforeEach(async ({ page }) => {
  mock = await startMock();
  await signInTo(mock, page);
});
stopAfterEach(() => mock);

const open = (page: Page) => page.goto(`${mock.origin}/acme/work/feature-110?tab=pull-request`);
const card = (page: Page, title = TITLE) => page.getByRole("article", { name: title });

/** Records the bodies of requests to a route of the gateway. */
function sentTo(page: Page, route: string): unknown[] {
  const sent: unknown[] = [];
  page.on("request", (request) => {
    const isSent = request.method() === "POST" && request.url().endsWith(route);
    if (isSent) sent.push(request.postDataJSON());
  });
  return sent;
}

test("pull requests of several repositories are accessible, and run nothing of their texts", async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  const monitor = new PageMonitor(page, mock.origin);
  await open(page);
  await expect(card(page).getByText("1 of 2 checks failed")).toBeVisible();
  await expect(card(page).getByText("Changes requested")).toBeVisible();
  await expect(card(page).getByRole("link", { name: "Details of test" })).toBeVisible();
  await expect(card(page).getByText("<img src=x onerror=alert(1)>")).toBeVisible();
  const blocked = card(page, "Document the delay");
  await expect(blocked.getByText(/rules of the base branch are not met/)).toBeVisible();
  await expect(blocked.getByRole("button", { name: "Merge" })).toBeDisabled();
  monitor.expectClean();
  await expectAccessible(page);
  await expectDarkAndNarrow(page);
});

test("comment is answered in place, and the draft survives a reload", async ({ page }) => {
  await open(page);
  const thread = card(page).getByRole("article", { name: "Comments on src/webhooks/retry.ts" });
  await thread.getByRole("button", { name: "Reply" }).click();
  const field = page.getByRole("textbox", { name: "Reply on src/webhooks/retry.ts, line 13" });
  await expect(field).toBeFocused();
  await field.fill("A day is too long");
  await page.reload();
  await expect(field).toHaveValue("A day is too long");
  await expectAccessible(page);
  const replies = sentTo(page, "/git/pr/reply");
  await field.press("Control+Enter");
  await expect(thread.getByText("octo-dev")).toBeVisible();
  await expect(field).toHaveCount(0);
  expect(replies).toEqual([
    {
      repoPath: "/home/sam/src/acme/shop",
      prNumber: 42,
      body: "A day is too long",
      commentId: 11,
    },
  ]);
});

test("chosen comments are sent to one loop", async ({ page }) => {
  await open(page);
  const address = page.getByRole("button", { name: /^Address comments/ });
  await expect(address).toBeDisabled();
  await page.getByRole("checkbox", { name: /comments on src\/webhooks/ }).check();
  await page.getByRole("checkbox", { name: /comments on Conversation/ }).check();
  await expect(address).toHaveText("Address comments (2)");
  const starts = sentTo(page, "/run-loop");
  const stored: { id: string; body: string }[] = [];
  page.on("request", (request) => {
    const id = /\/comments\/([^/]+)$/.exec(request.url())?.[1];
    if (id && request.method() === "PUT")
      stored.push({ id, ...(request.postDataJSON() as { body: string }) });
  });
  await address.click();
  const dialog = page.getByRole("alertdialog", { name: "Address 2 comments" });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Start loop" }).dblclick();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  expect(starts).toHaveLength(1);
  expect(starts[0]).toMatchObject({ command: "execute" });
  const { review } = starts[0] as { review: { commentIds: string[]; summary: string } };
  expect(review.summary).toMatch(/^In the conversation of acme\/shop#42:\n\n> /);
  expect(stored).toMatchObject([
    {
      id: review.commentIds[0],
      repository: "acme/shop",
      path: "src/webhooks/retry.ts",
      lines: { side: "new", from: 13, to: 13 },
    },
  ]);
  expect(stored[0]?.body).toContain("> Why an hour, and not a day?");
});

test("conflicts are resolved by one loop, which merges the base branch", async ({ page }) => {
  await page.route("**/git/pr/standing?**", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as object;
    return route.fulfill({
      response,
      json: { ...body, hasConflicts: true, mergeObstacle: "conflicts" },
    });
  });
  await open(page);
  await expect(card(page).getByText(/conflicts with the base branch/)).toBeVisible();
  const starts = sentTo(page, "/run-loop");
  await card(page).getByRole("button", { name: "Resolve conflicts" }).click();
  const dialog = page.getByRole("alertdialog", {
    name: "Resolve the conflicts of acme/shop #42",
  });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Start loop" }).click();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  expect(starts).toMatchObject([{ command: "execute", review: { commentIds: [], heads: {} } }]);
  const [{ review }] = starts as [{ review: { summary: string } }];
  expect(review.summary).toContain("Fetch the branch `main`");
  // The delivery refuses a merge that has not finished.
  expect(review.summary).toContain("Commit the merge");
});

test("pull request is read again when its machine reports a change", async ({ page }) => {
  let isResolved = false;
  await page.route("**/git/pr/standing?**", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as object;
    return route.fulfill({ response, json: { ...body, hasConflicts: !isResolved } });
  });
  // Another state than that of the last report, so that the page reads the change request until there is another report.
  await page.route(/\/change-requests\/feature-110(\?|$)/, async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: { pullRequests: object[] } };
    const pullRequests = body.data.pullRequests.map((pull) => ({
      ...pull,
      ...(isResolved ? { reportedAt: new Date().toISOString() } : { standing: null }),
    }));
    return route.fulfill({ response, json: { ...body, data: { ...body.data, pullRequests } } });
  });
  await open(page);
  const resolve = card(page).getByRole("button", { name: "Resolve conflicts" });
  await expect(resolve).toBeVisible();
  isResolved = true;
  await expect(resolve).toHaveCount(0);
});

test("branch is updated, then merged with the chosen method", async ({ page }) => {
  await open(page);
  await card(page).getByRole("button", { name: "Update branch" }).click();
  await expect(card(page).getByRole("button", { name: "Update branch" })).toHaveCount(0);
  const merges = sentTo(page, "/git/pr/merge");
  await card(page).getByRole("button", { name: "Merge" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Merge acme/shop #42" });
  await expect(dialog.getByRole("radio", { name: /Squash/ })).toBeChecked();
  await dialog.getByRole("radio", { name: /Merge commit/ }).check();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Merge" }).click();
  await expect(card(page).getByText("Merged")).toBeVisible();
  await expect(card(page).getByRole("button", { name: "Merge" })).toHaveCount(0);
  expect(merges).toEqual([
    {
      repoFullName: "acme/shop",
      prNumber: 42,
      headSha: "de980441c3ab03a8c07dda1ad27b8a11f39deb1e",
      method: "merge",
    },
  ]);
});

test("refused merge says why, and the pull request is read again", async ({ page }) => {
  await open(page);
  await page.route("**/api/gateway/git/pr/merge", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const error = "The pull request has new commits. Read them, then repeat the request.";
    const response = await route.fetch({
      postData: { headSha: "other", repoFullName: "acme/shop", prNumber: 42 },
    });
    return route.fulfill({ response, status: 409, json: { error, code: "head_moved" } });
  });
  await card(page).getByRole("button", { name: "Merge" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Merge acme/shop #42" });
  const read = page.waitForRequest("**/git/pr/standing?**");
  await dialog.getByRole("button", { name: "Merge" }).click();
  await expect(dialog.getByRole("alert")).toContainText("new commits");
  await read;
});

test("last known state is displayed while the machine is offline", async ({ page }) => {
  await page.route("**/api/gateway/git/pr/**", (route) => route.abort());
  await page.route("**/compute-targets", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: { isOnline: boolean }[] };
    for (const target of body.data) target.isOnline = false;
    return route.fulfill({ response, json: body });
  });
  await open(page);
  await expect(
    card(page)
      .getByText(/studio-7 is offline\. Start Loopgate there/)
      .first(),
  ).toBeVisible();
  await expect(card(page).getByText(/The state above is from 5m ago/)).toBeVisible();
  await expect(card(page).getByText("1 unresolved thread")).toBeVisible();
  await expect(card(page).getByRole("button", { name: "Merge" })).toHaveCount(0);
  await expectAccessible(page);
});
