/**
 * What a person may choose for a change request, and its start.
 *
 * Repositories, branches and files are those of the chosen machine. Without one, of this machine, else of the first
 * machine that is online.
 */
import { queryOptions, useQueryClient } from "@tanstack/react-query";

import { fetchUpload, unwrap } from "@/api/client";
import { documentQuery } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import { keyed, type RequestKey, useKeyedMutation } from "@/api/use-keyed-mutation";
import { branchesOf, filesOf, repositories, repositoryPreview } from "@/gateway/operations";
import { request } from "@/gateway/request";
import { titleOf } from "@/model/title";
import { signingKey } from "@/signing/commands";
import { runLoop, type RunSelection } from "@/signing/run-loop";

import { encodeFile, type RequestFile } from "./model/attachments";
import { inputKey, type RepositoryInput } from "./model/repository-input";

// Repositories and branches change rarely while a form is filled in.
const STALE_MS = 30_000;

export interface RepositoryChoice {
  fullName: string;
  path: string;
}

export const repositoriesQuery = (scope: Scope, machine?: string) =>
  queryOptions({
    queryKey: scope.key("gateway", "repositories", machine),
    queryFn: async ({ signal }): Promise<RepositoryChoice[]> => {
      const { repos } = (await request(scope, machine, repositories, signal)).data;
      return repos.flatMap(({ fullName, path }) => (fullName ? [{ fullName, path }] : []));
    },
    staleTime: STALE_MS,
    retry: false,
  });

/** What a loop on a repository would find. A changed input cancels the request, and has its own result. */
export const previewQuery = (
  scope: Scope,
  machine: string | undefined,
  input: RepositoryInput,
  branch: string,
) =>
  queryOptions({
    queryKey: scope.key("gateway", "preview", machine, inputKey(input), branch),
    queryFn: ({ signal }) => {
      if (input.kind === "problem") throw new Error(input.problem);
      const named = input.kind === "name" ? { repoFullName: input.fullName } : { repo: input.path };
      return request(scope, machine, repositoryPreview(named, branch), signal);
    },
    enabled: input.kind !== "problem",
    staleTime: STALE_MS,
    retry: false,
  });

/** Branches per request: a list to choose from, not all of a repository's tens of thousands. */
const BRANCHES_SHOWN = 100;

/** Branches of a clone. The names of the result contain `filter`. */
export const branchesQuery = (
  scope: Scope,
  machine: string | undefined,
  path: string | undefined,
  filter: string,
) =>
  queryOptions({
    queryKey: scope.key("gateway", "branches", machine, path, filter),
    queryFn: async ({ signal }) => {
      const branches = branchesOf(path ?? "", filter, BRANCHES_SHOWN);
      return (await request(scope, machine, branches, signal)).data;
    },
    enabled: path !== undefined,
    staleTime: STALE_MS,
    retry: false,
  });

/** Files of a clone whose paths contain a text. */
export const filesQuery = (
  scope: Scope,
  machine: string | undefined,
  path: string | undefined,
  text: string | undefined,
) =>
  queryOptions({
    queryKey: scope.key("gateway", "files", machine, path, text),
    queryFn: async ({ signal }) =>
      (await request(scope, machine, filesOf(path ?? "", text ?? ""), signal)).data.files,
    enabled: path !== undefined && text !== undefined,
    staleTime: STALE_MS,
    retry: false,
  });

export const openTicketsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("tickets", "open"),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/tickets", { params: { query: { state: "open" } }, signal })),
    staleTime: STALE_MS,
  });

/** The loop with what was selected for it; null without an id. */
export const selectedQuery = ({ api, key }: Scope, loop: string | undefined) =>
  queryOptions({
    queryKey: key("loops", loop, "selected"),
    queryFn: ({ signal }) =>
      loop === undefined
        ? null
        : unwrap(api.GET("/loops/{id}", { params: { path: { id: loop } }, signal })),
  });

/** The agents of the organization that loops may get. */
export const enabledAgentsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("agents", "enabled"),
    queryFn: async ({ signal }) => {
      const { agents } = await unwrap(api.GET("/agents", { params: { query: {} }, signal }));
      return agents.filter(({ enabled }) => enabled);
    },
    staleTime: STALE_MS,
  });

/** What a person requests. */
export interface RequestedChange {
  text: string;
  command: "plan" | "execute";
  /** Id of the document of a ticket. Without one, a document is created. */
  ticketDocument: string | undefined;
  files: RequestFile[];
  selection: RunSelection;
}

/**
 * Stores a change request as a document and starts its first loop. Returns the id of the loop. `onStarted` is also called
 * when the page has been left.
 */
export function useStartRequest(requestKey: RequestKey, onStarted: () => void) {
  const client = useQueryClient();
  const scope = useScope();
  const options = {
    mutationFn: async (change: RequestedChange, key: string) => {
      const { text, command, ticketDocument, files, selection } = change;
      const run = { command, ...selection };
      if (ticketDocument !== undefined) {
        const ticket = await client.query({
          ...documentQuery(scope, ticketDocument),
          staleTime: 0,
        });
        const { id, currentVersion, content } = ticket;
        const prompt = text === content.trim() ? {} : { prompt: text };
        const start = { documentId: id, version: currentVersion, content, ...run, ...prompt };
        return runLoop(scope, start, key);
      }
      const document = {
        type: "FEATURE" as const,
        title: titleOf(text),
        content: text,
        ...(selection.repo && { repo: selection.repo }),
        attachments: await Promise.all(files.map(encodeFile)),
      };
      if (await signingKey(scope)) {
        // A signature names the document: it is created first.
        const { id, currentVersion, content } = await unwrap(
          scope.api.POST("/documents", {
            body: document,
            fetch: fetchUpload,
            ...keyed(`${key}-document`),
          }),
        );
        return runLoop(scope, { documentId: id, version: currentVersion, content, ...run }, key);
      }
      const started = await unwrap(
        scope.api.POST("/documents/run-loop", {
          body: { document, run },
          fetch: fetchUpload,
          ...keyed(key),
        }),
      );
      return started.loopId;
    },
    onSuccess: () => {
      onStarted();
      return client.invalidateQueries({ queryKey: scope.key("loops") });
    },
  };
  return useKeyedMutation(options, requestKey);
}
