/** Summary of a loop: duration, tokens, repository and machine. */
import type { ReactNode } from "react";

import type { LoopDetail } from "@/api/types";
import { OnlineDot } from "@/ui/online-dot";
import { useNow } from "@/ui/clock";

import { ago, count, exact, loopDuration, moment, money } from "@/model/format";
import { moneyOf } from "@/model/cost";
import { isActive } from "@/model/status";

export function LoopFacts({ loop }: { loop: LoopDetail }) {
  const active = isActive(loop.status);
  const now = useNow(active ? 1_000 : undefined);
  const spent = moneyOf(loop);
  return (
    <dl className="mt-6 grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-4">
      <Fact
        label="Time"
        note={
          loop.startedAt ? (
            <span title={moment(loop.startedAt)}>started {ago(loop.startedAt, now)}</span>
          ) : (
            <span title={moment(loop.createdAt)}>created {ago(loop.createdAt, now)}</span>
          )
        }
      >
        <span className="tabular-nums">{loopDuration(loop, now) ?? "Not started"}</span>
      </Fact>
      <Fact
        label="Tokens"
        note={`${exact(loop.tokensInput)} in · ${exact(loop.tokensOutput)} out${cacheNote(loop)}`}
      >
        <span className="tabular-nums">{count(loop.tokensInput + loop.tokensOutput)}</span>
        {spent && (
          <span className="ml-2 font-normal text-ink-3" title={spent.source}>
            {money(spent.usd)}
          </span>
        )}
      </Fact>
      <Fact
        label="Repository"
        note={
          <span dir="auto" className="font-mono">
            {loop.branchName && loop.branchName !== loop.repo?.branch
              ? `${loop.branchName} ← ${loop.repo?.branch ?? ""}`
              : (loop.repo?.branch ?? "")}
          </span>
        }
      >
        <bdi>{loop.repo?.fullName ?? "None"}</bdi>
        {loop.additionalRepos && loop.additionalRepos.length > 0 && (
          <span className="font-normal text-ink-3"> +{loop.additionalRepos.length}</span>
        )}
      </Fact>
      <Fact
        label="Machine"
        note={loop.computeTarget ? (loop.computeTarget.isOnline ? "online" : "offline") : undefined}
      >
        {loop.computeTarget ? (
          <span className="flex items-center gap-2">
            <OnlineDot online={loop.computeTarget.isOnline} />
            <span dir="auto" className="truncate">
              {loop.computeTarget.machineName}
            </span>
          </span>
        ) : (
          "Not assigned yet"
        )}
      </Fact>
    </dl>
  );
}

function Fact({ label, note, children }: { label: string; note?: ReactNode; children: ReactNode }) {
  return (
    <div className="min-w-0 bg-surface px-4 py-3">
      <dt className="text-xs text-ink-3">{label}</dt>
      <dd className="mt-0.5 truncate font-medium">{children}</dd>
      {note && <dd className="mt-0.5 text-xs wrap-anywhere text-ink-3">{note}</dd>}
    </div>
  );
}

interface CachedTokens {
  cacheCreation?: number;
  cacheRead?: number;
}

function cacheNote(loop: LoopDetail): string {
  const models = Object.values((loop.tokensByModel ?? {}) as Record<string, CachedTokens>);
  const cached = models.reduce(
    (sum, { cacheCreation = 0, cacheRead = 0 }) => sum + cacheCreation + cacheRead,
    0,
  );
  return cached > 0 ? ` · ${count(cached)} cached` : "";
}
