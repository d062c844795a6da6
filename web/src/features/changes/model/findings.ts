/** Findings of reviews of a worktree, as the diff displays them. */
import type { CommentDraft, ReviewFinding } from "@/api/types";
import type { Tone } from "@/model/status";
import { visibleName } from "@/model/visible-name";

import type { SentComment } from "./comments";
import { contentId } from "./content-id";

export interface Finding {
  /** The same for the same finding of a later review. */
  id: string;
  provider: string;
  severity: string;
  /** From 0 to 1. */
  confidence: number | undefined;
  title: string;
  /** Markdown. */
  details: string;
  /** Markdown. */
  suggestion: string | undefined;
  path: string | undefined;
  line: number | undefined;
  /** Whether its file no longer contains the text of its line. */
  isOutdated: boolean;
  /** Whether it was posted to the pull request. */
  isPosted: boolean;
  isDeclined: boolean;
  declineReason: string | undefined;
}

/** Findings about the same problem: at most one of each review. */
export interface FindingGroup {
  id: string;
  /** The finding that is displayed. */
  first: Finding;
  others: Finding[];
}

/** `added`: to the person's review. `sent`: with a finished review. `posted`: to the pull request, by another client. */
export type FindingState = "open" | "added" | "sent" | "posted" | "dismissed";

/** A group with its state for the person. */
export interface ShownFinding extends FindingGroup {
  state: FindingState;
}

const textOr = (value: unknown) =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

/** Returns an id for each finding, which does not depend on its line. Equal findings are numbered. */
function idsOf(provider: string, stored: readonly ReviewFinding[]): string[] {
  const counts = new Map<string, number>();
  return stored.map(({ file, message = "" }) => {
    const id = `${provider}-${contentId(`${file ?? ""}\n${message}`)}`;
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    return count === 1 ? id : `${id}-${count}`;
  });
}

/** Returns the findings of a provider. */
export function findingsOf(provider: string, stored: readonly ReviewFinding[]): Finding[] {
  const ids = idsOf(provider, stored);
  return stored.map((finding, index) => findingOf(provider, ids[index] ?? "", finding));
}

function findingOf(provider: string, id: string, stored: ReviewFinding): Finding {
  const { severity, message = "", suggestion, file, line, outdated, confidence } = stored;
  const [title = "", ...details] = message.trim().split("\n");
  return {
    id,
    provider,
    severity: textOr(severity) ?? "info",
    confidence: confidence != null && confidence >= 0 && confidence <= 1 ? confidence : undefined,
    title: title.trim() || "Finding without text",
    details: details.join("\n").trim(),
    suggestion: textOr(suggestion),
    path: textOr(file)?.replace(/^\.\//, ""),
    line: line != null && line >= 1 ? line : undefined,
    isOutdated: outdated ?? false,
    isPosted: stored.commented ?? false,
    isDeclined: stored.declined ?? false,
    declineReason: textOr(stored.declineReason),
  };
}

const SEVERITIES = ["critical", "high", "warning", "medium", "low", "info"];
const rank = ({ severity }: Finding) => {
  const index = SEVERITIES.indexOf(severity.toLowerCase());
  return index < 0 ? SEVERITIES.length : index;
};

export function severityTone({ severity }: Finding): Tone {
  const index = SEVERITIES.indexOf(severity.toLowerCase());
  if (index < 0 || index > 3) return "idle";
  return index < 2 ? "bad" : "warn";
}

/** Joins the findings that two reviews have in common. `duplicates`: pairs of indexes. */
export function groupFindings(
  first: readonly Finding[],
  second: readonly Finding[],
  duplicates: readonly (readonly number[])[],
): FindingGroup[] {
  const partners = new Map(duplicates.map(([own, other]) => [own, other]));
  const joined = new Set(partners.values());
  const group = (finding: Finding, others: Finding[] = []): FindingGroup => ({
    id: finding.id,
    first: finding,
    others,
  });
  return [
    ...first.map((finding, index) => {
      const partner = partners.has(index) ? second[partners.get(index) ?? -1] : undefined;
      return group(finding, partner && [partner]);
    }),
    ...second.filter((_, index) => !joined.has(index)).map((finding) => group(finding)),
  ].sort((a, b) => rank(a.first) - rank(b.first));
}

/** Returns the id of the comment that a person adds for a finding. A comment belongs to one person and document. */
export const commentIdOf = (person: string, slug: string, { id }: FindingGroup) =>
  contentId(`${person}\n${slug}\n${id}`);

/** Returns the groups with their state, which follows from the comments with their ids. */
export function shownFindings(
  groups: readonly FindingGroup[],
  commentId: (group: FindingGroup) => string,
  drafts: readonly Pick<CommentDraft, "id">[],
  sent: readonly Pick<SentComment, "id">[],
): ShownFinding[] {
  const [draftIds, sentIds] = [drafts, sent].map((list) => new Set(list.map(({ id }) => id)));
  const stateOf = (group: FindingGroup): FindingState => {
    const id = commentId(group);
    const all = [group.first, ...group.others];
    if (draftIds?.has(id)) return "added";
    if (sentIds?.has(id)) return "sent";
    if (all.every(({ isDeclined }) => isDeclined)) return "dismissed";
    return all.some(({ isPosted }) => isPosted) ? "posted" : "open";
  };
  return groups.map((group) => ({ ...group, state: stateOf(group) }));
}

// The limit of the control plane for a comment.
const MAX_COMMENT = 10_000;

/** Returns the text of the comment that requests the fix of a finding. */
export function commentText({ first, others }: FindingGroup): string {
  const suggestion = first.suggestion ?? others.find((other) => other.suggestion)?.suggestion;
  return [
    first.title,
    first.details,
    suggestion && `Suggestion: ${suggestion}`,
    `(Finding of the ${first.provider}, severity ${first.severity})`,
  ]
    .filter(Boolean)
    .join("\n\n")
    .slice(0, MAX_COMMENT);
}

/** Returns the finding in one text, which identifies its debate. Without the line, which changes. */
export const findingSummary = ({ path, title, details, suggestion }: Finding): string =>
  [[path, title].filter(Boolean).join(": "), details, suggestion && `Suggestion: ${suggestion}`]
    .filter(Boolean)
    .join("\n\n");

/** Returns the place of a finding in words. */
export function findingPlace({ path, line }: Finding): string {
  if (path === undefined) return "The whole change";
  const name = visibleName(path);
  return line === undefined ? name : `${name}, line ${line}`;
}

/** Returns the findings in numbers, for example `5 findings · 3 open`. */
export function findingCounts(findings: readonly ShownFinding[]): string {
  const open = findings.filter(({ state }) => state === "open").length;
  return `${findings.length} ${findings.length === 1 ? "finding" : "findings"} · ${open} open`;
}

/** Returns the next or previous finding in the order of the page, after the last one the first. */
export function neighbour(
  findings: readonly ShownFinding[],
  positionOf: (finding: ShownFinding) => readonly [file: number, line: number],
  current: string | undefined,
  step: 1 | -1,
): ShownFinding | undefined {
  const placed = findings.map((finding) => ({ finding, position: positionOf(finding) }));
  placed.sort(({ position: a }, { position: b }) => a[0] - b[0] || a[1] - b[1]);
  const at = placed.findIndex(({ finding }) => finding.id === current);
  const next = at < 0 && step < 0 ? -1 : at + step;
  return placed.at(next % placed.length)?.finding;
}

/** Returns the indexes of the findings with these ids. */
export const indexesOf = (
  provider: string,
  stored: readonly ReviewFinding[],
  ids: readonly string[],
): number[] => idsOf(provider, stored).flatMap((id, index) => (ids.includes(id) ? [index] : []));
