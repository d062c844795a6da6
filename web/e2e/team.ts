/** A control plane that a team shares: the real program, with an administrator who has a password. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

type TeamProcess = ChildProcessByStdio<null, Readable, null>;

export class Team {
  private desktop: TeamProcess | undefined;

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

  /** Runs the command that a page shows for a new desktop, and starts the desktop. */
  async connect(command: string): Promise<void> {
    const home = ["--home", join(this.folder, "desktop")];
    const connecting = launch([...command.split(" ").slice(1), ...home]);
    connecting.stdout.resume();
    const [code] = (await once(connecting, "exit")) as [number | null];
    if (code !== 0) throw new Error(`${command} ended with ${code ?? "a signal"}`);
    const sandbox = join(this.folder, "src");
    await mkdir(sandbox);
    this.desktop = launch(["gateway", ...home, "--sandbox", sandbox, "--port", "0"]);
    this.desktop.stdout.resume();
  }

  async stop(): Promise<void> {
    for (const process of [this.desktop, this.process]) {
      if (!process) continue;
      const gone = once(process, "exit");
      process.kill("SIGTERM");
      await gone;
    }
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
