import { useSuspenseQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";

import type { ReviewedLoop } from "../review-queries";
import { commentIdOf, type FindingGroup, type ShownFinding, shownFindings } from "./findings";
import type { NoteFocus } from "./note-links";
import type { Review } from "./use-review";

/** What is open below a finding. */
export type FindingPart = "discussion" | "debate" | "dismissal";

export interface Findings extends NoteFocus {
  /** All findings, and those that the filter shows. */
  all: ShownFinding[];
  shown: ShownFinding[];
  onlyOpen: boolean;
  setOnlyOpen: (onlyOpen: boolean) => void;
  commentId: (group: FindingGroup) => string;
  /** Kept here: the diff removes a finding that is out of view. */
  partOf: (id: string) => FindingPart | undefined;
  setPart: (id: string, part: FindingPart | undefined) => void;
}

/** The findings with their state for the person, and how they are displayed. */
export function useFindings(
  groups: readonly FindingGroup[],
  loop: ReviewedLoop,
  { drafts, sent }: Pick<Review, "drafts" | "sent">,
  focus: NoteFocus,
): Findings {
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  const [onlyOpen, setOnlyOpen] = useState(false);
  const [parts, setParts] = useState<ReadonlyMap<string, FindingPart | undefined>>(new Map());
  const [person, slug] = [me.id, loop.document?.slug ?? ""];
  const all = useMemo(
    () => shownFindings(groups, (group) => commentIdOf(person, slug, group), drafts, sent),
    [groups, person, slug, drafts, sent],
  );
  return {
    all,
    shown: onlyOpen ? all.filter(({ state }) => state === "open") : all,
    onlyOpen,
    setOnlyOpen,
    commentId: (group) => commentIdOf(person, slug, group),
    partOf: (id) => parts.get(id),
    setPart: (id, part) => setParts((others) => new Map(others).set(id, part)),
    ...focus,
  };
}
