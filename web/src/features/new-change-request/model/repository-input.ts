/** What a person may enter for a repository: `owner/name`, an address of the code host, or the path of a clone. */
import { repositoryProblem } from "@/model/validation";

export type RepositoryInput =
  | { kind: "name"; fullName: string; branch?: string }
  | { kind: "path"; path: string }
  | { kind: "problem"; problem: string };

// Pages of a branch at the code host: `/tree/<branch>`. A branch name may contain slashes.
const BRANCH_PAGE = "tree";
// `user@host:path`, the address that git accepts without a scheme.
const SCP_ADDRESS = /^(?:[\w.-]+@)?([\w.-]+\.[\w.-]+|localhost):(?!\/\/)(.+)$/;

/** Parses what was entered. Never throws. */
export function parseRepository(text: string): RepositoryInput {
  const entered = text.trim();
  if (/^(~?\/|~$)/.test(entered)) return { kind: "path", path: entered };
  const path = addressPath(entered);
  if (path === undefined) return named(entered);
  const [owner = "", name = "", page, ...branch] = path.split("/").filter((part) => part !== "");
  const parsed = named(`${owner}/${name.replace(/\.git$/, "")}`);
  if (parsed.kind !== "name") {
    return {
      kind: "problem",
      problem: "The address does not name a repository: owner/repository.",
    };
  }
  return page === BRANCH_PAGE && branch.length > 0
    ? { ...parsed, branch: branch.join("/") }
    : parsed;
}

/** Returns the path of a URL or an SSH address. Undefined for anything else. */
function addressPath(entered: string): string | undefined {
  const ssh = SCP_ADDRESS.exec(entered);
  if (ssh) return ssh[2];
  // People copy addresses without the scheme from the address bar.
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(entered)
    ? entered
    : /^[\w-]+(\.[\w-]+)+\/[\w.-]+\/[\w.-]+/.test(entered)
      ? `https://${entered}`
      : undefined;
  if (url === undefined) return undefined;
  try {
    return decodeURIComponent(new URL(url).pathname);
  } catch {
    return "";
  }
}

function named(fullName: string): RepositoryInput {
  const problem = repositoryProblem(fullName);
  return problem === undefined ? { kind: "name", fullName } : { kind: "problem", problem };
}

/** Identifies what was entered, so that spellings of the same repository share a result. */
export const inputKey = (input: RepositoryInput): string =>
  input.kind === "name" ? input.fullName : input.kind === "path" ? `path ${input.path}` : "";
