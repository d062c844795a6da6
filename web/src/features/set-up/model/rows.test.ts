import { expect, test } from "vitest";

import type { GatewayCheck, ListedRepo } from "@/api/types";

import { missing, readySummary, toRows } from "./rows";

const check = (id: string, fields: Partial<GatewayCheck> = {}): GatewayCheck => ({
  id,
  label: `label of ${id}`,
  required: true,
  passed: true,
  ...fields,
});

const repo = (name: string, fullName?: string): ListedRepo => ({
  name,
  path: `/src/${name}`,
  addedAt: "",
  ...(fullName !== undefined && { fullName }),
});

const row = (fields: Partial<GatewayCheck>) => {
  const [only] = toRows([check("git", fields)]);
  if (!only) throw new Error("a check must have a row");
  return only;
};

test("rows have one order, whatever the order of the checks; unknown checks are last", () => {
  const checks = ["plugin-code", "python3", "code-host-auth", "new", "git", "assistant-cli"];
  const rows = toRows(checks.map((id) => check(id)));
  expect(rows.map(({ id }) => id)).toEqual([
    "assistant-cli",
    "git",
    "code-host-auth",
    "python3",
    "plugin-code",
    "new",
  ]);
  expect(rows.map(({ name }) => name)).toContain("Plugin label of plugin-code");
  expect(rows.at(-1)?.name).toBe("label of new");
});

test("repository passes if the machine has one of the code host", () => {
  const repository = (...repos: ListedRepo[]) => toRows([], repos)[0];
  expect(repository(repo("scratch"))).toMatchObject({ passed: false, error: "None found" });
  expect(repository(repo("scratch"), repo("shop", "acme/shop"))).toMatchObject({
    passed: true,
    version: "acme/shop",
  });
  expect(repository(repo("a", "acme/a"), repo("b", "acme/b"))?.version).toBe("acme/a and 1 more");
});

test("stored check of a desktop has no row for the repository", () => {
  expect(toRows([check("git")])).toHaveLength(1);
});

test("commands of a remedy are those that it instructs to run", () => {
  const commands = (remediation: string) => row({ passed: false, remediation }).commands;
  expect(
    commands(
      "Install the assistant with `npm install -g @anthropic-ai/claude-code`, then run `claude` once to sign in.",
    ),
  ).toEqual(["npm install -g @anthropic-ai/claude-code", "claude"]);
  expect(commands("Run `gh auth login`.")).toEqual(["gh auth login"]);
  expect(commands("make sure that it is on the PATH of your login shell as `python3`.")).toEqual(
    [],
  );
});

test("diagnostics are named and without empty members", () => {
  const debug = {
    errorCode: "ENOENT",
    stderr: "",
    resolvedPath: "/usr/bin:/bin",
    foundAt: ["/opt/git", "/srv/git"],
  };
  expect(row({ passed: false, debug }).details).toEqual([
    { label: "Error code", text: "ENOENT" },
    { label: "Found executables", text: "/opt/git\n/srv/git" },
    { label: "Searched PATH", text: "/usr/bin\n/bin" },
  ]);
  const [stored] = toRows([{ ...check("git"), debug: "exit code 1" }]);
  expect(stored?.details).toEqual([{ label: "Diagnostics", text: "exit code 1" }]);
});

test("only required checks are missing", () => {
  const rows = toRows([
    check("reviewer", { required: false, passed: false }),
    check("python3", { passed: false }),
    check("git"),
  ]);
  expect(missing(rows).map(({ id }) => id)).toEqual(["python3"]);
});

test("summary names the versions that are known", () => {
  const rows = toRows([
    check("git", { version: "2.47.3" }),
    check("assistant-cli", { version: "2.1.197" }),
    check("code-host-cli"),
  ]);
  expect(readySummary(rows)).toBe("claude 2.1.197, git 2.47.3, gh signed in");
});
