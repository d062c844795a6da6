/** Results of the judges of a plan, and their findings as a request for changes, against the mock server. */
import { expect, type Page, test } from "@playwright/test";

import { useMock } from "./mock";
import { expectAccessible, expectNoHorizontalScroll } from "./quality";

const PLAN = `# Print the version

## Tasks

- [ ] **T-1.1**: Parse the flag *(AC-001)*
- [ ] **T-1.2**: Print it without decoration *(AC-001)*

## Risks

Parse the flag before a command is looked up.
`;

const mock = useMock();

/** Opens a plan whose second version was judged. */
async function openJudgedPlan(page: Page): Promise<void> {
  await mock.signIn(page);
  const headers = { "x-session-key": "mock" };
  const created = await page.request.post(`${mock.origin}/documents`, {
    headers,
    data: { type: "IMPLEMENTATION_PLAN", title: "Print the version", content: PLAN },
  });
  const { data } = (await created.json()) as { data: { slug: string } };
  const address = `/acme/implementation-plans/${data.slug}`;
  await mock.open(page, address);
  await requestChange(page, "Shorter");
  await mock.open(page, address);
  await expect(page.getByText("version 1", { exact: false }).first()).toBeVisible();
  await expect(judges(page)).toBeVisible();
}

async function requestChange(page: Page, text: string): Promise<void> {
  await page.getByRole("button", { name: "Comment on the whole plan" }).click();
  await page.keyboard.type(text);
  await page.getByRole("button", { name: "Request changes" }).click();
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
}

const judges = (page: Page) => page.getByRole("region", { name: "Judges" });
const judge = (page: Page, name: string) =>
  judges(page)
    .getByRole("listitem")
    .filter({ has: page.locator("summary", { hasText: new RegExp(`^${name}`, "i") }) });

// PR-41
test("each judge has its status, and says what was found and where", async ({ page }) => {
  await openJudgedPlan(page);
  await expect(judges(page)).toContainText("1 of 3 passed, 1 need improvement, 1 failed.");
  await expect(judge(page, "test").locator("summary")).toContainText("Needs improvement");
  await expect(judge(page, "dry").locator("summary")).toContainText("Failed");
  await expect(judge(page, "dry")).toContainText("no answer within 10 minutes");
  await expect(judge(page, "kiss").locator("summary")).toContainText("Passed");
  await expect(judge(page, "kiss").getByText("0.85 reaches 0.80")).toBeHidden();
  await judge(page, "kiss").locator("summary").press("Enter");
  await expect(judge(page, "kiss").getByText("0.85 reaches 0.80")).toBeVisible();

  const findings = judge(page, "test");
  await expect(findings).toContainText("0.50 is below 0.70");
  await expect(findings).toContainText("Unsupported: no document contains the quoted words.");
  await expect(findings.getByRole("checkbox")).toHaveCount(2);
  await findings.getByRole("button", { name: "T-1.1" }).press("Enter");
  const shown = await page.evaluate(() =>
    [...(CSS.highlights.get("plan-passage") ?? [])].map((range) => (range as Range).toString()),
  );
  expect(shown).toEqual(["T-1.1: Parse the flag"]);
  await findings.getByRole("button", { name: "The requirements name a prefix" }).click();
  await expect(findings.getByRole("status").filter({ hasText: "another document" })).toBeVisible();
  await judges(page).getByText("What the judges have not read").click();
  await expect(judges(page)).toContainText("investigation-log.md is not in the context");
  await page.evaluate(() => scrollTo(0, 0));
  await expectAccessible(page);
});

test("chosen findings become comments that are sent with one press", async ({ page }) => {
  await openJudgedPlan(page);
  const choice = judge(page, "test").getByRole("checkbox", { name: /No test parses the flag/ });
  await choice.focus();
  await page.keyboard.press("Space");
  await judge(page, "test")
    .getByRole("checkbox", { name: /prefix is not tested/ })
    .check();
  await judges(page).getByRole("button", { name: "Add 2 findings to the comments" }).press("Enter");
  await expect(page.getByRole("textbox", { name: "Comment 1" })).toHaveValue(
    "No test parses the flag. [test-judge: partly]",
  );
  await expect(choice).not.toBeChecked();
  await page.reload();
  const sent = page.waitForRequest(
    (request) => request.method() === "POST" && request.url().endsWith("/run-loop"),
  );
  await page.getByRole("button", { name: "Request changes" }).click();
  const { prompt } = (await sent).postDataJSON() as { prompt: string };
  expect(prompt).toContain(
    "> T-1.1: Parse the flag\n\nNo test parses the flag. [test-judge: partly]",
  );
  expect(prompt).toContain('The prefix is not tested. (Tasks: "The requirements name a prefix")');
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test("a finding of the next version is new", async ({ page }) => {
    await openJudgedPlan(page);
    const address = page.url();
    await requestChange(page, "Shorter still");
    await page.goto(address);
    await expect(judge(page, "test").locator("summary")).toContainText("1 new");
    await expect(judge(page, "test")).toContainText("partly (new): No test of the order.");
    await judge(page, "test")
      .getByRole("button", { name: /before a command/ })
      .tap();
    await expectNoHorizontalScroll(page);
    await expectAccessible(page);
  });
});
