/** Log of a loop: items by type, complete values, raw log, search, filters, and a log of 1,000,000 lines. */
import { expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";
import { expectAccessible } from "./quality";

const RUNNING = "01980000-0000-7000-8000-000000000010";
const FINISHED = "01980000-0000-7000-8000-000000000011";

let mock: Mock;
test.beforeEach(async ({ page }) => {
  mock = await startMock();
  await page.emulateMedia({ reducedMotion: "reduce" });
  await signInTo(mock, page);
});
stopAfterEach(() => mock);

const openLog = async (page: Page, loop: string, query = "") => {
  await page.goto(`${mock.origin}/acme/loops/${loop}?tab=output${query}`);
  return page.getByRole("log");
};

const send = (page: Page, event: object) =>
  page.request.post(`${mock.origin}/loops/${RUNNING}/events`, {
    headers: { "x-session-key": "mock" },
    data: event,
  });

test("log shows prose, tool calls with duration and exit code, and nested subagents", async ({
  page,
}) => {
  const log = await openLog(page, RUNNING);
  await expect(log.getByText("The entry point looks the command up in a").last()).toBeVisible();
  await expect(log.locator("strong", { hasText: "table" }).last()).toBeVisible();
  const failed = log.getByRole("button", { name: /Bash npm test -- --run cli 1\.2 s · exit 1/ });
  await expect(failed.last()).toBeVisible();
  await expect(log.getByText("Subagent:").last()).toBeAttached();
  await expect(log.getByText("<promise>COMPLETE</promise>")).toHaveCount(0);
  await expect(log.getByText(".loopgate/work/plan.json")).toHaveCount(0);
  await expect(page.getByText("1 of 4 tasks · now T-2")).toBeVisible();

  const complete = page.waitForResponse((response) => /\/events\/\d+$/.test(response.url()));
  await failed.last().click();
  await complete;
  const result = log.getByRole("region", { name: "Result" });
  await expect(result.locator("pre")).toHaveText("AssertionError\n".repeat(200));
  await expectAccessible(page);

  await page.getByRole("button", { name: "Raw: show what serves the loop itself" }).click();
  await expect(log.getByText("<promise>COMPLETE</promise>").last()).toBeVisible();
});

test("current action is shown until it ends", async ({ page }) => {
  await openLog(page, RUNNING);
  const call = { type: "tool_call", tool: "Bash", category: "command", callId: "now" };
  await send(page, { ...call, status: "start", summary: "sleep 40" });
  const action = page.getByText(/^Runs\s*sleep 40\s*\d+ s$/);
  await expect(action).toBeVisible();
  await send(page, { ...call, status: "end", output: "" });
  await expect(action).toBeHidden();
  await send(page, { type: "unreadable", kind: "teleported" });
  await expect(page.getByText("1 unreadable event is not shown")).toBeVisible();
});

test("search and filters run on the server, are part of the address, and lead to the log", async ({
  page,
}) => {
  const log = await openLog(page, FINISHED);
  await page
    .getByRole("searchbox", { name: "Search in the log" })
    .fill("reg-exp that never occurs");
  await page.keyboard.press("Enter");
  await expect(page.getByText("No event matches.")).toBeVisible();
  await page.getByRole("searchbox", { name: "Search in the log" }).fill("3 PASSED");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/text=3(\+|%20)PASSED/);
  await expect(page.getByText("100 matches in the latest part of the log.")).toBeVisible();
  await page.getByRole("button", { name: "Errors" }).click();
  await expect(page.getByText("No event matches.")).toBeVisible();
  await expect(page).toHaveURL(/about=errors/);

  await page.goto(`${mock.origin}/acme/loops/${FINISHED}?tab=output&about=files`);
  await expect(log.getByText("src/**/*.ts").last()).toBeVisible();
  await expect(log.getByText("npm test")).toHaveCount(0);
  await expectAccessible(page);
  await log.getByRole("button", { name: "Show in the log" }).first().click();
  await expect(page).not.toHaveURL(/about=/);
  await expect(log.locator("[data-focus]")).toContainText(/Read|Glob|Grep/);
  await expect(log.locator("[data-focus]")).toBeInViewport();
});

test("earlier events are loaded while the reader scrolls up, down to the first one", async ({
  page,
}) => {
  const log = await openLog(page, FINISHED);
  await expect(log.getByText("Completed")).toBeVisible();
  const first = log.getByText("Started", { exact: true });
  await expect(async () => {
    await log.evaluate((view) => (view.scrollTop = 0));
    await expect(first).toBeVisible({ timeout: 200 });
  }).toPass({ intervals: [20] });
  await page.getByRole("button", { name: /Scroll to end|Follow/ }).click();
  await log.hover();
  await expect(log.getByText("Completed")).toBeInViewport();
});

test("log of 1,000,000 lines opens with its end, in less than 300 KB", async ({ page }) => {
  await page.goto(`${mock.origin}/acme/loops`);
  const lines = Array.from({ length: 800 }, (_, n) => `line ${n} of an earlier runner`).join("\n");
  for (let sent = 0; sent < 1_250; sent += 50) {
    await Promise.all(
      Array.from({ length: 50 }, () => send(page, { type: "output", chunk: lines })),
    );
  }
  await send(page, { type: "output", role: "note", chunk: "the last line" });
  let bytes = 0;
  page.on("response", (response) => {
    if (!response.url().includes(`/loops/${RUNNING}/`) || response.url().endsWith("/stream"))
      return;
    // The responses of the page that was left have no body.
    void response.body().then(
      (body) => (bytes += body.length),
      () => undefined,
    );
  });
  const log = await openLog(page, RUNNING);
  await log.hover();
  await expect(log.getByText("the last line")).toBeInViewport();
  await expect(page.getByText("1,372 events")).toBeVisible();
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(300_000);
});

test("whole log is downloaded", async ({ page }) => {
  await openLog(page, FINISHED);
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download the whole log" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe(`loop-${FINISHED}.log`);
  const stream = await download.createReadStream();
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  expect(text.startsWith("Started\n")).toBe(true);
  expect(text.endsWith("\nCompleted")).toBe(true);
  expect(text).toContain("$ Bash npm test -- --run cli (exit code 1)");
});

for (const width of [390, 320]) {
  test(`log fits ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    const log = await openLog(page, RUNNING);
    await expect(log.getByText("package.json").last()).toBeVisible();
    const overflow = () =>
      page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await expectAccessible(page);
  });
}

test("message to the running loop is kept as a draft, sent once, and shows its delivery", async ({
  page,
}) => {
  await openLog(page, RUNNING);
  const field = page.getByLabel("Message to the loop");
  await field.fill("Keep the old flag as an alias.");
  await page.reload();
  await expect(field).toHaveValue("Keep the old flag as an alias.");
  const requests: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/messages")) requests.push(request.method());
  });
  const sent = page.waitForResponse((response) => response.url().endsWith("/messages"));
  await field.press("Control+Enter");
  await field.press("Control+Enter");
  const { data } = (await (await sent).json()) as { data: { messageId: string } };
  await expect(field).toHaveValue("");
  const messages = page.getByRole("list", { name: "Messages" });
  await expect(messages.getByText("Keep the old flag as an alias.")).toBeVisible();
  await expect(messages.getByText("Waiting for the assistant’s next step")).toBeVisible();
  expect(requests).toEqual(["POST"]);
  await expectAccessible(page);

  const deliveredAt = new Date().toISOString();
  const delivery = { type: "message_delivery", messageId: data.messageId, isDelivered: true };
  await send(page, { ...delivery, deliveredAt });
  await expect(messages.getByText(/^Delivered \d\d:\d\d$/)).toBeVisible();
  await page.reload();
  await expect(messages.getByText(/^Delivered \d\d:\d\d$/)).toBeVisible();
  await expect(field).toHaveValue("");

  await field.fill("One more.");
  await page.getByRole("button", { name: "Send message" }).click();
  await expect(messages.getByText("One more.")).toBeVisible();
  await page.getByRole("button", { name: "Cancel loop" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel loop" }).click();
  await expect(messages.getByText("Not delivered: The loop ended.")).toBeVisible();
  await expect(field).toBeHidden();
});
