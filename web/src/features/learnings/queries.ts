/** Learnings of this machine, and decisions about them. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { type Scope, useScope } from "@/api/scope";
import type { LearnedPattern, LearningDecision } from "@/api/types";
import { decideLearning, learnings } from "@/gateway/operations";
import { request } from "@/gateway/request";

export const learningsQuery = (scope: Scope) =>
  queryOptions({
    queryKey: scope.key("gateway", "learnings"),
    queryFn: ({ signal }) => request(scope, undefined, learnings, signal),
    retry: false,
  });

/** Decides about a learning with the text that the person sees. */
export function useDecideLearning() {
  const scope = useScope();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({
      pattern: { id, summary },
      action,
      by,
    }: {
      pattern: LearnedPattern;
      action: LearningDecision["action"];
      by: string;
    }) =>
      request(
        scope,
        undefined,
        decideLearning({ id, summary, action, by }),
        new AbortController().signal,
      ),
    onSuccess: (result) => client.setQueryData(learningsQuery(scope).queryKey, result),
    // A refused decision is about a text that has changed.
    onError: () => client.invalidateQueries({ queryKey: learningsQuery(scope).queryKey }),
  });
}
