/** Addresses and versions of documents, against the mock server. For judging a plan, see plan.spec.ts. */
import { expect, test } from "@playwright/test";

import { useMock } from "./mock";
import { expectAccessible, selectDark } from "./quality";

const { signIn } = useMock();

test("address of a plan without an organization redirects to the plan", async ({ page }) => {
  await signIn(page, "/implementation-plans/plan-1");
  await expect(page).toHaveURL(/\/acme\/implementation-plans\/plan-1$/);
  await expect(page.getByText("print, exit 0").first()).toBeVisible();
});

test("executed plan is executed again only after confirmation", async ({ page }) => {
  await signIn(page, "/acme/implementation-plans/plan-1");
  await page.getByRole("button", { name: "Execute again" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Execute this plan again?" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toBeHidden();
  await page.getByRole("button", { name: "Execute again" }).click();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Execute again" }).click();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
});

test("plan shows its earlier versions", async ({ page }) => {
  await signIn(page, "/acme/implementation-plans/plan-1");
  await page.getByLabel("Version", { exact: true }).selectOption("1");
  await expect(page.getByRole("heading", { name: "An earlier draft" })).toBeVisible();
  await expect(page).toHaveURL(/\?version=1$/);
  await page.reload();
  await expect(page.getByRole("heading", { name: "An earlier draft" })).toBeVisible();
  await page.goBack();
  await expect(page.getByLabel("Version", { exact: true })).not.toHaveValue("1");
  await expect(page.getByRole("heading", { name: "An earlier draft" })).toBeHidden();
});

test("code of a plan keeps its text, and is highlighted in the colours of the theme", async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: "light" });
  await signIn(page, "/acme/implementation-plans/plan-1");
  const code = page.getByRole("figure", { name: "ts code" }).locator("code");
  const keyword = code.locator("span", { hasText: /^return$/ });
  await expect(keyword).toBeVisible();
  expect(await code.textContent()).toContain('return argv[0] === "--version" ||');
  const colour = () => keyword.evaluate((token) => getComputedStyle(token).color);
  const light = await colour();
  expect(light).not.toBe(await code.evaluate((text) => getComputedStyle(text).color));
  await selectDark(page);
  await expect.poll(colour).not.toBe(light);
});
