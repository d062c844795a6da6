import type { ChangeRequest } from "@/api/types";
import { cx } from "@/ui/cx";

import { STAGE_NAMES, STAGES } from "../model/states";

/** The stages that the work has reached. A review is optional: without one, its mark stays empty. */
export function StageTrack({
  request: { stage, stages },
}: {
  request: Pick<ChangeRequest, "stage" | "stages">;
}) {
  const reached = STAGES.filter((name) => name === stage || stages.includes(name));
  return (
    <span
      role="img"
      aria-label={`Stage ${STAGE_NAMES[stage]}. Reached: ${reached.map((name) => STAGE_NAMES[name]).join(", ")}`}
      title={STAGE_NAMES[stage]}
      className="inline-flex items-center gap-1"
    >
      {STAGES.map((name) => (
        <span
          key={name}
          className={cx(
            "h-1.5 w-4 rounded-full border forced-colors:border-[CanvasText]",
            reached.includes(name)
              ? "border-transparent bg-accent forced-colors:bg-[CanvasText]"
              : "border-line-strong",
          )}
        />
      ))}
    </span>
  );
}
