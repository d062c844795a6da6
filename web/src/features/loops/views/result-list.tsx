/** Result of a loop for each repository. */
import { ArrowRight, GitPullRequest } from "lucide-react";

import type { HeldBackFile, ResultEntry } from "@/api/types";
import { buttonClass } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";
import { Panel } from "@/ui/panel";
import { Badge } from "@/ui/status-badge";

import { OutsideDelivery } from "./outside-delivery";
import { reasonText } from "../model/results";
import { TestEvidenceView } from "./test-evidence";
import { usePullRequestHref } from "@/model/pull-request";

export function ResultList({ entries }: { entries: ResultEntry[] }) {
  return (
    <Panel>
      <ul aria-label="Results">
        {entries.map((entry) => (
          <li
            key={entry.fullName}
            className="flex flex-wrap items-center gap-x-6 gap-y-3 border-line px-4 py-4 not-last:border-b"
          >
            <div className="min-w-0 flex-1 basis-72">
              <h2 className="flex items-center gap-2.5 font-medium">
                <bdi>{entry.fullName}</bdi>
                <OutcomeBadge status={entry.status} />
              </h2>
              <Details entry={entry} />
              <OutsideDelivery
                undelivered={entry.undelivered ?? []}
                earlyPushes={entry.earlyPushes ?? []}
              />
            </div>
            {entry.status === "success" && (
              <PullRequest url={entry.prUrl} number={entry.prNumber} />
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function OutcomeBadge({ status }: { status: ResultEntry["status"] }) {
  if (status === "success") return <Badge tone="ok">Pull request opened</Badge>;
  if (status === "held") return <Badge tone="warn">Waiting for approval</Badge>;
  return status === "skipped" ? (
    <Badge tone="idle">Skipped</Badge>
  ) : (
    <Badge tone="bad">Failed</Badge>
  );
}

function Details({ entry }: { entry: ResultEntry }) {
  if (entry.status === "skipped")
    return (
      <p dir="auto" className="mt-1 wrap-anywhere text-ink-2">
        {reasonText(entry.reason)}
      </p>
    );
  if (entry.status === "failed") {
    return (
      <p
        dir="auto"
        className="mt-1 font-mono text-xs leading-5 break-words whitespace-pre-wrap text-bad"
      >
        {entry.error}
      </p>
    );
  }
  return (
    <div className="mt-1">
      {entry.status === "success" && entry.prTitle && (
        <p dir="auto" className="wrap-anywhere text-ink-2">
          {entry.prTitle}
        </p>
      )}
      <p className="flex flex-wrap items-center gap-1.5 font-mono text-xs wrap-anywhere text-ink-2">
        <span dir="auto" className="text-ink" data-testid="branch">
          {entry.branchName}
        </span>
        <CopyButton text={entry.branchName} label="Copy branch name" />
        <ArrowRight role="img" aria-label="into" className="size-3.5 text-ink-3" />
        <span dir="auto">{entry.baseBranch}</span>
        {entry.commitSha && <span className="ml-2 text-ink-3">{entry.commitSha.slice(0, 10)}</span>}
      </p>
      {entry.heldBack && entry.heldBack.length > 0 && <HeldBackFiles files={entry.heldBack} />}
      {entry.tests && <TestEvidenceView tests={entry.tests} />}
    </div>
  );
}

function HeldBackFiles({ files }: { files: HeldBackFile[] }) {
  return (
    <div className="mt-2 text-sm text-warn">
      <p>Excluded from delivery:</p>
      <ul aria-label="Files excluded from delivery" className="mt-0.5">
        {files.map(({ path, reason }) => (
          <li key={path} className="break-words">
            <code dir="auto" className="font-mono text-xs">
              {path}
            </code>{" "}
            {HELD_BACK_TEXT[reason]}
          </li>
        ))}
      </ul>
    </div>
  );
}

const HELD_BACK_TEXT: Record<HeldBackFile["reason"], string> = {
  secret: "(may contain a secret)",
  generated: "(dependency, build output or temporary file)",
};

function PullRequest({ url, number }: { url: string; number: number }) {
  const href = usePullRequestHref(url);
  if (!href) return <span className="font-mono text-xs">{url}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer" className={buttonClass("plain")}>
      <GitPullRequest aria-hidden />
      <span>
        <span className="sr-only">Pull request </span>#{number}
      </span>
    </a>
  );
}
