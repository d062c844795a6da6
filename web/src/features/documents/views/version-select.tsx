import { useId } from "react";

import type { DocumentVersion } from "@/api/types";
import { moment } from "@/model/format";
import { INPUT_CLASS } from "@/ui/field";

export function VersionSelect({
  versions,
  current,
  chosen,
  onChoose,
}: {
  versions: DocumentVersion[];
  current: number;
  chosen: number;
  onChoose: (version: number) => void;
}) {
  const id = useId();
  if (versions.length < 2)
    return <span className="flex-1 text-sm text-ink-3">Version {current}</span>;
  return (
    <div className="flex min-w-0 flex-1 items-center gap-2 text-sm text-ink-3">
      <label htmlFor={id}>Version</label>
      <select
        id={id}
        value={chosen}
        onChange={(event) => onChoose(Number(event.target.value))}
        className={`${INPUT_CLASS} !h-7.5 !w-auto min-w-0 !px-2 text-sm text-ink`}
      >
        {[...versions]
          .sort((a, b) => b.version - a.version)
          .map(({ version, createdAt }) => (
            <option key={version} value={version}>
              {version}
              {version === current ? " (current)" : ""} · {moment(createdAt)}
            </option>
          ))}
      </select>
    </div>
  );
}

/** Selects the version that the displayed one is compared with, if any. */
export function CompareSelect({
  versions,
  shown,
  compared,
  onChoose,
}: {
  versions: DocumentVersion[];
  shown: number;
  compared: number | undefined;
  onChoose: (version: number | undefined) => void;
}) {
  const id = useId();
  const others = versions.filter(({ version }) => version !== shown);
  if (others.length === 0) return null;
  return (
    <div className="flex items-center gap-2 text-sm text-ink-3">
      <label htmlFor={id}>Compare with</label>
      <select
        id={id}
        value={compared ?? ""}
        onChange={({ target: { value } }) => onChoose(value === "" ? undefined : Number(value))}
        className={`${INPUT_CLASS} !h-7.5 !w-auto !px-2 text-sm text-ink`}
      >
        <option value="">none</option>
        {others.map(({ version }) => (
          <option key={version} value={version}>
            version {version}
          </option>
        ))}
      </select>
    </div>
  );
}
