/** Why a loop does not continue: a question to the person, or its error. */
import { type ReactNode, Suspense } from "react";

import type { LoopDetail } from "@/api/types";
import { lazyView } from "@/ui/lazy-view";
import { Skeleton } from "@/ui/panel";

import { blockingQuestions } from "../model/open-parts";
import { Question } from "./question";

// Only failed loops need the advice about errors.
const LoopError = lazyView(() => import("./error-card"), "LoopError");

interface LoopProblemProps {
  loop: LoopDetail;
  orgSlug: string;
  /** The check of the machine. */
  setUp: ReactNode;
}

export function LoopProblem({ loop, orgSlug, setUp }: LoopProblemProps) {
  const { error, status } = loop;
  if (status === "AWAITING_USER") {
    return (
      <Question loop={loop} orgSlug={orgSlug}>
        <p dir="auto" className="wrap-anywhere whitespace-pre-line">
          {error?.message}
        </p>
      </Question>
    );
  }
  if (!error || status === "COMPLETED") return null;
  const questions = blockingQuestions(loop);
  return (
    <>
      <Suspense fallback={<Skeleton className="mt-5 h-52" />}>
        <LoopError error={error} diagnostics={loop.diagnostics} setUp={setUp} />
      </Suspense>
      {questions.length > 0 && (
        <Question loop={loop} orgSlug={orgSlug}>
          <ul className="space-y-1">
            {questions.map(({ id, text }) => (
              <li key={id} className="flex gap-3">
                <span className="shrink-0 font-mono text-sm text-ink-3">{id}</span>
                <span dir="auto" className="min-w-0 wrap-anywhere">
                  {text}
                </span>
              </li>
            ))}
          </ul>
        </Question>
      )}
    </>
  );
}
