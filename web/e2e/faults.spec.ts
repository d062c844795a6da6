/** Faults of people, networks, servers and browsers while something is sent: nothing is sent twice, and no text is lost. */
import { expect, type Locator, type Page, type Response, type Route, test } from "@playwright/test";

import { ACTIONS, type Action, DRAFT_TEXT, isRequestOf, prepare } from "./actions";
import { id, useMock } from "./mock";

// A visible response to an action, also when the server needs longer. On a machine that does nothing else, it takes less
// than 100 ms; other tests use the same cores.
const RESPONSE_LIMIT_MS = 800;
// Repetitions of a key that is held for two seconds.
const REPETITIONS = 60;

// With findings and a deployment, and with loops that do not end during a test: a plan with another version is another
// request.
const mock = useMock({ REVIEWED: "1", DEPLOYMENT: "running", LOOP_EVENT_MS: "60000" });
const { open, signIn } = mock;
const starts = ACTIONS.filter(({ startsLoop }) => startsLoop);

/** Handles the requests of an action. */
const intercept = (page: Page, action: Action, handle: (route: Route) => Promise<void> | void) =>
  page.route("**/*", (route) =>
    isRequestOf(action, route.request()) ? handle(route) : route.fallback(),
  );

/** Opens what contains the control of an action, if the page does not show it any more. */
async function showAgain(page: Page, action: Action): Promise<void> {
  await expect(page.locator("h1").first()).toBeVisible();
  if (action.reveal && !(await action.control(page).isVisible())) await action.reveal(page);
}

/** Returns the place of a control, which the page may render again in the meantime. */
async function boxOf(control: Locator) {
  for (;;) {
    const box = await control.boundingBox();
    if (box) return box;
  }
}

async function loopCount(page: Page): Promise<number> {
  const answer = await page.request.get(`${mock.origin}/loops?limit=1&count=true`, {
    headers: { "x-session-key": "mock" },
  });
  return ((await answer.json()) as { total: number }).total;
}

test("double click sends one request, whatever it starts", async ({ page }) => {
  test.setTimeout(300_000);
  await signIn(page);
  for (const action of ACTIONS) {
    await test.step(action.name, async () => {
      const held: Route[] = [];
      await intercept(page, action, (route) => void held.push(route));
      await (await prepare(page, mock.origin, action)).dblclick();
      await expect.poll(() => held.length, { message: action.name }).toBe(1);
      const settled = page.waitForResponse((response) => isRequestOf(action, response.request()));
      await held[0]?.continue();
      await settled;
      expect(held, action.name).toHaveLength(1);
      await page.unrouteAll();
    });
  }
});

for (const width of [1280, 390]) {
  test(`double click on Resume does not hit Cancel loop, ${width} px wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 860 });
    await signIn(page, `/acme/loops/${id(13)}`);
    const start = page.getByRole("button", { name: "Resume" });
    // Waits until the button no longer moves.
    await start.hover();
    const from = await boxOf(start);
    await start.click();
    const to = await boxOf(page.getByRole("button", { name: "Cancel loop" }));
    const horizontallyApart = from.x + from.width <= to.x || to.x + to.width <= from.x;
    const verticallyApart = from.y + from.height <= to.y || to.y + to.height <= from.y;
    expect(horizontallyApart || verticallyApart, JSON.stringify({ from, to })).toBe(true);
  });
}

test("every action has a visible response before the server responds", async ({ page }) => {
  test.setTimeout(300_000);
  await signIn(page);
  const delays: Record<string, number> = {};
  for (const action of ACTIONS) {
    await test.step(action.name, async () => {
      const held: Route[] = [];
      await intercept(page, action, (route) => void held.push(route));
      const control = await prepare(page, mock.origin, action);
      await control.hover();
      await page.evaluate(observeResponse);
      await control.click();
      await expect.poll(() => held.length, { message: action.name }).toBeGreaterThan(0);
      delays[action.name] = await page.evaluate(
        () => (window as unknown as { response: Promise<number> }).response,
      );
      await held[0]?.abort();
      await page.unrouteAll();
    });
  }
  const late = Object.entries(delays).filter(([, delay]) => delay > RESPONSE_LIMIT_MS);
  expect(late, JSON.stringify(delays)).toEqual([]);
});

/** Measures the time from the next click to the first frame after the page has changed. */
function observeResponse(): void {
  const response = new Promise<number>((resolve) => {
    window.addEventListener(
      "pointerdown",
      ({ timeStamp }) => {
        const observer = new MutationObserver(() => {
          observer.disconnect();
          requestAnimationFrame(() => resolve(performance.now() - timeStamp));
        });
        observer.observe(document.body, { subtree: true, childList: true, attributes: true });
      },
      { capture: true, once: true },
    );
  });
  Object.assign(window, { response });
}

for (const isReloaded of [false, true]) {
  const name = isReloaded ? " after a reload" : "";
  test(`response that is lost, and the request that is repeated${name}, start one loop`, async ({
    page,
  }) => {
    test.setTimeout(180_000);
    await signIn(page);
    for (const action of starts) {
      await test.step(action.name, async () => {
        const before = await loopCount(page);
        const control = await prepare(page, mock.origin, action);
        let isLost = true;
        await intercept(page, action, async (route) => {
          if (!isLost) return route.fallback();
          isLost = false;
          await route.fetch();
          await route.abort("connectionreset");
        });
        await control.click();
        await expect(page.getByRole("alert").filter({ hasText: "not " }).first()).toBeVisible();
        if (isReloaded) await page.reload();
        await showAgain(page, action);
        await control.click();
        await expect(page).not.toHaveURL(mock.origin + action.path);
        expect(await loopCount(page), action.name).toBe(before + 1);
        await page.unrouteAll();
      });
    }
  });
}

test("request that is repeated in another tab before a response arrived starts one loop", async ({
  page,
  context,
}) => {
  test.setTimeout(180_000);
  await signIn(page);
  const other = await context.newPage();
  // Each tab creates other comments of the threads: the request of the second one is refused as another one.
  for (const action of starts.filter(({ name }) => name !== "address comments")) {
    await test.step(action.name, async () => {
      const before = await loopCount(page);
      // Both tabs are open before the first of them sends something.
      const first = await prepare(page, mock.origin, action);
      const second = await prepare(other, mock.origin, action);
      await intercept(page, action, async (route) => {
        await route.fetch();
        await route.abort("connectionreset");
      });
      await first.click();
      await expect(page.getByRole("alert").filter({ hasText: "not " }).first()).toBeVisible();
      await second.click();
      await expect(other).not.toHaveURL(mock.origin + action.path);
      expect(await loopCount(page), action.name).toBe(before + 1);
      await page.unrouteAll();
    });
  }
});

test("signed request for changes whose response is lost starts one loop", async ({ page }) => {
  await page.route("**/compute-targets", async (route) => {
    const response = await route.fetch();
    const { data, ...envelope } = (await response.json()) as {
      data: { capabilities: object }[];
    };
    const signed = data.map((target) => ({
      ...target,
      capabilities: { ...target.capabilities, commandSigningRequired: true },
    }));
    await route.fulfill({ response, json: { ...envelope, data: signed } });
  });
  await page.route("**/run-loop/preview", async (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    const document = await page.request.get(
      mock.origin + pathname.replace("/run-loop/preview", ""),
      { headers: { "x-session-key": "mock" } },
    );
    const { data } = (await document.json()) as {
      data: { id: string; type: string; content: string; currentVersion: number };
    };
    const { command, prompt, repo } = request.postDataJSON() as Record<string, unknown>;
    const { id, type, content, currentVersion: version } = data;
    const artifacts = [{ id, type, content }];
    const launch = { command: String(command).toUpperCase(), prompt, repo, artifacts };
    await route.fulfill({ json: { success: true, data: { documentId: id, version, launch } } });
  });
  await signIn(page, "/acme/settings/signing");
  await page.getByRole("button", { name: "Register this browser" }).click();
  await expect(page.getByText(/This browser, registered/)).toBeVisible();
  const action = starts.find(({ name }) => name === "request changes of code");
  if (!action) throw new Error("the action must exist");
  const before = await loopCount(page);
  const bodies: { userIntentSignature?: object }[] = [];
  await intercept(page, action, async (route) => {
    bodies.push(route.request().postDataJSON() as object);
    if (bodies.length > 1) return route.fallback();
    await route.fetch();
    await route.abort("connectionreset");
  });
  const control = await prepare(page, mock.origin, action);
  await control.click();
  await expect(page.getByRole("alert").filter({ hasText: "not " }).first()).toBeVisible();
  await control.click();
  await expect(page).not.toHaveURL(mock.origin + action.path);
  expect(bodies).toHaveLength(2);
  for (const body of bodies) expect(body.userIntentSignature).toBeTruthy();
  expect(await loopCount(page)).toBe(before + 1);
});

test("comment that is added while the server is suspended is stored once", async ({ page }) => {
  await signIn(page, `/acme/loops/${id(11)}?tab=changes`);
  await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
  const text = page.getByRole("textbox", { name: "Comment" });
  await text.fill(DRAFT_TEXT);
  const comments: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "PUT") comments.push(new URL(request.url()).pathname);
  });
  mock.suspend();
  await page.getByRole("button", { name: "Add comment" }).click();
  // Again, while the first request waits.
  await text.press("Control+Enter");
  await expect(text).toHaveValue(DRAFT_TEXT);
  mock.resume();
  await expect(page.getByRole("article", { name: /^Comment on src\/webhooks/ })).toHaveText(
    new RegExp(DRAFT_TEXT),
  );
  await expect(page.getByRole("button", { name: "Finish review (1)" })).toBeVisible();
  await expect(text).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("button", { name: "Finish review (1)" })).toBeVisible();
  expect(comments.filter((path) => path.includes("/comments/"))).toHaveLength(1);
});

test("comment whose response is lost is kept, and stored once when it is added again", async ({
  page,
}) => {
  await signIn(page, `/acme/loops/${id(11)}?tab=changes`);
  await page.getByRole("button", { name: "Comment on src/webhooks/retry.ts" }).click();
  const text = page.getByRole("textbox", { name: "Comment" });
  await text.fill(DRAFT_TEXT);
  await page.route(
    "**/comments/*",
    async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    },
    { times: 1 },
  );
  await page.getByRole("button", { name: "Add comment" }).click();
  await expect(page.getByText("The comment could not be stored")).toBeVisible();
  await page.reload();
  await expect(text).toHaveValue(DRAFT_TEXT);
  await page.getByRole("button", { name: "Add comment" }).click();
  await expect(text).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Finish review (1)" })).toBeVisible();
});

test("session that ends before a request leads back to the page and its text", async ({ page }) => {
  test.setTimeout(180_000);
  await signIn(page);
  for (const action of ACTIONS.filter(({ isOfGateway }) => !isOfGateway)) {
    await test.step(action.name, async () => {
      const control = await prepare(page, mock.origin, action);
      const text = await action.draft?.(page).inputValue();
      await intercept(page, action, (route) =>
        route.fulfill({ status: 401, json: { success: false, error: "Unauthorized" } }),
      );
      await control.click();
      await expect(page).toHaveURL(
        (url) => url.pathname === "/signed-out" && url.searchParams.get("returnTo") === action.path,
      );
      await page.unrouteAll();
      await page.getByRole("link", { name: "I am already signed in" }).click();
      await expect(page).toHaveURL(mock.origin + action.path);
      if (!action.draft || text === undefined) return;
      await showAgain(page, action);
      await expect(action.draft(page), action.name).toHaveValue(text);
    });
  }
});

test("text that is typed while a request is under way is kept, or not accepted", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page);
  for (const action of ACTIONS) {
    const { draft, path, name } = action;
    // Short texts of settings are not continued after they are sent.
    if (!draft || action.text !== undefined) continue;
    await test.step(name, async () => {
      const control = await prepare(page, mock.origin, action);
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      await intercept(page, action, async (route) => {
        await released;
        await route.continue();
      });
      const answered = page.waitForResponse((response) => isRequestOf(action, response.request()));
      await control.click();
      await draft(page).press("End");
      await page.keyboard.type(", and this");
      const typed = await draft(page).inputValue();
      release();
      await (await answered).finished();
      await page.unrouteAll({ behavior: "wait" });
      if (typed === DRAFT_TEXT) return;
      await expect(page.locator("button[aria-busy=true]")).toHaveCount(0);
      await page.goto(mock.origin + path);
      await showAgain(page, action);
      await expect(draft(page), name).toHaveValue(typed);
    });
  }
});

test("network that is off for a second at each click: everything is carried out once", async ({
  page,
  context,
}) => {
  test.setTimeout(300_000);
  await signIn(page);
  for (const action of ACTIONS) {
    await test.step(action.name, async () => {
      const before = await loopCount(page);
      const control = await prepare(page, mock.origin, action);
      await expect(control).toBeEnabled();
      let carriedOut = 0;
      const count = (response: Response) => {
        if (isRequestOf(action, response.request()) && response.ok()) carriedOut += 1;
      };
      page.on("response", count);
      await context.setOffline(true);
      // A second in which the control sends nothing, or is disabled because another request failed first.
      await control.click({ timeout: 1_000 }).catch(() => undefined);
      await context.setOffline(false);
      await expect(page.getByText("Loopgate is not responding. Last")).toBeHidden();
      // A request that needs another one waits for the network, and is sent now. Its control is busy until then.
      const busy = page.locator("button[aria-busy=true]");
      await expect
        .poll(async () => carriedOut > 0 || (await busy.count()) === 0, { message: action.name })
        .toBe(true);
      if (carriedOut === 0) {
        await showAgain(page, action);
        if (action.draft) await expect(action.draft(page)).toHaveValue(action.text ?? DRAFT_TEXT);
        await control.click();
      }
      await expect.poll(() => carriedOut, { message: action.name }).toBe(1);
      page.off("response", count);
      if (!action.startsLoop) return;
      await expect(page).not.toHaveURL(mock.origin + action.path);
      expect(await loopCount(page), action.name).toBe(before + 1);
    });
  }
});

for (const [name, path, label] of [
  ["request", "/acme/new", "Describe the change"],
  ["answer", `/acme/loops/${id(17)}`, "Your answer"],
] as const) {
  test(`Ctrl+Enter that is held for two seconds sends one ${name}`, async ({ page }) => {
    await signIn(page, path);
    const before = await loopCount(page);
    if (name === "request") await page.getByLabel("Repository").fill("acme/shop");
    await page.getByLabel(label).fill(DRAFT_TEXT);
    await page.keyboard.down("Control");
    // Each press without a release between them is a repetition.
    for (let press = 0; press < REPETITIONS; press += 1) await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    await page.keyboard.up("Control");
    await expect(page).not.toHaveURL(mock.origin + path);
    expect(await loopCount(page)).toBe(before + 1);
  });
}

test("server that is suspended for a minute is reported, and the page continues", async ({
  page,
}) => {
  // The clock of the page also controls the time limits of its requests.
  await page.addInitScript(() => {
    AbortSignal.timeout = (delay) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DOMException("timed out", "TimeoutError")), delay);
      return controller.signal;
    };
  });
  await page.clock.install();
  await signIn(page, `/acme/loops/${id(10)}`);
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  const bar = page.getByText("Loopgate is not responding. Last update");
  mock.suspend();
  await page.clock.fastForward(30_000);
  await expect(async () => {
    await page.clock.fastForward(2_000);
    await expect(bar).toBeVisible({ timeout: 100 });
  }).toPass();
  await page.clock.fastForward(30_000);
  await expect(bar).toBeVisible();
  await expect(page.getByRole("button", { name: "Cancel loop" })).toBeDisabled();
  mock.resume();
  await expect(async () => {
    await page.clock.fastForward(2_000);
    await expect(bar).toBeHidden({ timeout: 100 });
  }).toPass();
  await expect(page.getByRole("button", { name: "Cancel loop" })).toBeEnabled();
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
});

test.describe("with code that is not loaded in advance", () => {
  test.beforeEach(async ({ page }) => {
    await page.addInitScript(() => Reflect.deleteProperty(window, "requestIdleCallback"));
    await signIn(page, "/acme/work");
    await expect(page.getByRole("heading", { level: 1, name: "Work" })).toBeVisible();
    await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
  });

  const isSameDocument = (page: Page) => page.evaluate(() => "isSameDocument" in window);

  test("chunk that fails once is loaded again", async ({ page }) => {
    await page.route("**/assets/new-loop*", (route) => route.abort(), { times: 1 });
    await page.keyboard.press("c");
    await expect(page.getByLabel("Describe the change")).toBeVisible();
    expect(await isSameDocument(page)).toBe(true);
  });

  test("server of another version: the page says so, and keeps the window", async ({ page }) => {
    await page.route("**/assets/*.js", (route) =>
      route.fulfill({ status: 404, contentType: "text/plain", body: "Not found" }),
    );
    await page.keyboard.press("c");
    await expect(
      page.getByText("Loopgate was updated. Reload the page to continue."),
    ).toBeVisible();
    expect(await isSameDocument(page)).toBe(true);
    await page.goBack();
    await expect(page.getByRole("heading", { level: 1, name: "Work" })).toBeVisible();
  });
});

for (const [name, error] of [
  ["full", "QuotaExceededError"],
  ["forbidden", "SecurityError"],
] as const) {
  test(`storage that is ${name}: the person signs in, types and sends`, async ({ page }) => {
    await page.addInitScript((error) => {
      const fail = () => {
        throw new DOMException("refused", error);
      };
      Storage.prototype.setItem = fail;
      IDBObjectStore.prototype.put = fail;
    }, error);
    await open(page, "/sign-in?token=mock");
    await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
    await page.keyboard.press("c");
    await page.getByLabel("Describe the change").fill(DRAFT_TEXT);
    await page.getByLabel("Repository").fill("acme/shop");
    await expect(page.getByText("Drafts are not kept")).toBeVisible();
    await page.getByRole("button", { name: "Create plan" }).click();
    await expect(page.getByRole("heading", { name: DRAFT_TEXT })).toBeVisible();
  });
}
