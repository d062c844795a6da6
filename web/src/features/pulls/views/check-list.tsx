import { ExternalLink } from "lucide-react";

import type { PullRequestStanding } from "@/api/types";
import { safeHref } from "@/model/pull-request";
import { GlyphBadge } from "@/ui/status-badge";

import { byUrgency, CHECK_WORDS } from "../model/standing";

/** The checks of the head commit, opened if one has failed. */
export function CheckList({ standing }: { standing: PullRequestStanding }) {
  const { checks, checksTruncated } = standing;
  if (checks.length === 0) return null;
  return (
    <details open={checks.some(({ outcome }) => outcome === "failed")}>
      <summary className="w-fit cursor-pointer rounded-sm font-medium">
        Checks ({checks.length}
        {checksTruncated && " or more"})
      </summary>
      <ul className="mt-2 space-y-1.5">
        {byUrgency(checks).map((check, index) => {
          const { label, tone } = CHECK_WORDS[check.outcome];
          const href = check.url && safeHref(check.url);
          return (
            // Several checks may have the same name.
            <li key={`${check.name} ${index}`} className="flex items-center gap-2">
              <GlyphBadge tone={tone} isActive={check.outcome === "pending"}>
                {label}
              </GlyphBadge>
              <span dir="auto" className="min-w-0 wrap-anywhere">
                {check.name}
              </span>
              {href && (
                <a
                  href={href}
                  target="_blank"
                  rel="noreferrer"
                  aria-label={`Details of ${check.name}`}
                  className="shrink-0 rounded-sm text-ink-3 hover:text-ink"
                >
                  <ExternalLink aria-hidden className="size-4" />
                </a>
              )}
            </li>
          );
        })}
      </ul>
    </details>
  );
}
