import { defineConfig } from "@playwright/test";

import { BROWSER_ARGS, BROWSER_PATH } from "./e2e/browser.mjs";

// Generous, because other checks may run on the same machine.
const PAGE_TIMEOUT_MS = 60_000;
// These tests run real programs; the story includes two runs of the assistant.
const STORY_TIMEOUT_MS = 300_000;

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  fullyParallel: false,
  // The tests of a file run one after the other. Two files keep two cores busy; more of them compete for the cores.
  workers: 2,
  // A test that passes only on retry is reported as flaky and does not fail the run.
  retries: 1,
  forbidOnly: !!process.env.CI,
  reporter: "list",
  // Only the screenshots of the documentation are compared.
  snapshotPathTemplate: "../docs/images/{arg}{ext}",
  expect: { timeout: 10_000 },
  use: {
    browserName: "chromium",
    launchOptions: { executablePath: BROWSER_PATH, args: [...BROWSER_ARGS] },
    viewport: { width: 1280, height: 860 },
    // Recording a trace slows each test down.
    trace: "on-first-retry",
    screenshot: "only-on-failure",
  },
  projects: [
    {
      name: "pages",
      testIgnore: /(story|reviewer|interruptions|needs|organization)\.spec\.ts/,
      timeout: PAGE_TIMEOUT_MS,
    },
    {
      name: "story",
      testMatch: /(story|reviewer|interruptions|needs)\.spec\.ts/,
      timeout: STORY_TIMEOUT_MS,
    },
    { name: "organization", testMatch: "organization.spec.ts", timeout: STORY_TIMEOUT_MS },
  ],
});
