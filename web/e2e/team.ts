/** A real control plane for a team, with an administrator who signs in with a password. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

type TeamProcess = ChildProcessByStdio<Writable, Readable, null>;

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
        // Discards further output: a full pipe would block the process.
        child.stdout.resume();
        return new Team(origin, child, folder);
      }
    }
    throw new Error("the control plane exited before it was ready");
  }

  /** Runs the displayed connect command and starts the gateway of the new desktop. */
  async connect(command: string, code: string): Promise<void> {
    const home = ["--home", join(this.folder, "desktop")];
    const connecting = launch([...command.split(" ").slice(1), ...home]);
    connecting.stdout.resume();
    connecting.stdin.end(`${code}\n`);
    const [status] = (await once(connecting, "exit")) as [number | null];
    if (status !== 0) throw new Error(`${command} exited with ${status ?? "a signal"}`);
    const sandbox = join(this.folder, "src");
    await mkdir(sandbox);
    this.desktop = launch(["gateway", ...home, "--sandbox", sandbox, "--port", "0"]);
    this.desktop.stdout.resume();
  }

  async stop(): Promise<void> {
    for (const process of [this.desktop, this.process]) {
      if (!process) continue;
      const exited = once(process, "exit");
      process.kill("SIGTERM");
      await exited;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Starts LOOPGATE_BIN, or builds and starts the program with cargo. */
function launch(options: string[]): TeamProcess {
  const binary = process.env.LOOPGATE_BIN;
  const [program, leadingArgs] = binary
    ? [binary, []]
    : ["cargo", ["run", "--quiet", "-p", "loopgate", "--"]];
  return spawn(program, [...leadingArgs, ...options], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    stdio: ["pipe", "pipe", "inherit"],
  });
}
