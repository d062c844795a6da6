/** Cards of comments and findings keep the focus and the press of a person while the diff viewer moves them. */
import { expect, type Locator, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";
import { copiedText } from "./quality";

const LOOP = "01980000-0000-7000-8000-000000000011";
const TEST_FILE = "test/retry.test.ts";

let mock: Mock;
stopAfterEach(() => mock);

async function start(
  page: Page,
  environment: Record<string, string>,
  changedFiles: number,
): Promise<void> {
  mock = await startMock(undefined, 0, changedFiles, environment);
  await signInTo(mock, page);
  // Without lines, all files are in the view. With lines, those before the file of the test are longer than it.
  if (changedFiles === 3) await page.setViewportSize({ width: 1280, height: 1_600 });
}

const open = async (page: Page) => {
  await page.goto(`${mock.origin}/acme/loops/${LOOP}?tab=changes`);
  await expect(lineOfRetry(page)).toBeVisible();
};

const lineOfRetry = (page: Page) => page.getByText("Doubles with each attempt").first();
const lineOfTest = (page: Page) => page.getByText("expect(1).toBe(1)").first();
const field = (page: Page) => page.getByRole("textbox", { name: "Comment" });
const commentOn = (page: Page, path: string) =>
  page.getByRole("article", { name: `Comment on ${path}` });
const showFile = (page: Page, path: string) =>
  page.getByRole("navigation", { name: "Changed files" }).getByTitle(path, { exact: true }).click();

/** Holds the responses of a request. Returns the function that sends them. */
async function hold(page: Page, url: string, method: string): Promise<() => void> {
  let send: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (send = resolve));
  await page.route(url, async (route) => {
    if (route.request().method() === method) await held;
    await route.fallback();
  });
  return send;
}

const holdLines = (page: Page) => hold(page, "**/git/loop-changes/*", "POST");

/** Adds a comment on the first changed line of a file. Returns its card. */
async function comment(page: Page, path: string): Promise<Locator> {
  await showFile(page, path);
  await page.getByRole("button", { name: `Comment on ${path}` }).click();
  await field(page).fill("Name the limit.");
  await page.getByRole("button", { name: "Add comment" }).click();
  await expect(commentOn(page, path)).toBeVisible();
  return commentOn(page, path);
}

/** Opens a link before the lines of the files are loaded, and checks that its card has the focus then and afterwards. */
async function expectFocusKept(page: Page, link: string, card: Locator): Promise<void> {
  const send = await holdLines(page);
  await page.goto(`${mock.origin}/acme/inbox`);
  await page.goto(link);
  await expect(card).toBeFocused();
  send();
  await expect(lineOfTest(page)).toBeInViewport();
  await expect(card).toBeInViewport();
  await expect(card).toBeFocused();
}

test("comment of an address keeps the focus when the lines above it arrive", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await start(page, {}, 3);
  await open(page);
  const card = await comment(page, TEST_FILE);
  await card.getByRole("button", { name: "Copy link" }).click();
  await expectFocusKept(page, await copiedText(page, "&comment="), card);
});

test("finding of an address keeps the focus when the lines above it arrive", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await start(page, { REVIEWED: "1" }, 3);
  await open(page);
  await showFile(page, TEST_FILE);
  const card = page.getByRole("article", { name: /asserts nothing/ });
  await card.getByRole("button", { name: "Copy link" }).first().click();
  await expectFocusKept(page, await copiedText(page, "&finding="), card);
});

/** Lets the lines of a file arrive first. Returns the function that sends those of the others. */
async function holdOtherLines(page: Page, path: string): Promise<() => void> {
  let send: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (send = resolve));
  let isFirst = true;
  await page.route("**/git/loop-changes/*", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const response = await route.fetch();
    const lines = (await response.json()) as { patches: { path: string }[] };
    if (isFirst) {
      isFirst = false;
      const [others, own] = [false, true].map((isOwn) =>
        lines.patches.filter((patch) => (patch.path === path) === isOwn),
      );
      const remaining = others?.map((patch) => patch.path);
      return route.fulfill({ response, json: { ...lines, patches: own, remaining } });
    }
    await held;
    return route.fulfill({ response, json: lines });
  });
  return send;
}

for (const [changedFiles, where] of [
  [3, "in view"],
  [10, "above the view"],
] as const)
  test(`finding of an address stays in view when files ${where} arrive later, until the person scrolls`, async ({
    page,
    context,
  }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await start(page, { REVIEWED: "1" }, changedFiles);
    await open(page);
    await showFile(page, TEST_FILE);
    const card = page.getByRole("article", { name: /asserts nothing/ });
    await card.getByRole("button", { name: "Copy link" }).first().click();
    const link = await copiedText(page, "&finding=");
    const lines = page.waitForResponse("**/git/loop-changes/*");
    const send = await holdOtherLines(page, TEST_FILE);
    await page.goto(`${mock.origin}/acme/inbox`);
    await page.goto(link);
    await lines;
    await expect(card).toBeFocused();
    await expect(lineOfTest(page)).toBeInViewport();
    const others = page.waitForResponse("**/git/loop-changes/*");
    send();
    await others;
    await expect(page.getByText("Loading…")).toHaveCount(0);
    await expect(card).toBeInViewport();
    await card.hover();
    await page.mouse.wheel(0, -20_000);
    await expect(card).not.toBeInViewport();
  });

test("caret of a comment stays when findings are displayed above it", async ({ page }) => {
  await start(page, { REVIEWED: "1" }, 0);
  const send = await hold(page, "**/reviewer/review-findings**", "GET");
  await open(page);
  await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
  await field(page).fill("the limit.");
  await page.keyboard.press("Home");
  await page.keyboard.type("Name ");
  send();
  await expect(page.getByRole("article", { name: /The delay overflows/ })).toBeVisible();
  await page.keyboard.type("and test ");
  await expect(field(page)).toHaveValue("Name and test the limit.");
});

for (const [where, distance] of [
  ["in view of its file", 1_500],
  ["far away", 20_000],
] as const)
  test(`comment that is written is displayed again when the person has scrolled ${where}`, async ({
    page,
  }) => {
    await start(page, {}, 10);
    await open(page);
    await showFile(page, "src/generated/part-0/file-0.ts");
    await page.getByRole("button", { name: /^Comment on .*file-0\.ts/ }).click();
    await field(page).fill("the limit.");
    await page.keyboard.press("Home");
    await page.keyboard.type("Name ");
    await field(page).hover();
    await page.mouse.wheel(0, distance);
    await expect(field(page)).not.toBeInViewport();
    await page.keyboard.type("and test ");
    await expect(field(page)).toBeInViewport();
    await page.keyboard.type("all of ");
    await expect(field(page)).toHaveValue("Name and test all of the limit.");
  });

test("comment that is written keeps the focus when another one is scrolled into view", async ({
  page,
}) => {
  await start(page, {}, 1);
  await open(page);
  const other = await comment(page, TEST_FILE);
  await other.getByRole("button", { name: /^Edit/ }).click();
  await expect(field(page)).toHaveValue("Name the limit.");
  await showFile(page, "src/webhooks/retry.ts");
  const form = page.getByRole("form", { name: "Comment on src/webhooks/retry.ts" });
  await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
  await form.getByRole("textbox").hover();
  await page.keyboard.type("Test ");
  const edited = page.getByRole("form", { name: /^Edit/ }).getByRole("textbox");
  await expect(async () => {
    await page.mouse.wheel(0, 500);
    await expect(edited).toBeInViewport({ timeout: 500 });
  }).toPass();
  await page.keyboard.type("it.");
  await expect(form.getByRole("textbox")).toBeInViewport();
  await expect(form.getByRole("textbox")).toHaveValue("Test it.");
});

test("press of a button of a card has its effect when lines above it arrive during the press", async ({
  page,
}) => {
  await start(page, {}, 3);
  const send = await holdLines(page);
  await page.goto(`${mock.origin}/acme/loops/${LOOP}?tab=changes`);
  await page.getByRole("button", { name: `Comment on ${TEST_FILE}` }).click();
  await field(page).fill("Name the limit.");
  await page.getByRole("button", { name: "Add comment" }).hover();
  await page.mouse.down();
  send();
  await expect(page.getByText("Loading…")).toHaveCount(0);
  await page.mouse.up();
  await expect(page.getByRole("button", { name: "Finish review (1)" })).toBeVisible();
  await expect(lineOfRetry(page)).toBeVisible();
});
