/** Texts about a learning: where it applies, where it came from, and what it did. */
import type { LearnedPattern } from "@/api/types";

const isGeneral = ({ repo }: LearnedPattern) => repo === "*" || repo === "";

/** Returns the repositories in which a learning is used. */
export function scopeText(pattern: LearnedPattern): string {
  const { agreement, needsAgreement, proposed } = pattern.history;
  if (needsAgreement) return "Not used until you agree to use it in all repositories";
  if (agreement) return `All repositories, agreed by ${agreement.by}`;
  if (isGeneral(pattern)) return "All repositories";
  return proposed ? `${pattern.repo}; may hold in other repositories` : pattern.repo;
}

/** Returns whether a person can agree that a learning is used in all repositories. */
export const canAgree = (pattern: LearnedPattern): boolean =>
  pattern.history.needsAgreement || !isGeneral(pattern);

/** Returns the origin of a learning: the newest source, and the number of the others. */
export function originText({ history: { sources } }: LearnedPattern): string {
  const newest = sources.at(-1);
  if (!newest) return "Written in the patterns file";
  const place = [newest.repo, newest.file, newest.ticket].filter(Boolean).join(", ");
  const others = sources.length - 1;
  return `Learned in ${place || "an unknown repository"}${others > 0 ? ` and ${others} more` : ""}`;
}

/** Returns what a learning did. */
export function effectText({ history: { shown, uses, verified } }: LearnedPattern): string {
  if (uses === 0) return shown === 0 ? "Never used" : `Given to ${shown} agents, never applied`;
  return `Given to ${shown} agents, applied ${uses} times, confirmed in the change ${verified} times`;
}
