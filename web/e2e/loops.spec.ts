/** The page of a loop, against the mock server. For its log, see live.spec.ts. */
import { expect, test } from "@playwright/test";

import { id, useMock } from "./mock";
import { expectNoHorizontalScroll } from "./quality";

const mock = useMock();
const { open, signIn } = mock;

test("tab of a loop is part of the address", async ({ page }) => {
  await signIn(page, `/acme/loops/${id(11)}?tab=cost`);
  await expect(page.getByRole("tab", { name: "Cost", selected: true })).toBeVisible();
  await page.getByRole("tab", { name: "Output" }).click();
  await expect(page).toHaveURL(/\?tab=output$/);
  await page.goBack();
  await expect(page.getByRole("tab", { name: "Cost", selected: true })).toBeVisible();
  await open(page, `/acme/loops/${id(11)}?tab=unknown`);
  await expect(page.getByRole("tab", { name: "Result", selected: true })).toBeVisible();
});

test("running loop is cancelled after confirmation", async ({ page }) => {
  await signIn(page, `/acme/loops/${id(10)}`);
  const dialog = page.getByRole("alertdialog", { name: "Cancel this loop?" });
  await page.getByRole("button", { name: "Cancel loop" }).click();
  await dialog.getByRole("button", { name: "Keep running" }).click();
  // The page behind an open dialog is hidden from roles and clicks.
  await expect(dialog).toBeHidden();
  await expect(page.getByText("Running").first()).toBeVisible();
  await page.getByRole("button", { name: "Cancel loop" }).click();
  await dialog.getByRole("button", { name: "Cancel loop" }).click();
  await expect(page.getByText("Cancelled").first()).toBeVisible();
});

test("loop that needs approval shows the approve command", async ({ page }) => {
  await signIn(page, `/acme/loops/${id(14)}`);
  await expect(
    page.getByText("The loop starts when the owner of the machine approves it"),
  ).toBeVisible();
  const command = page.getByText("loopgate approvals approve 00000073", { exact: true });
  await expect(command).toBeVisible();
  await expect(page.getByText("Waiting for approval", { exact: true })).toBeVisible();
  await expect(page.getByText("Waiting for output")).toBeHidden();
});

test("summary of a loop is not truncated on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 860 });
  await signIn(page, `/acme/loops/${id(12)}`);
  const note = page.getByText(/61,480 in · 5,210 out · .* cached/);
  await expect(note).toBeVisible();
  expect(await note.evaluate((text) => text.scrollWidth - text.clientWidth)).toBeLessThanOrEqual(0);
});

test("failed loop shows advice and technical details", async ({ page }) => {
  await signIn(page, `/acme/loops/${id(13)}`);
  await expect(page.getByText("Wait until the limit resets")).toBeVisible();
  await page.getByText("Technical details").click();
  await expect(page.getByText("RUNNER_ERROR / ASSISTANT_RATE_LIMIT")).toBeVisible();
});

test("question of a loop is answered on its page", async ({ page }) => {
  await signIn(page, `/acme/loops/${id(17)}`);
  const question = page.getByRole("region", { name: "Question" });
  const submit = question.getByRole("button", { name: "Answer and resume" });
  await expect(submit).toBeDisabled();
  await question.getByLabel("Your answer").fill("Round the total.");
  const resumeRequest = page.waitForRequest((request) =>
    request.url().endsWith(`/loops/${id(17)}/resume`),
  );
  await submit.click();
  expect((await resumeRequest).postDataJSON()).toEqual({ prompt: "Round the total." });
  await expect(page).not.toHaveURL(new RegExp(id(17)));
});

for (const width of [1280, 390]) {
  test(`title of one long word does not overflow, ${width} px wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 860 });
    await signIn(page);
    const title = "unbreakable".repeat(20);
    const retitle = (path: string, change: (data: Record<string, object | string>) => void) =>
      page.route(path, async (route) => {
        const answer = (await (await route.fetch()).json()) as { data: Record<string, object> };
        change(answer.data);
        await route.fulfill({ json: answer });
      });
    await retitle(`${mock.origin}/loops/${id(10)}`, (data) =>
      Object.assign(data.document ?? {}, { title }),
    );
    await retitle(`${mock.origin}/documents/plan-1`, (data) => Object.assign(data, { title }));
    for (const path of [`/acme/loops/${id(10)}`, "/acme/implementation-plans/plan-1"]) {
      await open(page, path);
      const heading = page.getByRole("heading", { level: 1, name: title });
      await expect(heading).toBeVisible();
      const hidden = await heading.evaluate((h1) => h1.scrollWidth - h1.clientWidth);
      expect(hidden, path).toBeLessThanOrEqual(0);
      await expectNoHorizontalScroll(page);
    }
  });
}

test("loop and plan lead to their change request, whose address names the request", async ({
  page,
}) => {
  for (const path of [`loops/${id(11)}`, "implementation-plans/plan-1"]) {
    await signIn(page, `/acme/${path}`);
    await page.getByRole("link", { name: "Change request", exact: true }).click();
    await expect(page).toHaveURL(/\/acme\/work\/feature-1$/);
  }
  await open(page, "/acme/work/plan-1?tab=history");
  await expect(page).toHaveURL(/\/acme\/work\/feature-1\?tab=history$/);
});

test("loop without a document opens its own page when it is resumed", async ({ page }) => {
  await signIn(page, `/acme/loops/${id(13)}`);
  await page.route(/\/loops\/[0-9a-f-]{36}$/, async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: object };
    return route.fulfill({ response, json: { ...body, data: { ...body.data, document: null } } });
  });
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(page).not.toHaveURL(new RegExp(id(13)));
  await expect(page).toHaveURL(/\/acme\/loops\/[0-9a-f-]{36}$/);
});
