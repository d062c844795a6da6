/** A Loopgate that a test suspends, kills and starts again while its demo runs. */
import { execFile as execFileWithCallback } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { test as base } from "@playwright/test";

import { Demo } from "./demo";

const execFile = promisify(execFileWithCallback);

class LoopgateProcess {
  private constructor(readonly folder: string) {}

  static async prepare(): Promise<LoopgateProcess> {
    const supervised = new LoopgateProcess(await mkdtemp(join(tmpdir(), "loopgate-supervised-")));
    await execFile("mkfifo", [supervised.restarts]);
    await writeFile(supervised.program, supervised.script, { mode: 0o755 });
    return supervised;
  }

  /** Path of a program that runs Loopgate, and after a kill again as soon as the test requests it. */
  get program(): string {
    return join(this.folder, "loopgate");
  }

  private get restarts(): string {
    return join(this.folder, "restarts");
  }

  private get pidFile(): string {
    return join(this.folder, "pid");
  }

  private get script(): string {
    const binary =
      process.env.LOOPGATE_BIN ??
      fileURLToPath(new URL("../../target/debug/loopgate", import.meta.url));
    return `#!/bin/sh
trap 'kill "$child"; wait "$child"; exit' TERM
while :; do
  '${binary}' "$@" &
  child=$!
  # Other commands, such as \`trust\`, end by themselves.
  [ "$1" != up ] || echo "$child" > '${this.pidFile}'
  wait "$child"
  status=$?
  # 137: killed.
  [ "$status" = 137 ] || exit "$status"
  cat '${this.restarts}' &
  child=$!
  wait "$child"
done
`;
  }

  async signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void> {
    process.kill(Number(await readFile(this.pidFile, "utf8")), name);
  }

  /** Starts Loopgate after a kill, with the same data. */
  async restart(): Promise<void> {
    await writeFile(this.restarts, "");
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

export const test = base.extend<{ loopgate: LoopgateProcess; demo: Demo }>({
  // Playwright requires a pattern of fixtures.
  // eslint-disable-next-line no-empty-pattern
  loopgate: async ({}, use) => {
    const loopgate = await LoopgateProcess.prepare();
    await use(loopgate);
    await rm(loopgate.folder, { recursive: true });
  },
  demo: async ({ loopgate }, use) => {
    // Another demo may release the default port before the restart.
    const origin = `http://127.0.0.1:${await freePort()}`;
    const demo = await Demo.start({
      program: loopgate.program,
      options: ["--api-origin", origin],
    });
    await use(demo);
    await demo.stop();
  },
});
