/** The decision about a plan: request changes or execute. Stays visible at the bottom of the window. */
import { Link } from "@tanstack/react-router";

import type { Document, LoopCommand } from "@/api/types";
import { humanise, isActive } from "@/model/status";
import { useOpenLoop } from "@/routing/use-open-loop";
import { Button } from "@/ui/button";
import { ProgressDot } from "@/ui/status-badge";

import {
  changeRequestText,
  MAX_REQUEST_CHARS,
  type Review,
  writtenComments,
} from "../model/change-request";
import { answerText, type OpenQuestion } from "../model/open-questions";
import type { ReviewDraft } from "../model/use-review";
import { useRunDocument } from "../run-document";
import { ExecutePlan } from "./execute-button";
import { StartError } from "./start-error";

const CHANGING: readonly LoopCommand[] = ["REQUEST_CHANGES", "EXECUTE"];

export function DecisionBar({
  plan,
  orgSlug,
  questions,
  review,
}: {
  plan: Document;
  orgSlug: string;
  questions: OpenQuestion[];
  review: ReviewDraft;
}) {
  const run = useRunDocument(review.requestKey, review.removeSent);
  const openLoop = useOpenLoop(orgSlug, plan.slug);
  const prompt = changeRequestText(review.review, questions, plan.currentVersion);
  const isTooLong = prompt.length > MAX_REQUEST_CHARS;
  const requestChanges = () => {
    review.send(review.review);
    run.mutate(
      {
        documentId: plan.slug,
        command: "request_changes",
        version: plan.currentVersion,
        content: plan.content,
        prompt,
        ...(plan.repo && { repo: plan.repo }),
      },
      openLoop(),
    );
  };
  const active = plan.loops.find(
    ({ command, status }) => CHANGING.includes(command) && isActive(status),
  );
  return (
    <section
      aria-label="Decision"
      className="sticky bottom-(--navigation) z-10 mt-6 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-t-lg border border-b-0 border-line bg-raised px-4 py-3 shadow-raised"
    >
      <div className="min-w-0 flex-1 basis-48 text-sm text-ink-2">
        <p>{summary(review.review, questions)}</p>
        {active && (
          <Link
            to="/$orgSlug/work/$slug"
            params={{ orgSlug, slug: plan.slug }}
            search={{ tab: "live" }}
            className="mt-0.5 inline-flex items-center gap-2 text-run hover:underline"
          >
            <ProgressDot />
            {humanise(active.command)} is in progress
          </Link>
        )}
      </div>
      <Button busy={run.isPending} disabled={prompt === "" || isTooLong} onClick={requestChanges}>
        Request changes
      </Button>
      <ExecutePlan plan={plan} repo={plan.repo} orgSlug={orgSlug} review={review} />
      {isTooLong && (
        <p role="alert" className="order-last basis-full text-sm text-bad">
          The comments have {prompt.length} characters in total, the limit is {MAX_REQUEST_CHARS}.
        </p>
      )}
      {run.error && <StartError title="Changes were not requested" error={run.error} />}
    </section>
  );
}

function summary(review: Review, questions: OpenQuestion[]): string {
  const comments = writtenComments(review).length;
  const answered = questions.filter(
    (question) => answerText(question, review.answers[question.id]) !== undefined,
  ).length;
  return [
    comments === 1 ? "1 comment" : `${comments} comments`,
    questions.length > 0 && `${answered} of ${questions.length} questions answered`,
  ]
    .filter(Boolean)
    .join(", ");
}
