/**
 * The demo: a running Loopgate with the real assistant, git and gh, and a scripted model.
 *
 * Started from LOOPGATE_DEMO_BIN or with cargo.
 */
import { type ChildProcess, execFile as execFileWithCallback, spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { test as base } from "@playwright/test";

const execFile = promisify(execFileWithCallback);

/** Content of the ready file, which the demo writes once it accepts requests. */
interface Ready {
  pageUrl: string;
  signInUrl: string;
  gatewayPort: number;
  /** `owner/name` of the sample repository. */
  repository: string;
  /** The request that the script implements. */
  request: string;
  /** Base address of the code host's pages, with a trailing slash. */
  codeHostUrl: string;
  /** Path of the Unix socket of the code host's API. */
  codeHostSocket: string;
  /** Program and arguments that print and open a new sign-in link. */
  freshLink: [string, ...string[]];
  /** Home directory of the programs. Its `bin` is the first directory on their search path, its `src` the sandbox. */
  home: string;
}

// Includes compiling the demo.
const START_LIMIT_MS = 600_000;
// The demo terminates its child processes before it exits.
const STOP_LIMIT_MS = 20_000;

export class Demo {
  private constructor(
    readonly ready: Ready,
    private readonly process: ChildProcess,
    private readonly folder: string,
  ) {}

  /** `loopgate`: path of the program, and further arguments. */
  static async start(loopgate: { program?: string; options?: string[] } = {}): Promise<Demo> {
    const folder = await mkdtemp(join(tmpdir(), "loopgate-story-"));
    const file = join(folder, "ready.json");
    const options = ["--no-open", "--pace", "0", "--ready-file", file, ...(loopgate.options ?? [])];
    const child = launch(options, loopgate.program);
    return new Demo(await untilReady(file, child), child, folder);
  }

  /** Sends a request to the code host's API, past Loopgate: a POST request with `body`, else a GET request. */
  codeHost(path: string, body?: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const options = {
        socketPath: this.ready.codeHostSocket,
        path,
        method: body ? "POST" : "GET",
        headers: { Host: "api.github.com", Authorization: "token scripted-token" },
      };
      http
        .request(options, (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => (text += chunk));
          response.on("end", () => {
            const { statusCode = 0 } = response;
            if (statusCode === 200 || statusCode === 201) resolve(JSON.parse(text));
            else reject(new Error(`${path} returned status ${statusCode}: ${text}`));
          });
        })
        .on("error", reject)
        .end(body && JSON.stringify(body));
    });
  }

  /** Clones the sample repository as a colleague does. Returns the path of the clone, and a function that runs git in it. */
  async clone(): Promise<{ path: string; git: (...args: string[]) => Promise<string> }> {
    const { home, repository } = this.ready;
    const path = await mkdtemp(join(this.folder, "clone-"));
    const git = async (...args: string[]) => {
      // The configuration of the home directs the code host's address to the repositories of the demo.
      const environment = { ...process.env, HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
      const { stdout } = await execFile("git", args, { cwd: path, env: environment });
      return stdout;
    };
    await git("clone", "--quiet", `https://github.com/${repository}.git`, ".");
    return { path, git };
  }

  /** Returns a new sign-in link from the command that the demo prints. */
  async freshLink(): Promise<string> {
    const [program, ...options] = this.ready.freshLink;
    const { stdout } = await execFile(program, [...options, "--no-open"]);
    const link = /http\S+\/sign-in\S+/.exec(stdout)?.[0];
    if (link === undefined) throw new Error(`no sign-in link in the output: ${stdout}`);
    return link;
  }

  /** Lets loops run the tests of the sample repository with a command, as `loopgate trust` does. */
  async trustTests(command: string): Promise<void> {
    const { freshLink, home, repository } = this.ready;
    const [program, , ...homeOptions] = freshLink;
    const clone = join(home, "src", repository.replace(/.*\//, ""));
    await execFile(program, ["trust", ...homeOptions, "--tests", command, clone], {
      env: { ...process.env, HOME: home },
    });
  }

  /** Runs a command that a page shows, for example to agree to other commands. */
  async runShown(command: string): Promise<void> {
    const { freshLink, home } = this.ready;
    const [program, , ...homeOptions] = freshLink;
    const script = command.replace(/^loopgate (\S+)/, 'exec "$0" $1 "$@"');
    await execFile("sh", ["-c", script, program, ...homeOptions], {
      env: { ...process.env, HOME: home },
    });
  }

  /** Holds the next run of a program in a loop. Returns the function that lets it continue. */
  async holdNext(program: string): Promise<() => Promise<void>> {
    const script = join(this.ready.home, "bin", program);
    const pipe = `${script}-held`;
    await execFile("mkfifo", [pipe]);
    const text = `#!/bin/sh\nrm "$0"\nread line < '${pipe}'\nexec ${program} "$@"\n`;
    await writeFile(script, text, { mode: 0o755 });
    // Waits for the program, because opening a pipe for writing blocks until a reader exists.
    return () => writeFile(pipe, "\n");
  }

  async stop(): Promise<void> {
    const child = this.process;
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await Promise.race([exited, wait(STOP_LIMIT_MS, undefined, { ref: false })]);
      child.kill("SIGKILL");
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Gives each test a demo of its own, because the script changes a repository only once. */
export const test = base.extend<{ demo: Demo }>({
  demo: [
    // Playwright requires a pattern of fixtures.
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const demo = await Demo.start();
      await use(demo);
      await demo.stop();
    },
    { timeout: START_LIMIT_MS },
  ],
});

function launch(options: string[], loopgate: string | undefined): ChildProcess {
  const binary = process.env.LOOPGATE_DEMO_BIN;
  const [program, leadingArgs] = binary
    ? [binary, []]
    : ["cargo", ["run", "--quiet", "-p", "loopgate-testkit", "--bin", "demo", "--"]];
  return spawn(program, [...leadingArgs, ...options], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...(loopgate && { LOOPGATE_BIN: loopgate }) },
  });
}

/** Waits for the ready file. It is renamed into place, so it is complete as soon as it exists. */
async function untilReady(file: string, child: ChildProcess): Promise<Ready> {
  const folder = watch(dirname(file));
  const timeout = AbortSignal.timeout(START_LIMIT_MS);
  try {
    return await new Promise((resolve, reject) => {
      const tryRead = () => void readReady(file).then(resolve, () => undefined);
      folder.on("change", tryRead).on("error", reject);
      child.once("error", reject).once("exit", (code, signal) => {
        reject(new Error(`the demo exited with ${signal ?? code ?? "an error"}`));
      });
      timeout.addEventListener("abort", () => {
        child.kill("SIGTERM");
        reject(new Error("the demo did not start within the time limit"));
      });
      tryRead();
    });
  } finally {
    folder.close();
  }
}

async function readReady(file: string): Promise<Ready> {
  return JSON.parse(await readFile(file, "utf8")) as Ready;
}
