// Learnings of the mock machine, and decisions about them.

const EMPTY = { proposed: false, needsAgreement: false, shown: 0, uses: 0, verified: 0 };

const row = (id, summary, repo, history) => ({
  ...{ id, summary, repo, category: "mistake", confidence: "medium" },
  ...{ seen_count: 2, success_rate: 0.75, flags: [], applies_to: ["*"], context: [], raw: "" },
  history: { sources: [], conflictsWith: [], ...EMPTY, ...history },
});

const source = (file, evidence) => ({
  ...{ repo: "acme/shop", run: "shop-loop-7", ticket: "20261120-101500-1a2b3c4d" },
  ...{ file, commit: "0123abcd", evidence },
});

/** Returns the store of learnings. */
export function learnings() {
  let patterns = [
    row("P-001", "Run the migrations before the tests", "acme/shop", {
      sources: [source("src/db.ts:12", "relation orders does not exist")],
      ...{ proposed: true, shown: 12, uses: 4, verified: 3 },
    }),
    row("P-002", "<b>Keep</b> money in cents, as whole numbers", "acme/garden", {}),
  ];
  const change = (id, edit) => {
    patterns = patterns.map((pattern) => (pattern.id === id ? edit(pattern) : pattern));
  };
  return {
    list: () => ({ patterns }),
    decide({ id, action, by }) {
      if (action === "delete") patterns = patterns.filter((pattern) => pattern.id !== id);
      if (action === "agree")
        change(id, (pattern) => {
          const agreement = { by, at: "2026-12-01T10:00:00Z", repo: pattern.repo };
          return { ...pattern, repo: "*", history: { ...pattern.history, agreement } };
        });
      if (action === "withdraw")
        change(id, (pattern) => {
          const { agreement, ...history } = pattern.history;
          return { ...pattern, repo: agreement.repo, history };
        });
      return { patterns };
    },
  };
}
