/** From the sign-in link to the pull request, by hand, with the real assistant. */
import { expect, test } from "@playwright/test";

import { Demo } from "./demo";
import { expectAccessible, Watch } from "./quality";

/** The assistant runs for real. */
const LOOP_LIMIT_MS = 120_000;
const NEAR_LIMIT_MS = 20_000;

let demo: Demo;
/** Compiling the demo may come first. */
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

test("a request becomes a plan, and the plan a pull request", async ({ page }) => {
  const { signInUrl, pageUrl, gatewayPort, repository, request } = demo.ready;
  const watch = new Watch(page, new URL(pageUrl).origin);

  await test.step("the link signs in", async () => {
    await page.goto(signInUrl);
    await expect(page.getByRole("heading", { name: "No loops yet" })).toBeVisible();
    await expect(page.getByRole("button", { name: /Desktops: / })).not.toHaveAccessibleName(
      /No desktop/,
    );
    await expectAccessible(page);
  });

  await test.step("repositories come through the control plane when no gateway is near", async () => {
    await page.route(`http://127.0.0.1:${gatewayPort}/**`, (route) => route.abort());
    await page.reload();
    await page.getByRole("link", { name: "Start the first loop" }).click();
    // The only repository is chosen by itself.
    await expect(page.getByLabel("Repository")).toHaveValue(repository);
  });

  await test.step("repositories come from the gateway of this machine, after an exchange", async () => {
    await page.unroute(`http://127.0.0.1:${gatewayPort}/**`);
    const from = (path: string) =>
      page.waitForResponse(`http://127.0.0.1:${gatewayPort}${path}`, { timeout: NEAR_LIMIT_MS });
    const answers = Promise.all([from("/gateway-auth/exchange"), from("/api/gateway/repos")]);
    await page.reload();
    for (const answer of await answers) expect(answer.status(), answer.url()).toBe(200);
    await expect(page.getByLabel("Repository")).toHaveValue(repository);
  });

  await test.step("the request is entered", async () => {
    await page.getByLabel("What should change?").fill(request);
    await expect(page.getByLabel("Start from branch")).toHaveValue("main");
    await page.getByRole("button", { name: "Make a plan" }).click();
  });

  await test.step("the assistant is seen at work", async () => {
    await expect(page.getByRole("heading", { level: 1, name: request })).toBeVisible();
    await expect(
      page
        .getByRole("log")
        .getByText(/^Tool: /)
        .first(),
    ).toBeVisible({ timeout: LOOP_LIMIT_MS });
  });

  await test.step("the plan appears, with its diagram", async () => {
    await expect(page.getByRole("tab", { name: "Plan" })).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await expect(page.getByText("Completed").first()).toBeVisible();
    const plan = page.getByRole("article", { name: "Plan" });
    await expect(plan.getByRole("heading", { name: "Tasks" })).toBeVisible();
    await expect(
      plan.getByRole("figure", { name: "Diagram" }).locator("svg").first(),
    ).toBeVisible();
    await expectAccessible(page);
  });

  await test.step("Execute leads to a pull request", async () => {
    const planUrl = page.url();
    await page.getByRole("button", { name: "Execute" }).click();
    await expect(page).not.toHaveURL(planUrl);
    await expect(page.getByText("Pull request opened")).toBeVisible({ timeout: LOOP_LIMIT_MS });
    await expectAccessible(page);
  });

  await test.step("it exists at the code host, with the assistant's commits", async () => {
    const link = page.getByRole("list", { name: "Results" }).getByRole("link");
    const href = (await link.getAttribute("href")) ?? "";
    const place = `${demo.ready.codeHostUrl}${repository}/pull/`;
    expect(href).toContain(place);
    const number = href.slice(place.length);
    expect(await (await fetch(href)).text()).toContain("theme.js");
    const pull = (await demo.codeHost(`/repos/${repository}/pulls/${number}`)) as Pull;
    expect(pull).toMatchObject({ state: "open", base: { ref: "main" } });
    await expect(page.getByTestId("branch")).toHaveText(pull.head.ref);
    const commits = (await demo.codeHost(`/repos/${repository}/pulls/${number}/commits`)) as {
      sha: string;
    }[];
    expect(commits.at(-1)?.sha).toBe(pull.head.sha);
  });

  await test.step("the plan says that it was executed, and asks before it is again", async () => {
    await page.getByRole("tab", { name: "Plan" }).click();
    await page.getByRole("link", { name: /· version/ }).click();
    await page.getByRole("button", { name: "Execute again" }).click();
    await expect(page.getByRole("alertdialog")).toContainText("It was executed already");
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  await test.step("the list shows both loops", async () => {
    await page.getByRole("link", { name: "Loopgate, all loops" }).click();
    await expect(page.getByRole("row")).toHaveCount(3);
    await expect(page.getByRole("link", { name: /Pull request/ })).toBeVisible();
  });

  watch.expectClean();
});

test("a used link explains itself", async ({ page, context }) => {
  // The first test may have used it already; after this, it is used for certain.
  await page.goto(demo.ready.signInUrl);
  await expect(
    page.getByText(/No loops yet|This link is used up|Pull request/).first(),
  ).toBeVisible();
  await context.clearCookies();
  await page.goto(demo.ready.signInUrl);
  await expect(page.getByRole("heading", { name: "This link is used up" })).toBeVisible();
  await expect(page.getByText("the command that started Loopgate")).toBeVisible();
  await page.goto(await demo.freshLink());
  await expect(page.getByRole("button", { name: /Desktops: / })).toBeVisible();
});
