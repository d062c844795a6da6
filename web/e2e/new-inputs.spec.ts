/** What a new change request can name: repositories, files, options, templates, tickets and earlier requests. */
import { expect, type Page, test } from "@playwright/test";

import { id, useMock } from "./mock";
import { expectAccessible } from "./quality";

const mock = useMock();
const { signIn } = mock;

const open = (page: Page, path = "/acme/new") => page.goto(mock.origin + path);

test("repository and branch are checked while they are typed, and never for an earlier input", async ({
  page,
}) => {
  await signIn(page);
  await open(page);
  const repository = page.getByLabel("Repository");
  const branch = page.getByLabel("Base branch");
  await repository.fill("https://github.com/acme/shop/tree/release/1");
  await expect(page.getByText("Found at ~/src/shop")).toBeVisible();
  await expect(page.getByText("The branch exists")).toBeVisible();
  await branch.fill("nothing");
  await expect(
    page.getByText("There is no branch nothing. The default branch is main."),
  ).toBeVisible();
  await branch.fill("");
  await repository.fill("~/src/checkout-service");
  await expect(page.getByText("Found at ~/src/checkout-service")).toBeVisible();
  await repository.fill("git@github.com:acme/docs.git");
  await expect(page.getByText("Will be cloned to /home/ada/src/docs")).toBeVisible();

  // The response for an input that has changed in the meantime is not displayed.
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/git\/repository\?repoFullName=acme%2Fslow/, async (route) => {
    await released;
    await route.fulfill({ json: { availability: "found", path: "/slow" } }).catch(() => undefined);
  });
  const requested = page.waitForRequest(/acme%2Fslow/);
  await repository.fill("acme/slow");
  await requested;
  const cancelled = page.waitForEvent("requestfailed", (request) =>
    request.url().includes("acme%2Fslow"),
  );
  await repository.fill("acme/gone");
  await expect(page.getByText("There is no clone of acme/gone")).toBeVisible();
  await cancelled;
  release();
  await expect(page.getByText("Found at /slow")).toHaveCount(0);
});

/** Returns the body of the request that starts a loop. */
async function startedWith(page: Page, press: () => Promise<void>) {
  const sent = page.waitForRequest((request) => request.url().endsWith("/documents/run-loop"));
  await press();
  return (await sent).postDataJSON() as {
    document: { content: string; attachments: { filename: string; mimeType: string }[] };
    run: Record<string, unknown>;
  };
}

test("files are attached by button, paste and drop, survive a reload, and are sent", async ({
  page,
}) => {
  await signIn(page);
  await open(page);
  const description = page.getByLabel("Describe the change");
  await description.fill("Make it look like this");
  await page.getByLabel("Repository").fill("acme/shop");
  await page.getByLabel("Files to attach").setInputFiles([
    { name: "notes.md", mimeType: "", buffer: Buffer.from("# Notes") },
    { name: "program", mimeType: "", buffer: Buffer.from([0x7f, 0xff, 0x00]) },
  ]);
  await expect(page.getByText("program was not attached: it is neither")).toBeVisible();
  for (const kind of ["paste", "drop"]) {
    await description.evaluate((field, kind) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["x"], "image.png", { type: "image/png" }));
      field.dispatchEvent(
        kind === "paste"
          ? new ClipboardEvent(kind, { clipboardData: transfer, bubbles: true, cancelable: true })
          : new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }),
      );
    }, kind);
    await expect(
      page.getByRole("button", { name: `Remove image${kind === "paste" ? "" : "-2"}.png` }),
    ).toBeVisible();
  }
  await page.reload();
  await page.getByRole("button", { name: "Remove image.png" }).click();
  const { document } = await startedWith(page, () => description.press("Control+Enter"));
  expect(document.attachments).toMatchObject([
    { filename: "notes.md", mimeType: "text/plain", content: btoa("# Notes") },
    { filename: "image-2.png", mimeType: "image/png", content: btoa("x") },
  ]);
  await expect(page.getByRole("heading", { name: "Make it look like this" })).toBeVisible();
  await open(page);
  await expect(page.getByText("Or paste or drop them.")).toBeVisible();
});

test("@ searches files of the repository, by keyboard", async ({ page }) => {
  await signIn(page);
  await open(page);
  const description = page.getByLabel("Describe the change");
  const options = page.getByRole("listbox", { name: "Files" }).getByRole("option");
  await page.getByLabel("Repository").fill("acme/shop");
  await expect(page.getByText("Type @ to name a file")).toBeVisible();
  await description.fill("");
  await description.pressSequentially("Change @cli");
  await expect(options).toHaveCount(2);
  await expectAccessible(page);
  await description.press("ArrowDown");
  await expect(options.and(page.locator("[aria-selected=true]"))).toHaveText("test/cli.test.js");
  await description.press("Enter");
  await expect(description).toHaveValue("Change @test/cli.test.js ");
  await description.pressSequentially("and @pack");
  await expect(options).toHaveCount(1);
  await description.press("Escape");
  await expect(options).toHaveCount(0);
  await description.pressSequentially("age");
  await options.filter({ hasText: "package.json" }).click();
  await expect(description).toHaveValue("Change @test/cli.test.js and @package.json ");
});

test("peers, model, limit and an implementation at once are sent, and permission is one sentence", async ({
  page,
}) => {
  await signIn(page);
  await open(page);
  await page.getByLabel("Describe the change").fill("Say hello twice");
  await page.getByLabel("Repository").fill("acme/shop");
  await expect(
    page.getByText(
      "On studio-7, the assistant reads files and runs commands in a separate worktree",
    ),
  ).toBeVisible();
  await page.getByText("Options", { exact: true }).click();
  for (let number = 1; number <= 5; number += 1) {
    await page.getByRole("button", { name: "Add a repository" }).click();
    await expect(page.getByLabel(`Further repository ${number}`, { exact: true })).toBeVisible();
  }
  await expect(page.getByText("at most 5 further repositories")).toBeVisible();
  for (let number = 5; number > 1; number -= 1)
    await page.getByRole("button", { name: `Remove further repository ${number}` }).click();
  await page.getByLabel("Further repository 1", { exact: true }).fill("acme/docs");
  await page.getByLabel("Branch 1").fill("release/1");
  await page.getByLabel("Model").fill("opus");
  await page.getByLabel("Spending limit").fill("nothing");
  await expect(page.getByText("Enter an amount of US dollars above 0")).toBeVisible();
  await page.getByLabel("Spending limit").fill("2.50");
  await page.getByLabel("Use learnings").check();
  const steps = page.getByRole("complementary", { name: "What happens next" }).getByRole("heading");
  await expect(steps).toHaveText(["Plan", "Review", "Execute"]);
  await page.getByText("Implement now").click();
  await expect(steps).toHaveText(["Execute", "Pull request"]);
  await expect(
    page.getByText(
      "On studio-7, the assistant changes files and runs commands in a separate worktree of acme/shop, reads acme/docs and spends at most $2.50; Loopgate pushes a branch and opens a pull request, and merges nothing.",
    ),
  ).toBeVisible();
  const { run } = await startedWith(page, () =>
    page.getByRole("button", { name: "Implement" }).click(),
  );
  expect(run).toEqual({
    command: "execute",
    withoutPlan: true,
    repo: { fullName: "acme/shop" },
    additionalRepos: [{ fullName: "acme/docs", branch: "release/1" }],
    model: "opus",
    maxSpendUsd: 2.5,
    selfLearning: true,
  });
});

test("required approval is said before the start", async ({ page }) => {
  await page.route(/git\/repository\?/, async (route) => {
    const answer = (await (await route.fetch()).json()) as object;
    const start = { approval: "required", reason: "a policy requires it", model: "opus" };
    await route.fulfill({ json: { ...answer, start } });
  });
  await signIn(page);
  await open(page);
  await page.getByLabel("Repository").fill("acme/shop");
  await expect(
    page.getByText("Once the owner of studio-7 has approved the loop (a policy requires it), the"),
  ).toBeVisible();
});

test("templates are inserted, saved in the browser and deleted", async ({ page }) => {
  await signIn(page);
  await open(page);
  const description = page.getByLabel("Describe the change");
  const templates = page.getByRole("button", { name: "Templates" });
  await templates.click();
  await page.getByRole("menuitem", { name: "Fix a bug" }).click();
  await expect(description).toHaveValue(/How to reproduce it/);
  await description.fill("Rename a setting\n\nOld name:");
  await templates.click();
  await page.getByRole("menuitem", { name: "Save the text as a template" }).click();
  await page.reload();
  await description.fill("Please:");
  await templates.click();
  await page.getByRole("menuitem", { name: "Rename a setting" }).click();
  await expect(description).toHaveValue("Please:\n\nRename a setting\n\nOld name:");
  await templates.click();
  await page.getByRole("menuitem", { name: "Delete a template" }).press("ArrowRight");
  await page.getByRole("menuitem", { name: "Rename a setting" }).last().click();
  await templates.click();
  await expect(page.getByRole("menuitem", { name: "Rename a setting" })).toHaveCount(0);
});

test("ticket fills the form, and the loop works on its document", async ({ page }) => {
  await signIn(page);
  await open(page);
  await page.getByLabel("Ticket").selectOption({ index: 1 });
  await expect(page.getByLabel("Describe the change")).toHaveValue(/^Add a --version flag/);
  await expect(page.getByLabel("Repository", { exact: true })).toHaveValue("acme/shop");
  await expect(page.getByLabel("Further repository 1", { exact: true })).toHaveValue(
    "acme/checkout-service",
  );
  await expect(page.getByRole("button", { name: "Attach files" })).toHaveCount(0);
  const sent = page.waitForRequest((request) => request.url().endsWith(`/${id(801)}/run-loop`));
  await page.getByRole("button", { name: "Create plan" }).click();
  expect((await sent).postDataJSON()).toMatchObject({ command: "plan", version: 1 });
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
});

test("change request is started again with changes", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/work/feature-1");
  await page.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Again with changes" }).click();
  await expect(page).toHaveURL(/\/acme\/new\?from=feature-1$/);
  await expect(page.getByText("The form has the values of")).toBeVisible();
  const description = page.getByLabel("Describe the change");
  await expect(description).toHaveValue(/^Add a --version flag/);
  await expect(page.getByLabel("Repository", { exact: true })).toHaveValue("acme/shop");
  await expectAccessible(page);
  await description.fill("Add a -v flag");
  await page.reload();
  await expect(description).toHaveValue("Add a -v flag");
  const { document } = await startedWith(page, () => description.press("Control+Enter"));
  expect(document.content).toBe("Add a -v flag");
});

test("demonstration fills the request in and says what is real", async ({ page }) => {
  await signIn(page);
  await page.route("**/me", async (route) => {
    const answer = (await (await route.fetch()).json()) as { data: object };
    const demonstration = { repository: "acme/shop", request: "Add a dark-mode switch" };
    await route.fulfill({ json: { ...answer, data: { ...answer.data, demonstration } } });
  });
  await open(page);
  await expect(page.getByText("This is a demonstration")).toBeVisible();
  await expect(page.getByText("The model follows a script")).toBeVisible();
  await expect(page.getByLabel("Describe the change")).toHaveValue("Add a dark-mode switch");
  await expect(page.getByLabel("Repository", { exact: true })).toHaveValue("acme/shop");
  await expectAccessible(page);
});
