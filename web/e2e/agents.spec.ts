/** Agents, against the mock server. */
import { expect, test } from "@playwright/test";

import { useMock } from "./mock";

const { signIn } = useMock();

test("agent is edited with a reason and an earlier version is restored", async ({ page }) => {
  await signIn(page, "/acme/settings/agents");
  await page.getByLabel("Search agents").fill("none of these");
  await expect(page.getByText("No matching agents.")).toBeVisible();
  await page.getByLabel("Search agents").fill("pay");
  await page.getByRole("link", { name: "Payments" }).click();
  await page.getByLabel("Prompt").fill("You know every payment.");
  await page.getByLabel("Reason for the change").fill("Shorter");
  await page.getByRole("button", { name: "Save as version 3" }).click();
  await expect(page.getByText("Version 3", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await expect(page.getByText("Restored version 1")).toBeVisible();
  await expect(page.getByLabel("Prompt")).toHaveValue("You know payments.");
  await page.getByRole("button", { name: "Disable" }).click();
  await expect(page.getByRole("button", { name: "Enable" })).toBeVisible();
});
