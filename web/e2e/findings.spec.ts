/** Findings of reviews at the lines of the changes, and the reviews that report them. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";
import {
  copiedText,
  expectAccessible,
  expectDarkAndNarrow,
  expectNoHorizontalScroll,
  PageMonitor,
} from "./quality";

const LOOP = "01980000-0000-7000-8000-000000000011";

let mock: Mock;
stopAfterEach(() => mock);

/** Opens the changes. `environment`: see dev/reviewer.mjs. */
async function open(
  page: Page,
  environment: Record<string, string>,
  changedFiles = 0,
): Promise<void> {
  mock = await startMock(undefined, 0, changedFiles, environment);
  await signInTo(mock, page);
  await page.goto(`${mock.origin}/acme/loops/${LOOP}?tab=changes`);
  await expect(page.getByText("Doubles with each attempt").first()).toBeVisible();
}

const reopen = (page: Page) => page.goto(`${mock.origin}/acme/loops/${LOOP}?tab=changes`);
const finding = (page: Page, title: RegExp) => page.getByRole("article", { name: title });
const OVERFLOW = /Finding on .*The delay overflows/;
const reviewer = (page: Page) => page.getByRole("region", { name: "Reviewer" });

/** Holds the responses with the lines of files. Returns the function that sends them. */
async function holdLines(page: Page): Promise<() => void> {
  let send: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (send = resolve));
  await page.route("**/git/loop-changes/*", async (route) => {
    if (route.request().method() === "POST") await held;
    await route.fallback();
  });
  return send;
}

for (const device of ["keyboard", "mouse"])
  test(`discussion that is opened with the ${device} before the lines are loaded stays in view`, async ({
    page,
  }) => {
    // Without lines, all files are in the view. With lines, those before the file of the finding are longer than it.
    await page.setViewportSize({ width: 1280, height: 1_600 });
    await open(page, { REVIEWED: "1" }, 3);
    const send = await holdLines(page);
    await reopen(page);
    const group = finding(page, /asserts nothing/);
    await expect(group).toBeVisible();
    const argue = group.getByRole("button", { name: "Argue" });
    if (device === "mouse") await argue.click();
    else {
      await expect(async () => {
        await page.keyboard.press("f");
        await expect(group).toBeFocused({ timeout: 1_000 });
      }).toPass();
      await argue.press("Enter");
    }
    const text = group.getByLabel("Argument against the reviewer");
    await expect(text).toBeFocused();
    await page.keyboard.type("It ");
    send();
    await expect(page.getByText("expect(1).toBe(1)").first()).toBeInViewport();
    await expect(text).toBeInViewport();
    await expect(text).toBeFocused();
    await page.keyboard.type("does.");
    await expect(text).toHaveValue("It does.");
  });

test("cards of findings are as the person left them when they were out of view", async ({
  page,
}) => {
  await open(page, { REVIEWED: "1" }, 3);
  const overflow = finding(page, OVERFLOW);
  const group = finding(page, /asserts nothing/);
  const files = page.getByRole("navigation", { name: "Changed files" });
  const show = (path: string) => files.getByTitle(path, { exact: true }).press("Enter");
  const assistantArgues = overflow.getByRole("checkbox", { name: /The assistant continues/ });
  await page.route("**/comments/*", (route) => route.fulfill({ status: 500, json: {} }));
  await show("src/webhooks/retry.ts");
  await overflow.getByRole("button", { name: "Fix" }).press("Enter");
  await expect(overflow.getByText("could not be added to your review")).toBeVisible();
  await overflow.getByRole("button", { name: "Argue" }).press("Enter");
  await assistantArgues.uncheck();
  await show("test/retry.test.ts");
  await expect(overflow).toHaveCount(0);
  const others = group.getByText("Also reported by the assistant");
  await others.press("Enter");
  await expect(group.getByText("asserts nothing about the delay of a retry")).toBeVisible();
  await show("src/webhooks/retry.ts");
  await expect(group).toHaveCount(0);
  await expect(assistantArgues).not.toBeChecked();
  await expect(overflow.getByText("could not be added to your review")).toBeVisible();
  await show("test/retry.test.ts");
  await expect(group.getByText("asserts nothing about the delay of a retry")).toBeVisible();
});

/** Stores the smallest number of turns, the argument included, with which an answer in progress was displayed. */
function observeTurns(): void {
  const observed = { answering: Infinity };
  new MutationObserver(() => {
    const turns = [...document.querySelectorAll("[aria-label=Conversation] > li")];
    const isAnswering = document.body.innerText.includes("is answering…");
    if (!isAnswering || turns.length < 2) return;
    observed.answering = Math.min(turns.length, observed.answering);
    Object.assign(window, observed);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}

test.describe("after a review", () => {
  test.beforeEach(({ page }) => open(page, { REVIEWED: "1" }));

  test("findings are at their lines, accessible in both themes, and fit a phone", async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    const monitor = new PageMonitor(page, mock.origin);
    const overflow = finding(page, OVERFLOW);
    await expect(overflow).toContainText("src/webhooks/retry.ts, line 14");
    await expect(overflow).toContainText("high");
    await expect(overflow).toContainText("90 % sure");
    await expect(overflow).toContainText("Open");
    await expect(overflow.getByText("Suggestion")).toBeVisible();
    await expect(page.getByText("5 findings · 5 open")).toBeVisible();
    // The file of this finding is not changed.
    const outside = page.getByRole("region", { name: "Findings outside the changes" });
    await expect(outside.getByRole("article", { name: /Charges are repeated/ })).toBeVisible();
    // The patch does not contain line 90, so that the finding is at the head of its file.
    await expect(finding(page, /deliver\.ts, line 90/)).toBeVisible();
    monitor.expectClean();
    await expectAccessible(page);
    await expectDarkAndNarrow(page);
  });

  test("copied link of a finding moves the focus to it", async ({ page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const group = finding(page, /asserts nothing/);
    await group.getByRole("button", { name: "Copy link" }).first().click();
    const link = await copiedText(page, "&finding=");
    await page.goto(`${mock.origin}/acme/inbox`);
    await page.goto(link);
    await expect(group).toBeFocused();
    await expect(group).toBeInViewport();
    await page.goto(`${link}0`);
    await expect(page.getByText("The finding of this address cannot be shown")).toBeVisible();
  });

  test("number of findings without a decision is reported, for the list of what needs a person", async ({
    page,
  }) => {
    const reported = (count: number) =>
      page.waitForRequest(
        (request) =>
          request.method() === "PUT" &&
          request.url().endsWith(`/loops/${LOOP}/findings`) &&
          (request.postDataJSON() as { count: number }).count === count,
      );
    const all = reported(5);
    await reopen(page);
    expect((await all).postDataJSON()).toEqual({ repository: "acme/shop", count: 5 });
    const others = reported(4);
    const overflow = finding(page, OVERFLOW);
    await overflow.getByRole("button", { name: "Dismiss" }).click();
    await overflow.getByRole("button", { name: "Dismiss" }).last().click();
    await others;
  });

  test("line of a finding is selected when its file is loaded later than the finding", async ({
    page,
  }) => {
    const send = await holdLines(page);
    await page.goto(
      `${mock.origin}/acme/loops/${LOOP}?tab=changes&repo=acme/shop&file=src/webhooks/retry.ts&line=R14`,
    );
    await expect(finding(page, OVERFLOW)).toBeVisible();
    send();
    await expect(page.getByText("Doubles with each attempt").first()).toBeVisible();
    await expect(page.locator("[data-selected-line]").first()).toBeVisible();
    await expect(finding(page, OVERFLOW)).toBeVisible();
  });

  test("findings that two reviews have in common are one group", async ({ page }) => {
    await page.keyboard.press("f");
    const group = finding(page, /asserts nothing/);
    await expect(async () => {
      await page.keyboard.press("f");
      await expect(group).toBeFocused({ timeout: 1_000 });
    }).toPass();
    await expect(group).toHaveCount(1);
    await expect(group).toContainText("Reviewer and Assistant");
    await group.getByText("Also reported by the assistant").click();
    await expect(group).toContainText("asserts nothing about the delay of a retry");
  });

  test("finding is dismissed with a reason and restored, with the keyboard", async ({ page }) => {
    const overflow = finding(page, OVERFLOW);
    await overflow.getByRole("button", { name: "Dismiss" }).press("Enter");
    await expect(overflow.getByLabel("Reason (optional)")).toBeFocused();
    await page.keyboard.type("Attempts are counted from 0.");
    await page.keyboard.press("Enter");
    await expect(overflow).toContainText("Attempts are counted from 0.");
    await expect(overflow.getByText("Suggestion")).toHaveCount(0);
    await expect(overflow).toBeFocused();
    await expect(page.getByText("5 findings · 4 open")).toBeVisible();
    await reopen(page);
    await expect(overflow).toContainText("Dismissed");
    await page.getByRole("button", { name: "Only open" }).click();
    await expect(overflow).toHaveCount(0);
    await page.getByRole("button", { name: "Only open" }).click();
    await overflow.getByRole("button", { name: "Restore" }).press("Enter");
    await expect(overflow.getByText("Suggestion")).toBeVisible();
    await expect(overflow).toBeFocused();
    // Copying of the suggested code comes first.
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Tab");
    await expect(overflow.locator(":focus")).toHaveCount(1);
    await overflow.getByRole("button", { name: "Dismiss" }).press("Enter");
    await expect(overflow.getByLabel("Reason (optional)")).toHaveValue("");
    await page.keyboard.press("Escape");
    await expect(overflow).toBeFocused();
    await expect(page.getByText("5 findings · 5 open")).toBeVisible();
  });

  test("findings to fix and comments are sent to one loop", async ({ page }) => {
    await finding(page, OVERFLOW).getByRole("button", { name: "Fix" }).click();
    await expect(finding(page, OVERFLOW)).toContainText("In your review");
    await expect(finding(page, OVERFLOW).getByRole("button", { name: "Fix" })).toHaveCount(0);
    await finding(page, OVERFLOW).getByRole("button", { name: "Remove from review" }).click();
    await expect(finding(page, OVERFLOW)).toContainText("Open");
    await finding(page, OVERFLOW).getByRole("button", { name: "Fix" }).click();
    // The comment of a finding is not displayed a second time.
    await expect(page.getByRole("article", { name: /^Comment on/ })).toHaveCount(0);
    await finding(page, /Charges are repeated/)
      .getByRole("button", { name: "Fix" })
      .click();
    await page
      .getByRole("button", { name: "Comment on src/webhooks/retry.ts", exact: true })
      .click();
    await page.getByRole("textbox", { name: "Comment" }).fill("Was this still used?");
    await page.getByRole("button", { name: "Add comment" }).click();
    await expect(page.getByText("5 findings · 3 open")).toBeVisible();
    const starts: unknown[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/run-loop")) starts.push(request.postDataJSON());
    });
    await page.getByRole("button", { name: "Finish review (3)" }).click();
    const dialog = page.getByRole("dialog", { name: "Finish review" });
    const comment = dialog.getByRole("article", { name: /retry\.ts, line 14/ });
    await expect(comment).toContainText("The delay overflows");
    await expect(comment).toContainText("Suggestion: Reject negative attempts");
    await expect(dialog.getByRole("article", { name: /charge\.ts, line 7/ })).toBeVisible();
    await dialog.getByRole("button", { name: "Request changes" }).dblclick();
    await expect(page).not.toHaveURL(new RegExp(LOOP));
    expect(starts).toHaveLength(1);
    expect((starts[0] as { review: { commentIds: string[] } }).review.commentIds).toHaveLength(3);
    await reopen(page);
    await expect(finding(page, OVERFLOW)).toContainText("Sent");
  });

  test("finding that cannot be added or dismissed stays open and says why", async ({ page }) => {
    const overflow = finding(page, OVERFLOW);
    await page.route("**/comments/*", (route) => route.fulfill({ status: 500, json: {} }));
    await overflow.getByRole("button", { name: "Fix" }).click();
    await expect(overflow.getByText("could not be added to your review")).toBeVisible();
    await page.route("**/review-findings/**", async (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            response: await route.fetch({ method: "GET" }),
            status: 500,
            json: { error: "Failed to save findings: no space left", code: "operation_failed" },
          })
        : route.fallback(),
    );
    await overflow.getByRole("button", { name: "Dismiss" }).click();
    await overflow.getByLabel("Reason (optional)").fill("Not ours.");
    await overflow.getByRole("button", { name: "Dismiss finding" }).click();
    await expect(overflow.getByText("no space left")).toBeVisible();
    await expect(overflow.getByLabel("Reason (optional)")).toHaveValue("Not ours.");
    await expect(overflow).toContainText("Open");
  });

  test("card keeps its place while the messages of its discussion are loaded", async ({ page }) => {
    let send: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (send = resolve));
    await page.route("**/reviewer/finding-chat/**", async (route) => {
      await held;
      await route.fallback();
    });
    const overflow = finding(page, OVERFLOW);
    await overflow.getByRole("button", { name: "Chat" }).focus();
    const card = await overflow.elementHandle();
    const place = await overflow.boundingBox();
    await page.keyboard.press("Enter");
    await expect(overflow.getByLabel("Question to the assistant")).toBeFocused();
    await page.keyboard.type("Why?");
    const isSame = () => overflow.evaluate((own, earlier) => own === earlier, card);
    expect(await isSame()).toBe(true);
    expect((await overflow.boundingBox())?.y).toBe(place?.y);
    const loaded = page.waitForResponse("**/reviewer/finding-chat/**");
    send();
    await loaded;
    await expect(overflow.getByRole("button", { name: "Ask" })).toBeEnabled();
    expect(await isSame()).toBe(true);
    expect((await overflow.boundingBox())?.y).toBe(place?.y);
    await expect(overflow.getByLabel("Question to the assistant")).toBeFocused();
    await expect(overflow.getByLabel("Question to the assistant")).toHaveValue("Why?");
  });

  test("debate shows both sides while they answer, and its end", async ({ page }) => {
    // Two debates, and two loads of the page.
    test.slow();
    const overflow = finding(page, OVERFLOW);
    await overflow.getByRole("button", { name: "Argue" }).click();
    const text = overflow.getByLabel("Argument against the reviewer");
    await text.fill("attempt is never negative.");
    // After the earlier conversation was read.
    await expect(overflow.getByRole("button", { name: "Argue" }).last()).toBeEnabled();
    await page.evaluate(observeTurns);
    const argued = page.waitForRequest("**/reviewer/argue/**");
    await text.press("Control+Enter");
    expect((await argued).postDataJSON()).toMatchObject({
      repoPath: "/home/sam/src/acme/shop",
      assistantArgument: "A developer says:\nattempt is never negative.",
      rounds: 5,
      debateHistory: [{ content: "attempt is never negative." }],
    });
    const turns = overflow.getByRole("list", { name: "Conversation" }).getByRole("listitem");
    await expect(overflow.getByText("One side conceded.")).toBeVisible();
    await expect(turns).toHaveText([
      /^Argument/,
      /^Reviewer\s*Nothing rejects/,
      /^Assistant.*never negative/s,
      /^Reviewer/,
    ]);
    // An answer was visible before the end of the debate.
    const answering = await page.evaluate(
      () => (window as unknown as { answering: number }).answering,
    );
    expect(answering).toBeLessThan(4);
    await expect(overflow.getByText("debate-status")).toHaveCount(0);
    await expect(text).toHaveValue("");
    await expectAccessible(page);
    // The turns are stored, and the next argument continues the debate.
    await reopen(page);
    await overflow.getByRole("button", { name: "Argue" }).click();
    await expect(turns).toHaveCount(4);
    await overflow.getByRole("checkbox", { name: /The assistant continues/ }).uncheck();
    await text.fill("So it can be dismissed?");
    const continued = page.waitForRequest("**/reviewer/argue/**");
    await overflow.getByRole("button", { name: "Argue" }).last().click();
    const body = (await continued).postDataJSON() as object;
    expect(body).not.toHaveProperty("rounds");
    expect(body).not.toHaveProperty("debateHistory");
    await expect(turns).toHaveText([/./, /./, /./, /./, /^Argument/, /^Reviewer\s*I insist\./]);
  });

  test("chat about a finding continues out of view, and its markup is text", async ({ page }) => {
    const monitor = new PageMonitor(page, mock.origin);
    const overflow = finding(page, OVERFLOW);
    await overflow.getByRole("button", { name: "Chat" }).click();
    await overflow.getByLabel("Question to the assistant").fill("Does it matter?");
    await overflow.getByRole("button", { name: "Ask" }).click();
    await expect(overflow.getByText("Assistant is answering…")).toBeVisible();
    // The viewer removes what is out of view.
    await page.getByRole("button", { name: "package-lock.json" }).first().click();
    await page.getByRole("button", { name: "retry.ts" }).first().click();
    const turns = overflow.getByRole("list", { name: "Conversation" }).getByRole("listitem");
    await expect(turns).toHaveText([
      /^Question\s*Does it matter\?/,
      /^Assistant\s*It matters only for <b>negative<\/b> attempts\./,
    ]);
    await expect(overflow.getByText("is answering…")).toHaveCount(0);
    monitor.expectClean();
  });

  test("program without an answer keeps the question", async ({ page }) => {
    await page.route("**/reviewer/finding-chat/**", async (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            response: await route.fetch(),
            status: 404,
            json: { error: "Work directory not found", code: "not_found" },
          })
        : route.fallback(),
    );
    const overflow = finding(page, OVERFLOW);
    await overflow.getByRole("button", { name: "Chat" }).click();
    await overflow.getByLabel("Question to the assistant").fill("Does it matter?");
    await overflow.getByRole("button", { name: "Ask" }).click();
    await expect(overflow.getByText("Work directory not found")).toBeVisible();
    await expect(overflow.getByLabel("Question to the assistant")).toHaveValue("Does it matter?");
  });

  test("hostile finding is text", async ({ page }) => {
    const monitor = new PageMonitor(page, mock.origin);
    const hostile = finding(page, /Finding on docs\/<img src=x/);
    await expect(async () => {
      await page.getByRole("button", { name: "Previous finding" }).click();
      await expect(hostile).toBeFocused({ timeout: 1_000 });
    }).toPass();
    await expect(hostile.getByText("<script>alert(1)</script> <img src=")).toBeVisible();
    await expect(hostile.getByRole("img")).toHaveCount(0);
    for (const link of await hostile.getByRole("link").all())
      expect(await link.getAttribute("href")).not.toContain("javascript");
    monitor.expectClean();
  });
});

test.describe("review", () => {
  test("is started, reports its findings and its verdict", async ({ page }) => {
    await open(page, { REVIEW_MS: "4000" });
    await expect(page.getByText(/findings ·/)).toHaveCount(0);
    const started = page.waitForRequest("**/reviewer/review/loop-plan-7");
    await reviewer(page).getByRole("button", { name: "Review these changes" }).click();
    expect((await started).postDataJSON()).toEqual({
      repoPath: "/home/sam/src/acme/shop",
      provider: "reviewer",
      baseBranch: "main",
    });
    await expect(reviewer(page).getByText("Reviewing")).toBeVisible();
    await expect(reviewer(page)).toContainText("Thinking about <b>overflow</b>");
    await reviewer(page).getByText("Log of the review").click();
    await expect(page.getByRole("region", { name: "Log of the review" })).toContainText(
      "Reading src/webhooks/retry.ts",
    );
    await expectAccessible(page);
    await expect(reviewer(page).getByText("Reviewed")).toBeVisible({ timeout: 15_000 });
    await expect(reviewer(page)).toContainText("Verdict: Needs attention");
    await expect(reviewer(page)).toContainText("The delay needs a lower bound.");
    await expect(page.getByText("5 findings · 5 open")).toBeVisible();
    await expect(finding(page, OVERFLOW)).toBeVisible();
    // What the person decided holds for the same finding of the next review.
    await finding(page, OVERFLOW).getByRole("button", { name: "Dismiss" }).click();
    await finding(page, OVERFLOW).getByRole("button", { name: "Dismiss finding" }).click();
    await expect(page.getByText("5 findings · 4 open")).toBeVisible();
    await reviewer(page).getByRole("button", { name: "Review again" }).click();
    await expect(reviewer(page).getByText("Reviewing")).toBeVisible();
    await expect(reviewer(page).getByText("Reviewed")).toBeVisible({ timeout: 15_000 });
    await expect(page.getByText("5 findings · 4 open")).toBeVisible();
    await expect(finding(page, OVERFLOW)).toContainText("Dismissed");
  });

  test("continues without its page, and is stopped", async ({ page }) => {
    await open(page, { REVIEW_MS: "60000" });
    await reviewer(page).getByRole("button", { name: "Review these changes" }).click();
    await expect(reviewer(page).getByText("Reviewing")).toBeVisible();
    await reopen(page);
    await expect(reviewer(page).getByText("Reviewing")).toBeVisible();
    await reviewer(page).getByRole("button", { name: "Stop review" }).click();
    await expect(reviewer(page).getByText("Review stopped")).toBeVisible();
    await expect(reviewer(page).getByRole("button", { name: "Review again" })).toBeVisible();
  });

  test("that is refused says why", async ({ page }) => {
    await open(page, {});
    await page.route("**/reviewer/review/**", async (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            headers: { "Access-Control-Allow-Origin": "*" },
            status: 409,
            json: { error: "A loop is running in this worktree", code: "conflict", pid: 7 },
          })
        : route.fallback(),
    );
    await reviewer(page).getByRole("button", { name: "Review these changes" }).click();
    await expect(reviewer(page).getByText("A loop is running in this worktree")).toBeVisible();
  });

  test("without a reviewer says how to install it", async ({ page }) => {
    await open(page, { REVIEWER: "missing" });
    await reviewer(page).getByText("No reviewer is installed on studio-7").click();
    await expect(reviewer(page)).toContainText("npm install -g @openai/codex");
    await expectAccessible(page);
    await page.setViewportSize({ width: 320, height: 844 });
    await expectNoHorizontalScroll(page);
    await page.route("**/reviewer/available", async (route) =>
      route.fulfill({ response: await route.fetch(), json: { available: true, version: "1.0" } }),
    );
    await reviewer(page).getByRole("button", { name: "Check again" }).click();
    await expect(
      reviewer(page).getByRole("button", { name: "Review these changes" }),
    ).toBeVisible();
  });

  test("is not offered for a worktree whose clone the machine does not list", async ({ page }) => {
    mock = await startMock();
    await signInTo(mock, page);
    await page.route("**/api/gateway/git/repo-path*", async (route) =>
      route.fulfill({ response: await route.fetch(), json: { path: null } }),
    );
    await reopen(page);
    await expect(reviewer(page)).toContainText("Reviews are not available");
  });
});
