/** Starts the mock server of dev/, and signs in to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { expect, type Page, test } from "@playwright/test";

export interface Mock {
  readonly origin: string;
  stop: () => Promise<void>;
  /** Suspends the process, as `SIGSTOP` does, and resumes it. */
  suspend: () => void;
  resume: () => void;
}

/** Id of a record of the fixtures. */
export const id = (n: number) => `01980000-0000-7000-8000-${String(n).padStart(12, "0")}`;

/**
 * Without an origin, the mock uses a free port. `finishedLoops` and `changedFiles` are in addition to those of the
 * fixtures. `environment` selects variants of the responses: see dev/variants.mjs.
 */
export async function startMock(
  origin?: string,
  finishedLoops = 0,
  changedFiles = 0,
  environment: Record<string, string> = {},
): Promise<Mock> {
  const port = origin === undefined ? "0" : new URL(origin).port;
  const script = fileURLToPath(new URL("../dev/mock-server.mjs", import.meta.url));
  const server: ChildProcess = spawn(process.execPath, [script], {
    env: {
      ...process.env,
      PORT: port,
      FINISHED_LOOPS: String(finishedLoops),
      CHANGED_FILES: String(changedFiles),
      ...environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (!server.stdout) throw new Error("the mock server has no output");
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  return {
    origin: new URL(line.replace("pages: ", "")).origin,
    stop: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      // Also ends a suspended process.
      server.kill("SIGKILL");
      await once(server, "exit");
    },
    suspend: () => server.kill("SIGSTOP"),
    resume: () => server.kill("SIGCONT"),
  };
}

/** Opens a page of the app in a new session, without the page that a sign-in link opens first. */
export async function openSignedIn(
  { origin }: Pick<Mock, "origin">,
  page: Page,
  path: string,
): Promise<void> {
  await page.context().addCookies([{ name: "session", value: "mock", url: origin }]);
  // A file of the same origin, to which the storage of the app belongs, and which is no page of the app.
  await page.goto(`${origin}/theme.js`);
  await page.evaluate(() => window.localStorage.setItem("loopgate.session-key", "mock"));
  await page.goto(origin + path);
}

/** Opens the loops page of a new session. */
export async function signInTo(mock: Mock, page: Page): Promise<void> {
  await openSignedIn(mock, page, "/acme/loops");
  await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
}

/** Stops the server of each test. Before that, it ends the test's own handlers, whose pending requests would fail the test. */
export function stopAfterEach(mock: () => Mock): void {
  test.afterEach(async ({ page }) => {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await mock().stop();
  });
}

/** Starts a server for each test of a file. `environment`: see `startMock`. The returned functions use the server of the running test. */
export function useMock(environment: Record<string, string> = {}) {
  let mock: Mock;
  test.beforeEach(async () => {
    mock = await startMock(undefined, 0, 0, environment);
  });
  stopAfterEach(() => mock);
  return {
    get origin() {
      return mock.origin;
    },
    suspend: () => mock.suspend(),
    resume: () => mock.resume(),
    open: (page: Page, path: string) => page.goto(mock.origin + path),
    /** Opens a page in a new session, by default the list of loops. */
    signIn: (page: Page, path?: string) =>
      path === undefined ? signInTo(mock, page) : openSignedIn(mock, page, path),
  };
}
