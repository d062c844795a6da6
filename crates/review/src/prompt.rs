//! Prompts for reviews, debates and verdicts.

use crate::scope::ReviewScope;

/// Slash command with which the assistant reviews a pull request.
pub(crate) const REVIEW_COMMAND: &str = "/code-review:start";

/// Instructions for all reviewers, and the output format of findings.
pub(crate) const REVIEW_RULES: &str = r#"Before you report anything, read the code around each change, the description of the pull request if there is one, and the issues that it links. Report only what is clearly not intended: defects, regressions, security holes, lost data. Leave out deliberate choices, matters of taste and guesses.

End your answer with exactly one fenced block of JSON that holds all findings, an empty array when there are none:

```json
[{"severity": "critical|high|medium|low", "confidence": 0.0, "file": "<path from the root of the repository>", "line": <number or null>, "title": "<one line>", "description": "<what goes wrong, when, and why>", "suggestion": "<how to fix it, or null>"}]
```

`confidence` says how sure you are, from 0 to 1."#;

/// Prompt of a review without a slash command.
pub(crate) fn review(scope: &ReviewScope, instructions: Option<&str>) -> String {
    let mut prompt = format!("Review {}.\n", scope.description());
    if let Some(instructions) = instructions {
        prompt.push_str("\nThe person who asks wants this looked at:\n\n");
        prompt.push_str(instructions);
        prompt.push('\n');
    }
    prompt.push_str("\nChange no file.\n\n");
    prompt.push_str(REVIEW_RULES);
    prompt
}

/// Text appended to the assistant's system prompt in a review.
pub(crate) fn review_system_text(instructions: Option<&str>) -> String {
    match instructions {
        None => REVIEW_RULES.to_owned(),
        Some(instructions) => {
            format!("{REVIEW_RULES}\n\nThe person who asks wants this looked at:\n\n{instructions}")
        }
    }
}

/// Requests a verdict from the provider that executed the review.
pub(crate) const VERDICT: &str = r#"Now judge the change as a whole. First question whether it was needed at all, and look for evidence in the code: does it fix a bug that does not exist; work around something that is handled already; remove code that is still used; repeat a helper that exists; speed up a path that is no bottleneck?

Then print, as the last line of your answer and nowhere else:

<pr_verdict>{"verdict": "approve", "reason": "<under 120 characters>"}</pr_verdict>

`verdict` is one of
- "decline": the change is not needed or does harm, or a finding is critical;
- "needs_attention": there are findings of high priority, and none that blocks;
- "approve": otherwise."#;

/// Output format in which both sides report the status of a debate.
const DEBATE_STATUS: &str = r#"End your answer with one block that says where the debate stands, as you see it now. An issue is resolved when you agree about it; say how in `resolution`. Set `conceded` when you give up your position.

<debate-status>{"pendingIssues": [{"id": "1", "summary": "..."}], "resolvedIssues": [{"id": "2", "summary": "...", "resolution": "..."}], "conceded": false}</debate-status>"#;

/// Prompt of the reviewer's turn in a debate: summary of the finding, and the argument of the other side.
pub(crate) fn reviewer_turn(finding: &str, argument: &str) -> String {
    format!(
        "You are the reviewer in a structured debate with the assistant about a finding of a code review. \
         Defend the finding where it is right, and concede where it is not. Give concrete evidence from the \
         code: files, lines, what happens. Be brief. Change no file.\n\n\
         The finding:\n{finding}\n\nThe assistant's argument:\n{argument}\n\n{DEBATE_STATUS}"
    )
}

/// Prompt of the assistant's turn in a debate.
pub(crate) fn assistant_turn(finding: &str, answer: &str) -> String {
    format!(
        "You are the assistant in a structured debate with the reviewer about a finding of a code review. \
         Concede where the reviewer is right, and argue where it is not. Give concrete evidence from the code: \
         files, lines, what happens. Be brief. Change no file.\n\n\
         The finding:\n{finding}\n\nThe reviewer's answer:\n{answer}\n\n{DEBATE_STATUS}"
    )
}
