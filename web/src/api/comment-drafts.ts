/** Comments on changes that are not sent yet. */
import { unwrap } from "./client";
import type { Scope } from "./scope";
import type { CommentDraft, CommentPlace } from "./types";

/** What is stored of a comment. */
export type CommentContent = CommentPlace & { body: string };

/** Creates a comment of the person on the changes of a change request, or replaces it. */
export const storeCommentDraft = (
  { api }: Scope,
  idOrSlug: string,
  commentId: string,
  body: CommentContent,
): Promise<CommentDraft> =>
  unwrap(
    api.PUT("/change-requests/{idOrSlug}/comments/{commentId}", {
      params: { path: { idOrSlug, commentId } },
      body,
    }),
  );
