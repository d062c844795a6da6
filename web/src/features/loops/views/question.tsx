/** The question for which a loop waits, and a form for the answer. */
import { MessageCircleQuestion } from "lucide-react";
import { type ReactNode, Suspense } from "react";

import type { LoopDetail } from "@/api/types";
import { lazyPart } from "@/ui/lazy-view";

const AnswerForm = lazyPart(() => import("./answer-form"), "AnswerForm");

/** `children`: what the assistant asks. */
export function Question({
  loop,
  orgSlug,
  children,
}: {
  loop: LoopDetail;
  orgSlug: string;
  children: ReactNode;
}) {
  return (
    <section
      aria-label="Question"
      className="mt-5 flex gap-3.5 rounded-lg border border-warn/40 bg-warn-soft/60 px-4 py-4"
    >
      <MessageCircleQuestion aria-hidden className="mt-0.5 size-5 shrink-0 text-warn" />
      <div className="min-w-0 flex-1">
        <h2 className="text-lg leading-6 font-semibold">The assistant needs your answer</h2>
        <div className="mt-1 max-w-[70ch]">{children}</div>
        <p className="mt-2 max-w-[70ch] text-pretty text-ink-2">
          The work so far is committed on the loop’s branch but not pushed. The loop continues from
          there with your answer.
        </p>
        {/* The page stays visible until the form and its draft are loaded. */}
        <Suspense>
          <AnswerForm loop={loop} orgSlug={orgSlug} />
        </Suspense>
      </div>
    </section>
  );
}
