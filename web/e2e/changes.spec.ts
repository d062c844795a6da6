/** The changes of a loop: diff, comments, and one loop that gets all of them. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock } from "./mock";
import { expectAccessible, expectContrast, expectNoHorizontalScroll, PageMonitor } from "./quality";

const LOOP = "01980000-0000-7000-8000-000000000011";
const CHANGES = "**/api/gateway/git/loop-changes/**";

let mock: Mock;
test.beforeAll(async () => {
  mock = await startMock();
});
test.afterAll(() => mock.stop());
test.beforeEach(({ page }) => signInTo(mock, page));

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
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expectContrast(page);
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 844 });
    await expectNoHorizontalScroll(page);
  }
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
  expect(starts[0]).toMatchObject({ command: "execute" });
  const { prompt } = starts[0] as { prompt: string };
  expect(prompt).toMatch(
    /^# Review comments\n\n> Almost done\.\n\n## Comment 1: src\/webhooks\/retry\.ts, line 13\n/,
  );
  expect(prompt).toContain("> Was this still used?");
  await open(page);
  await expect(page.getByRole("button", { name: "Finish review", exact: true })).toBeVisible();
});

test("comments are posted to the pull request, and a comment that fails remains", async ({
  page,
}) => {
  await open(page);
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  await comment(page, "src/webhooks/retry.ts", "Name the limit.");
  await comment(page, "src/legacy.ts", "Was this still used?");
  const posted: unknown[] = [];
  await page.route("**/api/gateway/git/pr/inline-comment", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    posted.push(route.request().postDataJSON());
    const response = await route.fetch();
    if (posted.length === 2)
      return route.fulfill({ response, status: 500, json: { error: "HTTP 502" } });
    return route.fulfill({ response, json: { success: true } });
  });
  await page.getByRole("button", { name: "Finish review (2)" }).click();
  const dialog = page.getByRole("dialog", { name: "Finish review" });
  await dialog.getByRole("button", { name: "Comment only" }).click();
  await expect(dialog.getByText("HTTP 502")).toBeVisible();
  await expect(dialog.getByRole("article")).toHaveCount(1);
  await dialog.getByRole("button", { name: "Comment only" }).click();
  await expect(dialog.getByRole("article")).toHaveCount(0);
  expect(posted).toHaveLength(3);
  expect(posted[0]).toMatchObject({
    path: "src/webhooks/retry.ts",
    line: 13,
    body: "Name the limit.",
  });
  expect(posted[2]).toMatchObject({
    path: "src/legacy.ts",
    body: "src/legacy.ts, line 12 before the change\n\nWas this still used?",
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

test("file is commented with the pointer at its line", async ({ page }) => {
  await open(page);
  // The viewer replaces the line when it is highlighted, and with it the button.
  await expect(async () => {
    await line(page, "Doubles with each attempt").hover();
    await page.locator("[data-utility-button]").click({ timeout: 1_000 });
  }).toPass();
  await expect(page.getByRole("textbox", { name: "Comment" })).toBeFocused();
  await expect(page.getByRole("spinbutton", { name: "Last line" })).toHaveValue("13");
});

test("mark of a viewed file is kept until the file changes", async ({ page }) => {
  await open(page);
  const viewed = page.getByRole("checkbox", { name: "Viewed: src/webhooks/retry.ts" });
  await viewed.check();
  await expect(line(page, "Doubles with each attempt")).toHaveCount(0);
  await page.reload();
  await expect(viewed).toBeChecked();
  await expect(page.getByText("1 of 7 viewed")).toBeVisible();
  await page.route(CHANGES, async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replace("hash of src/webhooks/retry.ts", "another");
    await route.fulfill({ response, body: text });
  });
  await page.reload();
  await expect(viewed).not.toBeChecked();
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
});

test("lock files are closed, and binary files say what they are", async ({ page }) => {
  await open(page, "&file=package-lock.json");
  await expect(page.getByText("Binary · 12.3 kB")).toBeVisible();
  await open(page);
  const lockFile = page.getByRole("button", { name: "package-lock.json", expanded: false });
  await expect(lockFile).toBeVisible();
  await lockFile.click();
  await expect(line(page, '"version": "1.1.0"')).toBeVisible();
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
  await page.unroute(CHANGES);
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(line(page, "Doubles with each attempt")).toBeVisible();
  // Without a gateway on this machine, the request is a command, which the owner of the desktop does not allow.
  await page.route(/127\.0\.0\.1:\d+\/(health$|api\/gateway|gateway-auth)/, (route) =>
    route.abort(),
  );
  await page.reload();
  await expect(page.getByText(/don.t have access/)).toBeVisible();
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
});
