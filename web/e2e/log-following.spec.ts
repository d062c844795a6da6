/** How the log of a loop follows its end, against the mock server. */
import { isDeepStrictEqual } from "node:util";

import { expect, test } from "@playwright/test";

import { id, useMock } from "./mock";

const mock = useMock();
const { signIn } = mock;

test("output of 7,500 events is virtualized and followed until the user scrolls", async ({
  page,
}) => {
  await signIn(page, `/acme/loops/${id(11)}`);
  await page.getByRole("tab", { name: "Output" }).click();
  const log = page.getByRole("log");
  await expect(log.getByText("Completed")).toBeVisible();
  await expect(page.getByText("7,502 events")).toBeVisible();
  expect(await log.locator("[data-index]").count()).toBeLessThan(120);
  await log.hover();
  await page.mouse.wheel(0, -4_000);
  await expect(log.getByText("Completed")).toBeHidden();
  await page.getByRole("button", { name: "Scroll to end" }).click();
  await expect(log.getByText("Completed")).toBeVisible();
});

test("no line of the output moves under a reader who scrolled up", async ({ page }) => {
  await signIn(page, `/acme/loops/${id(10)}`);
  const log = page.getByRole("log");
  const send = (chunk: string) =>
    page.request.post(`${mock.origin}/loops/${id(10)}/events`, {
      headers: { "x-session-key": "mock" },
      data: { type: "output", chunk },
    });
  // Lines of different heights, which are measured only when they are displayed.
  const lines = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${name} ${n} ${"word ".repeat((n % 5) * 60)}`);
  await send(lines("old", 400).join("\n"));
  await expect(log.getByText(/^old 399 /)).toBeInViewport();
  await log.hover();
  const positions = () =>
    log
      .locator("[data-index]")
      .evaluateAll((rows) =>
        Object.fromEntries(
          rows
            .map((row) => [row.textContent, Math.round(row.getBoundingClientRect().top)] as const)
            .filter(([, top]) => top > 0 && top < window.innerHeight),
        ),
      );
  for (let step = 0; step < 6; step++) {
    const earlier = await positions();
    await page.mouse.wheel(0, -700);
    await expect.poll(positions).not.toEqual(earlier);
  }
  // The lines that became visible are measured.
  await expect.poll(async () => isDeepStrictEqual(await positions(), await positions())).toBe(true);
  const before = await positions();
  expect(Object.keys(before).length).toBeGreaterThan(3);
  await send(lines("new", 213).join("\n"));
  await send("last line");
  const follow = page.getByRole("button", { name: "Follow · 214 new lines" });
  await expect(follow).toBeVisible();
  expect(await positions()).toEqual(before);
  await follow.click();
  await expect(log.getByText("last line")).toBeInViewport();
  await expect(follow).toBeHidden();
  await send("followed line");
  await expect(log.getByText("followed line")).toBeInViewport();
});
