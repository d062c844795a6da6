import { Link } from "@tanstack/react-router";

import type { DocumentLink as Target } from "@/api/types";

/** Leads to a document's page: plans have an address of their own kind. */
export function DocumentLink({
  document,
  orgSlug,
  text,
}: {
  document: Target;
  orgSlug: string;
  /** The title, when left out. */
  text?: string;
}) {
  const isPlan = document.type === "IMPLEMENTATION_PLAN";
  return (
    <Link
      to={isPlan ? "/$orgSlug/implementation-plans/$slug" : "/$orgSlug/documents/$slug"}
      params={{ orgSlug, slug: document.slug }}
      className="text-accent hover:underline"
    >
      {text ?? document.title}
    </Link>
  );
}
