import { useSuspenseQuery } from "@tanstack/react-query";
import { v7 as uuidV7 } from "uuid";

import { meQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";
import { useScope } from "@/api/scope";

import { draftsQuery, type PageKey, saveDraft } from "./draft-store";

export interface SharedValue<T> {
  value: T;
  change: (update: (value: T) => T) => void;
  /** Restores the initial value. */
  remove: () => void;
}

/**
 * A value that is stored like a draft, and that all tabs display: marks of the person, not a text in which another tab
 * must change nothing.
 */
export function useSharedValue<T>(page: string, field: string, initial: T): SharedValue<T> {
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  const pageKey: PageKey = [me.id, me.organization.id, page];
  const query = draftsQuery(pageKey);
  const { data: newest } = useSuspenseQuery({ ...query, select: (fields) => fields[field]?.[0] });
  // Not of the last render: several changes may precede the next one.
  const latest = () => queryClient.getQueryData(query.queryKey)?.[field]?.[0];
  const save = (...args: [replaced: string | undefined, value?: { version: string; value: T }]) =>
    // A browser that stores nothing has the value as long as the page.
    void saveDraft([...pageKey, field], ...args).catch(() => undefined);
  return {
    value: newest ? (newest.value as T) : initial,
    change: (update) => {
      const current = latest();
      const value = update(current ? (current.value as T) : initial);
      save(current?.version, { version: uuidV7(), value });
    },
    remove: () => save(latest()?.version),
  };
}
