/** What EXECUTE of a plan does, to be confirmed. */
import type { Document, RepoRef } from "@/api/types";
import { ConfirmDialog } from "@/ui/confirm-dialog";

import { writtenComments } from "../model/change-request";
import { answerText, openQuestions } from "../model/open-questions";
import type { ReviewDraft } from "../model/use-review";
import { LaunchSummary } from "./launch-summary";

export function ExecuteConfirmation({
  plan,
  repo,
  review,
  isExecuted,
  label,
  onCancel,
  onConfirm,
}: {
  plan: Document;
  repo: RepoRef | null | undefined;
  review: ReviewDraft;
  /** Whether an execution of the plan is completed. */
  isExecuted: boolean;
  label: string;
  onCancel: () => void;
  onConfirm: () => void;
}) {
  return (
    <ConfirmDialog
      open
      onOpenChange={onCancel}
      title={isExecuted ? "Execute this plan again?" : "Execute this plan?"}
      confirm={label}
      variant="primary"
      busy={false}
      onConfirm={onConfirm}
    >
      {isExecuted && (
        <p className="mb-2">
          This plan has already been executed. Another loop applies it again on top of the existing
          work, at the cost of a new loop.
        </p>
      )}
      <p>
        Version {plan.currentVersion} of {plan.slug} is executed.
      </p>
      <Unsettled plan={plan} review={review} />
      <LaunchSummary plan={plan} repo={repo} />
    </ConfirmDialog>
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
