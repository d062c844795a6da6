import type { ChangedFile } from "@/api/types";

import type { LineNote } from "../model/diff-file";
import {
  type Comparison,
  type ReviewedLoop,
  useDeleteComment,
  useRepeatComment,
  useStoreComment,
} from "../review-queries";
import { DraftCard } from "./comment-card";
import { CommentForm } from "./comment-form";
import { SentCard } from "./sent-card";

/** What is displayed below a line: a comment, or the form for one. */
export function DiffNote({
  note,
  page,
  loop,
  comparison,
  file,
  onClose,
  onCommit,
}: {
  note: Exclude<LineNote, { kind: "image" | "finding" }>;
  page: string;
  loop: ReviewedLoop;
  comparison: Comparison;
  file: ChangedFile;
  /** Closes the form. */
  onClose: () => void;
  onCommit: (commit: string) => void;
}) {
  const store = useStoreComment(loop, comparison);
  const remove = useDeleteComment(loop);
  const repeat = useRepeatComment(loop);
  switch (note.kind) {
    case "draft":
      return (
        <DraftCard
          comment={note.comment}
          isOutdated={note.isOutdated}
          onRemove={() => remove.mutate(note.comment.id)}
        />
      );
    case "sent":
      return (
        <SentCard
          comment={note.comment}
          isOutdated={note.isOutdated}
          onCommit={onCommit}
          onRepeat={() => repeat.mutate(note.comment)}
        />
      );
    case "form":
      return (
        <CommentForm
          page={page}
          path={file.path}
          lines={note.lines}
          onCancel={onClose}
          onAdd={async (comment) => {
            await store.mutateAsync({ ...comment, file });
            onClose();
          }}
        />
      );
  }
}
