/** The page of a new change request against the mock server. */
import { expect, type Page, type Route, test } from "@playwright/test";

import { id, useMock } from "./mock";
import { expectAccessible, expectDarkAndNarrow, PageMonitor } from "./quality";

const mock = useMock();
const { signIn } = mock;

const open = (page: Page, path = "/acme/new") => page.goto(mock.origin + path);

test("accessible in both themes, fits a phone, sends no external requests", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await signIn(page);
  const monitor = new PageMonitor(page, mock.origin);
  await open(page);
  await expect(page.getByRole("heading", { level: 1, name: "New change request" })).toBeVisible();
  await page.getByLabel("Repository").fill("acme/shop");
  await page.getByText("Options", { exact: true }).click();
  await page.getByRole("button", { name: "Add a repository" }).click();
  await page.getByLabel("Further repository 1", { exact: true }).fill("acme/nothing");
  await expect(page.getByText("There is no clone of acme/nothing")).toBeVisible();
  await page
    .getByLabel("Files to attach")
    .setInputFiles([
      { name: `${"long".repeat(40)}.png`, mimeType: "image/png", buffer: Buffer.from("x") },
    ]);
  await expect(page.getByRole("list", { name: "Attached files" })).toBeVisible();
  await expectAccessible(page);
  await expectDarkAndNarrow(page);
  monitor.expectClean();
});

test("earlier address opens the page", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/loops/new");
  await expect(page).toHaveURL(/\/acme\/new$/);
  await expect(page.getByRole("heading", { level: 1, name: "New change request" })).toBeVisible();
});

test("loop is started by keyboard: c, description, repository suggestion, Ctrl+Enter", async ({
  page,
}) => {
  await signIn(page);
  await page.keyboard.press("c");
  await expect(page.getByLabel("Describe the change")).toBeFocused();
  await page.keyboard.type("Say hello");
  // Past the button that attaches files.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("check");
  await expect(page.getByRole("option", { name: "acme/checkout-service" })).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Repository")).toHaveValue("acme/checkout-service");
  await expect(page.getByText("Found at ~/src/checkout-service")).toBeVisible();
  await expect(page.getByText("Default branch: develop")).toBeVisible();
  await page.getByLabel("Describe the change").press("Control+Enter");
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  await expect(page.getByRole("heading", { name: "Say hello" })).toBeVisible();
});

/** Returns the number of loops with a title. */
async function loopsTitled(page: Page, title: string): Promise<number> {
  const answer = await page.request.get(`${mock.origin}/loops?limit=200`, {
    headers: { "x-session-key": "mock" },
  });
  const { data } = (await answer.json()) as { data: { document: { title: string } }[] };
  return data.filter((loop) => loop.document.title === title).length;
}

test("four presses of Ctrl+Enter start one loop", async ({ page }) => {
  await signIn(page);
  await open(page);
  const description = page.getByLabel("Describe the change");
  await description.fill("Say hello once");
  await page.getByLabel("Repository").fill("acme/shop");
  const starts: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") starts.push(new URL(request.url()).pathname);
  });
  await description.evaluate((field) => {
    for (let press = 0; press < 4; press += 1) {
      const init = { key: "Enter", ctrlKey: true, bubbles: true, repeat: press === 3 };
      field.dispatchEvent(new KeyboardEvent("keydown", init));
    }
  });
  await expect(page.getByRole("heading", { name: "Say hello once" })).toBeVisible();
  expect(starts.filter((path) => path.startsWith("/documents"))).toEqual(["/documents/run-loop"]);
  expect(await loopsTitled(page, "Say hello once")).toBe(1);
});

test("request whose response was lost opens the loop that it started", async ({ page }) => {
  await signIn(page);
  await open(page);
  const description = page.getByLabel("Describe the change");
  await description.fill("Say hello again");
  await page.getByLabel("Repository").fill("acme/shop");
  const loseResponse = async (route: Route) => {
    await route.fetch();
    await route.abort("connectionreset");
  };
  await page.route("**/documents/run-loop", loseResponse, { times: 1 });
  await description.press("Control+Enter");
  await expect(page.getByText("The loop could not be started")).toBeVisible();
  await description.press("Control+Enter");
  await expect(page.getByRole("heading", { name: "Say hello again" })).toBeVisible();
  expect(await loopsTitled(page, "Say hello again")).toBe(1);
});

test("invalid request is not submitted and shows its errors", async ({ page }) => {
  await signIn(page);
  await open(page);
  await page.getByLabel("Repository").fill("not a repository");
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page.getByText("Enter a description of the change.")).toBeVisible();
  await expect(page.getByText("Use the format owner/repository")).toBeVisible();
  await expect(page.getByLabel("Describe the change")).toBeFocused();
  await expect(page).toHaveURL(/\/acme\/new$/);
});

test("draft of a request survives a reload and a sign-out and is cleared on submission", async ({
  page,
  context,
}) => {
  const description = page.getByLabel("Describe the change");
  await signIn(page);
  await open(page);
  await description.fill("Say good night");
  await page.getByLabel("Repository").fill("acme/moon");
  await page.reload();
  await expect(description).toHaveValue("Say good night");
  await expect(page.getByLabel("Repository")).toHaveValue("acme/moon");
  await page.getByRole("button", { name: /^More/ }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/signed-out\b/);
  // The sign-in link opens in another tab.
  await signIn(await context.newPage());
  await expect(page).toHaveURL(/\/acme\/new$/);
  await expect(description).toHaveValue("Say good night");
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page.getByRole("heading", { name: "Say good night" })).toBeVisible();
  await open(page);
  await expect(description).toHaveValue("");
});

test("draft survives a reload before the browser has stored it", async ({ page, context }) => {
  const description = page.getByLabel("Describe the change");
  await signIn(page);
  await open(page);
  await description.fill("Say");
  // The text, and the idempotency key of the request.
  await expect.poll(() => page.evaluate(storedDrafts)).toBe(2);
  // A transaction of another tab delays all others until that tab is closed.
  const other = await context.newPage();
  await open(other, "/acme/settings/members");
  await other.evaluate(holdDrafts);
  await description.fill("Say good evening");
  await page.reload();
  await other.close();
  await expect(description).toHaveValue("Say good evening");
});

test("draft survives Back and a failed request, and is hidden from other users", async ({
  page,
}) => {
  const description = page.getByLabel("Describe the change");
  await signIn(page);
  await open(page);
  await description.fill("Say good morning");
  await page.getByLabel("Repository").fill("acme/moon");
  await page.route("**/documents/run-loop", (route) =>
    route.fulfill({ status: 409, json: { success: false, error: "No desktop is online." } }),
  );
  await description.press("Control+Enter");
  await expect(page.getByText("No desktop is online.")).toBeVisible();
  await page.getByRole("link", { name: "Work" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Work" })).toBeVisible();
  await page.goBack();
  await expect(description).toHaveValue("Say good morning");

  await page.route("**/me", async (route) => {
    const response = await route.fetch();
    const me = (await response.json()) as { data: object };
    await route.fulfill({ json: { ...me, data: { ...me.data, id: id(3) } } });
  });
  await page.reload();
  await expect(description).toHaveValue("");
});

test("draft of another tab is offered", async ({ page, context }) => {
  const description = (tab: Page) => tab.getByLabel("Describe the change");
  const takeOther = (tab: Page) => tab.getByRole("button", { name: "Use the other draft" });
  await signIn(page);
  await open(page);
  const second = await context.newPage();
  await open(second);
  // A page that is loaded later shows the draft of the first tab as its own.
  await expect(description(second)).toBeVisible();
  await description(page).fill("From the first tab");
  await expect(takeOther(second)).toBeVisible();
  await description(second).fill("From the second tab");
  await expect(takeOther(page)).toBeVisible();
  // The newest draft is shown, and the other one is not lost.
  await page.reload();
  await expect(description(page)).toHaveValue("From the second tab");
  await takeOther(page).click();
  await expect(description(page)).toHaveValue("From the first tab");
  await takeOther(page).click();
  await expect(description(page)).toHaveValue("From the second tab");
  await expectAccessible(page);
});

test("without storage, text can be typed and the page says that drafts are not kept", async ({
  page,
}) => {
  await page.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException("denied", "SecurityError");
    };
  });
  await signIn(page);
  await open(page);
  await page.getByLabel("Describe the change").pressSequentially("Say hi");
  await expect(page.getByLabel("Describe the change")).toHaveValue("Say hi");
  await expect(page.getByText("Drafts are not kept")).toHaveCount(1);
});

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

/** Number of texts in the storage of drafts. */
const storedDrafts = () =>
  new Promise<number>((resolve) => {
    indexedDB.open("loopgate-drafts").onsuccess = ({ target }) => {
      const database = (target as IDBOpenDBRequest).result;
      const count = database.transaction("drafts").objectStore("drafts").count();
      count.onsuccess = () => {
        database.close();
        resolve(count.result);
      };
    };
  });

/** Keeps a transaction open, by one request after the other. Resolves when it is open. */
const holdDrafts = () =>
  new Promise<void>((resolve) => {
    indexedDB.open("loopgate-drafts").onsuccess = ({ target }) => {
      const database = (target as IDBOpenDBRequest).result;
      const drafts = database.transaction("drafts", "readwrite").objectStore("drafts");
      const hold = () => {
        drafts.count().onsuccess = hold;
        resolve();
      };
      drafts.count().onsuccess = hold;
    };
  });
