import type { ChangeRequest } from "@/api/types";
import { cx } from "@/ui/cx";

import { STAGE_NAMES, STAGES } from "../model/states";

/** The stages of a change request, as far as the work has come. */
export function StageTrack({ stage }: { stage: ChangeRequest["stage"] }) {
  const reached = STAGES.indexOf(stage);
  return (
    <span
      role="img"
      aria-label={`Stage ${reached + 1} of ${STAGES.length}: ${STAGE_NAMES[stage]}`}
      title={STAGE_NAMES[stage]}
      className="inline-flex items-center gap-1"
    >
      {STAGES.map((name, at) => (
        <span
          key={name}
          className={cx(
            "h-1.5 w-4 rounded-full border forced-colors:border-[CanvasText]",
            at <= reached
              ? "border-transparent bg-accent forced-colors:bg-[CanvasText]"
              : "border-line-strong",
          )}
        />
      ))}
    </span>
  );
}
