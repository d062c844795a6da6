/** The whole workflow in the browser, from sign-in to the merge, with the real assistant. */
import { expect, type Locator, type Page, test } from "@playwright/test";

import { Demo } from "./demo";
import { expectAccessible, expectNoHorizontalScroll, PageMonitor } from "./quality";

// Includes a run of the real assistant.
const LOOP_LIMIT_MS = 120_000;
const NEAR_LIMIT_MS = 20_000;

let demo: Demo;
// Includes compiling the demo.
const START_LIMIT_MS = 700_000;

test.beforeAll(async () => {
  test.setTimeout(START_LIMIT_MS);
  demo = await Demo.start();
});
test.afterAll(() => demo.stop());

/** Address of a change request at the stage Live. */
const LIVE = /\/work\/[^/]+\?tab=live$/;

/** Opens the plan when the loop that writes it has ended. */
async function openPlan(page: Page): Promise<void> {
  await expect(page.getByText(/^Plan ready/).first()).toBeVisible({ timeout: LOOP_LIMIT_MS });
  await page.getByRole("tab", { name: "Plan" }).click();
  await expect(page.getByRole("article", { name: "Plan" })).toBeVisible();
}

interface Pull {
  title: string;
  state: string;
  head: { ref: string; sha: string };
  base: { ref: string };
}

test("request is planned, executed and delivered as a pull request", async ({ page }) => {
  const { signInUrl, pageUrl, gatewayPort, repository, request } = demo.ready;
  const monitor = new PageMonitor(page, new URL(pageUrl).origin);

  await test.step("sign-in with the link", async () => {
    await page.goto(signInUrl);
    await expect(page.getByRole("heading", { name: "Describe the first change" })).toBeVisible();
    await expect(page.getByRole("button", { name: /Machines: / })).not.toHaveAccessibleName(
      /No machine/,
    );
    await expectAccessible(page);
  });

  await test.step("repository is checked through the control plane without a local gateway", async () => {
    await page.route(`http://127.0.0.1:${gatewayPort}/**`, (route) => route.abort());
    await page.reload();
    await page.getByRole("link", { name: "Start the first loop" }).click();
    await expect(page.getByLabel("Repository")).toHaveValue(repository);
    await expect(page.getByText(/^Found at .* on /)).toBeVisible();
  });

  await test.step("repository is checked by the local gateway after an exchange", async () => {
    await page.unroute(`http://127.0.0.1:${gatewayPort}/**`);
    const from = (path: string) =>
      page.waitForResponse(`http://127.0.0.1:${gatewayPort}${path}`, { timeout: NEAR_LIMIT_MS });
    const responses = Promise.all([from("/gateway-auth/exchange"), from("/api/gateway/repos")]);
    await page.reload();
    for (const response of await responses) expect(response.status(), response.url()).toBe(200);
    await expect(page.getByText(/^Found at \S+$/)).toBeVisible();
  });

  await test.step("the request of the demonstration is filled in", async () => {
    await expect(page.getByText("This is a demonstration")).toBeVisible();
    await expect(page.getByLabel("Describe the change")).toHaveValue(request);
    await expect(page.getByText("Default branch: main")).toBeVisible();
    await page.getByRole("button", { name: "Create plan" }).click();
  });

  await test.step("output of the assistant is shown live", async () => {
    await expect(page.getByRole("heading", { level: 1, name: request })).toBeVisible();
    await expect(
      page.getByRole("log").getByRole("button", { expanded: false }).first(),
    ).toBeVisible({ timeout: LOOP_LIMIT_MS });
  });

  await test.step("plan is shown with its diagram", async () => {
    await openPlan(page);
    const plan = page.getByRole("article", { name: "Plan" });
    await expect(plan.getByRole("heading", { name: "Tasks" })).toBeVisible();
    await expect(
      plan.getByRole("figure", { name: "Diagram" }).locator("svg").first(),
    ).toBeVisible();
    await expectAccessible(page);
  });

  await test.step("Execute creates a pull request", async () => {
    await page.getByRole("button", { name: "Execute" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Execute this plan?" });
    await expect(dialog).toContainText(repository);
    await dialog.getByRole("button", { name: "Execute" }).click();
    await expect(page).toHaveURL(LIVE);
    await expect(page.getByText("Pull request opened").first()).toBeVisible({
      timeout: LOOP_LIMIT_MS,
    });
    await expectAccessible(page);
  });

  await test.step("pull request exists at the code host with the assistant's commits", async () => {
    await page.getByRole("tab", { name: "Evidence" }).click();
    const link = page.getByRole("list", { name: "Results" }).getByRole("link");
    const href = (await link.getAttribute("href")) ?? "";
    const prefix = `${demo.ready.codeHostUrl}${repository}/pull/`;
    expect(href).toContain(prefix);
    const number = href.slice(prefix.length);
    expect(await (await fetch(href)).text()).toContain("theme.js");
    const pull = (await demo.codeHost(`/repos/${repository}/pulls/${number}`)) as Pull;
    expect(pull).toMatchObject({ state: "open", base: { ref: "main" } });
    await expect(page.getByTestId("branch")).toHaveText(pull.head.ref);
    const commits = (await demo.codeHost(`/repos/${repository}/pulls/${number}/commits`)) as {
      sha: string;
    }[];
    expect(commits.at(-1)?.sha).toBe(pull.head.sha);
  });

  await test.step("second execution requires confirmation", async () => {
    await page.getByRole("tab", { name: "Plan" }).click();
    await page.getByRole("button", { name: "Execute again" }).click();
    await expect(page.getByRole("alertdialog")).toContainText(
      "This plan has already been executed",
    );
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  await test.step("the change request has one row, and a page with all stages", async () => {
    await page.getByRole("link", { name: "Work" }).first().click();
    const row = page.getByRole("listitem");
    await expect(row).toHaveCount(1);
    await expect(row).toContainText("Pull request opened");
    await row.getByRole("link", { name: request }).click();
    await expect(page.getByRole("link", { name: "Open pull request" })).toBeVisible();
    await page.getByRole("tab", { name: "Changes" }).click();
    await expect(page.getByText("theme.js").first()).toBeVisible();
    await page.getByRole("tab", { name: "Evidence" }).click();
    await expect(page.getByRole("list", { name: "Results" })).toBeVisible();
    await page.getByRole("tab", { name: "History" }).click();
    await expect(page.getByRole("listitem").filter({ hasText: "Completed" })).toHaveCount(2);
    await expectAccessible(page);
  });

  await test.step("the pull request is merged on the page", async () => {
    await page.getByRole("tab", { name: "Pull request" }).click();
    await expect(page.getByRole("main").getByText("Merged", { exact: true })).toHaveCount(0);
    await page.getByRole("button", { name: "Merge" }).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("radio", { name: /Squash/ }).check();
    await dialog.getByRole("button", { name: "Merge" }).click();
    // The pull request, and the change request after the machine has reported it.
    await expect(page.getByRole("main").getByText("Merged", { exact: true })).toHaveCount(2, {
      timeout: NEAR_LIMIT_MS,
    });
    await expectAccessible(page);
    const pull = (await demo.codeHost(`/repos/${repository}/pulls/1`)) as Pull & {
      merged: boolean;
    };
    expect(pull).toMatchObject({ state: "closed", merged: true });
  });

  await test.step("nothing needs the person any more", async () => {
    await page.getByRole("link", { name: /Needs you/ }).click();
    await expect(page.getByText("Nothing needs you")).toBeVisible();
  });

  monitor.expectClean();
});

test("comments on changes are answered by one loop, and the approval opens the pull request", async ({
  page,
}) => {
  // The scripted changes are for a repository without those of the first test, which are merged.
  await demo.stop();
  demo = await Demo.start();
  const { pageUrl, repository, request } = demo.ready;
  const monitor = new PageMonitor(page, new URL(pageUrl).origin);
  await page.goto(await demo.freshLink());
  await expect(page.getByRole("button", { name: /Machines: / })).toBeVisible();
  const home = page.url().replace(/\/[^/]*$/, "");

  await test.step("the organization holds pull requests", async () => {
    await page.goto(`${home}/settings/organization`);
    await page.getByRole("checkbox", { name: /Wait for a person to approve/ }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Saved.")).toBeVisible();
  });

  const starts: string[] = [];
  page.on("request", (sent) => {
    if (sent.method() === "POST" && sent.url().endsWith("/run-loop")) starts.push(sent.url());
  });

  await test.step("a change is planned", async () => {
    await page.goto(`${home}/new`);
    await expect(page.getByLabel("Repository")).toHaveValue(repository);
    await page.getByLabel("Describe the change").fill(request);
    await expect(page.getByLabel("Base branch")).toHaveAttribute("placeholder", "main");
    await page.getByRole("button", { name: "Create plan" }).click();
    await openPlan(page);
  });

  await test.step("the questions of the plan are answered, and two comments request changes", async () => {
    await page.getByRole("radio", { name: /no, one press is enough/ }).check();
    await page.getByRole("radio", { name: /at the end of the header/ }).check();
    const comments = [
      ["The page may be shown in the light theme", "Say what the page does without JavaScript."],
      ["covers the rules. By hand", "Test the button by hand on a phone, too."],
    ] as const;
    for (const [passage, text] of comments) {
      await page.getByText(passage).first().click({ clickCount: 3 });
      const selected = page.getByRole("toolbar", { name: "Selected passage" });
      await selected.getByRole("button", { name: "Comment" }).click();
      await page.keyboard.type(text);
    }
    await expect(page.getByText("2 comments, 2 of 2 questions answered")).toBeVisible();
    starts.length = 0;
    await page.getByRole("button", { name: "Request changes" }).dblclick();
    await expect(page).toHaveURL(LIVE);
    expect(starts).toHaveLength(1);
    await page.getByRole("tab", { name: "Plan" }).click();
    const plan = page.getByRole("article", { name: "Plan" });
    await expect(plan).toContainText("Without JavaScript the page stays light", {
      timeout: LOOP_LIMIT_MS,
    });
    const answers = page.getByRole("region", { name: "Comments on the version before" });
    await expect(answers.getByRole("listitem")).toContainText([
      "The risks say what the page does without JavaScript.",
      "Nothing changed: the test plan by hand applies to every device.",
    ]);
    await expectAccessible(page);
  });

  await test.step("the second version is executed, its changes appear by themselves, and it waits with its tests", async () => {
    await page.getByRole("button", { name: "Execute" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Execute this plan?" });
    await expect(dialog).toContainText("opens a pull request once a person has approved");
    await dialog.getByRole("button", { name: "Execute" }).click();
    await expect(page).toHaveURL(LIVE);
    await page.getByRole("tab", { name: "Changes" }).click();
    await expect(page.getByText("styles.css").first()).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await page.getByRole("tab", { name: "Evidence" }).click();
    const results = page.getByRole("list", { name: "Results" });
    await expect(results).toContainText("Waiting for approval", { timeout: LOOP_LIMIT_MS });
    // The demonstration does not trust the test command.
    await expect(results).toContainText("The tests were not run");
  });

  await test.step("the change request needs the person", async () => {
    await page.getByRole("link", { name: /Needs you/ }).click();
    await page.getByRole("link", { name: "Review the changes" }).click();
    await expect(page.getByText("wait for your approval")).toBeVisible();
    await expect(page.getByText("styles.css").first()).toBeVisible();
  });

  await test.step("comments on lines of two files are sent at once", async () => {
    starts.length = 0;
    const comments = [
      ["styles.css", '[data-theme="dark"]', "Make the dark paper darker."],
      ["index.html", 'id="theme"', "Give the storage key a longer name."],
    ] as const;
    for (const [path, line, text] of comments) {
      // Before its lines are displayed, a file is commented as a whole.
      await expect(page.getByText(line).first()).toBeVisible();
      await page.getByRole("button", { name: `Comment on ${path}`, exact: true }).click();
      await page.getByRole("textbox", { name: "Comment" }).fill(text);
      await page.getByRole("button", { name: "Add comment" }).click();
      const added = page.getByRole("article", { name: new RegExp(`Comment on ${path}, line`) });
      await expect(added).toContainText(text);
    }
    await page.getByRole("button", { name: "Finish review (2)" }).click();
    const dialog = page.getByRole("dialog", { name: "Finish review" });
    await dialog.getByRole("button", { name: "Request changes" }).dblclick();
    await expect(page).toHaveURL(LIVE);
    expect(starts).toHaveLength(1);
  });

  await test.step("the loop answers each comment", async () => {
    await expect(page.getByText("Changes ready").first()).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await page.getByRole("tab", { name: "Evidence" }).click();
    const results = page.getByRole("list", { name: "Results" });
    await expect(results).toContainText("Waiting for approval");
    // The demonstration does not trust the test command.
    await expect(results).toContainText("The tests were not run");
    await page.getByRole("tab", { name: "Changes" }).click();
    const reviews = page.getByRole("list", { name: "Reviews" });
    await expect(reviews).toContainText("2 comments · 1 done · 1 declined");
    await reviews.getByText("Changes requested").click();
    await expect(reviews).toContainText(/Done in [0-9a-f]{7}: The dark paper is darker\./);
    await expect(reviews).toContainText(
      "Declined: The key is already kept in browsers under this name.",
    );
    await expectAccessible(page);
  });

  let number = "";
  await test.step("the approval opens the pull request of the displayed commit", async () => {
    await page.getByRole("button", { name: "Finish review", exact: true }).click();
    await page.getByRole("button", { name: "Approve and open the pull request" }).dblclick();
    await expect(page.getByText("Pull request opened").first()).toBeVisible({
      timeout: LOOP_LIMIT_MS,
    });
    expect(starts).toHaveLength(2);
    await page.getByRole("tab", { name: "Evidence" }).click();
    const link = page.getByRole("list", { name: "Results" }).getByRole("link");
    number = /\/pull\/(\d+)/.exec((await link.getAttribute("href")) ?? "")?.[1] ?? "";
    const pull = (await demo.codeHost(`/repos/${repository}/pulls/${number}`)) as Pull;
    expect(pull).toMatchObject({ state: "open", base: { ref: "main" } });
    const commits = (await demo.codeHost(
      `/repos/${repository}/pulls/${number}/commits`,
    )) as unknown[];
    expect(commits).toHaveLength(2);
    await page.getByRole("link", { name: /Needs you/ }).click();
    await expect(page.getByText("Nothing needs you")).toBeVisible();
  });

  const openPulls = async () => {
    await page.getByRole("link", { name: "Work" }).first().click();
    await page.getByRole("listitem").getByRole("link", { name: request }).click();
    await page.getByRole("tab", { name: "Pull request" }).click();
  };

  await test.step("a colleague's comment is answered in place, and by a loop", async () => {
    const comment = { body: "Can it be reached by keyboard?", path: "index.html", line: 12 };
    await demo.codeHost(`/repos/${repository}/pulls/${number}/comments`, comment);
    await openPulls();
    const thread = page.getByRole("article", { name: "Comments on index.html, line 12" });
    await expect(thread).toContainText(comment.body);
    await thread.getByRole("button", { name: /^Reply/ }).click();
    const field = page.getByRole("textbox", { name: /^Reply on index\.html/ });
    await field.fill("A loop will check that.");
    await field.press("Control+Enter");
    await expect(thread.getByText("A loop will check that.")).toBeVisible();
    await thread.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Address comments (1)" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Address 1 comment" });
    await dialog.getByRole("button", { name: "Start loop" }).dblclick();
    await expect(page).toHaveURL(LIVE);
    expect(starts).toHaveLength(3);
    await page.getByRole("tab", { name: "Changes" }).click();
    const review = page.getByRole("list", { name: "Reviews" }).getByRole("listitem").first();
    await expect(review).toContainText("1 comment · 1 declined", { timeout: LOOP_LIMIT_MS });
  });

  await test.step("the pull request is merged, and the change request archived", async () => {
    await openPulls();
    await page.getByRole("button", { name: "Merge" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Merge" }).click();
    await expect(page.getByRole("main").getByText("Merged", { exact: true })).toHaveCount(2, {
      timeout: NEAR_LIMIT_MS,
    });
    await page.getByRole("button", { name: `Actions for ${request}` }).click();
    await page.getByRole("menuitem", { name: "Archive" }).click();
    await page.getByRole("link", { name: "Work" }).first().click();
    await expect(page.getByRole("listitem")).toHaveCount(0);
    await page.getByRole("link", { name: /Needs you/ }).click();
    await expect(page.getByText("Nothing needs you")).toBeVisible();
  });

  // The other tests use the same demonstration.
  await test.step("the organization no longer holds pull requests", async () => {
    await page.goto(`${home}/settings/organization`);
    await page.getByRole("checkbox", { name: /Wait for a person to approve/ }).uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Saved.")).toBeVisible();
  });
  monitor.expectClean();
});

/** How a person without a mouse reaches and uses a control. */
interface Input {
  press: (page: Page, control: Locator) => Promise<void>;
  type: (page: Page, field: Locator, text: string) => Promise<void>;
  openNew: (page: Page) => Promise<void>;
  /** Opens a page of the main navigation. */
  visit: (page: Page, name: string) => Promise<void>;
}

// More than the controls of any page.
const MAX_TABS = 120;
const MAX_CHOICES = 10;

/** Moves the focus with Tab, and within tabs and choices with the arrow keys. */
async function focus(page: Page, control: Locator): Promise<void> {
  await expect(control).toBeVisible();
  const isFocused = (element: Element) => element === document.activeElement;
  const isGroupFocused = (element: Element) => {
    const { activeElement: focused } = document;
    if (focused instanceof HTMLInputElement && element instanceof HTMLInputElement)
      return focused === element || (focused.type === "radio" && focused.name === element.name);
    const areTabs = focused?.role === "tab" && element.role === "tab";
    return focused === element || (areTabs && focused.parentElement === element.parentElement);
  };
  for (let step = 0; step < MAX_TABS && !(await control.evaluate(isGroupFocused)); step += 1)
    await page.keyboard.press("Tab");
  for (let step = 0; step < MAX_CHOICES && !(await control.evaluate(isFocused)); step += 1)
    await page.keyboard.press("ArrowRight");
  await expect(control, "reachable by keyboard").toBeFocused();
}

const keyboard: Input = {
  press: async (page, control) => {
    await focus(page, control);
    const isChoice = (await control.getAttribute("type")) === "radio";
    await page.keyboard.press(isChoice ? "Space" : "Enter");
  },
  type: async (page, field, text) => {
    await focus(page, field);
    await page.keyboard.press("Control+a");
    await page.keyboard.type(text);
  },
  openNew: (page) => page.keyboard.press("c"),
  visit: async (page, name) => {
    await page.keyboard.press("g");
    await page.keyboard.press(name === "Work" ? "w" : "i");
  },
};

const touch: Input = {
  press: (_, control) => control.tap(),
  type: async (_, field, text) => {
    await field.tap();
    await field.fill(text);
  },
  openNew: (page) =>
    page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "New" }).tap(),
  visit: (page, name) =>
    page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).tap(),
};

/** From the request to the pull request and its changes. */
async function story(page: Page, { press, type, openNew, visit }: Input, request: string) {
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const monitor = new PageMonitor(page, new URL(demo.ready.pageUrl).origin);
  await page.goto(await demo.freshLink());
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await openNew(page);
  await expect(page.getByLabel("Repository")).toHaveValue(demo.ready.repository);
  await type(page, page.getByLabel("Describe the change"), request);
  await press(page, button("Create plan"));
  await expect(page.getByRole("heading", { level: 1, name: request })).toBeVisible();
  await expect(page.getByText(/^Plan ready/).first()).toBeVisible({ timeout: LOOP_LIMIT_MS });

  // The plan, with its open questions.
  await visit(page, "Work");
  await press(page, page.getByRole("listitem").getByRole("link", { name: request }));
  await expect(page.getByRole("article", { name: "Plan" })).toBeVisible();
  await press(page, page.getByRole("radio", { name: /no, one press is enough/ }));
  await expectNoHorizontalScroll(page);
  await press(page, button("Execute"));
  const dialog = page.getByRole("alertdialog", { name: "Execute this plan?" });
  await press(page, dialog.getByRole("button", { name: "Execute" }));
  await expect(page.getByText("Pull request opened").first()).toBeVisible({
    timeout: LOOP_LIMIT_MS,
  });

  await visit(page, "Work");
  await press(page, page.getByRole("listitem").getByRole("link", { name: request }));
  for (const tab of ["Changes", "Evidence", "History"]) {
    await press(page, page.getByRole("tab", { name: tab }));
    await expect(page.getByRole("tab", { name: tab, selected: true })).toBeVisible();
    await expectNoHorizontalScroll(page);
  }
  await visit(page, "Needs you");
  await expect(page.getByText("Nothing needs you")).toBeVisible();
  monitor.expectClean();
}

test("story is completed by keyboard alone", ({ page }) =>
  story(page, keyboard, "Add a dark theme with a key"));

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("story is completed by touch", ({ page }) =>
    story(page, touch, "Add a dark theme with a finger"));
});

test("used link shows an error", async ({ page, context }) => {
  // The first test may have used the link. After this navigation it is used in any case.
  await page.goto(demo.ready.signInUrl);
  await expect(
    page.getByText(/Describe the first change|This link is no longer valid|Needs you/).first(),
  ).toBeVisible();
  await context.clearCookies();
  await page.goto(demo.ready.signInUrl);
  await expect(page.getByRole("heading", { name: "This link is no longer valid" })).toBeVisible();
  await expect(page.getByText("the command that started Loopgate")).toBeVisible();
  await page.goto(await demo.freshLink());
  await expect(page.getByRole("button", { name: /Machines: / })).toBeVisible();
});
