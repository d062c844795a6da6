/** The pull requests of a change request, side by side for several repositories. */
import type { ChangeRequestDetail } from "@/api/types";
import { ago, moment } from "@/model/format";
import { usePullRequestHref } from "@/model/pull-request";
import { buttonClass } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { EmptyState, Panel } from "@/ui/panel";

type PullRequest = ChangeRequestDetail["pullRequests"][number];

export function PullRequests({ request }: { request: ChangeRequestDetail }) {
  const now = useNow(30_000);
  if (request.pullRequests.length === 0) {
    return (
      <Panel>
        <EmptyState title="No pull request yet">
          Execute opens one for each repository that it changes.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <div className="grid grid-cols-1 gap-4 md:grid-cols-2">
      {request.pullRequests.map((pullRequest) => (
        <PullRequestCard key={pullRequest.url} pullRequest={pullRequest} now={now} />
      ))}
    </div>
  );
}

function PullRequestCard({ pullRequest, now }: { pullRequest: PullRequest; now: number }) {
  const href = usePullRequestHref(pullRequest.url);
  const { fullName, number, title, branchName, baseBranch, createdAt } = pullRequest;
  return (
    <Panel className="space-y-2 p-4">
      <p className="text-sm text-ink-3">
        {fullName} #{number}
      </p>
      <h2 dir="auto" className="text-lg font-semibold wrap-anywhere">
        {title}
      </h2>
      <p className="font-mono text-sm wrap-anywhere text-ink-2">
        {branchName} → {baseBranch}
      </p>
      <p className="text-sm text-ink-3" title={moment(createdAt)}>
        opened {ago(createdAt, now)}
      </p>
      {href && (
        <a href={href} target="_blank" rel="noreferrer" className={buttonClass("primary")}>
          Open pull request
        </a>
      )}
    </Panel>
  );
}
