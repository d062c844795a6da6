import { Square } from "lucide-react";
import { useId } from "react";

import { useDraft } from "@/drafts/use-draft";
import { Markdown } from "@/markdown/markdown";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { focusAtEnd } from "@/ui/focus-at-end";
import { Notice } from "@/ui/panel";
import { ProgressDot } from "@/ui/status-badge";
import { isSubmitKey } from "@/ui/submit-key";

import { type Recipient, ROUNDS, useDiscussion } from "../discussion-queries";
import type { ReviewTarget } from "../finding-queries";
import { useCardState } from "../model/card-state";
import { displayedText, ASSISTANT, OUTCOMES, providerName, type Turn } from "../model/discussion";
import type { Finding } from "../model/findings";

/** The conversation about a finding: questions to the assistant, and debates with the program that reported it. */
export function FindingDiscussion({
  finding,
  target,
  page,
  isDebate,
}: {
  finding: Finding;
  target: ReviewTarget;
  page: string;
  /** Whether the person argues, instead of asking the assistant. */
  isDebate: boolean;
}) {
  const { turns, live, isLoading, error, say, stop } = useDiscussion(target, finding);
  const isRunning = live?.isRunning ?? false;
  return (
    <div className="space-y-3 border-t border-line pt-2">
      {error && <ActionError title="The conversation could not be read" error={error} />}
      {turns.length > 0 && (
        <ul aria-label="Conversation" className="space-y-3">
          {turns.map((turn) => (
            <TurnText key={turn.id} turn={turn} />
          ))}
        </ul>
      )}
      {isRunning && (
        <div className="flex items-center gap-2 text-sm text-ink-2" role="status">
          <span className="text-run">
            <ProgressDot />
          </span>
          {waitingFor(live?.turns.at(-1), isDebate ? finding.provider : ASSISTANT)}
          {live?.pid !== undefined && (
            <Button size="sm" variant="quiet" onClick={stop}>
              <Square aria-hidden /> Stop
            </Button>
          )}
        </div>
      )}
      {live?.outcome && <Notice title={OUTCOMES[live.outcome]} />}
      {live?.error && (
        <Notice tone="bad" title="No complete answer">
          {live.error}
        </Notice>
      )}
      <Composer
        finding={finding}
        page={page}
        isDebate={isDebate}
        isBusy={isRunning || isLoading}
        onSend={say}
      />
    </div>
  );
}

function waitingFor(last: Turn | undefined, answering: string): string {
  const sender = last && last.sender !== "person" ? last.sender : answering;
  return `${providerName(sender)} is answering…`;
}

function TurnText({ turn: { sender, text, isDebate } }: { turn: Turn }) {
  const isPerson = sender === "person";
  const shown = displayedText(text);
  if (shown === "") return null;
  return (
    <li className={isPerson ? "rounded-md bg-sunken px-3 py-2" : "border-l-2 border-line pl-3"}>
      <p className="text-xs font-medium text-ink-2">
        {isPerson ? (isDebate ? "Argument" : "Question") : providerName(sender)}
      </p>
      {isPerson ? (
        <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
          {shown}
        </p>
      ) : (
        <Markdown text={shown} />
      )}
    </li>
  );
}

function Composer({
  finding,
  page,
  isDebate,
  isBusy,
  onSend,
}: {
  finding: Finding;
  page: string;
  isDebate: boolean;
  isBusy: boolean;
  onSend: (to: Recipient, text: string, onStarted: () => void) => Promise<void>;
}) {
  const id = useId();
  const { value, change } = useDraft(page, `discussion ${finding.id}`, "");
  // The assistant cannot argue with itself.
  const canDebate = finding.provider !== ASSISTANT;
  const [letsAssistantArgue, setLetsAssistantArgue] = useCardState(
    `${finding.id}: debate`,
    canDebate,
  );
  const send = () => {
    const text = value.trim();
    const to = !isDebate ? "assistant" : letsAssistantArgue ? "debate" : "reviewer";
    if (text !== "" && !isBusy)
      void onSend(to, text, () =>
        // What was typed since is kept.
        change((current) => (current === value ? "" : current)),
      );
  };
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label htmlFor={id} className="text-xs text-ink-2">
        {isDebate
          ? `Argument against the ${providerName(finding.provider).toLowerCase()}`
          : "Question to the assistant"}
      </label>
      <textarea
        id={id}
        dir="auto"
        rows={2}
        ref={focusAtEnd}
        value={value}
        onChange={(event) => change(() => event.target.value)}
        onKeyDown={(event) => {
          if (isSubmitKey(event)) send();
        }}
        className={`${INPUT_CLASS} h-auto py-2`}
      />
      <div className="flex flex-wrap items-center justify-end gap-x-4 gap-y-2">
        {isDebate && canDebate && (
          <label className="mr-auto flex items-center gap-1.5 text-sm">
            <input
              type="checkbox"
              checked={letsAssistantArgue}
              onChange={({ target }) => setLetsAssistantArgue(target.checked)}
              className="accent-accent"
            />
            The assistant continues the debate, up to {ROUNDS} rounds
          </label>
        )}
        <Button size="sm" type="submit" busy={isBusy} disabled={value.trim() === ""}>
          {isDebate ? "Argue" : "Ask"}
        </Button>
      </div>
    </form>
  );
}
