/** Starts the mock server of dev/, and signs in to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { expect, type Page } from "@playwright/test";

export interface Mock {
  origin: string;
  stop: () => Promise<void>;
}

/**
 * Without an origin, the mock uses a free port. `finishedLoops` and `changedFiles` are in addition to those of the
 * fixtures.
 */
export async function startMock(
  origin?: string,
  finishedLoops = 0,
  changedFiles = 0,
): Promise<Mock> {
  const port = origin === undefined ? "0" : new URL(origin).port;
  const script = fileURLToPath(new URL("../dev/mock-server.mjs", import.meta.url));
  const server: ChildProcess = spawn(process.execPath, [script], {
    env: {
      ...process.env,
      PORT: port,
      FINISHED_LOOPS: String(finishedLoops),
      CHANGED_FILES: String(changedFiles),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (!server.stdout) throw new Error("the mock server has no output");
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  return {
    origin: new URL(line.replace("pages: ", "")).origin,
    stop: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill();
      await once(server, "exit");
    },
  };
}

/** Opens the loops page of a new session. */
export async function signInTo({ origin }: Mock, page: Page): Promise<void> {
  await page.goto(`${origin}/sign-in?token=mock`);
  await expect(page.getByRole("heading", { level: 1, name: "Needs you" })).toBeVisible();
  await page.goto(`${origin}/acme/loops`);
  await expect(page.getByRole("heading", { level: 1, name: "Loops" })).toBeVisible();
}
