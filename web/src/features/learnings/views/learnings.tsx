/** Learnings of loops, chats and sessions on this machine: origin, effect, agreement, deletion. */
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { LearnedPattern } from "@/api/types";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { usePageTitle } from "@/ui/page-title";
import { RequestError, Row, Rows, Section } from "@/ui/section";

import { canAgree, effectText, originText, scopeText } from "../model/text";
import { learningsQuery, useDecideLearning } from "../queries";

type Decide = ReturnType<typeof useDecideLearning>;

export function LearningsPage() {
  usePageTitle("Learnings");
  const scope = useScope();
  const { data, error } = useQuery(learningsQuery(scope));
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const decide = useDecideLearning();
  const by = [me.firstName, me.lastName].filter(Boolean).join(" ") || me.email;
  return (
    <Section
      title="Learnings"
      about="What loops that use learnings, chats and sessions have recorded on this machine. A learning is used in its own repository only, until you agree to use it in all."
    >
      {decide.error && <RequestError error={decide.error} />}
      {error ? (
        <RequestError error={error} />
      ) : (
        data && (
          <Rows items={data.data.patterns} empty="No learnings.">
            {(pattern) => (
              <LearningRow key={pattern.id} pattern={pattern} by={by} decide={decide} />
            )}
          </Rows>
        )
      )}
    </Section>
  );
}

function LearningRow({
  pattern,
  by,
  decide,
}: {
  pattern: LearnedPattern;
  by: string;
  decide: Decide;
}) {
  const [question, setQuestion] = useState<"agree" | "delete">();
  const { agreement, sources } = pattern.history;
  const evidence = sources.at(-1)?.evidence;
  const isBusy = decide.isPending && decide.variables.pattern.id === pattern.id;
  const send = (action: "agree" | "withdraw" | "delete") =>
    decide.mutate({ pattern, action, by }, { onSettled: () => setQuestion(undefined) });
  return (
    <Row
      actions={
        <>
          {canAgree(pattern) && (
            <Button
              size="sm"
              aria-label={`Use ${pattern.id} in all repositories`}
              busy={isBusy && decide.variables.action === "agree"}
              onClick={() => setQuestion("agree")}
            >
              Use in all repositories
            </Button>
          )}
          {agreement && (
            <Button
              size="sm"
              aria-label={`Use ${pattern.id} in its own repository only`}
              busy={isBusy && decide.variables.action === "withdraw"}
              onClick={() => send("withdraw")}
            >
              Take back
            </Button>
          )}
          <Button
            size="sm"
            variant="danger"
            aria-label={`Delete ${pattern.id}`}
            busy={isBusy && decide.variables.action === "delete"}
            onClick={() => setQuestion("delete")}
          >
            Delete
          </Button>
        </>
      }
    >
      <p dir="auto">{pattern.summary}</p>
      <p className="text-sm text-ink-2">
        <span className="font-mono">{pattern.id}</span>, {pattern.category}, {pattern.confidence}{" "}
        confidence {pattern.flags.join(" ")}
      </p>
      <p className="text-sm text-ink-3">
        <bdi>{scopeText(pattern)}</bdi>
      </p>
      <p className="text-sm text-ink-3">
        <bdi>{originText(pattern)}</bdi>. {effectText(pattern)}.
      </p>
      {evidence && (
        <p className="text-sm text-ink-3">
          From the records: <q dir="auto">{evidence}</q>
        </p>
      )}
      <ConfirmDialog
        open={question === "agree"}
        onOpenChange={(open) => setQuestion(open ? "agree" : undefined)}
        title="Use this learning in all repositories?"
        confirm="Agree"
        variant="primary"
        busy={isBusy}
        onConfirm={() => send("agree")}
      >
        <p dir="auto">{pattern.summary}</p>
      </ConfirmDialog>
      <ConfirmDialog
        open={question === "delete"}
        onOpenChange={(open) => setQuestion(open ? "delete" : undefined)}
        title="Delete this learning for good?"
        confirm="Delete"
        variant="danger"
        busy={isBusy}
        onConfirm={() => send("delete")}
      >
        <p>It will not be learned again.</p>
      </ConfirmDialog>
    </Row>
  );
}
