/** Validation of the new-loop form. Functions return an error message, or `undefined` for valid input. */

// The control plane rejects longer prompts.
export const MAX_PROMPT_CHARS = 100_000;
const MAX_NAME_CHARS = 256;

export function repositoryProblem(fullName: string): string | undefined {
  if (fullName === "") return "Select a repository, or enter owner/repository.";
  if (!/^[\w.-]+\/[\w.-]+$/.test(fullName))
    return "Use the format owner/repository, for example acme/shop.";
  return fullName.length > MAX_NAME_CHARS
    ? `At most ${MAX_NAME_CHARS} characters are allowed.`
    : undefined;
}

export function branchProblem(branch: string): string | undefined {
  // An empty field selects the repository's default branch.
  if (branch !== "" && !/^[\w./-]+$/.test(branch)) return "Use only letters, digits, and . _ / -";
  return branch.length > MAX_NAME_CHARS
    ? `At most ${MAX_NAME_CHARS} characters are allowed.`
    : undefined;
}

export function promptProblem(prompt: string): string | undefined {
  if (prompt.trim() === "") return "Enter a description of the change.";
  return prompt.length > MAX_PROMPT_CHARS
    ? `At most ${MAX_PROMPT_CHARS.toLocaleString("en")} characters are allowed.`
    : undefined;
}
