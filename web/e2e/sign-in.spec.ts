/** Sign-in, invitation, password and the end of a session, against the mock server. */
import { expect, test } from "@playwright/test";

import { id, useMock } from "./mock";
import { expectAccessible, PageMonitor } from "./quality";

const mock = useMock();
const { open, signIn } = mock;

test("used link opens the start page for a signed-in user and shows an error otherwise", async ({
  page,
}) => {
  await open(page, "/sign-in?token=spent");
  await expect(page.getByText("This link is no longer valid")).toBeVisible();
  await expectAccessible(page);
  await signIn(page, "/sign-in?token=spent");
  await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
});

test("user signs in with a password or through the provider and sees errors", async ({ page }) => {
  await page.route("**/auth/methods", (route) =>
    route.fulfill({ json: { success: true, data: { password: true, oidc: "Acme ID" } } }),
  );
  await open(page, "/sign-in?error=oidc_no_account&returnTo=%2Facme%2Fnew");
  await expect(page.getByText("Ask an administrator for an invitation")).toBeVisible();
  await expectAccessible(page);
  await expect(page.getByRole("link", { name: "Continue with Acme ID" })).toHaveAttribute(
    "href",
    "/auth/oidc/start?returnTo=%2Facme%2Fnew",
  );
  await page.getByLabel("E-mail address").fill("ada@example.org");
  await page.getByLabel("Password").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText("Wrong e-mail address or password")).toBeVisible();
  await page.getByLabel("Password").fill("right");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByLabel("Describe the change")).toBeVisible();
});

test("invitation is accepted with a new account", async ({ page }) => {
  await open(page, "/join?token=mock");
  await page.getByLabel("First name").fill("Noor");
  await page.getByLabel("Password").fill("a long password");
  await page.getByRole("button", { name: "Join" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
});

test("new password is set with the link of an administrator", async ({ page }) => {
  await open(page, "/reset-password?token=used");
  await page.getByLabel("New password").fill("a long password");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page.getByText(/Request a new one from your administrator/)).toBeVisible();
  await open(page, "/reset-password?token=mock");
  await page.getByLabel("New password").fill("a long password");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
});

test("page without a session redirects to the signed-out page", async ({ page }) => {
  await open(page, `/acme/loops/${id(10)}`);
  await expect(page).toHaveURL(/\/signed-out\b/);
});

test("page redirects to the signed-out page when the session ends", async ({ page, context }) => {
  await signIn(page);
  await context.clearCookies();
  await expect(page).toHaveURL(/\/signed-out\b/, { timeout: 20_000 });
});

test("sign-in link in the tab of an ended session returns to its page and text", async ({
  page,
  context,
}) => {
  const path = `/acme/loops/${id(11)}?tab=changes&file=test%2Fretry.test.ts`;
  await signIn(page, path);
  await page.getByRole("button", { name: "Finish review" }).click();
  const summary = page.getByRole("dialog").getByLabel("Summary");
  await summary.fill("Name the limit.");
  await context.clearCookies();
  await page.getByRole("button", { name: "Comment only" }).click();
  const isSignedOut = (url: URL) =>
    url.pathname === "/signed-out" && url.searchParams.get("returnTo") === path;
  await expect(page).toHaveURL(isSignedOut);
  // A link that is opened in the same tab names no page.
  await open(page, "/sign-in?token=mock");
  await expect(page).toHaveURL(mock.origin + path);
  await page.getByRole("button", { name: "Finish review" }).click();
  await expect(summary).toHaveValue("Name the limit.");
});

test("session survives a reload and a new tab, but requires the session key", async ({
  page,
  context,
}) => {
  await signIn(page);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
  const tab = await context.newPage();
  await open(tab, "/");
  await expect(tab.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
  // The cookie alone, as another server on this host could obtain it.
  await tab.evaluate(() => window.localStorage.clear());
  await open(tab, "/");
  await expect(tab).toHaveURL(/\/signed-out\b/);
});

for (const address of [
  ...["//attacker.example/x", "/\\attacker.example", "/\t/attacker.example"],
  ...["https://attacker.example/", "javascript:alert(1)"],
]) {
  test(`signed-out page leads to no other origin: ${JSON.stringify(address)}`, async ({
    page,
    context,
  }) => {
    const monitor = new PageMonitor(page, mock.origin);
    const returnTo = new URLSearchParams({ returnTo: address });
    await open(page, `/signed-out?${returnTo}`);
    await expect(page.getByRole("link", { name: "I am already signed in" })).toHaveAttribute(
      "href",
      "/",
    );
    await signIn(await context.newPage());
    await expect(page).toHaveURL(`${mock.origin}/acme/inbox`);
    monitor.expectClean();
  });
}

test("parameters of an address that are not valid are ignored", async ({ page }) => {
  await signIn(page, "/acme/work?group=toString");
  await expect(page.getByRole("heading", { level: 1, name: "Work" })).toBeVisible();
  await expect(page).toHaveURL(`${mock.origin}/acme/work`);
  for (const version of ["abc", "99"]) {
    await open(page, `/acme/implementation-plans/plan-1?version=${version}`);
    await expect(page.getByRole("article", { name: "Plan" })).toBeVisible();
  }
});
