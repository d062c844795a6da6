/** The whole workflow in the browser, from sign-in to pull request, with the real assistant. */
import { expect, test } from "@playwright/test";

import { Demo } from "./demo";
import { expectAccessible, PageMonitor } from "./quality";

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

  await test.step("repositories are loaded through the control plane without a local gateway", async () => {
    await page.route(`http://127.0.0.1:${gatewayPort}/**`, (route) => route.abort());
    await page.reload();
    await page.getByRole("link", { name: "Start the first loop" }).click();
    // A single repository is preselected.
    await expect(page.getByLabel("Repository")).toHaveValue(repository);
  });

  await test.step("repositories are loaded from the local gateway after an exchange", async () => {
    await page.unroute(`http://127.0.0.1:${gatewayPort}/**`);
    const from = (path: string) =>
      page.waitForResponse(`http://127.0.0.1:${gatewayPort}${path}`, { timeout: NEAR_LIMIT_MS });
    const responses = Promise.all([from("/gateway-auth/exchange"), from("/api/gateway/repos")]);
    await page.reload();
    for (const response of await responses) expect(response.status(), response.url()).toBe(200);
    await expect(page.getByLabel("Repository")).toHaveValue(repository);
  });

  await test.step("the request is entered", async () => {
    await page.getByLabel("Describe the change").fill(request);
    await expect(page.getByLabel("Base branch")).toHaveValue("main");
    await page.getByRole("button", { name: "Create plan" }).click();
  });

  await test.step("output of the assistant is shown live", async () => {
    await expect(page.getByRole("heading", { level: 1, name: request })).toBeVisible();
    await expect(
      page.getByRole("log").getByRole("button", { expanded: false }).first(),
    ).toBeVisible({ timeout: LOOP_LIMIT_MS });
  });

  await test.step("plan is shown with its diagram", async () => {
    await expect(page.getByRole("tab", { name: "Plan" })).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await expect(page.getByText("Completed").first()).toBeVisible();
    const plan = page.getByRole("article", { name: "Plan" });
    await expect(plan.getByRole("heading", { name: "Tasks" })).toBeVisible();
    await expect(
      plan.getByRole("figure", { name: "Diagram" }).locator("svg").first(),
    ).toBeVisible();
    await expectAccessible(page);
  });

  await test.step("Execute creates a pull request", async () => {
    const planUrl = page.url();
    await page.getByRole("button", { name: "Execute" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Execute this plan?" });
    await expect(dialog).toContainText(repository);
    await dialog.getByRole("button", { name: "Execute" }).click();
    await expect(page).not.toHaveURL(planUrl);
    await expect(page.getByText("Pull request opened")).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await expectAccessible(page);
  });

  await test.step("pull request exists at the code host with the assistant's commits", async () => {
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
    await page.getByRole("link", { name: /· version/ }).click();
    await page.getByRole("button", { name: "Execute again" }).click();
    await expect(page.getByRole("alertdialog")).toContainText(
      "This plan has already been executed",
    );
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  await test.step("the change request has one row, and a page with all stages", async () => {
    await page.getByRole("link", { name: "Work" }).click();
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

  await test.step("nothing needs the person any more", async () => {
    await page.getByRole("link", { name: /Needs you/ }).click();
    await expect(page.getByText("Nothing needs you")).toBeVisible();
  });

  monitor.expectClean();
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
