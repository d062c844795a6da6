/**
 * Every page in many states: loading, failed, forbidden, missing, without entries, offline, signed out, narrow, zoomed,
 * in forced colours, with hostile texts and with 1,000 rows.
 *
 * A test visits all pages of the table without reloading the app, and reports the failures of all of them.
 */
import { expect as anyExpect, type Page, type Route, test } from "@playwright/test";

import { type Mock, openSignedIn, startMock } from "./mock";
import { type AppPage, OTHER_PAGES, PAGES } from "./pages";
import {
  expectAccessible,
  expectContrast,
  expectNoHorizontalScroll,
  PageMonitor,
  selectDark,
} from "./quality";

// A page is loaded again in some states, while other tests use the same cores.
const expect = anyExpect.configure({ timeout: 20_000 });
// For all pages of a test, on cores that other tests use as well.
test.describe.configure({ timeout: 400_000 });

type Variant = "" | "empty" | "many" | "hostile";

const mocks = new Map<Variant, Mock>();
test.afterAll(() => Promise.all([...mocks.values()].map((mock) => mock.stop())));

/** Returns the server of a variant. Nothing that the tests do changes its data. */
async function mockOf(variant: Variant): Promise<Mock> {
  const running = mocks.get(variant);
  if (running) return running;
  const rows = variant === "many" ? 1_000 : 0;
  const mock = await startMock(undefined, rows, 0, { VARIANT: variant });
  mocks.set(variant, mock);
  return mock;
}

/** Opens the app on a page without data of its own, and returns a monitor of it. */
async function start(page: Page, variant: Variant = ""): Promise<PageMonitor> {
  const mock = await mockOf(variant);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  const monitor = new PageMonitor(page, mock.origin);
  await openSignedIn(mock, page, NEUTRAL.path);
  await shown(page, NEUTRAL.ready);
  return monitor;
}

/** Follows a link within the app. */
const visit = (page: Page, path: string) =>
  page.evaluate((address) => window.history.pushState({}, "", address), path);

async function forEach(
  page: Page,
  pages: AppPage[],
  check: (own: AppPage) => Promise<void>,
): Promise<void> {
  const failures: string[] = [];
  for (const own of pages) {
    await test.step(own.name, async () => {
      try {
        await visit(page, own.path);
        await check(own);
      } catch (error) {
        failures.push(`${own.name}: ${String(error)}`);
      }
    });
  }
  expect(failures, failures.join("\n\n")).toEqual([]);
}

const shown = (page: Page, text: string | RegExp) =>
  expect(page.getByText(text).first()).toBeVisible();

const withData = PAGES.filter(({ data }) => data);

/** Page between two others, so that what is displayed belongs to the second one. */
const NEUTRAL = { path: "/acme/new", ready: "Describe the change" };

/**
 * Handles the reads on which the content of each page depends, and visits the pages. Between two of them is another
 * page, so that what is displayed belongs to the second one.
 */
async function forEachWithFault(
  page: Page,
  pages: AppPage[],
  handle: (route: Route) => Promise<void> | void,
  check: (own: AppPage) => Promise<void>,
): Promise<void> {
  let visited: AppPage | undefined;
  const loaded = new Set<string>();
  page.on("response", (response) => response.ok() && loaded.add(new URL(response.url()).pathname));
  await page.route(
    ({ pathname }) => withData.some(({ data }) => data?.test(pathname)),
    (route) => {
      const { pathname } = new URL(route.request().url());
      const isOther = !visited?.data?.test(pathname) && visited?.needs?.test(pathname);
      return !isOther && route.request().method() !== "OPTIONS" ? handle(route) : route.fallback();
    },
  );
  const monitor = await start(page);
  await forEach(page, pages, async (own) => {
    visited = own;
    if ([...loaded].some((path) => own.data?.test(path))) {
      // The app keeps what an earlier page has loaded.
      await page.goto(new URL(own.path, page.url()).href);
      loaded.clear();
    } else {
      await visit(page, NEUTRAL.path);
      await shown(page, NEUTRAL.ready);
      await visit(page, own.path);
      await expect(page.getByText(NEUTRAL.ready)).toBeHidden();
    }
    await check(own);
  });
  monitor.expectClean();
}

/** Responds with an error, also to a request to the gateway, which has another origin. */
const failWith = (route: Route, status: number, error: string) =>
  route.fulfill({
    status,
    headers: { "access-control-allow-origin": "*" },
    json: { success: false, error, code: "test" },
  });

test("pages are accessible in both themes, and send no external requests", async ({ page }) => {
  const monitor = await start(page);
  await forEach(page, [...PAGES, ...OTHER_PAGES], async ({ ready }) => {
    await shown(page, ready);
    await expectAccessible(page);
  });
  await page.goto(new URL(NEUTRAL.path, page.url()).href);
  await selectDark(page);
  await forEach(page, [...PAGES, ...OTHER_PAGES], async ({ ready }) => {
    await shown(page, ready);
    await expectContrast(page);
  });
  monitor.expectClean();
});

test("pages fit 390 px, 320 px and a zoom of 200 %", async ({ page }) => {
  await start(page);
  await forEach(page, [...PAGES, ...OTHER_PAGES], async ({ ready }) => {
    await shown(page, ready);
    // A zoom of 200 % halves the size of the window in CSS pixels.
    for (const [width, height] of [
      [390, 844],
      [320, 640],
      [640, 430],
    ] as const) {
      await page.setViewportSize({ width, height });
      await expectNoHorizontalScroll(page);
    }
  });
});

test("pages that load have a title, and the shape of their content", async ({ page }) => {
  // Without a response until the page is closed.
  const hold = () => undefined;
  await forEachWithFault(page, withData, hold, async ({ loading }) => {
    await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
    if (loading === undefined)
      await expect(page.getByRole("main").locator(".skeleton").first()).toBeVisible();
    else await shown(page, loading);
    await expectAccessible(page);
  });
  await page.route("**/me", hold);
  await page.reload();
  await expect(page.getByRole("status", { name: "Loading" })).toBeVisible();
  await expectAccessible(page);
});

test("pages that fail say what failed and what to do, and can be loaded again", async ({
  page,
}) => {
  // Retries of failed reads take seconds.
  await page.clock.install();
  let isFailing = true;
  const fail = (route: Route) =>
    isFailing ? failWith(route, 500, "The disk is full") : route.fallback();
  await forEachWithFault(page, withData, fail, async ({ ready }) => {
    const retry = page.getByRole("main").getByRole("button", { name: /^(Try|Check) again$/ });
    await expect(async () => {
      await page.clock.fastForward(4_000);
      await expect(retry.first()).toBeVisible({ timeout: 200 });
    }).toPass({ timeout: 6_000 });
    await shown(page, /The disk is full/);
    await expectAccessible(page);
    isFailing = false;
    await retry.first().click();
    await shown(page, ready);
    isFailing = true;
  });
});

// This machine's gateway refuses for reasons of its own, which its pages name.
const isOfControlPlane = ({ data }: AppPage) => data && !/gateway|git/.test(data.source);

test("pages without access say so, and who can grant it", async ({ page }) => {
  const forbid = (route: Route) => failWith(route, 403, "Forbidden");
  await forEachWithFault(page, withData.filter(isOfControlPlane), forbid, async () => {
    await shown(page, "You don't have access");
    await shown(page, /administrator/);
  });
});

test("page of an organization that the person does not belong to leads to another page", async ({
  page,
}) => {
  await start(page);
  await page.route("**/me", (route) => failWith(route, 403, "Forbidden"));
  await page.goto(new URL("/elsewhere/inbox", page.url()).href);
  await shown(page, "You don't have access");
  await expect(page.getByRole("link", { name: "Go to Needs you" })).toHaveAttribute("href", "/");
});

test("pages of what is missing say what, and do not request it again", async ({ page }) => {
  await page.clock.install();
  // Each connection of it, and each event, requests the lists again.
  await page.route("**/organization/changes", () => undefined);
  const requests: string[] = [];
  const miss = (route: Route) => {
    requests.push(new URL(route.request().url()).pathname);
    return failWith(route, 404, "Widget not found");
  };
  const single = withData.filter(({ isSingle }) => isSingle);
  await forEachWithFault(page, single, miss, async ({ data }) => {
    await shown(page, "Not found");
    await shown(page, /^Widget not found\./);
    const count = () => requests.filter((pathname) => data?.test(pathname)).length;
    const before = count();
    // Longer than the interval of each poll.
    await page.clock.fastForward(10 * 60_000);
    await page.clock.runFor(1_000);
    expect(count(), `requests of ${String(data)}`).toBe(before);
  });
});

test("pages in forced colours show what they mark by colour", async ({ page }) => {
  const monitor = await start(page);
  await forEach(page, PAGES, async ({ ready }) => {
    await page.emulateMedia({ forcedColors: "none" });
    await shown(page, ready);
    const count = await page.evaluate(findShapes);
    await page.emulateMedia({ forcedColors: "active" });
    expect(await page.evaluate(invisibleShapes), `of ${count} shapes`).toEqual([]);
  });
  monitor.expectClean();
});

test("lists without entries say why, and what to do next", async ({ page }) => {
  const monitor = await start(page, "empty");
  await forEach(
    page,
    PAGES.filter(({ empty }) => empty),
    async ({ empty = "" }) => {
      await shown(page, empty);
      await expectAccessible(page);
    },
  );
  monitor.expectClean();
});

test("pages keep their content while the server does not respond, with its time", async ({
  page,
}) => {
  const mock = await startMock();
  const monitor = new PageMonitor(page, mock.origin);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await openSignedIn(mock, page, "/acme/inbox");
  const pages = PAGES.filter(({ isLive }) => !isLive);
  await forEach(page, pages, ({ ready }) => shown(page, ready));
  await mock.stop();
  const bar = page.getByText(/^Loopgate is not responding\. Last update \d\d:\d\d:\d\d/);
  await expect(bar).toBeVisible({ timeout: 30_000 });
  await forEach(page, pages, async ({ ready }) => {
    await shown(page, ready);
    await expect(bar).toBeVisible();
    await expect(page.getByRole("main")).toHaveCSS("filter", /grayscale/);
  });
  await expectAccessible(page);
  expect(monitor.exceptions).toEqual([]);
});

test("pages lead to the signed-out page when the session has ended, and return", async ({
  page,
  context,
}) => {
  await start(page);
  const cookies = await context.cookies();
  await forEach(page, withData, async ({ name, path, data }) => {
    // This machine's gateway has a session of its own, and the shell shows what needs the person, and the machines.
    if (data?.source.includes("gateway") || ["Needs you", "machines"].includes(name)) return;
    await context.addCookies(cookies);
    await page.goto(new URL("/acme/new", page.url()).href);
    await shown(page, "Describe the change");
    await context.clearCookies();
    await visit(page, path);
    await expect(page).toHaveURL(
      (url) => url.pathname === "/signed-out" && url.searchParams.get("returnTo") === path,
    );
  });
});

test("pages show hostile, long and right-to-left texts as texts", async ({ page }) => {
  const monitor = await start(page, "hostile");
  await page.setViewportSize({ width: 320, height: 640 });
  await forEach(page, PAGES, async () => {
    await expect(page.getByRole("heading").first()).toBeVisible();
    // Also of diagrams.
    await expect(page.locator(".skeleton")).toHaveCount(0);
    expect(
      await page.evaluate(leftToRightTexts),
      "texts without the direction of their script",
    ).toEqual([]);
    await expectNoHorizontalScroll(page);
  });
  monitor.expectClean();
});

/** Returns the elements that show a right-to-left text from left to right. Code has the direction of its language. */
function leftToRightTexts(): string[] {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = new Set<string>();
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const isRightToLeft = /^\s*[\u0590-\u05ff]/.test(walker.currentNode.nodeValue ?? "");
    if (!parent || !isRightToLeft || parent.closest("code, .sr-only, option")) continue;
    const { direction, unicodeBidi } = getComputedStyle(parent);
    if (direction !== "rtl" && unicodeBidi !== "plaintext" && parent.checkVisibility())
      found.add(parent.outerHTML.slice(0, 200));
  }
  return [...found];
}

test("lists of 1,000 rows respond", async ({ page }) => {
  const monitor = await start(page, "many");
  await forEach(
    page,
    PAGES.filter(({ isList }) => isList),
    async ({ ready }) => {
      await shown(page, ready);
      await page.mouse.wheel(0, 3_000);
      await expectNoHorizontalScroll(page);
      // The main thread has time for a key.
      await page.keyboard.press("?");
      await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
      await page.keyboard.press("Escape");
    },
  );
  monitor.expectClean();
});

/** An element or its pseudo-element that shows something by its colour only. */
interface Shape {
  element: Element;
  pseudo: string | undefined;
}

/** Finds the elements that are filled with a colour and contain nothing. Returns their number. */
function findShapes(): number {
  const shapes: Shape[] = [];
  const isTransparent = (colour: string) => /^rgba\(.*, 0\)$|\/ 0\)$/.test(colour);
  const isFilled = ({ backgroundColor, backgroundImage }: CSSStyleDeclaration) =>
    !isTransparent(backgroundColor) || backgroundImage !== "none";
  const visit = (root: Document | ShadowRoot) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) visit(element.shadowRoot);
      if (!element.checkVisibility({ visibilityProperty: true })) continue;
      for (const pseudo of ["::before", "::after"]) {
        const style = getComputedStyle(element, pseudo);
        if (style.content === '""' && isFilled(style)) shapes.push({ element, pseudo });
      }
      const { width, height } = element.getBoundingClientRect();
      const isEmpty = element.childElementCount === 0 && element.textContent.trim() === "";
      const isControl = element.matches("input, textarea, progress, meter, img, svg *, body");
      if (isEmpty && !isControl && width > 1 && height > 1 && isFilled(getComputedStyle(element)))
        shapes.push({ element, pseudo: undefined });
    }
  };
  visit(document);
  Object.assign(window, { shapes });
  return shapes.length;
}

/** Returns the found shapes that are not visible any more. */
function invisibleShapes(): string[] {
  const { shapes } = window as unknown as { shapes: Shape[] };
  const canvas = getComputedStyle(document.body).backgroundColor;
  return shapes
    .filter(({ element, pseudo }) => {
      const style = getComputedStyle(element, pseudo);
      const hasBorder = ["Top", "Right", "Bottom", "Left"].some(
        (side) => parseFloat(style[`border${side}Width` as "borderTopWidth"]) > 0,
      );
      return !hasBorder && style.backgroundColor === canvas && style.backgroundImage === "none";
    })
    .map(({ element, pseudo = "" }) => `${element.outerHTML.slice(0, 160)}${pseudo}`);
}
