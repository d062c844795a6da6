/** What needs the person, outside of the pages: in the title and icon of the tab, and in notifications. */
import { expect, type Page, test } from "@playwright/test";

import { id, useMock } from "./mock";
import { expectAccessible } from "./quality";

const mock = useMock();
const { open } = mock;
test.beforeEach(async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await mock.signIn(page);
});

test("tab shows in title and icon what needs the person", async ({ page }) => {
  const icon = page.locator("link[rel=icon]");
  await page.clock.install();
  await page.reload();
  await expect(page).toHaveTitle("(10) Loops · Loopgate");
  await expect(icon).toHaveAttribute("href", "/favicon-attention.svg");
  await page.route("**/api/gateway/approvals", (route) =>
    route.fulfill({ json: { waiting: [], command: "loopgate approvals" } }),
  );
  // The next poll of the gateway. Its timer starts after the last one.
  await expect(async () => {
    await page.clock.fastForward(20_000);
    await expect(page).toHaveTitle("(8) Loops · Loopgate", { timeout: 500 });
  }).toPass();
  await page.route("**/change-requests?*attention=true*", (route) =>
    route.fulfill({ json: { success: true, data: [], total: 0 } }),
  );
  // Announces that the list has changed.
  await page.request.patch(`${mock.origin}/change-requests/feature-101`, {
    headers: { "x-session-key": "mock" },
    data: { archived: true },
  });
  await expect(page).toHaveTitle("Loops · Loopgate");
  await expect(icon).toHaveAttribute("href", "/favicon.svg");
  const response = await page.request.get(`${mock.origin}/favicon-attention.svg`);
  expect(response.headers()["content-type"]).toBe("image/svg+xml");
});

test("number of what needs the person includes all pages of the list", async ({ page }) => {
  await page.route("**/change-requests?*attention=true*", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as object;
    return route.fulfill({ response, json: { ...body, total: 73 } });
  });
  await page.reload();
  await expect(page).toHaveTitle("(75) Loops · Loopgate");
  await expect(page.getByRole("link", { name: /^Needs you/ })).toHaveAccessibleName(
    "Needs you , 75",
  );
});

test("loop that waits for approval on a later page of the list is counted once", async ({
  page,
}) => {
  await page.route("**/change-requests?*attention=true*", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as {
      data: { state: string; details: { activity?: { id: string } } }[];
    };
    const held = body.data.filter(({ state }) => state === "waiting_for_approval");
    for (const { details } of held) if (details.activity) details.activity.id = id(71);
    const isFirstPage = !route.request().url().includes("state=");
    const data = isFirstPage ? body.data.filter((row) => !held.includes(row)) : held;
    return route.fulfill({ response, json: { ...body, data, total: 73 } });
  });
  await page.reload();
  // One of the two requests of the machine is that of the loop.
  await expect(page).toHaveTitle("(74) Loops · Loopgate");
});

/** Replaces the notifications of the browser by a list, and lets the test hide the page. */
const recordNotifications = (page: Page) =>
  page.addInitScript(() => {
    const shown: string[] = [];
    let permission = window.localStorage.getItem("test.permission") ?? "default";
    class RecordedNotification {
      static get permission() {
        return permission;
      }
      static requestPermission() {
        permission = "granted";
        window.localStorage.setItem("test.permission", permission);
        return Promise.resolve(permission);
      }
      readonly title: string;
      constructor(title: string) {
        this.title = title;
        shown.push(title);
      }
      close() {
        shown.push(`closed: ${this.title}`);
      }
    }
    let visibility = "visible";
    Object.defineProperty(document, "visibilityState", { get: () => visibility });
    Object.assign(window, {
      Notification: RecordedNotification,
      shown,
      hidePage: () => {
        visibility = "hidden";
        document.dispatchEvent(new Event("visibilitychange"));
      },
    });
  });

const shown = (page: Page) => page.evaluate(() => (window as unknown as { shown: string[] }).shown);
const hide = (page: Page) =>
  page.evaluate(() => (window as unknown as { hidePage: () => void }).hidePage());
const approval = (n: number) => ({
  id: id(n),
  createdAt: new Date().toISOString(),
  directories: [],
  location: "cloud-socket",
  method: "POST",
  operationId: "loop_start",
  path: "/",
  reason: "",
  riskTier: "low",
  waitsUntil: new Date(Date.now() + 60_000).toISOString(),
});

test("notification is offered with the first loop, shown by one hidden tab, and withdrawn", async ({
  page,
  context,
}) => {
  const waiting: object[] = [];
  await context.route("**/api/gateway/approvals", (route) =>
    route.fulfill({ json: { waiting, command: "loopgate approvals" } }),
  );
  const other = await context.newPage();
  const tabs = [page, other];
  for (const tab of tabs) {
    await recordNotifications(tab);
    await tab.clock.install();
  }
  /** Polls the gateway in both tabs until they show the result. */
  const pollUntil = (title: RegExp) =>
    // A tab that has not finished its last poll has no timer for the next one.
    expect(async () => {
      for (const tab of tabs) await tab.clock.fastForward(20_000);
      for (const tab of tabs) await expect(tab).toHaveTitle(title, { timeout: 500 });
    }).toPass();
  await open(page, `/acme/loops/${id(10)}`);
  await page.getByRole("button", { name: "Tell me when it needs me" }).click();
  await expect(page.getByText("Loopgate can notify you")).toBeHidden();
  await open(other, "/acme/loops");
  for (const tab of tabs) await expect(tab).toHaveTitle(/^\(8\)/);

  // Another tab is visible.
  await hide(page);
  waiting.push(approval(71));
  await pollUntil(/^\(9\)/);
  expect([...(await shown(page)), ...(await shown(other))]).toEqual([]);

  await hide(other);
  waiting.push(approval(72));
  await pollUntil(/^\(10\)/);
  await expect.poll(() => shown(page)).toEqual(["Loop start"]);
  expect(await shown(other)).toEqual([]);
  waiting.pop();
  await pollUntil(/^\(9\)/);
  await expect.poll(() => shown(page)).toEqual(["Loop start", "closed: Loop start"]);

  await open(page, "/acme/settings/profile");
  await page.getByRole("button", { name: "Turn off notifications" }).click();
  await expect(page.getByText("Notifications are off.")).toBeVisible();
});

test("declined offer of notifications is not repeated", async ({ page }) => {
  await recordNotifications(page);
  await open(page, `/acme/loops/${id(10)}`);
  await expect(page.getByRole("button", { name: "Not now" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Not now" }).click();
  await page.reload();
  await expect(page.getByRole("button", { name: "Cancel loop" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Not now" })).toBeHidden();
});
