/** Requests that need the owner's approval, with the commands that approve and deny them. */
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { type ErrorComponentProps, getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { type ReactNode, useEffect } from "react";

import { useScope } from "@/api/scope";
import type { WaitingRequest } from "@/api/types";
import { GatewayError } from "@/gateway/local-gateway";
import { duration } from "@/model/format";
import { humanise } from "@/model/status";
import { useNow } from "@/ui/clock";
import { Code, WithCode } from "@/ui/code";
import { CommandLine } from "@/ui/command-line";
import { ErrorView } from "@/ui/error-view";
import { usePageTitle } from "@/ui/page-title";
import { EmptyState, Notice, Panel, Skeleton } from "@/ui/panel";
import { Badge } from "@/ui/status-badge";

import { approvalsQuery, PAGE_POLL_MS } from "../queries";

const route = getRouteApi("/$orgSlug/approvals");

// Ids are UUIDv7, whose end is random: the command line accepts the last 8 characters.
const SHORT_ID = 8;
const TONES = { none: "idle", low: "idle", medium: "warn", high: "bad" } as const;

export function ApprovalsPage() {
  const { data, error } = useSuspenseQuery({
    ...approvalsQuery(useScope()),
    refetchInterval: PAGE_POLL_MS,
  });
  // The requests of the last successful poll may have been decided: do not show them.
  if (error) throw error;
  return (
    <Layout>
      {data.problems?.map((problem) => (
        <div key={problem} className="mt-5">
          <Notice tone="warn" title={problem} />
        </div>
      ))}
      {data.waiting.length === 0 ? (
        <Panel className="mt-5">
          <EmptyState icon={<Check />} title="No pending requests">
            Risk tiers and policies determine which requests need approval. Run{" "}
            <Code>{data.command}</Code> to view or change them.
          </EmptyState>
        </Panel>
      ) : (
        <ul aria-label="Pending requests" className="mt-5 space-y-4">
          {data.waiting.map((request) => (
            <li key={request.id}>
              <RequestDetails request={request} command={data.command} />
            </li>
          ))}
        </ul>
      )}
    </Layout>
  );
}

/** Shows what to do, and polls until the gateway responds. */
export function ApprovalsError({ error: first }: ErrorComponentProps) {
  const { isSuccess, error: latest, refetch } = useQuery(approvalsQuery(useScope()));
  const router = useRouter();
  useEffect(() => {
    // Loads the route again, which replaces this view.
    if (isSuccess) void router.invalidate();
  }, [isSuccess, router]);
  const error = latest ?? first;
  return (
    <Layout>
      <Panel className="mt-5">
        {error instanceof GatewayError && error.problem !== "failed" ? (
          <EmptyState title="Cannot load approvals">
            <WithCode text={advice(error)} />
          </EmptyState>
        ) : (
          <ErrorView error={error} onRetry={() => void refetch()} />
        )}
      </Panel>
    </Layout>
  );
}

export function LoadingApprovals() {
  return (
    <Layout>
      <Panel className="mt-5 space-y-3 p-5">
        <div role="status" aria-label="Loading approvals" />
        <Skeleton className="h-5 w-56" />
        <Skeleton className="h-4 w-80 max-w-full" />
      </Panel>
    </Layout>
  );
}

function Layout({ children }: { children: ReactNode }) {
  usePageTitle("Approvals");
  return (
    <div className="mx-auto max-w-3xl">
      <h1 className="text-xl font-semibold tracking-tight">Approvals</h1>
      <p className="mt-1.5 max-w-[68ch] text-pretty text-ink-2">
        Requests that the owner of this machine has to approve. To approve or deny one, run its
        command in a terminal on this machine.
      </p>
      {children}
    </div>
  );
}

function RequestDetails({ request, command }: { request: WaitingRequest; command: string }) {
  const { orgSlug } = route.useParams();
  const now = useNow(1_000);
  const remaining = Date.parse(request.waitsUntil) - now;
  const id = request.id.slice(-SHORT_ID);
  return (
    <Panel className="p-4 sm:p-5">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h2 className="flex items-center gap-2.5 font-semibold">
          {humanise(request.operationId)}
          <Badge tone={TONES[request.riskTier]}>{request.riskTier} risk</Badge>
        </h2>
        <span className="text-sm text-ink-2 tabular-nums">
          {remaining > 0 ? `${duration(remaining)} left` : "Expired"}
        </span>
      </div>
      <dl className="mt-3 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
        <Fact name="Request">
          <span className="font-mono">
            {request.method} {request.path}
            {request.query ? `?${request.query}` : ""}
          </span>
        </Fact>
        {request.action && (
          <Fact name="Action">
            <bdi className="font-mono">{request.action}</bdi>
          </Fact>
        )}
        {request.loopId && (
          <Fact name="Loop">
            <Link
              to="/$orgSlug/loops/$loopId"
              params={{ orgSlug, loopId: request.loopId }}
              className="text-accent hover:underline"
            >
              View loop
            </Link>
          </Fact>
        )}
        <Fact name="Requested by">
          {request.location === "cloud-socket" ? "the control plane" : request.location}
        </Fact>
        {request.directories.length > 0 && (
          <Fact name={request.directories.length === 1 ? "Directory" : "Directories"}>
            {request.directories.map((directory) => (
              <bdi key={directory} className="block font-mono">
                {directory}
              </bdi>
            ))}
          </Fact>
        )}
        <Fact name="Reason">
          <span dir="auto">{request.reason}</span>
        </Fact>
      </dl>
      {request.riskTier === "high" && (
        <div className="mt-3">
          <Notice tone="warn" title="This request starts or removes something outside a worktree" />
        </div>
      )}
      <div className="mt-4 space-y-2">
        <CommandLine text={`${command} approve ${id}`} label="Copy approve command" />
        <CommandLine text={`${command} deny ${id}`} label="Copy deny command" />
      </div>
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd dir="auto" className="min-w-0 wrap-anywhere">
        {children}
      </dd>
    </>
  );
}

const advice = ({ problem, message }: GatewayError): string =>
  problem === "refused"
    ? `The gateway on this machine belongs to another account. It rejected the request: “${message}”.`
    : "No gateway responded on this machine. Run `loopgate approvals` on the machine where Loopgate runs to list pending requests.";
