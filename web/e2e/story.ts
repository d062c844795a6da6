/** The steps of a change from the sign-in link to the archive, for each way to operate the app. */
import { expect, type Page, test } from "@playwright/test";

import type { Demo } from "./demo";
import type { Input } from "./inputs";
import { PageMonitor } from "./quality";

// Includes a run of the real assistant.
export const LOOP_LIMIT_MS = 120_000;
export const NEAR_LIMIT_MS = 60_000;

/** Address of a change request at the stage Live. */
export const LIVE = /\/work\/[^/]+\?tab=live$/;

export interface Pull {
  title: string;
  state: string;
  merged: boolean;
  head: { ref: string; sha: string };
  base: { ref: string };
}

const PLAN_COMMENTS = [
  ["The page may be shown in the light theme", "Say what the page does without JavaScript."],
  ["covers the rules. By hand", "Test the button by hand on a phone, too."],
] as const;

interface LineComment {
  path: string;
  /** Line of the changed file, and a part of its text. */
  line: number;
  code: string;
  text: string;
  answer: RegExp;
}

/** Comments that the script answers. */
const LINE_COMMENTS: LineComment[] = [
  {
    path: "styles.css",
    line: 8,
    code: "--paper: #161d15;",
    text: "Make the dark paper darker.",
    answer: /Done in [0-9a-f]{7}: The dark paper is darker\./,
  },
  {
    path: "index.html",
    line: 12,
    code: 'id="theme"',
    text: "Say on the button what it switches.",
    answer: /Done in [0-9a-f]{7}: The button says "Dark theme"\./,
  },
  {
    path: "index.html",
    line: 22,
    code: 'src="theme.js"',
    text: "Give the storage key a longer name.",
    answer: /Declined: The key is already kept in browsers under this name\./,
  },
];

/** Plans, reviews, delivers and merges a change. */
export async function completeStory(page: Page, demo: Demo, input: Input): Promise<void> {
  const { repository, request } = demo.ready;
  const { press, pressTwice, type, visit, check } = input;
  const monitor = new PageMonitor(page, new URL(demo.ready.pageUrl).origin);
  const main = page.getByRole("main");
  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const tab = (name: string) => page.getByRole("tab", { name });
  const item = page.getByRole("listitem");
  const results = page.getByRole("list", { name: "Results" });
  const starts: string[] = [];
  page.on("request", (sent) => {
    if (sent.method() === "POST" && sent.url().endsWith("/run-loop")) starts.push(sent.url());
  });
  await demo.trustTests("npm test");

  await test.step("sign-in with the link", async () => {
    await page.goto(demo.ready.signInUrl);
    await expect(page.getByRole("heading", { name: "Describe the first change" })).toBeVisible();
  });

  await test.step("the organization holds pull requests", async () => {
    await press(button(/^More/));
    await press(page.getByRole("link", { name: "Settings" }));
    await press(page.getByRole("link", { name: "Organization" }));
    await press(page.getByRole("checkbox", { name: /Wait for a person to approve/ }));
    await press(button("Save"));
    await expect(page.getByText("Saved.")).toBeVisible();
  });

  await test.step("a change is planned", async () => {
    await input.openNew(page);
    await expect(page.getByLabel("Repository")).toHaveValue(repository);
    await type(page.getByLabel("Describe the change"), request);
    await expect(page.getByLabel("Base branch")).toHaveAttribute("placeholder", "main");
    await press(button("Create plan"));
    await expect(page.getByText(/^Plan ready/).first()).toBeVisible({ timeout: LOOP_LIMIT_MS });
  });

  await test.step("the plan's questions are answered, and two comments request changes", async () => {
    await press(tab("Plan"));
    await press(page.getByRole("radio", { name: /no, one press is enough/ }));
    await press(page.getByRole("radio", { name: /at the end of the header/ }));
    for (const [passage, text] of PLAN_COMMENTS) {
      await input.commentOnPassage(page, passage);
      await page.keyboard.type(text);
    }
    await expect(page.getByText("2 comments, 2 of 2 questions answered")).toBeVisible();
    await check(page);
    starts.length = 0;
    await pressTwice(button("Request changes"));
    await expect(page).toHaveURL(LIVE);
    expect(starts).toHaveLength(1);
    await press(tab("Plan"));
    await expect(page.getByRole("article", { name: "Plan" })).toContainText(
      "Without JavaScript the page stays light",
      { timeout: LOOP_LIMIT_MS },
    );
    const answers = page.getByRole("region", { name: "Comments on the version before" });
    await expect(answers.getByRole("listitem")).toContainText([
      "The risks say what the page does without JavaScript.",
      "Nothing changed: the test plan by hand applies to every device.",
    ]);
    await check(page);
  });

  await test.step("the second version is executed", async () => {
    const release = await demo.holdNext("npm");
    await press(button("Execute"));
    const dialog = page.getByRole("alertdialog", { name: "Execute this plan?" });
    await expect(dialog).toContainText("opens a pull request once a person has approved");
    await pressTwice(dialog.getByRole("button", { name: "Execute" }));
    await expect(page).toHaveURL(LIVE);
    expect(starts).toHaveLength(2);

    await test.step("the changes are read while the loop runs", async () => {
      await press(tab("Changes"));
      const files = page.getByRole("navigation", { name: "Changed files" });
      await expect(files.getByRole("button", { name: "theme.test.js" })).toBeVisible({
        timeout: LOOP_LIMIT_MS,
      });
      for (const { path, code } of LINE_COMMENTS) {
        await press(files.getByRole("button", { name: path }));
        await expect(page.getByText(code).first()).toBeInViewport();
      }
      await expect(main.getByText("Running", { exact: true })).toBeVisible();
      await check(page);
    });

    await release();
    await press(tab("Evidence"));
    await expect(results).toContainText("Waiting for approval", { timeout: LOOP_LIMIT_MS });
    await expect(
      main.getByText(/4 of 4 tasks done; .* tests pass, 3 more than before/),
    ).toBeVisible();
  });

  await test.step("three comments on lines of two files are sent at once", async () => {
    await visit(page, "Needs you");
    await press(page.getByRole("link", { name: "Review the changes" }));
    await expect(page.getByText("wait for your approval")).toBeVisible();
    for (const { path, line, code, text } of LINE_COMMENTS) {
      // Before its lines are displayed, a file is commented as a whole.
      await expect(page.getByText(code).first()).toBeAttached();
      await press(button(`Comment on ${path}`));
      await type(page.getByRole("spinbutton", { name: "First line" }), String(line));
      await type(page.getByRole("spinbutton", { name: "Last line" }), String(line));
      await type(page.getByRole("textbox", { name: "Comment" }), text);
      await press(button("Add comment"));
      const added = page.getByRole("article", { name: `Comment on ${path}, line ${line}` });
      await expect(added).toContainText(text);
    }
    await check(page);
    await press(button("Finish review (3)"));
    const dialog = page.getByRole("dialog", { name: "Finish review" });
    await pressTwice(dialog.getByRole("button", { name: "Request changes" }));
    await expect(page).toHaveURL(LIVE);
    expect(starts).toHaveLength(3);
  });

  await test.step("the loop answers each comment, and the tests still pass", async () => {
    await expect(page.getByText("Changes ready").first()).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await press(tab("Evidence"));
    await expect(results).toContainText("Waiting for approval");
    await expect(main.getByText(/tests pass, 3 more than before/)).toBeVisible();
    await press(tab("Changes"));
    const reviews = page.getByRole("list", { name: "Reviews" });
    await expect(reviews).toContainText("3 comments · 2 done · 1 declined");
    await press(reviews.locator("summary").first());
    for (const { answer } of LINE_COMMENTS) await expect(reviews).toContainText(answer);
    await check(page);
  });

  let number = "";
  await test.step("the approval opens the pull request of the displayed commit", async () => {
    await press(button("Finish review"));
    await pressTwice(button("Approve and open the pull request"));
    await expect(page.getByText("Pull request opened").first()).toBeVisible({
      timeout: LOOP_LIMIT_MS,
    });
    expect(starts).toHaveLength(4);
    await press(tab("Evidence"));
    const href = (await results.getByRole("link").getAttribute("href")) ?? "";
    number = /\/pull\/(\d+)/.exec(href)?.[1] ?? "";
    const pull = await demo.codeHost(`/repos/${repository}/pulls/${number}`);
    expect(pull).toMatchObject({ state: "open", base: { ref: "main" } });
    expect(await demo.codeHost(`/repos/${repository}/pulls/${number}/commits`)).toHaveLength(2);
    await visit(page, "Needs you");
    await expect(page.getByText("Nothing needs you")).toBeVisible();
  });

  const openTab = async (name: string) => {
    await visit(page, "Work");
    await press(item.getByRole("link", { name: request }));
    await press(tab(name));
  };

  await test.step("the result is tried on the machine, with the consent of its owner", async () => {
    await openTab("Deploy");
    await pressTwice(page.getByRole("button", { name: /^Deploy / }));
    const consent = page.getByText(/^loopgate trust .* --deploy /);
    await demo.runShown((await consent.textContent()) ?? "");
    await press(button("Try again"));
    const opened = page.getByRole("link", { name: /^Open / });
    await expect(opened).toBeVisible({ timeout: NEAR_LIMIT_MS });
    const served = await page.request.get((await opened.getAttribute("href")) ?? "");
    expect(await served.text()).toContain('id="theme"');
    // The machine has reported it, which lists show as well.
    await expect(main.getByText("Deployed", { exact: true })).toBeVisible();
    await check(page);
    await press(page.getByRole("button", { name: /^Stop / }));
    await expect(main.getByText("Not deployed", { exact: true })).toBeVisible();
    await expect(main.getByText("Deployed", { exact: true })).toHaveCount(0);
  });

  await test.step("a colleague's comment is answered in place, and by a loop", async () => {
    const comment = { body: "Can it be reached by keyboard?", path: "index.html", line: 12 };
    await demo.codeHost(`/repos/${repository}/pulls/${number}/comments`, comment);
    await openTab("Pull request");
    const thread = page.getByRole("article", { name: "Comments on index.html, line 12" });
    await expect(thread).toContainText(comment.body);
    await press(thread.getByRole("button", { name: /^Reply/ }));
    await type(
      page.getByRole("textbox", { name: /^Reply on index\.html/ }),
      "A loop will check that.",
    );
    await press(thread.getByRole("button", { name: "Post" }));
    await expect(thread.getByText("A loop will check that.")).toBeVisible();
    await press(thread.getByRole("checkbox"));
    await press(button("Address comments (1)"));
    await check(page);
    const dialog = page.getByRole("alertdialog", { name: "Address 1 comment" });
    await pressTwice(dialog.getByRole("button", { name: "Start loop" }));
    await expect(page).toHaveURL(LIVE);
    expect(starts).toHaveLength(5);
    await press(tab("Changes"));
    const review = page.getByRole("list", { name: "Reviews" }).getByRole("listitem").first();
    await expect(review).toContainText("1 comment · 1 declined", { timeout: LOOP_LIMIT_MS });
  });

  await test.step("the pull request is merged, and the change request archived", async () => {
    await openTab("Pull request");
    await press(button("Merge"));
    await press(page.getByRole("alertdialog").getByRole("button", { name: "Merge" }));
    // The pull request, and the change request after the machine has reported it.
    await expect(main.getByText("Merged", { exact: true })).toHaveCount(2, {
      timeout: NEAR_LIMIT_MS,
    });
    const pull = await demo.codeHost(`/repos/${repository}/pulls/${number}`);
    expect(pull).toMatchObject({ state: "closed", merged: true });
    await press(button(`Actions for ${request}`));
    await press(page.getByRole("menuitem", { name: "Archive" }));
    await visit(page, "Work");
    await expect(item).toHaveCount(0);
    await visit(page, "Needs you");
    await expect(page.getByText("Nothing needs you")).toBeVisible();
  });
  monitor.expectClean();
}
