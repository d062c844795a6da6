/** What a person does with a finding: fix it in the review, talk about it, dismiss or restore it. */
import { CircleSlash, MessagesSquare, Swords, Undo2, Wrench } from "lucide-react";
import { type ReactNode, Suspense, useId } from "react";

import { useDraft } from "@/drafts/use-draft";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { focusAtEnd } from "@/ui/focus-at-end";

import { useDecision } from "../finding-queries";
import { useCardAction } from "../model/card-state";
import { commentText } from "../model/findings";
import { useDeleteComment, useStoreComment, type WrittenComment } from "../review-queries";
import type { FindingCardProps } from "./finding-card";
import { FindingDiscussion } from "./finding-discussion";

/** Why a finding was dismissed, and its restoration. */
export function Dismissed({ finding, findings, target }: FindingCardProps) {
  const decide = useDecision(target);
  const restoring = useCardAction(`${finding.id}: restore`);
  const { declineReason } = finding.first;
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm text-ink-2">
      <span dir="auto" className="min-w-0 flex-1 wrap-anywhere">
        {declineReason ?? "No reason was given."}
      </span>
      <Button
        size="sm"
        busy={restoring.isPending}
        onClick={() =>
          restoring.run(
            () => decide.mutateAsync({ group: finding, decision: undefined }),
            () => findings.setFocused(finding.id),
          )
        }
      >
        <Undo2 aria-hidden /> Restore
      </Button>
      {restoring.error && (
        <ActionError title="The finding could not be restored" error={restoring.error} />
      )}
    </div>
  );
}

export function FindingActions(props: FindingCardProps) {
  const { finding, findings, loop, comparison } = props;
  const store = useStoreComment(loop, comparison);
  const remove = useDeleteComment(loop);
  const adding = useCardAction(`${finding.id}: add`);
  const removing = useCardAction(`${finding.id}: remove`);
  const part = findings.partOf(finding.id);
  const toggle = (next: typeof part) =>
    findings.setPart(finding.id, part === next ? undefined : next);
  const focus = () => findings.setFocused(finding.id);
  const fix = () => {
    const { path, line, isOutdated } = finding.first;
    const comment: WrittenComment = {
      id: findings.commentId(finding),
      // A finding about the whole change belongs to the root of the repository.
      file: { path: path ?? "." },
      lines:
        path !== undefined && line !== undefined && !isOutdated
          ? { side: "new", from: line, to: line }
          : undefined,
      body: commentText(finding),
    };
    adding.run(() => store.mutateAsync(comment), focus);
  };
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        {loop.document && finding.state === "open" && (
          <Button
            size="sm"
            busy={adding.isPending}
            title="Adds the finding to your review. Request changes sends it with your comments."
            onClick={fix}
          >
            <Wrench aria-hidden /> Fix
          </Button>
        )}
        {finding.state === "added" && (
          <Button
            size="sm"
            busy={removing.isPending}
            onClick={() =>
              removing.run(() => remove.mutateAsync(findings.commentId(finding)), focus)
            }
          >
            <Undo2 aria-hidden /> Remove from review
          </Button>
        )}
        <Toggle
          isOpen={part === "discussion"}
          icon={<MessagesSquare aria-hidden />}
          onToggle={() => toggle("discussion")}
        >
          Chat
        </Toggle>
        <Toggle
          isOpen={part === "debate"}
          icon={<Swords aria-hidden />}
          onToggle={() => toggle("debate")}
        >
          Argue
        </Toggle>
        {finding.state === "open" && (
          <Toggle
            isOpen={part === "dismissal"}
            icon={<CircleSlash aria-hidden />}
            onToggle={() => toggle("dismissal")}
          >
            Dismiss
          </Toggle>
        )}
        {removing.error && (
          <ActionError
            title="The finding could not be removed from your review"
            error={removing.error}
          />
        )}
        {adding.error && (
          <ActionError title="The finding could not be added to your review" error={adding.error} />
        )}
      </div>
      {part === "dismissal" && (
        <Dismissal
          {...props}
          onClose={() => {
            findings.setPart(finding.id, undefined);
            focus();
          }}
        />
      )}
      {(part === "discussion" || part === "debate") && (
        // Of its own: else the whole card would be replaced while the messages are loaded, and lose the focus.
        <Suspense fallback={<div className="skeleton h-24" aria-hidden />}>
          <FindingDiscussion
            // The other button addresses another program.
            key={part}
            finding={finding.first}
            target={props.target}
            page={props.page}
            isDebate={part === "debate"}
          />
        </Suspense>
      )}
    </div>
  );
}

function Toggle({
  isOpen,
  icon,
  onToggle,
  children,
}: {
  isOpen: boolean;
  icon: ReactNode;
  onToggle: () => void;
  children: ReactNode;
}) {
  return (
    <Button size="sm" variant="quiet" aria-expanded={isOpen} onClick={onToggle}>
      {icon} {children}
    </Button>
  );
}

function Dismissal({ finding, target, page, onClose }: FindingCardProps & { onClose: () => void }) {
  const id = useId();
  const reason = useDraft(page, `dismissal ${finding.id}`, "");
  const decide = useDecision(target);
  const dismissing = useCardAction(`${finding.id}: dismiss`);
  const dismiss = () =>
    dismissing.run(
      () => decide.mutateAsync({ group: finding, decision: { reason: reason.value } }),
      () => {
        reason.discard();
        onClose();
      },
    );
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        dismiss();
      }}
    >
      <div className="min-w-40 flex-1">
        <label htmlFor={id} className="text-xs text-ink-2">
          Reason (optional)
        </label>
        <input
          id={id}
          dir="auto"
          ref={focusAtEnd}
          readOnly={dismissing.isPending}
          value={reason.value}
          onChange={({ target: { value } }) => reason.change(() => value)}
          onKeyDown={({ key }) => key === "Escape" && onClose()}
          className={INPUT_CLASS}
        />
      </div>
      <Button size="sm" type="submit" busy={dismissing.isPending}>
        Dismiss finding
      </Button>
      {dismissing.error && (
        <ActionError title="The finding could not be dismissed" error={dismissing.error} />
      )}
    </form>
  );
}
