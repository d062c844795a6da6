import { Link } from "@tanstack/react-router";

/** Link to the change request that a document belongs to. */
export function ChangeRequestLink({ slug, orgSlug }: { slug: string; orgSlug: string }) {
  return (
    <Link
      to="/$orgSlug/work/$slug"
      params={{ orgSlug, slug }}
      className="text-accent hover:underline"
    >
      Change request
    </Link>
  );
}
