/** Pages while the mock server is down, after its restart, and in many tabs. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";
import { expectAccessible } from "./quality";

const RUNNING_LOOP = "/acme/loops/01980000-0000-7000-8000-000000000010";

let mock: Mock;
test.beforeEach(async () => {
  mock = await startMock();
});
stopAfterEach(() => mock);

const open = (page: Page, path: string) => page.goto(mock.origin + path);

/** `version`: another version of the app. */
async function restart(version?: string): Promise<void> {
  mock = await startMock(mock.origin, 0, 0, version ? { APP_VERSION: version } : {});
}

test("page states that the server does not respond, pauses, and continues when it responds", async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await signInTo(mock, page);
  await open(page, RUNNING_LOOP);
  await expect(page.getByText("package.json").first()).toBeVisible();
  const bar = page.getByText(
    /^Loopgate is not responding\. Last update \d\d:\d\d:\d\d\. Reconnecting…$/,
  );
  const duration = page.locator("dt", { hasText: /^Time$/ }).locator("+ dd");
  const cancel = page.getByRole("button", { name: "Cancel loop" });
  await mock.stop();
  await expect(bar).toBeVisible({ timeout: 6_000 });
  const announcements = page.getByRole("status", { name: "Announcements" });
  await expect(announcements).toHaveText("Connection lost. Reconnecting.");
  await expect(cancel).toBeDisabled();
  await expect(cancel).toHaveAccessibleDescription("Loopgate is not responding.");
  await expect(page.locator(".animate-breathe")).toHaveCount(0);
  await expect(page.locator(".filled")).toHaveCount(0);
  const stopped = await duration.textContent();
  // The delay between two further probes is longer than the interval of the timers.
  await page.waitForEvent("requestfailed");
  await page.waitForEvent("requestfailed");
  expect(await duration.textContent()).toBe(stopped);
  await expectAccessible(page);
  await restart();
  await expect(bar).toBeHidden({ timeout: 8_000 });
  await expect(announcements).toHaveText("Connected again.");
  await expect(cancel).toBeEnabled();
  await expect(duration).not.toHaveText(stopped ?? "");
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
});

test("restart with another version: the page says so, and keeps its text until the person reloads it", async ({
  page,
}) => {
  await signInTo(mock, page);
  await open(page, "/acme/new");
  const text = page.getByRole("textbox", { name: "Describe the change" });
  await text.fill("Print the version");
  await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
  const isSameDocument = () => page.evaluate(() => "isSameDocument" in window);
  const code = page.locator("script[type=module]").last();
  const [earlier] = await Promise.all([code.getAttribute("src"), mock.stop()]);
  await expect(page.getByText("Loopgate is not responding. Last")).toBeVisible({ timeout: 20_000 });
  await restart("v2");
  expect((await page.request.get(mock.origin + (earlier ?? ""))).status()).toBe(404);
  await expect(
    page.getByRole("banner").getByText("Loopgate was updated. This page still runs the earlier"),
  ).toBeVisible();
  await expect(page.getByRole("status", { name: "Announcements" })).toContainText("was updated");
  await expectAccessible(page);
  await text.press("End");
  await page.keyboard.type(" twice");
  expect(await isSameDocument()).toBe(true);
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(text).toHaveValue("Print the version twice");
  expect(await isSameDocument()).toBe(false);
  expect(await code.getAttribute("src")).not.toBe(earlier);
  await expect(page.getByText("Loopgate was updated")).toHaveCount(0);
  // Its chunks are those of the new version.
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Work" }).first().click();
  await expect(page.getByRole("heading", { level: 1, name: "Work" })).toBeVisible();
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

test("page whose code is not loaded opens when the server responds, without a reload", async ({
  page,
}) => {
  // Without the prefetch of the test below.
  await page.addInitScript(() => Reflect.deleteProperty(window, "requestIdleCallback"));
  await signInTo(mock, page);
  await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
  await mock.stop();
  await page.keyboard.press("c");
  await expect(page.getByText("Loopgate is not responding")).toBeVisible();
  await restart();
  await expect(page.getByLabel("Describe the change")).toBeVisible();
  expect(await page.evaluate(() => "isSameDocument" in window)).toBe(true);
});

test("code of the pages is loaded in advance, diagrams are not", async ({ page }) => {
  const chunks: string[] = [];
  page.on("request", (request) => chunks.push(new URL(request.url()).pathname));
  await signInTo(mock, page);
  for (const name of ["new-change-request", "members", "loop-page"])
    await expect
      .poll(() => chunks.filter((path) => path.startsWith(`/assets/${name}-`)))
      .not.toEqual([]);
  expect(chunks.filter((path) => /mermaid|cytoscape|highlight/.test(path))).toEqual([]);
});

test("failed sign-out is reported and keeps the session", async ({ page }) => {
  await signInTo(mock, page);
  await page.route("**/auth/sign-out", (route) =>
    route.fulfill({ status: 500, json: { success: false, error: "The database is down" } }),
  );
  await page.getByRole("button", { name: /^More/ }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByText("You are still signed in. The database is down")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
});

test("action without a session leads to the signed-out page, which returns", async ({ page }) => {
  await signInTo(mock, page);
  await open(page, "/acme/settings/members");
  await page.route("**/invitations", (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 401, json: { success: false, error: "Unauthorized" } })
      : route.continue(),
  );
  await page.getByLabel("E-mail address").fill("new@example.org");
  await page.getByRole("button", { name: "Invite" }).click();
  await expect(page).toHaveURL(/\/signed-out\?returnTo=.*members/);
});

test("Cancel responds in each of twelve tabs of a loop", async ({ context }) => {
  // Twelve pages, on cores that other checks use as well. A request without a free connection waits until the streams of
  // the other tabs end, after minutes.
  test.setTimeout(180_000);
  const limit = { timeout: 5_000 };
  // Cancels another loop, so that this one runs until the last tab was tested. An intercepted request would turn off the
  // cache of the browser, and each tab would load and compile the app.
  await context.addInitScript(() => {
    const send = window.fetch.bind(window);
    window.fetch = (input, init) => {
      const { url, method, headers } = new Request(input, init);
      return url.endsWith("/cancel")
        ? send(url.replace("000000000010", "000000000011"), { method, headers })
        : send(input, init);
    };
  });
  const first = await context.newPage();
  await first.emulateMedia({ reducedMotion: "reduce" });
  await signInTo(mock, first);
  const tabs = [first];
  while (tabs.length < 12) tabs.push(await context.newPage());
  for (const tab of tabs) {
    await open(tab, RUNNING_LOOP);
    await expect(tab.getByText("package.json").first()).toBeVisible();
    await expect(tab.getByText("Live", { exact: true })).toBeVisible();
  }
  for (const tab of tabs) {
    await tab.bringToFront();
    await tab.getByRole("button", { name: "Cancel loop" }).click();
    const dialog = tab.getByRole("alertdialog");
    await dialog.getByRole("button", { name: "Cancel loop" }).click();
    await expect(dialog).toBeHidden(limit);
  }
  // Another tab reads the stream after the reading tab is closed.
  const reconnected = context.waitForEvent("request", {
    predicate: (request) => request.url().endsWith("/stream"),
    ...limit,
  });
  await first.close();
  expect((await reconnected).headers()["last-event-id"]).toBeDefined();
});
