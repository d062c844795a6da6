/** Learnings with their origin, effect and agreement, against the mock server. */
import { expect, test } from "@playwright/test";

import { useMock } from "./mock";

const { signIn } = useMock();

test("a person agrees to a learning, takes it back and deletes it", async ({ page }) => {
  await signIn(page, "/acme/settings/learnings");
  const row = page.getByRole("listitem").filter({ hasText: "Run the migrations" });
  await expect(row).toContainText("acme/shop; may hold in other repositories");
  await expect(row).toContainText("Learned in acme/shop, src/db.ts:12");
  await expect(row).toContainText("relation orders does not exist");
  await expect(row).toContainText("applied 4 times, confirmed in the change 3 times");

  await row.getByRole("button", { name: "Use P-001 in all repositories" }).click();
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toContainText("Run the migrations before the tests");
  await dialog.getByRole("button", { name: "Agree" }).click();
  await expect(row).toContainText("All repositories, agreed by");
  await row.getByRole("button", { name: "Use P-001 in its own repository only" }).click();
  await expect(row).toContainText("acme/shop; may hold");

  await row.getByRole("button", { name: "Delete P-001" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(row).toHaveCount(0);
  // Text of a learning is text.
  await expect(page.getByText("<b>Keep</b> money in cents")).toBeVisible();
});
