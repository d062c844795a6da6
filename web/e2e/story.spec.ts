/** The whole workflow in the browser, from sign-in to the merge, with the real assistant. */
import { expect } from "@playwright/test";

import { test } from "./demo";
import { keyboard, mouse, touch } from "./inputs";
import { expectAccessible, PageMonitor } from "./quality";
import { completeStory, LIVE, LOOP_LIMIT_MS, NEAR_LIMIT_MS, type Pull } from "./story";

test("request is planned, executed and delivered as a pull request", async ({ page, demo }) => {
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
    await expect(page.getByText(/^Plan ready/).first()).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await page.getByRole("tab", { name: "Plan" }).click();
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

test("change is reviewed, answered, merged and archived with the mouse", ({ page, demo }) =>
  completeStory(page, demo, mouse));

test("change is reviewed, answered, merged and archived by keyboard alone", ({ page, demo }) =>
  completeStory(page, demo, keyboard));

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("change is reviewed, answered, merged and archived by touch", ({ page, demo }) =>
    completeStory(page, demo, touch));
});

test("used link shows an error", async ({ page, context, demo }) => {
  await page.goto(demo.ready.signInUrl);
  await expect(page.getByRole("heading", { name: "Describe the first change" })).toBeVisible();
  await context.clearCookies();
  await page.goto(demo.ready.signInUrl);
  await expect(page.getByRole("heading", { name: "This link is no longer valid" })).toBeVisible();
  await expect(page.getByText("the command that started Loopgate")).toBeVisible();
  await page.goto(await demo.freshLink());
  await expect(page.getByRole("button", { name: /Machines: / })).toBeVisible();
});
