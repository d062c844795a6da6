import { defineConfig } from "@playwright/test";

import { BROWSER_ARGS, BROWSER_PATH } from "./e2e/browser.mjs";

/** Generous, because the machine may be busy with other checks. */
const PAGE_TIMEOUT_MS = 60_000;
/** Everything is real in the story, so it takes as long as the assistant does. */
const STORY_TIMEOUT_MS = 180_000;

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  fullyParallel: false,
  workers: 1,
  // The report names what passed only then as flaky: a defect, but not one to stop on.
  retries: 1,
  forbidOnly: !!process.env.CI,
  reporter: "list",
  expect: { timeout: 10_000 },
  use: {
    browserName: "chromium",
    launchOptions: { executablePath: BROWSER_PATH, args: [...BROWSER_ARGS] },
    viewport: { width: 1280, height: 860 },
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
  },
  projects: [
    { name: "pages", testMatch: "pages.spec.ts", timeout: PAGE_TIMEOUT_MS },
    { name: "story", testMatch: "story.spec.ts", timeout: STORY_TIMEOUT_MS },
    { name: "organization", testMatch: "organization.spec.ts", timeout: STORY_TIMEOUT_MS },
  ],
});
