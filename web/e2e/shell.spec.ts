/** Navigation, palette, shortcuts, focus, announcements and notifications, against the mock server. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock } from "./mock";
import { expectAccessible, expectContrast, expectNoHorizontalScroll, PageMonitor } from "./quality";

const id = (n: number) => `01980000-0000-7000-8000-${String(n).padStart(12, "0")}`;
const QUESTION = `/acme/loops/${id(17)}`;

let mock: Mock;
test.beforeEach(async ({ page }) => {
  mock = await startMock();
  await page.emulateMedia({ reducedMotion: "reduce" });
  await signInTo(mock, page);
});
test.afterEach(() => mock.stop());

const open = (page: Page, path: string) => page.goto(mock.origin + path);
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });
const palette = (page: Page) => page.getByRole("dialog", { name: "Search and actions" });

for (const width of [1280, 390]) {
  test(`main pages and the rest of the navigation are reachable, ${width} px wide`, async ({
    page,
  }) => {
    const monitor = new PageMonitor(page, mock.origin);
    await page.setViewportSize({ width, height: 844 });
    const navigation = page.getByRole("navigation", { name: "Main" });
    await navigation.getByRole("link", { name: "Work" }).click();
    await expect(navigation.getByRole("link", { name: "Work" })).toHaveAttribute("aria-current");
    await navigation.getByRole("link", { name: /Needs you/ }).click();
    await expect(heading(page, "Needs you")).toBeVisible();
    await navigation.getByRole("link", { name: "New" }).click();
    await expect(page.getByLabel("Describe the change")).toBeVisible();
    await expect(navigation.getByRole("link", { name: "New" })).toHaveAttribute("aria-current");
    await expect(navigation.getByRole("link", { name: "Work" })).not.toHaveAttribute(
      "aria-current",
    );
    await navigation.getByRole("button", { name: /^More/ }).click();
    await expect(page.getByText("studio-7").first()).toBeVisible();
    await expectAccessible(page);
    await expectNoHorizontalScroll(page);
    await page.getByRole("dialog").getByRole("link", { name: "Settings" }).click();
    await expect(heading(page, "Settings")).toBeVisible();
    monitor.expectClean();
  });
}

test("pages fit 320 px and a zoom of 200 %", async ({ page }) => {
  // A zoom of 200 % halves the size of the window in CSS pixels.
  for (const viewport of [
    { width: 320, height: 640 },
    { width: 640, height: 430 },
  ]) {
    await page.setViewportSize(viewport);
    for (const path of [
      "/acme/inbox",
      "/acme/work",
      "/acme/new",
      `/acme/loops/${id(11)}`,
      QUESTION,
      "/acme/implementation-plans/plan-1",
      "/acme/approvals",
      "/acme/settings/profile",
      "/acme/settings/members",
      "/acme/settings/usage",
    ]) {
      await open(page, path);
      await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
      await expectNoHorizontalScroll(page);
    }
  }
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

test("palette finds pages, settings, change requests and repositories, and carries out actions", async ({
  page,
}) => {
  const code: string[] = [];
  page.on("request", (request) => code.push(request.url()));
  await page.reload();
  await expect(heading(page, "Loops")).toBeVisible();
  expect(code.filter((url) => url.includes("/palette-"))).toEqual([]);
  const find = async (text: string, option: string | RegExp) => {
    await page.keyboard.press("Control+k");
    await palette(page).getByRole("combobox").fill(text);
    await expect(palette(page).getByRole("option", { name: option })).toBeVisible();
    return palette(page).getByRole("option", { name: option });
  };
  await find("audit", "Settings: Audit log");
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await expect(heading(page, "Audit log")).toBeVisible();
  await expect(palette(page)).toBeHidden();

  await (await find("delivery", /Change 4: delivery failed/)).click();
  await expect(heading(page, "Change 4: delivery failed")).toBeVisible();

  await (await find("checkout-service", "acme/checkout-service")).click();
  await expect(page).toHaveURL(/\/acme\/work\?q=repo/);

  await (await find("dark", "Theme: Dark")).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.keyboard.press("Control+k");
  await expect(palette(page)).toBeVisible();
  await expectContrast(page);
  await palette(page).getByRole("combobox").fill("no such thing");
  await expect(palette(page).getByText("No results.")).toBeVisible();
  await page.keyboard.press("Escape");

  await (await find("check this", "Check this machine")).click();
  await expect(page.getByText("Everything required is present")).toBeVisible();
  await (await find("sign out", "Sign out")).click();
  await expect(page).toHaveURL(/\/signed-out\b/);
});

test("palette switches to another organization", async ({ page }) => {
  await page.route("**/organizations", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: object[] };
    const other = { id: id(9), slug: "globex", name: "Globex", role: "org:member" };
    await route.fulfill({ json: { ...body, data: [...body.data, other] } });
  });
  const selected = page.waitForRequest(
    (request) => request.method() === "PUT" && request.url().endsWith("/auth/organization"),
  );
  await page.reload();
  await expect(heading(page, "Loops")).toBeVisible();
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox").fill("globex");
  await palette(page).getByRole("option", { name: "Switch to organization Globex" }).click();
  expect((await selected).postDataJSON()).toEqual({ slug: "globex" });
  await expect(page).toHaveURL(/\/globex\//);
});

test("keys of the list move, open and search, and the list of shortcuts names them", async ({
  page,
}) => {
  const rows = page.getByRole("row").getByRole("link");
  await expect(rows.nth(0)).toBeVisible();
  await page.keyboard.press("j");
  await expect(rows.nth(0)).toBeFocused();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await expect(rows.nth(1)).toBeFocused();
  await page.keyboard.press("?");
  const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(list.getByText("Next item", { exact: true })).toBeVisible();
  await expect(list.getByText("Go to Needs you")).toBeVisible();
  await expectAccessible(page);
  // Keys in a dialog are its own.
  await page.keyboard.press("c");
  await page.keyboard.press("Escape");
  await expect(list).toBeHidden();
  await expect(page).toHaveURL(/\/acme\/loops$/);
  await page.keyboard.press("/");
  await page.keyboard.type("jco");
  await expect(page.getByLabel("Search loops")).toHaveValue("jco");
  await page.getByLabel("Search loops").fill("");
  await page.getByLabel("Search loops").blur();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await expect(page).toHaveURL(new RegExp(`/acme/loops/${id(10)}`));
});

test("keys reach pages and items that need the person", async ({ page }) => {
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await expect(heading(page, "Needs you")).toBeFocused();
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await expect(heading(page, "Work")).toBeFocused();
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  await expect(page.getByLabel("Describe the change")).toBeFocused();
  await page.getByLabel("Describe the change").blur();
  await page.keyboard.press("a");
  await expect(page).toHaveURL(/\/acme\/work\/feature-1$/);
  await page.keyboard.press("a");
  await expect(heading(page, "Change 1: question")).toBeFocused();
  await page.keyboard.press(".");
  await expect(page.getByRole("link", { name: "This machine" })).toBeVisible();
  await page.keyboard.press("Escape");
  await open(page, `/acme/loops/${id(12)}`);
  const execute = page.getByRole("button", { name: /^Execute/ });
  await expect(execute).toBeEnabled();
  await page.keyboard.press("e");
  await expect(execute).toBeFocused();
});

test("single-key shortcuts are turned off in the profile, and Ctrl+K still works", async ({
  page,
}) => {
  await open(page, "/acme/settings/profile");
  const setting = page.getByLabel("Use single-key shortcuts");
  await setting.uncheck();
  await setting.blur();
  await page.reload();
  await expect(setting).not.toBeChecked();
  await page.keyboard.press("c");
  await page.keyboard.press("Control+k");
  await expect(palette(page)).toBeVisible();
  await expect(page).toHaveURL(/\/settings\/profile$/);
});

test("focus moves to the heading of another page, not for tabs and not on the first load", async ({
  page,
}) => {
  await open(page, `/acme/loops/${id(11)}`);
  const title = page.getByRole("heading", { level: 1 });
  await expect(title).toBeVisible();
  await expect(title).not.toBeFocused();
  const tab = page.getByRole("tab", { name: "Output" });
  await tab.click();
  await expect(page).toHaveURL(/tab=output/);
  await expect(tab).toBeFocused();
  await page.getByRole("button", { name: /^More/ }).click();
  await page.getByRole("dialog").getByRole("link", { name: "This machine" }).click();
  await expect(page.getByRole("heading", { level: 2, name: "This machine" })).toBeFocused();
  await page.getByRole("link", { name: "Members" }).click();
  await expect(page.getByRole("heading", { level: 2, name: "Members" })).toBeFocused();
  await page.goBack();
  await expect(page.getByRole("heading", { level: 2, name: "This machine" })).toBeFocused();
});

test("focus stays in a menu that was opened while the page was loading", async ({ page }) => {
  await page.route("**/members", async (route) => {
    if (route.request().resourceType() === "document") return route.fallback();
    await page.getByRole("button", { name: /^More/ }).click();
    await expect(page.getByRole("dialog", { name: "More" })).toBeVisible();
    return route.continue();
  });
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox").fill("members");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Ben Lindqvist")).toBeVisible();
  await expect(page.getByRole("dialog", { name: "More" }).locator(":focus")).toBeVisible();
});

test("new status of the loop and a copied text are announced", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const announcements = page.getByRole("status", { name: "Announcements" });
  await open(page, `/acme/loops/${id(10)}`);
  await page.getByRole("button", { name: "Cancel loop" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel loop" }).click();
  await expect(announcements).toHaveText("Loop: Cancelled");
  await open(page, "/acme/approvals");
  await page.getByRole("button", { name: "Copy approve command" }).first().click();
  await expect(announcements).toHaveText("Copied");
});

test("selected items are visible in forced colours", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await open(page, "/acme/work");
  const background = (name: string) =>
    page
      .getByRole("navigation", { name: "Main" })
      .getByRole("link", { name })
      .evaluate((link) => getComputedStyle(link).backgroundColor);
  expect(await background("Work")).not.toBe(await background("New"));
  const dot = page.getByRole("listitem").filter({ hasText: "Running" }).locator(".filled");
  const colours = await dot.evaluate((shape) => [
    getComputedStyle(shape).backgroundColor,
    getComputedStyle(document.body).backgroundColor,
  ]);
  expect(colours[0]).not.toBe(colours[1]);
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

test("no property is animated with reduced motion", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  const height = await page.evaluate(() => {
    const box = document.body.appendChild(document.createElement("div"));
    box.style.height = "1px";
    const before = box.offsetHeight;
    box.style.height = "100px";
    return [before, box.offsetHeight];
  });
  expect(height).toEqual([1, 100]);
});

test("texts of people have the direction of their script", async ({ page }) => {
  const title = "הוספת מתג למצב כהה";
  await page.route(`${mock.origin}/loops**`, async (route) => {
    const request = route.request();
    if (request.resourceType() === "document" || request.url().endsWith("/stream"))
      return route.fallback();
    const response = await route.fetch();
    const text = (await response.text()).replaceAll(/Retry webhooks[^"]*/g, title);
    await route.fulfill({ response, body: text });
  });
  const direction = (name: "heading" | "link") =>
    page.getByRole(name, { name: title }).evaluate((text) => getComputedStyle(text).direction);
  await page.reload();
  await expect(page.getByRole("link", { name: title })).toBeVisible();
  expect(await direction("link")).toBe("rtl");
  await page.getByRole("link", { name: title }).click();
  await expect(page.getByRole("heading", { name: title })).toBeVisible();
  expect(await direction("heading")).toBe("rtl");
  await page.setViewportSize({ width: 320, height: 640 });
  await expectNoHorizontalScroll(page);
  // Requests may be under way when the test ends.
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("machines are not shown as online while the control plane is unreachable", async ({
  page,
  context,
}) => {
  const more = page.getByRole("button", { name: /^More/ });
  await expect(more).toHaveAccessibleName("More. Machines: studio-7");
  await expect(more.locator(".filled")).toHaveCount(1);
  await context.setOffline(true);
  // A request fails, while the browser may leave an open stream alone.
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Work" }).click();
  await expect(more).toHaveAccessibleName("More. Machines: Status unknown", { timeout: 25_000 });
  await expect(more.locator(".filled")).toHaveCount(0);
  await more.click();
  await expect(page.getByText("The control plane is not responding")).toBeVisible();
  await context.setOffline(false);
  await expect(more).toHaveAccessibleName("More. Machines: studio-7", { timeout: 25_000 });
});

test("selected theme survives a reload", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.reload();
  await page.getByRole("button", { name: /^More/ }).click();
  await page.getByText("Dark", { exact: true }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});
