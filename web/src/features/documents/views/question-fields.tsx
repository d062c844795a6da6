/** The open questions of a plan, each with the proposal of the assistant and a field for another answer. */
import { useId } from "react";

import { cx } from "@/ui/cx";
import { INPUT_CLASS } from "@/ui/field";

import type { OpenQuestion, QuestionAnswer } from "../model/open-questions";
import type { ReviewDraft } from "../model/use-review";

export function QuestionFields({
  questions,
  review,
}: {
  questions: OpenQuestion[];
  review: ReviewDraft;
}) {
  if (questions.length === 0) return null;
  return (
    <section aria-labelledby="plan-questions">
      <h2 id="plan-questions" className="text-xs font-medium text-ink-3">
        Open questions
      </h2>
      <div className="mt-2 space-y-3">
        {questions.map((question) => (
          <QuestionField
            key={question.id}
            question={question}
            answer={review.review.answers[question.id]}
            onAnswer={(answer) => review.answer(question.id, answer)}
          />
        ))}
      </div>
    </section>
  );
}

function QuestionField({
  question: { id, text, proposal },
  answer,
  onAnswer,
}: {
  question: OpenQuestion;
  answer: QuestionAnswer | undefined;
  onAnswer: (answer: QuestionAnswer) => void;
}) {
  const name = useId();
  const own = answer?.text ?? "";
  const choices = [
    ...(proposal === undefined ? [] : [{ choice: "proposal" as const, label: proposal }]),
    { choice: "own" as const, label: proposal === undefined ? "Answer" : "Another answer" },
    { choice: "open" as const, label: "Leave it open" },
  ];
  const chosen = answer?.choice ?? "open";
  return (
    <fieldset className="rounded-md border border-line bg-surface p-3 text-sm">
      <legend className="sr-only">
        {id}: {text}
      </legend>
      <p aria-hidden dir="auto" className="font-medium wrap-anywhere">
        <span dir="ltr" className="font-normal text-ink-3">
          {id}
        </span>{" "}
        {text}
      </p>
      <div className="mt-2 space-y-1.5">
        {choices.map(({ choice, label }) => (
          <label key={choice} className="flex items-baseline gap-2">
            <input
              type="radio"
              name={name}
              checked={choice === chosen}
              onChange={() => onAnswer({ choice, text: own })}
              className="shrink-0 translate-y-0.5"
            />
            <span dir="auto" className="min-w-0 wrap-anywhere">
              {label}
              {choice === "proposal" && <span className="text-ink-3"> (proposed)</span>}
            </span>
          </label>
        ))}
      </div>
      {chosen === "own" && (
        <textarea
          aria-label={`Answer to ${id}`}
          dir="auto"
          rows={2}
          value={own}
          onChange={(event) => onAnswer({ choice: "own", text: event.target.value })}
          className={cx(INPUT_CLASS, "mt-2 h-auto resize-y scroll-my-24 py-1.5 leading-relaxed")}
        />
      )}
    </fieldset>
  );
}
