/** Addresses of the comments that a version of a plan answers. Unsent comments are known to this browser only. */
import { useRouter, useSearch } from "@tanstack/react-router";
import { type RefObject, useEffect, useRef } from "react";

import type { PlanSearch } from "@/routing/plan-search";

/** Id of a comment in an address, together with the version that answers it. */
export const sentCommentId = (number: number): string => `sent-${number}`;

/** Returns the id of the comment that the address names. */
export const useLinkedComment = (): string | undefined =>
  useSearch({ strict: false, select: ({ comment }: PlanSearch) => comment });

/** Returns the function that returns the address of a comment on this page. */
export function useCommentLink(version: number): (id: string) => string {
  const router = useRouter();
  return (comment) => {
    const { href } = router.buildLocation({
      to: ".",
      search: { tab: "plan", version, comment },
    });
    return new URL(href, window.location.href).href;
  };
}

/** Moves the focus to an element when the address names its comment. */
export function useLinkFocus<Item extends HTMLElement>(isLinked: boolean): RefObject<Item | null> {
  const item = useRef<Item>(null);
  useEffect(() => {
    if (isLinked) item.current?.focus();
  }, [isLinked]);
  return item;
}
