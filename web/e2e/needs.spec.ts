/** What needs a person and what does not, from the loop of the real assistant to the inbox. */
import { expect, type Page } from "@playwright/test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { test } from "./model";
import { expectAccessible, PageMonitor } from "./quality";
import { LIVE, LOOP_LIMIT_MS, NEAR_LIMIT_MS } from "./story";

const item = (page: Page) => page.getByRole("main").getByRole("listitem");
const tab = (page: Page, name: string) => page.getByRole("tab", { name });
const visit = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).click();

/** Starts the plan of a change. */
async function startPlan(page: Page, request: string): Promise<void> {
  await visit(page, "New");
  await expect(page.getByLabel("Base branch")).toHaveAttribute("placeholder", "main");
  await page.getByLabel("Describe the change").fill(request);
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page).toHaveURL(LIVE);
}

/** Plans a change, and starts its execution. */
async function startExecution(page: Page, request: string): Promise<void> {
  await startPlan(page, request);
  await expect(page.getByText(/^Plan ready/).first()).toBeVisible({ timeout: LOOP_LIMIT_MS });
  await tab(page, "Plan").click();
  await page.getByRole("button", { name: "Execute" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Execute" }).click();
  await expect(page).toHaveURL(LIVE);
}

test("blocked task is named, and the loop completes it with the answer", async ({
  page,
  demo,
  model,
}) => {
  const { pageUrl, signInUrl, repository, request } = demo.ready;
  const monitor = new PageMonitor(page, new URL(pageUrl).origin);
  const question = "The request does not say which theme a reader without a choice gets.";
  const answer = "Such a reader gets the light theme.";
  const file = `import { test } from "node:test";\n\ntest("${answer}", () => {});\n`;
  let workdir = "";
  let isResumed = false;
  let isRead = false;
  model.answer = ({ prompt, results, turn }) => {
    workdir = /LOOPGATE_WORKDIR="([^"]+)"/.exec(prompt)?.[1] ?? workdir;
    const [, task, root = ""] = /Implement (T-\d\.\d) in '([^']+)'/.exec(prompt) ?? [];
    const blocked = { text: `BLOCKED: T-2.1\n${question}` };
    if (task === undefined)
      return !isRead && prompt.includes("Review T-2.1.") ? blocked : undefined;
    if (task !== "T-2.1")
      return isResumed ? { text: `IMPLEMENTATION_VERIFIED: ${task}\nIt is in place.` } : undefined;
    if (turn === 0) return { command: `cat '${workdir}/prompt.md'` };
    isRead ||= results.includes(answer);
    if (!isRead) return blocked;
    return turn === 1
      ? { command: `cat > '${root}/test/theme.test.js' <<'END'\n${file}END` }
      : { text: "IMPLEMENTATION_VERIFIED: T-2.1\nThe test expects the light theme." };
  };
  await page.goto(signInUrl);

  await test.step("the loop ends with a question about the task", async () => {
    await startExecution(page, request);
    await expect(page.getByRole("region", { name: "Question" })).toBeVisible({
      timeout: LOOP_LIMIT_MS,
    });
  });

  await test.step("the inbox names it", async () => {
    await visit(page, "Needs you");
    await expect(item(page)).toHaveCount(1);
    await expect(item(page)).toContainText("The assistant has a question");
    await expect(item(page)).toContainText("3 of 4 tasks");
    await expectAccessible(page);
    await item(page).getByRole("link", { name: "Answer" }).click();
  });

  await test.step("the loop continues with the answer", async () => {
    const region = page.getByRole("region", { name: "Question" });
    await expect(region).toContainText(`T-2.1: ${question}`);
    await expectAccessible(page);
    isResumed = true;
    await region.getByLabel("Your answer").fill(answer);
    await region.getByRole("button", { name: "Answer and resume" }).dblclick();
    await expect(page.getByText("Pull request opened").first()).toBeVisible({
      timeout: LOOP_LIMIT_MS,
    });
    expect(isRead).toBe(true);
    await tab(page, "Evidence").click();
    await expect(page.getByText(/4 of 4 tasks done/)).toBeVisible();
  });

  await test.step("the pull request contains the work of both loops", async () => {
    const { git } = await demo.clone();
    const pulls = await demo.codeHost(`/repos/${repository}/pulls`);
    expect(pulls).toHaveLength(1);
    const [{ head }] = pulls as [{ head: { ref: string } }];
    expect(await git("show", `origin/${head.ref}:test/theme.test.js`)).toBe(file);
    expect(await git("show", `origin/${head.ref}:index.html`)).toContain('id="theme"');
    await tab(page, "History").click();
    await visit(page, "Needs you");
    await expect(page.getByText("Nothing needs you")).toBeVisible();
  });
  monitor.expectClean();
});

test("conflicts of a pull request are named, and resolved by one loop", async ({
  page,
  demo,
  model,
}) => {
  const { pageUrl, signInUrl, repository, request } = demo.ready;
  const monitor = new PageMonitor(page, new URL(pageUrl).origin);
  const starts: string[] = [];
  page.on("request", (sent) => {
    if (sent.method() === "POST" && sent.url().endsWith("/run-loop")) starts.push(sent.url());
  });
  const conflicts = page.getByRole("main").getByText("Conflicts", { exact: true });
  await page.goto(signInUrl);
  await startExecution(page, request);
  await expect(page.getByText("Pull request opened").first()).toBeVisible({
    timeout: LOOP_LIMIT_MS,
  });

  const clone = await demo.clone();
  await test.step("the base branch changes the lines of the pull request", async () => {
    await tab(page, "Pull request").click();
    await expect(page.getByRole("button", { name: "Merge" })).toBeEnabled();
    await expect(conflicts).toHaveCount(0);
    const file = join(clone.path, "index.html");
    const before = await readFile(file, "utf8");
    await writeFile(file, before.replace("<h1>Garden notes<", "<h1>Notes of our garden<"));
    await clone.git("commit", "--quiet", "--all", "-m", "Name the garden");
    await clone.git("push", "--quiet", "origin", "main");
  });

  await test.step("the pull request and the inbox name the conflicts", async () => {
    await page.getByRole("button", { name: `Read ${repository} #1 again` }).click();
    // The pull request, and the change request after the machine has reported it.
    await expect(conflicts).toHaveCount(2, { timeout: NEAR_LIMIT_MS });
    await expect(page.getByText("It conflicts with the base branch.")).toBeVisible();
    await expect(page.getByRole("button", { name: "Merge" })).toBeDisabled();
    await visit(page, "Needs you");
    await expect(item(page)).toHaveCount(1);
    await expect(item(page)).toContainText("The pull request conflicts with its base branch.");
    await expectAccessible(page);
    await item(page).getByRole("link", { name: "See the conflicts" }).click();
  });

  await test.step("one loop merges the base branch, and pushes", async () => {
    model.answer = ({ prompt, results, turn }) => {
      const [, workdir] = /LOOPGATE_WORKDIR="([^"]+)"/.exec(prompt) ?? [];
      // The first answer reads the request.
      if (
        workdir === undefined ||
        turn === 0 ||
        !results.includes("conflicts with its base branch")
      )
        return undefined;
      const resolution = [
        ...["-e", "'/^[<=>]\\{7\\}/d'", "-e", "'/<h1>Notes of our garden</d'"],
        ...["-e", "'s/<h1>Garden notes</<h1>Notes of our garden</'"],
      ];
      const commands = [
        "git fetch --quiet origin main && git merge FETCH_HEAD; git status --short",
        `sed -i ${resolution.join(" ")} index.html && git commit --quiet --all --no-edit`,
        `loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '${workdir}'`,
      ];
      const command = commands[turn - 1];
      return command === undefined
        ? { text: "Both changes are in.\n\n<promise>COMPLETE</promise>" }
        : { command };
    };
    starts.length = 0;
    await page.getByRole("button", { name: "Resolve conflicts" }).click();
    const dialog = page.getByRole("alertdialog", {
      name: `Resolve the conflicts of ${repository} #1`,
    });
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Start loop" }).dblclick();
    await expect(page).toHaveURL(LIVE);
    expect(starts).toHaveLength(1);
    await expect(page.getByText("Pull request opened").first()).toBeVisible({
      timeout: LOOP_LIMIT_MS,
    });
  });

  await test.step("the pull request can be merged with the changes of both branches", async () => {
    await tab(page, "Pull request").click();
    await expect(page.getByRole("button", { name: "Merge" })).toBeEnabled({
      timeout: NEAR_LIMIT_MS,
    });
    await expect(conflicts).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Resolve conflicts" })).toHaveCount(0);
    expect(await demo.codeHost(`/repos/${repository}/pulls`)).toHaveLength(1);
    await clone.git("fetch", "--quiet");
    const branch = (await page.getByRole("article").locator("bdi").first().textContent()) ?? "";
    const merged = await clone.git("show", `origin/${branch}:index.html`);
    expect(merged).toContain("<h1>Notes of our garden</h1>");
    expect(merged).toContain('<button id="theme"');
    expect(merged).not.toMatch(/^[<=>]{7}/m);
    await visit(page, "Needs you");
    await expect(page.getByText("Nothing needs you")).toBeVisible();
  });
  monitor.expectClean();
});

test("selected change requests are archived; the inbox says when the running loop ends", async ({
  page,
  demo,
  model,
}) => {
  const { pageUrl, signInUrl, request } = demo.ready;
  const monitor = new PageMonitor(page, new URL(pageUrl).origin);
  const selection = page.getByRole("region", { name: "Selection" });
  const titles = ["readers", "editors", "guests"].map((readers) => `${request} for ${readers}`);
  await page.goto(signInUrl);

  await test.step("three change requests are planned", async () => {
    for (const title of titles) await startPlan(page, title);
    await visit(page, "Work");
    await expect(item(page)).toHaveCount(3);
    await expect(item(page).getByText(/^Plan ready/)).toHaveCount(3, { timeout: LOOP_LIMIT_MS });
  });

  await test.step("two are archived by keyboard, and return by undo", async () => {
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    await expect(selection.getByRole("status")).toHaveText("2 selected");
    await expectAccessible(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Archive: 2 selected" }).click();
    await expect(page.getByText("Archived 2 change requests.")).toBeVisible();
    await expect(item(page)).toHaveCount(1);
    await expect(selection).toHaveCount(0);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(item(page)).toHaveCount(3);
  });

  await test.step("all are archived by mouse, and the server keeps it", async () => {
    for (const title of titles) {
      await item(page).filter({ hasText: title }).hover();
      await page.getByRole("checkbox", { name: `Select ${title}` }).click();
    }
    await expect(selection.getByRole("status")).toHaveText("3 selected");
    await selection.getByRole("button", { name: "Archive" }).click();
    await expect(page.getByText("Archived 3 change requests.")).toBeVisible();
    await page.reload();
    await page.getByRole("button", { name: "Archived", exact: true }).click();
    await expect(item(page)).toHaveCount(3);
    await visit(page, "Needs you");
    await expect(page.getByText("Nothing needs you")).toBeVisible();
    await expect(page.getByText("No loop is running.")).toBeVisible();
  });

  await test.step("the inbox says that a loop runs and when it ends, then what it needs", async () => {
    const release = model.hold();
    const start = Date.now();
    await startPlan(page, request);
    await expect(page.getByRole("main").getByText("Running", { exact: true })).toBeVisible();
    // The estimate is the median of the earlier loops, which this one must not exceed.
    await page.clock.setFixedTime(start);
    await visit(page, "Needs you");
    await page.reload();
    const sentence = /^1 loop is running; it ends in about \d+ minutes?\.$/;
    await expect(page.getByText(sentence)).toBeVisible();
    await expectAccessible(page);
    release();
    await expect(item(page)).toContainText("The plan is ready.", { timeout: LOOP_LIMIT_MS });
    await expect(page.getByText("Nothing needs you")).toHaveCount(0);
  });
  monitor.expectClean();
});
