/** Drafts of a new change request, against the mock server. */
import { expect, type Page, test } from "@playwright/test";

import { id, useMock } from "./mock";
import { expectAccessible } from "./quality";

const mock = useMock();
const { signIn } = mock;

const open = (page: Page, path = "/acme/new") => page.goto(mock.origin + path);

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
  const third = await context.newPage();
  await open(third);
  await expect(description(third)).toHaveValue("From the second tab");
  await description(page).fill("From the first tab again");
  await description(third).fill("From the third tab");
  await third.reload();
  const offered = new Set<string>();
  for (let presses = 0; presses < 3; presses += 1) {
    offered.add(await description(third).inputValue());
    await takeOther(third).click();
  }
  expect(offered).toContain("From the first tab again");
  expect(offered).toContain("From the third tab");
  expect(offered.size).toBe(3);
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
