/** What an execution shows of its work: tasks, tests, and costs. */
import type { Loop, LoopCommand, ResultEntry, TestEvidence } from "@/api/types";
import { moneyOf } from "@/model/cost";
import { exact } from "@/model/format";

type Tasks = NonNullable<Loop["tasks"]>;

/** Returns the evidence about the tests of the repositories whose work was pushed. */
export const testsOf = (entries: ResultEntry[]): TestEvidence[] =>
  entries.flatMap((entry) => ("tests" in entry && entry.tests ? [entry.tests] : []));

/**
 * Summarizes an execution in one sentence: "7 of 7 tasks done; 212 tests pass, 2 more than before; 1 test was weakened".
 * What was not reported is left out. Undefined when nothing was reported.
 */
export function evidenceSentence(
  tasks: Tasks | null | undefined,
  tests: TestEvidence[],
): string | undefined {
  const parts = [tasks && tasksPart(tasks), ...testParts(tests), weakenedPart(tests)];
  const sentence = parts.filter(Boolean).join("; ");
  return sentence === "" ? undefined : `${sentence}.`;
}

const tasksPart = ({ completed, total }: Tasks): string =>
  `${exact(completed)} of ${exact(total)} ${noun(total, "task")} done`;

function testParts(tests: TestEvidence[]): (string | undefined)[] {
  if (tests.length === 0) return [];
  const failing = sum(tests.map(({ newFailures = [] }) => newFailures.length));
  return [passingPart(tests), failing > 0 ? newFailuresPart(failing) : undefined];
}

/** Counts the passing tests, if each run reports them. */
function passingPart(tests: TestEvidence[]): string {
  const after = tests.map(({ head }) => head?.counts?.passed);
  const before = tests.map(({ base }) => base?.counts?.passed);
  if (!after.every((count) => count !== undefined)) return outcomePart(tests);
  const passing = sum(after);
  const pass = `${exact(passing)} ${noun(passing, "test")} ${passing === 1 ? "passes" : "pass"}`;
  if (!before.every((count) => count !== undefined)) return pass;
  const change = passing - sum(before);
  if (change === 0) return `${pass}, as many as before`;
  return `${pass}, ${exact(Math.abs(change))} ${change > 0 ? "more" : "fewer"} than before`;
}

function outcomePart(tests: TestEvidence[]): string {
  const has = (outcome: TestEvidence["outcome"]) => tests.some((own) => own.outcome === outcome);
  if (has("new-failures")) return "the tests fail";
  if (has("inconclusive")) return "the result of the tests is unknown";
  if (has("failed-before")) return "the tests fail, as they did before";
  return has("not-run") ? "the tests were not run" : "the tests pass";
}

const newFailuresPart = (count: number): string =>
  `${exact(count)} ${noun(count, "test")} that passed before ${count === 1 ? "fails" : "fail"}`;

function weakenedPart(tests: TestEvidence[]): string | undefined {
  const count = sum(tests.map(({ flags = [] }) => flags.length));
  if (count === 0) return undefined;
  return `${exact(count)} ${noun(count, "test")} ${count === 1 ? "was" : "were"} weakened`;
}

const noun = (count: number, singular: string): string => (count === 1 ? singular : `${singular}s`);

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

export const PHASES = ["Plan", "Execute", "Review", "Judges", "Other"] as const;
export type Phase = (typeof PHASES)[number];

export interface PhaseCost {
  phase: Phase;
  loops: number;
  /** US dollars, as far as they are known. */
  usd: number;
}

const PHASE_OF: Partial<Record<LoopCommand, Phase>> = {
  PLAN: "Plan",
  REQUEST_CHANGES: "Plan",
  GENERATE_PRD: "Plan",
  REQUEST_PRD_CHANGES: "Plan",
  EXECUTE: "Execute",
  CODE_REVIEW: "Review",
  EVALUATE_PLAN: "Judges",
  EVALUATE_CODE: "Judges",
  EVALUATE_PRD: "Judges",
  EVALUATE_FEATURE: "Judges",
};

/** Returns the costs of the loops by phase, in the order of the work. Phases without a loop are left out. */
export function costByPhase(loops: Loop[]): PhaseCost[] {
  return PHASES.flatMap((phase) => {
    const own = loops.filter(({ command }) => (PHASE_OF[command] ?? "Other") === phase);
    const usd = sum(own.map((loop) => moneyOf(loop)?.usd ?? 0));
    return own.length === 0 ? [] : [{ phase, loops: own.length, usd }];
  });
}
