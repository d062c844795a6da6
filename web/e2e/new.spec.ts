/** The page of a new change request against the mock server: its address, and the start of a loop. */
import { expect, type Page, type Route, test } from "@playwright/test";

import { useMock } from "./mock";
import { expectAccessible, expectDarkAndNarrow, PageMonitor } from "./quality";

const mock = useMock();
const { signIn } = mock;

const open = (page: Page, path = "/acme/new") => page.goto(mock.origin + path);

test("accessible in both themes, fits a phone, sends no external requests", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await signIn(page);
  const monitor = new PageMonitor(page, mock.origin);
  await open(page);
  await expect(page.getByRole("heading", { level: 1, name: "New change request" })).toBeVisible();
  await page.getByLabel("Repository").fill("acme/shop");
  await page.getByText("Options", { exact: true }).click();
  await page.getByRole("button", { name: "Add a repository" }).click();
  await page.getByLabel("Further repository 1", { exact: true }).fill("acme/nothing");
  await expect(page.getByText("There is no clone of acme/nothing")).toBeVisible();
  await page
    .getByLabel("Files to attach")
    .setInputFiles([
      { name: `${"long".repeat(40)}.png`, mimeType: "image/png", buffer: Buffer.from("x") },
    ]);
  await expect(page.getByRole("list", { name: "Attached files" })).toBeVisible();
  await expectAccessible(page);
  await expectDarkAndNarrow(page);
  monitor.expectClean();
});

test("earlier address opens the page", async ({ page }) => {
  await signIn(page);
  await open(page, "/acme/loops/new");
  await expect(page).toHaveURL(/\/acme\/new$/);
  await expect(page.getByRole("heading", { level: 1, name: "New change request" })).toBeVisible();
});

test("loop is started by keyboard: c, description, repository suggestion, Ctrl+Enter", async ({
  page,
}) => {
  await signIn(page);
  await page.keyboard.press("c");
  await expect(page.getByLabel("Describe the change")).toBeFocused();
  await page.keyboard.type("Say hello");
  // Past the button that attaches files.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("check");
  await expect(page.getByRole("option", { name: "acme/checkout-service" })).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Repository")).toHaveValue("acme/checkout-service");
  await expect(page.getByText("Found at ~/src/checkout-service")).toBeVisible();
  await expect(page.getByText("Default branch: develop")).toBeVisible();
  await page.getByLabel("Describe the change").press("Control+Enter");
  await expect(page).toHaveURL(/\/acme\/work\/feature-\d+\?tab=live$/);
  await expect(page.getByRole("heading", { name: "Say hello" })).toBeVisible();
});

/** Returns the number of loops with a title. */
async function loopsTitled(page: Page, title: string): Promise<number> {
  const answer = await page.request.get(`${mock.origin}/loops?limit=200`, {
    headers: { "x-session-key": "mock" },
  });
  const { data } = (await answer.json()) as { data: { document: { title: string } }[] };
  return data.filter((loop) => loop.document.title === title).length;
}

test("four presses of Ctrl+Enter start one loop", async ({ page }) => {
  await signIn(page);
  await open(page);
  const description = page.getByLabel("Describe the change");
  await description.fill("Say hello once");
  await page.getByLabel("Repository").fill("acme/shop");
  const starts: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") starts.push(new URL(request.url()).pathname);
  });
  await description.evaluate((field) => {
    for (let press = 0; press < 4; press += 1) {
      const init = { key: "Enter", ctrlKey: true, bubbles: true, repeat: press === 3 };
      field.dispatchEvent(new KeyboardEvent("keydown", init));
    }
  });
  await expect(page.getByRole("heading", { name: "Say hello once" })).toBeVisible();
  expect(starts.filter((path) => path.startsWith("/documents"))).toEqual(["/documents/run-loop"]);
  expect(await loopsTitled(page, "Say hello once")).toBe(1);
});

test("request whose response was lost opens the loop that it started", async ({ page }) => {
  await signIn(page);
  await open(page);
  const description = page.getByLabel("Describe the change");
  await description.fill("Say hello again");
  await page.getByLabel("Repository").fill("acme/shop");
  const loseResponse = async (route: Route) => {
    await route.fetch();
    await route.abort("connectionreset");
  };
  await page.route("**/documents/run-loop", loseResponse, { times: 1 });
  await description.press("Control+Enter");
  await expect(page.getByText("The loop could not be started")).toBeVisible();
  await description.press("Control+Enter");
  await expect(page.getByRole("heading", { name: "Say hello again" })).toBeVisible();
  expect(await loopsTitled(page, "Say hello again")).toBe(1);
});

test("invalid request is not submitted and shows its errors", async ({ page }) => {
  await signIn(page);
  await open(page);
  await page.getByLabel("Repository").fill("not a repository");
  await page.getByRole("button", { name: "Create plan" }).click();
  await expect(page.getByText("Enter a description of the change.")).toBeVisible();
  await expect(page.getByText("Use the format owner/repository")).toBeVisible();
  await expect(page.getByLabel("Describe the change")).toBeFocused();
  await expect(page).toHaveURL(/\/acme\/new$/);
});
