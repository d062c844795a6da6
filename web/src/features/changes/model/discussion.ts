/** The conversation about a finding: questions to the assistant, and debates with the reviewer. */
import { v7 as uuidV7 } from "uuid";

import type { ChatEvent, ChatMessage, DebateOutcome } from "@/api/types";

export const ASSISTANT = "assistant";
export const REVIEWER = "reviewer";

const NAMES: Partial<Record<string, string>> = { [ASSISTANT]: "Assistant", [REVIEWER]: "Reviewer" };

/** Returns the name of a provider. */
export const providerName = (id: string): string => NAMES[id] ?? id;

/** What a person, or a program, says. */
export interface Turn {
  id: string;
  /** A provider, or `person`. */
  sender: string;
  /** Markdown. */
  text: string;
  /** Whether it belongs to a debate. */
  isDebate: boolean;
}

/** A part of the conversation that is in progress, or whose end was not displayed yet. */
export interface LiveTurns {
  turns: Turn[];
  isRunning: boolean;
  pid?: number;
  error?: string;
  outcome?: DebateOutcome;
}

// Blocks for programs, also an incomplete one at the end.
const BLOCK = /<(debate-status|pr_verdict|learnings-used|suggested-actions)>[^]*?(<\/\1>|$)/g;

/** Returns the text of an answer without the blocks in it that are for programs. */
export const displayedText = (text: string): string => text.replace(BLOCK, "").trim();

/** Returns the stored messages as turns. */
export const turnsOf = (messages: readonly ChatMessage[]): Turn[] =>
  messages.map(({ id, role, sender, mode, content = "" }, index) => ({
    id: id ?? String(index),
    sender: role === "user" ? "person" : (sender ?? ASSISTANT),
    text: content,
    isDebate: mode != null || sender != null,
  }));

/** Returns a turn as a message of the chat about the finding. */
export const chatMessageOf = ({ id, sender, text }: Turn, timestamp: string): ChatMessage => ({
  id,
  role: sender === "person" ? "user" : "assistant",
  content: text,
  timestamp,
  ...(sender === "person" ? { mode: REVIEWER } : { sender }),
});

/** Applies an event. A debate names the side of each turn; without a name, `answering` answers. */
export function withEvent(live: LiveTurns, event: ChatEvent, answering: string): LiveTurns {
  switch (event.type) {
    case "status": {
      const next = event.pid == null ? live : { ...live, pid: event.pid };
      return event.mode == null || isEmptyTurnOf(next, event.mode)
        ? next
        : { ...next, turns: [...next.turns, newTurn(event.mode, next)] };
    }
    case "text": {
      const last = live.turns.at(-1);
      const turn = last && last.sender !== "person" ? last : newTurn(answering, live);
      const earlier = turn === last ? live.turns.slice(0, -1) : live.turns;
      return { ...live, turns: [...earlier, { ...turn, text: turn.text + event.content }] };
    }
    case "error":
      return { ...live, error: event.error };
    case "result":
      return event.success || live.error !== undefined
        ? live
        : { ...live, error: "The program ended without an answer." };
    case "done": {
      const outcome = event.debateStatus?.outcome;
      return { ...live, ...(outcome && { outcome }) };
    }
    default:
      return live;
  }
}

const isEmptyTurnOf = ({ turns }: LiveTurns, sender: string) => {
  const last = turns.at(-1);
  return last?.sender === sender && last.text === "";
};

const newTurn = (sender: string, { turns }: LiveTurns): Turn => ({
  id: uuidV7(),
  sender,
  text: "",
  isDebate: turns.some(({ isDebate }) => isDebate),
});

export const OUTCOMES: Record<DebateOutcome, string> = {
  agreement: "Both sides agree.",
  concession: "One side conceded.",
  stalemate: "Both sides repeat themselves.",
  limit: "The debate reached its limit of rounds.",
};
