/** The check of a machine, against the mock server. */
import { expect, type Page, test } from "@playwright/test";

import { id, useMock } from "./mock";
import { expectAccessible, expectContrast, expectNoHorizontalScroll } from "./quality";

const { open, signIn } = useMock();

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

test("empty list says that the machine is ready, and the page of a new change request says nothing", async ({
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
  await open(page, "/acme/new");
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

test("page of a new change request shows what is missing, and a loop can be started anyway", async ({
  page,
}) => {
  await withoutAssistant(page);
  await signIn(page, "/acme/new");
  await expect(page.getByRole("heading", { name: "Set up this machine" })).toBeVisible();
  await expect(page.getByLabel("Describe the change")).toBeFocused();
  await expectAccessible(page);
  await page.getByLabel("Describe the change").fill("Say hello");
  await page.getByLabel("Repository").fill("acme/shop");
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
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
  await signIn(page, "/acme/settings/machine");
  await expect(page.getByRole("heading", { name: "studio-7" })).toBeVisible();
  await expect(page.getByText(/^1 missing\. Checked .*2026.* on studio-7\.$/)).toBeVisible();
});

test("loop that failed because of the set-up shows what is missing, and checks again", async ({
  page,
}) => {
  const fix = await withoutAssistant(page);
  await page.route(`**/loops/${id(13)}`, async (route) => {
    if (route.request().resourceType() === "document") return route.fallback();
    const response = await route.fetch();
    const body = (await response.json()) as { data: object };
    const error = {
      code: "BINARY_NOT_FOUND",
      message: "claude CLI not found in PATH, which is /usr/bin:/bin; install it, or set its path",
      result: { subcode: "ASSISTANT_MISSING" },
    };
    return route.fulfill({ response, json: { ...body, data: { ...body.data, error } } });
  });
  await signIn(page, `/acme/loops/${id(13)}`);
  await expect(page.getByRole("heading", { name: "claude was not found" })).toBeVisible();
  const error = page.getByRole("region", { name: "Error" });
  await expect(error).toContainText("which is /usr/bin:/bin");
  await expect(error.getByRole("img", { name: "Missing" }).first()).toBeVisible();
  await expectAccessible(page);
  await fix();
  await error.getByRole("button", { name: "Check again" }).click();
  await expect(error.getByText(/^This machine is ready/)).toBeVisible();
});
