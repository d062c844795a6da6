import { useConnection } from "@/api/connection";
import type { LoopStatus } from "@/api/types";
import { statusFacts, type Tone } from "@/model/status";

import { cx } from "./cx";

export const TONE_TEXT: Record<Tone, string> = {
  ok: "text-ok",
  run: "text-run",
  warn: "text-warn",
  bad: "text-bad",
  idle: "text-idle",
};

const TONE_BADGE: Record<Tone, string> = {
  ok: "bg-ok-soft text-ok",
  run: "bg-run-soft text-run",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  idle: "bg-idle-soft text-idle",
};

/** A short label on a tinted background. */
export function Badge({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  return (
    <span
      className={cx(
        "inline-flex h-5.5 items-center gap-1.5 rounded-sm px-2 text-xs font-medium whitespace-nowrap",
        TONE_BADGE[tone],
      )}
    >
      {children}
    </span>
  );
}

/**
 * Status of a loop: label, colour, and a shape that distinguishes the statuses without colour.
 * `waitingLabel` replaces the label while the loop is queued or needs approval.
 */
export function StatusBadge({
  status,
  waitingLabel,
}: {
  status: LoopStatus;
  waitingLabel?: string | undefined;
}) {
  const { label, tone: ownTone, active } = statusFacts(status);
  const tone = waitingLabel === undefined ? ownTone : "warn";
  return (
    <GlyphBadge tone={tone} isActive={active}>
      {waitingLabel ?? label}
    </GlyphBadge>
  );
}

/** A label with a shape for its tone, or for something in progress. */
export function GlyphBadge({
  tone,
  isActive,
  children,
}: {
  tone: Tone;
  isActive: boolean;
  children: React.ReactNode;
}) {
  return (
    <Badge tone={tone}>
      <StatusGlyph tone={tone} active={isActive} />
      {children}
    </Badge>
  );
}

function StatusGlyph({ tone, active }: { tone: Tone; active: boolean }) {
  if (tone === "run" || active) {
    return <ProgressDot />;
  }
  return (
    <svg
      aria-hidden
      viewBox="0 0 10 10"
      className="size-2.5"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
    >
      {tone === "ok" && <path d="M1.5 5.4 4 7.9 8.6 2.4" />}
      {tone === "bad" && <path d="m2 2 6 6M8 2 2 8" />}
      {tone === "warn" && <path d="M5 1.2v4.6M5 8.7v.1" />}
      {tone === "idle" && <path d="M1.6 5h6.8" />}
    </svg>
  );
}

/** Dot of something in progress: pulsates, and is hollow while the control plane does not respond. */
export function ProgressDot() {
  const { isLost } = useConnection();
  return (
    <span
      aria-hidden
      className={cx(
        "size-1.75 rounded-full",
        isLost ? "border-[1.5px] border-current" : "animate-breathe filled",
      )}
    />
  );
}
