/** The conversation about a finding: stored by the gateway, and the part of it that is in progress. */
import { queryOptions, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { v7 as uuidV7 } from "uuid";

import { messageOf } from "@/api/errors";
import { type Scope, useScope } from "@/api/scope";
import type { ChatEvent } from "@/api/types";
import {
  argueFinding,
  askAboutFinding,
  findingChat,
  killProcess,
  type Operation,
  storeFindingMessage,
} from "@/gateway/operations";
import { follow } from "@/gateway/request";

import { reviewKey, type ReviewTarget, send } from "./finding-queries";
import {
  ASSISTANT,
  type LiveTurns,
  chatMessageOf,
  type Turn,
  turnsOf,
  withEvent,
} from "./model/discussion";
import { type Finding, findingSummary } from "./model/findings";

/** Whom a person addresses: the assistant, the reviewer for one answer, or both for a debate. */
export type Recipient = "assistant" | "reviewer" | "debate";

/** Rounds of a debate. Each consists of two runs of a program. */
export const ROUNDS = 5;

const historyQuery = (scope: Scope, target: ReviewTarget, { id }: Finding) =>
  queryOptions({
    queryKey: reviewKey(scope, target, "finding-chat", id),
    queryFn: async ({ signal }) =>
      turnsOf(
        (await send(scope, target.loop, findingChat(target.worktree, id), signal)).data.messages,
      ),
    // Read again at the end of a run: before, the messages in progress would be displayed twice.
    staleTime: Infinity,
    retry: false,
  });

/**
 * The conversation about a finding. A run belongs to the page and not to the component, which the diff removes when it
 * is out of view.
 */
export function useDiscussion(target: ReviewTarget, finding: Finding) {
  const scope = useScope();
  const client = useQueryClient();
  const history = useQuery(historyQuery(scope, target, finding));
  const liveKey = reviewKey(scope, target, "live-turns", finding.id);
  const live = useQuery<LiveTurns>({ queryKey: liveKey, queryFn: skipToken, gcTime: Infinity });
  const stored = history.data ?? [];

  /** Sends a text. `onStarted` is called when a program has received it. */
  async function say(to: Recipient, text: string, onStarted: () => void): Promise<void> {
    if (client.getQueryData<LiveTurns>(liveKey)?.isRunning) return;
    const question = {
      id: uuidV7(),
      sender: "person",
      text,
      isDebate: to !== "assistant",
    };
    let current: LiveTurns = { turns: [question], isRunning: true };
    const publish = (change: Partial<LiveTurns>) => {
      current = { ...current, ...change };
      client.setQueryData(liveKey, current);
    };
    publish({});
    const answering = to === "assistant" ? ASSISTANT : finding.provider;
    const operation = operationOf(target, finding, to, text, stored);
    let storedCount = 0;
    // The gateway stores the messages of a chat, and leaves those of a debate to clients.
    const store = async (count: number) => {
      if (to === "assistant") return;
      try {
        for (; storedCount < count; storedCount++) {
          const turn = current.turns[storedCount];
          if (!turn || turn.text.trim() === "") continue;
          const message = chatMessageOf(turn, new Date().toISOString());
          await send(scope, target.loop, storeFindingMessage(target.worktree, finding.id, message));
        }
      } catch (error) {
        publish({ error: messageOf(error) });
      }
    };
    let isStarted = false;
    try {
      const { signal } = new AbortController();
      const events = follow(scope, target.loop.computeTargetId ?? undefined, operation, signal);
      for await (const event of events) {
        if (!isStarted) onStarted();
        isStarted = true;
        publish(withEvent(current, event, answering));
        // A turn is complete when another one follows.
        await store(current.turns.length - 1);
      }
    } catch (error) {
      publish({ error: messageOf(error) });
    }
    if (isStarted) await store(current.turns.length);
    const read = await client
      .query({ ...historyQuery(scope, target, finding), staleTime: 0 })
      .catch(() => undefined);
    // Those of a debate have the ids of the stored ones, and remain if they could not be stored.
    const areKept = read === undefined || (isStarted && to !== "assistant");
    publish({ isRunning: false, ...(!areKept && { turns: [] }) });
  }

  const stop = () => {
    const pid = client.getQueryData<LiveTurns>(liveKey)?.pid;
    if (pid !== undefined)
      send(scope, target.loop, killProcess(pid)).catch((error: unknown) =>
        client.setQueryData<LiveTurns>(
          liveKey,
          (current) => current && { ...current, error: messageOf(error) },
        ),
      );
  };

  const storedIds = new Set(stored.map(({ id }) => id));
  return {
    turns: [...stored, ...(live.data?.turns ?? []).filter(({ id }) => !storedIds.has(id))],
    live: live.data,
    isLoading: history.isPending,
    error: history.error,
    say,
    stop,
  };
}

function operationOf(
  { worktree }: ReviewTarget,
  finding: Finding,
  to: Recipient,
  text: string,
  earlier: readonly Turn[],
): Operation<ChatEvent> {
  if (to === "assistant") {
    const { severity, path, line, title, details, suggestion } = finding;
    return askAboutFinding(worktree, finding.id, {
      message: text,
      findingContext: {
        severity,
        message: [title, details].filter(Boolean).join("\n"),
        ...(path !== undefined && { file: path }),
        ...(line !== undefined && { line }),
        ...(suggestion !== undefined && { suggestion }),
      },
    });
  }
  const isFirst = !earlier.some(({ isDebate }) => isDebate);
  return argueFinding(worktree, {
    findingSummary: findingSummary(finding),
    // Otherwise the reviewer takes it for an argument of the assistant.
    assistantArgument: `A developer says:\n${text}`,
    provider: finding.provider,
    ...(to === "debate" && { rounds: ROUNDS }),
    ...(isFirst && { debateHistory: [{ sender: "user", content: text }] }),
  });
}
