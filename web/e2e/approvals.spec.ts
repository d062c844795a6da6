/** Requests that wait for an approval, against the mock server. */
import { expect, test } from "@playwright/test";

import { useMock } from "./mock";
import { copiedText } from "./quality";

const { open, signIn } = useMock();

test("approvals page recovers when the gateway responds again", async ({ page }) => {
  await signIn(page);
  const path = "**/api/gateway/approvals";
  await page.route(path, (route) => route.fulfill({ status: 500, json: { error: "Not ready." } }));
  await open(page, "/acme/approvals");
  await expect(page.getByText("The request failed")).toBeVisible();
  await page.unroute(path);
  await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
  await expect(page.getByRole("list", { name: "Pending requests" })).toBeVisible({
    timeout: 45_000,
  });
});

test("pending requests are counted on every page and listed with their commands", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page);
  await page.getByRole("link", { name: /Needs you/ }).click();
  await expect(page.getByText("2 requests on this machine need your approval")).toBeVisible();
  await page.getByRole("link", { name: "Approvals" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approvals");
  const requests = page.getByRole("list", { name: "Pending requests" }).getByRole("listitem");
  const [first, second] = [requests.first(), requests.nth(1)];
  await expect(first.getByText("/home/dev/src/webhooks")).toBeVisible();
  await expect(first.getByText("https://loopgate.example.com")).toBeVisible();
  await expect(first.getByText(/1 min 3\d s left/)).toBeVisible();
  await expect(second.getByText("the control plane")).toBeVisible();
  await first.getByRole("button", { name: "Copy approve command" }).click();
  const command = "loopgate approvals approve 00000071";
  expect(await copiedText(page, command)).toBe(command);
  // The page has copy buttons only: requests are approved on the command line.
  await expect(page.getByRole("main").getByRole("button", { name: /^(?!Cop)/ })).toHaveCount(0);
});

test("page without pending requests says what decides about approvals", async ({ page }) => {
  await page.route("**/api/gateway/approvals", (route) =>
    route.fulfill({ json: { waiting: [], command: "loopgate approvals" } }),
  );
  await signIn(page, "/acme/approvals");
  await expect(page.getByText("No pending requests")).toBeVisible();
  await expect(page.getByText("loopgate approvals", { exact: true })).toBeVisible();
});
