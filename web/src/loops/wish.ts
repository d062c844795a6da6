/** What the new-loop page accepts, checked before it is sent. */

/** As long as the server takes. */
export const MAX_PROMPT_CHARS = 100_000;
const MAX_NAME_CHARS = 256;

export function repositoryProblem(fullName: string): string | undefined {
  if (fullName === "") return "Choose a repository, or type owner/repository.";
  if (!/^[\w.-]+\/[\w.-]+$/.test(fullName))
    return "Write it as owner/repository, for example acme/shop.";
  return fullName.length > MAX_NAME_CHARS ? "This name is too long." : undefined;
}

export function branchProblem(branch: string): string | undefined {
  // Blank is the repository's default branch.
  if (branch !== "" && !/^[\w./-]+$/.test(branch)) return "Use letters, digits, and . _ / - only.";
  return branch.length > MAX_NAME_CHARS ? "This name is too long." : undefined;
}

export function promptProblem(prompt: string): string | undefined {
  if (prompt.trim() === "") return "Say what should change.";
  return prompt.length > MAX_PROMPT_CHARS
    ? `Keep it below ${MAX_PROMPT_CHARS.toLocaleString("en")} characters.`
    : undefined;
}
