/** The list of loops, against the mock server. */
import { expect, test } from "@playwright/test";

import { signInTo, startMock, useMock } from "./mock";

const { signIn } = useMock();

test("filters of the list are part of the address", async ({ page }) => {
  await signIn(page);
  const rows = page.getByRole("row");
  await page.getByRole("button", { name: "Failed" }).click();
  await expect(rows).toHaveCount(2);
  await expect(page.getByRole("link", { name: "Move the price rules" })).toBeVisible();
  await page.getByRole("button", { name: "Plan" }).click();
  await expect(page.getByText("No loops match the filters")).toBeVisible();
  await page.reload();
  await expect(page.getByText("No loops match the filters")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(rows).toHaveCount(9);
  await page.goBack();
  await expect(page.getByText("No loops match the filters")).toBeVisible();
  await page.goBack();
  await expect(rows).toHaveCount(2);
});

test("list of 214 loops is virtualized, paged, searched and filtered by the server", async ({
  page,
}) => {
  const many = await startMock(undefined, 206);
  const requests: URLSearchParams[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    const query = url.searchParams;
    // Not the requests of the navigation, which counts what needs the person.
    if (url.pathname === "/loops" && (query.has("count") || query.has("after")))
      requests.push(query);
  });
  try {
    await signInTo(many, page);
    await expect(page.getByText("214 loops")).toBeVisible();
    const rows = page.getByRole("row");
    await expect(rows.nth(5)).toBeVisible();
    expect(await rows.count()).toBeLessThan(50);
    const oldest = page.getByRole("link", { name: "Earlier change 206", exact: true });
    await expect(async () => {
      await page.mouse.wheel(0, 5_000);
      await expect(oldest).toBeVisible({ timeout: 200 });
    }).toPass();
    expect(await rows.count()).toBeLessThan(50);
    const pages = requests.filter((query) => query.has("after"));
    expect(pages).toHaveLength(4);
    expect(requests.every((query) => query.get("limit") === "50")).toBe(true);
    // After a change, only the first page is read again.
    requests.length = 0;
    const archived = await page.request.patch(`${many.origin}/change-requests/feature-1`, {
      headers: { "X-Session-Key": "mock" },
      data: { archived: true },
    });
    expect(archived.ok()).toBe(true);
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    expect(requests.some((query) => query.has("after"))).toBe(false);

    await page.evaluate(() => window.scrollTo(0, 0));
    await page.getByLabel("Search loops").pressSequentially("change 20", { delay: 20 });
    await expect(page.getByText("8 loops", { exact: true })).toBeVisible();
    await expect(page).toHaveURL(/text=change(\+|%20)20/);
    expect(requests.filter((query) => query.has("text"))).toHaveLength(1);
    await page.getByRole("button", { name: "Failed" }).click();
    await expect(page.getByText("5 loops", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Completed" }).click();
    await expect(page.getByText("8 loops", { exact: true })).toBeVisible();
    expect(requests.at(-1)?.get("status")).toBe("COMPLETED,FAILED");
    await page.goBack();
    await expect(page.getByText("5 loops", { exact: true })).toBeVisible();
    await page.goBack();
    await expect(page.getByLabel("Search loops")).toHaveValue("change 20");
    await expect(page.getByText("8 loops", { exact: true })).toBeVisible();
  } finally {
    await many.stop();
  }
});
