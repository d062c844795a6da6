import type { RepositoryChanges } from "@/api/types";
import { exact } from "@/model/format";
import type { AddressChange, ChangesAddress } from "@/routing/changes-address";
import { cx } from "@/ui/cx";

const SELECT =
  "h-7.5 max-w-full min-w-0 rounded-md border border-line-strong/70 bg-surface px-2 text-sm";

/** Choices of what is compared and how it is displayed. */
export function Toolbar({
  repositories,
  complete,
  shown,
  reviewed,
  relayedBy,
  address,
  onAddress,
}: {
  repositories: readonly RepositoryChanges[];
  /** The repository with all its changes, and with those of the range. */
  complete: RepositoryChanges;
  shown: RepositoryChanges;
  /** Commit of the last review. */
  reviewed: string | undefined;
  /** The machine that responded, if it is not this one. */
  relayedBy: string | undefined;
  address: ChangesAddress;
  onAddress: (address: AddressChange) => void;
}) {
  const sum = (member: "additions" | "deletions") =>
    shown.files.reduce((total, file) => total + file[member], 0);
  const isSplit = address.view === "split";
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
      {repositories.length > 1 && (
        <select
          aria-label="Repository"
          className={SELECT}
          value={complete.name}
          onChange={({ target }) =>
            onAddress({ repo: target.value, range: undefined, file: undefined, line: undefined })
          }
        >
          {repositories.map(({ name, fileCount }) => (
            <option key={name} value={name}>
              {name} ({fileCount})
            </option>
          ))}
        </select>
      )}
      <select
        aria-label="Range"
        className={cx(SELECT, "w-56")}
        value={address.range ?? ""}
        onChange={({ target }) =>
          onAddress({ range: target.value || undefined, repo: complete.name })
        }
      >
        <option value="">All changes since {complete.base?.name ?? "the start"}</option>
        {reviewed !== undefined &&
          reviewed !== complete.head &&
          complete.commits.some(({ id }) => id === reviewed) && (
            <option value={`since:${reviewed}`}>Since the last review</option>
          )}
        {complete.head && complete.commits.length > 0 && (
          <option value={`since:${complete.head}`}>Not committed</option>
        )}
        {complete.commits.length > 0 && (
          <optgroup label="One commit">
            {complete.commits.map(({ id, subject }) => (
              <option key={id} value={`commit:${id}`}>
                {id.slice(0, 7)} {subject}
              </option>
            ))}
          </optgroup>
        )}
      </select>
      <span className="whitespace-nowrap tabular-nums">
        {exact(shown.fileCount)} {shown.fileCount === 1 ? "file" : "files"}{" "}
        <span className="text-ok">+{exact(sum("additions"))}</span>{" "}
        <span className="text-bad">−{exact(sum("deletions"))}</span>
      </span>
      {shown.fileCount > shown.files.length && (
        <span className="text-warn">Only the first {exact(shown.files.length)} are listed.</span>
      )}
      {relayedBy && <span className="text-ink-3">from {relayedBy}</span>}
      <label className="ml-auto flex items-center gap-1.5 max-sm:hidden">
        <input
          type="checkbox"
          checked={isSplit}
          onChange={() => onAddress({ view: isSplit ? undefined : "split" })}
          className="accent-accent"
        />
        Split
      </label>
    </div>
  );
}
