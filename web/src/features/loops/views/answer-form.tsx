/** Answers the question of a loop, and resumes it. */
import type { LoopDetail } from "@/api/types";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Field, INPUT_CLASS } from "@/ui/field";
import { isSubmitKey } from "@/ui/submit-key";

import { useResume } from "./loop-actions";

export function AnswerForm({ loop, orgSlug }: { loop: LoopDetail; orgSlug: string }) {
  const answer = useDraft(`loops/${loop.id}`, "answer", "");
  const resume = useResume(orgSlug, loop, answer.remove);
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
            // What is typed now would not be sent, and removed with the draft.
            readOnly={resume.isPending}
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
