import { useSuspenseQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { v7 as uuidV7 } from "uuid";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";

import { type Draft, draftsQuery, type PageKey, saveDraft } from "./draft-store";

// The same array for all renders.
const NO_DRAFTS: Draft[] = [];

/** A text field whose unsent content is kept, see `useDraft`. */
export interface DraftField<T> {
  value: T;
  change: (update: (value: T) => T) => void;
  /** Removes the draft, after its content was sent. The field still shows it. */
  remove: () => void;
  /** Removes the draft and restores the initial value. */
  discard: () => void;
  /** Replaces the content with that of another tab. Undefined without one. */
  takeOther: (() => void) | undefined;
  /** False in a browser that stores no drafts. */
  isKept: boolean;
}

/**
 * State of a text field or form that survives leaving the page, a crash and a sign-out. Without a draft, its value is
 * `initial`. Not for secrets.
 */
export function useDraft<T>(page: string, field: string, initial: T): DraftField<T> {
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  const pageKey: PageKey = [me.id, me.organization.id, page];
  const { data: drafts } = useSuspenseQuery({
    ...draftsQuery(pageKey),
    select: (fields) => fields[field] ?? NO_DRAFTS,
  });
  const [own, setOwn] = useState(drafts[0]);
  // The newest value: several changes may precede a render.
  const latest = useRef(own);
  const [isKept, setIsKept] = useState(true);

  const valueOf = (draft: Draft | undefined) => (draft ? (draft.value as T) : initial);
  const save = (replaced: string | undefined, draft?: Draft) =>
    saveDraft([...pageKey, field], replaced, draft).catch(() => setIsKept(false));
  const set = (value: unknown, replaced = latest.current?.version) => {
    const draft = { version: uuidV7(), value };
    latest.current = draft;
    setOwn(draft);
    void save(replaced, draft);
  };
  const remove = () => void save(latest.current?.version);
  // The oldest: taking it makes it the newest, so that each one is offered in turn.
  const other = drafts.findLast(
    ({ version, value }) =>
      version !== own?.version && JSON.stringify(value) !== JSON.stringify(valueOf(own)),
  );
  return {
    value: valueOf(own),
    change: (update) => set(update(valueOf(latest.current))),
    remove,
    discard: () => {
      remove();
      latest.current = undefined;
      setOwn(undefined);
    },
    takeOther: other && (() => set(other.value, other.version)),
    isKept,
  };
}
