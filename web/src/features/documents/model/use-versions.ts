import { useSuspenseQueries } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";

import { useScope } from "@/api/scope";
import type { Document } from "@/api/types";

import { documentVersionQuery } from "../queries";
import type { PlanSearch } from "@/routing/plan-search";
import { withChange } from "@/routing/search-change";

/** The versions of a document that the address names, with their texts. See `PlanSearch`. */
export function useVersions({ id, content, currentVersion }: Document) {
  const scope = useScope();
  const navigate = useNavigate();
  const search: PlanSearch = useSearch({ strict: false });
  const existing = (wanted: number | undefined) =>
    wanted !== undefined && wanted <= currentVersion ? wanted : undefined;
  const version = existing(search.version) ?? currentVersion;
  const compared = search.compare === version ? undefined : existing(search.compare);
  // The document contains the text of its current version.
  const others = [version, compared].filter((other) => other !== undefined);
  const read = useSuspenseQueries({
    queries: others
      .filter((other) => other !== currentVersion)
      .map((other) => documentVersionQuery(scope, id, other)),
  });
  const textOf = (wanted: number) =>
    read.find(({ data }) => data.version === wanted)?.data.content ?? content;
  /** Changes the address. Absent members are removed from it. */
  const show = ({ version: shown, compare, edit }: PlanSearch) =>
    void navigate({
      to: ".",
      search: (previous) =>
        withChange(previous, {
          version: shown === currentVersion ? undefined : shown,
          compare,
          edit,
          // What the person does next is not about the comment.
          comment: undefined,
        }),
      resetScroll: false,
    });
  return {
    shown: { version, content: textOf(version) },
    compared: compared === undefined ? undefined : { version: compared, content: textOf(compared) },
    isCurrent: version === currentVersion,
    isEdited: search.edit === true && version === currentVersion,
    show,
  };
}
