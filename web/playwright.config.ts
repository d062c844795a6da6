import { defineConfig } from "@playwright/test";

import { BROWSER_ARGS, BROWSER_PATH } from "./e2e/browser.mjs";

// Generous, because other checks may run on the same machine.
const PAGE_TIMEOUT_MS = 60_000;
// These tests run real programs; the story includes two runs of the assistant.
const STORY_TIMEOUT_MS = 180_000;

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  fullyParallel: false,
  // The tests start servers and browsers that compete for the same cores.
  workers: 1,
  // A test that passes only on retry is reported as flaky and does not fail the run.
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
    {
      name: "pages",
      testIgnore: /(story|organization)\.spec\.ts/,
      timeout: PAGE_TIMEOUT_MS,
    },
    { name: "story", testMatch: "story.spec.ts", timeout: STORY_TIMEOUT_MS },
    { name: "organization", testMatch: "organization.spec.ts", timeout: STORY_TIMEOUT_MS },
  ],
});
