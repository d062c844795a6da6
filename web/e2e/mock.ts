/** Starts the mock server of dev/ on free ports. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Mock {
  origin: string;
  stop: () => Promise<void>;
}

export async function startMock(): Promise<Mock> {
  const script = fileURLToPath(new URL("../dev/mock-server.mjs", import.meta.url));
  const server: ChildProcess = spawn(process.execPath, [script], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (!server.stdout) throw new Error("the mock server has no output");
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  const origin = new URL(line.replace("pages: ", "")).origin;
  return {
    origin,
    stop: async () => {
      if (server.exitCode !== null) return;
      server.kill();
      await once(server, "exit");
    },
  };
}
