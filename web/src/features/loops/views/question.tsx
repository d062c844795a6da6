/** The question for which a loop waits, and a form for the answer. */
import { MessageCircleQuestion } from "lucide-react";
import { type ReactNode, Suspense } from "react";

import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Field, INPUT_CLASS } from "@/ui/field";
import { isSubmitKey } from "@/ui/submit-key";

import { useResume } from "./loop-actions";

/** `children`: what the assistant asks. */
export function Question({
  loopId,
  orgSlug,
  children,
}: {
  loopId: string;
  orgSlug: string;
  children: ReactNode;
}) {
  return (
    <section
      aria-label="Question"
      className="mt-5 flex gap-3.5 rounded-lg border border-warn/40 bg-warn-soft/60 px-4 py-4"
    >
      <MessageCircleQuestion aria-hidden className="mt-0.5 size-5 shrink-0 text-warn" />
      <div className="min-w-0 flex-1">
        <h2 className="text-lg leading-6 font-semibold">The assistant needs your answer</h2>
        <div className="mt-1 max-w-[70ch]">{children}</div>
        <p className="mt-2 max-w-[70ch] text-pretty text-ink-2">
          The work so far is committed on the loop’s branch but not pushed. The loop continues from
          there with your answer.
        </p>
        {/* The page stays visible until the draft is loaded. */}
        <Suspense>
          <AnswerForm loopId={loopId} orgSlug={orgSlug} />
        </Suspense>
      </div>
    </section>
  );
}

function AnswerForm({ loopId, orgSlug }: { loopId: string; orgSlug: string }) {
  const answer = useDraft(`loops/${loopId}`, "answer", "");
  const resume = useResume(orgSlug, loopId, answer.remove);
  const trimmed = answer.value.trim();
  const send = () => {
    if (trimmed) resume.start(trimmed);
  };
  return (
    <form
      className="mt-3 max-w-[70ch] space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Field label="Your answer">
        {(control) => (
          <textarea
            {...control}
            data-due
            rows={3}
            maxLength={100_000}
            value={answer.value}
            onChange={(event) => answer.change(() => event.target.value)}
            onKeyDown={(event) => {
              if (isSubmitKey(event)) send();
            }}
            className={cx(INPUT_CLASS, "h-auto resize-y py-2 leading-relaxed")}
          />
        )}
      </Field>
      <DraftNotice draft={answer} />
      <Button type="submit" variant="primary" busy={resume.isPending} disabled={!trimmed}>
        Answer and resume
      </Button>
      {resume.error && <ActionError title="The loop could not be resumed" error={resume.error} />}
    </form>
  );
}
