/** Unsent content of the form, apart from its files. */
import { v7 as uuidV7 } from "uuid";

import type { Document, LoopDetail } from "@/api/types";
import type { RunSelection } from "@/signing/run-loop";

import type { RepositoryInput } from "./repository-input";

export interface RepositoryDraft {
  id: string;
  /** As entered: see `parseRepository`. */
  repository: string;
  branch: string;
}

export interface RequestDraft {
  prompt: string;
  /** As entered. Undefined until the person enters one: the form proposes one. */
  repository?: string;
  branch: string;
  peers: RepositoryDraft[];
  /** Whether a plan is judged before the implementation. */
  mode: "plan" | "implement";
  /** Id of the document of the selected ticket; empty for none. */
  ticket: string;
  /** Id of the selected machine; empty for any. */
  targetId: string;
  /** Empty for the machine's setting. */
  model: string;
  /** Spending limit in US dollars, as entered; empty for none. */
  limit: string;
  /** Slugs of the selected agents. Undefined for all of the repositories. */
  agents?: string[] | undefined;
  /** Whether the loops use what earlier ones have learned. */
  selfLearning?: boolean | undefined;
}

export const MAX_PEERS = 5;

export const emptyRequest = (): RequestDraft => ({
  prompt: "",
  branch: "",
  peers: [],
  mode: "plan",
  ticket: "",
  targetId: "",
  model: "",
  limit: "",
});

export const newPeer = (repository = "", branch = ""): RepositoryDraft => ({
  id: uuidV7(),
  repository,
  branch,
});

/** The request of an existing change request, to start it again with changes. `selected`: of its first loop. */
export function requestOf(
  document: Pick<Document, "content" | "repo" | "loops">,
  selected: Pick<LoopDetail, "model" | "maxSpendUsd" | "agents" | "selfLearning"> | undefined,
): RequestDraft {
  const first = document.loops.at(-1);
  const repo = document.repo ?? first?.repo;
  return {
    ...emptyRequest(),
    prompt: document.content,
    ...(repo && { repository: repo.fullName, branch: repo.branch ?? "" }),
    peers: (first?.additionalRepos ?? []).map(({ fullName, branch }) => newPeer(fullName, branch)),
    mode: first?.command === "EXECUTE" ? "implement" : "plan",
    targetId: first?.computeTargetId ?? "",
    model: selected?.model ?? "",
    limit: selected?.maxSpendUsd?.toString() ?? "",
    agents: selected?.agents ?? undefined,
    selfLearning: selected?.selfLearning ?? undefined,
  };
}

/** Returns the spending limit in US dollars. Undefined without one, NaN for anything else. */
export function limitOf(entered: string): number | undefined {
  const text = entered.trim().replace(/^\$/, "");
  if (text === "") return undefined;
  return /^\d+([.,]\d{1,2})?$/.test(text) ? Number(text.replace(",", ".")) : Number.NaN;
}

export function limitProblem(entered: string): string | undefined {
  const limit = limitOf(entered);
  return limit === undefined || limit > 0
    ? undefined
    : "Enter an amount of US dollars above 0, for example 5 or 2.50.";
}

export const modelProblem = (entered: string): string | undefined =>
  /^(?!-)\S{0,200}$/.test(entered.trim())
    ? undefined
    : "Enter the name of a model, a single word such as opus.";

/** A repository that was entered, and what the machine found. */
export interface ResolvedRepository {
  input: RepositoryInput;
  branch: string;
  /** Name of the clone at an entered path. */
  foundName: string | undefined;
}

/** Returns the reference of a repository. Undefined as long as its name is not known. */
export function repoRefOf({ input, branch, foundName }: ResolvedRepository) {
  const fullName = input.kind === "name" ? input.fullName : foundName;
  if (input.kind === "problem" || fullName === undefined) return undefined;
  const base = branch.trim() || (input.kind === "name" ? (input.branch ?? "") : "");
  return { fullName, ...(base !== "" && { branch: base }) };
}

/** Returns what the start of a valid request selects. */
export function selectionOf(
  draft: RequestDraft,
  [repo, ...peers]: NonNullable<ReturnType<typeof repoRefOf>>[],
): RunSelection {
  const limit = limitOf(draft.limit);
  const model = draft.model.trim();
  return {
    ...(repo && { repo }),
    ...(peers.length > 0 && { additionalRepos: peers }),
    ...(draft.targetId !== "" && { computeTargetId: draft.targetId }),
    ...(model !== "" && { model }),
    ...(limit !== undefined && { maxSpendUsd: limit }),
    ...(draft.agents && { agents: draft.agents }),
    ...(draft.selfLearning && { selfLearning: true }),
    ...(draft.mode === "implement" && { withoutPlan: true }),
  };
}
