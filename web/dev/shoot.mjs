// Takes screenshots of the pages of a running server: `node dev/shoot.mjs <origin> <folder> [page…]`.
import { mkdir } from "node:fs/promises";

import { chromium } from "@playwright/test";

import { BROWSER_ARGS, BROWSER_PATH } from "../e2e/browser.mjs";

const [origin = "http://127.0.0.1:19440", folder = "/tmp/shots", ...only] = process.argv.slice(2);
const id = (n) => `01980000-0000-7000-8000-${String(n).padStart(12, "0")}`;
const pages = {
  list: "/acme/loops",
  new: "/acme/loops/new",
  running: `/acme/loops/${id(10)}`,
  result: `/acme/loops/${id(11)}`,
  plan: `/acme/loops/${id(12)}`,
  failed: `/acme/loops/${id(13)}`,
  document: "/acme/implementation-plans/plan-1",
  "signed-out": "/signed-out",
  missing: "/acme/loops/nope",
  approvals: "/acme/approvals",
};

await mkdir(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: BROWSER_PATH, args: BROWSER_ARGS });
for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: width === 390 ? 844 : 860 },
      deviceScaleFactor: 1,
    });
    const page = await context.newPage();
    page.on("console", (message) => message.type() === "error" && console.log(message.text()));
    await page.goto(`${origin}/sign-in?token=mock`);
    await page.waitForURL("**/loops");
    for (const [name, path] of Object.entries(pages)) {
      if (only.length > 0 && !only.includes(name)) continue;
      await page.goto(origin + path);
      // Diagrams are rendered after their library is loaded.
      await page.waitForTimeout(name === "plan" || name === "document" ? 2200 : 900);
      await page.screenshot({
        path: `${folder}/${name}-${colorScheme}-${width}.png`,
        fullPage: name === "plan",
      });
    }
    await context.close();
  }
}
await browser.close();
