/** What a start of EXECUTE does: where, with which permissions, and at which cost according to earlier loops. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { documentQuery, organizationSettingsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Document, RepoRef } from "@/api/types";
import { startPreviewQuery } from "@/gateway/start-preview";
import { costsOf, durationsOf, type Estimate, estimateOf } from "@/model/estimate";
import { duration, money } from "@/model/format";
import { permissionSentence } from "@/model/permission";
import { Code } from "@/ui/code";

import { launchFacts } from "../model/launch-facts";
import { executionsQuery } from "../queries";

export function LaunchSummary({
  plan,
  repo,
}: {
  plan: Document;
  repo: RepoRef | null | undefined;
}) {
  const scope = useScope();
  const source = plan.source?.id;
  const { data: request } = useQuery({
    ...documentQuery(scope, source ?? ""),
    enabled: source !== undefined,
  });
  const { repositories, branch, machine } = launchFacts(plan, request, repo);
  const { data: settings } = useQuery(organizationSettingsQuery(scope));
  const { data: start } = useQuery(
    startPreviewQuery(scope, machine?.id, repositories[0]?.fullName),
  );
  return (
    <dl className="mt-3 space-y-2 text-sm">
      <Fact name={repositories.length > 1 ? "Repositories" : "Repository"}>
        {repositories.length === 0 && "That of the earlier loops"}
        {repositories.map(({ fullName, branch: base }, at) => (
          <span key={fullName} className="block">
            <Code>{fullName}</Code>
            {base && (
              <>
                {" "}
                from <Code>{base}</Code>
              </>
            )}
            {at > 0 && " (peer)"}
          </span>
        ))}
      </Fact>
      <Fact name="Branch">{branch ? <Code>{branch}</Code> : "A new branch"}</Fact>
      <Fact name="Machine">
        {machine ? (
          <span dir="auto">
            {machine.machineName}
            {!machine.isOnline && " (offline)"}
          </span>
        ) : (
          "A machine that is online"
        )}
      </Fact>
      <Fact name="Permitted">
        <span dir="auto" className="inline-block first-letter:uppercase">
          {permissionSentence({
            mode: "implement",
            repositories: repositories.map(({ fullName }) => fullName),
            machine: machine?.machineName,
            start: start ?? undefined,
            holds: settings?.holdPullRequests ?? false,
            limitUsd: undefined,
          })}
        </span>
      </Fact>
      <Fact name="Estimate">
        {repositories[0] ? <LoopEstimate repository={repositories[0].fullName} /> : NO_ESTIMATE}
      </Fact>
    </dl>
  );
}

const NO_ESTIMATE = "No estimate: fewer than three completed loops";

function LoopEstimate({ repository }: { repository: string }) {
  const { data: loops, isPending } = useQuery(executionsQuery(useScope(), repository));
  if (isPending) return "…";
  const parts = [
    estimateText(estimateOf(costsOf(loops ?? [])), money),
    estimateText(estimateOf(durationsOf(loops ?? [])), duration),
  ].filter((part) => part !== undefined);
  return parts.length === 0
    ? NO_ESTIMATE
    : parts.map((part) => (
        <span key={part} className="block">
          {part}
        </span>
      ));
}

function estimateText(
  estimate: Estimate | undefined,
  format: (value: number) => string,
): string | undefined {
  if (!estimate) return undefined;
  const { median, least, most, loops } = estimate;
  return `${format(median)} (median of ${loops} loops, ${format(least)} to ${format(most)})`;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="sm:grid sm:grid-cols-[6rem_minmax(0,1fr)]">
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 wrap-anywhere text-ink">{children}</dd>
    </div>
  );
}
