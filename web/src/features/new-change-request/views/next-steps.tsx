/** What happens after the start. */
import type { RequestDraft } from "../model/request-draft";

const STEPS: Record<RequestDraft["mode"], [title: string, text: string][]> = {
  plan: [
    ["Plan", "The assistant reads the repository in a separate worktree and writes a plan."],
    ["Review", "Read the plan. No code has been changed yet."],
    [
      "Execute",
      "The assistant implements the plan. Loopgate pushes a branch and opens a pull request.",
    ],
  ],
  implement: [
    ["Execute", "The assistant implements the change in a separate worktree."],
    ["Pull request", "Loopgate pushes a branch and opens a pull request. Review it there."],
  ],
};

export function NextSteps({ mode }: Pick<RequestDraft, "mode">) {
  const steps = STEPS[mode];
  return (
    <aside aria-label="What happens next" className="lg:pt-12">
      <ol className="space-y-5">
        {steps.map(([title, text], index) => (
          <li key={title} className="relative flex gap-3.5">
            {index < steps.length - 1 && (
              <span aria-hidden className="absolute top-6 -bottom-5 left-[0.59rem] w-px bg-line" />
            )}
            <span
              aria-hidden
              className="z-1 grid size-5 shrink-0 place-items-center rounded-full border border-line-strong/60 bg-canvas text-2xs font-semibold text-ink-2"
            >
              {index + 1}
            </span>
            <div>
              <h2 className="leading-5 font-medium">{title}</h2>
              <p className="mt-0.5 text-sm text-ink-3">{text}</p>
            </div>
          </li>
        ))}
      </ol>
    </aside>
  );
}
