/** Settings in the address, against the mock server. */
import { expect, test } from "@playwright/test";

import { useMock } from "./mock";

const { open, signIn } = useMock();

test("filters of settings are part of the address", async ({ page }) => {
  await signIn(page, "/acme/settings/agents");
  await page.getByLabel("Search agents").fill("none of these");
  await expect(page.getByText("No matching agents.")).toBeVisible();
  await expect(page).toHaveURL(/\?search=none/);
  await page.reload();
  await expect(page.getByLabel("Search agents")).toHaveValue("none of these");
  await expect(page.getByText("No matching agents.")).toBeVisible();

  await open(page, "/acme/settings/usage");
  await page.getByLabel("From").fill("2026-11-01");
  await expect(page).toHaveURL(/\?since=2026-11-01$/);
  await page.reload();
  await expect(page.getByLabel("From")).toHaveValue("2026-11-01");

  await open(page, "/acme/settings/audit-log");
  await page.getByLabel("Filter by action").selectOption("Role changed");
  await expect(page).toHaveURL(/\?action=member_role_changed$/);
  await page.goBack();
  await expect(page.getByLabel("Filter by action")).toHaveValue("");
});
