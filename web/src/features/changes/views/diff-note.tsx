import { anchorOf } from "../model/comments";
import type { LineNote } from "../model/diff-file";
import type { PatchState } from "../model/patch-loader";
import { sideLines } from "../model/patch-lines";
import type { Review } from "../model/use-review";
import { CommentCard } from "./comment-card";
import { CommentForm } from "./comment-form";

/** What is displayed below a line: a comment, or the form for one. */
export function DiffNote({
  note,
  page,
  repository,
  path,
  state,
  review,
}: {
  note: LineNote;
  page: string;
  repository: string;
  path: string;
  state: PatchState | undefined;
  review: Review;
}) {
  if (note.kind === "comment") {
    const { comment, isOutdated } = note;
    return (
      <CommentCard
        comment={comment}
        isOutdated={isOutdated}
        onRemove={() => review.remove(comment.id)}
      />
    );
  }
  return (
    <CommentForm
      page={page}
      path={path}
      lines={note.lines}
      onCancel={review.close}
      onAdd={(body, lines) => {
        const patch = state && "patch" in state ? state.patch : "";
        const range = lines ?? { side: "new" as const, from: 0, to: 0 };
        review.add({ repository, path, ...anchorOf(sideLines(patch), range), body });
        review.close();
      }}
    />
  );
}
