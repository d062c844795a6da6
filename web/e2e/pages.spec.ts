/** Every page in every state, against canned answers: accessible, in its place, within its policy. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, startMock } from "./mock";
import { expectAccessible, expectContrast, expectNoSidewaysScroll, Watch } from "./quality";

const id = (n: number) => `01980000-0000-7000-8000-${String(n).padStart(12, "0")}`;

const PAGES = {
  "loops list": { path: "/acme/loops", ready: "Retry webhooks" },
  "new loop": { path: "/acme/loops/new", ready: "What should change?" },
  "running loop": { path: `/acme/loops/${id(10)}`, ready: "Tool: Read(package.json)" },
  "loop with results": { path: `/acme/loops/${id(11)}`, ready: "Pull request opened" },
  "loop with a plan": { path: `/acme/loops/${id(12)}`, ready: "print, exit 0" },
  "held loop": { path: `/acme/loops/${id(14)}`, ready: "Waiting for approval on its desktop" },
  "failed loop": { path: `/acme/loops/${id(13)}`, ready: "rate limit was reached" },
  "asking loop": { path: `/acme/loops/${id(17)}`, ready: "Should the total be rounded" },
  document: { path: "/acme/implementation-plans/plan-1", ready: "print, exit 0" },
  approvals: { path: "/acme/approvals", ready: "waits 1 min" },
  "unknown loop": { path: "/acme/loops/nope", ready: "Not found" },
  "unknown page": { path: "/acme/nope/nope", ready: "There is no such page" },
  "command signing": { path: "/acme/settings/signing", ready: "No browser is registered" },
  profile: { path: "/acme/settings", ready: "The browsers in which you are signed in" },
  members: { path: "/acme/settings/members", ready: "Ben Lindqvist" },
  organization: { path: "/acme/settings/organization", ready: "One loop may spend" },
  desktops: { path: "/acme/settings/desktops", ready: "online, Linux, shared" },
  repositories: { path: "/acme/settings/repositories", ready: "acme/shop" },
  agents: { path: "/acme/settings/agents", ready: "payments-domain" },
  agent: { path: "/acme/settings/agents/payments", ready: "Restore" },
  "API keys": { path: "/acme/settings/keys", ready: "There is no key" },
  usage: { path: "/acme/settings/usage", ready: "By person" },
  "audit log": { path: "/acme/settings/audit-log", ready: "by Ada Okafor" },
  "an invitation": { path: "/join?token=mock", ready: "You are invited as new@example.org" },
  "a used invitation": { path: "/join?token=used", ready: "This invitation does not count" },
  "signed out": { path: "/signed-out", ready: "You are signed out" },
  "no link": { path: "/sign-in", ready: "Sign in with a link" },
};

let mock: Mock;
test.beforeEach(async () => {
  mock = await startMock();
});
test.afterEach(() => mock.stop());

async function signIn(page: Page): Promise<void> {
  await page.goto(`${mock.origin}/sign-in?token=mock`);
  await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
}

const open = (page: Page, path: string) => page.goto(mock.origin + path);

for (const [name, { path, ready }] of Object.entries(PAGES)) {
  test(`${name}: accessible in both themes, fits a phone, asks nobody else`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await signIn(page);
    const watch = new Watch(page, mock.origin);
    await open(page, path);
    await expect(page.getByText(ready).first()).toBeVisible();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await expectContrast(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoSidewaysScroll(page);
    watch.expectClean();
  });
}

test("a used link leads to the page for whom is signed in, and says so to others", async ({
  page,
}) => {
  await open(page, "/sign-in?token=spent");
  await expect(page.getByText("This link is used up")).toBeVisible();
  await expectAccessible(page);
  await signIn(page);
  await open(page, "/sign-in?token=spent");
  await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
});

test("people sign in with a password or at their provider, and read why it did not work", async ({
  page,
}) => {
  await page.route("**/auth/methods", (route) =>
    route.fulfill({ json: { success: true, data: { password: true, oidc: "Acme ID" } } }),
  );
  await open(page, "/sign-in?error=oidc_no_account&returnTo=%2Facme%2Floops%2Fnew");
  await expect(page.getByText("Ask an administrator for an invitation")).toBeVisible();
  await expectAccessible(page);
  await expect(page.getByRole("link", { name: "Continue with Acme ID" })).toHaveAttribute(
    "href",
    "/auth/oidc/start?returnTo=%2Facme%2Floops%2Fnew",
  );
  await page.getByLabel("E-mail address").fill("ada@example.org");
  await page.getByLabel("Password").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText("the password is wrong")).toBeVisible();
  await page.getByLabel("Password").fill("right");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByLabel("What should change?")).toBeVisible();
});

test("administrators invite, change roles, hand keys out and open repositories", async ({
  page,
}) => {
  await signIn(page);
  await open(page, "/acme/settings/members");
  await page.getByLabel("E-mail address").fill("new@example.org");
  await page.getByLabel("Role", { exact: true }).selectOption("Administrator");
  await page.getByRole("button", { name: "Invite" }).click();
  await expect(page.getByText("/join?token=mock")).toBeVisible();
  await page.getByRole("button", { name: /Take the invitation of new/ }).click();
  await expect(page.getByText("No invitation is open.")).toBeVisible();
  await page.getByLabel("Role of Ben Lindqvist").selectOption("Administrator");
  await expect(page.getByLabel("Role of Ben Lindqvist")).toHaveValue("org:admin");

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name").fill("deploy");
  await page.getByLabel("Write").check();
  await page.getByRole("button", { name: "Create key" }).click();
  await expect(page.getByText(/^lgk_live_0{64}$/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Revoke deploy" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText("There is no key.")).toBeVisible();

  await page.getByRole("link", { name: "Repositories" }).click();
  await page.getByLabel("Repository", { exact: true }).fill("not a name");
  await page.getByRole("button", { name: "Allow" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByLabel("Repository", { exact: true }).fill("acme/docs");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("button", { name: "Close acme/docs" }).click();
  await expect(page.getByText("acme/docs")).toBeHidden();

  await page.getByRole("link", { name: "Audit log" }).click();
  await page.getByLabel("Only this action").selectOption("Role changed");
  await expect(page.getByText("Signed in by")).toBeHidden();
});

test("an agent is changed with a reason, and an earlier version comes back", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/settings/agents");
  await page.getByLabel("Search agents").fill("none of these");
  await expect(page.getByText("No agent fits.")).toBeVisible();
  await page.getByLabel("Search agents").fill("pay");
  await page.getByRole("link", { name: "Payments" }).click();
  await page.getByLabel("Prompt").fill("You know every payment.");
  await page.getByLabel("Why?").fill("Shorter");
  await page.getByRole("button", { name: "Save as version 3" }).click();
  await expect(page.getByText("Version 3", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await expect(page.getByText("Restored version 1")).toBeVisible();
  await expect(page.getByLabel("Prompt")).toHaveValue("You know payments.");
  await page.getByRole("button", { name: "Turn off" }).click();
  await expect(page.getByRole("button", { name: "Turn on" })).toBeVisible();
});

test("an invitation is accepted with a new account", async ({ page }) => {
  await open(page, "/join?token=mock");
  await page.getByLabel("First name").fill("Noor");
  await page.getByLabel("Password").fill("a long password");
  await page.getByRole("button", { name: "Join" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
});

test("a browser is registered to sign commands, and removed again", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/settings/signing");
  await page.getByRole("button", { name: "Register this browser" }).click();
  await expect(page.getByText(/This browser, registered/)).toBeVisible();
  await expect(page.getByText(/loopgate keys authorize lg:[\w-]{22}$/)).toBeVisible();
  await expectAccessible(page);
  await page.reload();
  await expect(page.getByText(/This browser, registered/)).toBeVisible();
  await page.getByRole("button", { name: /^Remove lg:/ }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText("No browser is registered")).toBeVisible();
});

test("the address of a plan without an organization leads to the plan", async ({ page }) => {
  await signIn(page);
  await open(page, "/implementation-plans/plan-1");
  await expect(page).toHaveURL(/\/acme\/implementation-plans\/plan-1$/);
  await expect(page.getByText("print, exit 0").first()).toBeVisible();
});

test("without a session every page leads to the signed-out page", async ({ page }) => {
  await open(page, `/acme/loops/${id(10)}`);
  await expect(page).toHaveURL(/\/signed-out$/);
});

test("a session that ends while a page is open leads to the signed-out page", async ({
  page,
  context,
}) => {
  await signIn(page);
  await context.clearCookies();
  await expect(page).toHaveURL(/\/signed-out$/, { timeout: 20_000 });
});

test("a new tab and a reload stay signed in, and the cookie without the page's key does not", async ({
  page,
  context,
}) => {
  await signIn(page);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
  const tab = await context.newPage();
  await open(tab, "/");
  await expect(tab.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
  // The cookie of an earlier version, or one that another program on this host has set.
  await tab.evaluate(() => window.localStorage.clear());
  await open(tab, "/");
  await expect(tab).toHaveURL(/\/signed-out$/);
});

test("the list is filtered by chips that live in the address", async ({ page }) => {
  await signIn(page);
  const rows = page.getByRole("row");
  await page.getByRole("button", { name: "Failed" }).click();
  await expect(rows).toHaveCount(2);
  await expect(page.getByRole("link", { name: "Move the price rules" })).toBeVisible();
  await page.getByRole("button", { name: "Plan" }).click();
  await expect(page.getByText("No loop matches the filters")).toBeVisible();
  await page.reload();
  await expect(page.getByText("No loop matches the filters")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(rows).toHaveCount(9);
});

test("the wish page by keyboard alone: n, wish, repository from the gateway, Ctrl+Enter", async ({
  page,
}) => {
  await signIn(page);
  await page.keyboard.press("n");
  await expect(page.getByLabel("What should change?")).toBeFocused();
  await page.keyboard.type("Say hello");
  await page.keyboard.press("Tab");
  await page.keyboard.type("check");
  await expect(page.getByRole("option", { name: "acme/checkout-service" })).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Repository")).toHaveValue("acme/checkout-service");
  await expect(page.getByLabel("Start from branch")).toHaveValue("develop");
  await page.getByLabel("What should change?").press("Control+Enter");
  await expect(page).toHaveURL(/\/acme\/loops\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("heading", { name: "Say hello" })).toBeVisible();
});

test("a wish that lacks something is not sent, and says what is missing", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/loops/new");
  await page.getByLabel("Repository").fill("not a repository");
  await page.getByRole("button", { name: "Make a plan" }).click();
  await expect(page.getByText("Say what should change.")).toBeVisible();
  await expect(page.getByText("Write it as owner/repository")).toBeVisible();
  await expect(page.getByLabel("What should change?")).toBeFocused();
  await expect(page).toHaveURL(/\/loops\/new$/);
});

test("a running loop is stopped after a question", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(10)}`);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Keep it" }).click();
  await expect(page.getByText("Running").first()).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop the loop" }).click();
  await expect(page.getByText("Stopped").first()).toBeVisible();
});

test("the output of 7,500 lines keeps few of them in the page, and follows until scrolled", async ({
  page,
}) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(11)}`);
  await page.getByRole("tab", { name: "Output" }).click();
  const log = page.getByRole("log");
  await expect(log.getByText("Completed")).toBeVisible();
  await expect(page.getByText(/older lines not shown/)).toBeVisible();
  expect(await log.locator("[data-index]").count()).toBeLessThan(120);
  await log.hover();
  await page.mouse.wheel(0, -4_000);
  await expect(log.getByText("Completed")).toBeHidden();
  await page.getByRole("button", { name: "To the end" }).click();
  await expect(log.getByText("Completed")).toBeVisible();
});

test("a loop that waits for approval shows the command that approves it", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(14)}`);
  await expect(page.getByText("The owner of that machine decides whether it starts")).toBeVisible();
  const command = page.getByText("loopgate approvals approve 00000073", { exact: true });
  await expect(command).toBeVisible();
  await expect(page.getByText("Waiting for approval", { exact: true })).toBeVisible();
  await expect(page.getByText("first words")).toBeHidden();
});

test("the facts of a loop are whole on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 860 });
  await signIn(page);
  await open(page, `/acme/loops/${id(12)}`);
  const note = page.getByText(/61,480 in · 5,210 out · .* cached/);
  await expect(note).toBeVisible();
  expect(await note.evaluate((text) => text.scrollWidth - text.clientWidth)).toBeLessThanOrEqual(0);
});

test("an error explains itself and opens its details", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(13)}`);
  await expect(page.getByText("Wait until the limit resets")).toBeVisible();
  await page.getByText("Technical details").click();
  await expect(page.getByText("RUNNER_ERROR / ASSISTANT_RATE_LIMIT")).toBeVisible();
});

test("a loop that asks is answered on its page", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(17)}`);
  const question = page.getByRole("region", { name: "Question" });
  const go = question.getByRole("button", { name: "Answer and go on" });
  await expect(go).toBeDisabled();
  await question.getByLabel("Your answer").fill("Round the total.");
  const sent = page.waitForRequest((request) => request.url().endsWith(`/loops/${id(17)}/resume`));
  await go.click();
  expect((await sent).postDataJSON()).toEqual({ prompt: "Round the total." });
  await expect(page).not.toHaveURL(new RegExp(id(17)));
});

test("what waits is counted on every page, and shown with the command that decides", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page);
  await page.getByRole("link", { name: "2 requests wait for you" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Waiting for approval");
  const requests = page.getByRole("list", { name: "Waiting requests" }).getByRole("listitem");
  const [first, second] = [requests.first(), requests.nth(1)];
  await expect(first.getByText("/home/dev/src/webhooks")).toBeVisible();
  await expect(first.getByText("https://loopgate.example.com")).toBeVisible();
  await expect(first.getByText(/waits 1 min 3\d s more/)).toBeVisible();
  await expect(second.getByText("the control plane")).toBeVisible();
  await first.getByRole("button", { name: "Copy the command that approves" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    "loopgate approvals approve 00000071",
  );
  // Nothing on the page decides.
  await expect(page.getByRole("main").getByRole("button", { name: /^(?!Cop)/ })).toHaveCount(0);
});

test("a plan that was executed is executed again only after a question", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/implementation-plans/plan-1");
  await page.getByRole("button", { name: "Execute again" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Execute this plan again?" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toBeHidden();
  await page.getByRole("button", { name: "Execute again" }).click();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Execute again" }).click();
  await expect(page).toHaveURL(/\/acme\/loops\/[0-9a-f-]{36}$/);
});

for (const width of [1280, 390]) {
  test(`a double click that starts a loop does not reach Stop, ${width} px wide`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height: 860 });
    await signIn(page);
    await open(page, `/acme/loops/${id(13)}`);
    const start = page.getByRole("button", { name: "Run again" });
    const from = await start.boundingBox();
    await start.click();
    const to = await page.getByRole("button", { name: "Stop" }).boundingBox();
    if (!from || !to) throw new Error("both buttons are on the page");
    const beside = from.x + from.width <= to.x || to.x + to.width <= from.x;
    const below = from.y + from.height <= to.y || to.y + to.height <= from.y;
    expect(beside || below, JSON.stringify({ from, to })).toBe(true);
  });

  test(`a title of one long word stays within its page, ${width} px wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 860 });
    await signIn(page);
    const title = "unbreakable".repeat(20);
    const retitle = (path: string, change: (data: Record<string, object | string>) => void) =>
      page.route(path, async (route) => {
        const answer = (await (await route.fetch()).json()) as { data: Record<string, object> };
        change(answer.data);
        await route.fulfill({ json: answer });
      });
    await retitle(`${mock.origin}/loops/${id(10)}`, (data) =>
      Object.assign(data.document ?? {}, { title }),
    );
    await retitle(`${mock.origin}/documents/plan-1`, (data) => Object.assign(data, { title }));
    for (const path of [`/acme/loops/${id(10)}`, "/acme/implementation-plans/plan-1"]) {
      await open(page, path);
      const heading = page.getByRole("heading", { level: 1, name: title });
      await expect(heading).toBeVisible();
      const hidden = await heading.evaluate((h1) => h1.scrollWidth - h1.clientWidth);
      expect(hidden, path).toBeLessThanOrEqual(0);
      await expectNoSidewaysScroll(page);
    }
  });
}

test("a wish that is being written outlives a reload and a sign-out, and not its sending", async ({
  page,
}) => {
  const wish = page.getByLabel("What should change?");
  await signIn(page);
  await open(page, "/acme/loops/new");
  await wish.fill("Say good night");
  await page.getByLabel("Repository").fill("acme/moon");
  await page.reload();
  await expect(wish).toHaveValue("Say good night");
  await expect(page.getByLabel("Repository")).toHaveValue("acme/moon");
  await page.getByRole("button", { name: /Account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/signed-out$/);
  await signIn(page);
  await open(page, "/acme/loops/new");
  await expect(wish).toHaveValue("Say good night");
  await page.getByRole("button", { name: "Make a plan" }).click();
  await expect(page.getByRole("heading", { name: "Say good night" })).toBeVisible();
  await open(page, "/acme/loops/new");
  await expect(wish).toHaveValue("");
});

test("no desktop is shown as online while the control plane does not answer", async ({
  page,
  context,
}) => {
  await signIn(page);
  const desktops = page.getByRole("button", { name: /^Desktops: / });
  await expect(desktops).toHaveAccessibleName("Desktops: studio-7");
  await context.setOffline(true);
  await expect(desktops).toHaveAccessibleName("Desktops: Desktop unknown", { timeout: 25_000 });
  await expect(desktops.locator(".bg-ok")).toHaveCount(0);
  await desktops.click();
  await expect(page.getByText("The control plane does not answer")).toBeVisible();
  await context.setOffline(false);
  await expect(desktops).toHaveAccessibleName("Desktops: studio-7", { timeout: 25_000 });
});

test("a chosen theme outlives the page", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await signIn(page);
  await page.getByRole("button", { name: /Account/ }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("a plan shows its versions", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/implementation-plans/plan-1");
  await page.getByLabel("Version").selectOption("1");
  await expect(page.getByRole("heading", { name: "An earlier draft" })).toBeVisible();
});

const DIAGRAMS = "/acme/implementation-plans/plan-1";

async function turnOnDiagramViewer(page: Page): Promise<void> {
  const answer = await page.request.put(`${mock.origin}/feature-flags/mermaid-enhancements`, {
    headers: { "x-session-key": "mock" },
    data: { enabled: true },
  });
  expect(answer.ok()).toBe(true);
}

// CP-45
test("diagrams are still until the organization turns the viewer on", async ({ page }) => {
  await signIn(page);
  await open(page, DIAGRAMS);
  const diagrams = page.getByRole("figure", { name: "Diagram" });
  await expect(diagrams).toHaveCount(2);
  await expect(diagrams.first().locator("svg[viewBox]").first()).toBeVisible();
  await expect(page.getByRole("toolbar", { name: "Diagram" })).toHaveCount(0);
  await turnOnDiagramViewer(page);
  await page.reload();
  await expect(page.getByRole("toolbar", { name: "Diagram" })).toHaveCount(2);
});

test("a diagram is moved, zoomed and fitted, and fills the screen alone", async ({ page }) => {
  const watch = new Watch(page, mock.origin);
  await signIn(page);
  await turnOnDiagramViewer(page);
  await open(page, DIAGRAMS);
  const [first, second] = [0, 1].map((n) => page.getByRole("figure", { name: "Diagram" }).nth(n));
  if (!first || !second) throw new Error("two diagrams");
  const canvas = first.getByRole("application");
  const drawing = canvas.locator("> div");
  const place = async () => {
    const box = await drawing.boundingBox();
    if (!box) throw new Error("the drawing is shown");
    return box;
  };
  await expect(canvas.getByText("print, exit 0")).toBeVisible();
  await expectAccessible(page);
  await canvas.scrollIntoViewIfNeeded();
  const fitted = await place();

  // The wheel moves the drawing, never the page.
  await canvas.hover();
  const scrolled = await page.evaluate(() => window.scrollY);
  await page.mouse.wheel(30, 50);
  await expect.poll(async () => (await place()).y).toBeCloseTo(fitted.y - 50, 0);
  expect((await place()).x).toBeCloseTo(fitted.x - 30, 0);
  expect(await page.evaluate(() => window.scrollY)).toBe(scrolled);

  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(async () => (await place()).x).toBeCloseTo(fitted.x - 70, 0);
  await page.keyboard.press("0");
  await expect.poll(place).toEqual(fitted);

  // Dragged with the left button.
  const centre = { x: fitted.x + fitted.width / 2, y: fitted.y + fitted.height / 2 };
  await page.mouse.move(centre.x, centre.y);
  await page.mouse.down();
  await page.mouse.move(centre.x + 60, centre.y - 20, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await place()).x).toBeCloseTo(fitted.x + 60, 0);
  await canvas.dblclick();
  await expect.poll(place).toEqual(fitted);

  // Enlarged, an overview leads to another part.
  await expect(first.getByTestId("overview")).toHaveCount(0);
  for (let press = 0; press < 4; press += 1)
    await first.getByRole("button", { name: "Zoom in" }).click();
  await expect(first.getByTestId("overview")).toBeVisible();
  const enlarged = await place();
  expect(enlarged.width / fitted.width).toBeCloseTo(1.15 ** 4, 1);
  await first.getByTestId("overview").click({ position: { x: 4, y: 4 } });
  await expect.poll(async () => (await place()).x).toBeGreaterThan(enlarged.x);

  const download = page.waitForEvent("download");
  await first.getByRole("button", { name: "Download SVG" }).click();
  expect((await download).suggestedFilename()).toBe("mermaid-diagram.svg");
  const picture = page.waitForEvent("download");
  await first.getByRole("button", { name: "Download PNG" }).click();
  expect((await picture).suggestedFilename()).toBe("mermaid-diagram.png");

  const moved = first.getByText(/^\d+ %$/);
  const percentage = await moved.textContent();
  await first.getByRole("button", { name: "Fullscreen" }).click();
  await expect(first.getByRole("button", { name: "Leave fullscreen" })).toBeVisible();
  await expect(second.getByRole("button", { name: "Leave fullscreen" })).toHaveCount(0);
  await expect(moved).toHaveText(percentage ?? "");
  await canvas.focus();
  await page.keyboard.press("f");
  await expect(first.getByRole("button", { name: "Fullscreen" })).toBeVisible();

  await first.getByRole("button", { name: "Source" }).click();
  await expect(first.getByText("flowchart LR")).toBeVisible();
  await first.getByRole("button", { name: "Diagram" }).click();
  await expect(canvas.getByText("print, exit 0")).toBeVisible();
  watch.expectClean();
});
