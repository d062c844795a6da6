/** The changes of a loop: diff, comments, and one loop that gets all of them. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";
import { copiedText, expectAccessible, expectDarkAndNarrow, PageMonitor } from "./quality";

const LOOP = "01980000-0000-7000-8000-000000000011";
const RUNNING = "01980000-0000-7000-8000-000000000010";
const CHANGES = "**/api/gateway/git/loop-changes/**";

let mock: Mock;
// One for each test: comments are stored on the server.
test.beforeEach(async ({ page }) => {
  mock = await startMock();
  await signInTo(mock, page);
});
stopAfterEach(() => mock);

const open = (page: Page, search = "") =>
  page.goto(`${mock.origin}/acme/loops/${LOOP}?tab=changes${search}`);

const line = (page: Page, text: string) => page.getByText(text).first();

/** Adds a comment on the first changed line of a file. */
async function comment(page: Page, path: string, text: string): Promise<void> {
  await page.getByRole("button", { name: `Comment on ${path}` }).click();
  await page.getByRole("textbox", { name: "Comment" }).fill(text);
  await page.getByRole("button", { name: "Add comment" }).click();
  await expect(page.getByRole("article", { name: `Comment on ${path}` })).toContainText(text);
}

test("diff is accessible in both themes, fits a phone, and runs nothing of its files", async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  const monitor = new PageMonitor(page, mock.origin);
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await expect(line(page, "<script>alert(1)</script>")).toBeAttached();
  await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
  await expect(page.getByRole("textbox", { name: "Comment" })).toBeFocused();
  // Before the accessibility check, which adds style elements of its own to shadow roots.
  monitor.expectClean();
  await expectAccessible(page);
  await expectDarkAndNarrow(page);
});

test("comments are sent as one request that starts one loop", async ({ page }) => {
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await comment(page, "src/webhooks/retry.ts", "Name the limit.");
  await comment(page, "src/legacy.ts", "Was this still used?");
  const starts: unknown[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/run-loop")) starts.push(request.postDataJSON());
  });
  await page.getByRole("button", { name: "Finish review (2)" }).click();
  const dialog = page.getByRole("dialog", { name: "Finish review" });
  await expect(dialog.getByRole("article")).toHaveCount(2);
  await dialog.getByLabel("Summary").fill("Almost done.");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Request changes" }).dblclick();
  await expect(page).not.toHaveURL(new RegExp(LOOP));
  expect(starts).toHaveLength(1);
  expect(starts[0]).toMatchObject({
    command: "execute",
    prompt: "Almost done.",
    review: {
      summary: "Almost done.",
      heads: { "acme/shop": "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade" },
    },
  });
  expect((starts[0] as { review: { commentIds: string[] } }).review.commentIds).toHaveLength(2);

  // The answers are at the lines, and in the list of reviews.
  await open(page);
  await expect(page.getByRole("button", { name: "Finish review", exact: true })).toBeVisible();
  const reviews = page.getByRole("list", { name: "Reviews" });
  await expect(reviews).toContainText("2 comments · 1 done · 1 declined", { timeout: 30_000 });
  const answered = page.getByRole("article", { name: /Comment 1 on src\/webhooks\/retry\.ts/ });
  await expect(answered.last()).toContainText("Done in 442f4e2: The limit has a name.");
  await expect(
    page.getByRole("article", { name: /Comment 2 on src\/legacy\.ts/ }).last(),
  ).toContainText("Declined: The export still uses it.");
  await reviews.getByText("Changes requested").click();
  await expect(reviews.getByRole("article")).toHaveCount(2);
  await expectAccessible(page);
  // A file that the diff no longer contains: the comment is in the list of reviews.
  const removed = (starts[0] as { review: { commentIds: string[] } }).review.commentIds[1] ?? "";
  await page.route(CHANGES, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replaceAll("src/legacy.ts", "src/other.ts");
    await route.fulfill({ response, body });
  });
  await open(page, `&repo=acme%2Fshop&comment=${removed}`);
  await expect(reviews.getByRole("article", { name: /Comment 2 on/ })).toBeFocused();
  // The page may be reading the changes again.
  await page.unrouteAll({ behavior: "wait" });
  await open(page);
  await answered.last().getByRole("button", { name: "442f4e2" }).click();
  await expect(page).toHaveURL(/range=commit%3A442f4e2d/);
});

test("comments survive another browser, and a comment that cannot be stored keeps its text", async ({
  page,
  browser,
}) => {
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await page.route("**/comments/*", (route) => route.fulfill({ status: 500, json: {} }));
  await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
  await page.getByRole("textbox", { name: "Comment" }).fill("Name the limit.");
  await page.getByRole("button", { name: "Add comment" }).click();
  await expect(page.getByText("The comment could not be stored")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Comment" })).toHaveValue("Name the limit.");
  await page.unroute("**/comments/*");
  await page.getByRole("button", { name: "Add comment" }).click();
  await expect(page.getByRole("textbox", { name: "Comment" })).toHaveCount(0);

  const other = await browser.newPage();
  await signInTo(mock, other);
  await open(other);
  await expect(other.getByRole("article", { name: /retry\.ts, line 13/ })).toContainText(
    "Name the limit.",
  );
  await other.close();
});

test("comment moves with its line", async ({ page }) => {
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await comment(page, "src/webhooks/retry.ts", "Name the limit.");
  await page.route(CHANGES, async (route) => {
    const response = await route.fetch();
    const text = (await response.text())
      .replace("hash of src/webhooks/retry.ts", "another")
      .replace("@@ -12,3 +12,4 @@\\n", "@@ -12,3 +12,5 @@\\n+// A new line.\\n");
    const body = route.request().postDataJSON() as { lines?: unknown[] } | null;
    const located = body?.lines
      ? text.replace('"line":13,"outdated":false', '"line":14,"outdated":false')
      : text;
    await route.fulfill({ response, body: located });
  });
  await page.reload();
  await expect(line(page, "A new line.")).toBeVisible();
  const row = page.locator("[data-line='14']").filter({ hasText: "Doubles with each attempt" });
  await expect(row.first()).toBeVisible();
  await expect(page.getByRole("article", { name: /retry\.ts, line 13/ })).toBeVisible();
});

test("lines and an open comment of a file that a running loop changes stay until its new lines arrive", async ({
  page,
}) => {
  let isChanged = false;
  const held: (() => void)[] = [];
  await page.route(CHANGES, async (route) => {
    if (!isChanged) return route.fallback();
    if (route.request().method() === "POST")
      await new Promise<void>((resolve) => held.push(resolve));
    const response = await route.fetch();
    const body = (await response.text())
      .replace("hash of src/webhooks/retry.ts", "another")
      .replace("Doubles with each attempt", "Triples with each attempt");
    await route.fulfill({ response, body });
  });
  await page.goto(`${mock.origin}/acme/loops/${RUNNING}?tab=changes`);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
  const field = page.getByRole("textbox", { name: "Comment" });
  await field.fill("Name the limit.");
  await field.evaluate((own) => own.setAttribute("data-same", ""));
  await page.keyboard.press("Home");
  isChanged = true;
  await expect.poll(() => held.length).toBe(1);
  await expect(page.getByText("Updating…")).toBeVisible();
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await page.keyboard.type("Please: ");
  held[0]?.();
  await expect(line(page, "Triples with each attempt")).toBeVisible();
  await expect(page.getByText("Updating…")).toHaveCount(0);
  await expect(page.getByText("Doubles with each attempt")).toHaveCount(0);
  await expect(field).toHaveValue("Please: Name the limit.");
  await expect(field).toBeFocused();
  // Not another field, in which the person would lose the place.
  await expect(field).toHaveAttribute("data-same");
  await page.unrouteAll({ behavior: "wait" });
});

test("comments are posted to the pull request as one review, and remain after a failure", async ({
  page,
}) => {
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await comment(page, "src/webhooks/retry.ts", "Name the limit.");
  await comment(page, "src/legacy.ts", "Was this still used?");
  const posted: unknown[] = [];
  await page.route("**/api/gateway/git/pr/review", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    posted.push(route.request().postDataJSON());
    const response = await route.fetch();
    if (posted.length === 1)
      return route.fulfill({ response, status: 500, json: { error: "HTTP 502" } });
    return route.fulfill({ response, json: { success: true, onLines: true } });
  });
  await page.getByRole("button", { name: "Finish review (2)" }).click();
  const dialog = page.getByRole("dialog", { name: "Finish review" });
  await dialog.getByRole("button", { name: "Comment only" }).click();
  await expect(dialog.getByText("HTTP 502")).toBeVisible();
  await expect(dialog.getByRole("article")).toHaveCount(2);
  await dialog.getByRole("button", { name: "Comment only" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Finish review", exact: true })).toBeVisible();
  await expect(page.getByRole("list", { name: "Reviews" })).toContainText("2 comments");
  expect(posted).toHaveLength(2);
  expect(posted[1]).toMatchObject({
    comments: [
      {
        path: "src/webhooks/retry.ts",
        lines: { side: "new", from: 13, to: 13 },
        body: "Name the limit.",
      },
      {
        path: "src/legacy.ts",
        lines: { side: "old", from: 12, to: 12 },
        body: "Was this still used?",
      },
    ],
  });
});

test("comments and an unfinished one survive a reload", async ({ page }) => {
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await comment(page, "src/webhooks/retry.ts", "Name the limit.");
  await page.getByRole("button", { name: "Comment on test/retry.test.ts" }).click();
  await page.getByRole("textbox", { name: "Comment" }).fill("Not finis");
  await page.reload();
  await expect(page.getByRole("textbox", { name: "Comment" })).toHaveValue("Not finis");
  await expect(page.getByRole("article", { name: /retry\.ts, line 13/ })).toBeVisible();
  await page
    .getByRole("button", { name: "Delete the comment on src/webhooks/retry.ts, line 13" })
    .click();
  await expect(page.getByRole("article", { name: /retry\.ts/ })).toHaveCount(0);
});

test("stored comment is edited, and an unfinished edit survives a reload", async ({ page }) => {
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await comment(page, "src/webhooks/retry.ts", "Name the limit.");
  await page.getByRole("button", { name: /^Edit the comment on src\/webhooks\/retry/ }).click();
  const field = page.getByRole("textbox", { name: "Comment" });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("Name the limit.");
  await field.fill("Name the limit, and test it.");
  await page.reload();
  await expect(field).toHaveValue("Name the limit, and test it.");
  await expectAccessible(page);
  // The stored text would be sent.
  await page.getByRole("button", { name: "Finish review (1)" }).click();
  const dialog = page.getByRole("dialog", { name: "Finish review" });
  await expect(dialog.getByText("changes that are not saved")).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Comment only" })).toBeDisabled();
  await page.keyboard.press("Escape");
  const stored = page.waitForRequest((request) => request.method() === "PUT");
  await field.press("Control+Enter");
  expect((await stored).postDataJSON()).toMatchObject({
    path: "src/webhooks/retry.ts",
    lines: { side: "new", from: 13, to: 13, anchor: { line: 13 } },
    body: "Name the limit, and test it.",
  });
  await expect(page.getByRole("article", { name: /retry\.ts, line 13/ })).toContainText(
    "Name the limit, and test it.",
  );
  await expect(page.getByRole("article", { name: /retry\.ts, line 13/ })).toBeFocused();
  await expect(page.getByRole("button", { name: "Finish review (1)" })).toBeVisible();
});

test("file is commented with the pointer at its line", async ({ page }) => {
  await open(page);
  // The viewer replaces the line when it is highlighted, and with it the button.
  await expect(async () => {
    await line(page, "Doubles with each attempt").hover();
    await page.getByRole("button", { name: "Comment on these lines" }).click({ timeout: 1_000 });
  }).toPass();
  await expect(page.getByRole("textbox", { name: "Comment" })).toBeFocused();
  await expect(page.getByRole("spinbutton", { name: "Last line" })).toHaveValue("13");
});

test("lines of a comment are typed digit by digit", async ({ page }) => {
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
  await page.getByRole("textbox", { name: "Comment" }).fill("Name the limit.");
  const first = page.getByRole("spinbutton", { name: "First line" });
  const last = page.getByRole("spinbutton", { name: "Last line" });
  await last.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace");
  await expect(last).toHaveValue("");
  await page.keyboard.type("15");
  await expect(first).toHaveValue("13");
  await first.focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("14");
  await expect(last).toHaveValue("15");
  // A number that is complete changes the other one: with Enter, and when the field is left.
  await page.keyboard.press("Control+a");
  await page.keyboard.type("16");
  await last.focus();
  await expect(last).toHaveValue("16");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("14");
  await page.keyboard.press("Enter");
  await expect(
    page.getByRole("article", { name: "Comment on src/webhooks/retry.ts, line 14" }),
  ).toBeVisible();
});

test("file of the tree is displayed on a phone, where the diff is below the tree", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeAttached();
  const files = page.getByRole("navigation", { name: "Changed files" });
  await files.getByRole("button", { name: /retry\.ts/ }).click();
  const header = page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" });
  // In the upper half, so that its lines are visible.
  await expect.poll(async () => (await header.boundingBox())?.y).toBeLessThan(844 / 2);
});

test("mark of a viewed file is kept until the file changes", async ({ page }) => {
  await open(page);
  const viewed = page.getByRole("checkbox", { name: "Viewed: src/webhooks/retry.ts" });
  await viewed.check();
  await expect(line(page, "Doubles with each attempt")).toHaveCount(0);
  await page.reload();
  await expect(viewed).toBeChecked();
  await expect(page.getByText("1 of 9 viewed")).toBeVisible();
  await page.route(CHANGES, async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replace("hash of src/webhooks/retry.ts", "another");
    await route.fulfill({ response, body: text });
  });
  await page.reload();
  await expect(viewed).not.toBeChecked();
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
});

test("marks of viewed files appear in another tab, and the marks of both tabs are kept", async ({
  page,
  context,
}) => {
  const viewed = (tab: Page, path: string) =>
    tab.getByRole("checkbox", { name: `Viewed: ${path}` });
  await open(page);
  const other = await context.newPage();
  await open(other);
  await expect(viewed(other, "src/webhooks/retry.ts")).not.toBeChecked();
  await viewed(page, "src/webhooks/retry.ts").check();
  await expect(viewed(other, "src/webhooks/retry.ts")).toBeChecked();
  await viewed(other, "src/legacy.ts").check();
  await expect(page.getByText("2 of 9 viewed")).toBeVisible();
  await page.reload();
  await expect(page.getByText("2 of 9 viewed")).toBeVisible();
});

test("tabs write different comments, and a canceled text is offered by the next form", async ({
  page,
  context,
}) => {
  const [retry, legacy] = ["src/webhooks/retry.ts", "src/legacy.ts"];
  const text = (tab: Page) => tab.getByRole("textbox", { name: "Comment" });
  const openForm = (tab: Page, path: string) =>
    tab.getByRole("button", { name: `Comment on ${path}`, exact: true }).click();
  const other = await context.newPage();
  for (const tab of [page, other]) {
    await open(tab);
    await expect(line(tab, "Doubles with each attempt")).toBeVisible();
  }
  await openForm(page, retry);
  await text(page).fill("Name the limit.");
  await page.getByRole("button", { name: "Cancel" }).click();
  await openForm(page, legacy);
  await expect(text(page)).toHaveValue("Name the limit.");
  await expect(text(page)).toBeFocused();
  await openForm(other, retry);
  await expect(text(other)).toHaveValue("");
  await text(other).fill("Start at 1.");
  await other.getByRole("button", { name: "Add comment" }).click();
  await expect(other.getByRole("article", { name: `Comment on ${retry}` })).toBeVisible();
  await openForm(other, retry);
  await expect(text(other)).toHaveValue("");
  await page.getByRole("button", { name: "Add comment" }).click();
  const comments = page.getByRole("article", { name: "Comment on" });
  await expect(comments.filter({ hasText: "Name the limit." })).toBeVisible();
  await expect(comments.filter({ hasText: "Start at 1." })).toBeVisible();
});

test("lock files are closed, and binary files say what they are", async ({ page }) => {
  await open(page, "&file=package-lock.json");
  await expect(page.getByText("Binary file · 12.3 kB")).toBeVisible();
  await open(page);
  const lockFile = page.getByRole("button", { name: "package-lock.json", expanded: false });
  await expect(lockFile).toBeVisible();
  await lockFile.click();
  await expect(line(page, '"version": "1.1.0"')).toBeVisible();
});

test("changed image is shown before and after, and what is no image is not", async ({ page }) => {
  const monitor = new PageMonitor(page, mock.origin);
  await open(page, "&file=public/logo.png");
  for (const name of ["Before", "After"]) {
    const image = page.getByRole("img", { name: `${name}: public/logo.png` });
    await expect(image).toBeVisible();
    expect(await image.evaluate((own: HTMLImageElement) => own.naturalWidth)).toBe(1);
  }
  await expect(page.getByText("Before · 70 byte")).toBeVisible();
  await page.getByRole("button", { name: "icon.png" }).first().click();
  await expect(page.getByText("Its content is not an image.")).toBeVisible();
  await expect(page.getByRole("img", { name: /icon\.png/ })).toHaveCount(0);
  monitor.expectClean();
  await expectAccessible(page);
});

test("address names range, view and line", async ({ page }) => {
  const requests: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("loop-changes"))
      requests.push(`${request.url()} ${request.postData() ?? ""}`);
  });
  await open(page, "&file=src/webhooks/retry.ts&line=R14");
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await page.getByRole("combobox", { name: "Range" }).selectOption({ label: "Not committed" });
  await expect(page).toHaveURL(/range=since%3A442f4e2d/);
  await page.getByRole("checkbox", { name: "Split" }).check();
  await expect(page).toHaveURL(/view=split/);
  await page.getByRole("checkbox", { name: "Ignore white space" }).check();
  await page.getByRole("checkbox", { name: "Whole files" }).check();
  await expect
    .poll(() => requests.at(-1))
    .toMatch(/"since":"442f4e2d.*"context":10000000,"ignoreWhiteSpace":true/);
  expect(
    requests.some((request) => request.includes("?repository=acme%2Fshop&since=442f4e2d")),
  ).toBe(true);
});

test("states without changes say why", async ({ page }) => {
  await page.route(CHANGES, async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    const json = { error: "Failed to compare: git failed" };
    return route.fulfill({ response: await route.fetch(), status: 500, json });
  });
  await open(page);
  await expect(page.getByText("Failed to compare: git failed")).toBeVisible();
  await page.unrouteAll({ behavior: "wait" });
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  // Without a gateway on this machine, the request is a command, which the owner of the desktop does not allow.
  await page.route(/127\.0\.0\.1:\d+\/(health$|api\/gateway|gateway-auth)/, (route) =>
    route.abort(),
  );
  await page.reload();
  await expect(page.getByText(/don.t have access/)).toBeVisible();
});

test("loop that is being prepared says so, and requests no changes", async ({ page }) => {
  const requests: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/loop-changes/")) requests.push(request.url());
  });
  const detail = `**/loops/${RUNNING}`;
  await page.route(detail, async (route) => {
    if (route.request().resourceType() === "document") return route.fallback();
    const response = await route.fetch();
    const text = await response.text();
    return route.fulfill({ response, body: text.replace('"RUNNING"', '"CLAIMED"') });
  });
  await page.goto(`${mock.origin}/acme/loops/${RUNNING}?tab=changes`);
  await expect(page.getByText("The loop is being prepared")).toBeVisible();
  expect(requests).toEqual([]);
  await page.unrouteAll({ behavior: "wait" });
  await page.reload();
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
});

test.describe("with 300 files and 50,000 lines", () => {
  let large: Mock;
  test.beforeAll(async () => {
    large = await startMock(undefined, 0, 300);
  });
  test.afterAll(() => large.stop());

  test("only the lines near the visible part are loaded and rendered", async ({ page }) => {
    await signInTo(large, page);
    let loaded = 0;
    page.on("request", (request) => {
      const body = request.postData();
      if (request.url().includes("loop-changes") && body)
        loaded += (JSON.parse(body) as { paths: string[] }).paths.length;
    });
    await page.goto(`${large.origin}/acme/loops/${LOOP}?tab=changes`);
    await expect(line(page, "Doubles with each attempt")).toBeVisible();
    expect(loaded).toBeLessThan(100);
    const rendered = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("diffs-container")]
          .map((file) => file.shadowRoot?.querySelectorAll("[data-line]").length ?? 0)
          .reduce((sum, count) => sum + count, 0),
      );
    expect(await rendered()).toBeLessThan(1_000);
    await page.getByRole("button", { name: "file-299.ts" }).click();
    await expect(page.getByText("export const value0 = 299;")).toBeVisible();
    expect(await rendered()).toBeLessThan(1_000);
  });

  test("copied link of a comment opens its file, and moves the focus to it", async ({
    page,
    context,
  }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await signInTo(large, page);
    await page.goto(`${large.origin}/acme/loops/${LOOP}?tab=changes`);
    await expect(line(page, "Doubles with each attempt")).toBeVisible();
    await page.getByRole("button", { name: "file-299.ts" }).click();
    await expect(page.getByText("export const value0 = 299;")).toBeVisible();
    await comment(page, "src/generated/part-9/file-299.ts", "Name the values.");
    const article = page.getByRole("article", { name: /^Comment on .*file-299\.ts, line/ });
    await article.getByRole("button", { name: "Copy link" }).click();
    const address = `/acme/loops/${LOOP}?tab=changes&repo=acme%2Fshop&comment=`;
    const link = await copiedText(page, address);
    await page.goto(`${large.origin}/acme/inbox`);
    await page.goto(link);
    await expect(article).toBeFocused();
    await expect(article).toBeInViewport();
    // What the person does next is not about the comment.
    await page.getByRole("checkbox", { name: "Split" }).check();
    await expect(page).not.toHaveURL(/comment=/);
    await page.goto(`${link}0`);
    await expect(page.getByText("The comment of this address cannot be shown")).toBeVisible();
  });

  test("corrected lines of a comment are kept while its form is out of view", async ({ page }) => {
    await signInTo(large, page);
    await page.goto(`${large.origin}/acme/loops/${LOOP}?tab=changes`);
    await expect(line(page, "Doubles with each attempt")).toBeVisible();
    await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
    const field = page.getByRole("textbox", { name: "Comment" });
    await field.fill("Name the limit.");
    const last = page.getByRole("spinbutton", { name: "Last line" });
    await last.fill("14");
    await expect(last).toBeFocused();
    await page.getByRole("button", { name: "file-299.ts" }).click();
    await expect(page.getByText("export const value0 = 299;")).toBeVisible();
    await expect(field).toHaveCount(0);
    await page
      .getByRole("navigation", { name: "Changed files" })
      .getByRole("button", { name: /retry\.ts/ })
      .click();
    await expect(field).toHaveValue("Name the limit.");
    await expect(last).toHaveValue("14");
    await page.getByRole("button", { name: "Add comment" }).click();
    await expect(
      page.getByRole("article", { name: "Comment on src/webhooks/retry.ts, lines 13 to 14" }),
    ).toBeVisible();
  });
});
