import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";

/** Link from a page back to the list of loops. */
export function LoopsLink() {
  return (
    <Link
      from="/$orgSlug"
      to="/$orgSlug/loops"
      className="-ml-1 inline-flex items-center gap-1.5 rounded-sm px-1 text-sm text-ink-3 hover:text-ink"
    >
      <ArrowLeft aria-hidden className="size-3.5" />
      Loops
    </Link>
  );
}
