/** Open questions of a plan, read from its Markdown: `- [ ] Q-001: text **[Recommended: answer]**`. */

export interface OpenQuestion {
  /** For example `Q-001`. */
  id: string;
  text: string;
  /** Answer that the assistant proposes. */
  proposal: string | undefined;
}

/** Unsent answer to a question: the proposal, a text of the user, or none. */
export interface QuestionAnswer {
  choice: "proposal" | "own" | "open";
  /** Kept when another choice is selected. */
  text: string;
}

// The same forms as in crates/plugin-kit/src/plan/markdown.rs.
const FENCE = /^\s*(```|~~~)/;
const QUESTION = /^\s*- \[ \] (?:\*\*)?(Q-\d{3})(?:\*\*)?\s*:?(?:\*\*)?\s*(.*)$/;
const PROPOSAL = /\s*(?:\*\*)?\[Recommended:\s*(.*?)\](?:\*\*)?\s*$/;

export function openQuestions(content: string): OpenQuestion[] {
  const questions: OpenQuestion[] = [];
  let isFenced = false;
  for (const line of content.split("\n")) {
    if (FENCE.test(line)) isFenced = !isFenced;
    const [, id, rest = ""] = QUESTION.exec(line) ?? [];
    if (isFenced || id === undefined) continue;
    const proposal = PROPOSAL.exec(rest)?.[1];
    questions.push({ id, text: rest.replace(PROPOSAL, ""), proposal });
  }
  return questions;
}

/** Returns the text of an answer. Undefined while it is empty. */
export function answerText(
  { proposal }: OpenQuestion,
  answer: QuestionAnswer | undefined,
): string | undefined {
  if (answer?.choice === "proposal") return proposal;
  const text = answer?.choice === "own" ? answer.text.trim() : "";
  return text === "" ? undefined : text;
}
