import { Link } from "@tanstack/react-router";

import type { DocumentLink as Target } from "@/api/types";

/** Link to the page of a document or plan. */
export function DocumentLink({
  document,
  orgSlug,
  text,
}: {
  document: Target;
  orgSlug: string;
  /** Default: the title of the document. */
  text?: string;
}) {
  const isPlan = document.type === "IMPLEMENTATION_PLAN";
  return (
    <Link
      to={isPlan ? "/$orgSlug/implementation-plans/$slug" : "/$orgSlug/documents/$slug"}
      params={{ orgSlug, slug: document.slug }}
      className="wrap-anywhere text-accent hover:underline"
    >
      <bdi>{text ?? document.title}</bdi>
    </Link>
  );
}
