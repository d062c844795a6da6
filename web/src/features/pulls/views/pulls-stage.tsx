/** The stage Pull request of a change request: its pull requests, side by side for several repositories. */
import { useQueries } from "@tanstack/react-query";
import { GitPullRequest } from "lucide-react";
import { Suspense, useState } from "react";

import { useScope } from "@/api/scope";
import type { ChangeRequestDetail } from "@/api/types";
import { cx } from "@/ui/cx";
import { EmptyState, Panel } from "@/ui/panel";

import { type ChosenThread, threadsOf } from "../model/threads";
import { commentsQuery, type OpenedPull, openedPulls } from "../queries";
import { AddressComments } from "./address-comments";
import { LoadingPull } from "./loading-pull";
import { PullCard } from "./pull-card";
import { ResolveConflicts } from "./resolve-conflicts";

export function PullsStage({
  request,
  orgSlug,
}: {
  request: ChangeRequestDetail;
  orgSlug: string;
}) {
  const pulls = openedPulls(request);
  if (pulls.length === 0) {
    return (
      <Panel>
        <EmptyState icon={<GitPullRequest />} title="No pull request yet">
          Execute opens one for each repository that it changes.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <Suspense fallback={<LoadingPull />}>
      <Pulls key={request.document.slug} pulls={pulls} request={request} orgSlug={orgSlug} />
    </Suspense>
  );
}

const keyOf = ({ pull, thread }: ChosenThread): string =>
  `${pull.fullName}#${pull.number} ${thread.id}`;

function Pulls({
  pulls,
  request: { loops },
  orgSlug,
}: {
  pulls: OpenedPull[];
  request: ChangeRequestDetail;
  orgSlug: string;
}) {
  const scope = useScope();
  const conversations = useQueries({ queries: pulls.map((pull) => commentsQuery(scope, pull)) });
  const [keys, setKeys] = useState<readonly string[]>([]);
  const threads = pulls.map((pull, index) =>
    threadsOf(conversations[index]?.data?.data.comments ?? []).map((thread) => ({ pull, thread })),
  );
  const isChosen = (choice: ChosenThread) => keys.includes(keyOf(choice));
  const executed = loops.find(({ command }) => command === "EXECUTE");
  const choose = (choice: ChosenThread, chosen: boolean) =>
    setKeys((others) => {
      const key = keyOf(choice);
      return chosen ? [...others, key] : others.filter((other) => other !== key);
    });
  return (
    <div className="space-y-4">
      <AddressComments
        chosen={threads.flat().filter(isChosen)}
        loop={executed}
        orgSlug={orgSlug}
        onStarted={() => setKeys([])}
      />
      <div className={cx("grid grid-cols-1 gap-4", pulls.length > 1 && "xl:grid-cols-2")}>
        {pulls.map((pull, index) => (
          <PullCard
            key={pull.url}
            pull={pull}
            threads={threads[index]?.map(({ thread }) => thread) ?? []}
            conversation={conversations[index]}
            isChosen={(thread) => isChosen({ pull, thread })}
            onChoose={(thread, chosen) => choose({ pull, thread }, chosen)}
            resolveConflicts={<ResolveConflicts pull={pull} loop={executed} orgSlug={orgSlug} />}
          />
        ))}
      </div>
    </div>
  );
}
