/** Drafts of all forms but that of a new change request, against the mock server. */
import { expect, test } from "@playwright/test";

import { id, openSignedIn, useMock } from "./mock";

const mock = useMock();
const { open, signIn } = mock;

test("answer, prompt of an agent and limits are kept and removed when they are saved", async ({
  page,
}) => {
  await signIn(page, `/acme/loops/${id(17)}`);
  const answer = page.getByLabel("Your answer");
  await answer.fill("Round the total.");
  await page.reload();
  await expect(answer).toHaveValue("Round the total.");

  await open(page, "/acme/settings/agents/payments");
  const prompt = page.getByLabel("Prompt");
  const stored = await prompt.inputValue();
  await prompt.fill("You know every payment.");
  await page.reload();
  await expect(prompt).toHaveValue("You know every payment.");
  await page.getByRole("button", { name: "Discard changes" }).click();
  await expect(prompt).toHaveValue(stored);
  await page.reload();
  await expect(prompt).toHaveValue(stored);

  await open(page, "/acme/settings/organization");
  const perLoop = page.getByLabel("Spending limit per loop");
  await perLoop.fill("7");
  await page.reload();
  await expect(perLoop).toHaveValue("7");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved.")).toBeVisible();
  await page.reload();
  await expect(perLoop).toHaveValue("7");
  await expect(page.getByRole("button", { name: "Discard changes" })).toBeHidden();
});

test("drafts work at an http address of another machine, which is no secure context", async ({
  page,
}) => {
  const origin = "http://loopgate.test";
  // The browser treats the address of this machine as secure.
  await page.route(`${origin}/**`, async (route) => {
    const { pathname, search } = new URL(route.request().url());
    // The response of a stream has no end.
    if (pathname.endsWith("/changes")) return route.abort();
    const response = await route.fetch({ url: mock.origin + pathname + search });
    return route.fulfill({ response });
  });
  await openSignedIn({ origin }, page, "/acme/new");
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
  const text = page.getByRole("textbox", { name: "Describe the change" });
  await text.fill("Print the version");
  await page.reload();
  await expect(text).toHaveValue("Print the version");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("name of a view is kept until the view is saved", async ({ page }) => {
  await signIn(page, "/acme/work?q=sort%3Aoldest");
  await page.getByRole("button", { name: "Save this view" }).click();
  const name = page.getByRole("textbox", { name: "Name of the view" });
  await expect(name).toBeFocused();
  await name.fill("Oldest first");
  await page.reload();
  await expect(name).toHaveValue("Oldest first");
  await expect(name).not.toBeFocused();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("button", { name: "Oldest first" })).toBeVisible();
  await page.getByRole("button", { name: "Remove this view" }).click();
  await expect(page.getByRole("button", { name: "Save this view" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("button", { name: "Save this view" })).toBeVisible();
});

for (const { name, path, label, other, send, done } of [
  {
    name: "invitation",
    path: "members",
    label: "E-mail address",
    send: "Invite",
    done: "Invitation for new@example.org",
  },
  {
    name: "API key",
    path: "keys",
    label: "Name",
    other: "Delete",
    send: "Create key",
    done: "API key new@example.org",
  },
  {
    name: "allowed repository",
    path: "repositories",
    label: "Repository",
    send: "Allow",
    done: "acme/new",
  },
]) {
  test(`${name} is kept until it is sent`, async ({ page }) => {
    const text = path === "repositories" ? "acme/new" : "new@example.org";
    await signIn(page, `/acme/settings/${path}`);
    const field = page.getByLabel(label, { exact: true });
    await field.fill(text);
    if (other) await page.getByLabel(other).check();
    await page.reload();
    await expect(field).toHaveValue(text);
    if (other) await expect(page.getByLabel(other)).toBeChecked();
    await page.getByRole("button", { name: send }).click();
    await expect(page.getByText(done).first()).toBeVisible();
    await expect(field).toHaveValue("");
    await page.reload();
    await expect(field).toHaveValue("");
  });
}
