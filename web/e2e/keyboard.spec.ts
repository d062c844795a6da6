/** Palette, shortcuts, and the focus after a navigation, against the mock server. */
import { expect, type Page, test } from "@playwright/test";

import { id, useMock } from "./mock";
import { expectAccessible, expectContrast } from "./quality";

const mock = useMock();
const { open } = mock;
test.beforeEach(async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await mock.signIn(page);
});

const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });
const palette = (page: Page) => page.getByRole("dialog", { name: "Search and actions" });

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
