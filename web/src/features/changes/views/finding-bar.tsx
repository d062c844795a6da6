import { ChevronDown, ChevronUp } from "lucide-react";

import { Button } from "@/ui/button";
import { FilterChip } from "@/ui/filter-chip";
import { useShortcut } from "@/ui/shortcuts";

import { findingCounts } from "../model/findings";
import type { Findings } from "../model/use-findings";

/** The findings in numbers, a filter, and buttons for the next and the previous one. */
export function FindingBar({
  findings: { all, shown, onlyOpen, setOnlyOpen },
  onStep,
}: {
  findings: Findings;
  onStep: (step: 1 | -1) => void;
}) {
  const canStep = shown.length > 0;
  useShortcut(
    { keys: "f", label: "Next finding", where: "page" },
    canStep ? () => onStep(1) : undefined,
  );
  if (all.length === 0) return null;
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      <span className="tabular-nums" role="status">
        {findingCounts(all)}
      </span>
      <FilterChip pressed={onlyOpen} onPress={() => setOnlyOpen(!onlyOpen)}>
        Only open
      </FilterChip>
      {(
        [
          ["Previous finding", -1, ChevronUp],
          ["Next finding", 1, ChevronDown],
        ] as const
      ).map(([label, step, Icon]) => (
        <Button
          key={label}
          variant="quiet"
          size="icon"
          title={label}
          aria-label={label}
          disabled={!canStep}
          onClick={() => onStep(step)}
        >
          <Icon aria-hidden />
        </Button>
      ))}
    </span>
  );
}
