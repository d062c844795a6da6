/** Diagrams of a plan, against the mock server. */
import { expect, type Page, test } from "@playwright/test";

import { useMock } from "./mock";
import { expectAccessible, PageMonitor } from "./quality";

const mock = useMock();
const { signIn } = mock;

const DIAGRAMS = "/acme/implementation-plans/plan-1";

async function enableDiagramViewer(page: Page): Promise<void> {
  const answer = await page.request.put(`${mock.origin}/feature-flags/mermaid-enhancements`, {
    headers: { "x-session-key": "mock" },
    data: { enabled: true },
  });
  expect(answer.ok()).toBe(true);
}

// CP-45
test("diagrams are static until the organization enables the viewer", async ({ page }) => {
  await signIn(page, DIAGRAMS);
  const diagrams = page.getByRole("figure", { name: "Diagram" });
  await expect(diagrams).toHaveCount(2);
  await expect(diagrams.first().locator("svg[viewBox]").first()).toBeVisible();
  await expect(page.getByRole("toolbar", { name: "Diagram" })).toHaveCount(0);
  await enableDiagramViewer(page);
  await page.reload();
  await expect(page.getByRole("toolbar", { name: "Diagram" })).toHaveCount(2);
});

test("diagram is panned, zoomed, fitted and shown in fullscreen", async ({ page }) => {
  const monitor = new PageMonitor(page, mock.origin);
  await signIn(page, DIAGRAMS);
  await enableDiagramViewer(page);
  await page.reload();
  const [first, second] = [0, 1].map((n) => page.getByRole("figure", { name: "Diagram" }).nth(n));
  if (!first || !second) throw new Error("the plan must contain two diagrams");
  const canvas = first.getByRole("application");
  const drawing = canvas.locator("> div");
  const drawingBox = async () => {
    const box = await drawing.boundingBox();
    if (!box) throw new Error("the drawing must be visible");
    return box;
  };
  await expect(canvas.getByText("print, exit 0")).toBeVisible();
  await expectAccessible(page);
  await canvas.scrollIntoViewIfNeeded();
  const fitted = await drawingBox();

  // The wheel pans the drawing and does not scroll the page.
  await canvas.hover();
  const scrolled = await page.evaluate(() => window.scrollY);
  await page.mouse.wheel(30, 50);
  await expect.poll(async () => (await drawingBox()).y).toBeCloseTo(fitted.y - 50, 0);
  expect((await drawingBox()).x).toBeCloseTo(fitted.x - 30, 0);
  expect(await page.evaluate(() => window.scrollY)).toBe(scrolled);

  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(async () => (await drawingBox()).x).toBeCloseTo(fitted.x - 70, 0);
  await page.keyboard.press("0");
  await expect.poll(drawingBox).toEqual(fitted);

  // Dragging with the left button pans; a double click fits the diagram.
  const centre = { x: fitted.x + fitted.width / 2, y: fitted.y + fitted.height / 2 };
  await page.mouse.move(centre.x, centre.y);
  await page.mouse.down();
  await page.mouse.move(centre.x + 60, centre.y - 20, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await drawingBox()).x).toBeCloseTo(fitted.x + 60, 0);
  await canvas.dblclick();
  await expect.poll(drawingBox).toEqual(fitted);

  // The overview appears when the diagram is enlarged. A click on it pans to that part.
  await expect(first.getByTestId("overview")).toHaveCount(0);
  for (let press = 0; press < 4; press += 1)
    await first.getByRole("button", { name: "Zoom in" }).click();
  await expect(first.getByTestId("overview")).toBeVisible();
  const enlarged = await drawingBox();
  expect(enlarged.width / fitted.width).toBeCloseTo(1.15 ** 4, 1);
  await first.getByTestId("overview").click({ position: { x: 4, y: 4 } });
  await expect.poll(async () => (await drawingBox()).x).toBeGreaterThan(enlarged.x);

  const download = page.waitForEvent("download");
  await first.getByRole("button", { name: "Download SVG" }).click();
  expect((await download).suggestedFilename()).toBe("mermaid-diagram.svg");
  const pngDownload = page.waitForEvent("download");
  await first.getByRole("button", { name: "Download PNG" }).click();
  expect((await pngDownload).suggestedFilename()).toBe("mermaid-diagram.png");

  const zoomLevel = first.getByText(/^\d+ %$/);
  const percentage = await zoomLevel.textContent();
  await first.getByRole("button", { name: "Fullscreen" }).click();
  await expect(first.getByRole("button", { name: "Exit fullscreen" })).toBeVisible();
  await expect(second.getByRole("button", { name: "Exit fullscreen" })).toHaveCount(0);
  await expect(zoomLevel).toHaveText(percentage ?? "");
  await canvas.focus();
  await page.keyboard.press("f");
  await expect(first.getByRole("button", { name: "Fullscreen" })).toBeVisible();

  await first.getByRole("button", { name: "Source" }).click();
  await expect(first.getByText("flowchart LR")).toBeVisible();
  await first.getByRole("button", { name: "Diagram" }).click();
  await expect(canvas.getByText("print, exit 0")).toBeVisible();
  monitor.expectClean();
});
