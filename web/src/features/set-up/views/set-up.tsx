/** What this machine lacks for loops, on the first page of a new user and on the new-loop page. */
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, LoaderCircle, RotateCw } from "lucide-react";

import { messageOf } from "@/api/errors";
import { useScope } from "@/api/scope";
import { GatewayError } from "@/gateway/local-gateway";
import { moment } from "@/model/format";
import { Button } from "@/ui/button";
import { CommandLine } from "@/ui/command-line";
import { Notice, Panel } from "@/ui/panel";

import { missing, readySummary } from "../model/rows";
import { type MachineCheck, machineCheckQuery } from "../queries";
import { CheckList } from "./check-list";

// Parts receive the result of the query: a second observer of a failed query would request it again.
type CheckQuery = UseQueryResult<MachineCheck>;

/** The whole list until everything required is present, then one line. */
export function SetUpPanel() {
  const query = useQuery(machineCheckQuery(useScope()));
  const { data, error } = query;
  if (error) return <CheckFailed error={error} query={query} />;
  if (!data) return <Checking />;
  if (missing(data.rows).length > 0) return <MissingPanel check={data} query={query} />;
  return <Ready check={data} />;
}

/** The list while something required is missing, else nothing. */
export function MissingSetUp() {
  const query = useQuery(machineCheckQuery(useScope()));
  const { data, error } = query;
  if (error || !data || missing(data.rows).length === 0) return null;
  return <MissingPanel check={data} query={query} />;
}

function MissingPanel({ check, query }: { check: MachineCheck; query: CheckQuery }) {
  return (
    <Panel>
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 border-b border-line px-4 py-3">
        <div>
          <h2 className="font-semibold">
            Set up <bdi>{check.desktop ?? "this machine"}</bdi>
          </h2>
          <CheckSummary check={check} checking={query.isFetching} />
        </div>
        <CheckAgain query={query} />
      </div>
      <CheckList rows={check.rows} checking={query.isFetching} />
    </Panel>
  );
}

function Ready({ check: { desktop, rows } }: { check: MachineCheck }) {
  return (
    <p role="status" className="flex items-start gap-2.5 px-1 text-ink-2">
      <CircleCheck aria-hidden className="mt-1 size-4 shrink-0 text-ok" />
      <span className="wrap-anywhere">
        <bdi>{desktop ?? "This machine"}</bdi> is ready: {readySummary(rows)}.{" "}
        <Link
          from="/$orgSlug"
          to="/$orgSlug/settings/machine"
          className="text-accent underline underline-offset-2"
        >
          All checks
        </Link>
      </span>
    </p>
  );
}

/** Visible after 300 ms, so that a fast check does not flash. */
export function Checking() {
  return (
    <p
      role="status"
      className="flex animate-[rise_140ms_ease-out_300ms_backwards] items-center gap-2.5 px-1 text-ink-2"
    >
      <LoaderCircle aria-hidden className="size-4 animate-spin" />
      Checking this machine…
    </p>
  );
}

/** Result and time of the check. */
export function CheckSummary({
  check: { desktop, checkedAt, rows },
  checking,
}: {
  check: MachineCheck;
  checking: boolean;
}) {
  const count = missing(rows).length;
  const result = count > 0 ? `${count} missing` : "Everything required is present";
  return (
    <p role="status" className="text-sm text-ink-3">
      {checking
        ? "Checking…"
        : `${result}. Checked ${moment(checkedAt)}${desktop === undefined ? "" : ` on ${desktop}`}.`}
    </p>
  );
}

export function CheckAgain({ query: { isFetching, refetch } }: { query: CheckQuery }) {
  return (
    <Button size="sm" busy={isFetching} onClick={() => void refetch()}>
      {!isFetching && <RotateCw aria-hidden />}
      Check again
    </Button>
  );
}

/** Why there is no check, and what to do. */
export function CheckFailed({ error, query }: { error: Error; query: CheckQuery }) {
  const action = <CheckAgain query={query} />;
  switch (error instanceof GatewayError ? error.problem : "failed") {
    case "absent":
      return (
        <Notice tone="warn" title="No gateway found on this machine" action={action}>
          <p className="mb-2">
            Run this command on the machine that has your repositories, then check again.
          </p>
          <CommandLine text="loopgate up" label="Copy loopgate up" />
        </Notice>
      );
    case "refused":
      return (
        <Notice
          tone="warn"
          title="The gateway on this machine belongs to another account"
          action={action}
        >
          It rejected the request: “{error.message}”. To use it with this account,{" "}
          <Link
            from="/$orgSlug"
            to="/$orgSlug/settings/desktops"
            className="text-accent underline underline-offset-2"
          >
            connect the machine
          </Link>
          .
        </Notice>
      );
    case "failed":
      return (
        <Notice tone="bad" title="Cannot check the machine" action={action}>
          {messageOf(error)}
        </Notice>
      );
  }
}
