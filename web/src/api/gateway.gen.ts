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
    "/api/gateway/deploy/check-existing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Check whether the server of a worktree is running */
        post: operations["existing_deploy"];
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
    "/api/gateway/deploy/extract-info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Find the URL of a deployment */
        post: operations["extract_deploy_info"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/deploy/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Check whether a local server responds */
        post: operations["deploy_health"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/deploy/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Kill a deployment by its pid
         * @description Terminates its process group, and the processes that have left the group. Rejects processes that no deployment
         *     started.
         */
        post: operations["kill_deploy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/deploy/redetect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repeat the detection for a repository
         * @description Replaces the stored settings, or removes them when nothing is detected.
         */
        post: operations["redetect_deployment"];
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
    "/api/gateway/directories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subdirectories of a directory
         * @description Hidden directories are omitted. The list is empty for a directory that does not exist.
         */
        get: operations["list_directories"];
        put?: never;
        post?: never;
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
    "/api/gateway/git": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a git action
         * @description When git fails, `code` is `SPAWN_FAILED` or `PROCESS_FAILED`, and the object `details` has `action`,
         *     `category`, `stderrExcerpt`, and `exitCode` or `hookType`.
         */
        post: operations["git_action"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/branch-worktree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find the worktree in which a branch is checked out */
        get: operations["git_branch_worktree"];
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
    "/api/gateway/git/pr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a pull request
         * @description Pushes the current branch and opens a pull request against the default branch. An existing pull request of
         *     the branch is returned instead.
         */
        post: operations["open_pull_request"];
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
    "/api/gateway/git/pr/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the files of a pull request
         * @description Accepts either `owner`, `repo` (name) and `number`, or `repo` (path of a clone) and `pr`.
         */
        get: operations["pull_request_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/pr/head-sha": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the head commit of a pull request */
        get: operations["pull_request_head"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/pr/inline-comment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Comment on a line of a pull request
         * @description If the code host rejects the line, for example because the diff does not contain it, the comment is posted
         *     on the file, and otherwise in the conversation.
         */
        post: operations["comment_on_line"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/pr/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List pull requests */
        get: operations["list_pull_requests"];
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
    "/api/gateway/git/pr/reviews": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the reviews of a pull request */
        get: operations["pull_request_reviews"];
        put?: never;
        post?: never;
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
    "/api/gateway/git/user": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the account that is signed in at the code host */
        get: operations["git_user"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/git/worktree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove the worktrees of closed pull requests
         * @description Considers directories of the worktree parent named `<anything>-pr-<number>` whose branch no longer exists
         *     at `origin`. Worktrees with uncommitted changes are kept.
         */
        post: operations["clean_up_worktrees"];
        /**
         * Remove a worktree
         * @description The branch is kept.
         */
        delete: operations["remove_worktree"];
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
    "/api/gateway/mcp-auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describe how to authenticate to the MCP server */
        get: operations["mcp_auth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return this OpenAPI document */
        get: operations["openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/attachments/{attachmentPath}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a file attached to a ticket */
        get: operations["read_attachment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/chat-history/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the chat history of a ticket */
        get: operations["chat_history"];
        put?: never;
        /** Add a message, or store the id of a session */
        post: operations["add_to_chat_history"];
        /** Remove a message, or the whole history */
        delete: operations["remove_from_chat_history"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/chat/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message to the assistant about a ticket
         * @description The assistant works in the ticket's worktree, or in the repository when there is none. If the client
         *     disconnects, it still finishes and its response is stored. To cancel, post the pid of the first event to
         *     `kill`.
         */
        post: operations["chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/comment-chat/{commentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the chat history of a comment */
        get: operations["comment_chat_history"];
        put?: never;
        /**
         * Send a message to the assistant about a comment
         * @description The assistant works in the ticket's worktree, or in the repository when there is none. If the client
         *     disconnects, it still finishes and its response is stored. To cancel, post the pid of the first event to
         *     `kill`.
         */
        post: operations["comment_chat"];
        /** Delete the chat history of a comment */
        delete: operations["forget_comment_chat"];
        options?: never;
        head?: never;
        /** Mark a chat message as posted to the code host */
        patch: operations["mark_comment_responded"];
        trace?: never;
    };
    "/api/gateway/orchestrator/commit-message/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Generate a commit message
         * @description Covers the uncommitted changes in the ticket's worktree.
         */
        get: operations["commit_message"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/extract-learnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extract learnings from the chat of a ticket
         * @description Runs in the background; `learnings-status` reports when it has finished.
         */
        post: operations["extract_learnings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/judges/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the judges' report of a ticket */
        get: operations["ticket_judges"];
        put?: never;
        post?: never;
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
    "/api/gateway/orchestrator/launch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Launch a ticket
         * @description Creates the worktree if it does not exist. The loop script keeps running when the client disconnects and
         *     when Loopgate exits.
         */
        post: operations["launch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/learnings-status/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the status of an extraction */
        get: operations["learnings_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/logs/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the end of a ticket's log */
        get: operations["ticket_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/loop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a loop
         * @description Responds when the loop's process is running and its job is recorded. When the concurrency limit is
         *     reached, the loop is queued and the response contains its position. Cloning and set-up scripts can take
         *     minutes: a loop that is not running within 20 seconds is answered as accepted, without a pid, and its
         *     events report the outcome. A request from the control plane that needs approval is answered immediately,
         *     without a position.
         */
        post: operations["start_loop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/loop/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a loop and terminate its processes */
        post: operations["end_loop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/loop/message": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message to the assistant of a running loop
         * @description Only the control plane sends messages, which records them: the id of its command is the id of the message. An event of
         *     the loop reports when the assistant has received it.
         */
        post: operations["send_loop_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/pending-learnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count pending learnings
         * @description Covers the worktrees of all managed repositories.
         */
        get: operations["pending_learnings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/plan-loop/{ticketId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a plan
         * @description Cancels the loop at the control plane and terminates its process on this machine. A rejection by the
         *     control plane is returned with its status.
         */
        post: operations["cancel_plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/plan-loop/{ticketId}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record a plan that was requested for a ticket
         * @description Idempotent. A loop that is already recorded is unchanged.
         */
        post: operations["confirm_plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/plan-loop/{ticketId}/prepare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Prepare the plan of a ticket
         * @description Returns the repository and worktree of the ticket. Writes nothing.
         */
        post: operations["prepare_plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/plan-loop/{ticketId}/select-artifact/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record a plan that was requested for a document
         * @description Same as for a ticket.
         */
        post: operations["confirm_plan_of_artifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/plan-loop/{ticketId}/select-artifact/prepare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Prepare the plan of a document
         * @description Same as for a ticket.
         */
        post: operations["prepare_plan_of_artifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/plan/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the plan of a ticket */
        get: operations["ticket_plan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/process-all-learnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the status of processing all worktrees */
        get: operations["batch_status"];
        put?: never;
        /**
         * Process the pending learnings of all worktrees
         * @description Runs in the background, one worktree at a time.
         */
        post: operations["process_all_learnings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/process-learnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the status of processing a ticket's learnings */
        get: operations["processing_status"];
        put?: never;
        /**
         * Process the pending learnings of a ticket
         * @description Merges them into the patterns, in the background.
         */
        post: operations["process_learnings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/record-learning-use": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Record that learnings helped */
        post: operations["record_learning_use"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sessions
         * @description Removes sessions whose worktree no longer exists.
         */
        get: operations["list_sessions"];
        put?: never;
        /** Record a session */
        post: operations["note_session"];
        /** Delete the session of a ticket */
        delete: operations["forget_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/sessions/unread-count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the sessions with an unread response
         * @description Counts sessions whose newest chat message was written by a provider.
         */
        get: operations["count_unread_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report whether a loop is running in a directory */
        get: operations["directory_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/status/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the status of a ticket */
        get: operations["ticket_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/orchestrator/upload/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload images to a ticket
         * @description Either all images are saved or none.
         */
        post: operations["upload_images"];
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
        /** Add a repository */
        post: operations["add_repo"];
        /**
         * Stop managing a repository
         * @description Files on disk are not touched.
         */
        delete: operations["remove_repo"];
        options?: never;
        head?: never;
        /** Update the repository settings */
        patch: operations["update_repos"];
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
    "/api/gateway/reviewer/chat/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message to the reviewer about a ticket
         * @description The reviewer works read-only in the ticket's worktree, or in the repository when there is none. Only the
         *     session is stored; clients store the messages. The response continues when the client disconnects.
         */
        post: operations["reviewer_chat"];
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
        /** Delete the chat history of a finding */
        delete: operations["forget_finding_chat"];
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
    "/api/gateway/reviewer/review-extract/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extract findings from the log of a review
         * @description Reads the last fenced `json` array, or the reviewer's list of comments. Findings with a `confidence` below
         *     0.5 are omitted. With `interpret`, a log that contains neither is submitted to the provider that wrote it.
         */
        post: operations["extract_findings"];
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
        /**
         * Delete the reviews of a ticket
         * @description A running review continues, but is no longer recorded.
         */
        delete: operations["forget_review"];
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
        /** Cancel the reviews of a ticket and delete them */
        delete: operations["discard_review"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/run-viewer-chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the chat history about runs */
        get: operations["run_viewer_chat_history"];
        put?: never;
        /**
         * Send a message about a run
         * @description The provider works in the run's directory, or in the base directory of the sandbox. If the client
         *     disconnects, the provider still finishes and its response is stored. To cancel, post the pid of the
         *     `running` event to `kill`.
         */
        post: operations["run_viewer_chat"];
        /** Delete the chat history about runs */
        delete: operations["forget_run_viewer_chat"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/run-viewer-extract": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the files of a run */
        get: operations["run_files"];
        put?: never;
        /**
         * Extract a run
         * @description The run is deleted after seven days unless it is removed earlier.
         */
        post: operations["extract_run"];
        /** Remove a run */
        delete: operations["remove_run"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/settings/binary-paths": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the configured program paths */
        get: operations["binary_paths"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set or clear program paths
         * @description The first invalid member is reported and nothing is stored. A path inside the sandbox, or a path that passes
         *     through a symbolic link inside it, is rejected. Callers without the gateway token of this machine need the
         *     owner's approval for every request; an earlier approval is not reused.
         */
        patch: operations["set_binary_paths"];
        trace?: never;
    };
    "/api/gateway/terminal-chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the terminal chat history */
        get: operations["terminal_chat_history"];
        put?: never;
        /**
         * Send a message in the terminal chat
         * @description The provider works in the base directory of the sandbox. If the client disconnects, the provider still
         *     finishes and its response is stored. To cancel, post the pid of the `running` event to `kill`.
         */
        post: operations["terminal_chat"];
        /** Delete the terminal chat history */
        delete: operations["forget_terminal_chat"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/ticket-chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the chat history about a ticket */
        get: operations["ticket_chat_history"];
        put?: never;
        /**
         * Send a message about a ticket
         * @description The provider works in the repository, or in the base directory of the sandbox. If the client disconnects,
         *     the provider still finishes and its response is stored. To cancel, post the pid of the `running` event to
         *     `kill`.
         */
        post: operations["ticket_chat"];
        /** Delete the chat history about a ticket */
        delete: operations["forget_ticket_chat"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the version of the desktop */
        get: operations["version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/work-directory/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find the work directory of a ticket */
        get: operations["work_directory"];
        put?: never;
        post?: never;
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
        /** @description Result of a git action; the shape depends on the action. */
        ActionAnswer: components["schemas"]["StatusAnswer"] | components["schemas"]["Switched"] | components["schemas"]["Committed"] | components["schemas"]["Pushed"] | components["schemas"]["Pulled"] | components["schemas"]["BranchDiffAnswer"] | components["schemas"]["SyncAnswer"];
        /** @description A running subagent of the assistant. */
        ActiveAgent: {
            /** @description Id assigned by the assistant. */
            agentId: string;
            /** @description Display name of the subagent. */
            agentName: string;
            /** @description Type of the subagent, as defined in the assistant. */
            agentType: string;
            /** @description Start time, ISO 8601; empty when unknown. */
            startedAt: string;
        };
        /**
         * @description The managed repository after it was added.
         * @example {
         *       "success": true,
         *       "repo": {
         *         "path": "~/src/shop",
         *         "description": "The shop",
         *         "addedAt": "2030-01-01T00:00:00.000Z",
         *         "name": "shop",
         *         "fullName": "acme/shop",
         *         "defaultBranch": "main"
         *       }
         *     }
         */
        Added: {
            repo: components["schemas"]["ListedRepo"];
            success: boolean;
        };
        /** @description Result of an addition. */
        AddedToHistory: {
            history: components["schemas"]["ChatHistory"];
            success: boolean;
        } | {
            sessionId: string;
            success: boolean;
        };
        /**
         * @description A repository to manage.
         * @example {
         *       "path": "~/src/shop",
         *       "description": "The shop"
         *     }
         */
        AddRepo: {
            /** @description Free text shown in repository lists. */
            description?: string | null;
            /** @description Directory inside the sandbox; a leading `~` is the home directory. */
            path: string;
        };
        /** @description A message to add, or the id of the assistant's session. With both, only the message is stored. */
        AddToHistory: {
            message?: components["schemas"]["NewMessage"] | null;
            sessionId?: string | null;
        };
        /** @description An agent definition to write to the worktree. */
        AgentDefinition: {
            /** @description Display name of the agent. */
            name: string;
            /** @description Complete prompt of the agent. */
            prompt: string;
            /** @description Identifier of the agent, used as file name. */
            slug: string;
        };
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
        /** @description A document that is passed to a loop. */
        Artifact: {
            /** @description Text of the document, as Markdown. */
            content: string;
            /** @description Id of the document in the control plane. */
            id: string;
            /** @description Whole plan object from which `content` was extracted; absent for other documents. */
            raw?: Record<string, never> | null;
            /** @description Title of the document. */
            title: string;
            /** @description Type of the document. */
            type: components["schemas"]["ArtifactType"];
        };
        /**
         * @description Type of a document that is passed to a loop.
         * @enum {string}
         */
        ArtifactType: "PRD" | "IMPLEMENTATION_PLAN" | "FEATURE";
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
        /** @description A file to download before the loop starts. */
        Attachment: {
            /** @description File name as uploaded. */
            filename: string;
            /** @description Id of the attachment in the control plane. */
            id: string;
            /** @description Media type, for example `image/png`. */
            mimeType: string;
            /** @description SHA-256 of the file in hexadecimal digits; absent when the sender does not know it. */
            sha256?: string | null;
            /** @description Signed download URL; never logged, because it grants access. */
            signedUrl: string;
            /** @description Expiry of the signed URL, ISO 8601. */
            signedUrlExpiresAt: string;
            /**
             * Format: int64
             * @description Expected size in bytes.
             */
            sizeBytes: number;
        };
        /**
         * @description Whether a loop can use a repository.
         * @enum {string}
         */
        Availability: "found" | "cloneable" | "unavailable";
        /**
         * @description Configured program paths by `assistant`, `codeHost`, `reviewer`, `python3` and `git`. Symbolic links are
         *     resolved.
         * @example {
         *       "binaryPaths": {
         *         "git": "/usr/bin/git"
         *       }
         *     }
         */
        BinaryPaths: {
            binaryPaths: {
                [key: string]: string;
            };
        };
        /** @description A local or remote-tracking branch. */
        BranchAnswer: {
            /** @description Whether the branch exists only at `origin`. */
            isRemote: boolean;
            /** @description Date of the last commit, ISO 8601. */
            lastCommitDate?: string | null;
            /** @description Name without `origin/`. Branches of other remotes keep the prefix. */
            name: string;
        };
        /** @description `branch-diff`: changes of the current branch since its merge base with a branch of `origin`. */
        BranchDiffAnswer: {
            baseBranch: string;
            /** @description Current branch; `HEAD` when it is detached. */
            currentBranch: string;
            files: components["schemas"]["BranchFiles"];
            totalChanges: number;
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
        /** @description Changed paths relative to the root of the repository, each in exactly one list. */
        BranchFiles: {
            created: string[];
            deleted: string[];
            /** @description Modified or renamed (new name) files. */
            modified: string[];
        };
        /** @description Status of the branch in a work directory. */
        BranchStatus: {
            /** @description Whether the branch was merged. Determined only when it no longer exists at the remote. */
            merged: boolean;
            /** @description Whether the branch does not exist at the remote. */
            remoteMissing: boolean;
        };
        /**
         * @description Worktree in which a branch is checked out.
         * @example {
         *       "path": "/home/sam/src/worktrees/shop-AB-1",
         *       "repoPath": "/home/sam/src/shop"
         *     }
         */
        BranchWorktree: {
            /** @description Path of the worktree, or of the clone itself; null when the branch is not checked out. */
            path: string | null;
            /** @description Path of the clone; null when no managed repository has this name. */
            repoPath: string | null;
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
        /** @description The PLAN loop to cancel. */
        CancelPlan: {
            /** Format: uuid */
            loopId: string;
            repoPath: string;
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
        /** @description A message to the assistant. */
        ChatMessageBody: {
            /**
             * @description Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
             *     most 10 MiB.
             */
            attachments?: string[] | null;
            /** @description Paths of further repositories that are named in the prompt. */
            contextRepoPaths?: string[] | null;
            /** @description Text of the message; must not be blank. */
            message: string;
            provider?: components["schemas"]["ProviderId"] | null;
            /** @description Path of the repository; can be the query parameter `repo` instead. */
            repoPath?: string | null;
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
        /**
         * @description Paths of the worktrees that were removed and of those that were kept.
         * @example {
         *       "removed": [
         *         "/home/sam/src/worktrees/shop-pr-7"
         *       ],
         *       "kept": [
         *         "/home/sam/src/worktrees/shop-pr-9"
         *       ],
         *       "errors": []
         *     }
         */
        CleanedUp: {
            /** @description Reasons for which kept worktrees could not be checked or removed, as `<path>: <reason>`. */
            errors: string[];
            kept: string[];
            removed: string[];
        };
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
        /** @description The lines that a comment is about. */
        CommentLines: {
            anchor?: components["schemas"]["LineAnchor"] | null;
            /**
             * Format: int64
             * @description Number of the first line, from 1.
             */
            from: number;
            /** @description Side of the comparison that the numbers refer to. */
            side: components["schemas"]["CommentSide"];
            /**
             * Format: int64
             * @description Number of the last line.
             */
            to: number;
        };
        /** @description A message to the assistant about a comment. */
        CommentMessageBody: {
            /**
             * @description Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
             *     most 10 MiB.
             */
            attachments?: string[] | null;
            commentContext?: components["schemas"]["CommentContext"] | null;
            /** @description Text of the message; must not be blank. */
            message: string;
        };
        /**
         * @description The comment to post.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "prNumber": 1,
         *       "body": "Why this colour?",
         *       "path": "README.md",
         *       "line": 1
         *     }
         */
        CommentOnLine: {
            /** @description Text of the comment in Markdown. */
            body: string;
            /** @description Hash of the reviewed commit. Without it, or without `path`, the comment is posted in the conversation. */
            commitSha?: string | null;
            /**
             * Format: int64
             * @description Line in the new version of the file.
             */
            line?: number | null;
            /** @description Path of the file in the repository. */
            path?: string | null;
            /**
             * Format: int64
             * @description Number of the pull request.
             */
            prNumber: number;
            /** @description Path of the clone. */
            repoPath: string;
        };
        /** @description What a comment is about: lines of a file, or the file. */
        CommentPlace: {
            lines?: components["schemas"]["CommentLines"] | null;
            /** @description Path of the file in the repository. */
            path: string;
            /** @description Name of the repository, as the list of the changes has it. */
            repository: string;
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
        /** @description A generated commit message. */
        CommitMessage: {
            description: string;
            source: components["schemas"]["MessageSource"];
            title: string;
        };
        /** @description `commit`: the commit that was created. */
        Committed: {
            /** @description Abbreviated hash of the commit. */
            commit: string;
            message: string;
            success: boolean;
        };
        /** @description Author and committer identity for commits. */
        Committer: {
            /** @description Email address, as in git's `user.email`. */
            email: string;
            /** @description Name, as in git's `user.name`. */
            name: string;
        };
        /** @description Members of a finding that are compared. */
        ComparedFinding: {
            file?: string | null;
            message: string;
        };
        /** @description A plan that the control plane accepted. */
        ConfirmPlan: {
            artifactId?: string | null;
            artifactSlug?: string | null;
            issueId?: string | null;
            /** Format: uuid */
            loopId?: string | null;
            /** @description `already-running` if the loop was already running. */
            outcome?: string | null;
            repoPath: string;
            ticketTitle?: string | null;
        };
        /** @description Cost in US dollars, as reported by the assistant. */
        Cost: {
            /** @description Cost by model name; empty when not reported. */
            byModel?: {
                [key: string]: number;
            };
            /**
             * Format: double
             * @description Cost of all runs so far.
             */
            totalUsd: number;
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
         * @description Result of a health check.
         * @example {
         *       "alive": true,
         *       "statusCode": 204
         *     }
         */
        DeployHealth: {
            /** @description Whether the response status is 2xx or 3xx. */
            alive: boolean;
            /** @description `OUTBOUND_URL_DENIED` when no request was sent. */
            code?: string | null;
            /** @description Reason for which no request was sent. */
            error?: string | null;
            /** @description Reason for which the request failed. */
            reason?: string | null;
            /**
             * Format: int32
             * @description HTTP status of the response; null without a response.
             */
            statusCode: number | null;
        };
        /**
         * @description URL of the server to check.
         * @example {
         *       "url": "http://localhost:3000"
         *     }
         */
        DeployHealthBody: {
            /** @description HTTP URL with a loopback host. Other hosts are rejected, so that the route cannot probe the network. */
            url: string;
        };
        /**
         * @description URL of a deployment, if known.
         * @example {
         *       "url": "http://localhost:5174/"
         *     }
         */
        DeployInfo: {
            /** @description URL of the server; null when neither the output nor the stored settings contain one. */
            url: string | null;
        };
        /**
         * @description The deployment to kill.
         * @example {
         *       "pid": 4242
         *     }
         */
        DeployKillBody: {
            /**
             * Format: int32
             * @description `pid` from the response of `deploy`; a number or a string of digits.
             */
            pid: number;
        };
        /**
         * @description Result of killing a deployment.
         * @example {
         *       "success": true,
         *       "message": "Process terminated",
         *       "pid": 4242
         *     }
         */
        DeployKilled: {
            message: string;
            /** Format: int64 */
            pid: number;
            success: boolean;
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
         * @description Subdirectories, with repositories first.
         * @example {
         *       "directories": [
         *         {
         *           "name": "shop",
         *           "path": "~/src/shop",
         *           "isDirectory": true,
         *           "isGitRepo": true
         *         },
         *         {
         *           "name": "worktrees",
         *           "path": "~/src/worktrees",
         *           "isDirectory": true,
         *           "isGitRepo": false
         *         }
         *       ]
         *     }
         */
        Directories: {
            directories: components["schemas"]["DirectoryEntry"][];
        };
        /** @description A subdirectory. */
        DirectoryEntry: {
            /** @description Always true; present for older clients. */
            isDirectory: boolean;
            /** @description Whether the directory is a git repository or worktree. */
            isGitRepo: boolean;
            name: string;
            /** @description Path in the form of the request: starting with `~`, or absolute. */
            path: string;
        };
        /** @description Status of a work directory. Members of `state.json` are copied unchanged. */
        DirectoryStatus: {
            /** @description Whether the status in `state.json` is not terminal. */
            isRunning: boolean;
            /**
             * Format: double
             * @description `iteration` of `state.json`; absent when missing there.
             */
            iteration?: number | null;
            /** @description `timestamp` of `state.json`; absent when missing there. */
            lastUpdate?: string | null;
            loop?: components["schemas"]["LoopFacts"] | null;
            /** @description `phase` of `state.json`; absent when missing there. */
            phase?: string | null;
            /** @description Reason why the status is unknown; absent otherwise. */
            reason?: string | null;
            /** @description `status` of `state.json`; absent when missing there. */
            status?: string | null;
        };
        /**
         * @description Files that were removed.
         * @example {
         *       "deleted": [
         *         "reviewer-review-reviewer.json",
         *         "reviewer-review-reviewer.log"
         *       ]
         *     }
         */
        DiscardAnswer: {
            /** @description Names of the removed files. */
            deleted: string[];
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
         * @description Acknowledgement of a change.
         * @example {
         *       "success": true
         *     }
         */
        Done: {
            success: boolean;
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
        /** @description The loop to cancel. */
        EndLoop: {
            /** @description Id of the loop. */
            loopId: string;
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
         * @description Whether the server of a worktree is running.
         * @example {
         *       "active": true,
         *       "url": "http://localhost:3000"
         *     }
         */
        ExistingDeploy: {
            /** @description Whether the server's port accepts connections. */
            active: boolean;
            /** @description URL of the server; absent unless it is running. */
            url?: string | null;
        };
        /**
         * @description Output of a deployment, to search for its URL.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "logs": "  Local:   http://localhost:5174/\n"
         *     }
         */
        ExtractBody: {
            /** @description Output of the start command; absent to use the stored port only. */
            logs?: string | null;
            /** @description Clone of the repository, inside the sandbox. */
            repoPath: string;
        };
        /**
         * @description Directory into which a run was extracted.
         * @example {
         *       "runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"
         *     }
         */
        Extracted: {
            runDir: string;
        };
        /**
         * @description Findings in the log.
         * @example {
         *       "findings": [
         *         {
         *           "severity": "high",
         *           "priority": "P1",
         *           "file": "src/cart.rs",
         *           "line": 12,
         *           "message": "The sum overflows\nLarge carts wrap around.",
         *           "commented": false
         *         }
         *       ]
         *     }
         */
        ExtractedFindings: {
            findings: components["schemas"]["ReviewFinding"][];
        };
        /**
         * @description The review whose log is parsed.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "sessionId": "8c0c",
         *       "provider": "reviewer"
         *     }
         */
        ExtractFindings: {
            /** @description Whether the provider interprets its own log when the format is not recognized. */
            interpret?: boolean | null;
            provider?: components["schemas"]["ProviderId"] | null;
            /** @description Path of the repository. */
            repoPath: string;
            /** @description Session of the review; required, but not used to select the log. */
            sessionId: string;
        };
        /**
         * @description The chat from which learnings are extracted.
         * @example {
         *       "ticketId": "AB-1",
         *       "repoPath": "~/src/shop",
         *       "activeTab": "chat"
         *     }
         */
        ExtractLearnings: components["schemas"]["TicketMembers"] & {
            /** @description Tab of the page; returned by the status. */
            activeTab?: string | null;
            /**
             * @description Name of a `.json` file in the work directory or its `finding-chats/`; `chat-history.json` when it is
             *     missing.
             */
            chatFile?: string | null;
        };
        /** @description A file of a run and its first characters. */
        FileContext: {
            /** @description Start of the file; at most 4000 characters are used. */
            contentPreview?: string;
            path: string;
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
        /** @description Response for a worktree with a `state.json`. */
        FullStatus: {
            /** @description Running subagents of the assistant. */
            activeAgents: components["schemas"]["ActiveAgent"][];
            /** @description Id of the first pending task; absent without one. */
            currentTaskId?: string | null;
            /** @description Always true: the worktree exists. */
            exists: boolean;
            /** @description Whether the status was derived from the output because `state.json` does not determine it. */
            fallbackDetected: boolean;
            loop?: components["schemas"]["LoopFacts"] | null;
            /** @description Phase of `state.json`, corrected by the state of the process and its output. */
            phase: string;
            /**
             * Format: int32
             * @description Recorded process id; null without one.
             */
            pid: number | null;
            /** @description Whether the worktree has a plan. */
            planExists: boolean;
            /** @description Whether the recorded process is running, or the work of its loop is being delivered. */
            processRunning: boolean;
            /** @description Content of `state.json`, unchanged. */
            raw: Record<string, never>;
            /** @description Always true: `state.json` exists. */
            stateExists: boolean;
            /** @description Status of `state.json`, corrected by the state of the process and its output. */
            status: string;
            taskProgress?: components["schemas"]["TaskProgress"] | null;
            /** @description `timestamp` of `state.json`; absent when missing there. */
            timestamp?: string | null;
            /** @description Absolute path of the worktree. */
            worktreeDir: string;
        };
        /** @description A git action and the repository to run it in. */
        GitRequest: {
            /** @description `status`, `branch`, `commit`, `push`, `pull`, `branch-diff` or `sync-status`. */
            action: string;
            /** @description For `branch-diff`: branch of `origin` to compare with; its default branch when it is missing. */
            baseBranch?: string | null;
            /**
             * @description For `branch`: branch to check out, created if it does not exist. Characters outside `[A-Za-z0-9_/-]`
             *     are replaced with `-`.
             */
            branchName?: string | null;
            /** @description For `commit`: the commit message. */
            message?: string | null;
            /** @description Directory inside the sandbox; a leading `~` is the home directory. */
            repoPath: string;
        };
        /**
         * @description Account at the code host.
         * @example {
         *       "login": "octo-dev"
         *     }
         */
        GitUser: {
            login: string;
        };
        /**
         * @description Acknowledgement of a removal.
         * @example {
         *       "success": true,
         *       "message": "Worktree removed successfully"
         *     }
         */
        Gone: {
            message: string;
            success: boolean;
        };
        /**
         * @description Provider that runs a loop.
         * @enum {string}
         */
        Harness: "assistant" | "reviewer";
        /**
         * @description Head commit of a pull request.
         * @example {
         *       "sha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
         *     }
         */
        HeadSha: {
            sha: string;
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
        /**
         * @description Images to upload.
         * @example {
         *       "files": [
         *         "(the bytes of screen.png)"
         *       ]
         *     }
         */
        Images: {
            /** @description PNG, JPEG, GIF or WebP images of at most 10 MiB each. The field may have any name. */
            files: string[];
        };
        /**
         * @description Status of a job, the desktop's record of a loop.
         * @enum {string}
         */
        JobStatus: "QUEUED" | "STARTING" | "RUNNING" | "AWAITING_USER" | "CANCEL_PENDING" | "COMPLETED" | "FAILED" | "CANCELLED" | "STOPPED" | "UNKNOWN" | "TIMED_OUT";
        /** @description Report of the judges, or a placeholder until it is available. */
        Judgement: {
            /** @description Content of the report, unchanged; its structure is not validated. */
            data: Record<string, never>;
            /** @description Always true: the report exists. */
            exists: boolean;
            /** @description Always false: the data is real. */
            isMock: boolean;
            /** @description Absolute path of the worktree. */
            worktreeDir: string;
        } | {
            /** @description Always false: there is no report. */
            exists: boolean;
            /** @description Always false: there is no sample data. */
            isMock: boolean;
            /**
             * @description Explanation for the user.
             * @example Awaiting LLM judges feedback
             */
            message: string;
            /** @description Absolute path of the worktree. */
            worktreeDir: string;
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
        /** @description The launched ticket. */
        LaunchAnswer: {
            alreadyRunning?: boolean;
            baseBranch?: string | null;
            branchName: string;
            logFile: string;
            parentTicketId?: string | null;
            /**
             * Format: int32
             * @description Pid of the loop script; null when the script is not installed.
             */
            pid: number | null;
            /** @description Path of the file with the ticket's text. Written only if a text was sent. */
            prdFile: string;
            success: boolean;
            ticketId: string;
            /** @example loop script not installed */
            warning?: string | null;
            worktreePath: string;
        };
        /** @description The ticket to launch. */
        LaunchBody: {
            /** @description Branch to start from; the remote's default branch when it is missing or not a valid branch name. */
            baseBranch?: string | null;
            repoPath: string;
            ticket?: components["schemas"]["LaunchTicket"] | null;
            ticketIdentifier: string;
        };
        /**
         * @description The members of a launch request that decide what runs. They are known before the loop exists, so that a
         *     person can judge and sign them.
         */
        LaunchContent: {
            /** @description Peer repositories; absent when there are none. */
            additionalRepos?: components["schemas"]["RepoRef"][];
            /** @description Agent definitions in effect at launch; absent when there are none. */
            agents?: components["schemas"]["AgentDefinition"][];
            /**
             * @description Approved commits by repository: the loop changes nothing, and opens the pull requests of a loop that held them.
             *     Absent for other loops.
             */
            approvedCommits?: {
                [key: string]: string;
            } | null;
            /** @description Documents for the loop. */
            artifacts: components["schemas"]["Artifact"][];
            /** @description Slug of the document, used in names of the worktree and the branch. */
            artifactSlug?: string | null;
            /** @description Files of the documents; absent when there are none. */
            attachments?: components["schemas"]["Attachment"][];
            /** @description Name of the loop command, for example `PLAN`. */
            command: string;
            committer?: components["schemas"]["Committer"] | null;
            harness?: components["schemas"]["Harness"] | null;
            /**
             * @description Whether the loop pushes its work without opening pull requests, until a person approves the changes; absent
             *     otherwise.
             */
            holdPullRequest?: boolean;
            /** @description Path of a local clone of the primary repository; null when unknown. */
            localRepoPath?: string | null;
            /**
             * Format: double
             * @description Spending limit of the loop in US dollars; absent when neither its user nor the organization sets one.
             */
            maxSpendUsd?: number | null;
            /** @description Model of the assistant; absent for that of the desktop's settings. */
            model?: string | null;
            /** @description Branch of the parent loop; null without one. */
            parentBranchName?: string | null;
            /** @description Id of the loop whose work is continued; null without one. */
            parentLoopId?: string | null;
            /** @description Assistant session of the parent loop; null without one. */
            parentSessionId?: string | null;
            /** @description Id of the document that the loop is about; absent without one. */
            primaryArtifactId?: string | null;
            /** @description The user's request in natural language; null without one. */
            prompt?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description Critic gates of the loop's repositories; absent when there are none. */
            repoConfigs?: components["schemas"]["RepoConfig"][];
            reviewComments?: components["schemas"]["ReviewComments"] | null;
            /** @description Text appended to the requirements of a PLAN loop; absent without one. */
            userContext?: string | null;
        };
        /** @description Content of the ticket, written to the file from which the loop script works. */
        LaunchTicket: {
            additionalContext?: string | null;
            /** @description Paths of further repositories, named in the ticket's text. */
            contextRepoPaths?: string[] | null;
            description?: string | null;
            identifier?: string | null;
            issueId?: string | null;
            /** @description Files that the ticket mentions. */
            mentionedFiles?: components["schemas"]["MentionedFile"][] | null;
            title?: string | null;
            url?: string | null;
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
         *           "raw": "P-001,pattern,\"Check the lock, then write\",high,5,0.85,,*,io,*"
         *         }
         *       ]
         *     }
         */
        LearnedPatterns: {
            patterns: components["schemas"]["LearnedPattern"][];
        };
        /**
         * @description Outcome of a request to process the learnings of all worktrees.
         * @example {
         *       "status": "processing",
         *       "worktreeCount": 3,
         *       "pid": 4242
         *     }
         */
        LearningsBatchStart: {
            /**
             * Format: int32
             * @description Pid of the process that performs the work.
             */
            pid: number;
            /** @enum {string} */
            status: "processing";
            worktreeCount: number;
        } | {
            /** @description Number of worktrees that are already processed. */
            processedWorktrees: number;
            /** Format: date-time */
            startedAt?: string | null;
            /** @enum {string} */
            status: "already_processing";
            worktreeCount: number;
        } | {
            reason: string;
            /** @enum {string} */
            status: "skipped";
        };
        /**
         * @description Status of the processing of all worktrees.
         * @example {
         *       "status": "processing",
         *       "worktreeCount": 3,
         *       "totalPending": 7,
         *       "processedWorktrees": 1,
         *       "startedAt": "2030-01-01T00:00:00.000Z"
         *     }
         */
        LearningsBatchStatus: {
            /**
             * Format: date-time
             * @description Time of the end, ISO 8601; absent while running.
             */
            completedAt?: string | null;
            /** @description Error message for the user; absent unless the batch failed. */
            error?: string | null;
            /** @description Number of worktrees that are finished. */
            processedWorktrees?: number | null;
            /**
             * Format: date-time
             * @description Time of the start, ISO 8601.
             */
            startedAt?: string | null;
            /** @description State of the batch. */
            status: components["schemas"]["LearningsState"];
            /** @description Number of pending learnings in all worktrees at the start. */
            totalPending?: number | null;
            /** @description Number of worktrees with pending learnings. */
            worktreeCount?: number | null;
        };
        /**
         * @description Outcome of a request to extract learnings.
         * @example {
         *       "status": "processing"
         *     }
         */
        LearningsExtractionStart: {
            /** @description Reason for which the extraction was skipped. */
            reason?: string | null;
            status: components["schemas"]["LearningsStartStatus"];
        };
        /**
         * @description Status of the extraction from a ticket's chat.
         * @example {
         *       "status": "completed",
         *       "ticketId": "AB-1",
         *       "activeTab": "chat",
         *       "timestamp": "2030-01-01T00:00:00.000Z",
         *       "count": 2
         *     }
         */
        LearningsExtractionStatus: {
            /** @description Tab of the page that requested the extraction. */
            activeTab?: string | null;
            /** @description Number of extracted learnings. */
            count?: number | null;
            /** @description Error message for the user; absent unless the extraction failed. */
            message?: string | null;
            /** @description State of the extraction. */
            status: components["schemas"]["LearningsState"];
            /** @description Id of the ticket; absent before the first extraction. */
            ticketId?: string | null;
            /**
             * Format: date-time
             * @description Time of the last state change, ISO 8601.
             */
            timestamp?: string | null;
        };
        /**
         * @description Outcome of a request to process learnings.
         * @example {
         *       "status": "processing",
         *       "pid": 4242,
         *       "logFile": "/home/sam/src/worktrees/shop-AB-1/.loopgate/work/process-learnings.log"
         *     }
         */
        LearningsProcessingStart: {
            logFile?: string | null;
            /**
             * Format: int32
             * @description Pid of the script; null when the plugin is not installed.
             */
            pid?: number | null;
            /** @description Reason for which the processing was skipped. */
            reason?: string | null;
            status: components["schemas"]["LearningsStartStatus"];
        };
        /**
         * @description Status of the processing of a worktree's learnings.
         * @example {
         *       "status": "completed",
         *       "timestamp": "2030-01-01T00:00:00.000Z",
         *       "processed": 3
         *     }
         */
        LearningsProcessingStatus: {
            /** @description Error message, or a summary of the result. */
            message?: string | null;
            /** @description Number of processed learnings; absent while running. */
            processed?: number | null;
            /** @description State of the processing. */
            status: components["schemas"]["LearningsState"];
            /**
             * Format: date-time
             * @description Time of the last state change, ISO 8601.
             */
            timestamp?: string | null;
        };
        /**
         * @description State of the work after a request.
         * @enum {string}
         */
        LearningsStartStatus: "processing" | "waiting" | "skipped";
        /**
         * @description State of a learnings job.
         * @enum {string}
         */
        LearningsState: "none" | "waiting" | "processing" | "completed" | "error";
        /**
         * @description Number of recorded uses.
         * @example {
         *       "status": "recorded",
         *       "count": 2
         *     }
         */
        LearningUsesRecorded: {
            count: number;
            /** @description Always `recorded`. */
            status: string;
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
        /** @description A pull request. */
        ListedPullRequest: {
            /** @description Login of the author; `unknown` for a deleted account. */
            author: string;
            /** @description Time of creation, ISO 8601. */
            createdAt: string;
            headRefName: string;
            /** Format: int64 */
            number: number;
            /** @description State: `OPEN` or `MERGED`. */
            state: string;
            title: string;
            url: string;
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
        /** @description Last lines of a log, in the log's format. */
        LogTail: {
            /** @description Always true: the log exists. */
            exists: boolean;
            /**
             * @description Always `jsonl` for this variant.
             * @example jsonl
             */
            format: string;
            /** @description Last records, one JSON object each, oldest first. */
            lines: string[];
            /** @description Number of lines in this response. */
            returnedLines: number;
            /** @description Number of lines in the log. */
            totalLines: number;
        } | {
            /** @description Last lines of the log. */
            content: string;
            /** @description Always true: the log exists. */
            exists: boolean;
            /**
             * @description Always `text` for this variant.
             * @example text
             */
            format: string;
            /** @description Number of lines in this response. */
            returnedLines: number;
            /** @description Number of lines in the log. */
            totalLines: number;
        } | {
            /** @description Always the empty string. */
            content: string;
            /** @description Always false: there is no log. */
            exists: boolean;
            /**
             * @description Always `text` for this variant.
             * @example text
             */
            format: string;
            /** @description Always 0 for this variant. */
            lines: number;
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
        /** @description Result of cancelling a loop. */
        LoopEnded: {
            message: string;
            success: boolean;
        };
        /** @description Current or most recent loop of a ticket or directory. */
        LoopFacts: {
            /** @description Name of the loop command, for example `PLAN`. */
            command: string;
            /** @description UUID of the loop. */
            loopId: string;
            /** @description Position in the queue of waiting loops, from 1; absent when not queued. */
            queuePlace?: number | null;
            spend?: components["schemas"]["Spend"] | null;
            /**
             * @description Activity of a running loop: `working`, `waiting-for-model`, `waiting-for-limit` or `stuck`, with its
             *     start time and the program or the time that the loop waits for.
             */
            stall?: Record<string, never> | null;
            /** @description Current status of the desktop's job. */
            status: components["schemas"]["JobStatus"];
        };
        /**
         * @description Launch request for a loop, for serialization only.
         *
         *     The desktop parses the body member by member, because its error responses name the member of the wrong
         *     type.
         */
        LoopLaunchBody: components["schemas"]["LaunchContent"] & {
            /** @description Origin of the control plane; desktops use their configured origin instead. */
            apiBaseUrl: string;
            /** @description Runner token for requests to the control plane. */
            loopgateAuthToken: string;
            /** @description UUID of the loop, assigned by the control plane. */
            loopId: string;
            /** @description Key prefix for support files in the object store; absent without one. */
            s3StateKey?: string | null;
        };
        /** @description Acceptance of a message. */
        LoopMessageAccepted: {
            success: boolean;
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
        /** @description A loop that is running, queued, or held for approval. */
        LoopStarted: {
            loopId: string;
            /**
             * Format: int32
             * @description Pid of the loop's process; null while the loop is queued or being prepared.
             */
            pid: number | null;
            /** @description Position in the queue, starting at 1; absent unless the loop is queued. */
            queuePlace?: number | null;
            success: boolean;
            /** @description Path of the loop's worktree; null while `pid` is null, and for a loop without a worktree. */
            worktreePath: string | null;
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
        /** @description The chat message that was posted as a reply on the code host. */
        MarkResponded: {
            /** @description Id of the message; the last assistant message when it is missing. */
            messageId?: string | null;
            /** @description Whether it was posted; true when it is missing. */
            responded?: boolean | null;
        };
        /**
         * @description Authentication method and detected registrations of the MCP server.
         * @example {
         *       "apiKey": "",
         *       "authType": "oauth",
         *       "serverUrl": "https://mcp.example.com/mcp",
         *       "providers": {
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
        McpAuth: {
            /** @description Always empty. Older clients fall back to their browser sign-in when it is. */
            apiKey: string;
            authType: string;
            providers: components["schemas"]["McpServers"];
            /** @description The `expectedMcpUrl` parameter; null when it is missing or not a URL. */
            serverUrl: string | null;
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
        /** @description A file that the ticket mentions. */
        MentionedFile: {
            /** @description Path relative to that repository. */
            filePath: string;
            repoPath: string;
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
         * @description Origin of a commit message.
         * @enum {string}
         */
        MessageSource: "assistant" | "default";
        /** @description Token counts of one model. */
        ModelTokens: {
            /**
             * Format: int64
             * @description Number of tokens written to the prompt cache.
             */
            cacheCreation?: number;
            /**
             * Format: int64
             * @description Number of tokens read from the prompt cache.
             */
            cacheRead?: number;
            /**
             * Format: int64
             * @description Number of input tokens, without those of the cache.
             */
            input: number;
            /**
             * Format: int64
             * @description Number of output tokens.
             */
            output: number;
        };
        /** @description A message to add. */
        NewMessage: {
            /** @description Text of the message; must not be empty. */
            content: string;
            id: string;
            role: components["schemas"]["ChatRole"];
            sender?: components["schemas"]["ProviderId"] | null;
            timestamp: string;
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
        /** @description A session to record. Optional members that are absent keep their stored values. */
        NoteSession: {
            artifactId?: string | null;
            baseBranch?: string | null;
            contextRepoPaths?: string[] | null;
            loopId?: string | null;
            parentTicketId?: string | null;
            /**
             * Format: int64
             * @description Pid of the process that works on the ticket. Displayed only, never signalled.
             */
            pid?: number | null;
            repoPath: string;
            ticketId: string;
            worktreePath: string;
        };
        /** @description Response for a ticket without a worktree. Closed: the other variants have all its members and more. */
        NotFound: {
            /** @description Always false: the worktree does not exist. */
            exists: boolean;
            /** @description Explanation for the user. */
            message: string;
            /** @description Always null without a worktree. */
            phase: string | null;
            /** @description Always null without a worktree. */
            status: string | null;
        };
        /**
         * @description The branch's pull request, whether new or existing.
         * @example {
         *       "success": true,
         *       "url": "https://github.com/acme/shop/pull/42",
         *       "number": 42,
         *       "message": "Created PR #42"
         *     }
         */
        OpenedAnswer: {
            message: string;
            /**
             * Format: int64
             * @description Number of the pull request; absent when the code host did not report it.
             */
            number?: number | null;
            success: boolean;
            /** @description URL of the pull request; absent when the code host did not report it. */
            url?: string | null;
        };
        /**
         * @description The pull request to open.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "title": "Add a dark theme",
         *       "body": "Follows the system's setting.",
         *       "ticketUrl": "https://tickets.example.com/AB-1"
         *     }
         */
        OpenPullRequest: {
            /** @description Description in Markdown. */
            body?: string | null;
            /** @description Path of the clone, whose current branch is pushed first. */
            repoPath: string;
            /** @description URL of the ticket, appended to the description. */
            ticketUrl?: string | null;
            title: string;
        };
        /**
         * @description Identifier of an operation of the gateway.
         * @enum {string}
         */
        OperationId: "orchestrator_launch" | "orchestrator_loop" | "orchestrator_loop_kill" | "orchestrator_loop_message" | "orchestrator_plan_loop" | "orchestrator_status" | "orchestrator_kill" | "orchestrator_chat" | "orchestrator_comment_chat" | "orchestrator_commit_message" | "orchestrator_sessions" | "orchestrator_plan" | "orchestrator_judges" | "orchestrator_logs" | "orchestrator_chat_history" | "terminal_chat" | "ticket_chat" | "run_viewer_chat" | "reviewer_review" | "reviewer_argue" | "git_action" | "git_pr" | "git_branch_worktree" | "health_check" | "repos_config" | "deploy" | "learnings" | "filesystem" | "binary_paths_settings";
        /** @description Pagination of the list. */
        PageInfo: {
            /** @description Always null: further pages cannot be requested. */
            endCursor: string | null;
            hasNextPage: boolean;
        };
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
         * @description Number of learnings that are not processed yet.
         * @example {
         *       "totalCount": 7,
         *       "worktreeCount": 3
         *     }
         */
        PendingLearnings: {
            totalCount: number;
            /** @description Number of worktrees with pending learnings. */
            worktreeCount: number;
        };
        /**
         * @description The comment that was posted.
         * @example {
         *       "success": true,
         *       "output": "https://github.com/acme/shop/pull/42#discussion_r1001",
         *       "placement": "line"
         *     }
         */
        PlacedAnswer: {
            /** @description Output of the code-host program. */
            output: string;
            /** @description Where the comment was posted: `line`, `file` or `conversation`. */
            placement: string;
            success: boolean;
        };
        /** @description Plan of a ticket, for display. */
        PlanAnswer: {
            /** @description Text of the plan, as Markdown. */
            content: string;
            /** @description Always true: the worktree exists. */
            exists: boolean;
            /** @description Always true: the plan exists. */
            planExists: boolean;
            /** @description Content of `plan.json`, unchanged. */
            raw: Record<string, never>;
            /** @description Absolute path of the worktree. */
            worktreeDir: string;
        };
        /** @description Result of a cancellation. */
        PlanCancelled: {
            cancelled: boolean;
            /** @description `process-unknown` or `process-still-running`; absent when the process ended. */
            warning?: string | null;
        };
        /** @description Acknowledgement of a confirmation. */
        PlanConfirmed: {
            ok: boolean;
            worktreeDir: string;
        };
        /** @description The repository that is planned for. */
        PlannedRepo: {
            /** @example main */
            branch: string;
            /**
             * @description `<org>/<repo>` of the remote; empty when unknown.
             * @example acme/shop
             */
            fullName: string;
        };
        /** @description Local facts that the page needs to request the loop. */
        PlanPrepared: {
            repo: components["schemas"]["PlannedRepo"];
            repoPath: string;
            /** @description Path of the ticket's worktree, which may not exist yet. */
            worktreeDir: string;
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
        /** @description The ticket or document to plan. */
        PreparePlan: {
            /** @description Branch to start from; the checked-out branch when it is missing. */
            baseBranch?: string | null;
            repoPath: string;
        };
        /**
         * @description The ticket whose pending learnings are processed.
         * @example {
         *       "ticketId": "AB-1",
         *       "repoPath": "~/src/shop",
         *       "waitForExtraction": true
         *     }
         */
        ProcessLearnings: components["schemas"]["TicketMembers"] & {
            /** @description Whether to start only after the running extraction finishes. Any truthy JSON value is accepted. */
            waitForExtraction?: boolean;
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
         * @description `pull`: the branch that was updated. Unknown members are denied, because this shape is a subset of the
         *     other results.
         */
        Pulled: {
            message: string;
            success: boolean;
        };
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
        /** @description A changed file. */
        PullRequestFile: {
            /** Format: int64 */
            additions: number;
            /** Format: int64 */
            deletions: number;
            filename: string;
            /** @description Previous path of a renamed file. */
            previous_filename?: string | null;
            /** @description `added`, `modified`, `removed`, `renamed`, `copied`, `changed` or `unchanged`. */
            status?: string | null;
        };
        /**
         * @description Files changed by a pull request.
         * @example {
         *       "files": [
         *         {
         *           "filename": "styles.css",
         *           "additions": 14,
         *           "deletions": 2,
         *           "status": "modified"
         *         },
         *         {
         *           "filename": "theme.js",
         *           "additions": 31,
         *           "deletions": 0,
         *           "status": "renamed",
         *           "previous_filename": "colours.js"
         *         }
         *       ]
         *     }
         */
        PullRequestFiles: {
            /** @description Files in the code host's order. */
            files: components["schemas"]["PullRequestFile"][];
        };
        /**
         * @description Pull requests, newest first.
         * @example {
         *       "prs": [
         *         {
         *           "number": 42,
         *           "title": "Add a dark theme",
         *           "url": "https://github.com/acme/shop/pull/42",
         *           "author": "octo-dev",
         *           "state": "OPEN",
         *           "createdAt": "2030-01-02T08:00:00Z",
         *           "headRefName": "dark-theme"
         *         }
         *       ],
         *       "hasMore": false,
         *       "truncated": false,
         *       "pageInfo": {
         *         "hasNextPage": false,
         *         "endCursor": null
         *       }
         *     }
         */
        PullRequestList: {
            /** @description Whether the code host has more pull requests. */
            hasMore: boolean;
            pageInfo: components["schemas"]["PageInfo"];
            /** @description The newest pull requests, at most 50. */
            prs: components["schemas"]["ListedPullRequest"][];
            /** @description Same as `hasMore`; for clients that read only this member. */
            truncated: boolean;
        };
        /** @description A review of a pull request. */
        PullRequestReview: {
            author: string;
            /** @description State: `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `PENDING` or `DISMISSED`. */
            state: string;
            /** @description Time of submission, ISO 8601; null for a pending review. */
            submittedAt: string | null;
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
         * @description Reviews of a pull request, with totals.
         * @example {
         *       "reviewDecision": "APPROVED",
         *       "reviews": [
         *         {
         *           "author": "octo-dev",
         *           "state": "APPROVED",
         *           "submittedAt": "2030-01-02T08:45:00Z"
         *         }
         *       ],
         *       "approvalCount": 1,
         *       "changesRequestedCount": 0
         *     }
         */
        PullRequestReviews: {
            /** @description Number of authors whose latest verdict is an approval. A later comment does not revoke it. */
            approvalCount: number;
            /** @description Number of authors whose latest verdict requests changes. */
            changesRequestedCount: number;
            /** @description Review decision of the code host: `APPROVED`, `CHANGES_REQUESTED`, `REVIEW_REQUIRED` or null. */
            reviewDecision: string | null;
            /** @description Latest review of each author. */
            reviews: components["schemas"]["PullRequestReview"][];
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
        /** @description `push`: the branch that was pushed to `origin`. */
        Pushed: {
            message: string;
            pushed: boolean;
            success: boolean;
        };
        /**
         * @description Learnings that helped with a ticket.
         * @example {
         *       "ticketId": "AB-1",
         *       "repoPath": "~/src/shop",
         *       "learnings": [
         *         {
         *           "summary": "Check the lock, then write"
         *         }
         *       ]
         *     }
         */
        RecordLearningUse: components["schemas"]["TicketMembers"] & {
            learnings?: components["schemas"]["UsedLearning"][];
        };
        /**
         * @description Result of a repeated detection.
         * @example {
         *       "redetected": false
         *     }
         */
        Redetected: {
            config?: components["schemas"]["Deployment"] | null;
            /** @description Whether settings were detected and stored. */
            redetected: boolean;
        };
        /** @description Result of a removal. */
        RemovedFromHistory: {
            /** @example Chat history cleared */
            message: string;
            success: boolean;
        } | {
            history: components["schemas"]["ChatHistory"];
            success: boolean;
        };
        /**
         * @description The worktree to remove.
         * @example {
         *       "worktreePath": "~/src/worktrees/shop-AB-2",
         *       "force": false
         *     }
         */
        RemoveRequest: {
            /** @description Remove the worktree even if it has uncommitted changes, and delete the directory if git cannot. */
            force?: boolean | null;
            /** @description Directory of the worktree, inside the sandbox. */
            worktreePath: string;
        };
        /**
         * @description A run to remove.
         * @example {
         *       "runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"
         *     }
         */
        RemoveRun: {
            /** @description `runDir` from the response of the upload. */
            runDir: string;
        };
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
        /** @description Critic gates of one repository. */
        RepoConfig: {
            /** @description Critic gates, written to the worktree's settings unchanged. */
            criticGates: Record<string, never>;
            /** @description Full name of the repository, `<org>/<repo>`. */
            repoFullName: string;
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
        /** @description A repository and the branch from which a loop starts. */
        RepoRef: {
            /** @description Branch to start from; empty for the repository's default branch. */
            branch?: string;
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
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
        /** @description A comment of a review. */
        ReviewComment: components["schemas"]["CommentPlace"] & {
            /** @description Text of the comment. */
            body: string;
            /**
             * Format: int32
             * @description Number of the comment in its review, from 1, by which it is answered.
             */
            number: number;
        };
        /** @description All comments of a review. Content of `review-comments.json` in the work directory of the loop that answers them. */
        ReviewComments: {
            /** @description The comments in the order of their numbers. */
            comments: components["schemas"]["ReviewComment"][];
            /** @description What the person says about the change as a whole; absent without it. */
            summary?: string | null;
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
         * @description A message to the reviewer.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "prompt": "Is the second finding new?",
         *       "chatContextId": "review"
         *     }
         */
        ReviewerMessage: {
            /**
             * @description Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
             *     most 10 MiB.
             */
            attachments?: string[] | null;
            /** @description `review` resumes the session of the review; other values select a separate session. */
            chatContextId?: string | null;
            /** @description Model of the provider; its default when it is missing. */
            model?: string | null;
            /** @description Complete prompt, including any context. */
            prompt: string;
            /** @description Path of the repository. */
            repoPath: string;
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
        /** @description One process of the assistant. */
        Run: components["schemas"]["ModelTokens"] & {
            /**
             * Format: double
             * @description Cost in US dollars; absent when the assistant did not report it.
             */
            costUsd?: number | null;
            /**
             * Format: int64
             * @description Number of the run within the loop, from 1.
             */
            run: number;
            /**
             * Format: int64
             * @description Number of turns in the run.
             */
            turns: number;
        };
        /**
         * @description A run to extract.
         * @example {
         *       "file": "(the bytes of run.zip)"
         *     }
         */
        RunArchive: {
            /**
             * Format: binary
             * @description Zip archive of at most 200 MiB. The field may have any name.
             */
            file: string;
        };
        /**
         * @description Files of an extracted run.
         * @example {
         *       "files": [
         *         "plan.json",
         *         "logs/loop.log"
         *       ]
         *     }
         */
        RunFiles: {
            /** @description Relative paths in sorted order. */
            files: string[];
        };
        /**
         * @description Acknowledgement of a removal.
         * @example {
         *       "success": true
         *     }
         */
        RunRemoved: {
            success: boolean;
        };
        /**
         * @description Progress of the start of a provider's program.
         * @enum {string}
         */
        RunStatus: "spawning" | "running";
        /**
         * @description A question about the files of a run.
         * @example {
         *       "message": "Why did it stop?",
         *       "runDir": "~/src/run-7",
         *       "fileContext": {
         *         "path": "plan.md",
         *         "contentPreview": "# The plan"
         *       }
         *     }
         */
        RunViewerMessage: {
            /**
             * @description Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
             *     most 10 MiB.
             */
            attachments?: string[] | null;
            /** @description URL of the MCP server whose tools the provider may use. */
            expectedMcpUrl?: string | null;
            fileContext?: components["schemas"]["FileContext"] | null;
            /** @description Text of the message; must not be blank. */
            message: string;
            /**
             * @description Provider that answers: `assistant` when it is missing or unknown. May differ between messages of a
             *     chat.
             */
            provider?: string | null;
            /** @description Directory of the run. Without it the provider gets no file tools. */
            runDir?: string | null;
        };
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
        /** @description A message to a running loop. */
        SendLoopMessage: {
            /** @description Id of the loop. */
            loopId: string;
            /** @description The message as plain text, 1 to 10,000 bytes. */
            text: string;
        };
        /** @description A recorded session. */
        SessionEntry: components["schemas"]["NoteSession"] & {
            /** @description Time of the last update, ISO 8601. */
            lastAccessedAt: string;
            /** @description Time at which the session was first recorded, ISO 8601. */
            startedAt: string;
        };
        /** @description Sessions whose worktree exists. */
        SessionList: {
            sessions: components["schemas"]["SessionEntry"][];
        };
        /**
         * @description Program paths to set. `null` clears a path; an absent member is unchanged.
         * @example {
         *       "git": "/usr/bin/git",
         *       "reviewer": null
         *     }
         */
        SetBinaryPaths: {
            assistant?: string | null;
            codeHost?: string | null;
            git?: string | null;
            python3?: string | null;
            reviewer?: string | null;
        };
        /** @description Chat history of a ticket, and whether the reviewer has a session for it. */
        ShownHistory: components["schemas"]["ChatHistory"] & {
            /** @description Whether the reviewer has a session from a review of this ticket. */
            reviewerSessionExists: boolean;
        };
        /**
         * @description How a work directory was determined.
         * @enum {string}
         */
        Source: "session" | "worktree";
        /** @description Tokens and cost of a loop so far. */
        Spend: {
            /** @default null */
            cost: components["schemas"]["Cost"] | null;
            /**
             * @description The latest runs, at most 20, oldest first.
             * @default []
             */
            recentRuns: components["schemas"]["Run"][];
            /**
             * @description The latest turns, at most 20, oldest first.
             * @default []
             */
            recentTurns: components["schemas"]["Turn"][];
            /**
             * Format: int64
             * @description Number of finished runs of the assistant.
             * @default 0
             */
            runs: number;
            /**
             * @description Total tokens of all models.
             * @default {
             *       "inputTokens": 0,
             *       "outputTokens": 0,
             *       "cacheCreationInputTokens": 0,
             *       "cacheReadInputTokens": 0
             *     }
             */
            tokens: components["schemas"]["TokenUsage"];
            /**
             * @description Total tokens by model name.
             * @default {}
             */
            tokensByModel: {
                [key: string]: components["schemas"]["ModelTokens"];
            };
            /**
             * Format: int64
             * @description Number of model responses.
             * @default 0
             */
            turns: number;
        };
        /**
         * @description What the owner's policy decides about a loop.
         * @enum {string}
         */
        StartApproval: "none" | "required" | "denied";
        /** @description Response for a worktree without a `state.json`. */
        Starting: {
            /** @description Always true: the worktree exists. */
            exists: boolean;
            loop?: components["schemas"]["LoopFacts"] | null;
            /** @description Explanation for the user. */
            message: string;
            /** @description Always `Initializing` in this response. */
            phase: string;
            /** @description Always false: there is no `state.json`. */
            stateExists: boolean;
            /** @description Always `STARTING` in this response. */
            status: string;
        };
        /** @description `status`: the current branch and the changed files. */
        StatusAnswer: {
            /** @description Current branch; `HEAD` when it is detached. */
            currentBranch: string;
            files: components["schemas"]["StatusFiles"];
            hasChanges: boolean;
        };
        /**
         * @description Changed paths relative to the root of the working tree, in git's order. A path can be in several lists.
         *     Untracked directories end with a slash. Bytes that are not UTF-8 are replaced with `U+FFFD`.
         */
        StatusFiles: {
            /** @description Added or untracked files. */
            created: string[];
            deleted: string[];
            /** @description Modified, renamed (new name) or conflicted files. */
            modified: string[];
            /** @description Files with changes in the index. */
            staged: string[];
        };
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
        /** @description `branch`: the branch that is now checked out. */
        Switched: {
            /** @description Name of the branch after characters were replaced. */
            branchName: string;
            message: string;
            success: boolean;
        };
        /** @description `sync-status`: commits ahead of and behind `main` or `master` of `origin`. */
        SyncAnswer: {
            /** Format: int64 */
            aheadBy: number;
            /** Format: int64 */
            behindBy: number;
            /** @description Current branch; `HEAD` when it is detached. */
            currentBranch: string;
            isUpToDate: boolean;
            /** @description `origin/main` or `origin/master`; null when neither exists. */
            trackingBranch: string | null;
        };
        /** @description Number of completed and pending tasks of a plan. */
        TaskProgress: {
            /** @description Number of completed tasks. */
            completed: number;
            /** @description Number of pending tasks. */
            pending: number;
            /** @description Number of all tasks. */
            total: number;
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
        /**
         * @description A message of the terminal chat.
         * @example {
         *       "message": "@reviewer Which port does the shop listen on?"
         *     }
         */
        TerminalMessage: {
            /**
             * @description Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
             *     most 10 MiB.
             */
            attachments?: string[] | null;
            /** @description URL of the MCP server whose tools the provider may use. */
            expectedMcpUrl?: string | null;
            /**
             * @description Text of the message; must not be blank. A message that starts with `@reviewer ` goes to the reviewer,
             *     all others to the assistant.
             */
            message: string;
        };
        /** @description A ticket as its tracker shows it. */
        TicketContext: {
            description?: string | null;
            /** @description Identifier in the tracker. Like `title` and `url`, it must not be empty. */
            identifier: string;
            title: string;
            url: string;
        };
        /**
         * @description Body members that identify the worktree of a ticket.
         * @example {
         *       "ticketId": "AB-1",
         *       "repoPath": "~/src/shop"
         *     }
         */
        TicketMembers: {
            /** @description Path of the ticket's clone, inside the sandbox. */
            repoPath: string;
            /** @description Id of the ticket. */
            ticketId: string;
        };
        /**
         * @description A question about a ticket.
         * @example {
         *       "ticketId": "SHOP-7",
         *       "message": "Why two caches?",
         *       "repoPath": "~/src/shop",
         *       "ticketContext": {
         *         "identifier": "SHOP-7",
         *         "title": "Two caches",
         *         "url": "https://tickets.example.com/SHOP-7"
         *       }
         *     }
         */
        TicketMessage: {
            /**
             * @description Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
             *     most 10 MiB.
             */
            attachments?: string[] | null;
            /** @description URL of the MCP server whose tools the provider may use. */
            expectedMcpUrl?: string | null;
            /** @description Text of the message; must not be blank. */
            message: string;
            /**
             * @description Provider that answers: `assistant` when it is missing or unknown. May differ between messages of a
             *     chat.
             */
            provider?: string | null;
            /** @description Path of the ticket's repository. Without it the provider gets no file tools. */
            repoPath?: string | null;
            /** @description Content of the ticket, included in the prompt of a new session. */
            ticketContext: components["schemas"]["TicketContext"];
            /** @description Id of the ticket; selects the history. */
            ticketId: string;
        };
        /** @description Status of the work on a ticket. */
        TicketStatus: components["schemas"]["FullStatus"] | components["schemas"]["Starting"] | components["schemas"]["NotFound"];
        /** @description Token counts in the form of `output` and `error` events. */
        TokenUsage: {
            /**
             * Format: int64
             * @description Number of tokens written to the prompt cache.
             */
            cacheCreationInputTokens?: number;
            /**
             * Format: int64
             * @description Number of tokens read from the prompt cache.
             */
            cacheReadInputTokens?: number;
            /**
             * Format: int64
             * @description Number of input tokens, without those of the cache.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Number of output tokens.
             */
            outputTokens: number;
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
        /** @description One response of a model. */
        Turn: components["schemas"]["ModelTokens"] & {
            /** @description Name of the responding model. */
            model: string;
            /**
             * Format: int64
             * @description Number of the turn within the loop, from 1.
             */
            turn: number;
        };
        /** @description Number of tickets with an unread response. */
        UnreadCount: {
            count: number;
        };
        /**
         * @description Repository settings to change; absent members are unchanged.
         * @example {
         *       "worktreeParentDir": "~/src/worktrees",
         *       "worktreeParentDirConfirmed": true
         *     }
         */
        UpdateRepos: {
            /** @description Parent directory for new worktrees, inside the sandbox. */
            worktreeParentDir?: string | null;
            /** @description Whether the user confirmed the parent directory. */
            worktreeParentDirConfirmed?: boolean | null;
        };
        /**
         * @description The saved images, in the order of the form.
         * @example {
         *       "files": [
         *         {
         *           "originalName": "screen.png",
         *           "savedName": "image-1893574800000-0a1b2c.png",
         *           "path": "/home/sam/src/worktrees/shop-AB-1/.loopgate/attachments/image-1893574800000-0a1b2c.png",
         *           "apiUrl": "/api/gateway/orchestrator/attachments/AB-1/image-1893574800000-0a1b2c.png?repo=~%2Fsrc%2Fshop",
         *           "size": 67
         *         }
         *       ]
         *     }
         */
        Uploaded: {
            files: components["schemas"]["UploadedFile"][];
        };
        /** @description A saved image. */
        UploadedFile: {
            /** @description Path and query of the GET request that downloads the image. */
            apiUrl: string;
            /** @description File name in the form. */
            originalName: string;
            /** @description Absolute path on disk. */
            path: string;
            /** @description File name on disk. */
            savedName: string;
            /**
             * Format: int64
             * @description Size in bytes.
             */
            size: number;
        };
        /** @description A learning that helped. */
        UsedLearning: {
            /** @description Summary of the learning; identifies its pattern. */
            summary: string;
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
        /**
         * @description Version of the desktop.
         * @example {
         *       "version": "0.13.18",
         *       "commits": []
         *     }
         */
        Version: {
            /** @description Commits since the last release; always empty in a release build. */
            commits: Record<string, never>[];
            version: string;
        };
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
        /**
         * @description The work directory of a ticket, if it exists.
         * @example {
         *       "exists": true,
         *       "path": "/home/sam/src/worktrees/shop-AB-1",
         *       "source": "worktree",
         *       "pendingClaudeMd": null,
         *       "branchStatus": {
         *         "merged": false,
         *         "remoteMissing": false
         *       }
         *     }
         */
        WorkDirectory: {
            branchStatus: components["schemas"]["BranchStatus"] | null;
            exists: boolean;
            /** @description Absolute path; null when the ticket has no work directory. */
            path: string | null;
            /** @description Path of the project's `CLAUDE.md` if it has uncommitted changes; null otherwise. */
            pendingClaudeMd: string | null;
            source?: components["schemas"]["Source"] | null;
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
    existing_deploy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeployedWorktree"];
            };
        };
        responses: {
            /** @description Whether the port of the worktree's server accepts connections */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExistingDeploy"];
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
                     *       "error": "repoPath and worktreePath are required",
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
    extract_deploy_info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExtractBody"];
            };
        };
        responses: {
            /** @description The URL at which the deployment with this output responds; else the last loopback URL in the output, or the URL of the stored port */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployInfo"];
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
    deploy_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeployHealthBody"];
            };
        };
        responses: {
            /** @description Result of the check; also when the server does not respond */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployHealth"];
                };
            };
            /** @description URL missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "url is required",
                     *       "code": "missing_field"
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
    kill_deploy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeployKillBody"];
            };
        };
        responses: {
            /** @description The process is terminated, by this request or earlier */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployKilled"];
                };
            };
            /** @description Pid missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "pid is required and must be a number",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The process was not started by a deployment */
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
            /** @description Processes are still running */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to kill process: process 4243 is still running",
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
    redetect_deployment: {
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
                    "application/json": components["schemas"]["Redetected"];
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
    list_directories: {
        parameters: {
            query?: {
                /**
                 * @description Directory to list; `~` when it is missing
                 * @example ~/src
                 */
                path?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subdirectories, at most 2000 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Directories"];
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
                     *       "error": "Failed to list directories: permission denied",
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
    git_action: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GitRequest"];
            };
        };
        responses: {
            /** @description Result of the action; its shape depends on the action */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
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
                     *       "error": "Invalid action",
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
                     *       "code": "REPO_NOT_ALLOWED",
                     *       "details": {
                     *         "category": "repo_not_allowed"
                     *       }
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
                     *       "code": "REPO_NOT_FOUND",
                     *       "details": {
                     *         "category": "repo_not_found"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description git or one of its hooks failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Nothing to commit",
                     *       "code": "PROCESS_FAILED",
                     *       "details": {
                     *         "action": "commit",
                     *         "category": "git_command_failed",
                     *         "exitCode": 1,
                     *         "stderrExcerpt": ""
                     *       }
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
    git_branch_worktree: {
        parameters: {
            query: {
                /**
                 * @description Full name of the branch
                 * @example main
                 */
                headBranch: string;
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
            /** @description The worktree and the clone, or null */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BranchWorktree"];
                };
            };
            /** @description Repository name or branch missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repoFullName and headBranch are required",
                     *       "code": "missing_field"
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
                     *       "error": "Failed to resolve branch worktree: git worktree failed",
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
    open_pull_request: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenPullRequest"];
            };
        };
        responses: {
            /** @description The pull request exists */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedAnswer"];
                };
            };
            /** @description A member is missing, or HEAD is detached */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "title is required",
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
            /** @description git or the code host failed */
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
    pull_request_files: {
        parameters: {
            query: {
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
            /** @description All changed files */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestFiles"];
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
                     *       "error": "Invalid owner, repo, or number",
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
                     *       "error": "Failed to get PR files",
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
    pull_request_head: {
        parameters: {
            query: {
                /**
                 * @description Number of the pull request
                 * @example 1
                 */
                pr: string;
                /**
                 * @description Path of the clone
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
            /** @description Hash of the head commit */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeadSha"];
                };
            };
            /** @description Repository path or pull-request number missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "repo and pr are required",
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
                     *       "error": "Failed to get PR head SHA",
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
    comment_on_line: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommentOnLine"];
            };
        };
        responses: {
            /** @description The comment was posted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlacedAnswer"];
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
    list_pull_requests: {
        parameters: {
            query: {
                /**
                 * @description Path of the clone
                 * @example ~/src/shop
                 */
                repo: string;
                /**
                 * @description `open` (default) or `merged`
                 * @example open
                 */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The newest pull requests */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestList"];
                };
            };
            /** @description Repository path missing, or invalid state */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "state must be 'open' or 'merged'",
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
                     *       "error": "Repository not found or no access.",
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
    pull_request_reviews: {
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
            /** @description The reviews */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestReviews"];
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
            /** @description The pull request does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "PR #42 not found",
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
                     *       "error": "API rate limit exceeded",
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
    git_user: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Login of the account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GitUser"];
                };
            };
            /** @description Not signed in, or the code-host program failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Could not determine GitHub user",
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
    clean_up_worktrees: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Worktrees that were removed and kept */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CleanedUp"];
                };
            };
            /** @description No worktree parent is configured, or it cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Worktree cleanup failed: Worktree parent directory not configured",
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
    remove_worktree: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoveRequest"];
            };
        };
        responses: {
            /** @description The worktree was removed, or did not exist */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gone"];
                };
            };
            /** @description Path missing, or not a worktree */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "worktreePath is required and must be a string",
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
            /** @description The worktree has uncommitted changes */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Worktree has uncommitted changes",
                     *       "code": "conflict",
                     *       "hasChanges": true,
                     *       "message": "Use force=true to remove anyway"
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
                     *       "error": "Failed to remove worktree: git worktree failed",
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
    mcp_auth: {
        parameters: {
            query?: {
                /**
                 * @description URL of the MCP server
                 * @example https://mcp.example.com/mcp
                 */
                expectedMcpUrl?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Authentication method and registrations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpAuth"];
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
    openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The OpenAPI document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.0",
                     *       "info": {
                     *         "title": "Loopgate gateway",
                     *         "version": "0.13.18"
                     *       },
                     *       "paths": {}
                     *     }
                     */
                    "application/json": Record<string, never>;
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
    read_attachment: {
        parameters: {
            query: {
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
            };
            header?: {
                /**
                 * @description A single byte range
                 * @example bytes=0-7
                 */
                range?: string | null;
            };
            path: {
                /**
                 * @description Ticket id, a slash, and the path of the file
                 * @example AB-1/screen.png
                 */
                attachmentPath: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, with the media type of its extension */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example (the bytes of screen.png) */
                    "*/*": number[];
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example (the first eight bytes) */
                    "*/*": number[];
                };
            };
            /** @description Repository path or file path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "attachment path is required",
                     *       "code": "missing_field"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox or the ticket's attachments */
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
            /** @description The file does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "File not found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The requested range is outside the file */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Range not satisfiable",
                     *       "code": "invalid_request",
                     *       "size": 67
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
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
                     *       "error": "permission denied",
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
    chat_history: {
        parameters: {
            query: {
                /** @description Provider of the chat; absent for the shared one */
                provider?: components["schemas"]["ProviderId"];
                /** @description Path of the repository's clone */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
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
                    "application/json": components["schemas"]["ShownHistory"];
                };
            };
            /** @description Repository path missing, or unknown provider */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The history cannot be read */
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
    add_to_chat_history: {
        parameters: {
            query: {
                /** @description Provider of the chat; absent for the shared one */
                provider?: components["schemas"]["ProviderId"];
                /** @description Path of the repository's clone */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddToHistory"];
            };
        };
        responses: {
            /** @description The message or session id was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedToHistory"];
                };
            };
            /** @description Invalid body, repository path missing, or unknown provider */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The history cannot be written */
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
    remove_from_chat_history: {
        parameters: {
            query: {
                /** @description Zero-based index of the message to remove; all messages when it is missing */
                index?: number;
                /** @description Provider of the chat; absent for the shared one */
                provider?: components["schemas"]["ProviderId"];
                /** @description Path of the repository's clone */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed, or no history was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovedFromHistory"];
                };
            };
            /** @description Repository path missing, unknown provider, or invalid index */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No message at this index */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The history cannot be changed */
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
    chat: {
        parameters: {
            query?: {
                /** @description Path of the repository */
                repo?: string;
            };
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatMessageBody"];
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
            /** @description Message or repository path missing, or unknown provider */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The message cannot be stored */
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
    comment_chat_history: {
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
                /** @description Id of the review comment */
                commentId: string;
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
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
    comment_chat: {
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
                /** @description Id of the review comment */
                commentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommentMessageBody"];
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Neither the worktree nor the repository exists */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The message cannot be stored */
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
    forget_comment_chat: {
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
                /** @description Id of the review comment */
                commentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or nothing was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description Ticket or repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The history cannot be removed */
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
    mark_comment_responded: {
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
                /** @description Id of the review comment */
                commentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MarkResponded"];
            };
        };
        responses: {
            /** @description Recorded; an unknown message id is a no-op */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description Ticket or repository path missing, or the body is not JSON */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The history cannot be written */
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
    commit_message: {
        parameters: {
            query: {
                /** @description Path of the repository's clone */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The generated message, or a default one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommitMessage"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
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
    extract_learnings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExtractLearnings"];
            };
        };
        responses: {
            /** @description Extraction was started, or learnings are disabled */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsExtractionStart"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The ticket has no worktree, or no chat */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The status cannot be written */
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
    ticket_judges: {
        parameters: {
            query: {
                /** @description Path of the repository's clone */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Id of the ticket, or slug or id of a loop */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report, or that there is none yet */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Judgement"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The ticket has no worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The report cannot be read, or is not JSON */
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
    launch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LaunchBody"];
            };
        };
        responses: {
            /** @description The script is running, or no script is installed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LaunchAnswer"];
                };
            };
            /** @description Ticket or repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Another request is launching the ticket */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The ticket could not be launched */
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
    learnings_status: {
        parameters: {
            query: {
                /** @description Path of the repository's clone */
                repo: string;
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
            /** @description Status of the last extraction; also when there was none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsExtractionStatus"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
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
    ticket_logs: {
        parameters: {
            query: {
                /** @description Maximum number of lines, 1 to 10000; 100 when it is missing or invalid */
                lines?: number;
                /** @description Path of the repository's clone */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Id of the ticket, or slug or id of a loop */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last lines, possibly none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogTail"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The log cannot be read */
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
    start_loop: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoopLaunchBody"];
            };
        };
        responses: {
            /** @description The loop is running, being prepared, queued, or held for approval */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopStarted"];
                };
            };
            /** @description The body is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The repository does not exist locally and could not be cloned */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The loop is already running, or another loop uses its worktree */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No control-plane origin is configured, or the control plane is unreachable */
            503: {
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
    end_loop: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndLoop"];
            };
        };
        responses: {
            /** @description Cancellation was requested */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopEnded"];
                };
            };
            /** @description Loop id missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No process of this loop is running */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The loop is being recovered, or is about to be queued */
            409: {
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
    send_loop_message: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendLoopMessage"];
            };
        };
        responses: {
            /** @description The assistant receives the message after its current step */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopMessageAccepted"];
                };
            };
            /** @description The body is invalid, or the request is not a command of the control plane */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The loop is unknown */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The assistant of the loop does not run, or receives no messages */
            409: {
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
    pending_learnings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Number of pending learnings */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingLearnings"];
                };
            };
            /** @description The repositories cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
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
    cancel_plan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelPlan"];
            };
        };
        responses: {
            /** @description The plan was cancelled; `warning` is set if its process may still be running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanCancelled"];
                };
            };
            /** @description Repository path or loop id missing, or the loop id is not a UUID */
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
            /** @description The control plane failed, or the process cannot be terminated */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No control plane is configured */
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
            /** @description The control plane is unreachable; the local process was terminated */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No API key for the control plane */
            503: {
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
    confirm_plan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfirmPlan"];
            };
        };
        responses: {
            /** @description The plan was recorded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanConfirmed"];
                };
            };
            /** @description Repository path missing, or the loop id is not a UUID */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The plan cannot be recorded */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No control plane is configured */
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
    prepare_plan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreparePlan"];
            };
        };
        responses: {
            /** @description The repository and worktree */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanPrepared"];
                };
            };
            /** @description Repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No control plane is configured */
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
    confirm_plan_of_artifact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfirmPlan"];
            };
        };
        responses: {
            /** @description The plan was recorded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanConfirmed"];
                };
            };
            /** @description Repository path missing, or the loop id is not a UUID */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The plan cannot be recorded */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No control plane is configured */
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
    prepare_plan_of_artifact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreparePlan"];
            };
        };
        responses: {
            /** @description The repository and worktree */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanPrepared"];
                };
            };
            /** @description Repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No control plane is configured */
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
    ticket_plan: {
        parameters: {
            query: {
                /** @description Path of the repository's clone */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Id of the ticket, or slug or id of a loop */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plan */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanAnswer"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The ticket has no worktree, or no plan yet */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The plan is malformed */
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
    batch_status: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Status of the last batch; also when there was none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsBatchStatus"];
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
    process_all_learnings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Processing was started, is already running, or is not necessary */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsBatchStart"];
                };
            };
            /** @description The self-learning plugin is not installed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The status cannot be written */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
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
    processing_status: {
        parameters: {
            query: {
                /** @description Path of the repository's clone */
                repo: string;
                /**
                 * @description Id of the ticket
                 * @example AB-1
                 */
                ticketId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Status of the last processing; also when there was none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsProcessingStatus"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
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
    process_learnings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProcessLearnings"];
            };
        };
        responses: {
            /** @description Processing was started, waits for the extraction, or is not necessary */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsProcessingStart"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The ticket has no worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The script cannot be started */
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
    record_learning_use: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecordLearningUse"];
            };
        };
        responses: {
            /** @description The uses were recorded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningUsesRecorded"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The ticket has no worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The log cannot be written */
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
    list_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
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
    note_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NoteSession"];
            };
        };
        responses: {
            /** @description The session was recorded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description The body is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
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
    forget_session: {
        parameters: {
            query: {
                /** @description Id of the ticket */
                ticketId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session was deleted, or did not exist */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description Ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
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
    count_unread_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnreadCount"];
                };
            };
            /** @description No sandbox directory is configured */
            503: {
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
    directory_status: {
        parameters: {
            query: {
                /** @description Directory that contains `.loopgate/work` */
                workDir: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Status of the directory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DirectoryStatus"];
                };
            };
            /** @description Directory missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The state cannot be read */
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
    ticket_status: {
        parameters: {
            query: {
                /** @description Path of the repository's clone */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Id of the ticket, or slug or id of a loop */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Status of the ticket; also when it has no worktree */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TicketStatus"];
                };
            };
            /** @description Repository path or ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The state cannot be read */
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
    upload_images: {
        parameters: {
            query: {
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
                 * @example AB-1
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["Images"];
            };
        };
        responses: {
            /** @description All images were saved */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Uploaded"];
                };
            };
            /** @description Repository path missing, not a form, no image in it, or an invalid image */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "No image files provided",
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
            /** @description An image cannot be saved */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to save file",
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
    add_repo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddRepo"];
            };
        };
        responses: {
            /** @description The repository was added */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Added"];
                };
            };
            /** @description Path missing, not a directory, or already managed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Path does not exist",
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
            /** @description The list cannot be written */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to add repo: permission denied",
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
    remove_repo: {
        parameters: {
            query: {
                /**
                 * @description Directory of the repository
                 * @example ~/src/other
                 */
                path: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The repository was removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description Path missing, or not managed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Repository not found",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The list cannot be written */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to remove repo: permission denied",
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
    update_repos: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateRepos"];
            };
        };
        responses: {
            /** @description The settings were updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description Nothing to change */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "No settings to update",
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
            /** @description The list cannot be written */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to update settings: permission denied",
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
    reviewer_chat: {
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
                "application/json": components["schemas"]["ReviewerMessage"];
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
            /** @description Prompt or repository path missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "prompt and repoPath are required",
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
            /** @description The session cannot be stored */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to start the chat: no space left",
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
    forget_finding_chat: {
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
            /** @description Deleted, or nothing was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
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
            /** @description The history cannot be removed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to delete: permission denied",
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
    extract_findings: {
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
                "application/json": components["schemas"]["ExtractFindings"];
            };
        };
        responses: {
            /** @description The findings; empty when there is no log */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExtractedFindings"];
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
                     *       "error": "repoPath and sessionId are required",
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
            /** @description The provider failed, or its answer is invalid */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to extract findings: the provider failed: exit code 1",
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
    forget_review: {
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
            /** @description Deleted, or nothing was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
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
    discard_review: {
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
            /** @description The removed files */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiscardAnswer"];
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
            /** @description A file cannot be removed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to remove the review: read-only file system",
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
    run_viewer_chat_history: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
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
    run_viewer_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunViewerMessage"];
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
            /** @description Message missing */
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
    forget_run_viewer_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or nothing was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
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
    run_files: {
        parameters: {
            query: {
                /**
                 * @description `runDir` from the response of the upload
                 * @example /tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11
                 */
                runDir: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The files of the run, at most 20000 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunFiles"];
                };
            };
            /** @description Not the directory of a run */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Invalid runDir",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The run does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Run directory not found",
                     *       "code": "not_found"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The directory of the run cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to list run files: permission denied",
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
    extract_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["RunArchive"];
            };
        };
        responses: {
            /** @description The run was extracted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Extracted"];
                };
            };
            /** @description Not a form, no archive in it, or an invalid archive */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Invalid zip file",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The archive cannot be extracted */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to unpack the zip file",
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
    remove_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoveRun"];
            };
        };
        responses: {
            /** @description The run was removed, or did not exist */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunRemoved"];
                };
            };
            /** @description Not the directory of a run */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Invalid runDir",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The directory of the run cannot be removed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to remove run: permission denied",
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
    binary_paths: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The configured paths */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BinaryPaths"];
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
    set_binary_paths: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetBinaryPaths"];
            };
        };
        responses: {
            /** @description All paths after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BinaryPaths"];
                };
            };
            /** @description Not a JSON object, an unknown program, or an unusable path */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "unknown key: node",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The settings file cannot be written */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to update binary paths: permission denied",
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
    terminal_chat_history: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
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
    terminal_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TerminalMessage"];
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
            /** @description Message missing */
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
            /** @description The base directory of the sandbox does not exist, or the message cannot be stored */
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
    forget_terminal_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or nothing was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
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
    ticket_chat_history: {
        parameters: {
            query: {
                /**
                 * @description Id of the ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path?: never;
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
            /** @description Ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "ticketId parameter is required",
                     *       "code": "missing_field"
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
    ticket_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TicketMessage"];
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
            /** @description Ticket, message or ticket context missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "ticketId, message, and ticketContext are required",
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
    forget_ticket_chat: {
        parameters: {
            query: {
                /**
                 * @description Id of the ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or nothing was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description Ticket missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "ticketId parameter is required",
                     *       "code": "missing_field"
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
    version: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Version"];
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
    work_directory: {
        parameters: {
            query?: never;
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
            /** @description The work directory; also when there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkDirectory"];
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
