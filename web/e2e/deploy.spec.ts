/** The deployment of a change request's worktree: started, opened, stopped, refused and failed. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, openSignedIn, startMock, stopAfterEach } from "./mock";
import { expectAccessible, expectDarkAndNarrow, PageMonitor } from "./quality";

const PATH = "/acme/work/feature-110?tab=deploy";
const URL_OF_SERVER = "http://localhost:5174/";

let mock: Mock;
stopAfterEach(() => mock);

/** Opens the tab, with a variant of dev/deploy.mjs. */
async function open(page: Page, deployment = ""): Promise<void> {
  mock = await startMock(undefined, 0, 0, { DEPLOYMENT: deployment });
  await openSignedIn(mock, page, PATH);
}

const card = (page: Page) => page.getByRole("article", { name: "acme/shop" });
const button = (page: Page, name: string) =>
  card(page).getByRole("button", { name: `${name} acme/shop`, exact: true });
const output = (page: Page) => page.getByRole("region", { name: "Output of acme/shop" });
const announced = (page: Page, text: string) =>
  expect(page.getByRole("status").filter({ hasText: text })).toBeAttached();

/** Records the bodies of POST requests to a route of the gateway. */
function sentTo(page: Page, route: string): unknown[] {
  const sent: unknown[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith(route))
      sent.push(request.postDataJSON());
  });
  return sent;
}

/** Records the times of the reads of the state, by the clock of the page. Returns the function that reads them. */
async function recordReads(page: Page): Promise<() => Promise<number[]>> {
  await page.addInitScript(() => {
    const times: number[] = [];
    const send = window.fetch.bind(window);
    window.fetch = (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      if (url.includes("/deploy/status/")) times.push(Date.now());
      return send(input, init);
    };
    Object.assign(window, { times });
  });
  return () => page.evaluate(() => (window as unknown as { times: number[] }).times);
}

test("deployment starts, is opened in a new tab, and stops", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await open(page);
  const starts = sentTo(page, "/api/gateway/deploy");
  const stops = sentTo(page, "/deploy/teardown");
  await expect(card(page).getByText("Not deployed")).toBeVisible();
  await expect(card(page)).toContainText("Runs npm install, then npm run dev in the worktree.");
  await expectAccessible(page);
  await button(page, "Deploy").dblclick();
  await expect(card(page).getByText("Starting")).toBeVisible();
  await expect(card(page)).toContainText("nothing accepts connections on port 5174");
  await expect(output(page)).toContainText("added 214 packages");
  await expect(button(page, "Stop")).toBeVisible();
  await expect(button(page, "Deploy again")).toHaveCount(0);
  await expect(card(page).getByText("Running")).toBeVisible();
  await announced(page, "acme/shop: Running");
  const link = card(page).getByRole("link", { name: "Open acme/shop in a new tab" });
  await expect(link).toHaveAttribute("href", URL_OF_SERVER);
  await expect(link).toHaveAttribute("target", "_blank");
  await expect(link).toHaveAttribute("rel", /noopener/);
  await expect(card(page)).toContainText(`The server responds at ${URL_OF_SERVER}.`);
  await expectAccessible(page);
  await button(page, "Stop").dblclick();
  await expect(card(page).getByText("Not deployed")).toBeVisible();
  await expect(output(page)).toHaveCount(0);
  const worktreePath = "/home/sam/src/worktrees/shop-loop-plan-7";
  const repoPath = "/home/sam/src/acme/shop";
  expect(starts).toEqual([{ ticketId: "loop-plan-7", repoPath, worktreePath }]);
  expect(stops).toEqual([{ repoPath, worktreePath }]);
});

test("deployment is operated with the keyboard, and the focus stays on its card", async ({
  page,
}) => {
  await open(page, "running");
  const stop = button(page, "Stop");
  await stop.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await expect(card(page).getByText("Not deployed")).toBeVisible();
  await expect(card(page).locator(":focus")).toHaveText("Not deployed");
  await page.keyboard.press("Tab");
  await expect(button(page, "Deploy")).toBeFocused();
});

test("commands without consent: the page shows the command that consents, and tries again", async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await open(page, "untrusted");
  await button(page, "Deploy").click();
  const command =
    "loopgate trust /home/sam/src/acme/shop --deploy 'npm install' --deploy 'npm run dev'";
  await expect(card(page).getByText(command, { exact: true })).toBeVisible();
  await expect(card(page)).toContainText("then run this on studio-7:");
  await expect(card(page).getByRole("button", { name: "Copy the command" })).toBeVisible();
  await expectAccessible(page);
  await expectDarkAndNarrow(page);
  await card(page).getByRole("button", { name: "Try again" }).click();
  await expect(card(page).getByText("Starting")).toBeVisible();
  await expect(card(page).getByText(command, { exact: true })).toHaveCount(0);
});

test("failed deployment shows the reason and the output as text", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await open(page, "failing");
  const monitor = new PageMonitor(page, mock.origin);
  await button(page, "Deploy").click();
  await expect(card(page).getByRole("alert")).toContainText(
    "The start command exited with code 1. <b>Read</b> its output.",
  );
  await expect(output(page)).toContainText("<img src=x onerror=alert(1)><script>alert(1)</script>");
  await announced(page, "acme/shop: Failed");
  monitor.expectClean();
  await expectAccessible(page);
  await expectDarkAndNarrow(page);
  await button(page, "Deploy again").click();
  await expect(card(page).getByText("Starting")).toBeVisible();
});

test("address that is not one of a web server is no link", async ({ page }) => {
  await page.route("**/deploy/status/**", async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    const response = await route.fetch();
    const body = (await response.json()) as object;
    return route.fulfill({ response, json: { ...body, deployedUrl: "javascript:alert(1)" } });
  });
  await open(page, "running");
  await expect(card(page)).toContainText("The server responds at javascript:alert(1)");
  await expect(card(page).getByRole("link")).toHaveCount(0);
});

test("state is read every 2 seconds during the start, every 10 afterwards, and no longer at the end", async ({
  page,
}) => {
  await page.clock.install();
  const reads = await recordReads(page);
  const count = async () => (await reads()).length;
  await open(page);
  await button(page, "Deploy").click();
  await expect(card(page).getByText("Starting")).toBeVisible();
  await expect(async () => {
    await page.clock.runFor(1_000);
    await expect(card(page).getByText("Running")).toBeVisible({ timeout: 100 });
  }).toPass();
  // The first read is by the page, the second one after the start.
  const [, started = 0, second = 0, third = 0, ...more] = await reads();
  expect(more).toEqual([]);
  for (const interval of [second - started, third - second]) {
    expect(interval).toBeGreaterThanOrEqual(2_000);
    expect(interval).toBeLessThan(10_000);
  }
  await page.clock.runFor(10_000);
  await expect.poll(count).toBe(5);
  expect(((await reads())[4] ?? 0) - third).toBeGreaterThanOrEqual(10_000);
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  const whileHidden = await count();
  await page.clock.runFor(60_000);
  expect(await count()).toBe(whileHidden);
  await page.evaluate(() => {
    Reflect.deleteProperty(document, "visibilityState");
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  await expect.poll(count).toBeGreaterThan(whileHidden);
  await button(page, "Stop").click();
  await expect(card(page).getByText("Not deployed")).toBeVisible();
  const atEnd = await count();
  await page.clock.runFor(5 * 60_000);
  expect(await count()).toBe(atEnd);
});

test("machine that is offline is named, and read again on request", async ({ page }) => {
  let isOffline = true;
  await page.route("**/api/gateway/**", (route) => (isOffline ? route.abort() : route.fallback()));
  await page.route("**/compute-targets", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: { isOnline: boolean }[] };
    for (const target of body.data) target.isOnline = !isOffline;
    return route.fulfill({ response, json: body });
  });
  await open(page);
  await expect(page.getByText(/studio-7 is offline\. Start Loopgate there/)).toBeVisible();
  await expect(page.getByRole("button", { name: /^Deploy/ })).toHaveCount(0);
  await expectAccessible(page);
  isOffline = false;
  await page.getByRole("main").getByRole("button", { name: "Try again" }).click();
  await expect(button(page, "Deploy")).toBeVisible();
});

test("server on another machine: the page names it", async ({ page }) => {
  // Without a gateway on this machine, and with a gateway that answers commands.
  await page.route(/\/\/127\.0\.0\.1:\d+\/(health|gateway-auth)/, (route) => route.abort());
  const answers: Record<string, object> = {
    "loop-changes": {
      repositories: [{ name: "acme/shop", worktree: "/src/worktrees/shop-loop-plan-7" }],
    },
    "repo-path": { path: "/src/shop" },
    "deploy/status": { status: "completed", logs: "ready", deployedUrl: URL_OF_SERVER },
  };
  const results: object[] = [];
  await page.route("**/compute-targets/*/commands", (route) => {
    const { path } = route.request().postDataJSON() as { path: string };
    const data = Object.entries(answers).find(([name]) => path.includes(name))?.[1];
    results.push({ eventType: "result", data: { data } });
    const commandId = String(results.length - 1);
    return route.fulfill({ json: { success: true, data: { commandId, status: "queued" } } });
  });
  await page.route("**/compute-targets/*/commands/*/events?**", (route) => {
    const [, index = ""] = /commands\/(\d+)\//.exec(route.request().url()) ?? [];
    const event = { commandId: index, ...results[Number(index)] };
    return route.fulfill({
      contentType: "text/event-stream",
      body: `data: ${JSON.stringify(event)}\n\n`,
    });
  });
  await open(page);
  await expect(card(page)).toContainText(`The server responds at ${URL_OF_SERVER} on studio-7.`);
});

test("change request without an execution says what comes first", async ({ page }) => {
  mock = await startMock();
  await openSignedIn(mock, page, "/acme/work/feature-104?tab=deploy");
  await expect(page.getByRole("heading", { name: "Nothing to deploy yet" })).toBeVisible();
  await expectAccessible(page);
});

test("each repository has a card, which says why if the machine cannot address it", async ({
  page,
}) => {
  await page.route("**/git/loop-changes/**", async (route) => {
    const response = await route.fetch();
    const { repositories } = (await response.json()) as { repositories: object[] };
    const unlisted = { ...repositories[0], name: "acme/docs", worktree: "/src/worktrees/other" };
    const removed = { ...repositories[0], name: "acme/old", worktree: null };
    return route.fulfill({
      response,
      json: { repositories: [...repositories, unlisted, removed] },
    });
  });
  await open(page);
  await expect(button(page, "Deploy")).toBeVisible();
  const other = page.getByRole("article", { name: "acme/docs" });
  await expect(other).toContainText("the machine does not list the clone");
  await expect(page.getByRole("article")).toHaveCount(2);
  await expectAccessible(page);
});

test("server that could not be stopped is named, and keeps its state", async ({ page }) => {
  const error = "Could not stop the server - process 4243 is still running";
  await page.route("**/deploy/teardown", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const headers = { "access-control-allow-origin": "*" };
    return route.fulfill({ headers, json: { success: false, error } });
  });
  await open(page, "running");
  await button(page, "Stop").click();
  await expect(card(page).getByRole("alert")).toContainText(error);
  await expect(card(page).getByText("Running", { exact: true })).toBeVisible();
  await expect(button(page, "Stop")).toBeEnabled();
});
