/** Judging a plan: comments, questions, versions, edits and the start, against the mock server. */
import { expect, type Page, type Request, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";
import {
  copiedText,
  expectAccessible,
  expectContrast,
  expectNoHorizontalScroll,
  PageMonitor,
} from "./quality";

const PLAN = `# Print the version

Adds a \`--version\` flag that prints the version.

## Tasks

- [ ] **T-1.1**: Parse the flag *(AC-001)*
  - files: src/cli.ts
- [ ] **T-1.2**: Print it without decoration *(AC-001)*

## Risks

Parse the flag before a command is looked up.

## Open Questions

- [ ] Q-001: Which short form? **[Recommended: -V, because -v means verbose]**
- [ ] Q-002: Which exit code?
`;

let mock: Mock;
test.beforeEach(async () => {
  mock = await startMock();
});
stopAfterEach(() => mock);

/** Opens a new plan. Returns its slug. */
async function openPlan(page: Page, content = PLAN): Promise<string> {
  await signInTo(mock, page);
  const created = await page.request.post(`${mock.origin}/documents`, {
    headers: { "x-session-key": "mock" },
    data: { type: "IMPLEMENTATION_PLAN", title: "Print the version", content },
  });
  const { data } = (await created.json()) as { data: { slug: string } };
  await page.goto(`${mock.origin}/acme/implementation-plans/${data.slug}`);
  await expect(page.getByRole("article", { name: "Plan" })).toBeVisible();
  return data.slug;
}

/** Stores another version, as another person would. */
const addVersion = (page: Page, slug: string, content: string, version: number) =>
  page.request.post(`${mock.origin}/documents/${slug}/versions`, {
    headers: { "x-session-key": "mock" },
    data: { content, version },
  });

/** Records the bodies of starts. */
function starts(page: Page): Record<string, unknown>[] {
  const bodies: Record<string, unknown>[] = [];
  page.on("request", (request: Request) => {
    if (request.method() === "POST" && request.url().endsWith("/run-loop"))
      bodies.push(request.postDataJSON() as Record<string, unknown>);
  });
  return bodies;
}

/** Selects the text of an element of the plan, as a double or triple click does. */
async function select(page: Page, text: string): Promise<void> {
  await page
    .getByRole("article", { name: "Plan" })
    .getByText(text)
    .first()
    .evaluate((element) => {
      const selection = document.getSelection();
      selection?.removeAllRanges();
      const range = document.createRange();
      range.selectNodeContents(element);
      selection?.addRange(range);
    });
}

const comment = (page: Page, number: number) =>
  page.getByRole("textbox", { name: `Comment ${number}` });
const requestChanges = (page: Page) => page.getByRole("button", { name: "Request changes" });

test("comments and answers are sent as one loop, and the next version answers them", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const slug = await openPlan(page);
  const sent = starts(page);
  await page.getByText("Parse the flag before a command").click({ clickCount: 3 });
  await page
    .getByRole("toolbar", { name: "Selected passage" })
    .getByRole("button", { name: "Comment" })
    .click();
  await expect(comment(page, 1)).toBeFocused();
  await page.keyboard.type("Also accept -V.");
  await page.getByRole("button", { name: "Comment on the whole plan" }).click();
  await page.keyboard.type("Too long");
  await page.getByRole("radio", { name: /-V, because -v means verbose/ }).check();
  await expect(page.getByText("2 comments, 1 of 2 questions answered")).toBeVisible();
  // The header covers a part of the link above the title otherwise, which counts as a small target.
  await page.evaluate(() => scrollTo(0, 0));
  await expectAccessible(page);

  await page.reload();
  await expect(comment(page, 1)).toHaveValue("Also accept -V.");
  await requestChanges(page).dblclick();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ command: "request_changes", version: 1 });
  expect(sent[0]?.prompt)
    .toBe(`Comments on version 1 of the plan. Answer each one by its number in the section "Answers to comments".

### Comment 1

In "Risks":

> Parse the flag before a command is looked up.

Also accept -V.

### Comment 2

Too long

### Answer to Q-001: Which short form?

-V, because -v means verbose`);

  await page.goto(`${mock.origin}/acme/implementation-plans/${slug}`);
  const answers = page.getByRole("region", { name: "Comments on the version before" });
  await expect(answers.getByRole("listitem")).toHaveCount(2);
  await expect(answers.getByRole("listitem").first()).toContainText("Also accept -V.");
  const answered = answers.getByRole("listitem").first();
  await expect(answered).toContainText("Adopted: see the tasks.");
  await answered.getByRole("button", { name: "Copy link" }).click();
  const link = await copiedText(page, `/${slug}?tab=plan&version=2&comment=sent-1`);

  await expect(page.getByText(/passages are new or changed since version 1/)).toBeVisible();
  await expect(page.locator("li[data-changed]").first()).toContainText("on one line");
  await expect(page.getByRole("region", { name: "Judges" })).toContainText("0.85 reaches 0.80");
  await expect(page.getByRole("textbox", { name: /^Comment/ })).toHaveCount(0);
  await expectAccessible(page);

  await page.goto(link);
  await expect(answered).toBeFocused();
  await expectAccessible(page);
  await page.goto(`${mock.origin}/acme/work/feature-1?tab=plan&comment=sent-1`);
  await expect(page.getByText("The comment of this address cannot be shown")).toBeVisible();
});

test("two versions are compared side by side, by an address", async ({ page }) => {
  const slug = await openPlan(page);
  await addVersion(page, slug, PLAN.replace("without decoration", "on one line"), 1);
  await page.goto(`${mock.origin}/acme/implementation-plans/${slug}?version=2&compare=1`);
  await expect(page.getByText("1 passage differs.")).toBeVisible();
  await expect(page.getByRole("deletion")).toContainText("without decoration");
  await expect(page.getByRole("insertion")).toContainText("on one line");
  await expectAccessible(page);
  await page.getByLabel("Compare with").selectOption("none");
  await expect(page).toHaveURL(new RegExp(`/${slug}$`));
  await page.goBack();
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByRole("insertion")).toBeVisible();
  await expectNoHorizontalScroll(page);
});

test("a plan is commented, changed and deleted by keyboard alone", async ({ page }) => {
  await openPlan(page);
  const sent = starts(page);
  const passage = page.getByRole("button", { name: "Comment on “Print the version”" });
  await expect(passage).toHaveAttribute("tabindex", "0");
  await passage.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const task = page.getByRole("button", { name: /^Comment on “T-1.1: Parse the flag/ });
  await expect(task).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(comment(page, 1)).toBeFocused();
  await page.keyboard.type("Split this");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(comment(page, 1)).toHaveCount(0);
  await expect(requestChanges(page)).toBeDisabled();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Shorter");
  await requestChanges(page).focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  expect(sent[0]?.prompt).toContain("### Comment 1\n\nShorter");
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test("the decision is above the navigation", async ({ page }) => {
    await openPlan(page);
    const decision = await page.getByRole("region", { name: "Decision" }).boundingBox();
    const navigation = await page.getByRole("navigation", { name: "Main" }).boundingBox();
    if (!decision || !navigation) throw new Error("not displayed");
    expect(decision.y + decision.height).toBeLessThanOrEqual(navigation.y);
  });

  test("a passage is commented by touch", async ({ page }) => {
    await openPlan(page);
    await select(page, "Parse the flag before a command");
    const toolbar = page.getByRole("toolbar", { name: "Selected passage" });
    await toolbar.getByRole("button", { name: "Comment" }).tap();
    await comment(page, 1).fill("Also accept -V.");
    await expect(toolbar).toBeHidden();
    await expect(requestChanges(page)).toBeInViewport();
    await expectNoHorizontalScroll(page);
    await page.setViewportSize({ width: 320, height: 700 });
    await expectNoHorizontalScroll(page);
    await expectAccessible(page);
    await requestChanges(page).tap();
    await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  });
});

test("a refused request keeps the comments and names both versions", async ({ page }) => {
  const slug = await openPlan(page);
  await page.getByRole("button", { name: "Comment on the whole plan" }).click();
  await page.keyboard.type("Shorter");
  await select(page, "Parse the flag before a command");
  await page
    .getByRole("toolbar", { name: "Selected passage" })
    .getByRole("button", { name: "Comment" })
    .click();
  await page.keyboard.type("Why?");
  await addVersion(page, slug, PLAN.replace("Parse the flag before", "Read the flag before"), 1);
  await requestChanges(page).click();
  await expect(page.getByRole("alert")).toContainText(
    "The request was about version 1, and version 2 is current.",
  );
  await expect(page.getByText("Read the flag before")).toBeVisible();
  await expect(comment(page, 1)).toHaveValue("Shorter");
  await expect(comment(page, 2)).toHaveValue("Why?");
  await expect(page.getByText("This version does not contain the passage.")).toBeVisible();
  await requestChanges(page).click();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
});

test("a request whose response was lost is not sent as a second loop", async ({ page }) => {
  const slug = await openPlan(page);
  await page.getByRole("button", { name: "Comment on the whole plan" }).click();
  await page.keyboard.type("Shorter");
  const keys: (string | undefined)[] = [];
  let isLost = true;
  await page.route(`**/documents/${slug}/run-loop`, async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    const response = await route.fetch();
    if (isLost) return route.abort();
    return route.fulfill({ response });
  });
  await requestChanges(page).click();
  await expect(page.getByRole("alert").first()).toContainText("Changes were not requested");
  await expect(comment(page, 1)).toHaveValue("Shorter");
  isLost = false;
  await page.reload();
  await requestChanges(page).click();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  expect(keys[1]).toBe(keys[0]);
});

test("Execute says what it does, names open questions and sends the answers", async ({ page }) => {
  await openPlan(page);
  const sent = starts(page);
  await page.getByRole("radio", { name: /-V, because -v means verbose/ }).check();
  await page.getByRole("button", { name: "Execute", exact: true }).click();
  const dialog = page.getByRole("alertdialog", { name: "Execute this plan?" });
  await expect(dialog).toContainText("Q-002: Which exit code?");
  await expect(dialog).not.toContainText("Q-001");
  await expect(dialog).toContainText("acme/shop from main");
  await expect(dialog).toContainText("merges nothing");
  await expect(dialog).toContainText("No estimate: fewer than three completed loops");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("radio", { name: "Answer", exact: true }).check();
  await page.getByRole("textbox", { name: "Answer to Q-002" }).fill("0");
  await page.getByRole("button", { name: "Execute", exact: true }).click();
  await expect(dialog).not.toContainText("Q-00");
  await dialog.getByRole("button", { name: "Execute" }).click();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ command: "execute", version: 1 });
  expect(sent[0]?.prompt).toBe(
    "### Answer to Q-001: Which short form?\n\n-V, because -v means verbose\n\n### Answer to Q-002: Which exit code?\n\n0",
  );
});

test("estimate is derived from completed loops of the repository", async ({ page }) => {
  await mock.stop();
  mock = await startMock(undefined, 12);
  await openPlan(page);
  await page.getByRole("button", { name: "Execute", exact: true }).click();
  await expect(page.getByRole("alertdialog")).toContainText(/\(median of \d+ loops, .* to .*\)/);
});

test("the text is edited, kept, and stored as the next version", async ({ page }) => {
  const slug = await openPlan(page);
  await page.getByRole("button", { name: "Edit" }).click();
  const editor = page.getByRole("textbox", { name: "Plan as Markdown" });
  await expect(editor).toContainText("Print it without decoration");
  await expectAccessible(page);
  await editor.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("- [ ] Q-003: Which help text?");
  await page.reload();
  await expect(editor).toContainText("Q-003: Which help text?");
  await page.getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("article", { name: "Plan" })).not.toContainText("Which help text?");
  await page.getByRole("button", { name: "Edit" }).click();
  await expect(editor).toContainText("Q-003: Which help text?");
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await expect(page.getByRole("article", { name: "Plan" })).toContainText("Which help text?");
  await expect(page.getByLabel("Version", { exact: true })).toHaveValue("2");
  await expect(page).toHaveURL(new RegExp(`/${slug}$`));
});

test("an edit of a version that was replaced shows both texts and loses none", async ({ page }) => {
  const slug = await openPlan(page);
  await page.getByRole("button", { name: "Edit" }).click();
  const editor = page.getByRole("textbox", { name: "Plan as Markdown" });
  await editor.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("A last line of mine.");
  await addVersion(page, slug, PLAN.replace("Parse the flag before", "Read the flag before"), 1);
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await expect(page.getByText("Version 2 was created while you edited version 1")).toBeVisible();
  await expect(page.getByRole("deletion").first()).toContainText("Read");
  await expect(editor).toContainText("A last line of mine.");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Replace version 2" }).click();
  await expect(page.getByRole("article", { name: "Plan" })).toContainText("A last line of mine.");
  await expect(page.getByLabel("Version", { exact: true })).toHaveValue("3");
});

test("an edit is discarded after confirmation", async ({ page }) => {
  await openPlan(page);
  await page.getByRole("button", { name: "Edit" }).click();
  const editor = page.getByRole("textbox", { name: "Plan as Markdown" });
  await editor.click();
  await page.keyboard.type("A line of mine.");
  await page.getByRole("button", { name: "Discard changes" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Discard" }).click();
  await expect(page.getByRole("article", { name: "Plan" })).toBeVisible();
  await page.getByRole("button", { name: "Edit" }).click();
  await expect(editor).toContainText("Print it without decoration");
  await expect(editor).not.toContainText("A line of mine.");
});

test("hostile texts are shown as text", async ({ page }) => {
  const hostile = '<img src=x onerror="alert(1)"><script>alert(1)</script>';
  await signInTo(mock, page);
  const monitor = new PageMonitor(page, mock.origin);
  const long = "x".repeat(300);
  const slug = await openPlan(
    page,
    `# ${hostile}\n\n${long}\n\n- [ ] Q-001: ${hostile} **[Recommended: ${hostile}${long}]**\n\n[link](javascript:alert(1))`,
  );
  await select(page, long);
  await page
    .getByRole("toolbar", { name: "Selected passage" })
    .getByRole("button", { name: "Comment" })
    .click();
  await page.keyboard.type(`### Comment 2\n\n> ${hostile}`);
  await page.getByRole("radio", { name: /onerror/ }).check();
  await page.setViewportSize({ width: 320, height: 700 });
  await expectNoHorizontalScroll(page);
  await requestChanges(page).click();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  await page.goto(`${mock.origin}/acme/implementation-plans/${slug}`);
  const answers = page.getByRole("region", { name: "Comments on the version before" });
  await expect(answers.getByRole("listitem")).toHaveCount(1);
  await expect(answers).toContainText(`### Comment 2\n\n> ${hostile}`);
  await page.goto(`${mock.origin}/acme/implementation-plans/${slug}?compare=1`);
  await expect(page.getByText(/differ/)).toBeVisible();
  await expectNoHorizontalScroll(page);
  monitor.expectClean();
});

test("contrast is sufficient in the dark theme and with marks", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  const slug = await openPlan(page);
  await addVersion(page, slug, PLAN.replace("without decoration", "on one line"), 1);
  await page.goto(`${mock.origin}/acme/implementation-plans/${slug}?compare=1`);
  await expect(page.getByRole("insertion")).toBeVisible();
  await expectContrast(page);
  await page.goto(`${mock.origin}/acme/implementation-plans/${slug}?edit=true`);
  await expect(page.getByRole("textbox", { name: "Plan as Markdown" })).toBeVisible();
  await expectContrast(page);
});
