/** A finding of a review, displayed like a comment. A separate chunk, because it renders Markdown. */
import type { ReactNode } from "react";

import { Markdown } from "@/markdown/markdown";
import { CopyButton } from "@/ui/copy-button";
import { Badge } from "@/ui/status-badge";

import type { ReviewTarget } from "../finding-queries";
import { useCardState } from "../model/card-state";
import { providerName } from "../model/discussion";
import { type Finding, findingPlace, severityTone, type ShownFinding } from "../model/findings";
import { useNoteFocus, useNoteLink } from "../model/note-links";
import type { Findings } from "../model/use-findings";
import type { Comparison, ReviewedLoop } from "../review-queries";
import { Dismissed, FindingActions } from "./finding-actions";

export interface FindingCardProps {
  finding: ShownFinding;
  findings: Findings;
  target: ReviewTarget;
  loop: ReviewedLoop;
  comparison: Comparison;
  page: string;
}

export function FindingCard(props: FindingCardProps) {
  const { finding, findings } = props;
  const { first } = finding;
  const card = useNoteFocus(finding.id, findings);
  const link = useNoteLink();
  return (
    <article
      ref={card}
      tabIndex={-1}
      aria-label={`Finding on ${findingPlace(first)}: ${first.title}`}
      className="space-y-2 border-y border-line bg-raised px-3 py-2 font-sans text-base whitespace-normal text-ink"
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3">
        <Badge tone={severityTone(first)}>
          <span dir="auto" className="max-w-32 truncate first-letter:uppercase">
            {first.severity}
          </span>
        </Badge>
        <span>{reporters(finding)}</span>
        {first.confidence !== undefined && <span>{Math.round(first.confidence * 100)} % sure</span>}
        <span dir="auto" className="min-w-0 wrap-anywhere">
          {findingPlace(first)}
          {first.isOutdated && " · this line has changed since"}
        </span>
        <State finding={finding} />
        <CopyButton
          text={() => link({ repo: props.comparison.repository, finding: finding.id })}
          label="Copy link"
        />
      </div>
      <p dir="auto" className="font-medium wrap-anywhere">
        {first.title}
      </p>
      {finding.state === "dismissed" ? (
        <Dismissed {...props} />
      ) : (
        <>
          {finding.state === "sent" ? (
            <Folded name={finding.id} label="Details">
              <Text finding={first} />
            </Folded>
          ) : (
            <Text finding={first} />
          )}
          {finding.others.map((other) => (
            <Folded
              key={other.id}
              name={other.id}
              label={`Also reported by the ${providerName(other.provider).toLowerCase()}`}
            >
              <p dir="auto" className="font-medium wrap-anywhere">
                {other.title}
              </p>
              <Text finding={other} />
            </Folded>
          ))}
          <FindingActions {...props} />
        </>
      )}
    </article>
  );
}

const reporters = ({ first, others }: ShownFinding) =>
  [first, ...others].map(({ provider }) => providerName(provider)).join(" and ");

const STATES: Record<ShownFinding["state"], { label: string; tone: "ok" | "run" | "idle" }> = {
  open: { label: "Open", tone: "run" },
  added: { label: "In your review", tone: "ok" },
  sent: { label: "Sent", tone: "ok" },
  posted: { label: "Posted", tone: "ok" },
  dismissed: { label: "Dismissed", tone: "idle" },
};

function State({ finding: { state } }: Pick<FindingCardProps, "finding">) {
  const { label, tone } = STATES[state];
  return (
    <span className="ml-auto">
      <Badge tone={tone}>{label}</Badge>
    </span>
  );
}

function Text({ finding: { details, suggestion } }: { finding: Finding }) {
  return (
    <>
      {details !== "" && <Markdown text={details} />}
      {suggestion !== undefined && (
        <div className="border-l-2 border-line-strong pl-3">
          <p className="text-xs text-ink-3">Suggestion</p>
          <Markdown text={suggestion} />
        </div>
      )}
    </>
  );
}

function Folded({
  name,
  label,
  children,
}: {
  /** Id of the finding. */
  name: string;
  label: string;
  children: ReactNode;
}) {
  const [isOpen, setIsOpen] = useCardState(`${name}: ${label}`, false);
  return (
    <details
      className="text-sm"
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <summary className="cursor-pointer text-ink-2">{label}</summary>
      <div className="space-y-2 pt-2">{children}</div>
    </details>
  );
}
