/** The deployment of one worktree: its state, what can be done with it, and its output. */
import { useQuery } from "@tanstack/react-query";
import { ExternalLink, Play, RotateCcw, Square } from "lucide-react";
import { useId, useRef } from "react";

import { useScope } from "@/api/scope";
import type { DeployStatus, Loop } from "@/api/types";
import { ticketWorktreeQuery } from "@/gateway/ticket-worktree";
import { safeHref } from "@/model/pull-request";
import { useStateAnnouncement } from "@/ui/announce";
import { Button, buttonClass } from "@/ui/button";
import { Code } from "@/ui/code";
import { Notice, Panel } from "@/ui/panel";
import { GlyphBadge } from "@/ui/status-badge";

import { deployState, outputTail, STATE_WORDS } from "../model/deployment";
import { commandsQuery, type DeployTarget, statusQuery, useStart, useStop } from "../queries";
import { ChangeError } from "./change-error";
import { LoadingDeployment } from "./loading-deploy";
import { Output } from "./output";
import { Unreadable } from "./unreadable";

export function DeployCard({
  machine,
  name,
  path,
  isChanging,
}: {
  machine: Loop["computeTarget"];
  name: string;
  path: string;
  /** Whether a loop works in the worktree. */
  isChanging: boolean;
}) {
  const worktree = { name, worktree: path };
  const named = useQuery(ticketWorktreeQuery(useScope(), machine?.id, worktree));
  const heading = useId();
  return (
    <Panel className="min-w-0 p-4">
      <article aria-labelledby={heading} className="space-y-3">
        <header>
          <h2 id={heading} dir="auto" className="text-lg font-semibold wrap-anywhere">
            {name}
          </h2>
          {isChanging && (
            <p className="text-sm text-ink-3">A loop is still changing this worktree.</p>
          )}
        </header>
        {named.error ? (
          <Unreadable query={named} />
        ) : named.data === undefined ? (
          <LoadingDeployment />
        ) : named.data === null ? (
          <p className="text-ink-2">
            It cannot be deployed: the machine does not list the clone to which this worktree
            belongs.
          </p>
        ) : (
          <Deployment
            target={{ machine: machine?.id, name, worktree: named.data, path }}
            machineName={machine?.machineName}
          />
        )}
      </article>
    </Panel>
  );
}

function Deployment({
  target,
  machineName,
}: {
  target: DeployTarget;
  machineName: string | undefined;
}) {
  const query = useQuery(statusQuery(useScope(), target));
  if (!query.data) return query.error ? <Unreadable query={query} /> : <LoadingDeployment />;
  const { data: status, relayedBy } = query.data;
  return (
    <>
      {query.error && <Unreadable query={query} />}
      <KnownDeployment
        target={target}
        status={status}
        machineName={relayedBy?.machineName ?? machineName}
        isRelayed={relayedBy !== undefined}
      />
    </>
  );
}

function KnownDeployment({
  target,
  status,
  machineName,
  isRelayed,
}: {
  target: DeployTarget;
  status: DeployStatus;
  machineName: string | undefined;
  /** Whether the page reaches the machine through the control plane. */
  isRelayed: boolean;
}) {
  const start = useStart(target);
  const stop = useStop(target);
  const line = useRef<HTMLParagraphElement>(null);
  const state = deployState(status);
  const { label, tone } = STATE_WORDS[state];
  useStateAnnouncement(target.path, state, `${target.name}: ${label}`);
  const isBusy = start.isPending || stop.isPending;
  const onSettled = () => {
    // The button that was pressed is disabled during the request, and may no longer exist.
    if (document.activeElement === document.body) line.current?.focus({ preventScroll: true });
  };
  const deploy = () => {
    stop.reset();
    start.mutate(undefined, { onSettled });
  };
  const end = () => {
    start.reset();
    stop.mutate(undefined, { onSettled });
  };
  const href = state === "running" ? safeHref(status.deployedUrl ?? "") : undefined;
  const output = outputTail(status.logs);
  return (
    <>
      <p ref={line} tabIndex={-1} className="outline-offset-4">
        <GlyphBadge tone={tone} isActive={state === "starting"}>
          {label}
        </GlyphBadge>
      </p>
      {state === "starting" && (
        <p dir="auto" className="wrap-anywhere text-ink-2">
          {status.reason == null
            ? "The commands run. The address appears here as soon as the server responds."
            : `The server does not respond yet: ${status.reason}`}
        </p>
      )}
      {state === "running" && (
        <Address url={status.deployedUrl} machineName={isRelayed ? machineName : undefined} />
      )}
      {state === "failed" && (
        <Notice tone="bad" title="The deployment failed">
          <span className="wrap-anywhere">
            {status.error ?? "The machine has reported no reason. Read the output."}
          </span>
        </Notice>
      )}
      {(state === "not-started" || state === "failed") && <Commands target={target} />}
      <div className="flex flex-wrap items-center gap-2">
        {href !== undefined && (
          <a
            href={href}
            target="_blank"
            rel="noopener noreferrer"
            className={buttonClass("primary")}
          >
            <ExternalLink aria-hidden /> Open
            <span className="sr-only"> {target.name} in a new tab</span>
          </a>
        )}
        {state !== "starting" && (
          <Button
            variant={state === "running" ? "plain" : "primary"}
            busy={start.isPending}
            disabled={isBusy}
            onClick={deploy}
          >
            {!start.isPending &&
              (state === "not-started" ? <Play aria-hidden /> : <RotateCcw aria-hidden />)}
            {state === "not-started" ? "Deploy" : "Deploy again"}
            <ForRepository name={target.name} />
          </Button>
        )}
        {state !== "not-started" && (
          <Button busy={stop.isPending} disabled={isBusy} onClick={end}>
            {!stop.isPending && <Square aria-hidden />}
            Stop
            <ForRepository name={target.name} />
          </Button>
        )}
        {start.error && (
          <ChangeError
            title="The deployment was not started"
            error={start.error}
            machineName={machineName}
            isBusy={isBusy}
            onRetry={deploy}
          />
        )}
        {stop.error && (
          <ChangeError
            title="The deployment was not stopped"
            error={stop.error}
            machineName={machineName}
            isBusy={isBusy}
            onRetry={end}
          />
        )}
      </div>
      {state !== "not-started" && output !== "" && (
        <Output text={output} label={`Output of ${target.name}`} />
      )}
    </>
  );
}

/** Distinguishes the buttons of several repositories for assistive technology. */
const ForRepository = ({ name }: { name: string }) => <span className="sr-only"> {name}</span>;

/** Where the server responds. `machineName`: the machine, if it may be another one than that of the browser. */
function Address({
  url,
  machineName,
}: {
  url: string | null | undefined;
  machineName: string | undefined;
}) {
  if (url == null) return <p className="text-ink-2">The server is up, without an address.</p>;
  return (
    <p className="wrap-anywhere text-ink-2">
      The server responds at <Code>{url}</Code>
      {machineName === undefined ? (
        "."
      ) : (
        <>
          {" "}
          on <bdi>{machineName}</bdi>. Open the address there, or forward its port to this machine.
        </>
      )}
    </p>
  );
}

/** What a deployment will run. */
function Commands({ target }: { target: DeployTarget }) {
  const { data: commands, error } = useQuery(commandsQuery(useScope(), target));
  if (error) return null;
  return (
    <p className="wrap-anywhere text-ink-2">
      {commands === undefined ? (
        "Detecting the commands…"
      ) : commands === null ? (
        "No start command was detected in the worktree. It can be set in the deployment settings of the repository."
      ) : (
        <>
          Runs{" "}
          {commands.install !== undefined && (
            <>
              <Code>{commands.install}</Code>, then{" "}
            </>
          )}
          <Code>{commands.start}</Code>
          {commands.directory === undefined ? (
            " in the worktree."
          ) : (
            <>
              {" "}
              in <Code>{commands.directory}</Code> of the worktree.
            </>
          )}
        </>
      )}
    </p>
  );
}
