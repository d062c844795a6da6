/** Organization management against the real control plane, with an administrator and a member in separate browsers. */
import { expect, type Page, test } from "@playwright/test";

import { Team } from "./team";

let team: Team;
test.beforeAll(async () => {
  team = await Team.start();
});
test.afterAll(() => team.stop());

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto(`${team.origin}/sign-in`);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
}

const tab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name }).click();

test("member is invited, has limited access and loses it on removal", async ({
  page: ada,
  browser,
}) => {
  await signIn(ada, Team.email, Team.password);
  await ada.goto(`${team.origin}/acme/settings/members`);
  await ada.getByLabel("E-mail address").fill("ben@example.org");
  await ada.getByRole("button", { name: "Invite" }).click();
  const link = await ada.getByText("/join?token=").textContent();

  // A separate context, because pages of one context share cookies and storage.
  const ben = await (await browser.newContext()).newPage();
  await ben.goto(link ?? "");
  await ben.getByLabel("First name").fill("Ben");
  await ben.getByLabel("Last name").fill("Lindqvist");
  await ben.getByLabel("Password").fill("another long password");
  await ben.getByRole("button", { name: "Join" }).click();
  await expect(ben.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();

  await ben.goto(`${team.origin}/acme/settings/audit-log`);
  await expect(ben.getByText("You don't have access")).toBeVisible();
  await tab(ben, "API keys");
  await ben.getByLabel("Name").fill("scripts");
  await ben.getByRole("button", { name: "Create key" }).click();
  const key = await ben.getByText(/^lgk_live_[0-9a-f]{64}$/).textContent();
  const repositories = () =>
    ben.request.get(`${team.origin}/repositories`, {
      headers: { authorization: `Bearer ${key ?? ""}` },
    });
  expect((await repositories()).status()).toBe(200);

  await tab(ada, "Repositories");
  await ada.getByLabel("Repository", { exact: true }).fill("acme/shop");
  await ada.getByRole("button", { name: "Allow" }).click();
  await expect(ada.getByText("Allowed by an administrator")).toBeVisible();
  await tab(ben, "Repositories");
  await expect(ben.getByText("acme/shop")).toBeVisible();
  await expect(ben.getByRole("button", { name: "Allow" })).toBeHidden();

  await tab(ada, "Members");
  await ada.getByLabel("Role of Ben Lindqvist").selectOption("Administrator");
  await expect(ada.getByLabel("Role of Ben Lindqvist")).toHaveValue("org:admin");
  await tab(ada, "Organization");
  await ada.getByLabel("Spending limit per day").fill("20");
  await ada.getByRole("button", { name: "Save" }).click();
  await expect(ada.getByText("Saved.")).toBeVisible();

  await tab(ada, "Members");
  const row = ada.getByRole("listitem").filter({ hasText: "Ben Lindqvist" });
  await row.getByRole("button", { name: "Remove" }).click();
  await ada.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
  await expect(row.getByText("removed")).toBeVisible();
  expect((await repositories()).status()).toBe(401);
  await ben.reload();
  await expect(ben).toHaveURL(/\/signed-out\b/);

  await tab(ada, "Audit log");
  const shown = [
    "Member removed",
    "Organization settings changed",
    "Role changed",
    "Repository allowed",
    "API key created",
    "Invitation accepted",
    "Invitation created",
  ];
  for (const action of shown) {
    await expect(ada.getByRole("listitem").filter({ hasText: action }).first()).toBeVisible();
  }
});

test("machine is connected with the displayed command, shared and removed", async ({ page }) => {
  await signIn(page, Team.email, Team.password);
  await page.goto(`${team.origin}/acme/settings/desktops`);
  await expect(page.getByText("No machines connected.")).toBeVisible();
  await page.getByRole("button", { name: "Connect a machine" }).click();
  const command = await page.getByText(/^loopgate connect /).textContent();
  const label = page.getByText("The command asks for this code:");
  const code = label.locator("xpath=following-sibling::div[1]//code");
  await team.connect(command ?? "", (await code.textContent()) ?? "");

  const row = page.getByRole("main").getByRole("listitem").filter({ hasText: "Linux" });
  await expect(row.getByText("online, Linux", { exact: true })).toBeVisible({ timeout: 30_000 });
  await row.getByRole("button", { name: "Share" }).click();
  await expect(row.getByText("online, Linux, shared for loops", { exact: true })).toBeVisible();
  await row.getByRole("button", { name: "Allow commands" }).click();
  await expect(row.getByText("online, Linux, shared with commands", { exact: true })).toBeVisible();
  await row.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
  await expect(row).toBeHidden();
});
