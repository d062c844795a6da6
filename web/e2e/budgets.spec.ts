/** What pages may cost, measured on the wire and in the browser. For the sizes of the build, see scripts/check-budget.mjs. */
import { expect, type Page, test } from "@playwright/test";

import { openSignedIn, startMock } from "./mock";

const KB = 1024;
// The limits in time are for a machine that does nothing else. Other tests use the same cores, and a task that is
// interrupted by them counts with its interruptions.
const LOAD_FACTOR = 5;
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
    expect(bytes, JSON.stringify(requests)).toBeLessThan(200 * KB);
    expect(bytes, "nothing comes from a cache").toBeGreaterThan(100 * KB);
    expect(requests.length, JSON.stringify(requests)).toBeLessThanOrEqual(14);
    expect(shownAt).toBeLessThan(1_000 * LOAD_FACTOR);
    expect(Math.max(0, ...tasks)).toBeLessThan(100 * TASK_LOAD_FACTOR);
  } finally {
    await mock.stop();
  }
});

test("list of 5,000 change requests opens with 40 KB, and scrolls without a long task", async ({
  page,
}) => {
  const mock = await startMock(undefined, 5_000);
  try {
    await openSignedIn(mock, page, "/acme/inbox");
    await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
    await observe(page, "main [role=listitem]");
    const rows = page.waitForResponse(
      (response) =>
        new URL(response.url()).pathname === "/change-requests" &&
        !response.url().includes("attention"),
    );
    await page.getByRole("link", { name: "Work", exact: true }).click();
    const request = (await rows).request();
    await expect(page.getByText("5,012 change requests")).toBeVisible();
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    expect(responseBodySize + responseHeadersSize).toBeLessThan(40 * KB);

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
    expect(Math.max(0, ...tasks)).toBeLessThan(50 * TASK_LOAD_FACTOR);
  } finally {
    await mock.stop();
  }
});
