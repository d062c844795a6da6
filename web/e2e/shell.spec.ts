/** Navigation, sizes of the window, announcements, colours and motion of the layout, against the mock server. */
import { expect, type Page, test } from "@playwright/test";

import { id, useMock } from "./mock";
import { expectAccessible, expectNoHorizontalScroll, PageMonitor } from "./quality";

const QUESTION = `/acme/loops/${id(17)}`;

const mock = useMock();
const { open } = mock;
test.beforeEach(async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await mock.signIn(page);
});

const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });

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
