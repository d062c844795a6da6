import type { ReactNode } from "react";

import type { ShownFinding } from "../model/findings";

/** Findings that the diff has no file for. */
export function FindingList({
  findings,
  renderFinding,
}: {
  findings: readonly ShownFinding[];
  renderFinding: (finding: ShownFinding) => ReactNode;
}) {
  if (findings.length === 0) return null;
  return (
    <section aria-labelledby="findings-outside" className="rounded-md border border-line">
      <h2 id="findings-outside" className="px-3 py-2 text-sm font-medium">
        Findings outside the changes
      </h2>
      <ul className="max-h-96 overflow-y-auto">
        {findings.map((finding) => (
          <li key={finding.id}>{renderFinding(finding)}</li>
        ))}
      </ul>
    </section>
  );
}
