/** What needs a person and what does not, from the loop of the real assistant to the inbox. */
import { expect, type Page } from "@playwright/test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { test } from "./model";
import { expectAccessible, PageMonitor } from "./quality";
import { LIVE, LOOP_LIMIT_MS, NEAR_LIMIT_MS, type Pull } from "./story";

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

test("loop with blocked tasks waits for answers, continues with them and completes", async ({
  page,
  demo,
  model,
}) => {
  const { pageUrl, signInUrl, repository, request } = demo.ready;
  const monitor = new PageMonitor(page, new URL(pageUrl).origin);
  const question = page.getByRole("region", { name: "Question" });
  const reason = "The request does not say which theme a reader without a choice gets.";
  let workdir = "";
  let answers = 0;
  model.answer = ({ prompt, turn }) => {
    workdir = /LOOPGATE_WORKDIR="([^"]+)"/.exec(prompt)?.[1] ?? workdir;
    const blocked = `BLOCKED: T-2.1\n${reason}`;
    const verdict = [blocked, "NOT_IMPLEMENTED: T-2.1\nThe questions of the plan are open."][
      answers
    ];
    if (prompt.includes("Review T-2.1."))
      return verdict === undefined ? undefined : { text: verdict };
    const [, task, root = ""] = /Implement (T-\d\.\d) in '([^']+)'/.exec(prompt) ?? [];
    if (task === undefined) return undefined;
    if (answers === 0) return task === "T-2.1" ? { text: blocked } : undefined;
    if (task === "T-2.1" && turn === 0)
      return { command: `sed 's|^|// |' '${workdir}/prompt.md' > '${root}/test/theme.test.js'` };
    return { text: `IMPLEMENTATION_VERIFIED: ${task}\nIt is in place.` };
  };
  const answer = async (text: string) => {
    await expectAccessible(page);
    answers += 1;
    await question.getByLabel("Your answer").fill(text);
    await question.getByRole("button", { name: "Answer and resume" }).dblclick();
    await expect(question).toHaveCount(0);
  };
  const expectNeed = async (need: string) => {
    await expect(question).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await visit(page, "Needs you");
    await expect(item(page)).toHaveCount(1);
    await expect(item(page)).toContainText(need);
    await expect(item(page)).toContainText("3 of 4 tasks");
    await expectAccessible(page);
    await item(page).getByRole("link", { name: "Answer" }).click();
  };
  await page.goto(signInUrl);

  await test.step("all remaining tasks are blocked", async () => {
    await startExecution(page, request);
    await expectNeed("The assistant has a question and continues with your answer.");
    await expect(question).toContainText(`T-2.1: ${reason}`);
    await answer("Such a reader gets the light theme.");
  });

  await test.step("tasks wait for answers to open questions of the plan", async () => {
    await expectNeed("Some tasks wait for answers to open questions of the plan.");
    await expect(question).toContainText("Should the switch offer");
    await expect(question).toContainText("Where should the button stand?");
    await answer("One press is enough, and the button is at the end.");
  });

  await test.step("the loop completes, and its pull request contains all work", async () => {
    await expect(page.getByText("Pull request opened").first()).toBeVisible({
      timeout: LOOP_LIMIT_MS,
    });
    await tab(page, "Evidence").click();
    await expect(page.getByText(/4 of 4 tasks done/)).toBeVisible();
    const pulls = await demo.codeHost(`/repos/${repository}/pulls`);
    expect(pulls).toHaveLength(1);
    const [{ head }] = pulls as [Pull];
    const { git } = await demo.clone();
    const read = (path: string) => git("show", `origin/${head.ref}:${path}`);
    expect(await read("test/theme.test.js")).toContain("// One press is enough");
    expect(await read("index.html")).toContain('id="theme"');
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
      if (workdir === undefined || turn === 0) return undefined;
      const resolution = [
        ...["-e", "'/^[<=>]\\{7\\}/d'", "-e", "'/<h1>Notes of our garden</d'"],
        ...["-e", "'s/<h1>Garden notes</<h1>Notes of our garden</'"],
      ];
      // The delivery refuses a merge that has not finished. Only the request says that.
      const finish = results.includes("Commit the merge") ? "commit --all --no-edit" : "add --all";
      const commands = [
        "git fetch --quiet origin main && git merge FETCH_HEAD; git status --short",
        `sed -i ${resolution.join(" ")} index.html && git ${finish}`,
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
