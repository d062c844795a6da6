import type { ChangedFile } from "@/api/types";
import { cx } from "@/ui/cx";

const MARKS: Record<ChangedFile["status"], { letter: string; label: string; tone: string }> = {
  added: { letter: "A", label: "Added", tone: "text-ok" },
  modified: { letter: "M", label: "Modified", tone: "text-warn" },
  deleted: { letter: "D", label: "Deleted", tone: "text-bad" },
  renamed: { letter: "R", label: "Renamed", tone: "text-run" },
  copied: { letter: "C", label: "Copied", tone: "text-run" },
  "type-changed": { letter: "T", label: "Type changed", tone: "text-warn" },
};

/** Letter for the kind of a change, as git shows it. */
export function StatusMark({ status }: Pick<ChangedFile, "status">) {
  const { letter, label, tone } = MARKS[status];
  return (
    <span title={label} className={cx("shrink-0 font-mono text-xs font-medium", tone)}>
      <span aria-hidden>{letter}</span>
      <span className="sr-only">{label}</span>
    </span>
  );
}
