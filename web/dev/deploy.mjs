// Deployment of a worktree on the mock machine.

const CLONE = "/home/sam/src/acme/shop";
const WORKTREE = "/home/sam/src/worktrees/shop-loop-plan-7";
const URL = "http://localhost:5174/";
const COMMANDS = ["npm install", "npm run dev"];
// Reads of the status until the server responds, or fails.
const READS_UNTIL_SETTLED = 2;

const INSTALLED = "$ npm install\n\nadded 214 packages in 3s\n";
const LOGS = {
  starting: `${INSTALLED}$ npm run dev\n`,
  running: `${INSTALLED}$ npm run dev\n\n  VITE v8.3.8  ready in 412 ms\n\n  ➜  Local:   ${URL}\n`,
  failed: `${INSTALLED}$ npm run dev\n\n<img src=x onerror=alert(1)><script>alert(1)</script>\nשגיאה: המודול לא נמצא\nError: Cannot find module './retry'\n`,
};

const ok = (body) => ({ status: 200, body });
const fail = (status, error, code) => ({ status, body: { error, code } });

/** The error of a gateway whose user has not agreed to the commands. */
function refusal() {
  const listed = COMMANDS.map((command) => `\`${command}\``).join(", ");
  const options = COMMANDS.map((command) => ` --deploy '${command}'`).join("");
  return fail(
    403,
    `Failed to start deployment: you have not agreed to ${listed}; review it, and agree with: loopgate trust ${CLONE}${options}`,
    "command_not_trusted",
  );
}

/**
 * Returns the answers to requests below /api/gateway/deploy. `variant`: `running` is deployed already, `failing` fails
 * after its start, and `untrusted` refuses the first start, before the person consents.
 */
export function deployments(variant = "") {
  let state = variant === "running" ? "running" : "not-started";
  let isTrusted = variant !== "untrusted";
  let reads = 0;

  const status = () => {
    if (state === "starting") {
      reads += 1;
      if (reads > READS_UNTIL_SETTLED) state = variant === "failing" ? "failed" : "running";
    }
    switch (state) {
      case "starting":
        return {
          ...{ status: "running", logs: LOGS.starting, pid: null },
          ...(reads > 1 && { reason: "nothing accepts connections on port 5174" }),
        };
      case "running":
        return { status: "completed", logs: LOGS.running, pid: null, deployedUrl: URL };
      case "failed":
        return {
          ...{ status: "failed", logs: LOGS.failed, pid: null },
          error: "The start command exited with code 1. <b>Read</b> its output.",
        };
      default:
        return { status: "not-started", logs: null, pid: null };
    }
  };

  const start = ({ ticketId, repoPath, worktreePath }) => {
    if (!ticketId || !repoPath || !worktreePath)
      return fail(400, "ticketId, repoPath, and worktreePath are required", "missing_field");
    if (!isTrusted) {
      isTrusted = true;
      return refusal();
    }
    state = "starting";
    reads = 0;
    return ok({
      ...{ success: true, pid: 4242, logFile: `${WORKTREE}/.loopgate/work/deploy.log` },
      ...{ deployCommand: COMMANDS[1], deployType: "node", repoName: "shop", port: 5174 },
    });
  };

  const stop = () => {
    state = "not-started";
    return ok({ success: true });
  };

  /** Returns the answer to a request; `undefined` for other routes. */
  return (path, query, body) => {
    switch (path) {
      case "/api/gateway/deploy/status/loop-plan-7":
        return query.get("repo") === CLONE
          ? ok(status())
          : fail(400, "repo query param is required", "missing_field");
      case "/api/gateway/deploy/detect": {
        const [installCommand, command] = COMMANDS;
        const config = { framework: "vite", type: "node", port: 5173, installCommand, command };
        const reason = "package.json has a `dev` script and depends on vite";
        return body.repoPath === WORKTREE
          ? ok({ detected: true, config, candidates: [{ config, reason }] })
          : ok({ detected: false });
      }
      case "/api/gateway/deploy":
        return start(body);
      case "/api/gateway/deploy/teardown":
        return body.worktreePath === WORKTREE
          ? stop()
          : fail(400, "worktreePath is not a worktree of repoPath", "invalid_request");
      default:
        return undefined;
    }
  };
}
