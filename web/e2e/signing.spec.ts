/** Keys of browsers, against the mock server. */
import { expect, test } from "@playwright/test";

import { useMock } from "./mock";
import { expectAccessible } from "./quality";

const { signIn } = useMock();

test("browser key is registered and removed", async ({ page }) => {
  await signIn(page, "/acme/settings/signing");
  await page.getByRole("button", { name: "Register this browser" }).click();
  await expect(page.getByText(/This browser, registered/)).toBeVisible();
  await expect(page.getByText(/loopgate keys authorize lg:[\w-]{22}$/)).toBeVisible();
  await expectAccessible(page);
  await page.reload();
  await expect(page.getByText(/This browser, registered/)).toBeVisible();
  await page.getByRole("button", { name: /^Remove lg:/ }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText("No browser is registered")).toBeVisible();
});
