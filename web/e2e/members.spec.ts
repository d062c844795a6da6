/** Members, API keys, repositories and the audit log, against the mock server. */
import { expect, test } from "@playwright/test";

import { useMock } from "./mock";
import { expectAccessible } from "./quality";

const { signIn } = useMock();

test("administrator manages invitations, roles, API keys and repositories", async ({ page }) => {
  await signIn(page, "/acme/settings/members");
  await page.getByLabel("E-mail address").fill("new@example.org");
  await page.getByLabel("Role", { exact: true }).selectOption("Administrator");
  await page.getByRole("button", { name: "Invite" }).click();
  await expect(page.getByText("/join?token=mock")).toBeVisible();
  await page.getByRole("button", { name: /Revoke the invitation for new/ }).click();
  await expect(page.getByText("No pending invitations.")).toBeVisible();
  await page.getByLabel("Role of Ben Lindqvist").selectOption("Administrator");
  await expect(page.getByLabel("Role of Ben Lindqvist")).toHaveValue("org:admin");

  await page.getByRole("button", { name: /password reset link for Ben Lindqvist/ }).click();
  await expect(page.getByText("/reset-password?token=mock")).toBeVisible();

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name").fill("deploy");
  await page.getByLabel("Write").check();
  await page.getByRole("button", { name: "Create key" }).click();
  await expect(page.getByText(/^lgk_live_0{64}$/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Revoke deploy" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText("No API keys.")).toBeVisible();

  await page.getByRole("link", { name: "Repositories" }).click();
  await page.getByLabel("Repository", { exact: true }).fill("not a name");
  await page.getByRole("button", { name: "Allow" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByLabel("Repository", { exact: true }).fill("acme/docs");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("button", { name: "Remove acme/docs" }).click();
  await expect(page.getByText("acme/docs")).toBeHidden();

  await page.getByRole("link", { name: "Audit log" }).click();
  await page.getByLabel("Filter by action").selectOption("Role changed");
  await expect(page.getByText("Signed in by")).toBeHidden();
});
