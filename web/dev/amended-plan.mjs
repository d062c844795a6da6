// What a REQUEST_CHANGES loop of the mock server produces.

const finding = (weight, quote, explanation, isSupported = true) => ({
  weight,
  place: "Tasks",
  quote,
  explanation,
  is_supported: isSupported,
});

const FAULTS = (version) => ({
  case_id: "test-judge",
  final_status: 2,
  metrics: [
    {
      metric_name: "test_coverage",
      threshold: 0.7,
      score: 0.5,
      justification: "partly at Tasks",
      findings: [
        finding("partly", "**T-1.1**: Parse the flag", "No test parses the flag."),
        ...(version > 2
          ? [finding("partly", "before a command is … up", "No test of the order.")]
          : []),
        finding("partly", "The requirements name a prefix", "The prefix is not tested."),
        finding("not", "Print it in colour", "Colours are not tested.", false),
      ],
    },
  ],
});

const FAILURE = {
  case_id: "dry-judge",
  final_status: 3,
  metrics: [
    {
      metric_name: "dry_score",
      threshold: 0.8,
      score: 0,
      justification: "Judge execution failed: no answer within 10 minutes",
    },
  ],
};

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

/** Report of the judges of a version. From version 2 on, it also has a judge that found faults, and one that failed. */
export const judgesOf = (version) => ({
  omitted: ["investigation-log.md is not in the context: the file does not exist"],
  stats: [
    ...(version > 1 ? [FAULTS(version), FAILURE] : []),
    {
      case_id: "kiss-judge",
      final_status: 1,
      metrics: [
        {
          metric_name: "kiss_score",
          threshold: 0.8,
          score: 0.75 + version / 20,
          justification: "No findings.",
        },
      ],
    },
  ],
});
