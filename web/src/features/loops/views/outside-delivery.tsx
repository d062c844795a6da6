/** Work of a loop that its pull request does not contain, and commits that were pushed before the delivery. */
import type { ReactNode } from "react";

import type { EarlyPush, UndeliveredWork } from "@/api/types";

const PLACE_TEXT: Record<UndeliveredWork["place"], string> = {
  ignored: "is ignored by git",
  stash: "is a stash",
  branch: "is another branch",
  detached: "is a commit on no branch",
  worktree: "is another worktree",
  submodule: "is a submodule with its own changes",
  outside: "is outside the repository",
};

export function OutsideDelivery({
  undelivered,
  earlyPushes,
}: {
  undelivered: UndeliveredWork[];
  earlyPushes: EarlyPush[];
}) {
  return (
    <>
      {undelivered.length > 0 && (
        <List title="Not in the delivery" label="Work that is not in the delivery">
          {undelivered.map(({ name, place, detail }) => (
            <li key={`${place} ${name}`} className="break-words">
              <Name>{name}</Name> {PLACE_TEXT[place]}
              {detail && (
                <>
                  : <Name>{detail}</Name>
                </>
              )}
            </li>
          ))}
        </List>
      )}
      {earlyPushes.length > 0 && (
        <List title="Pushed before the delivery" label="Refs pushed before the delivery">
          {earlyPushes.map(({ remote, ref, commit }) => (
            <li key={`${remote} ${ref}`} className="break-words">
              <Name>{shortRef(ref)}</Name> at {remote} (<Name>{commit.slice(0, 10)}</Name>)
            </li>
          ))}
        </List>
      )}
    </>
  );
}

/** Returns a ref as users write it: the name of a branch, or `tag` and the name. */
function shortRef(ref: string): string {
  if (ref.startsWith("refs/heads/")) return ref.slice("refs/heads/".length);
  return ref.startsWith("refs/tags/") ? `tag ${ref.slice("refs/tags/".length)}` : ref;
}

function List({ title, label, children }: { title: string; label: string; children: ReactNode }) {
  return (
    <div className="mt-2 text-sm text-warn">
      <p>{title}:</p>
      <ul aria-label={label} className="mt-0.5">
        {children}
      </ul>
    </div>
  );
}

function Name({ children }: { children: ReactNode }) {
  return (
    <code dir="auto" className="font-mono text-xs">
      {children}
    </code>
  );
}
