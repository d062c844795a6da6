/** Every loop, document and pull request of a change request, newest first. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { ChangeRequestDetail, Loop } from "@/api/types";
import { moneyOf } from "@/model/cost";
import { ago, loopDuration, moment, money } from "@/model/format";
import { humanise } from "@/model/status";
import { useNow } from "@/ui/clock";
import { DocumentLink } from "@/ui/document-link";
import { Panel } from "@/ui/panel";
import { StatusBadge } from "@/ui/status-badge";

interface Happening {
  at: string;
  key: string;
  content: ReactNode;
}

export function History({ request, orgSlug }: { request: ChangeRequestDetail; orgSlug: string }) {
  const now = useNow(30_000);
  const { document, documents, loops, pullRequests } = request;
  const happenings: Happening[] = [
    ...[document, ...documents].map((written) => ({
      at: written.createdAt,
      key: written.id,
      content: (
        <span>
          {written.type === "IMPLEMENTATION_PLAN" ? "Plan " : "Request "}
          <DocumentLink document={written} orgSlug={orgSlug} />
        </span>
      ),
    })),
    ...loops.map((loop) => ({
      at: loop.createdAt,
      key: loop.id,
      content: <LoopEntry loop={loop} orgSlug={orgSlug} now={now} />,
    })),
    ...pullRequests.map((pullRequest) => ({
      at: pullRequest.createdAt,
      key: pullRequest.url,
      content: (
        <span>
          Pull request {pullRequest.fullName}#{pullRequest.number}
        </span>
      ),
    })),
  ].sort((a, b) => b.at.localeCompare(a.at));
  return (
    <Panel>
      <ol className="divide-y divide-line">
        {happenings.map(({ at, key, content }) => (
          <li key={key} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
            <div className="min-w-0 flex-1 basis-56">{content}</div>
            <time dateTime={at} title={moment(at)} className="text-sm text-ink-3">
              {ago(at, now)}
            </time>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function LoopEntry({ loop, orgSlug, now }: { loop: Loop; orgSlug: string; now: number }) {
  const spent = moneyOf(loop);
  const name = [loop.user?.firstName, loop.user?.lastName].filter(Boolean).join(" ");
  const facts = [name, loopDuration(loop, now), spent && money(spent.usd)].filter(Boolean);
  return (
    <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
      <StatusBadge status={loop.status} />
      <Link
        to="/$orgSlug/loops/$loopId"
        params={{ orgSlug, loopId: loop.id }}
        className="font-medium hover:underline"
      >
        {humanise(loop.command)}
      </Link>
      <span dir="auto" className="text-sm text-ink-3">
        {facts.join(" · ")}
      </span>
    </span>
  );
}
