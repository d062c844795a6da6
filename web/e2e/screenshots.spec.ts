/**
 * Screenshots of the main pages, for the documentation. `npm run screenshots` replaces them after a change of the pages.
 *
 * Time, fonts and data are fixed, so that the same pages give the same images.
 */
import { pathToFileURL } from "node:url";

import { expect, type Page, type Route, test } from "@playwright/test";

import { id, type Mock, openSignedIn, startMock } from "./mock";

const TIME = "2026-11-24T10:30:00.000Z";
// Part of the pixels that may differ, for another version of the browser.
const TOLERANCE = 0.02;

// Generous, because other tests use the same cores.
const READY_LIMIT_MS = 30_000;

const TITLES = [
  "Add a --version flag that prints the version from package.json",
  "Retry failed webhook deliveries with increasing delays",
  "Remove expired sessions once a day",
  "Validate addresses before the order is stored",
  "Export invoices as CSV",
  "Cache exchange rates for an hour",
  "Move the price rules into a module of their own",
  "Upgrade the payment library",
  "Show stock per warehouse on the product page",
  "Translate the confirmation e-mails",
  "Report the cause of a declined payment",
  "Delete images of removed products",
];

const DELIVERED = "/acme/work/feature-110";

const PAGES = {
  inbox: { path: "/acme/inbox", ready: "2 requests on this machine need your approval" },
  work: { path: "/acme/work", ready: "Upgrade the payment library" },
  new: { path: "/acme/new", ready: "Describe the change" },
  live: { path: `/acme/loops/${id(10)}`, ready: "package.json" },
  plan: { path: "/acme/work/feature-1?tab=plan", ready: "Exit status" },
  changes: { path: `${DELIVERED}?tab=changes`, ready: "Doubles with each attempt" },
  evidence: { path: `${DELIVERED}?tab=evidence`, ready: "Pull request opened" },
  "pull-request": { path: `${DELIVERED}?tab=pull-request`, ready: "1 of 2 checks failed" },
  deploy: { path: `${DELIVERED}?tab=deploy`, ready: "The server responds at" },
  history: { path: "/acme/work/feature-1?tab=history", ready: "wrote the request" },
};

test.use({ viewport: { width: 1280, height: 800 }, timezoneId: "UTC", locale: "en-GB" });

let mock: Mock;
test.beforeAll(async () => {
  const clock = pathToFileURL(new URL("../dev/fixed-time.mjs", import.meta.url).pathname).href;
  mock = await startMock(undefined, 0, 0, {
    MOCK_TIME: TIME,
    NODE_OPTIONS: `--import ${clock}`,
    DEPLOYMENT: "running",
  });
});
test.afterAll(() => mock.stop());

const run = (passed: number) => ({
  commit: "9fceb02d0ae598e95dc970b74767f19372d61af8",
  exitCode: 0,
  durationMs: 4_200,
  counts: { passed, failed: 0, skipped: 1 },
  log: "tests.log",
});
const TESTS = {
  outcome: "passed",
  command: "npm test",
  base: run(210),
  head: run(212),
  newFailures: [],
  flags: [{ kind: "test-skipped", path: "test/retry.test.ts", detail: "it.skip" }],
};

/** Returns the body of the response to a request, unless the page was left. */
const fetched = (route: Route) =>
  route
    .fetch()
    .then((response) => response.text())
    .catch(() => undefined);

/** Replaces what is in the data for tests only: titles that name a state, and a hostile file name. */
async function useDemonstrationData(page: Page): Promise<void> {
  await page.route(`${mock.origin}/change-requests?*`, async (route) => {
    const body = await fetched(route);
    if (body === undefined) return;
    const text = body.replaceAll(
      /Change (\d+): [^"]*/g,
      (title, n: string) => TITLES[Number(n)] ?? title,
    );
    await route.fulfill({ json: JSON.parse(text) as object });
  });
  const replacing = (address: string, text: RegExp, replacement: string, origin?: string) =>
    page.route(address, async (route) => {
      if (route.request().resourceType() === "document") return route.fallback();
      const body = await fetched(route);
      if (body === undefined) return;
      await route.fulfill({
        ...(origin !== undefined && { headers: { "access-control-allow-origin": origin } }),
        json: JSON.parse(body.replace(text, replacement)) as object,
      });
    });
  await replacing(
    `${mock.origin}/change-requests/feature-110`,
    /Change 10: [^"]*/,
    TITLES[1] ?? "",
  );
  await replacing("**/git/pr/comments?*", /<img[^>]*>(\\n)*/, "", mock.origin);
  await page.route(`${mock.origin}/loops/${id(11)}`, async (route) => {
    if (route.request().resourceType() === "document") return route.fallback();
    const body = await fetched(route);
    if (body === undefined) return;
    const answer = JSON.parse(body) as { data: { results: object[] } };
    const results = [{ ...answer.data.results[0], tests: TESTS }];
    const tasks = { completed: 7, total: 7, current: null };
    await route.fulfill({ json: { ...answer, data: { ...answer.data, tasks, results } } });
  });
  await page.route("**/api/gateway/git/loop-changes/*", async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    const body = await fetched(route);
    if (body === undefined) return;
    const changes = JSON.parse(body) as {
      repositories: { files: { path: string }[]; fileCount: number }[];
    };
    const repositories = changes.repositories.map((repository) => {
      const files = repository.files.filter(({ path }) => !path.includes("<"));
      return { ...repository, files, fileCount: files.length };
    });
    await route.fulfill({
      headers: { "access-control-allow-origin": mock.origin },
      json: { ...changes, repositories },
    });
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`main pages, ${colorScheme}`, async ({ page }) => {
    test.setTimeout(180_000);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.clock.setFixedTime(TIME);
    await useDemonstrationData(page);
    await openSignedIn(mock, page, "/acme/inbox");
    for (const [name, { path, ready }] of Object.entries(PAGES)) {
      await page.goto(mock.origin + path);
      await expect(page.getByText(ready).first()).toBeVisible({ timeout: READY_LIMIT_MS });
      await expect(page.locator(".skeleton")).toHaveCount(0);
      await expect
        .soft(page)
        .toHaveScreenshot(`${name}-${colorScheme}.png`, { maxDiffPixelRatio: TOLERANCE });
    }
  });
}
