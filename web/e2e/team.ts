/** A control plane that a team shares: the real program, with an administrator who has a password. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

type TeamProcess = ChildProcessByStdio<null, Readable, null>;

export class Team {
  static readonly email = "ada@example.org";
  static readonly password = "correct horse battery";

  private constructor(
    readonly origin: string,
    private readonly process: TeamProcess,
    private readonly folder: string,
  ) {}

  static async start(): Promise<Team> {
    const folder = await mkdtemp(join(tmpdir(), "loopgate-team-"));
    const passwordFile = join(folder, "password");
    await writeFile(passwordFile, Team.password, { mode: 0o600 });
    const child = launch([
      "control-plane",
      ...["--home", join(folder, "data"), "--listen", "127.0.0.1:0", "--organization", "Acme"],
      ...["--owner-name", "Ada Okafor", "--owner-email", Team.email],
      ...["--owner-password-file", passwordFile],
    ]);
    for await (const line of createInterface({ input: child.stdout })) {
      const origin = /^control plane on (http\S+)/.exec(line)?.[1];
      if (origin) {
        child.stdout.resume();
        return new Team(origin, child, folder);
      }
    }
    throw new Error("the control plane ended before it answered");
  }

  async stop(): Promise<void> {
    const gone = once(this.process, "exit");
    this.process.kill("SIGTERM");
    await gone;
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Without a program cargo makes it. */
function launch(options: string[]): TeamProcess {
  const binary = process.env.LOOPGATE_BIN;
  const [program, before] = binary
    ? [binary, []]
    : ["cargo", ["run", "--quiet", "-p", "loopgate", "--"]];
  return spawn(program, [...before, ...options], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
}
