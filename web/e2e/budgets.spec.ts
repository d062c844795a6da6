/** What pages may cost, measured on the wire and in the browser. For the sizes of the build, see scripts/check-budget.mjs. */
import { expect, type Page, test } from "@playwright/test";

import { id, type Mock, openSignedIn, startMock } from "./mock";

const KB = 1024;
// The limits in time are for a machine that does nothing else. Other tests use the same cores, and a task that is
// interrupted by them counts with its interruptions.
const LOAD_FACTOR = 5;
const PAGE_LOAD_FACTOR = 4;
const TASK_LOAD_FACTOR = 10;

/** Records the time of the first element with a selector, and the duration of tasks that block the page. */
const observe = (page: Page, selector: string) =>
  page.addInitScript((selector) => {
    const observed: { shownAt?: number; tasks: number[] } = { tasks: [] };
    Object.assign(window, { observed });
    new PerformanceObserver((list) =>
      observed.tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({ type: "longtask", buffered: true });
    new MutationObserver((_, observer) => {
      if (!document.querySelector(selector)) return;
      observed.shownAt = performance.now();
      observer.disconnect();
    }).observe(document, { subtree: true, childList: true });
  }, selector);

/** Returns the requests that began before a time in milliseconds: their addresses, and bytes on the wire. */
const requestsBefore = (page: Page, time: number) =>
  page.evaluate(
    (time) =>
      [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter(({ startTime }) => startTime < time)
        .map((entry) => ({
          url: entry.name,
          bytes: (entry as PerformanceResourceTiming).transferSize,
        })),
    time,
  );

const observed = (page: Page) =>
  page.evaluate(
    () => (window as unknown as { observed: { shownAt: number; tasks: number[] } }).observed,
  );

/** Makes a figure readable in the report of a run, and compares it with its limit. */
function expectBelow(limit: number, name: string, figure: number, unit: string, factor = 1): void {
  const description = `${name}: ${Math.round(figure)} of ${limit} ${unit}`;
  test.info().annotations.push({ type: "measured", description });
  expect(figure, description).toBeLessThan(limit * factor);
}

/** Follows a link within the app. Returns the milliseconds until the page displays a text, which may be in a diff. */
const timeTo = (page: Page, path: string, text: string) =>
  page.evaluate(
    ([path, text]) =>
      new Promise<number>((resolve) => {
        const start = performance.now();
        const check = () => {
          const main = document.querySelector("main")?.textContent ?? "";
          const files = [...document.querySelectorAll("diffs-container")];
          const isShown = [main, ...files.map(({ shadowRoot }) => shadowRoot?.textContent)].some(
            (shown) => shown?.includes(text),
          );
          if (isShown) resolve(performance.now() - start);
          else requestAnimationFrame(check);
        };
        requestAnimationFrame(check);
        window.history.pushState({}, "", path);
      }),
    [path, text] as const,
  );

/** Returns the memory of the scripts of a page in bytes, without what is no longer used. */
async function heapSize(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}

test("first page shows its content with 200 KB, 14 requests, in a second, without a long task", async ({
  page,
}) => {
  const mock = await startMock();
  try {
    await openSignedIn(mock, page, "/theme.js");
    // The content, not what is loaded in advance for later pages.
    await page.addInitScript(() => Reflect.deleteProperty(window, "requestIdleCallback"));
    await observe(page, "main [role=listitem]");
    await page.goto(`${mock.origin}/acme/inbox`, { waitUntil: "commit" });
    await expect(page.getByRole("listitem").first()).toBeVisible();
    const { shownAt, tasks } = await observed(page);
    const requests = await requestsBefore(page, shownAt);
    // Text is displayed before its font is loaded, which has a budget of its own.
    const bytes = requests
      .filter(({ url }) => !url.endsWith(".woff2"))
      .reduce((sum, request) => sum + request.bytes, 0);
    expectBelow(200, "first page", bytes / KB, "KB");
    expect(bytes, "nothing comes from a cache").toBeGreaterThan(100 * KB);
    expect(requests.length, JSON.stringify(requests)).toBeLessThanOrEqual(14);
    expectBelow(1_000, "content of the first page", shownAt, "ms", LOAD_FACTOR);
    expectBelow(100, "longest task", Math.max(0, ...tasks), "ms", TASK_LOAD_FACTOR);
  } finally {
    await mock.stop();
  }
});

test("list of 5,000 change requests opens in 500 ms with 40 KB, and scrolls without a long task", async ({
  page,
}) => {
  const mock = await startMock(undefined, 5_000);
  try {
    await openSignedIn(mock, page, "/acme/inbox");
    await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
    const rows = page.waitForResponse(
      (response) =>
        new URL(response.url()).pathname === "/change-requests" &&
        !response.url().includes("attention"),
    );
    const shownAfter = await timeTo(page, "/acme/work", "5,012 change requests");
    expect(await page.getByRole("listitem").count()).toBeGreaterThan(5);
    expectBelow(500, "first rows", shownAfter, "ms", LOAD_FACTOR);
    const request = (await rows).request();
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    expectBelow(40, "first rows", (responseBodySize + responseHeadersSize) / KB, "KB");

    await page.evaluate(() => {
      const tasks: number[] = [];
      new PerformanceObserver((list) =>
        tasks.push(...list.getEntries().map(({ duration }) => duration)),
      ).observe({ type: "longtask" });
      Object.assign(window, { observed: { tasks } });
    });
    for (let step = 0; step < 20; step += 1) await page.mouse.wheel(0, 400);
    await expect(page.getByText(/^Change \d{3}: not started$/).first()).toBeAttached();
    const { tasks } = await observed(page);
    expectBelow(50, "longest task", Math.max(0, ...tasks), "ms", TASK_LOAD_FACTOR);
  } finally {
    await mock.stop();
  }
});

/** Opens the first page without the code of the others, which is then loaded with them. */
async function openInbox(mock: Mock, page: Page): Promise<void> {
  await openSignedIn(mock, page, "/theme.js");
  await page.addInitScript(() => Reflect.deleteProperty(window, "requestIdleCallback"));
  await page.goto(`${mock.origin}/acme/inbox`);
  await expect(page.getByRole("listitem").first()).toBeVisible();
}

test("later pages show their content in 300 ms", async ({ page }) => {
  const mock = await startMock();
  try {
    await openInbox(mock, page);
    for (const [path, text] of [
      ["/acme/work", "12 change requests"],
      ["/acme/new", "Describe the change"],
      ["/acme/work/feature-1?tab=request", "Cover it with a test."],
      [`/acme/loops/${id(11)}`, "Pull request opened"],
      ["/acme/implementation-plans/plan-1", "Exit status"],
      ["/acme/settings/members", "Ben Lindqvist"],
    ] as const)
      expectBelow(300, path, await timeTo(page, path, text), "ms", PAGE_LOAD_FACTOR);
  } finally {
    await mock.stop();
  }
});

test("content is displayed together with the title of its page", async ({ page }) => {
  const mock = await startMock();
  try {
    await openInbox(mock, page);
    // React displays what replaces a placeholder 300 ms after it, also if it is loaded earlier.
    for (const [path, title, text] of [
      ["/acme/new", "New change request", "Describe the change"],
      ["/acme/work/feature-1?tab=request", "--version flag", "Cover it with a test."],
      ["/acme/implementation-plans/plan-1", "Print the version", "Exit status"],
    ] as const) {
      const content = page.evaluate(
        ([path, title]) =>
          new Promise<string>((resolve) => {
            const main = document.querySelector("main");
            if (!main) throw new Error("The page has no content.");
            new MutationObserver((_, observer) => {
              if (!main.querySelector("h1")?.textContent.includes(title)) return;
              observer.disconnect();
              resolve(main.textContent);
            }).observe(main, { subtree: true, childList: true });
            window.history.pushState({}, "", path);
          }),
        [path, title] as const,
      );
      expect(await content, path).toContain(text);
      await page.getByRole("link", { name: "Needs you" }).first().click();
      await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
    }
  } finally {
    await mock.stop();
  }
});

test("log of 1,000,000 lines opens in a second with 300 KB, and its tab needs 80 MB", async ({
  page,
}) => {
  test.setTimeout(120_000);
  const mock = await startMock(undefined, 0, 0, { LOG_EVENTS: "1000000" });
  try {
    await openSignedIn(mock, page, "/acme/inbox");
    await expect(page.getByRole("listitem").first()).toBeVisible({ timeout: 30_000 });
    // Without compression: the lines of the mock server are more alike than those of a loop.
    const sizes: Promise<number>[] = [];
    page.on("response", (response) => {
      if (response.url().includes("/events"))
        sizes.push(response.body().then((body) => body.length));
    });
    const path = `/acme/loops/${id(11)}?tab=output`;
    const shownAfter = await timeTo(page, path, "npm test -- --run cli");
    expectBelow(1_000, "end of the log", shownAfter, "ms", LOAD_FACTOR);
    await expect(page.getByText("1,000,002 events")).toBeVisible();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expectBelow(300, "end of the log", bytes / KB, "KB");
    expectBelow(80, "memory", (await heapSize(page)) / KB / KB, "MB");
    await page.getByRole("log").hover();
    for (let step = 0; step < 100; step += 1) {
      await page.mouse.wheel(0, -3_000);
      // The log loads and removes lines in the frame after the step.
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    expectBelow(80, "memory after scrolling", (await heapSize(page)) / KB / KB, "MB");
  } finally {
    await mock.stop();
  }
});

test("diff of 300 files and 50,000 lines opens in a second, and a comment is typed without delay", async ({
  page,
}) => {
  const mock = await startMock(undefined, 0, 300);
  try {
    await openSignedIn(mock, page, "/acme/inbox");
    await expect(page.getByRole("listitem").first()).toBeVisible({ timeout: 30_000 });
    const path = `/acme/loops/${id(11)}?tab=changes`;
    const shownAfter = await timeTo(page, path, "Doubles with each attempt");
    expectBelow(1_000, "first file", shownAfter, "ms", LOAD_FACTOR);
    await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
    await expect(page.getByRole("textbox", { name: "Comment" })).toBeFocused();
    await page.evaluate(() => {
      const delays: number[] = [];
      Object.assign(window, { delays });
      window.addEventListener("keydown", ({ timeStamp }) =>
        // A task after the frame: the frame was painted.
        requestAnimationFrame(() => setTimeout(() => delays.push(performance.now() - timeStamp))),
      );
    });
    await page.keyboard.type("Name the limit, and test it.", { delay: 100 });
    const delays = await page.evaluate(() => (window as unknown as { delays: number[] }).delays);
    const sorted = delays.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? Infinity;
    expectBelow(50, "key, median", median, "ms", LOAD_FACTOR);
    expectBelow(50, "key, slowest", sorted.at(-1) ?? Infinity, "ms", TASK_LOAD_FACTOR);
  } finally {
    await mock.stop();
  }
});
