/** Starts EXECUTE on a plan, after a confirmation that says what it does. */
import { useQuery } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { Suspense, useRef, useState } from "react";

import { documentQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Document, RepoRef } from "@/api/types";
import { useRequestKey } from "@/drafts/use-request-key";
import { useOpenLoop } from "@/routing/use-open-loop";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { usePageActions } from "@/ui/page-actions";
import { useShortcut } from "@/ui/shortcuts";

import { answersText, writtenComments } from "../model/change-request";
import { answerText, openQuestions } from "../model/open-questions";
import { type ReviewDraft, useReview } from "../model/use-review";
import { useRunDocument } from "../queries";
import { LaunchSummary } from "./launch-summary";
import { StartError } from "./start-error";

/** For pages that do not show the plan: loads it. */
export function ExecuteButton({
  slug,
  repo,
  orgSlug,
}: {
  slug: string;
  repo: RepoRef | null | undefined;
  orgSlug: string;
}) {
  const { data: plan } = useQuery(documentQuery(useScope(), slug));
  return (
    // The page stays visible until the draft is loaded.
    <Suspense fallback={<LoadingButton />}>
      {plan ? <LoadedButton plan={plan} repo={repo} orgSlug={orgSlug} /> : <LoadingButton />}
    </Suspense>
  );
}

function LoadingButton() {
  return (
    <Button variant="primary" busy>
      Execute
    </Button>
  );
}

function LoadedButton(props: {
  plan: Document;
  repo: RepoRef | null | undefined;
  orgSlug: string;
}) {
  return <ExecutePlan {...props} review={useReview(props.plan.id)} />;
}

/** The answers to open questions are sent with the start. */
export function ExecutePlan({
  plan,
  repo,
  orgSlug,
  review,
}: {
  plan: Document;
  repo: RepoRef | null | undefined;
  orgSlug: string;
  review: ReviewDraft;
}) {
  const [confirming, setConfirming] = useState(false);
  const run = useRunDocument(useRequestKey(`plans/${plan.id}`, "execute"), review.removeAnswers);
  const opening = useOpenLoop(orgSlug);
  const isExecuted = plan.loops.some(
    ({ command, status }) => command === "EXECUTE" && status === "COMPLETED",
  );
  const label = isExecuted ? "Execute again" : "Execute";
  const button = useRef<HTMLButtonElement>(null);
  // A single key must not start a loop, which costs money.
  useShortcut({ keys: "e", label: "Go to Execute", where: "page" }, () => button.current?.focus());
  usePageActions([{ label, run: () => setConfirming(true) }]);
  const execute = () => {
    setConfirming(false);
    const prompt = answersText(review.review, openQuestions(plan.content));
    run.mutate(
      {
        documentId: plan.slug,
        command: "execute",
        version: plan.currentVersion,
        content: plan.content,
        ...(prompt !== "" && { prompt }),
        ...(repo && { repo }),
      },
      opening,
    );
  };
  return (
    <>
      <Button
        ref={button}
        data-due
        variant="primary"
        busy={run.isPending}
        onClick={() => setConfirming(true)}
      >
        {!run.isPending && <Play aria-hidden />}
        {label}
      </Button>
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title={isExecuted ? "Execute this plan again?" : "Execute this plan?"}
        confirm={label}
        variant="primary"
        busy={run.isPending}
        onConfirm={execute}
      >
        {isExecuted && (
          <p className="mb-2">
            This plan has already been executed. Another loop applies it again on top of the
            existing work, at the cost of a new loop.
          </p>
        )}
        <p>
          Version {plan.currentVersion} of {plan.slug} is executed.
        </p>
        <Unsettled plan={plan} review={review} />
        <LaunchSummary plan={plan} repo={repo} />
      </ConfirmDialog>
      {run.error && <StartError title="The plan was not executed" error={run.error} />}
    </>
  );
}

/** The questions that are still open, and comments that are not sent. */
function Unsettled({ plan, review: { review } }: { plan: Document; review: ReviewDraft }) {
  const open = openQuestions(plan.content).filter(
    (question) => answerText(question, review.answers[question.id]) === undefined,
  );
  const comments = writtenComments(review).length;
  return (
    <>
      {open.length > 0 && (
        <div className="mt-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-ink">
          <p className="font-medium">
            {open.length === 1 ? "1 question is open" : `${open.length} questions are open`}; the
            assistant decides:
          </p>
          <ul className="mt-1 space-y-1">
            {open.map(({ id, text }) => (
              <li key={id} dir="auto" className="wrap-anywhere">
                {id}: {text}
              </li>
            ))}
          </ul>
        </div>
      )}
      {comments > 0 && (
        <p className="mt-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-ink">
          {comments === 1 ? "1 comment is" : `${comments} comments are`} not sent with the
          execution. Request changes sends comments.
        </p>
      )}
    </>
  );
}
