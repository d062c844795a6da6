// Generated from docs/openapi/gateway.json by `npm run generate`. Do not edit.

export interface paths {
    "/api/gateway/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the requests held for approval
         * @description Only the owner can decide, on the command line of this machine; no HTTP route can. This route is never
         *     held for approval, is not recorded as activity, and is not available over the link.
         */
        get: operations["waiting_approvals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/deploy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deploy a worktree
         * @description Returns without waiting for the server. The install command and the start command run in the background;
         *     `deploy/status` reports their progress. A previous deployment of the same worktree is stopped first.
         */
        post: operations["deploy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/deploy/detect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Detect how to run a repository
         * @description Stores the best candidate if the repository is managed. A stored `directory` is searched first. Stored members
         *     that detection does not set are unchanged.
         */
        post: operations["detect_deployment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/deploy/status/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the status of a ticket's deployment */
        get: operations["deploy_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/deploy/teardown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tear down the deployment of a worktree
         * @description Terminates its processes and any process of the worktree that listens on its ports, and runs the teardown
         *     command of the settings. Idempotent. The error names the processes that are still running.
         */
        post: operations["tear_down_deploy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/files/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find files by part of their path
         * @description Searches the worktree of a ticket, or the repository itself. Files ignored by git are omitted.
         */
        get: operations["search_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/branches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List branches and worktrees
         * @description Returns at most 1,000 branches. `nextOffset` of the response is the `offset` of the next page.
         */
        get: operations["git_branches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Return the old and new content of a changed file */
        post: operations["git_diff"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/loop-changes/{loopId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what a loop has changed
         * @description Compares the working tree, with uncommitted and untracked files, with the base: the commit at which the loop's branch
         *     left its base branch, else the commit at which the loop started. Changes nothing in the repository, and starts no
         *     program that the repository names.
         */
        get: operations["loop_changes"];
        put?: never;
        /** Return patches of files that a loop has changed */
        post: operations["loop_patches"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/pr/comments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the comments of a pull request
         * @description Accepts either `owner`, `repo` (name), `number` and `branchId`, or `repo` (path of a clone) and `pr`.
         */
        get: operations["pull_request_comments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/pr/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Merge a pull request */
        post: operations["merge_pull_request"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/pr/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Comment on a pull request, reply to a comment, or request changes */
        post: operations["reply_to_pull_request"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/pr/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post a review with comments on lines
         * @description One request to the code host posts the review with all comments. It neither approves nor requests changes.
         */
        post: operations["post_review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/pr/standing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the standing of a pull request
         * @description Cached for a few seconds, unless `refresh` is `true`. The control plane receives the state of a pull request that one
         *     of this machine's loops opened.
         */
        get: operations["pull_request_standing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/pr/update-branch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Update the branch of a pull request
         * @description Merges the base branch into the head branch, at the code host. It may complete this after the response.
         */
        post: operations["update_pull_request_branch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/repo-path": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find the clone of a repository */
        get: operations["git_repo_path"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/repository": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview a repository for a loop
         * @description Finds the clone that a loop would use, by the repository's name or the path of a clone. For a repository without a
         *     clone, and for branches that the clone does not have, asks the code host with the account of this machine.
         */
        get: operations["preview_repository"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/health-check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the prerequisites for loops
         * @description Always answers 200. A check that fails to run is reported with `passed: false`.
         */
        get: operations["health_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/learnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the learned patterns */
        get: operations["list_learnings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/learnings/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide about a learned pattern
         * @description Nothing that was learned in one repository is used in another before a person has agreed.
         */
        post: operations["decide_learning"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Terminate a process and its descendants
         * @description Only processes that Loopgate started are terminated.
         */
        post: operations["kill_process"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/repos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the managed repositories */
        get: operations["list_repos"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/reviewer/argue/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Debate a finding
         * @description The reviewer answers the argument against its finding. With `rounds`, the assistant replies in turn until
         *     both agree, one side concedes, both repeat themselves, or the rounds are used up; the `done` event
         *     contains the outcome. The debate continues when the client disconnects.
         */
        post: operations["argue_finding"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/reviewer/available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check whether the reviewer is available */
        get: operations["reviewer_available"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/reviewer/finding-chat/{findingId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the chat history of a finding */
        get: operations["finding_chat_history"];
        put?: never;
        /**
         * Send a message to the assistant about a finding
         * @description The assistant works in the ticket's worktree. If the client disconnects, it still finishes and its
         *     response is stored. To cancel, post the pid of the `running` event to `kill`.
         */
        post: operations["finding_chat"];
        delete?: never;
        options?: never;
        head?: never;
        /** Store a message, or mark one as posted to the code host */
        patch: operations["change_finding_chat"];
        trace?: never;
    };
    "/api/gateway/reviewer/review-dedup/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find duplicate findings in two reviews
         * @description Compares the words of the messages. With a `provider`, inconclusive pairs are submitted to it; if it
         *     fails, only the comparison of words counts.
         */
        post: operations["review_duplicates"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/reviewer/review-findings/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the findings of a review
         * @description Line numbers follow the code as it has changed since the review. A finding whose code no longer exists
         *     keeps its line and is `outdated`.
         */
        get: operations["review_findings"];
        put?: never;
        /**
         * Change the findings of a review
         * @description `commentedIndex` marks a finding as posted, `declinedIndex` records the decision on one finding, `declined`
         *     records that the change was declined, and `findings` replaces all stored findings.
         */
        post: operations["change_review_findings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/reviewer/review-verdict/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request the verdict on a change
         * @description Resumes the session of the review and responds when the provider has answered, within 10 minutes.
         *     Concurrent requests for the same session share one answer. The verdict is then part of the status of the
         *     review.
         */
        post: operations["review_verdict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/reviewer/review/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Review the worktree of a ticket
         * @description Creates the worktree, or updates it to its branch, first. The review continues when the client
         *     disconnects: `status` reports its progress, and `stop` cancels it.
         */
        post: operations["start_review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/reviewer/status/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the status of a ticket's review */
        get: operations["review_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/reviewer/stop/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the review of a ticket
         * @description Terminates the provider's program and its descendants, if Loopgate started it.
         */
        post: operations["stop_review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/gateway-auth/exchange": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a challenge for a session
         * @description Accepts loopback callers with an `Origin` header only. The session is bound to exactly that origin.
         */
        post: operations["gateway_auth_exchange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Liveness probe
         * @description Requires no credentials. Responses are not cacheable, and requests are not recorded as activity.
         */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description An argument against a finding.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "findingSummary": "src/cache.rs:14 the cache is never cleared",
         *       "assistantArgument": "close() clears it."
         *     }
         */
        ArgueBody: {
            /** @description Argument of the assistant or of the user. */
            assistantArgument: string;
            /** @description Previous arguments. With at most one element, a new debate is started. */
            debateHistory?: unknown[] | null;
            /** @description Text of the finding; identifies the debate. */
            findingSummary: string;
            /** @description Model of the provider; its default when it is missing. */
            model?: string | null;
            /** @description Provider that defends the finding: `reviewer` when it is missing or unknown. */
            provider?: string | null;
            /** @description Reasoning effort, in the terms of the provider's program. */
            reasoningEffort?: string | null;
            /** @description Path of the repository; used when the query has no `repo`. */
            repoPath?: string | null;
            /**
             * Format: int64
             * @description Maximum rounds in which the assistant replies to the reviewer, 1 to 10. When it is missing, the
             *     reviewer answers once and the assistant does not reply.
             */
            rounds?: number | null;
        };
        /**
         * @description The review whose verdict is requested.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "sessionId": "8c0c",
         *       "provider": "reviewer"
         *     }
         */
        AskVerdict: {
            /** @description Provider of the review. */
            provider: string;
            /** @description Path of the repository. */
            repoPath: string;
            /** @description Session of the review, which is resumed. */
            sessionId: string;
        };
        /**
         * @description Whether a loop can use a repository.
         * @enum {string}
         */
        Availability: "found" | "cloneable" | "unavailable";
        /** @description A local or remote-tracking branch. */
        BranchAnswer: {
            /** @description Whether the branch exists only at `origin`. */
            isRemote: boolean;
            /** @description Date of the last commit, ISO 8601. */
            lastCommitDate?: string | null;
            /** @description Name without `origin/`. Branches of other remotes keep the prefix. */
            name: string;
        };
        /**
         * @description A page of a repository's branches, and its worktrees.
         * @example {
         *       "defaultBranch": "main",
         *       "worktrees": [
         *         {
         *           "path": "/home/sam/src/worktrees/shop-AB-1",
         *           "branch": "feature/AB-1",
         *           "ticketId": "AB-1"
         *         }
         *       ],
         *       "branches": [
         *         {
         *           "name": "main",
         *           "isRemote": false,
         *           "lastCommitDate": "2030-01-02T09:00:00+01:00"
         *         },
         *         {
         *           "name": "dark-theme",
         *           "isRemote": true,
         *           "lastCommitDate": "2030-01-01T17:30:00+01:00"
         *         }
         *       ]
         *     }
         */
        BranchesAnswer: {
            /** @description Default branch first, then by date of the last commit, newest first. */
            branches: components["schemas"]["BranchAnswer"][];
            /** @description Default branch of `origin`, or the current branch when it is unknown, or `main`. */
            defaultBranch: string;
            /** @description `offset` of the next page; absent on the last one. */
            nextOffset?: number | null;
            /** @description Number of branches that match the filter, on all pages; absent when all are on this one. */
            total?: number | null;
            /** @description All worktrees except the requested directory. */
            worktrees: components["schemas"]["WorktreeAnswer"][];
        };
        /** @description Size limits, and what was omitted because of them. */
        Budget: {
            /** @description Number of comments with a truncated text. */
            bodyTruncatedCount: number;
            maxBodyBytes: number;
            maxComments: number;
            maxResponseBytes: number;
            /** @description Number of omitted comments that are known: a lower bound. */
            omittedComments: number;
            pageSize: number;
            /** @description Whether the code host has more comments than were fetched. */
            providerTruncated: boolean;
            /** @description Whether comments were omitted because of `maxResponseBytes`. */
            responseTruncated: boolean;
        };
        /**
         * @description Capabilities of this desktop. The tools are always `false` here: this route needs no credential, and the
         *     programs of a machine are only listed by the authenticated health check.
         */
        Capabilities: {
            commandSigning: boolean;
            tools: components["schemas"]["Tools"];
            versions: components["schemas"]["Versions"];
        };
        /**
         * @description The commit with which a worktree is compared.
         * @example {
         *       "name": "main",
         *       "commit": "de980441c3ab03a8c07dda1ad27b8a11f39deb1e"
         *     }
         */
        ChangeBase: {
            /** @description Full hash. */
            commit: string;
            /** @description Base branch of the loop; absent when unknown. */
            name?: string | null;
        };
        /**
         * @description A commit of a loop.
         * @example {
         *       "id": "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade",
         *       "author": "Sam",
         *       "time": "2031-04-02T10:11:12+02:00",
         *       "subject": "Rename the shop"
         *     }
         */
        ChangeCommit: {
            author: string;
            /** @description Full hash. */
            id: string;
            /** @description First line of the message. */
            subject: string;
            /** @description ISO 8601. */
            time: string;
        };
        /**
         * @description A message to store, or the message that was posted to the code host. With both, only the message is
         *     stored.
         * @example {
         *       "messageId": "assistant-1735000000000",
         *       "responded": true
         *     }
         */
        ChangeFindingChat: {
            message?: components["schemas"]["ChatMessage"] | null;
            /** @description Id of the message that was posted; the last assistant message when it is missing. */
            messageId?: string | null;
            /** @description Whether it was posted; true when it is missing. */
            responded?: boolean | null;
        };
        /**
         * @description Change to the findings. If several of `commentedIndex`, `declinedIndex`, `declined` and `findings` are
         *     present, the first in this order is applied.
         * @example {
         *       "model": "m-1",
         *       "findings": [
         *         {
         *           "severity": "high",
         *           "file": "src/cart.rs",
         *           "line": 14,
         *           "message": "The sum overflows"
         *         }
         *       ]
         *     }
         */
        ChangeFindings: {
            /**
             * Format: int32
             * @description Zero-based index of the finding that was posted as a comment.
             */
            commentedIndex?: number | null;
            /**
             * @description Whether the change, or the finding at `declinedIndex`, was declined. For a change, `declineReason` is
             *     required.
             */
            declined?: boolean | null;
            /**
             * Format: int32
             * @description Zero-based index of the finding that a person declines or, with `declined` = false, restores.
             */
            declinedIndex?: number | null;
            /** @description Reason for declining; must not be blank. */
            declineReason?: string | null;
            /** @description Findings that replace all stored ones. */
            findings?: components["schemas"]["ReviewFinding"][] | null;
            /** @description Text of the finding at `declinedIndex`: the change is refused if the finding is another one. */
            message?: string | null;
            /** @description Model that produced the findings. */
            model?: string | null;
            provider?: components["schemas"]["ProviderId"] | null;
        };
        /**
         * @description One line of a run's event stream.
         * @example {
         *       "type": "text",
         *       "content": "Because the catalogue"
         *     }
         */
        ChatEvent: {
            mode?: components["schemas"]["ProviderId"] | null;
            /**
             * Format: int32
             * @description Process id of the program, accepted by the kill route; absent before the start.
             */
            pid?: number | null;
            provider?: components["schemas"]["ProviderId"] | null;
            /** @description Whether the run resumes an earlier session. */
            resuming?: boolean | null;
            /** @description Session id of the provider's program. */
            sessionId?: string | null;
            status?: components["schemas"]["RunStatus"] | null;
            /** @enum {string} */
            type: "status";
        } | {
            /** @description Session id of the provider's program. */
            sessionId: string;
            /** @enum {string} */
            type: "sessionId";
        } | {
            /** @description Text to append, as Markdown. */
            content: string;
            /** @enum {string} */
            type: "text";
        } | {
            /** @description Text of the thinking block. */
            content: string;
            /** @enum {string} */
            type: "thinking";
        } | {
            /** @description Text of the reasoning summary. */
            content: string;
            /** @enum {string} */
            type: "reasoning";
        } | {
            /** @description Id of the call, repeated in its result. */
            id: string;
            /** @description Arguments of the call, in the tool's own format. */
            input: Record<string, never>;
            /** @description Name of the called tool. */
            name: string;
            /** @enum {string} */
            type: "tool_use";
        } | {
            /** @description Result of the call, in the tool's own format. */
            content: Record<string, never>;
            /** @description Id of the call, as in `tool_use`. */
            id: string;
            /** @description Whether the result is an error; absent when the provider does not report it. */
            is_error?: boolean | null;
            /** @enum {string} */
            type: "tool_result";
        } | {
            /**
             * Format: int64
             * @description Percentage of the context window, 0 to 100.
             */
            contextPercent: number;
            /** @enum {string} */
            type: "usage";
        } | {
            /** @description Error message for the user. */
            error: string;
            /** @description Whether this is the last event of the stream; absent when false. */
            terminal?: boolean;
            /** @enum {string} */
            type: "error";
        } | {
            /** @description Whether the run succeeded. */
            success: boolean;
            /** @enum {string} */
            type: "result";
        } | {
            /** @enum {string} */
            type: "keepalive";
        } | {
            /** @description Last response of a debate; absent otherwise. */
            content?: string | null;
            debateStatus?: components["schemas"]["DebateStatus"] | null;
            /** @enum {string} */
            type: "done";
        };
        /**
         * @description History of a chat, as stored on disk. Unknown members are preserved.
         * @example {
         *       "messages": [
         *         {
         *           "id": "user-1735000000000",
         *           "role": "user",
         *           "content": "Why two caches?",
         *           "timestamp": "2026-01-05T10:00:00.000Z"
         *         }
         *       ],
         *       "ticketId": "SHOP-7",
         *       "sessionId": "8c0c",
         *       "contextPercent": 12
         *     }
         */
        ChatHistory: {
            /** @description Session id of the assistant, in a history of several providers. */
            assistantSessionId?: string | null;
            commentContext?: components["schemas"]["CommentContext"] | null;
            /** @description Id of the review comment; absent outside comment chats. */
            commentId?: string | null;
            /**
             * Format: int64
             * @description Percentage of the context window used by the last run; null when it was not reported.
             */
            contextPercent?: number | null;
            findingContext?: components["schemas"]["FindingContext"] | null;
            /** @description Id of the review finding; absent outside finding chats. */
            findingId?: string | null;
            /** @description Messages of the chat, oldest first. */
            messages: components["schemas"]["ChatMessage"][];
            /** @description Path of the repository, as sent by the client. */
            repoPath?: string | null;
            /** @description Session id of the reviewer, in a history of several providers. */
            reviewerSessionId?: string | null;
            /** @description Session id of the history's default provider. */
            sessionId?: string | null;
            /** @description Session ids of all other providers, by provider id. */
            sessions?: {
                [key: string]: string;
            };
            /** @description Id of the ticket; absent outside ticket chats. */
            ticketId?: string | null;
        };
        /** @description One message of a chat. Unknown members are preserved. */
        ChatMessage: {
            /** @description Absolute paths of the files attached to the message. */
            attachments?: string[];
            /** @description Text, thinking and tool calls in chronological order; absent for messages of the user. */
            blocks?: Record<string, never>[] | null;
            /** @description Text of the message, as Markdown. */
            content?: string;
            /** @description Identifier, unique within its history. */
            id?: string;
            mode?: components["schemas"]["ProviderId"] | null;
            /** @description Whether the review comment was answered at the code host. */
            responded?: boolean | null;
            /** @description Author of the message: user or provider. */
            role: components["schemas"]["ChatRole"];
            sender?: components["schemas"]["ProviderId"] | null;
            /** @description Time of the message, ISO 8601. */
            timestamp?: string;
        };
        /**
         * @description Author of a chat message.
         * @enum {string}
         */
        ChatRole: "user" | "assistant";
        /** @description Result of one check. */
        Check: {
            debug?: components["schemas"]["HealthDebug"] | null;
            error?: string | null;
            id: string;
            label: string;
            passed: boolean;
            /** @description Instruction for the user how to fix the failure. */
            remediation?: string | null;
            /** @description Whether loops depend on it. */
            required: boolean;
            /** @description Version that was detected. For `worktree-dir`, the directory. */
            version?: string | null;
        };
        /**
         * @description Outcome of a check.
         * @enum {string}
         */
        CheckOutcome: "pending" | "passed" | "failed" | "skipped";
        /** @description Author of a comment. */
        CommentAuthor: {
            avatarUrl: string | null;
            displayName: string | null;
            /** @description Login; `unknown` for a deleted account. */
            login: string;
            profileUrl: string | null;
        };
        /** @description The review comment that a chat is about. */
        CommentContext: {
            /** @description Login of the comment's author. */
            author?: string;
            /** @description Text of the comment, as Markdown. */
            body?: string;
            /**
             * Format: int64
             * @description Line that the comment refers to, from 1; absent for a general comment.
             */
            line?: number | null;
            /** @description File that the comment refers to; absent for a general comment. */
            path?: string | null;
            /** @description Replies to the comment, oldest first. */
            replies?: components["schemas"]["CommentReply"][] | null;
            /** @description Web address of the comment at the code host. */
            url?: string | null;
        };
        /** @description A reply to a review comment. */
        CommentReply: {
            /** @description Login of the reply's author. */
            author?: string;
            /** @description Text of the reply, as Markdown. */
            body?: string;
        };
        /**
         * @description Side of a comparison.
         * @enum {string}
         */
        CommentSide: "old" | "new";
        /** @description Members of a finding that are compared. */
        ComparedFinding: {
            file?: string | null;
            message: string;
        };
        /** @description A point under debate. */
        DebateIssue: {
            /** @description Identifier, the same in all turns. */
            id?: string;
            /** @description How the point was settled; absent while it is open. */
            resolution?: string | null;
            /** @description Summary of the point. */
            summary?: string;
        };
        /**
         * @description Outcome of a finished debate.
         * @enum {string}
         */
        DebateOutcome: "agreement" | "concession" | "stalemate" | "limit";
        /**
         * @description State of a debate, as reported by the side that spoke last.
         * @example {
         *       "pendingIssues": [],
         *       "resolvedIssues": [
         *         {
         *           "id": "1",
         *           "summary": "The cache is never cleared",
         *           "resolution": "It is, in close()"
         *         }
         *       ],
         *       "outcome": "concession"
         *     }
         */
        DebateStatus: {
            /** @description Whether the side that spoke last concedes; absent when false. */
            conceded?: boolean;
            outcome?: components["schemas"]["DebateOutcome"] | null;
            /** @description Points that are not settled yet. */
            pendingIssues?: components["schemas"]["DebateIssue"][];
            /** @description Points that both sides settled. */
            resolvedIssues?: components["schemas"]["DebateIssue"][];
        };
        /**
         * @description The worktree to deploy.
         * @example {
         *       "ticketId": "AB-1",
         *       "repoPath": "~/src/shop",
         *       "worktreePath": "~/src/worktrees/shop-AB-1"
         *     }
         */
        DeployBody: components["schemas"]["DeployedWorktree"] & {
            /** @description Id of the worktree's ticket. */
            ticketId: string;
        };
        /** @description One way to run a repository. */
        DeployCandidate: {
            config: components["schemas"]["Deployment"];
            /**
             * @description Evidence for this candidate, with the file that contains it.
             * @example package.json has a `dev` script and depends on next; no lock file, so npm runs it
             */
            reason: string;
        };
        /**
         * @description The repository that a request is about.
         * @example {
         *       "repoPath": "~/src/shop"
         *     }
         */
        DeployedRepository: {
            /** @description Clone of the repository, inside the sandbox. */
            repoPath: string;
        };
        /**
         * @description The worktree that a request is about, and its repository.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "worktreePath": "~/src/worktrees/shop-AB-1"
         *     }
         */
        DeployedWorktree: {
            /** @description Clone of the repository, inside the sandbox. */
            repoPath: string;
            /** @description Working directory of the deployment, inside the sandbox. */
            worktreePath: string;
        };
        /**
         * @description Deployment settings of a repository. All members are optional.
         * @example {
         *       "framework": "next",
         *       "command": "pnpm dev",
         *       "startCommand": "pnpm dev",
         *       "installCommand": "pnpm install",
         *       "type": "next",
         *       "port": 3100,
         *       "healthEndpoint": "/",
         *       "healthCheckUrl": "http://localhost:3100"
         *     }
         */
        Deployment: {
            /** @description Additional ports that the server listens on; a teardown frees them as well. */
            additionalPorts?: number[];
            /** @description Shell command that starts the server. */
            command?: string | null;
            /**
             * Format: int32
             * @description Port from the detection. While it equals `port` and the user has set no `healthCheckUrl`, the port is a
             *     hint: a server that listens on another port is found as well.
             */
            detectedPort?: number | null;
            /**
             * @description Directory in which the commands run, relative to the worktree, for example `apps/web`; the worktree when
             *     absent.
             */
            directory?: string | null;
            /** @description Detected framework, such as `next` or `django`. */
            framework?: string | null;
            /** @description Loopback URL of the health check. `tcp://localhost:<port>` checks for a TCP connection only. */
            healthCheckUrl?: string | null;
            /** @description URL path of the health check. */
            healthEndpoint?: string | null;
            /**
             * @description Regular expression that matches a line of the log once the server is up; replaces the HTTP health
             *     check.
             */
            healthLogPattern?: string | null;
            /** @description Shell command that runs before the start command. */
            installCommand?: string | null;
            /** @description `packageManager` of `package.json`, for example `pnpm@9.1.0`. */
            packageManager?: string | null;
            /**
             * Format: int32
             * @description Preferred port; another port is allocated when it is in use.
             */
            port?: number | null;
            /** @description Same as `command`; stored when a repository is added to the list. */
            startCommand?: string | null;
            /** @description Shell command that stops what signals do not, such as containers. */
            teardownCommand?: string | null;
            /**
             * @description Framework or kind of project: `node`, `procfile`, `python`, `cargo`, `compose`, `dockerfile`, `make`,
             *     `static`.
             */
            type?: string | null;
        };
        /**
         * @description A deployment that was started.
         * @example {
         *       "success": true,
         *       "pid": 4242,
         *       "logFile": "/home/sam/src/worktrees/shop-AB-1/.loopgate/work/deploy.log",
         *       "deployCommand": "pnpm dev",
         *       "deployType": "next",
         *       "repoName": "shop",
         *       "port": 3000
         *     }
         */
        DeployStarted: {
            /** @description Other ways to run the worktree that this request has detected; absent when the settings are stored. */
            alternatives?: components["schemas"]["DeployCandidate"][];
            /** @description Start command that is run. */
            deployCommand: string;
            /** @description `type` of the deployment settings; absent when unset. */
            deployType?: string | null;
            /** @description Directory of the commands, relative to the worktree; absent when it is the worktree. */
            directory?: string | null;
            /** @description Absolute path of the log file. */
            logFile: string;
            /**
             * Format: int32
             * @description Pid of the server's process, which leads its process group.
             */
            pid: number;
            /**
             * Format: int32
             * @description Allocated port; absent when the server has none. The server may listen on another one, which
             *     `deploy/status` reports.
             */
            port?: number | null;
            /** @description Directory name of the clone. */
            repoName: string;
            success: boolean;
        };
        /**
         * @description Status of a deployment.
         * @example {
         *       "status": "running",
         *       "logs": "> next dev\n",
         *       "pid": 4242,
         *       "reason": "nothing accepts connections on port 3000"
         *     }
         */
        DeployStatus: {
            /** @description URL at which the server responds; absent until a health check succeeds. */
            deployedUrl?: string | null;
            /** @description Error message; present when `status` is `failed`. */
            error?: string | null;
            /** @description Last 256 KiB of the output, without terminal escapes; null when there is no output. */
            logs?: string | null;
            /**
             * Format: int32
             * @description Process id from the request.
             */
            pid?: number | null;
            /** @description Reason why the last health check failed; present only while `status` is `running`. */
            reason?: string | null;
            /** @description Id at an external service, from `deploy-result.json`. */
            serviceId?: string | null;
            /** @description `running` (installing or starting), `completed` (the server responds), `failed` or `not-started`. */
            status: string;
        };
        /**
         * @description Result of a detection.
         * @example {
         *       "detected": false
         *     }
         */
        Detected: {
            /** @description All candidates, best first; absent when nothing was detected. */
            candidates?: components["schemas"]["DeployCandidate"][];
            config?: components["schemas"]["Deployment"] | null;
            /** @description Whether a way to run the repository was detected. */
            detected: boolean;
        };
        /**
         * @description Old and new content of a file.
         * @example {
         *       "filePath": "README.md",
         *       "oldContent": "# Shop\n",
         *       "newContent": "# The shop\n",
         *       "isNew": false,
         *       "isDeleted": false
         *     }
         */
        DiffAnswer: {
            filePath: string;
            /** @description True for binary files, whose contents are empty; absent otherwise. */
            isBinary?: boolean | null;
            /** @description Whether the file has no new version. */
            isDeleted: boolean;
            /** @description True for images; absent otherwise. */
            isImage?: boolean | null;
            /** @description Whether the file has no old version. */
            isNew: boolean;
            /** @description Media type of the image; absent for other files. */
            mimeType?: string | null;
            newContent: string;
            /** @description New content of a binary image, Base64. */
            newContentBase64?: string | null;
            /**
             * @description Old content; empty when there is none. Bytes that are not UTF-8 are replaced with `U+FFFD`. For a
             *     symbolic link its target; for a submodule `Subproject commit <hash>`.
             */
            oldContent: string;
            /** @description Old content of a binary image, Base64. */
            oldContentBase64?: string | null;
        };
        /**
         * @description The file to compare.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "filePath": "README.md"
         *     }
         */
        DiffRequest: {
            /** @description Branch of `origin` to compare HEAD with. When it is missing, the working tree is compared with HEAD. */
            baseBranch?: string | null;
            /** @description Path relative to the repository. */
            filePath: string;
            /** @description Repository or worktree, inside the sandbox. */
            repoPath: string;
        };
        /**
         * @description A pull request, as the user has seen it.
         * @example {
         *       "repoFullName": "acme/shop",
         *       "prNumber": 1,
         *       "headSha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
         *     }
         */
        DisplayedPullRequest: {
            /** @description Full hash of the head commit that the user has seen. The request is refused when it is no longer the head. */
            headSha: string;
            /**
             * Format: int64
             * @description Number of the pull request.
             */
            prNumber: number;
            /** @description Full name of the repository. */
            repoFullName: string;
        };
        /**
         * @description Pairs of duplicate findings.
         * @example {
         *       "duplicates": [
         *         [
         *           0,
         *           0
         *         ]
         *       ]
         *     }
         */
        Duplicates: {
            /** @description Pairs of an index in the first list and an index in the second list. Each index occurs at most once. */
            duplicates: number[][];
        };
        /**
         * @description Body of all error responses of the gateway.
         *
         *     Clients compare `error` byte for byte. `code` was added later and is stable for each kind of error.
         */
        ErrorBody: {
            /** @description Stable error code, in snake case unless the route documents otherwise. */
            code: string;
            /** @description Error message for the user. */
            error: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description The session that was created for the page's origin.
         * @example {
         *       "sessionToken": "3b7f0c5d9a1e4862b7d0f3a96c21e58447aa0de1fb29c6608d5e13f4902c7ab6",
         *       "expiresAt": "2030-01-02T09:00:00.000Z"
         *     }
         */
        ExchangeAnswer: {
            /** @description ISO 8601 timestamp in UTC with milliseconds. Using the session does not extend it. */
            expiresAt: string;
            /**
             * @description Session token of 64 hex characters. Send it as `X-Desktop-Session-Token`, together with the same
             *     `Origin`.
             */
            sessionToken: string;
        };
        /**
         * @description Request of an exchange.
         * @example {
         *       "challengeToken": "eyJhbGciOiJIUzI1NiJ9.challenge"
         *     }
         */
        ExchangeRequest: {
            /** @description Challenge token that the control plane issued. Valid for one exchange. */
            challengeToken: string;
        };
        /**
         * @description Why a file is not read line by line.
         * @enum {string}
         */
        FileGeneration: "lock-file" | "generated";
        /**
         * @description Kind of a change.
         * @enum {string}
         */
        FileStatus: "added" | "modified" | "deleted" | "renamed" | "copied" | "type-changed";
        /** @description The review finding that a chat is about. */
        FindingContext: {
            /** @description File that the finding refers to. */
            file?: string | null;
            /**
             * Format: int64
             * @description Line that the finding refers to, from 1.
             */
            line?: number | null;
            /** @description Text of the finding. */
            message?: string;
            /** @description Priority from `P0` (highest) to `P3`. */
            priority?: string | null;
            /** @description Severity, for example `high`. */
            severity?: string;
            /** @description Suggested change to resolve the finding. */
            suggestion?: string | null;
        };
        /**
         * @description Findings of two reviews of the same change.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "providerA": "assistant",
         *       "providerB": "reviewer",
         *       "findingsA": [
         *         {
         *           "file": "src/cart.rs",
         *           "message": "The sum overflows"
         *         }
         *       ],
         *       "findingsB": [
         *         {
         *           "file": "src/cart.rs",
         *           "message": "The sum overflows"
         *         }
         *       ]
         *     }
         */
        FindingLists: {
            findingsA?: components["schemas"]["ComparedFinding"][];
            findingsB?: components["schemas"]["ComparedFinding"][];
            provider?: components["schemas"]["ProviderId"] | null;
            /** @description Provider of the first list. */
            providerA: string;
            /** @description Provider of the second list. */
            providerB: string;
            /** @description Path of the repository. */
            repoPath: string;
        };
        /**
         * @description A message to the assistant about a finding.
         * @example {
         *       "message": "Can this overflow?",
         *       "findingContext": {
         *         "severity": "high",
         *         "priority": "P1",
         *         "file": "src/cart.rs",
         *         "line": 14,
         *         "message": "The sum overflows",
         *         "suggestion": "use checked_add"
         *       }
         *     }
         */
        FindingMessage: {
            /**
             * @description Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
             *     most 10 MiB.
             */
            attachments?: string[] | null;
            /** @description Text to store in the history, if it differs from `message`. */
            displayMessage?: string | null;
            findingContext?: components["schemas"]["FindingContext"] | null;
            /** @description Text of the message; must not be blank. */
            message: string;
        };
        /**
         * @description Result of a change.
         * @example {
         *       "success": true,
         *       "count": 1
         *     }
         */
        FindingsChanged: {
            /** @description Number of stored findings; present only when they were replaced. */
            count?: number | null;
            success: boolean;
        };
        /**
         * @description The best matches.
         * @example {
         *       "files": [
         *         "theme.js",
         *         "test/theme.test.js"
         *       ],
         *       "truncated": false
         *     }
         */
        FoundFiles: {
            /** @description Reason for an empty result: the directory does not exist. */
            error?: string | null;
            /** @description Relative paths, best match first, at most ten. */
            files: string[];
            /** @description Whether there are further matches, or the directory is too large to be scanned completely. */
            truncated: boolean;
        };
        /**
         * @description Identity and state of the gateway.
         * @example {
         *       "status": "ok",
         *       "machineName": "workbench",
         *       "capabilities": {
         *         "tools": {
         *           "assistant": false,
         *           "reviewer": false,
         *           "git": false,
         *           "codeHost": false,
         *           "python3": false
         *         },
         *         "versions": {},
         *         "commandSigning": true
         *       },
         *       "gatewayId": "0197c1a2-7e64-7cc3-9f0a-3d2b6f0e8a11",
         *       "onboardingCompleted": true,
         *       "version": "0.13.18",
         *       "port": 19432
         *     }
         */
        Health: {
            capabilities: components["schemas"]["Capabilities"];
            /** @description UUID of this installation, stable across restarts. */
            gatewayId: string;
            /** @description Host name of this machine. */
            machineName: string;
            /** @description Whether onboarding is complete. Until then, all other routes respond with 403. */
            onboardingCompleted: boolean;
            /**
             * Format: int32
             * @description Port that the gateway is bound to.
             */
            port: number;
            /** @description Always `ok`: a gateway that cannot serve does not respond. */
            status: string;
            /** @description Version of the desktop. */
            version: string;
        };
        /** @description Diagnostics of a failed check. */
        HealthDebug: {
            errorCode?: string | null;
            /** @description Executables with the program's name, on PATH and in common install locations. */
            foundAt?: string[] | null;
            /** @description Files with the program's name that are not executable. */
            nonExecutableAt?: string[] | null;
            /** @description Path from the settings that was used instead of a PATH lookup. */
            overrideUsed?: string | null;
            platform?: string | null;
            /** @description PATH that was searched, truncated to 1024 characters. */
            resolvedPath?: string | null;
            /** @description File name of the user's login shell. */
            shell?: string | null;
            /** @description Standard error of the program, or else its standard output. Truncated to 512 characters. */
            stderr?: string | null;
        };
        /**
         * @description Results of all health checks.
         * @example {
         *       "checks": [
         *         {
         *           "id": "git",
         *           "label": "Git",
         *           "required": true,
         *           "passed": true,
         *           "version": "2.47.3"
         *         },
         *         {
         *           "id": "reviewer",
         *           "label": "Reviewer CLI",
         *           "required": false,
         *           "passed": false,
         *           "error": "not found",
         *           "remediation": "Optional: install the reviewer with `npm install -g @openai/codex`, then run `codex` once to sign in.",
         *           "debug": {
         *             "errorCode": "ENOENT",
         *             "platform": "linux"
         *           }
         *         }
         *       ],
         *       "allRequiredPassed": true,
         *       "mcpServers": {
         *         "assistant": {
         *           "available": true,
         *           "serverName": "tickets",
         *           "matchedUrl": "https://mcp.example.com/mcp",
         *           "checkedAt": "2030-01-02T09:00:00.000Z",
         *           "error": null,
         *           "loopgateAvailable": true
         *         },
         *         "reviewer": {
         *           "available": false,
         *           "serverName": null,
         *           "matchedUrl": null,
         *           "checkedAt": "2030-01-02T09:00:00.000Z",
         *           "error": null,
         *           "loopgateAvailable": false
         *         }
         *       }
         *     }
         */
        HealthReport: {
            allRequiredPassed: boolean;
            /** @description Checks in a fixed order; clients match on their ids. */
            checks: components["schemas"]["Check"][];
            mcpServers: components["schemas"]["McpServers"];
        };
        /** @description Process to terminate: a pid, or a ticket and its repository. The pid takes precedence. */
        KillBody: {
            /** Format: int32 */
            pid?: number | null;
            repoPath?: string | null;
            ticketId?: string | null;
        };
        /** @description Result of the termination. */
        Killed: {
            /** @example Process terminated */
            message: string;
            /** Format: int32 */
            pid?: number | null;
            success: boolean;
        };
        /** @description A pattern learned from loops or chats. */
        LearnedPattern: {
            /** @description Agents to which the pattern applies; `*` is all */
            applies_to: string[];
            /** @description `pattern`, `mistake`, `convention` or `insight` */
            category: string;
            /** @description `high`, `medium` or `low` */
            confidence: string;
            context: string[];
            flags: string[];
            history: components["schemas"]["LearningHistory"];
            id: string;
            /** @description Unparsed line of the pattern in its file */
            raw: string;
            /** @description Name of the repository to which the pattern applies; `*` is all */
            repo: string;
            /**
             * Format: int64
             * @description Number of times that the pattern was learned or used
             */
            seen_count: number;
            /**
             * Format: double
             * @description Share of successful uses, 0 to 1; 0 when the pattern was never used
             */
            success_rate: number;
            /** @description At most 240 characters */
            summary: string;
        };
        /**
         * @description All stored patterns.
         * @example {
         *       "patterns": [
         *         {
         *           "id": "P-001",
         *           "category": "pattern",
         *           "summary": "Check the lock, then write",
         *           "confidence": "high",
         *           "seen_count": 5,
         *           "success_rate": 0.85,
         *           "flags": [],
         *           "applies_to": [
         *             "*"
         *           ],
         *           "context": [
         *             "io"
         *           ],
         *           "repo": "*",
         *           "raw": "P-001,pattern,\"Check the lock, then write\",high,5,0.85,,*,io,*",
         *           "history": {
         *             "sources": [
         *               {
         *                 "repo": "acme/shop",
         *                 "run": "shop-SHOP-7",
         *                 "ticket": "SHOP-7",
         *                 "file": "src/lock.rs:12",
         *                 "commit": "0123abcd",
         *                 "evidence": "the lock was not checked"
         *               }
         *             ],
         *             "proposed": true,
         *             "agreement": {
         *               "by": "Kim",
         *               "at": "2030-01-01T00:00:00Z",
         *               "repo": "acme/shop"
         *             },
         *             "needsAgreement": false,
         *             "shown": 12,
         *             "uses": 4,
         *             "verified": 4,
         *             "lastUsedAt": "2030-01-02T00:00:00Z",
         *             "conflictsWith": []
         *           }
         *         }
         *       ]
         *     }
         */
        LearnedPatterns: {
            patterns: components["schemas"]["LearnedPattern"][];
        };
        /**
         * @description What a person decides about a pattern.
         * @enum {string}
         */
        LearningAction: "agree" | "withdraw" | "delete";
        /** @description Agreement of a person that a pattern applies to all repositories. */
        LearningAgreement: {
            /** Format: date-time */
            at: string;
            /** @description The person, as the client named them */
            by: string;
            /** @description Repository of the pattern before */
            repo: string;
        };
        /**
         * @description Decision of a person about a pattern.
         * @example {
         *       "id": "P-001",
         *       "summary": "Check the lock, then write",
         *       "action": "agree",
         *       "by": "Kim"
         *     }
         */
        LearningDecisionRequest: {
            action: components["schemas"]["LearningAction"];
            /** @description Name of the person */
            by?: string;
            /** @description Id of the pattern */
            id: string;
            /** @description The summary that the person has seen; a changed pattern is refused */
            summary: string;
        };
        /** @description Where a pattern came from, who agreed to it, and what it did. */
        LearningHistory: {
            agreement?: components["schemas"]["LearningAgreement"] | null;
            /** @description Ids of contradicting patterns */
            conflictsWith: string[];
            /** Format: date-time */
            lastUsedAt?: string | null;
            /** @description Whether the pattern applies nowhere until a person agrees */
            needsAgreement: boolean;
            /** @description Whether the assistant considers the pattern true for other repositories too */
            proposed: boolean;
            /**
             * Format: int64
             * @description Number of agents that received the pattern
             */
            shown: number;
            /** @description Origins, oldest first; at most 20, and none for a pattern that the user wrote */
            sources: components["schemas"]["LearningOrigin"][];
            /**
             * Format: int64
             * @description Number of uses
             */
            uses: number;
            /**
             * Format: int64
             * @description Number of uses that proved correct
             */
            verified: number;
        };
        /** @description Origin of a pattern. Unknown members are empty. */
        LearningOrigin: {
            commit: string;
            /** @description Words of the loop's records that show what was corrected */
            evidence: string;
            /** @description File in the repository, with `:line` when known */
            file: string;
            /** @description Owner and name of the repository */
            repo: string;
            /** @description Name of the worktree's directory */
            run: string;
            /** @description Id of the ticket, the loop's run or the session */
            ticket: string;
        };
        /** @description A line of a file with its surrounding lines, each without leading and trailing whitespace. */
        LineAnchor: {
            /** @description Following lines in file order. */
            after?: string[];
            /** @description Preceding lines in file order. */
            before?: string[];
            /**
             * Format: int64
             * @description Line number when the finding was stored, from 1.
             */
            line: number;
            /** @description Text of the line itself. */
            text: string;
        };
        /**
         * @description A changed file.
         * @example {
         *       "path": "README.md",
         *       "status": "modified",
         *       "additions": 1,
         *       "deletions": 1,
         *       "binary": false,
         *       "oldMode": "100644",
         *       "newMode": "100644",
         *       "hash": "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade"
         *     }
         */
        ListedFile: {
            /**
             * Format: int64
             * @description Added lines; 0 for a binary file.
             */
            additions: number;
            /** @description Whether the file is binary or larger than 2 MiB. Its patch has no lines. */
            binary: boolean;
            /**
             * Format: int64
             * @description Removed lines; 0 for a binary file.
             */
            deletions: number;
            generated?: components["schemas"]["FileGeneration"] | null;
            /**
             * @description Hash of the newer content, which stays the same when the content is committed. Absent for a deleted file, a
             *     submodule, and a file of more than 5 MiB.
             */
            hash?: string | null;
            /** @description Absent for a deleted file. */
            newMode?: string | null;
            /** @description Mode in octal, such as `100644`; absent for a new file. */
            oldMode?: string | null;
            /** @description Path before a rename, or of the original of a copy. */
            oldPath?: string | null;
            /** @description Path relative to the root. Bytes that are not UTF-8 are replaced with `U+FFFD`. */
            path: string;
            /**
             * Format: int64
             * @description Size of the newer content in bytes; only for binary files.
             */
            size?: number | null;
            status: components["schemas"]["FileStatus"];
        };
        /** @description A repository as listed by `GET /api/gateway/repos`. */
        ListedRepo: components["schemas"]["ManagedRepo"] & {
            /** @description Branch of the remote's HEAD, else the checked-out branch; absent when unknown. */
            defaultBranch?: string | null;
            /** @description `<org>/<repo>` of the remote `origin`; absent without one. */
            fullName?: string | null;
            /** @description Last component of the path. */
            name: string;
        };
        /**
         * @description Where a line is now.
         * @example {
         *       "line": 1,
         *       "outdated": false,
         *       "anchor": {
         *         "line": 1,
         *         "before": [],
         *         "text": "# The shop",
         *         "after": []
         *       }
         *     }
         */
        LocatedLine: {
            anchor?: components["schemas"]["LineAnchor"] | null;
            /**
             * Format: int64
             * @description Number of the line in the comparison.
             */
            line: number;
            /** @description Whether the file no longer contains the line. */
            outdated: boolean;
        };
        /**
         * @description What a loop has changed.
         * @example {
         *       "repositories": [
         *         {
         *           "name": "acme/shop",
         *           "worktree": "/home/sam/src/worktrees/shop-AB-1",
         *           "branch": "loopgate/ab-1",
         *           "base": {
         *             "name": "main",
         *             "commit": "de980441c3ab03a8c07dda1ad27b8a11f39deb1e"
         *           },
         *           "head": "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade",
         *           "commits": [],
         *           "files": [],
         *           "fileCount": 0
         *         }
         *       ]
         *     }
         */
        LoopChanges: {
            /** @description The loop's repositories, the primary one first. */
            repositories: components["schemas"]["RepositoryChanges"][];
        };
        /**
         * @description The patch of a file.
         * @example {
         *       "path": "README.md",
         *       "patch": ""
         *     }
         */
        LoopPatch: {
            /** @description The patch as `git diff` prints it; empty if the file differs only in white space, which is ignored. */
            patch: string;
            path: string;
        };
        /**
         * @description Patches of the requested files.
         * @example {
         *       "patches": [
         *         {
         *           "path": "README.md",
         *           "patch": "diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# Shop\n+# The shop\n"
         *         }
         *       ],
         *       "remaining": []
         *     }
         */
        LoopPatches: {
            /** @description The requested lines, in the order of the request. */
            lines?: components["schemas"]["LocatedLine"][];
            /** @description Patches in the order of the list. A file that no longer differs has none. */
            patches: components["schemas"]["LoopPatch"][];
            /** @description Paths of files whose patches have to be requested again, because the response would be too large. */
            remaining: string[];
        };
        /** @description What would apply to a loop that the control plane starts. */
        LoopStartPreview: {
            approval: components["schemas"]["StartApproval"];
            /**
             * Format: double
             * @description Spending limit of this machine in US dollars; absent without one.
             */
            maxSpendUsd?: number | null;
            /** @description Model of the assistant, unless the loop names another one. */
            model: string;
            /** @description Why the loop is held. */
            reason?: string | null;
        };
        /** @description A repository in `repos.json`. */
        ManagedRepo: {
            /** @description Time of addition, ISO 8601 with milliseconds. */
            addedAt?: string;
            /** @description Deployment settings; unknown members are preserved. */
            deployment?: Record<string, never> | null;
            /** @description Description written by the owner; absent without one. */
            description?: string | null;
            /** @description Path of the repository, with `~` for the home directory. */
            path: string;
        };
        /** @description Result of the check whether a provider has the expected MCP server configured. */
        McpRecord: {
            /** @description Whether the server is configured and usable. */
            available: boolean;
            /** @description Time of the check, ISO 8601 in UTC. */
            checkedAt: string;
            /** @description Reason why the check failed or why the server does not match; null on success. */
            error: string | null;
            /** @description Copy of `available` for old clients. */
            loopgateAvailable: boolean;
            /** @description URL of the server in the provider's configuration; null when not found. */
            matchedUrl: string | null;
            /** @description Name of the server in the provider's configuration; null when not found. */
            serverName: string | null;
        };
        /** @description Registration of the expected MCP server, by provider. */
        McpServers: {
            assistant: components["schemas"]["McpRecord"];
            reviewer: components["schemas"]["McpRecord"];
        };
        /**
         * @description How commits of a pull request are added to its base branch.
         * @enum {string}
         */
        MergeMethod: "merge" | "squash" | "rebase";
        /**
         * @description Why a pull request cannot be merged.
         * @enum {string}
         */
        MergeObstacle: "not_open" | "permission" | "draft" | "conflicts" | "behind" | "blocked" | "unknown";
        /**
         * @description The pull request to merge.
         * @example {
         *       "repoFullName": "acme/shop",
         *       "prNumber": 1,
         *       "headSha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
         *       "method": "squash"
         *     }
         */
        MergePullRequest: components["schemas"]["DisplayedPullRequest"] & {
            /** @description How the commits are added to the base branch. */
            method: components["schemas"]["MergeMethod"];
        };
        /**
         * @description The review to post.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "prNumber": 1,
         *       "comments": [
         *         {
         *           "path": "README.md",
         *           "lines": {
         *             "side": "new",
         *             "from": 1,
         *             "to": 1
         *           },
         *           "body": "Why this name?"
         *         }
         *       ]
         *     }
         */
        NewPullRequestReview: {
            /** @description Text of the review in Markdown. Required without comments. */
            body?: string | null;
            /** @description At most 200 comments. */
            comments?: components["schemas"]["ReviewedPlace"][];
            /** @description Hash of the reviewed commit. */
            commitSha?: string | null;
            /**
             * Format: int64
             * @description Number of the pull request.
             */
            prNumber: number;
            /** @description Path of the clone. */
            repoPath: string;
        };
        /**
         * @description Identifier of an operation of the gateway.
         * @enum {string}
         */
        OperationId: "orchestrator_launch" | "orchestrator_loop" | "orchestrator_loop_kill" | "orchestrator_loop_message" | "orchestrator_plan_loop" | "orchestrator_status" | "orchestrator_kill" | "orchestrator_chat" | "orchestrator_comment_chat" | "orchestrator_commit_message" | "orchestrator_sessions" | "orchestrator_plan" | "orchestrator_judges" | "orchestrator_logs" | "orchestrator_chat_history" | "terminal_chat" | "ticket_chat" | "run_viewer_chat" | "reviewer_review" | "reviewer_argue" | "git_action" | "git_pr" | "git_branch_worktree" | "health_check" | "repos_config" | "deploy" | "learnings" | "filesystem" | "binary_paths_settings";
        /**
         * @description The files whose patches are requested.
         * @example {
         *       "repository": "acme/shop",
         *       "paths": [
         *         "README.md"
         *       ]
         *     }
         */
        PatchesRequest: {
            /** @description Full hash of the commit whose changes are requested. */
            commit?: string | null;
            /**
             * Format: int32
             * @description Number of unchanged lines around each change; 3 by default.
             */
            context?: number | null;
            /** @description Whether lines that differ only in white space count as equal; false by default. */
            ignoreWhiteSpace?: boolean | null;
            /** @description At most 200 lines of comments to find in the comparison. */
            lines?: components["schemas"]["RequestedLine"][];
            /** @description Paths of at most 40 files, as the list has them. For a renamed file, both of its paths. */
            paths: string[];
            /** @description Name of the repository, as the list has it. */
            repository: string;
            /** @description Full hash of a commit to compare with the working tree, instead of the base. */
            since?: string | null;
        };
        /**
         * @description Requests held for the owner's approval.
         * @example {
         *       "waiting": [
         *         {
         *           "id": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718",
         *           "createdAt": "2031-04-02T08:15:30.250Z",
         *           "waitsUntil": "2031-04-02T08:17:30.250Z",
         *           "operationId": "git_action",
         *           "riskTier": "medium",
         *           "method": "POST",
         *           "path": "/api/gateway/git",
         *           "action": "action=commit",
         *           "directories": [
         *             "/home/dev/src/shop"
         *           ],
         *           "location": "https://loopgate.example.com",
         *           "reason": "git_action has risk tier medium; requests above low require approval"
         *         }
         *       ],
         *       "command": "loopgate approvals"
         *     }
         */
        PendingApprovals: {
            /**
             * @description Command on this machine that lists the same requests. Followed by `approve` or `deny` and an id, or by
             *     the last eight characters of an id, it decides a request.
             */
            command: string;
            /** @description Errors in the owner's approval rules and policies. Absent when there are none. */
            problems?: string[];
            /** @description Held requests, newest first. */
            waiting: components["schemas"]["WaitingRequest"][];
        };
        /**
         * @description The review that was posted.
         * @example {
         *       "success": true,
         *       "onLines": true
         *     }
         */
        PostedReview: {
            /** @description Whether the comments are on their lines. Otherwise the code host rejected a line, and all are in the text. */
            onLines: boolean;
            success: boolean;
        };
        /**
         * @description Id of a provider: `assistant`, `reviewer`, or a provider added in the settings.
         *
         *     Used in file names, so it consists of lower-case letters, digits and hyphens, starts with a letter and has
         *     at most 32 characters.
         * @example assistant
         */
        ProviderId: string;
        /**
         * @description The change of a pull request was accepted.
         * @example {
         *       "success": true
         *     }
         */
        PullRequestChanged: {
            success: boolean;
        };
        /** @description A check of the head commit: a check run, or a commit status. */
        PullRequestCheck: {
            /** @description Conclusion of the code host, such as `SUCCESS` or `TIMED_OUT`; null while it is not completed. */
            conclusion: string | null;
            /** @description Name of the check run, or context of the status. */
            name: string;
            /** @description Both in one word. */
            outcome: components["schemas"]["CheckOutcome"];
            /** @description Status of the code host: of a check run `QUEUED`, `IN_PROGRESS`, `COMPLETED`, …; of a commit status its state. */
            status: string;
            /** @description HTTP(S) URL of its details; null without one. */
            url: string | null;
        };
        /** @description A comment of a pull request. */
        PullRequestComment: {
            author: components["schemas"]["CommentAuthor"];
            body: string;
            /** @description Whether the text was truncated. */
            bodyTruncated: boolean;
            createdAt: string;
            /**
             * Format: int64
             * @description Numeric id, 0 for the text of a review; only for the pull request of a clone.
             */
            databaseId?: number | null;
            id: string;
            /** @description Numeric id of the comment to which this one replies. */
            inReplyToId: string | null;
            /** @description Whether the comment belongs to a review; only for the pull request of a clone. */
            isReview?: boolean | null;
            /** @description `issue` for the conversation, `review` for a review or a line, `review_reply` for a reply in a thread. */
            kind: string;
            /** Format: int64 */
            line: number | null;
            path: string | null;
            /** @description Numeric id; null for the text of a review. */
            providerCommentId: string | null;
            providerNodeId: string;
            providerUrl: string | null;
            /** @description Whether the thread is resolved. */
            resolved: boolean | null;
            stale: boolean;
            threadId: string | null;
            updatedAt: string | null;
            /** @description URL of the comment, or an empty string; only for the pull request of a clone. */
            url?: string | null;
        };
        /**
         * @description Comments of a pull request.
         * @example {
         *       "branchId": "acme%2Fshop::dark-theme",
         *       "state": "populated",
         *       "comments": [
         *         {
         *           "id": "PRRC_kwDOA1",
         *           "providerNodeId": "PRRC_kwDOA1",
         *           "providerCommentId": "1001",
         *           "kind": "review",
         *           "threadId": "PRRT_kwDOA7",
         *           "inReplyToId": null,
         *           "path": "styles.css",
         *           "line": 12,
         *           "resolved": false,
         *           "author": {
         *             "login": "octo-dev",
         *             "displayName": null,
         *             "avatarUrl": null,
         *             "profileUrl": null
         *           },
         *           "body": "Why this colour?",
         *           "createdAt": "2030-01-02T08:30:00Z",
         *           "updatedAt": null,
         *           "providerUrl": "https://github.com/acme/shop/pull/42#discussion_r1001",
         *           "stale": false,
         *           "bodyTruncated": false
         *         }
         *       ],
         *       "budget": {
         *         "maxComments": 100,
         *         "pageSize": 100,
         *         "maxBodyBytes": 16384,
         *         "maxResponseBytes": 524288,
         *         "providerTruncated": false,
         *         "responseTruncated": false,
         *         "omittedComments": 0,
         *         "bodyTruncatedCount": 0
         *       },
         *       "providerProofedAt": "2030-01-02T09:00:00.000Z",
         *       "stale": false,
         *       "mixedProjection": false,
         *       "prNumber": 42,
         *       "prUrl": "https://github.com/acme/shop/pull/42"
         *     }
         */
        PullRequestComments: {
            /** @description Repository and branch, each percent-encoded, separated by `::`. */
            branchId: string;
            budget: components["schemas"]["Budget"];
            /** @description Comments, newest first. */
            comments: components["schemas"]["PullRequestComment"][];
            mixedProjection: boolean;
            /** Format: int32 */
            prNumber: number;
            /** @description Time of the request to the code host, ISO 8601. */
            providerProofedAt: string;
            prUrl: string;
            stale: boolean;
            /** @description State: `synced_empty`, `populated` or `over_limit_truncated`. */
            state: string;
        };
        /** @description A reviewer of a pull request. */
        PullRequestReviewer: {
            /** @description Time of that review, ISO 8601; null while it is not submitted. */
            at: string | null;
            /** @description Login of the account; `unknown` when it was deleted. */
            login: string;
            /** @description The latest verdict, which later comments do not change. */
            verdict: components["schemas"]["PullRequestVerdict"];
        };
        /**
         * @description Standing of a pull request.
         * @example {
         *       "state": "open",
         *       "isDraft": false,
         *       "title": "Add a dark theme",
         *       "url": "https://github.com/acme/shop/pull/42",
         *       "headBranch": "dark-theme",
         *       "headSha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
         *       "baseBranch": "main",
         *       "hasConflicts": false,
         *       "reviewDecision": "approved",
         *       "reviewers": [
         *         {
         *           "login": "kim",
         *           "verdict": "approved",
         *           "at": "2030-01-02T08:30:00Z"
         *         }
         *       ],
         *       "checks": [
         *         {
         *           "name": "test",
         *           "status": "COMPLETED",
         *           "conclusion": "SUCCESS",
         *           "outcome": "passed",
         *           "url": "https://github.com/acme/shop/actions/runs/1"
         *         }
         *       ],
         *       "checksTruncated": false,
         *       "unresolvedThreads": 1,
         *       "lastCommentAt": "2030-01-02T08:30:00Z",
         *       "settledAt": null,
         *       "mergedBy": null,
         *       "mergeObstacle": null,
         *       "mergeMethods": [
         *         "squash",
         *         "merge"
         *       ],
         *       "canUpdateBranch": false
         *     }
         */
        PullRequestStanding: {
            /** @description Branch to merge into. */
            baseBranch: string;
            /** @description Whether the base branch has newer commits, and the account may merge them into the head branch. */
            canUpdateBranch: boolean;
            /** @description The first hundred checks of the head commit. */
            checks: components["schemas"]["PullRequestCheck"][];
            /** @description Whether the head commit has more checks. */
            checksTruncated: boolean;
            /** @description Whether it conflicts with the base branch; false while the code host has not determined it. */
            hasConflicts: boolean;
            /** @description Branch with the proposed commits. */
            headBranch: string;
            /** @description Full hash of the head commit. */
            headSha: string;
            /** @description Whether it is marked as not ready for review. */
            isDraft: boolean;
            /** @description Time of the newest comment or review of another account, ISO 8601; null without one. */
            lastCommentAt: string | null;
            /** @description Login of the account that merged it; null otherwise. */
            mergedBy: string | null;
            /** @description Methods that the repository allows, the account's usual one first. */
            mergeMethods: components["schemas"]["MergeMethod"][];
            mergeObstacle: components["schemas"]["MergeObstacle"] | null;
            reviewDecision: components["schemas"]["ReviewDecision"] | null;
            /** @description The authors of the newest fifty reviews, with the latest verdict of each. */
            reviewers: components["schemas"]["PullRequestReviewer"][];
            /** @description Time at which it was merged or closed, ISO 8601; null while it is open. */
            settledAt: string | null;
            /** @description Whether it is open, merged or closed. */
            state: components["schemas"]["PullRequestState"];
            /** @description Its title as text. */
            title: string;
            /**
             * Format: int64
             * @description Number of unresolved threads among the newest hundred.
             */
            unresolvedThreads: number;
            /** @description URL of its page at the code host. */
            url: string;
        };
        /**
         * @description State of a pull request.
         * @enum {string}
         */
        PullRequestState: "open" | "merged" | "closed";
        /**
         * @description What a review says about a pull request.
         * @enum {string}
         */
        PullRequestVerdict: "approved" | "changes_requested" | "commented" | "dismissed";
        /**
         * @description The comment to post.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "prNumber": 1,
         *       "body": "It is the colour of the logo."
         *     }
         */
        ReplyToPullRequest: {
            /** @description Text of the comment in Markdown. */
            body: string;
            /**
             * Format: int64
             * @description Numeric id of the line comment to reply to; absent for a new comment.
             */
            commentId?: number | null;
            /**
             * Format: int64
             * @description Number of the pull request.
             */
            prNumber: number;
            /** @description Path of the clone. */
            repoPath: string;
            /** @description Whether to submit a review that requests changes. */
            requestChanges?: boolean | null;
        };
        /**
         * @description Path of a repository's clone, if managed.
         * @example {
         *       "path": "/home/sam/src/shop"
         *     }
         */
        RepoPath: {
            /** @description Absolute path; null when no managed repository has this name. */
            path: string | null;
        };
        /**
         * @description Response of `GET /api/gateway/repos`.
         * @example {
         *       "repos": [
         *         {
         *           "path": "~/src/shop",
         *           "description": "The shop",
         *           "addedAt": "2030-01-01T00:00:00.000Z",
         *           "name": "shop",
         *           "fullName": "acme/shop",
         *           "defaultBranch": "main"
         *         }
         *       ],
         *       "settings": {
         *         "worktreeParentDir": "~/src/worktrees",
         *         "worktreeParentDirConfirmed": true
         *       }
         *     }
         */
        ReposAnswer: {
            /** @description All repositories of `repos.json`. */
            repos: components["schemas"]["ListedRepo"][];
            /** @description Settings that apply to all repositories. */
            settings: components["schemas"]["ReposSettings"];
        };
        /**
         * @description What a loop has changed in a repository.
         * @example {
         *       "name": "acme/shop",
         *       "worktree": "/home/sam/src/worktrees/shop-AB-1",
         *       "branch": "loopgate/ab-1",
         *       "base": {
         *         "name": "main",
         *         "commit": "de980441c3ab03a8c07dda1ad27b8a11f39deb1e"
         *       },
         *       "head": "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade",
         *       "commits": [],
         *       "files": [],
         *       "fileCount": 0
         *     }
         */
        RepositoryChanges: {
            base: components["schemas"]["ChangeBase"] | null;
            /** @description Branch of the worktree; null if HEAD is detached. */
            branch: string | null;
            /** @description Commits since the base, the newest first; at most 200. */
            commits: components["schemas"]["ChangeCommit"][];
            /** @description Number of changed files without that limit. */
            fileCount: number;
            /** @description Changed files in the order of their paths; at most 3000. */
            files: components["schemas"]["ListedFile"][];
            /** @description Full hash of HEAD; null without a commit. */
            head: string | null;
            /** @description Full name, else the name of the worktree's directory. */
            name: string;
            /** @description Path of the worktree; null if it was removed. */
            worktree: string | null;
        };
        /**
         * @description What a loop on a repository would find.
         * @example {
         *       "availability": "found",
         *       "fullName": "acme/shop",
         *       "path": "/home/sam/src/shop",
         *       "defaultBranch": "main",
         *       "branchExists": true,
         *       "start": {
         *         "approval": "none",
         *         "model": "claude-opus-4-6"
         *       }
         *     }
         */
        RepositoryPreview: {
            availability: components["schemas"]["Availability"];
            /** @description Whether the requested branch exists. Absent without one, and when the code host gives no answer. */
            branchExists?: boolean | null;
            /** @description Default branch, if it is known. */
            defaultBranch?: string | null;
            /** @description `<org>/<repo>`; absent for a directory without a remote at the code host. */
            fullName?: string | null;
            /** @description Path of the clone, or the path to which the start of a loop clones it. */
            path?: string | null;
            /** @description Why a loop cannot use the repository, and what to do. */
            reason?: string | null;
            start?: components["schemas"]["LoopStartPreview"] | null;
        };
        /** @description General settings in `repos.json`. */
        ReposSettings: {
            /** @description Parent directory of new worktrees; absent for the default. */
            worktreeParentDir?: string | null;
            /** @description Whether the owner confirmed the parent directory. */
            worktreeParentDirConfirmed?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description A line to identify, or to find again.
         * @example {
         *       "path": "README.md",
         *       "side": "new",
         *       "line": 1
         *     }
         */
        RequestedLine: {
            anchor?: components["schemas"]["LineAnchor"] | null;
            /**
             * Format: int64
             * @description Number of the line, from 1.
             */
            line: number;
            /** @description Path of a renamed file before the change. */
            oldPath?: string | null;
            /** @description Path of the file, as the list has it. */
            path: string;
            side: components["schemas"]["CommentSide"];
        };
        /** @description A review that was started. */
        ReviewAnswer: {
            /** @description Time of the end, ISO 8601; absent while it is running. */
            completedAt?: string | null;
            /** @description Parameters with which the review was started. */
            config: components["schemas"]["ReviewConfig"];
            /**
             * Format: int32
             * @description Exit code of the program; absent while it is running.
             */
            exitCode?: number | null;
            /** @description End of the text in the log. */
            log: string;
            /**
             * Format: int64
             * @description Size of the whole log in bytes.
             */
            logSize: number;
            /**
             * Format: int32
             * @description Pid of the provider's program.
             */
            pid?: number | null;
            /** @description Whether the provider's program is running. */
            processRunning: boolean;
            /** @description Provider of the review. */
            provider: components["schemas"]["ProviderId"];
            /** @description Session id of the provider's program. */
            sessionId?: string | null;
            /** @description Time of the start, ISO 8601. */
            startedAt: string;
            /** @description Status of the review. */
            status: components["schemas"]["ReviewStatus"];
            verdict?: components["schemas"]["Verdict"] | null;
        };
        /**
         * @description The changes to review, and how.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "provider": "reviewer",
         *       "branchName": "feature/cache",
         *       "baseBranch": "main"
         *     }
         */
        ReviewBody: {
            /** @description Branch with which the changes are compared; the default branch of the repository when it is missing. */
            baseBranch?: string | null;
            /** @description Branch to review; required when the ticket has no worktree. */
            branchName?: string | null;
            /** @description Hash of the commit; required when `reviewMode` is `commit`. */
            commit?: string | null;
            /** @description Additional instructions for the reviewer. */
            instructions?: string | null;
            /** @description Model of the provider; its default when it is missing. */
            model?: string | null;
            /** @description Provider that reviews: `reviewer` when it is missing or unknown. */
            provider?: string | null;
            /** @description Reasoning effort, in the terms of the provider's program; `medium` when it is missing. */
            reasoningEffort?: string | null;
            /** @description Path of the repository. */
            repoPath: string;
            /** @description Changes to review: `uncommitted`, `commit`, or any other value for the changes since the base branch. */
            reviewMode?: string | null;
            /** @description Whether to review the repository itself instead of the ticket's worktree. */
            useBaseRepo?: boolean | null;
        };
        /** @description Configuration of a review. */
        ReviewConfig: {
            /** @description Branch with which the changes are compared. */
            baseBranch: string;
            /** @description Hash of the reviewed commit; present in mode `commit` only. */
            commit?: string | null;
            /** @description The user's instructions to the reviewer; absent if none were given. */
            instructions?: string | null;
            /** @description Model name as passed to the provider. */
            model: string;
            /** @description Reasoning effort, as the provider's program names it. */
            reasoningEffort: string;
            /** @description Changes that the review covers. */
            reviewMode: components["schemas"]["ReviewMode"];
        };
        /**
         * @description Decision of the reviewers of a pull request.
         * @enum {string}
         */
        ReviewDecision: "approved" | "changes_requested" | "review_required";
        /**
         * @description Lines of a file on one side of the change.
         * @example {
         *       "side": "new",
         *       "from": 1,
         *       "to": 1
         *     }
         */
        ReviewedLines: {
            /**
             * Format: int64
             * @description First line, from 1.
             */
            from: number;
            side: components["schemas"]["CommentSide"];
            /**
             * Format: int64
             * @description Last line.
             */
            to: number;
        };
        /**
         * @description A comment of a review.
         * @example {
         *       "path": "README.md",
         *       "lines": {
         *         "side": "new",
         *         "from": 1,
         *         "to": 1
         *       },
         *       "body": "Why this name?"
         *     }
         */
        ReviewedPlace: {
            /** @description Text of the comment in Markdown. */
            body: string;
            lines?: components["schemas"]["ReviewedLines"] | null;
            /** @description Path of the file in the repository. */
            path: string;
        };
        /**
         * @description Availability of the reviewer.
         * @example {
         *       "available": true,
         *       "version": "0.169.0"
         *     }
         */
        ReviewerAvailability: {
            /** @description Whether its program runs. */
            available: boolean;
            /** @description Version of the program, or `unknown`; absent when the program does not run. */
            version?: string | null;
        };
        /**
         * @description One finding of a review. Parsed leniently: a member of an unexpected type counts as absent. Unknown
         *     members are preserved.
         * @example {
         *       "severity": "high",
         *       "priority": "P1",
         *       "file": "src/cart.rs",
         *       "line": 14,
         *       "message": "The sum overflows\nLarge carts wrap around.",
         *       "suggestion": "use checked_add",
         *       "commented": false
         *     }
         */
        ReviewFinding: {
            anchor?: components["schemas"]["LineAnchor"] | null;
            /** @description Whether the finding was posted as a comment on the pull request. */
            commented?: boolean;
            /**
             * Format: double
             * @description How sure the reviewer is, from 0 to 1; absent if it did not say.
             */
            confidence?: number | null;
            /** @description Whether a person decided against the finding. */
            declined?: boolean;
            /** @description Reason for the decision against the finding. */
            declineReason?: string | null;
            /** @description Path of the file that the finding refers to; absent for a general finding. */
            file?: string | null;
            /** @description Reworded text for the posted comment; absent until one was generated. */
            humanizedBody?: string | null;
            /**
             * Format: int64
             * @description Line that the finding refers to, from 1; absent for a general finding.
             */
            line?: number | null;
            /** @description Title in the first line, details in the following lines. */
            message?: string;
            /** @description Whether the file no longer contains the line's text. Computed for responses, never stored. */
            outdated?: boolean;
            /** @description Priority from `P0` (highest) to `P3`. */
            priority?: string | null;
            /** @description Severity: `critical`, `high`, `medium`, `low` or a client-defined word; `info` when absent. */
            severity?: string;
            /** @description Suggested change to resolve the finding. */
            suggestion?: string | null;
        };
        /**
         * @description Findings of one provider's review, as stored on disk. Unknown members are preserved.
         * @example {
         *       "provider": "reviewer",
         *       "model": "m-1",
         *       "findings": [
         *         {
         *           "severity": "high",
         *           "priority": "P1",
         *           "file": "src/cart.rs",
         *           "line": 14,
         *           "message": "The sum overflows",
         *           "commented": false
         *         }
         *       ]
         *     }
         */
        ReviewFindings: {
            /** @description Whether the user declined the reviewed change. */
            declined?: boolean | null;
            /** @description Reason for declining the change. */
            declineReason?: string | null;
            /** @description Findings in the order of the review. */
            findings?: components["schemas"]["ReviewFinding"][];
            /** @description Model used for the review; `unknown` when the client did not specify one. */
            model?: string | null;
            /** @description Id of the reviewing provider; absent in older files. */
            provider?: string | null;
        };
        /**
         * @description Changes that a review covers.
         * @enum {string}
         */
        ReviewMode: "uncommitted" | "base" | "commit";
        /** @description A review, or the reason for which there is none. */
        ReviewOrReason: components["schemas"]["ReviewAnswer"] | {
            /** @description Reason for which there is no review. */
            message: string;
        };
        /**
         * @description Status of a review.
         * @enum {string}
         */
        ReviewStatus: "running" | "completed" | "failed" | "stopped";
        /**
         * @description Status of a review.
         * @example {
         *       "hasReview": true,
         *       "worktreeDir": "/home/sam/src/worktrees/shop-pr-7",
         *       "status": "completed",
         *       "processRunning": false,
         *       "pid": 4242,
         *       "provider": "reviewer",
         *       "startedAt": "2030-01-01T00:00:00.000Z",
         *       "completedAt": "2030-01-01T00:04:00.000Z",
         *       "exitCode": 0,
         *       "config": {
         *         "model": "gpt-5.3-codex",
         *         "reasoningEffort": "medium",
         *         "reviewMode": "base",
         *         "baseBranch": "main"
         *       },
         *       "log": "No findings.",
         *       "logSize": 12
         *     }
         */
        ReviewStatusAnswer: components["schemas"]["ReviewOrReason"] & {
            /** @description Whether a review was started. */
            hasReview: boolean;
            /** @description Path of the ticket's worktree. */
            worktreeDir: string;
        };
        /**
         * @description Risk tier of an operation, compared with the threshold of the approval policy.
         * @enum {string}
         */
        RiskTier: "none" | "low" | "medium" | "high";
        /**
         * @description Progress of the start of a provider's program.
         * @enum {string}
         */
        RunStatus: "spawning" | "running";
        /**
         * @description The comment that was posted.
         * @example {
         *       "success": true,
         *       "message": "Comment posted successfully",
         *       "output": "https://github.com/acme/shop/pull/42#issuecomment-2001"
         *     }
         */
        SaidAnswer: {
            message: string;
            /** @description Output of the code-host program. */
            output: string;
            success: boolean;
        };
        /**
         * @description What the owner's policy decides about a loop.
         * @enum {string}
         */
        StartApproval: "none" | "required" | "denied";
        /**
         * @description Result of a cancellation.
         * @example {
         *       "stopped": true,
         *       "pid": 4242
         *     }
         */
        StopAnswer: {
            /** @description Reason for which nothing was stopped. */
            message?: string | null;
            /**
             * Format: int32
             * @description Pid of the provider's program.
             */
            pid?: number | null;
            /** @description Whether the program is being terminated or had already exited. */
            stopped: boolean;
        };
        /**
         * @description The review to cancel.
         * @example {
         *       "repo": "~/src/shop",
         *       "provider": "reviewer"
         *     }
         */
        StopBody: {
            /** @description Provider of the review: `reviewer` when it is missing or unknown. */
            provider?: string | null;
            /** @description Path of the repository. */
            repo: string;
        };
        /**
         * @description Acknowledgement of a request.
         * @example {
         *       "success": true
         *     }
         */
        SuccessResponse: {
            success: boolean;
        };
        /**
         * @description The worktree whose deployment is torn down.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "worktreePath": "~/src/worktrees/shop-AB-1",
         *       "pid": 4242,
         *       "port": 3000
         *     }
         */
        TeardownBody: components["schemas"]["DeployedWorktree"] & {
            /**
             * Format: int32
             * @description `pid` from the response of `deploy`; a number or a string of digits.
             */
            pid?: number | null;
            /**
             * Format: int32
             * @description Port of the server; used when none is stored.
             */
            port?: number | null;
        };
        Tools: {
            assistant: boolean;
            codeHost: boolean;
            git: boolean;
            python3: boolean;
            reviewer: boolean;
        };
        /**
         * @description Result of tearing down a deployment.
         * @example {
         *       "success": true
         *     }
         */
        TornDown: {
            error?: string | null;
            success: boolean;
        };
        /**
         * @description A verdict of a reviewer with its reason.
         * @example {
         *       "verdict": "approve",
         *       "reason": "The fix is needed and complete."
         *     }
         */
        Verdict: {
            /** @description Reason for the verdict; never blank. */
            reason: string;
            /** @description Overall assessment of the change. */
            verdict: components["schemas"]["VerdictKind"];
        };
        /**
         * @description The verdict on a change, if any.
         * @example {
         *       "verdict": {
         *         "verdict": "approve",
         *         "reason": "The fix is needed and complete."
         *       }
         *     }
         */
        VerdictBody: {
            /** @description Reason for which the provider did not answer. */
            error?: string | null;
            verdict: components["schemas"]["Verdict"] | null;
        };
        /**
         * @description Overall assessment of a change.
         * @enum {string}
         */
        VerdictKind: "approve" | "needs_attention" | "decline";
        /** @description Always empty: versions are only listed by the authenticated health check. */
        Versions: Record<string, never>;
        /** @description A request held for approval. */
        WaitingRequest: {
            /** @description Members of the body that describe the action, for example `action=commit`. */
            action?: string | null;
            /** @description Time at which the request arrived, ISO 8601. */
            createdAt: string;
            /** @description Canonical paths of the directories that the request affects. */
            directories: string[];
            /** Format: uuid */
            id: string;
            /** @description Caller: the origin of the page, or `cloud-socket` for the control plane. */
            location: string;
            /** @description Id of the loop that the request would start. */
            loopId?: string | null;
            method: string;
            operationId: components["schemas"]["OperationId"];
            path: string;
            /** @description Query string with sensitive values redacted. */
            query?: string | null;
            reason: string;
            /** @description User who made the request, with e-mail address; absent when it is the owner of the desktop. */
            requester?: string | null;
            riskTier: components["schemas"]["RiskTier"];
            /** @description Time at which the request expires, ISO 8601: the latest deadline of the callers that wait for it. */
            waitsUntil: string;
        };
        /** @description A worktree of the repository. */
        WorktreeAnswer: {
            /** @description Branch of the worktree; empty when HEAD is detached. */
            branch: string;
            path: string;
            /** @description Ticket id in the worktree's name; null when there is none. */
            ticketId: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    waiting_approvals: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The held requests */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingApprovals"];
                };
            };
            /** @description Called over the link */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "not available over relay",
                     *       "code": "not_available_over_relay"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    deploy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeployBody"];
            };
        };
        responses: {
            /** @description The deployment was started */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployStarted"];
                };
            };
            /** @description Member missing, not a worktree of the repository, or no start command stored or detected */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "No deployment configuration detected for this repository: looked at its root, in the packages of its workspaces, and in apps/*, packages/*, frontend, web, client, backend, server for package.json, Procfile, manage.py, main.py, app.py, server.py, Cargo.toml, Makefile or index.html, and at the root for a Compose file or a Dockerfile. Set `command` of its `deployment` in ~/src/.loopgate/config/repos.json, and `directory` if the command does not run at the root; see \"Start command\" in docs/deployments.md",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox, or the user has not agreed to the commands (`command_not_trusted`) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The worktree does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Worktree not found: /home/sam/src/worktrees/shop-AB-1",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The deployment could not be started */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to start deployment: no port of this machine is free",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Server not configured — complete onboarding",
                     *       "code": "not_configured"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    detect_deployment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeployedRepository"];
            };
        };
        responses: {
            /** @description Result of the detection, which may be empty */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detected"];
                };
            };
            /** @description Repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repoPath is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Server not configured — complete onboarding",
                     *       "code": "not_configured"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    deploy_status: {
        parameters: {
            query: {
                /**
                 * @description `pid` from the response of `deploy`
                 * @example 4242
                 */
                pid?: string;
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
                /**
                 * @description Path of the deployed worktree; by default that of the ticket below the directories for worktrees
                 * @example ~/src/worktrees/shop-AB-1
                 */
                worktree?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the ticket
                 * @example AB-1
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Status of the deployment; also when it was never started */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployStatus"];
                };
            };
            /** @description Repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repo query param is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Server not configured — complete onboarding",
                     *       "code": "not_configured"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    tear_down_deploy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeardownBody"];
            };
        };
        responses: {
            /** @description Whether the server was stopped */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TornDown"];
                };
            };
            /** @description Member missing, or nothing to stop */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "No port, PID, or teardown command available to stop the server",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox, or the user has not agreed to the teardown command (`command_not_trusted`) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The record of the deployment cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to stop the server: permission denied",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Server not configured — complete onboarding",
                     *       "code": "not_configured"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    search_files: {
        parameters: {
            query: {
                /**
                 * @description `true` searches the repository itself
                 * @example true
                 */
                base?: string;
                /**
                 * @description Case-insensitive part of a path; must overlap the file name
                 * @example theme
                 */
                query?: string;
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
                /**
                 * @description Ticket id; required unless `base` is `true`
                 * @example AB-1
                 */
                ticket?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The best matches; also when the directory does not exist */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundFiles"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "ticket query parameter is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The directory cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to search files: permission denied",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    git_branches: {
        parameters: {
            query: {
                /**
                 * @description Only branches whose name contains this text, regardless of case
                 * @example topic
                 */
                filter?: string;
                /**
                 * @description Largest number of branches, 1 to 1000; 1000 when absent
                 * @example 100
                 */
                limit?: string;
                /**
                 * @description Number of branches to skip; 0 when absent
                 * @example 1000
                 */
                offset?: string;
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The branches and worktrees; empty when the directory is not a repository */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BranchesAnswer"];
                };
            };
            /** @description Repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repo parameter is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The directory does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Repository not found: ~/src/gone",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description git failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "git for-each-ref took longer than 10 s",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    git_diff: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DiffRequest"];
            };
        };
        responses: {
            /** @description Both versions of the file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiffAnswer"];
                };
            };
            /** @description A member is missing or invalid, or the file has no changes */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "File has no changes",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox or the repository */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The directory does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repository not found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description A version is larger than 5 MiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "File too large to diff",
                     *       "code": "request_body_too_large"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description git failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to get diff: git status failed",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    loop_changes: {
        parameters: {
            query?: {
                /**
                 * @description Full hash of a commit: lists what this commit changed
                 * @example 442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade
                 */
                commit?: string;
                /**
                 * @description Name of one repository, as the complete list has it. Required with `since` and `commit`
                 * @example acme/shop
                 */
                repository?: string;
                /**
                 * @description Full hash of a commit: compares it, instead of the base, with the working tree
                 * @example de980441c3ab03a8c07dda1ad27b8a11f39deb1e
                 */
                since?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the loop
                 * @example 0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718
                 */
                loopId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changed files of each repository */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopChanges"];
                };
            };
            /** @description A commit is not a full hash */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "since must be a full commit hash",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description This machine has no record of the loop, or the loop has no worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "This machine has no worktree of the loop",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description git failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to compare: git diff failed",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The gateway runs without a runtime */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "operation not implemented",
                     *       "code": "operation_not_implemented"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    loop_patches: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the loop
                 * @example 0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718
                 */
                loopId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchesRequest"];
            };
        };
        responses: {
            /** @description The patches */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopPatches"];
                };
            };
            /** @description A member is missing or invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repository and paths are required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The worktree is outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The loop has no such repository on this machine */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "This machine has no worktree of the loop",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description git failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to compare: git diff failed",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The gateway runs without a runtime */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "operation not implemented",
                     *       "code": "operation_not_implemented"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    pull_request_comments: {
        parameters: {
            query: {
                /**
                 * @description Branch id under which the caller shows the pull request
                 * @example acme%2Fshop::dark-theme
                 */
                branchId?: string;
                /**
                 * @description Number of the pull request
                 * @example 1
                 */
                number?: string;
                /**
                 * @description Owner of the repository
                 * @example acme
                 */
                owner?: string;
                /**
                 * @description Number of the pull request, with the path of a clone
                 * @example 1
                 */
                pr?: string;
                /**
                 * @description Name of the repository, or path of a clone
                 * @example shop
                 */
                repo: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The comments, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestComments"];
                };
            };
            /** @description A parameter is missing or invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "owner, repo, number, and branchId are required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code-host program is not signed in */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "GitHub CLI not authenticated",
                     *       "code": "unauthorized",
                     *       "reason": "auth"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox, or the branch id belongs to another repository */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "branch scope does not match pull request",
                     *       "code": "forbidden",
                     *       "reason": "forbidden_mismatch"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The directory or the pull request does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "PR #42 not found",
                     *       "code": "not_found",
                     *       "reason": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The clone's `origin` is not at the code host */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Repository not found or no access.",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host is temporarily unavailable; `reason` contains the cause */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "API rate limit exceeded",
                     *       "code": "unavailable",
                     *       "reason": "rate_limit"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    merge_pull_request: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePullRequest"];
            };
        };
        responses: {
            /** @description The pull request is merged */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestChanged"];
                };
            };
            /** @description A required member is missing or invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "headSha is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The pull request has a newer head commit */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "The pull request has new commits. Read them, then repeat the request.",
                     *       "code": "conflict"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host refused it, with its reason */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Pull Request is not mergeable",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code-host request failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Network error. Check your connection.",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    reply_to_pull_request: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplyToPullRequest"];
            };
        };
        responses: {
            /** @description The comment was posted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SaidAnswer"];
                };
            };
            /** @description A required member is missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Missing 'body' in request body",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The directory does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repository not found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code-host request failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Network error. Check your connection.",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    post_review: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPullRequestReview"];
            };
        };
        responses: {
            /** @description The review was posted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostedReview"];
                };
            };
            /** @description A required member is missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "prNumber is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The directory does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repository not found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code-host request failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Could not determine repository",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    pull_request_standing: {
        parameters: {
            query: {
                /**
                 * @description Number of the pull request
                 * @example 1
                 */
                number: string;
                /**
                 * @description Owner of the repository
                 * @example acme
                 */
                owner: string;
                /**
                 * @description `true` to read it again
                 * @example true
                 */
                refresh?: string;
                /**
                 * @description Name of the repository
                 * @example shop
                 */
                repo: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The standing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestStanding"];
                };
            };
            /** @description A parameter is missing or invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "owner, repo, and number are required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code-host program is not signed in */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "GitHub CLI not authenticated",
                     *       "code": "unauthorized",
                     *       "reason": "auth"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The pull request does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "PR #42 not found",
                     *       "code": "not_found",
                     *       "reason": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host is temporarily unavailable; `reason` contains the cause */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "API rate limit exceeded",
                     *       "code": "unavailable",
                     *       "reason": "rate_limit"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    update_pull_request_branch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DisplayedPullRequest"];
            };
        };
        responses: {
            /** @description The branch is being updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestChanged"];
                };
            };
            /** @description A required member is missing or invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "headSha is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The pull request has a newer head commit */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "The pull request has new commits. Read them, then repeat the request.",
                     *       "code": "conflict"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host refused it, with its reason */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "merge conflict between base and head",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code-host request failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Network error. Check your connection.",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    git_repo_path: {
        parameters: {
            query: {
                /**
                 * @description `<org>/<repo>`
                 * @example acme/shop
                 */
                repoFullName: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The clone, or null */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepoPath"];
                };
            };
            /** @description Repository name missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repoFullName is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The list of repositories cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to resolve repo path: permission denied",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Server not configured — complete onboarding",
                     *       "code": "not_configured"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    preview_repository: {
        parameters: {
            query?: {
                /**
                 * @description Name of a branch to look up
                 * @example main
                 */
                branch?: string;
                /**
                 * @description Path of a clone
                 * @example ~/src/shop
                 */
                repo?: string;
                /**
                 * @description `<org>/<repo>`; required unless `repo` is given
                 * @example acme/shop
                 */
                repoFullName?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a loop would find */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepositoryPreview"];
                };
            };
            /** @description Repository missing, or a name invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repoFullName or repo is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The directory does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Repository not found: ~/src/gone",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description git failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "git for-each-ref took longer than 10 s",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    health_check: {
        parameters: {
            query?: {
                /**
                 * @description URL of the MCP server whose registration is checked
                 * @example https://mcp.example.com/mcp
                 */
                expectedMcpUrl?: string;
                /**
                 * @description Latest release; adds a check that compares the desktop's version with it
                 * @example 0.13.18
                 */
                latestVersion?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Results of all checks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthReport"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    list_learnings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The patterns in file order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearnedPatterns"];
                };
            };
            /** @description The file cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to read learnings: stream did not contain valid UTF-8",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    decide_learning: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LearningDecisionRequest"];
            };
        };
        responses: {
            /** @description The patterns after the decision */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearnedPatterns"];
                };
            };
            /** @description A member is missing or invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "summary is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description There is no pattern with this id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "There is no learning with this id",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The text of the pattern has changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "The learning has changed; load the list again",
                     *       "code": "conflict"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The files cannot be read or written */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to write learnings: permission denied",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    kill_process: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KillBody"];
            };
        };
        responses: {
            /** @description The process is terminated, by this request or earlier */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Killed"];
                };
            };
            /** @description Neither a pid nor a ticket with its repository */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox, or the process was not started by Loopgate */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The recorded pid cannot be read, or the process is still running */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    list_repos: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The repositories and their settings */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReposAnswer"];
                };
            };
            /** @description The list cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to list repos: permission denied",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Server not configured — complete onboarding",
                     *       "code": "not_configured"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    argue_finding: {
        parameters: {
            query?: {
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the ticket
                 * @example pr-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArgueBody"];
            };
        };
        responses: {
            /** @description One JSON event per line; the last one is `done` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description No repository, no argument, or no finding */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "assistantArgument and findingSummary are required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The ticket has no worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Work directory not found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The debate cannot be stored */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to start the debate: no space left",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    reviewer_available: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Availability and version */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewerAvailability"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    finding_chat_history: {
        parameters: {
            query: {
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
                /**
                 * @description Id of the ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the finding
                 * @example finding-0
                 */
                findingId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The history; empty when none is stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatHistory"];
                };
            };
            /** @description Ticket or repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "ticketId and repo parameters are required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    finding_chat: {
        parameters: {
            query: {
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
                /**
                 * @description Id of the ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the finding
                 * @example finding-0
                 */
                findingId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FindingMessage"];
            };
        };
        responses: {
            /** @description One JSON event per line; the last one is `done` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description Ticket, repository path or message missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "message is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The ticket has no worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Work directory not found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The message cannot be stored */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to save chat history: no space left",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    change_finding_chat: {
        parameters: {
            query: {
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
                /**
                 * @description Id of the ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the finding
                 * @example finding-0
                 */
                findingId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeFindingChat"];
            };
        };
        responses: {
            /** @description Stored; an unknown message id is a no-op */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description Ticket or repository path missing, or invalid message */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "message with id, role and content is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The history cannot be written */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to save chat history: no space left",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    review_duplicates: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FindingLists"];
            };
        };
        responses: {
            /** @description The pairs in the order of the first list, then those confirmed by the provider */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Duplicates"];
                };
            };
            /** @description A required member is missing, or a list contains an invalid finding */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repoPath, providerA, and providerB are required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    review_findings: {
        parameters: {
            query: {
                /**
                 * @description Provider of the review; `reviewer` when it is missing
                 * @example reviewer
                 */
                provider?: components["schemas"]["ProviderId"];
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The findings; empty when none are stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewFindings"];
                };
            };
            /** @description Repository path missing, or unknown provider */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "ticketId and repo are required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    change_review_findings: {
        parameters: {
            query: {
                /**
                 * @description Provider of the review; `reviewer` when it is missing
                 * @example reviewer
                 */
                provider?: components["schemas"]["ProviderId"];
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeFindings"];
            };
        };
        responses: {
            /** @description The change was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindingsChanged"];
                };
            };
            /** @description Repository path missing, unknown provider, index out of range, or nothing to change */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Index out of range",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No findings are stored */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "No findings file found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The finding at `declinedIndex` has another text: a review has replaced the findings */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "The findings have changed",
                     *       "code": "conflict"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The findings cannot be written */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to update findings: no space left",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    review_verdict: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the ticket
                 * @example pr-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskVerdict"];
            };
        };
        responses: {
            /** @description The verdict, or the reason for which there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerdictBody"];
                };
            };
            /** @description A required member is missing, or the provider is unknown */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repoPath, sessionId, and provider are required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The ticket has no worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Work directory not found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The provider cannot be started */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to ask for a verdict: no space left",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    start_review: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the ticket; `pr-<number>` for a pull request
                 * @example pr-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReviewBody"];
            };
        };
        responses: {
            /** @description One JSON event per line; the last one is `done` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description Repository path missing, branch missing for a new worktree, base branch that does not exist, or no pull request for a review by the assistant */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repoPath is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description A review by the same provider, or a loop, is running in the worktree */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Review already running",
                     *       "code": "conflict",
                     *       "pid": 4242
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The worktree cannot be created */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to create worktree: neither branch \"feature/cache\" nor branch \"main\" exists",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    review_status: {
        parameters: {
            query: {
                /**
                 * @description Provider of the review
                 * @example reviewer
                 */
                provider?: string;
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the ticket
                 * @example pr-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The review, or the reason for which there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewStatusAnswer"];
                };
            };
            /** @description Repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repo query parameter is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "directory not allowed",
                     *       "code": "directory_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The state of the review cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to read status: it is no such document",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    stop_review: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the ticket
                 * @example pr-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StopBody"];
            };
        };
        responses: {
            /** @description The review is being cancelled, or was not running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopAnswer"];
                };
            };
            /** @description Repository path missing, or no pid is recorded */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repo is required in body",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox, or the process was not started by Loopgate */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "process not managed by this gateway",
                     *       "code": "process_not_managed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No review is recorded */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "No review found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The state of the review cannot be read or written */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to stop review: no space left",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request was refused (credential, approval, body size) or the handler failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unauthorized",
                     *       "code": "unauthorized",
                     *       "reason": "no credential provided"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    gateway_auth_exchange: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExchangeRequest"];
            };
        };
        responses: {
            /** @description The session token and its expiry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangeAnswer"];
                };
            };
            /** @description The Origin header or the challenge token is missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Origin header required",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The control plane refused the challenge */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "verify failed (401)",
                     *       "code": "unauthorized"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The caller is not on loopback, or its origin is not allowed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Origin not allowed",
                     *       "code": "forbidden"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The request body timed out */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "request body timed out",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The body exceeds 4096 bytes */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "request body too large",
                     *       "code": "request_body_too_large",
                     *       "maxBytes": 4096
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The content type needs no CORS preflight, so a page of another site could have sent the request */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "content type not supported, send application/json",
                     *       "code": "unsupported_media_type"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Rate limit of this origin exceeded; see Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "too many exchanges, retry shortly",
                     *       "code": "too_many_requests"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The control plane is unreachable or returned an invalid response */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "verify request failed: control plane unreachable",
                     *       "code": "upstream_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No API key or no API origin is configured */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Local gateway auth unavailable: API key required",
                     *       "code": "unavailable"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The control plane did not respond in time */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "verify request timed out",
                     *       "code": "upstream_timed_out"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The gateway is running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description The `Host` header does not name this gateway */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "host not allowed",
                     *       "code": "host_not_allowed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
}
