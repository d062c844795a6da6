// What a REQUEST_CHANGES loop of the mock server produces.

/** Returns the plan with the first open question answered, and an answer to each comment. */
export function amended(content, prompt) {
  const [before] = content.split("\n## Answers to comments");
  const numbers = [...prompt.matchAll(/^### Comment (\d+)$/gm)].map(([, number]) => number);
  const answers = numbers.map((number) => `${number}. Adopted: see the tasks.`).join("\n");
  const changed = before
    .replace(/^- \[ \] Q-001.*\n/m, "")
    .replace("Print it without decoration", "Print it on one line, without decoration");
  return `${changed.trimEnd()}\n\n## Answers to comments\n\n${answers}\n`;
}

/** Report of the judges of a version. */
export const judgesOf = (version) => ({
  stats: [
    {
      case_id: "kiss-judge",
      final_status: 1,
      metrics: [
        {
          metric_name: "kiss_score",
          threshold: 0.8,
          score: 0.75 + version / 20,
          justification: "One flag and one function.",
        },
      ],
    },
  ],
});
