/** All pages and their states against the mock server, including accessibility and security policy. */
import { isDeepStrictEqual } from "node:util";

import { expect, type Page, type Route, test } from "@playwright/test";

import { type Mock, startMock, signInTo } from "./mock";
import { expectAccessible, expectContrast, expectNoHorizontalScroll, PageMonitor } from "./quality";

const id = (n: number) => `01980000-0000-7000-8000-${String(n).padStart(12, "0")}`;

const PAGES = {
  "loops list": { path: "/acme/loops", ready: "Retry webhooks" },
  "new loop": { path: "/acme/loops/new", ready: "Describe the change" },
  "running loop": { path: `/acme/loops/${id(10)}`, ready: "package.json" },
  "loop with results": { path: `/acme/loops/${id(11)}`, ready: "Pull request opened" },
  "loop with a plan": { path: `/acme/loops/${id(12)}`, ready: "print, exit 0" },
  "loop that needs approval": {
    path: `/acme/loops/${id(14)}`,
    ready: "Waiting for approval on the machine",
  },
  "failed loop": { path: `/acme/loops/${id(13)}`, ready: "rate limit was reached" },
  "loop with a question": { path: `/acme/loops/${id(17)}`, ready: "Should the total be rounded" },
  document: { path: "/acme/implementation-plans/plan-1", ready: "print, exit 0" },
  approvals: { path: "/acme/approvals", ready: /1 min \d\d s left/ },
  "unknown loop": { path: "/acme/loops/nope", ready: "Not found" },
  "unknown page": { path: "/acme/nope/nope", ready: "Page not found" },
  "command signing": { path: "/acme/settings/signing", ready: "No browser is registered" },
  profile: { path: "/acme/settings", ready: "The browsers in which you are signed in" },
  members: { path: "/acme/settings/members", ready: "Ben Lindqvist" },
  organization: { path: "/acme/settings/organization", ready: "Spending limit per loop" },
  machine: { path: "/acme/settings/machine", ready: "Everything required is present" },
  machines: { path: "/acme/settings/desktops", ready: "online, Linux, shared" },
  repositories: { path: "/acme/settings/repositories", ready: "acme/shop" },
  agents: { path: "/acme/settings/agents", ready: "payments-domain" },
  agent: { path: "/acme/settings/agents/payments", ready: "Restore" },
  "API keys": { path: "/acme/settings/keys", ready: "No API keys" },
  usage: { path: "/acme/settings/usage", ready: "By user" },
  "audit log": { path: "/acme/settings/audit-log", ready: "by Ada Okafor" },
  invitation: { path: "/join?token=mock", ready: "You are invited as new@example.org" },
  "reset password": { path: "/reset-password?token=mock", ready: "Set a new password" },
  "used invitation": { path: "/join?token=used", ready: "This invitation is not valid" },
  "signed out": { path: "/signed-out", ready: "You are signed out" },
  "sign-in without a link": { path: "/sign-in", ready: "Sign in with a link" },
};

let mock: Mock;
test.beforeEach(async () => {
  mock = await startMock();
});
test.afterEach(() => mock.stop());

const signIn = (page: Page) => signInTo(mock, page);

const open = (page: Page, path: string) => page.goto(mock.origin + path);

for (const [name, { path, ready }] of Object.entries(PAGES)) {
  test(`${name}: accessible in both themes, fits a phone, sends no external requests`, async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await signIn(page);
    const monitor = new PageMonitor(page, mock.origin);
    await open(page, path);
    await expect(page.getByText(ready).first()).toBeVisible();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await expectContrast(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoHorizontalScroll(page);
    monitor.expectClean();
  });
}

test("used link opens the start page for a signed-in user and shows an error otherwise", async ({
  page,
}) => {
  await open(page, "/sign-in?token=spent");
  await expect(page.getByText("This link is no longer valid")).toBeVisible();
  await expectAccessible(page);
  await signIn(page);
  await open(page, "/sign-in?token=spent");
  await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
});

test("user signs in with a password or through the provider and sees errors", async ({ page }) => {
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
  await expect(page.getByText("Wrong e-mail address or password")).toBeVisible();
  await page.getByLabel("Password").fill("right");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByLabel("Describe the change")).toBeVisible();
});

test("administrator manages invitations, roles, API keys and repositories", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/settings/members");
  await page.getByLabel("E-mail address").fill("new@example.org");
  await page.getByLabel("Role", { exact: true }).selectOption("Administrator");
  await page.getByRole("button", { name: "Invite" }).click();
  await expect(page.getByText("/join?token=mock")).toBeVisible();
  await page.getByRole("button", { name: /Revoke the invitation for new/ }).click();
  await expect(page.getByText("No pending invitations.")).toBeVisible();
  await page.getByLabel("Role of Ben Lindqvist").selectOption("Administrator");
  await expect(page.getByLabel("Role of Ben Lindqvist")).toHaveValue("org:admin");

  await page.getByRole("button", { name: /password reset link for Ben Lindqvist/ }).click();
  await expect(page.getByText("/reset-password?token=mock")).toBeVisible();

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name").fill("deploy");
  await page.getByLabel("Write").check();
  await page.getByRole("button", { name: "Create key" }).click();
  await expect(page.getByText(/^lgk_live_0{64}$/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Revoke deploy" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText("No API keys.")).toBeVisible();

  await page.getByRole("link", { name: "Repositories" }).click();
  await page.getByLabel("Repository", { exact: true }).fill("not a name");
  await page.getByRole("button", { name: "Allow" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByLabel("Repository", { exact: true }).fill("acme/docs");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("button", { name: "Remove acme/docs" }).click();
  await expect(page.getByText("acme/docs")).toBeHidden();

  await page.getByRole("link", { name: "Audit log" }).click();
  await page.getByLabel("Filter by action").selectOption("Role changed");
  await expect(page.getByText("Signed in by")).toBeHidden();
});

test("agent is edited with a reason and an earlier version is restored", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/settings/agents");
  await page.getByLabel("Search agents").fill("none of these");
  await expect(page.getByText("No matching agents.")).toBeVisible();
  await page.getByLabel("Search agents").fill("pay");
  await page.getByRole("link", { name: "Payments" }).click();
  await page.getByLabel("Prompt").fill("You know every payment.");
  await page.getByLabel("Reason for the change").fill("Shorter");
  await page.getByRole("button", { name: "Save as version 3" }).click();
  await expect(page.getByText("Version 3", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await expect(page.getByText("Restored version 1")).toBeVisible();
  await expect(page.getByLabel("Prompt")).toHaveValue("You know payments.");
  await page.getByRole("button", { name: "Disable" }).click();
  await expect(page.getByRole("button", { name: "Enable" })).toBeVisible();
});

test("invitation is accepted with a new account", async ({ page }) => {
  await open(page, "/join?token=mock");
  await page.getByLabel("First name").fill("Noor");
  await page.getByLabel("Password").fill("a long password");
  await page.getByRole("button", { name: "Join" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
});

test("new password is set with the link of an administrator", async ({ page }) => {
  await open(page, "/reset-password?token=used");
  await page.getByLabel("New password").fill("a long password");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page.getByText(/Request a new one from your administrator/)).toBeVisible();
  await open(page, "/reset-password?token=mock");
  await page.getByLabel("New password").fill("a long password");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
});

test("browser key is registered and removed", async ({ page }) => {
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

test("address of a plan without an organization redirects to the plan", async ({ page }) => {
  await signIn(page);
  await open(page, "/implementation-plans/plan-1");
  await expect(page).toHaveURL(/\/acme\/implementation-plans\/plan-1$/);
  await expect(page.getByText("print, exit 0").first()).toBeVisible();
});

test("page without a session redirects to the signed-out page", async ({ page }) => {
  await open(page, `/acme/loops/${id(10)}`);
  await expect(page).toHaveURL(/\/signed-out\b/);
});

test("page redirects to the signed-out page when the session ends", async ({ page, context }) => {
  await signIn(page);
  await context.clearCookies();
  await expect(page).toHaveURL(/\/signed-out\b/, { timeout: 20_000 });
});

test("session survives a reload and a new tab, but requires the session key", async ({
  page,
  context,
}) => {
  await signIn(page);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
  const tab = await context.newPage();
  await open(tab, "/");
  await expect(tab.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
  // The cookie alone, as another server on this host could obtain it.
  await tab.evaluate(() => window.localStorage.clear());
  await open(tab, "/");
  await expect(tab).toHaveURL(/\/signed-out\b/);
});

test("filters of the list are part of the address", async ({ page }) => {
  await signIn(page);
  const rows = page.getByRole("row");
  await page.getByRole("button", { name: "Failed" }).click();
  await expect(rows).toHaveCount(2);
  await expect(page.getByRole("link", { name: "Move the price rules" })).toBeVisible();
  await page.getByRole("button", { name: "Plan" }).click();
  await expect(page.getByText("No loops match the filters")).toBeVisible();
  await page.reload();
  await expect(page.getByText("No loops match the filters")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(rows).toHaveCount(9);
  await page.goBack();
  await expect(page.getByText("No loops match the filters")).toBeVisible();
  await page.goBack();
  await expect(rows).toHaveCount(2);
});

test("list of 214 loops is virtualized, paged, searched and filtered by the server", async ({
  page,
}) => {
  const many = await startMock(undefined, 206);
  const requests: URLSearchParams[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    const query = url.searchParams;
    // Not the requests of the navigation, which counts what needs the person.
    if (url.pathname === "/loops" && (query.has("count") || query.has("after")))
      requests.push(query);
  });
  try {
    await signInTo(many, page);
    await expect(page.getByText("214 loops")).toBeVisible();
    const rows = page.getByRole("row");
    await expect(rows.nth(5)).toBeVisible();
    expect(await rows.count()).toBeLessThan(50);
    const oldest = page.getByRole("link", { name: "Earlier change 206", exact: true });
    await expect(async () => {
      await page.mouse.wheel(0, 5_000);
      await expect(oldest).toBeVisible({ timeout: 200 });
    }).toPass();
    expect(await rows.count()).toBeLessThan(50);
    const pages = requests.filter((query) => query.has("after"));
    expect(pages).toHaveLength(4);
    expect(requests.every((query) => query.get("limit") === "50")).toBe(true);
    // Only the first page is polled.
    requests.length = 0;
    await expect.poll(() => requests.length, { timeout: 15_000 }).toBeGreaterThan(1);
    expect(requests.some((query) => query.has("after"))).toBe(false);

    await page.evaluate(() => window.scrollTo(0, 0));
    await page.getByLabel("Search loops").pressSequentially("change 20", { delay: 20 });
    await expect(page.getByText("8 loops", { exact: true })).toBeVisible();
    await expect(page).toHaveURL(/text=change(\+|%20)20/);
    expect(requests.filter((query) => query.has("text"))).toHaveLength(1);
    await page.getByRole("button", { name: "Failed" }).click();
    await expect(page.getByText("5 loops", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Completed" }).click();
    await expect(page.getByText("8 loops", { exact: true })).toBeVisible();
    expect(requests.at(-1)?.get("status")).toBe("COMPLETED,FAILED");
    await page.goBack();
    await expect(page.getByText("5 loops", { exact: true })).toBeVisible();
    await page.goBack();
    await expect(page.getByLabel("Search loops")).toHaveValue("change 20");
    await expect(page.getByText("8 loops", { exact: true })).toBeVisible();
  } finally {
    await many.stop();
  }
});

test("tab of a loop is part of the address", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(11)}?tab=cost`);
  await expect(page.getByRole("tab", { name: "Cost", selected: true })).toBeVisible();
  await page.getByRole("tab", { name: "Output" }).click();
  await expect(page).toHaveURL(/\?tab=output$/);
  await page.goBack();
  await expect(page.getByRole("tab", { name: "Cost", selected: true })).toBeVisible();
  await open(page, `/acme/loops/${id(11)}?tab=unknown`);
  await expect(page.getByRole("tab", { name: "Result", selected: true })).toBeVisible();
});

test("filters of settings are part of the address", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/settings/agents");
  await page.getByLabel("Search agents").fill("none of these");
  await expect(page.getByText("No matching agents.")).toBeVisible();
  await expect(page).toHaveURL(/\?search=none/);
  await page.reload();
  await expect(page.getByLabel("Search agents")).toHaveValue("none of these");
  await expect(page.getByText("No matching agents.")).toBeVisible();

  await open(page, "/acme/settings/usage");
  await page.getByLabel("From").fill("2026-11-01");
  await expect(page).toHaveURL(/\?since=2026-11-01$/);
  await page.reload();
  await expect(page.getByLabel("From")).toHaveValue("2026-11-01");

  await open(page, "/acme/settings/audit-log");
  await page.getByLabel("Filter by action").selectOption("Role changed");
  await expect(page).toHaveURL(/\?action=member_role_changed$/);
  await page.goBack();
  await expect(page.getByLabel("Filter by action")).toHaveValue("");
});

test("approvals page recovers when the gateway responds again", async ({ page }) => {
  await signIn(page);
  const path = "**/api/gateway/approvals";
  await page.route(path, (route) => route.fulfill({ status: 500, json: { error: "Not ready." } }));
  await open(page, "/acme/approvals");
  await expect(page.getByText("Cannot load approvals")).toBeVisible();
  await page.unroute(path);
  await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
  await expect(page.getByRole("list", { name: "Pending requests" })).toBeVisible({
    timeout: 45_000,
  });
});

const HEALTH_CHECK = "**/api/gateway/health-check";

/** Lets the gateway report that the assistant is missing and the user is not signed in. Returns a function that fixes both. */
async function withoutAssistant(page: Page): Promise<() => Promise<void>> {
  await page.route(HEALTH_CHECK, async (route) => {
    const response = await route.fetch();
    const report = (await response.json()) as { checks: { id: string }[] };
    const failures: Record<string, object> = {
      "assistant-cli": {
        version: undefined,
        error: "Found at /opt/claude/bin/claude but not on PATH",
        remediation:
          "Install the assistant with `npm install -g @anthropic-ai/claude-code`, then run `claude` once to sign in.",
        debug: {
          errorCode: "ENOENT",
          stderr: "claude: command not found",
          resolvedPath: "/usr/local/bin:/usr/bin:/bin",
          foundAt: ["/opt/claude/bin/claude"],
        },
      },
      "code-host-auth": { error: "Not authenticated", remediation: "Run `gh auth login`." },
    };
    const checks = report.checks.map((check) =>
      check.id in failures ? { ...check, passed: false, ...failures[check.id] } : check,
    );
    await route.fulfill({ response, json: { ...report, checks } });
  });
  return () => page.unroute(HEALTH_CHECK);
}

/** Lets the control plane report no loops. */
const withoutLoops = (page: Page) =>
  page.route(/\/loops(\?|$)/, (route) =>
    route.request().resourceType() === "document"
      ? route.fallback()
      : route.fulfill({ json: { success: true, data: [] } }),
  );

test("empty list says that the machine is ready, and the new-loop page says nothing", async ({
  page,
}) => {
  await withoutLoops(page);
  await signIn(page);
  await expect(
    page.getByText(
      "This machine is ready: claude 2.1.197, git 2.47.3, gh 2.63.2 signed in. All checks",
    ),
  ).toBeVisible();
  await expectAccessible(page);
  await open(page, "/acme/loops/new");
  await expect(page.getByLabel("Repository")).toBeEditable();
  await expect(page.getByRole("heading", { name: "Set up this machine" })).toBeHidden();
  await open(page, "/acme/loops");
  await page.getByRole("link", { name: "All checks" }).click();
  await expect(page.getByText("Everything required is present")).toBeVisible();
  await expect(
    page.getByRole("listitem").filter({ hasText: "acme/shop and 1 more" }),
  ).toBeVisible();
  await page.getByText("Optional (1 missing)").click();
  await expect(page.getByText("npm install -g @openai/codex").last()).toBeVisible();
});

test("empty list shows what is missing until the check passes", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await withoutLoops(page);
  const fix = await withoutAssistant(page);
  await signIn(page);
  const required = page.getByRole("list", { name: "Required" });
  await expect(page.getByRole("heading", { name: "Set up this machine" })).toBeVisible();
  await expect(page.getByText(/^2 missing\. Checked /)).toBeVisible();
  const assistant = required.getByRole("listitem").first();
  await expect(assistant.getByRole("img", { name: "Missing" })).toBeVisible();
  await expect(assistant).toContainText("not on PATH");
  await expect(assistant.getByRole("button", { name: /^Copy / })).toHaveCount(2);
  await expect(
    required.getByRole("button", { name: "Copy gh auth login", exact: true }),
  ).toBeVisible();
  await assistant.getByText("Details of Assistant").focus();
  await page.keyboard.press("Enter");
  await expect(assistant.getByText("claude: command not found")).toBeVisible();
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expectContrast(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoHorizontalScroll(page);

  await fix();
  await page.getByRole("button", { name: "Check again" }).click();
  await expect(page.getByText(/^This machine is ready/)).toBeVisible();
});

test("new-loop page shows what is missing, and a loop can be started anyway", async ({ page }) => {
  await withoutAssistant(page);
  await signIn(page);
  await open(page, "/acme/loops/new");
  await expect(page.getByRole("heading", { name: "Set up this machine" })).toBeVisible();
  await expect(page.getByLabel("Describe the change")).toBeFocused();
  await expectAccessible(page);
  await page.getByLabel("Describe the change").fill("Say hello");
  await page.getByLabel("Repository").fill("acme/shop");
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page).toHaveURL(/\/acme\/loops\/[0-9a-f-]{36}$/);
});

test("unreachable, refusing or failing gateway is explained, and checked again", async ({
  page,
}) => {
  await withoutLoops(page);
  let answer: "abort" | number = "abort";
  await page.route(/127\.0\.0\.1:\d+\/(gateway-auth|health$|api\/gateway)/, (route) => {
    if (answer === "abort") return route.abort();
    if (answer === 403 && !route.request().url().includes("/gateway-auth/"))
      return route.fallback();
    if (answer === 500 && !route.request().url().includes("/health-check")) return route.fallback();
    return route.fulfill({ status: answer, json: { error: "Not for you." } });
  });
  await signIn(page);
  await expect(page.getByText("No gateway found on this machine")).toBeVisible();
  await expect(page.getByRole("button", { name: "Copy loopgate up" })).toBeVisible();
  await expectAccessible(page);
  const again = page.getByRole("button", { name: "Check again" });
  answer = 403;
  await again.click();
  await expect(page.getByText("belongs to another account")).toBeVisible();
  answer = 500;
  await again.click();
  await expect(page.getByText("Cannot check the machine")).toBeVisible();
  await expect(page.getByText("Not for you.")).toBeVisible();
  await open(page, "/acme/settings/machine");
  await expect(page.getByText("Cannot check the machine")).toBeVisible();
  await expectAccessible(page);
});

test("stored check of a machine is shown when this machine has no gateway", async ({ page }) => {
  await page.route(/127\.0\.0\.1:\d+\/health$/, (route) => route.abort());
  const data = {
    checkedAt: "2026-11-27T10:00:00.000Z",
    result: { checks: [{ id: "git", label: "Git", required: true, passed: false, error: "Old" }] },
  };
  await page.route("**/compute-targets/*/health-check", (route) =>
    route.fulfill({ json: { success: true, data } }),
  );
  await signIn(page);
  await open(page, "/acme/settings/machine");
  await expect(page.getByRole("heading", { name: "studio-7" })).toBeVisible();
  await expect(page.getByText(/^1 missing\. Checked .*2026.* on studio-7\.$/)).toBeVisible();
});

test("failed loop links to the check of the machine", async ({ page }) => {
  await page.route(`**/loops/${id(13)}`, async (route) => {
    if (route.request().resourceType() === "document") return route.fallback();
    const response = await route.fetch();
    const body = (await response.json()) as { data: object };
    const error = {
      code: "BINARY_NOT_FOUND",
      message: "claude CLI not found in PATH; install it, or set its path in the settings",
    };
    return route.fulfill({ response, json: { ...body, data: { ...body.data, error } } });
  });
  await signIn(page);
  await open(page, `/acme/loops/${id(13)}`);
  await expect(page.getByRole("heading", { name: "claude was not found" })).toBeVisible();
  await page.getByRole("link", { name: "Check the set-up of the machine" }).click();
  await expect(page).toHaveURL(/\/acme\/settings\/machine$/);
});

test("loop is started by keyboard: c, description, repository suggestion, Ctrl+Enter", async ({
  page,
}) => {
  await signIn(page);
  await page.keyboard.press("c");
  await expect(page.getByLabel("Describe the change")).toBeFocused();
  await page.keyboard.type("Say hello");
  await page.keyboard.press("Tab");
  await page.keyboard.type("check");
  await expect(page.getByRole("option", { name: "acme/checkout-service" })).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Repository")).toHaveValue("acme/checkout-service");
  await expect(page.getByLabel("Base branch")).toHaveValue("develop");
  await page.getByLabel("Describe the change").press("Control+Enter");
  await expect(page).toHaveURL(/\/acme\/loops\/[0-9a-f-]{36}$/);
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
  await open(page, "/acme/loops/new");
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
  await open(page, "/acme/loops/new");
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
  await open(page, "/acme/loops/new");
  await page.getByLabel("Repository").fill("not a repository");
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page.getByText("Enter a description of the change.")).toBeVisible();
  await expect(page.getByText("Use the format owner/repository")).toBeVisible();
  await expect(page.getByLabel("Describe the change")).toBeFocused();
  await expect(page).toHaveURL(/\/loops\/new$/);
});

test("running loop is cancelled after confirmation", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(10)}`);
  const dialog = page.getByRole("alertdialog", { name: "Cancel this loop?" });
  await page.getByRole("button", { name: "Cancel loop" }).click();
  await dialog.getByRole("button", { name: "Keep running" }).click();
  // The page behind an open dialog is hidden from roles and clicks.
  await expect(dialog).toBeHidden();
  await expect(page.getByText("Running").first()).toBeVisible();
  await page.getByRole("button", { name: "Cancel loop" }).click();
  await dialog.getByRole("button", { name: "Cancel loop" }).click();
  await expect(page.getByText("Cancelled").first()).toBeVisible();
});

test("output of 7,500 events is virtualized and followed until the user scrolls", async ({
  page,
}) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(11)}`);
  await page.getByRole("tab", { name: "Output" }).click();
  const log = page.getByRole("log");
  await expect(log.getByText("Completed")).toBeVisible();
  await expect(page.getByText("7,502 events")).toBeVisible();
  expect(await log.locator("[data-index]").count()).toBeLessThan(120);
  await log.hover();
  await page.mouse.wheel(0, -4_000);
  await expect(log.getByText("Completed")).toBeHidden();
  await page.getByRole("button", { name: "Scroll to end" }).click();
  await expect(log.getByText("Completed")).toBeVisible();
});

test("no line of the output moves under a reader who scrolled up", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(10)}`);
  const log = page.getByRole("log");
  const send = (chunk: string) =>
    page.request.post(`${mock.origin}/loops/${id(10)}/events`, {
      headers: { "x-session-key": "mock" },
      data: { type: "output", chunk },
    });
  // Lines of different heights, which are measured only when they are displayed.
  const lines = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${name} ${n} ${"word ".repeat((n % 5) * 60)}`);
  await send(lines("old", 400).join("\n"));
  await expect(log.getByText(/^old 399 /)).toBeInViewport();
  await log.hover();
  const positions = () =>
    log
      .locator("[data-index]")
      .evaluateAll((rows) =>
        Object.fromEntries(
          rows
            .map((row) => [row.textContent, Math.round(row.getBoundingClientRect().top)] as const)
            .filter(([, top]) => top > 0 && top < window.innerHeight),
        ),
      );
  for (let step = 0; step < 6; step++) {
    const earlier = await positions();
    await page.mouse.wheel(0, -700);
    await expect.poll(positions).not.toEqual(earlier);
  }
  // The lines that became visible are measured.
  await expect.poll(async () => isDeepStrictEqual(await positions(), await positions())).toBe(true);
  const before = await positions();
  expect(Object.keys(before).length).toBeGreaterThan(3);
  await send(lines("new", 213).join("\n"));
  await send("last line");
  const follow = page.getByRole("button", { name: "Follow · 214 new lines" });
  await expect(follow).toBeVisible();
  expect(await positions()).toEqual(before);
  await follow.click();
  await expect(log.getByText("last line")).toBeInViewport();
  await expect(follow).toBeHidden();
  await send("followed line");
  await expect(log.getByText("followed line")).toBeInViewport();
});

test("loop that needs approval shows the approve command", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(14)}`);
  await expect(
    page.getByText("The loop starts when the owner of the machine approves it"),
  ).toBeVisible();
  const command = page.getByText("loopgate approvals approve 00000073", { exact: true });
  await expect(command).toBeVisible();
  await expect(page.getByText("Waiting for approval", { exact: true })).toBeVisible();
  await expect(page.getByText("Waiting for output")).toBeHidden();
});

test("summary of a loop is not truncated on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 860 });
  await signIn(page);
  await open(page, `/acme/loops/${id(12)}`);
  const note = page.getByText(/61,480 in · 5,210 out · .* cached/);
  await expect(note).toBeVisible();
  expect(await note.evaluate((text) => text.scrollWidth - text.clientWidth)).toBeLessThanOrEqual(0);
});

test("failed loop shows advice and technical details", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(13)}`);
  await expect(page.getByText("Wait until the limit resets")).toBeVisible();
  await page.getByText("Technical details").click();
  await expect(page.getByText("RUNNER_ERROR / ASSISTANT_RATE_LIMIT")).toBeVisible();
});

test("question of a loop is answered on its page", async ({ page }) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(17)}`);
  const question = page.getByRole("region", { name: "Question" });
  const submit = question.getByRole("button", { name: "Answer and resume" });
  await expect(submit).toBeDisabled();
  await question.getByLabel("Your answer").fill("Round the total.");
  const resumeRequest = page.waitForRequest((request) =>
    request.url().endsWith(`/loops/${id(17)}/resume`),
  );
  await submit.click();
  expect((await resumeRequest).postDataJSON()).toEqual({ prompt: "Round the total." });
  await expect(page).not.toHaveURL(new RegExp(id(17)));
});

test("pending requests are counted on every page and listed with their commands", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page);
  await page.getByRole("link", { name: /Needs you/ }).click();
  await expect(page.getByText("2 requests on this machine need your approval")).toBeVisible();
  await page.getByRole("link", { name: "Approvals" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approvals");
  const requests = page.getByRole("list", { name: "Pending requests" }).getByRole("listitem");
  const [first, second] = [requests.first(), requests.nth(1)];
  await expect(first.getByText("/home/dev/src/webhooks")).toBeVisible();
  await expect(first.getByText("https://loopgate.example.com")).toBeVisible();
  await expect(first.getByText(/1 min 3\d s left/)).toBeVisible();
  await expect(second.getByText("the control plane")).toBeVisible();
  await first.getByRole("button", { name: "Copy approve command" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    "loopgate approvals approve 00000071",
  );
  // The page has copy buttons only: requests are approved on the command line.
  await expect(page.getByRole("main").getByRole("button", { name: /^(?!Cop)/ })).toHaveCount(0);
});

test("executed plan is executed again only after confirmation", async ({ page }) => {
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
  test(`double click on Resume does not hit Cancel loop, ${width} px wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 860 });
    await signIn(page);
    await open(page, `/acme/loops/${id(13)}`);
    const start = page.getByRole("button", { name: "Resume" });
    const from = await start.boundingBox();
    await start.click();
    const to = await page.getByRole("button", { name: "Cancel loop" }).boundingBox();
    if (!from || !to) throw new Error("both buttons must be visible");
    const horizontallyApart = from.x + from.width <= to.x || to.x + to.width <= from.x;
    const verticallyApart = from.y + from.height <= to.y || to.y + to.height <= from.y;
    expect(horizontallyApart || verticallyApart, JSON.stringify({ from, to })).toBe(true);
  });

  test(`title of one long word does not overflow, ${width} px wide`, async ({ page }) => {
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
      await expectNoHorizontalScroll(page);
    }
  });
}

test("draft of a request survives a reload and a sign-out and is cleared on submission", async ({
  page,
  context,
}) => {
  const description = page.getByLabel("Describe the change");
  await signIn(page);
  await open(page, "/acme/loops/new");
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
  await expect(page).toHaveURL(/\/acme\/loops\/new$/);
  await expect(description).toHaveValue("Say good night");
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page.getByRole("heading", { name: "Say good night" })).toBeVisible();
  await open(page, "/acme/loops/new");
  await expect(description).toHaveValue("");
});

test("draft survives Back and a failed request, and is hidden from other users", async ({
  page,
}) => {
  const description = page.getByLabel("Describe the change");
  await signIn(page);
  await open(page, "/acme/loops/new");
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
  await open(page, "/acme/loops/new");
  const second = await context.newPage();
  await open(second, "/acme/loops/new");
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
  await open(page, "/acme/loops/new");
  await page.getByLabel("Describe the change").pressSequentially("Say hi");
  await expect(page.getByLabel("Describe the change")).toHaveValue("Say hi");
  await expect(page.getByText("Drafts are not kept")).toHaveCount(1);
});

test("answer, prompt of an agent and limits are kept and removed when they are saved", async ({
  page,
}) => {
  await signIn(page);
  await open(page, `/acme/loops/${id(17)}`);
  const answer = page.getByLabel("Your answer");
  await answer.fill("Round the total.");
  await page.reload();
  await expect(answer).toHaveValue("Round the total.");

  await open(page, "/acme/settings/agents/payments");
  const prompt = page.getByLabel("Prompt");
  const stored = await prompt.inputValue();
  await prompt.fill("You know every payment.");
  await page.reload();
  await expect(prompt).toHaveValue("You know every payment.");
  await page.getByRole("button", { name: "Discard changes" }).click();
  await expect(prompt).toHaveValue(stored);
  await page.reload();
  await expect(prompt).toHaveValue(stored);

  await open(page, "/acme/settings/organization");
  const perLoop = page.getByLabel("Spending limit per loop");
  await perLoop.fill("7");
  await page.reload();
  await expect(perLoop).toHaveValue("7");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved.")).toBeVisible();
  await page.reload();
  await expect(perLoop).toHaveValue("7");
  await expect(page.getByRole("button", { name: "Discard changes" })).toBeHidden();
});

test("machines are not shown as online while the control plane is unreachable", async ({
  page,
  context,
}) => {
  await signIn(page);
  const more = page.getByRole("button", { name: /^More/ });
  await expect(more).toHaveAccessibleName("More. Machines: studio-7");
  await expect(more.locator(".filled")).toHaveCount(1);
  await context.setOffline(true);
  await expect(more).toHaveAccessibleName("More. Machines: Status unknown", { timeout: 25_000 });
  await expect(more.locator(".filled")).toHaveCount(0);
  await more.click();
  await expect(page.getByText("The control plane is not responding")).toBeVisible();
  await context.setOffline(false);
  await expect(more).toHaveAccessibleName("More. Machines: studio-7", { timeout: 25_000 });
});

test("selected theme survives a reload", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await signIn(page);
  await page.getByRole("button", { name: /^More/ }).click();
  await page.getByText("Dark", { exact: true }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("plan shows its earlier versions", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/implementation-plans/plan-1");
  await page.getByLabel("Version", { exact: true }).selectOption("1");
  await expect(page.getByRole("heading", { name: "An earlier draft" })).toBeVisible();
  await expect(page).toHaveURL(/\?version=1$/);
  await page.reload();
  await expect(page.getByRole("heading", { name: "An earlier draft" })).toBeVisible();
  await page.goBack();
  await expect(page.getByLabel("Version", { exact: true })).not.toHaveValue("1");
  await expect(page.getByRole("heading", { name: "An earlier draft" })).toBeHidden();
});

const DIAGRAMS = "/acme/implementation-plans/plan-1";

async function enableDiagramViewer(page: Page): Promise<void> {
  const answer = await page.request.put(`${mock.origin}/feature-flags/mermaid-enhancements`, {
    headers: { "x-session-key": "mock" },
    data: { enabled: true },
  });
  expect(answer.ok()).toBe(true);
}

// CP-45
test("diagrams are static until the organization enables the viewer", async ({ page }) => {
  await signIn(page);
  await open(page, DIAGRAMS);
  const diagrams = page.getByRole("figure", { name: "Diagram" });
  await expect(diagrams).toHaveCount(2);
  await expect(diagrams.first().locator("svg[viewBox]").first()).toBeVisible();
  await expect(page.getByRole("toolbar", { name: "Diagram" })).toHaveCount(0);
  await enableDiagramViewer(page);
  await page.reload();
  await expect(page.getByRole("toolbar", { name: "Diagram" })).toHaveCount(2);
});

test("diagram is panned, zoomed, fitted and shown in fullscreen", async ({ page }) => {
  const monitor = new PageMonitor(page, mock.origin);
  await signIn(page);
  await enableDiagramViewer(page);
  await open(page, DIAGRAMS);
  const [first, second] = [0, 1].map((n) => page.getByRole("figure", { name: "Diagram" }).nth(n));
  if (!first || !second) throw new Error("the plan must contain two diagrams");
  const canvas = first.getByRole("application");
  const drawing = canvas.locator("> div");
  const drawingBox = async () => {
    const box = await drawing.boundingBox();
    if (!box) throw new Error("the drawing must be visible");
    return box;
  };
  await expect(canvas.getByText("print, exit 0")).toBeVisible();
  await expectAccessible(page);
  await canvas.scrollIntoViewIfNeeded();
  const fitted = await drawingBox();

  // The wheel pans the drawing and does not scroll the page.
  await canvas.hover();
  const scrolled = await page.evaluate(() => window.scrollY);
  await page.mouse.wheel(30, 50);
  await expect.poll(async () => (await drawingBox()).y).toBeCloseTo(fitted.y - 50, 0);
  expect((await drawingBox()).x).toBeCloseTo(fitted.x - 30, 0);
  expect(await page.evaluate(() => window.scrollY)).toBe(scrolled);

  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(async () => (await drawingBox()).x).toBeCloseTo(fitted.x - 70, 0);
  await page.keyboard.press("0");
  await expect.poll(drawingBox).toEqual(fitted);

  // Dragging with the left button pans; a double click fits the diagram.
  const centre = { x: fitted.x + fitted.width / 2, y: fitted.y + fitted.height / 2 };
  await page.mouse.move(centre.x, centre.y);
  await page.mouse.down();
  await page.mouse.move(centre.x + 60, centre.y - 20, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await drawingBox()).x).toBeCloseTo(fitted.x + 60, 0);
  await canvas.dblclick();
  await expect.poll(drawingBox).toEqual(fitted);

  // The overview appears when the diagram is enlarged. A click on it pans to that part.
  await expect(first.getByTestId("overview")).toHaveCount(0);
  for (let press = 0; press < 4; press += 1)
    await first.getByRole("button", { name: "Zoom in" }).click();
  await expect(first.getByTestId("overview")).toBeVisible();
  const enlarged = await drawingBox();
  expect(enlarged.width / fitted.width).toBeCloseTo(1.15 ** 4, 1);
  await first.getByTestId("overview").click({ position: { x: 4, y: 4 } });
  await expect.poll(async () => (await drawingBox()).x).toBeGreaterThan(enlarged.x);

  const download = page.waitForEvent("download");
  await first.getByRole("button", { name: "Download SVG" }).click();
  expect((await download).suggestedFilename()).toBe("mermaid-diagram.svg");
  const pngDownload = page.waitForEvent("download");
  await first.getByRole("button", { name: "Download PNG" }).click();
  expect((await pngDownload).suggestedFilename()).toBe("mermaid-diagram.png");

  const zoomLevel = first.getByText(/^\d+ %$/);
  const percentage = await zoomLevel.textContent();
  await first.getByRole("button", { name: "Fullscreen" }).click();
  await expect(first.getByRole("button", { name: "Exit fullscreen" })).toBeVisible();
  await expect(second.getByRole("button", { name: "Exit fullscreen" })).toHaveCount(0);
  await expect(zoomLevel).toHaveText(percentage ?? "");
  await canvas.focus();
  await page.keyboard.press("f");
  await expect(first.getByRole("button", { name: "Fullscreen" })).toBeVisible();

  await first.getByRole("button", { name: "Source" }).click();
  await expect(first.getByText("flowchart LR")).toBeVisible();
  await first.getByRole("button", { name: "Diagram" }).click();
  await expect(canvas.getByText("print, exit 0")).toBeVisible();
  monitor.expectClean();
});
