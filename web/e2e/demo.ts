/**
 * The demo: a running Loopgate with the real assistant, git and gh, and a model that follows a
 * script.
 *
 * Uses the one that LOOPGATE_READY_FILE describes; else starts one, from LOOPGATE_DEMO_BIN or with
 * cargo, and ends it afterwards.
 */
import { type ChildProcess, execFile as execFileWithCallback, spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execFile = promisify(execFileWithCallback);

/** What the demo says about itself once it answers. */
interface Ready {
  pageUrl: string;
  signInUrl: string;
  gatewayPort: number;
  /** `owner/name` of the sample repository. */
  repository: string;
  /** The request that the script implements. */
  request: string;
  /** The code host's pages, with a slash at the end. */
  codeHostUrl: string;
  /** Unix socket of the code host's API. */
  codeHostSocket: string;
  /** Program and arguments that print a new sign-in link, and open it. */
  freshLink: [string, ...string[]];
}

/** Compiling it may come first. */
const START_LIMIT_MS = 600_000;
/** It ends what it started before it goes. */
const STOP_LIMIT_MS = 20_000;

export class Demo {
  private constructor(
    readonly ready: Ready,
    private readonly process: ChildProcess | undefined,
    private readonly folder: string | undefined,
  ) {}

  static async start(): Promise<Demo> {
    const given = process.env.LOOPGATE_READY_FILE;
    if (given) return new Demo(await readReady(given), undefined, undefined);
    const folder = await mkdtemp(join(tmpdir(), "loopgate-story-"));
    const file = join(folder, "ready.json");
    const child = launch(["--no-open", "--pace", "0", "--ready-file", file]);
    return new Demo(await untilReady(file, child), child, folder);
  }

  /** Asks the code host itself. */
  codeHost(path: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const options = {
        socketPath: this.ready.codeHostSocket,
        path,
        headers: { Host: "api.github.com", Authorization: "token scripted-token" },
      };
      http
        .get(options, (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => (text += chunk));
          response.on("end", () => {
            if (response.statusCode === 200) resolve(JSON.parse(text));
            else reject(new Error(`${path} answered ${response.statusCode ?? 0}: ${text}`));
          });
        })
        .on("error", reject);
    });
  }

  /** A new sign-in link, from the command that the demo prints. */
  async freshLink(): Promise<string> {
    const [program, ...options] = this.ready.freshLink;
    const { stdout } = await execFile(program, [...options, "--no-open"]);
    const link = /http\S+\/sign-in\S+/.exec(stdout)?.[0];
    if (link === undefined) throw new Error(`no link in: ${stdout}`);
    return link;
  }

  async stop(): Promise<void> {
    const child = this.process;
    if (child?.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await Promise.race([gone, wait(STOP_LIMIT_MS, undefined, { ref: false })]);
      child.kill("SIGKILL");
    }
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
  }
}

function launch(options: string[]): ChildProcess {
  const binary = process.env.LOOPGATE_DEMO_BIN;
  const [program, before] = binary
    ? [binary, []]
    : ["cargo", ["run", "--quiet", "-p", "loopgate-testkit", "--bin", "demo", "--"]];
  return spawn(program, [...before, ...options], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    stdio: ["ignore", "inherit", "inherit"],
  });
}

/** The file is written elsewhere and renamed, so it appears whole, and its folder tells when. */
async function untilReady(file: string, child: ChildProcess): Promise<Ready> {
  const folder = watch(dirname(file));
  const tooLate = AbortSignal.timeout(START_LIMIT_MS);
  try {
    return await new Promise((resolve, reject) => {
      const look = () => void readReady(file).then(resolve, () => undefined);
      folder.on("change", look).on("error", reject);
      child.once("error", reject).once("exit", (code, signal) => {
        reject(new Error(`the demo ended with ${signal ?? code ?? "an error"}`));
      });
      tooLate.addEventListener("abort", () => {
        child.kill("SIGTERM");
        reject(new Error("the demo did not answer in time"));
      });
      look();
    });
  } finally {
    folder.close();
  }
}

async function readReady(file: string): Promise<Ready> {
  return JSON.parse(await readFile(file, "utf8")) as Ready;
}
