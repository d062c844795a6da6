import { Suspense } from "react";
import { v7 as uuidV7 } from "uuid";

import type { ChangedFile } from "@/api/types";
import { useDraft } from "@/drafts/use-draft";

import type { CommentNote } from "../model/diff-file";
import type { NoteFocus } from "../model/note-links";
import type { OpenForm, Review } from "../model/use-review";
import {
  type Comparison,
  type ReviewedLoop,
  useDeleteComment,
  useStoreComment,
  useStoreDraft,
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
  review,
  focus,
  onCommit,
}: {
  note: CommentNote;
  page: string;
  loop: ReviewedLoop;
  comparison: Comparison;
  file: ChangedFile;
  review: Review;
  focus: NoteFocus;
  onCommit: (commit: string) => void;
}) {
  const store = useStoreDraft(loop);
  const remove = useDeleteComment(loop);
  switch (note.kind) {
    case "draft":
      return (
        <DraftCard
          comment={note.comment}
          page={page}
          isOutdated={note.isOutdated}
          focus={focus}
          review={review}
          onStore={store.mutateAsync}
          onRemove={() => remove.mutate(note.comment.id)}
        />
      );
    case "sent":
      return (
        <SentCard
          comment={note.comment}
          isOutdated={note.isOutdated}
          focus={focus}
          onCommit={onCommit}
          onRepeat={() => store.mutate({ ...note.comment, id: uuidV7() })}
        />
      );
    case "form":
      return (
        review.place && (
          // The diff stays visible, at the same place, until the draft is loaded.
          <Suspense fallback={<div className="skeleton h-24" aria-hidden />}>
            <NewComment
              form={review.place}
              page={page}
              loop={loop}
              comparison={comparison}
              file={file}
              review={review}
            />
          </Suspense>
        )
      );
  }
}

function NewComment({
  form: { id, lines: openedAt, correctedLines: lines = openedAt },
  page,
  loop,
  comparison,
  file,
  review: { correctLines, close },
}: {
  form: OpenForm;
  page: string;
  loop: ReviewedLoop;
  comparison: Comparison;
  file: ChangedFile;
  review: Review;
}) {
  const { value, change, discard } = useDraft(page, `comment ${id}`, "");
  const store = useStoreComment(loop, comparison);
  return (
    <CommentForm
      name={id}
      label={`Comment on ${file.path}`}
      body={value}
      onBody={(body) => change(() => body)}
      lines={lines}
      onLines={correctLines}
      submit="Add comment"
      onSubmit={async (body) => {
        await store.mutateAsync({ id, file, lines, body });
        discard();
        close(true);
      }}
      onCancel={() => close()}
      onEscape={() => close()}
    />
  );
}
