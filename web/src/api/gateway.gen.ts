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
         * List what waits for the owner's decision
         * @description Only the owner decides, on the command line of this machine; no route does. Not held for approval
         *     itself, not recorded as activity, and not served over the link.
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
         * Run a worktree
         * @description Answers at once. The install command and the start command run in the background; `deploy/status` reports their
         *     progress. An earlier run of the worktree is ended first.
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
        /** Check whether a worktree's server is running */
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
         * @description The best way is stored when the repository is in the list; stored members that detection does not set stay.
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
        /** Find the URL of a run */
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
        /** Check whether a server of this machine answers */
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
         * Kill a run by its pid
         * @description Ends its process group. Processes that no deploy started are refused.
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
         * Detect again how to run a repository
         * @description The stored settings are replaced, or removed when nothing is found.
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
        /** Report the status of a ticket's deploy */
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
         * Tear down the deploy of a worktree
         * @description Ends its process group and processes of the worktree that listen on its ports, and runs the teardown command of its
         *     settings. Idempotent.
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
         * List the folders in a directory
         * @description Hidden ones are left out. A directory that does not exist has none.
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
         * Find files by a piece of their path
         * @description Searches the worktree of a ticket, or the repository itself. What git ignores is left out.
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
         * Ask something of git
         * @description A failure of git's has `code` `SPAWN_FAILED` or `PROCESS_FAILED` and an object `details` with
         *     `action`, `category`, `stderrExcerpt`, and `exitCode` or `hookType`.
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
        /** List branches and worktrees */
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
        /** Show both sides of a changed file */
        post: operations["git_diff"];
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
         * @description Sends the branch that is checked out and asks the code host to take it into the default branch.
         *     A pull request that the branch has already is as good.
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
         * List what was said about a pull request
         * @description With `owner`, `repo` (a name), `number` and `branchId`, or with `repo` (the path of a clone) and
         *     `pr`.
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
         * @description With `owner`, `repo` (a name) and `number`, or with `repo` (the path of a clone) and `pr`.
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
        /** Tell the last commit of a pull request */
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
         * @description Where the code host refuses the line, the remark goes to the file, and else to the conversation.
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
    "/api/gateway/git/pr/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Comment on a pull request, answer a comment, or ask for changes */
        post: operations["reply_to_pull_request"];
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
        /** List the verdicts on a pull request */
        get: operations["pull_request_reviews"];
        put?: never;
        post?: never;
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
    "/api/gateway/git/user": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell who is logged in at the code host */
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
         * Remove the worktrees of pull requests whose branches are gone at `origin`
         * @description Looks at directories of the worktree parent that are named `<anything>-pr-<number>`. One with
         *     uncommitted changes stays.
         */
        post: operations["clean_up_worktrees"];
        /** Remove a worktree; its branch stays */
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
         * Look at everything that a loop needs
         * @description Always 200 once reached: a check that fails is a row that did not pass.
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
        /** List what was learned */
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
        /** How to sign in at the MCP server */
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
        /** This document */
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
        /** Read a file that belongs to a ticket */
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
        /** What was said about a ticket */
        get: operations["chat_history"];
        put?: never;
        /** Add a message, or the id of a session */
        post: operations["add_to_chat_history"];
        /** Remove a message, or everything */
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
         * Ask the assistant about a ticket
         * @description Works in the ticket's worktree, else in the repository. The answer goes on, and is kept, when the
         *     caller goes away; posting the pid of the first line to `kill` stops it.
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
        /** What was said about a comment */
        get: operations["comment_chat_history"];
        put?: never;
        /**
         * Ask the assistant about a comment
         * @description Works in the ticket's worktree, else in the repository. The answer goes on, and is kept, when the
         *     caller goes away; posting the pid of the first line to `kill` stops it.
         */
        post: operations["comment_chat"];
        /** Forget what was said about a comment */
        delete: operations["forget_comment_chat"];
        options?: never;
        head?: never;
        /** Note that a comment was answered */
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
         * Have a commit message written
         * @description For the uncommitted changes in the ticket's worktree.
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
         * Extract learnings from a ticket's chat
         * @description In the background; the status tells when it is done.
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
        /** What the judges of a ticket said */
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
         * End a process and everything that it started
         * @description Only processes that Loopgate started are ended.
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
         * Work on a ticket
         * @description Makes its worktree where it is missing. The script goes on without the caller, and without
         *     Loopgate.
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
        /** How an extraction stands */
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
        /** The end of a ticket's log */
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
         * @description Answers when its process runs and its job is recorded. Where as many loops run as may, it waits in
         *     line, and the answer says its place. A clone and a set-up script can take minutes: what does not run
         *     within 20 seconds is answered as accepted, without a pid, and its events tell what becomes of it. An
         *     order of the control plane that must be approved is answered at once, without a place.
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
        /** End a loop and everything that it started */
        post: operations["end_loop"];
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
         * @description In the worktrees of every configured repository.
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
         * Take a plan back
         * @description At the control plane, and whatever works on it here. What the control plane refuses is answered
         *     with its status.
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
         * Note the plan of a ticket that was ordered
         * @description May be said twice. A loop that is known here is left as it is.
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
        /** Tell what is known before a ticket is planned */
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
         * Note the plan of a document that was ordered
         * @description The same as for a ticket.
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
         * Tell what is known before a document is planned
         * @description The same as for a ticket.
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
        /** A ticket's plan */
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
        /** How the processing of all worktrees stands */
        get: operations["batch_status"];
        put?: never;
        /**
         * Process the pending learnings of all worktrees
         * @description One after the other, in the background.
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
        /** How the processing of a ticket's learnings stands */
        get: operations["processing_status"];
        put?: never;
        /**
         * Process a ticket's pending learnings
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
        /** Record that learnings were used */
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
         * @description Those whose worktree has vanished are forgotten.
         */
        get: operations["list_sessions"];
        put?: never;
        /** Note a session */
        post: operations["note_session"];
        /** Forget the session of a ticket */
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
         * Count the sessions that wait for the person
         * @description Those whose newest chat message is an answer.
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
        /** Whether work goes on in a directory */
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
        /** How a ticket stands */
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
         * Add images to a ticket
         * @description All of them are saved, or none.
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
        /** Remove a repository from the list; its files stay */
        delete: operations["remove_repo"];
        options?: never;
        head?: never;
        /** Change where worktrees are made */
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
         * @description The reviewer answers what is said against its finding. With `rounds` the assistant answers in turn, until both
         *     agree, one gives up, both repeat themselves, or the rounds are used up; `done` says which. The debate goes on when
         *     the caller goes away.
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
        /** Whether the reviewer's program runs */
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
         * Ask the reviewer about a ticket
         * @description Works in the ticket's worktree, else in the repository, and changes nothing there. Only the session is stored: the
         *     client keeps the messages. The answer goes on when the caller goes away.
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
        /** What was said about a finding */
        get: operations["finding_chat_history"];
        put?: never;
        /**
         * Ask the assistant about a finding
         * @description Works in the ticket's worktree. The answer goes on, and is stored, when the caller goes away; posting the pid of the
         *     `running` event to `kill` stops it.
         */
        post: operations["finding_chat"];
        /** Forget what was said about a finding */
        delete: operations["forget_finding_chat"];
        options?: never;
        head?: never;
        /** Add a message, or note that one was answered */
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
         * Find the findings that two reviews share
         * @description Compares messages by their words. With a `provider`, pairs that are similar are put to it; when it fails, the words
         *     alone decide.
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
         * Read the findings out of a review's log
         * @description From its last fenced `json` array, else from the reviewer's list of comments. Findings with a `confidence` below 0.5
         *     are left out. With `interpret`, a log that has neither is put to a provider.
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
         * What a review found
         * @description At the lines where the code is now; a finding whose code is gone keeps its line and is `outdated`.
         */
        get: operations["review_findings"];
        put?: never;
        /**
         * Store what a review found, or what became of it
         * @description With `commentedIndex` one finding was posted, with `declined` the change is declined, with `findings` they
         *     replace those that are stored.
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
         * Ask for the verdict on a change
         * @description Goes on in the session of the review, and answers when the provider has: within 10 minutes. A question that is under
         *     way in that session is joined.
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
         * Review a ticket's worktree
         * @description The worktree is made, or brought to its branch, first. The review goes on when the caller goes away: `status`
         *     tells how far it is, and `stop` ends it.
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
        /** How far the review of a ticket is */
        get: operations["review_status"];
        put?: never;
        post?: never;
        /**
         * Forget the reviews of a ticket
         * @description A review that runs goes on, and is not written down any more.
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
         * End the review of a ticket
         * @description Only a program that Loopgate started is ended, with everything that it started.
         */
        post: operations["stop_review"];
        /** End the reviews of a ticket and forget them */
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
        /** What was asked about runs */
        get: operations["run_viewer_chat_history"];
        put?: never;
        /**
         * Ask about a run
         * @description Works in the run's directory, else in the base directory of the sandbox. The answer goes on, and is stored,
         *     when the caller goes away; posting the pid of the `running` event to `kill` stops it.
         */
        post: operations["run_viewer_chat"];
        /** Forget what was asked about runs */
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
         * Unpack a run
         * @description It stays until it is removed, at most a week.
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
        /** List the paths that are set */
        get: operations["binary_paths"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set or clear paths
         * @description The first member that is wrong answers, and nothing is stored. A path in the sandbox, or through a
         *     link there, is refused. Whoever does not hold the gateway token on this machine waits for its owner,
         *     each time anew.
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
        /** The chat of the terminal */
        get: operations["terminal_chat_history"];
        put?: never;
        /**
         * Ask a provider in the terminal
         * @description Works in the base directory of the sandbox. The answer goes on, and is stored, when the caller goes away;
         *     posting the pid of the `running` event to `kill` stops it.
         */
        post: operations["terminal_chat"];
        /** Forget the chat of the terminal */
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
        /** What was asked about a ticket */
        get: operations["ticket_chat_history"];
        put?: never;
        /**
         * Ask about a ticket
         * @description Works in the repository, else in the base directory of the sandbox. The answer goes on, and is stored, when
         *     the caller goes away; posting the pid of the `running` event to `kill` stops it.
         */
        post: operations["ticket_chat"];
        /** Forget what was asked about a ticket */
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
        /** The desktop's version */
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
         * Trade a challenge for a session
         * @description Loopback callers with an `Origin` header only. The session is bound to exactly that origin.
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
         * Tell that a gateway is here
         * @description No credential. Never cached, never recorded.
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
        /** @description An answer; its shape follows from the action. */
        ActionAnswer: components["schemas"]["StatusAnswer"] | components["schemas"]["Switched"] | components["schemas"]["Committed"] | components["schemas"]["Pushed"] | components["schemas"]["Pulled"] | components["schemas"]["BranchDiffAnswer"] | components["schemas"]["SyncAnswer"];
        /** @description A helper at work. */
        ActiveAgent: {
            /** @description Id that the assistant gave it. */
            agentId: string;
            /** @description Its name. */
            agentName: string;
            /** @description Its type. */
            agentType: string;
            /** @description ISO 8601, or empty. */
            startedAt: string;
        };
        /**
         * @description The repository that was added.
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
        /** @description What was added. */
        AddedToHistory: {
            history: components["schemas"]["ChatHistory"];
            success: boolean;
        } | {
            sessionId: string;
            success: boolean;
        };
        /**
         * @description A repository to add.
         * @example {
         *       "path": "~/src/shop",
         *       "description": "The shop"
         *     }
         */
        AddRepo: {
            /** @description Text of the owner. */
            description?: string | null;
            /** @description Directory inside the sandbox; `~` is the home directory. */
            path: string;
        };
        /** @description A message to add, or the id of the assistant's session. A message goes before. */
        AddToHistory: {
            message?: components["schemas"]["NewMessage"] | null;
            sessionId?: string | null;
        };
        /** @description An agent definition to materialize in the worktree. */
        AgentDefinition: {
            /** @description Name for people. */
            name: string;
            /** @description Whole prompt text. */
            prompt: string;
            /** @description Names the file. */
            slug: string;
        };
        /**
         * @description What is said against a finding.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "findingSummary": "src/cache.rs:14 the cache is never cleared",
         *       "assistantArgument": "close() clears it."
         *     }
         */
        ArgueBody: {
            /** @description What the assistant, or a person, says. */
            assistantArgument: string;
            /** @description What was said before; with one element at most, the debate begins anew. */
            debateHistory?: unknown[] | null;
            /** @description The finding in words; it tells one debate from another. */
            findingSummary: string;
            /** @description The model; the provider's default when it is missing. */
            model?: string | null;
            /** @description Who defends the finding; the reviewer when it is missing or unknown. */
            provider?: string | null;
            /** @description How long the model may think, in the program's words. */
            reasoningEffort?: string | null;
            /** @description Path of the repository, unless the query names it. */
            repoPath?: string | null;
            /**
             * Format: int64
             * @description Rounds in which the assistant answers the reviewer here, until the debate is settled: 1 to 10. One, with
             *     no answer of the assistant, when it is missing.
             */
            rounds?: number | null;
        };
        /** @description A document handed to a loop. */
        Artifact: {
            /** @description Its text. */
            content: string;
            /** @description Id of the document. */
            id: string;
            /** @description The whole plan object, when the text was taken from one. */
            raw?: Record<string, never> | null;
            /** @description Its title. */
            title: string;
            /** @description Its kind. */
            type: components["schemas"]["ArtifactType"];
        };
        /**
         * @description Kind of an artifact.
         * @enum {string}
         */
        ArtifactType: "PRD" | "IMPLEMENTATION_PLAN" | "FEATURE";
        /**
         * @description Whose review is asked about.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "sessionId": "8c0c",
         *       "provider": "reviewer"
         *     }
         */
        AskVerdict: {
            /** @description Who reviewed. */
            provider: string;
            /** @description Path of the repository. */
            repoPath: string;
            /** @description Session of the review, which goes on. */
            sessionId: string;
        };
        /**
         * @description The paths that are set, by `assistant`, `codeHost`, `reviewer`, `python3` and `git`; of a link the
         *     file that it leads to.
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
        /** @description A branch. */
        BranchAnswer: {
            /** @description Only at `origin`. */
            isRemote: boolean;
            /** @description ISO 8601. */
            lastCommitDate?: string | null;
            /** @description Without `origin/`; branches of other remotes keep the remote's name. */
            name: string;
        };
        /** @description `branch-diff`: what the branch changed since it left the base branch of `origin`. */
        BranchDiffAnswer: {
            baseBranch: string;
            /** @description The branch; `HEAD` when it is detached. */
            currentBranch: string;
            files: components["schemas"]["BranchFiles"];
            totalChanges: number;
        };
        /**
         * @description Branches and worktrees of a repository.
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
            /** @description The default one first, then by their last commit, the newest first. */
            branches: components["schemas"]["BranchAnswer"][];
            /** @description The default branch of `origin`, else the one that is checked out, else `main`. */
            defaultBranch: string;
            /** @description Every worktree but the one that was asked about. */
            worktrees: components["schemas"]["WorktreeAnswer"][];
        };
        /** @description Changed paths, relative to the root of the repository; each in one list. */
        BranchFiles: {
            created: string[];
            deleted: string[];
            /** @description Changed or renamed (the new name). */
            modified: string[];
        };
        /** @description Status of its branch. */
        BranchStatus: {
            /** @description Whether it was merged; only told of one that the remote has no more. */
            merged: boolean;
            /** @description Whether the remote has no such branch. */
            remoteMissing: boolean;
        };
        /**
         * @description Where a branch is checked out.
         * @example {
         *       "path": "/home/sam/src/worktrees/shop-AB-1",
         *       "repoPath": "/home/sam/src/shop"
         *     }
         */
        BranchWorktree: {
            /** @description The worktree, which may be the clone itself; null when the branch is nowhere checked out. */
            path: string | null;
            /** @description The clone; null when no managed repository has that name. */
            repoPath: string | null;
        };
        /** @description The limits, and what they cost. */
        Budget: {
            /** @description Comments of which only the beginning is there. */
            bodyTruncatedCount: number;
            maxBodyBytes: number;
            maxComments: number;
            maxResponseBytes: number;
            /** @description Comments that are known to be missing; at least so many. */
            omittedComments: number;
            pageSize: number;
            /** @description The code host has more. */
            providerTruncated: boolean;
            /** @description Comments were left out to keep the answer small. */
            responseTruncated: boolean;
        };
        /** @description What is not wanted any more. */
        CancelPlan: {
            /** Format: uuid */
            loopId: string;
            repoPath: string;
        };
        /** @description What this desktop can do; which programs it has is told only to who is signed in. */
        Capabilities: {
            commandSigning: boolean;
            tools: components["schemas"]["Tools"];
            versions: components["schemas"]["Versions"];
        };
        /**
         * @description A message to add, or which message was answered on the code host. A message to add goes before.
         * @example {
         *       "messageId": "assistant-1735000000000",
         *       "responded": true
         *     }
         */
        ChangeFindingChat: {
            message?: components["schemas"]["ChatMessage"] | null;
            /** @description The message that was answered; the assistant's last one when it is missing. */
            messageId?: string | null;
            /** @description True when it is missing. */
            responded?: boolean | null;
        };
        /**
         * @description What is to be changed; the first member of these that is there counts.
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
             * @description The finding with this index was posted as a comment.
             */
            commentedIndex?: number | null;
            /** @description The change is declined; needs `declineReason`. */
            declined?: boolean | null;
            /** @description Not blank. */
            declineReason?: string | null;
            /** @description Replaces everything that is stored. */
            findings?: components["schemas"]["ReviewFinding"][] | null;
            /** @description Which model found them. */
            model?: string | null;
            provider?: components["schemas"]["ProviderId"] | null;
        };
        /**
         * @description One line of a run's stream.
         * @example {
         *       "type": "text",
         *       "content": "Because the catalogue"
         *     }
         */
        ChatEvent: {
            mode?: components["schemas"]["ProviderId"] | null;
            /**
             * Format: int32
             * @description The program's process, by which it can be stopped.
             */
            pid?: number | null;
            provider?: components["schemas"]["ProviderId"] | null;
            /** @description Whether an earlier session goes on. */
            resuming?: boolean | null;
            /** @description Id of the program's session. */
            sessionId?: string | null;
            status?: components["schemas"]["RunStatus"] | null;
            /** @enum {string} */
            type: "status";
        } | {
            /** @description Id of the session. */
            sessionId: string;
            /** @enum {string} */
            type: "sessionId";
        } | {
            /** @description The text. */
            content: string;
            /** @enum {string} */
            type: "text";
        } | {
            /** @description The text. */
            content: string;
            /** @enum {string} */
            type: "thinking";
        } | {
            /** @description The text. */
            content: string;
            /** @enum {string} */
            type: "reasoning";
        } | {
            /** @description Id of the call. */
            id: string;
            /** @description Its arguments. */
            input: Record<string, never>;
            /** @description Name of the tool. */
            name: string;
            /** @enum {string} */
            type: "tool_use";
        } | {
            /** @description Its answer, whatever its shape. */
            content: Record<string, never>;
            /** @description Id of the call. */
            id: string;
            /** @description Whether the answer is an error. */
            is_error?: boolean | null;
            /** @enum {string} */
            type: "tool_result";
        } | {
            /**
             * Format: int64
             * @description In percent.
             */
            contextPercent: number;
            /** @enum {string} */
            type: "usage";
        } | {
            /** @description For a person. */
            error: string;
            /** @description Nothing follows. */
            terminal?: boolean;
            /** @enum {string} */
            type: "error";
        } | {
            /** @description Whether it went well. */
            success: boolean;
            /** @enum {string} */
            type: "result";
        } | {
            /** @enum {string} */
            type: "keepalive";
        } | {
            /** @description The last answer of a debate. */
            content?: string | null;
            debateStatus?: components["schemas"]["DebateStatus"] | null;
            /** @enum {string} */
            type: "done";
        };
        /**
         * @description The history of a chat, as it is stored on disk. Members that are not known here survive.
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
            /** @description Session of the assistant, in a history of several providers. */
            assistantSessionId?: string | null;
            commentContext?: components["schemas"]["CommentContext"] | null;
            /** @description Review comment. */
            commentId?: string | null;
            /**
             * Format: int64
             * @description How much of the context the last run used; null when it did not say.
             */
            contextPercent?: number | null;
            findingContext?: components["schemas"]["FindingContext"] | null;
            /** @description Finding of a review. */
            findingId?: string | null;
            /** @description Oldest first. */
            messages: components["schemas"]["ChatMessage"][];
            /** @description Path of the repository, as the client sent it. */
            repoPath?: string | null;
            /** @description Session of the reviewer, in a history of several providers. */
            reviewerSessionId?: string | null;
            /** @description Session of the provider that the history belongs to. */
            sessionId?: string | null;
            /** @description Sessions of every other provider. */
            sessions?: {
                [key: string]: string;
            };
            /** @description Ticket. */
            ticketId?: string | null;
        };
        /** @description One message of a chat. Members that are not known here are kept as they are. */
        ChatMessage: {
            /** @description Absolute paths of the files that were sent with it. */
            attachments?: string[];
            /** @description Text, thoughts and tool calls, in their order. */
            blocks?: Record<string, never>[] | null;
            /** @description What was said. */
            content?: string;
            /** @description Unique within its history. */
            id?: string;
            mode?: components["schemas"]["ProviderId"] | null;
            /** @description Whether a comment was answered on the code host. */
            responded?: boolean | null;
            /** @description Who said it. */
            role: components["schemas"]["ChatRole"];
            sender?: components["schemas"]["ProviderId"] | null;
            /** @description ISO 8601. */
            timestamp?: string;
        };
        /** @description A message to the assistant. */
        ChatMessageBody: {
            /** @description Absolute paths of at most 10 files of at most 10 MiB that the message is about, such as uploaded images. */
            attachments?: string[] | null;
            /** @description Further repositories that the assistant is told of. */
            contextRepoPaths?: string[] | null;
            /** @description Not blank. */
            message: string;
            provider?: components["schemas"]["ProviderId"] | null;
            /** @description Path of the repository; may be in the query as `repo` instead. */
            repoPath?: string | null;
        };
        /**
         * @description Who said something.
         * @enum {string}
         */
        ChatRole: "user" | "assistant";
        /** @description One thing that was looked at. */
        Check: {
            debug?: components["schemas"]["HealthDebug"] | null;
            error?: string | null;
            id: string;
            label: string;
            passed: boolean;
            /** @description What to do about it, for people. */
            remediation?: string | null;
            /** @description Whether loops need it. */
            required: boolean;
            /** @description Version; for `worktree-dir` the directory. */
            version?: string | null;
        };
        /**
         * @description Removed and kept worktrees, as paths.
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
            /** @description Why some of the kept ones could not be judged or removed: `<path>: <reason>`. */
            errors: string[];
            kept: string[];
            removed: string[];
        };
        /** @description Who said it. */
        CommentAuthor: {
            avatarUrl: string | null;
            displayName: string | null;
            /** @description `unknown` when the account is gone. */
            login: string;
            profileUrl: string | null;
        };
        /** @description The review comment that a chat is about. */
        CommentContext: {
            /** @description Login of its author. */
            author?: string;
            /** @description Its text. */
            body?: string;
            /**
             * Format: int64
             * @description Line it is at.
             */
            line?: number | null;
            /** @description File it is at. */
            path?: string | null;
            /** @description What others answered. */
            replies?: components["schemas"]["CommentReply"][] | null;
            /** @description Its page on the code host. */
            url?: string | null;
        };
        /** @description A message to the assistant about a comment. */
        CommentMessageBody: {
            /** @description Absolute paths of at most 10 files of at most 10 MiB that the message is about, such as uploaded images. */
            attachments?: string[] | null;
            commentContext?: components["schemas"]["CommentContext"] | null;
            /** @description Not blank. */
            message: string;
        };
        /**
         * @description A remark to make.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "prNumber": 1,
         *       "body": "Why this colour?",
         *       "path": "README.md",
         *       "line": 1
         *     }
         */
        CommentOnLine: {
            /** @description Markdown. */
            body: string;
            /** @description The commit that was looked at. */
            commitSha?: string | null;
            /**
             * Format: int64
             * @description Line in the newer version.
             */
            line?: number | null;
            /** @description File in the pull request. */
            path?: string | null;
            /**
             * Format: int64
             * @description Number of the pull request.
             */
            prNumber: number;
            /** @description Path of the clone. */
            repoPath: string;
        };
        /** @description An answer to a review comment. */
        CommentReply: {
            /** @description Login of its author. */
            author?: string;
            /** @description Its text. */
            body?: string;
        };
        /** @description What a commit may be called. */
        CommitMessage: {
            description: string;
            source: components["schemas"]["MessageSource"];
            title: string;
        };
        /** @description `commit`: the new commit. */
        Committed: {
            /** @description Short hash. */
            commit: string;
            message: string;
            success: boolean;
        };
        /** @description Whose name is in the commits. */
        Committer: {
            /** @description E-mail address. */
            email: string;
            /** @description Name. */
            name: string;
        };
        /** @description What of a finding is compared. */
        ComparedFinding: {
            file?: string | null;
            message: string;
        };
        /** @description What was agreed on with the control plane. */
        ConfirmPlan: {
            artifactId?: string | null;
            artifactSlug?: string | null;
            issueId?: string | null;
            /** Format: uuid */
            loopId?: string | null;
            /** @description `already-running` for a loop that runs already. */
            outcome?: string | null;
            repoPath: string;
            ticketTitle?: string | null;
        };
        /** @description Money, as the assistant itself reports it, in US dollars. */
        Cost: {
            /** @description Of each model. */
            byModel?: {
                [key: string]: number;
            };
            /**
             * Format: double
             * @description Of all runs so far.
             */
            totalUsd: number;
        };
        /** @description A point of a debate. */
        DebateIssue: {
            /** @description The same in every turn. */
            id?: string;
            /** @description How it was settled. */
            resolution?: string | null;
            /** @description What it is about. */
            summary?: string;
        };
        /**
         * @description How a debate ended.
         * @enum {string}
         */
        DebateOutcome: "agreement" | "concession" | "stalemate" | "limit";
        /**
         * @description State of a debate, as the side sees it that spoke last.
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
            /** @description Whether the side that spoke gives up its position. */
            conceded?: boolean;
            outcome?: components["schemas"]["DebateOutcome"] | null;
            /** @description What is still open. */
            pendingIssues?: components["schemas"]["DebateIssue"][];
            /** @description What is settled. */
            resolvedIssues?: components["schemas"]["DebateIssue"][];
        };
        /**
         * @description Worktree to run.
         * @example {
         *       "ticketId": "AB-1",
         *       "repoPath": "~/src/shop",
         *       "worktreePath": "~/src/worktrees/shop-AB-1"
         *     }
         */
        DeployBody: components["schemas"]["DeployedWorktree"] & {
            /** @description Ticket of the worktree. */
            ticketId: string;
        };
        /** @description One way to run a repository. */
        DeployCandidate: {
            config: components["schemas"]["Deployment"];
            /**
             * @description What was found in which file.
             * @example package.json has a `dev` script and depends on next; no lock file, so npm runs it
             */
            reason: string;
        };
        /**
         * @description A repository.
         * @example {
         *       "repoPath": "~/src/shop"
         *     }
         */
        DeployedRepository: {
            /** @description Clone of the repository, inside the sandbox. */
            repoPath: string;
        };
        /**
         * @description A worktree of a repository.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "worktreePath": "~/src/worktrees/shop-AB-1"
         *     }
         */
        DeployedWorktree: {
            /** @description Clone of the repository, inside the sandbox. */
            repoPath: string;
            /** @description Working directory of the run, inside the sandbox. */
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
            /** @description Whether the status is 2xx or 3xx. */
            alive: boolean;
            /** @description `OUTBOUND_URL_DENIED` when no request was sent. */
            code?: string | null;
            /** @description Why no request was sent. */
            error?: string | null;
            /** @description Why there was no answer. */
            reason?: string | null;
            /**
             * Format: int32
             * @description HTTP status; null without an answer.
             */
            statusCode: number | null;
        };
        /**
         * @description URL to check.
         * @example {
         *       "url": "http://localhost:3000"
         *     }
         */
        DeployHealthBody: {
            /** @description HTTP URL of this machine. */
            url: string;
        };
        /**
         * @description URL of a run.
         * @example {
         *       "url": "http://localhost:5174/"
         *     }
         */
        DeployInfo: {
            /** @description Null when neither the log nor the settings name one. */
            url: string | null;
        };
        /**
         * @description Run to kill.
         * @example {
         *       "pid": 4242
         *     }
         */
        DeployKillBody: {
            /**
             * Format: int32
             * @description `pid` of the answer of `deploy`.
             */
            pid: number;
        };
        /**
         * @description Result of a kill.
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
         * @description Run settings of a repository. Every member may be missing.
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
            /** @description Further ports that it listens on; teardown frees them as well. */
            additionalPorts?: number[];
            /** @description Shell command that starts it. */
            command?: string | null;
            /** @description Framework that it depends on. */
            framework?: string | null;
            /** @description URL of the health check, on this machine. `tcp://localhost:<port>` checks for a TCP connection only. */
            healthCheckUrl?: string | null;
            /** @description Path of the health check. */
            healthEndpoint?: string | null;
            /** @description Regular expression that matches a line of the log once it is up. Replaces the health check. */
            healthLogPattern?: string | null;
            /** @description Shell command that is run before the start command. */
            installCommand?: string | null;
            /** @description `packageManager` of its `package.json`. */
            packageManager?: string | null;
            /**
             * Format: int32
             * @description Preferred port.
             */
            port?: number | null;
            /** @description The same; the repository list stores this one when a repository is added. */
            startCommand?: string | null;
            /** @description Shell command of the teardown, for what signals do not end. */
            teardownCommand?: string | null;
            /**
             * @description Framework, or the kind of project: `node`, `procfile`, `python`, `cargo`, `compose`, `dockerfile`, `make`,
             *     `static`.
             */
            type?: string | null;
        };
        /**
         * @description A run that was started.
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
            /** @description Start command. */
            deployCommand: string;
            /** @description `type` of its settings. */
            deployType?: string | null;
            /** @description Absolute path of the log. */
            logFile: string;
            /**
             * Format: int32
             * @description Leader of its process group.
             */
            pid: number;
            /**
             * Format: int32
             * @description The port that was allocated for it.
             */
            port?: number | null;
            /** @description Name of the clone's directory. */
            repoName: string;
            success: boolean;
        };
        /**
         * @description Status of a deploy.
         * @example {
         *       "status": "running",
         *       "logs": "> next dev\n",
         *       "pid": 4242,
         *       "reason": "nothing accepts connections on port 3000"
         *     }
         */
        DeployStatus: {
            /** @description URL at which it answers. */
            deployedUrl?: string | null;
            /** @description Why it failed. */
            error?: string | null;
            /** @description The last 256 KiB of its output, without terminal escapes. */
            logs?: string | null;
            /**
             * Format: int32
             * @description The pid of the request.
             */
            pid?: number | null;
            /** @description Why the last health check failed. */
            reason?: string | null;
            /** @description Its id at an external service, when its result names one. */
            serviceId?: string | null;
            /** @description One of `running` (it is installed or started), `completed` (it answers), `failed` and `not-started`. */
            status: string;
        };
        /**
         * @description Result of a detection.
         * @example {
         *       "detected": false
         *     }
         */
        Detected: {
            /** @description All ways, the best one first. */
            candidates?: components["schemas"]["DeployCandidate"][];
            config?: components["schemas"]["Deployment"] | null;
            /** @description Whether a way to run it was found. */
            detected: boolean;
        };
        /**
         * @description Both sides.
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
            /** @description Present on files that are no text; the contents are empty then. */
            isBinary?: boolean | null;
            /** @description There is no new side. */
            isDeleted: boolean;
            /** @description Present on images. */
            isImage?: boolean | null;
            /** @description There is no old side. */
            isNew: boolean;
            /** @description Type of the image. */
            mimeType?: string | null;
            newContent: string;
            /** @description The new side of an image that is no text. */
            newContentBase64?: string | null;
            /**
             * @description Empty when there is none. Bytes that are not UTF-8 are replaced by `U+FFFD`. The target of a
             *     link; for a submodule `Subproject commit <hash>`.
             */
            oldContent: string;
            /** @description The old side of an image that is no text. */
            oldContentBase64?: string | null;
        };
        /**
         * @description The file, and what it is held against.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "filePath": "README.md"
         *     }
         */
        DiffRequest: {
            /**
             * @description A branch of `origin`: HEAD is held against it. Without one, the working tree is held
             *     against HEAD.
             */
            baseBranch?: string | null;
            /** @description Relative to the repository. */
            filePath: string;
            /** @description Directory inside the sandbox. */
            repoPath: string;
        };
        /**
         * @description Folders, repositories first.
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
        /** @description A folder. */
        DirectoryEntry: {
            /** @description Always true. */
            isDirectory: boolean;
            /** @description Whether it is a repository or a worktree. */
            isGitRepo: boolean;
            name: string;
            /** @description In the form in which the directory was named: with `~` or absolute. */
            path: string;
        };
        /** @description Whether work goes on in a directory. Members of the state are copied as they are. */
        DirectoryStatus: {
            /** @description Whether the state is not one of the last ones. */
            isRunning: boolean;
            /**
             * Format: double
             * @description Iteration of the state.
             */
            iteration?: number | null;
            /** @description Timestamp of the state. */
            lastUpdate?: string | null;
            loop?: components["schemas"]["LoopFacts"] | null;
            /** @description Phase of the state. */
            phase?: string | null;
            /** @description Why nothing is known. */
            reason?: string | null;
            /** @description Status of the state. */
            status?: string | null;
        };
        /**
         * @description What was removed.
         * @example {
         *       "deleted": [
         *         "reviewer-review-reviewer.json",
         *         "reviewer-review-reviewer.log"
         *       ]
         *     }
         */
        DiscardAnswer: {
            /** @description Names of the files. */
            deleted: string[];
        };
        /**
         * @description That it was done.
         * @example {
         *       "success": true
         *     }
         */
        Done: {
            success: boolean;
        };
        /**
         * @description Findings that are the same.
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
            /** @description Index in the first list and index in the second one. Each is in one pair at most. */
            duplicates: number[][];
        };
        /** @description A loop to end. */
        EndLoop: {
            /** @description Id of the loop. */
            loopId: string;
        };
        /**
         * @description Body of every error answer of the gateway.
         *
         *     `error` is exact: clients match on it. `code` is additive and never changes for one case.
         */
        ErrorBody: {
            /** @description Stable identifier of the case, snake case unless a route says otherwise. */
            code: string;
            /** @description What went wrong, for a person. */
            error: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description What a page gets.
         * @example {
         *       "sessionToken": "3b7f0c5d9a1e4862b7d0f3a96c21e58447aa0de1fb29c6608d5e13f4902c7ab6",
         *       "expiresAt": "2030-01-02T09:00:00.000Z"
         *     }
         */
        ExchangeAnswer: {
            /** @description ISO 8601, UTC, milliseconds. Use never prolongs it. */
            expiresAt: string;
            /** @description 64 hex characters, for the header `X-Desktop-Session-Token` together with `Origin`. */
            sessionToken: string;
        };
        /**
         * @description What a page sends.
         * @example {
         *       "challengeToken": "eyJhbGciOiJIUzI1NiJ9.challenge"
         *     }
         */
        ExchangeRequest: {
            /** @description Challenge token of the control plane, good for one exchange. */
            challengeToken: string;
        };
        /**
         * @description Whether a server is running.
         * @example {
         *       "active": true,
         *       "url": "http://localhost:3000"
         *     }
         */
        ExistingDeploy: {
            /** @description Whether its port accepts connections. */
            active: boolean;
            /** @description URL of that port. */
            url?: string | null;
        };
        /**
         * @description Log of a run.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "logs": "  Local:   http://localhost:5174/\n"
         *     }
         */
        ExtractBody: {
            /** @description Output of the run. */
            logs?: string | null;
            /** @description Clone of the repository, inside the sandbox. */
            repoPath: string;
        };
        /**
         * @description Where a run was unpacked.
         * @example {
         *       "runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"
         *     }
         */
        Extracted: {
            runDir: string;
        };
        /**
         * @description What a log holds.
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
         * @description Whose review is read.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "sessionId": "8c0c",
         *       "provider": "reviewer"
         *     }
         */
        ExtractFindings: {
            /** @description Whether a log in no known format is put to the provider whose log it is. */
            interpret?: boolean | null;
            provider?: components["schemas"]["ProviderId"] | null;
            /** @description Path of the repository. */
            repoPath: string;
            /** @description Session of the review. */
            sessionId: string;
        };
        /**
         * @description The chat to read.
         * @example {
         *       "ticketId": "AB-1",
         *       "repoPath": "~/src/shop",
         *       "activeTab": "chat"
         *     }
         */
        ExtractLearnings: components["schemas"]["TicketMembers"] & {
            /** @description Given back by the status. */
            activeTab?: string | null;
            /** @description A name that ends in `.json`, also below `finding-chats/`; `chat-history.json` when it is missing. */
            chatFile?: string | null;
        };
        /** @description A file of a run. */
        FileContext: {
            /** @description Its beginning, at most 4000 characters. */
            contentPreview?: string;
            path: string;
        };
        /** @description A finding of a review that a chat is about. */
        FindingContext: {
            /** @description File it points at. */
            file?: string | null;
            /**
             * Format: int64
             * @description Line it points at.
             */
            line?: number | null;
            /** @description What it says. */
            message?: string;
            /** @description P0 to P3. */
            priority?: string | null;
            /** @description How bad it is. */
            severity?: string;
            /** @description What to do about it. */
            suggestion?: string | null;
        };
        /**
         * @description The findings of two reviews of one change.
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
            /** @description Where the first list comes from. */
            providerA: string;
            /** @description Where the second list comes from. */
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
            /** @description Absolute paths of at most 10 files of at most 10 MiB that the message is about, such as uploaded images. */
            attachments?: string[] | null;
            /** @description The message as it is stored, when that is another one. */
            displayMessage?: string | null;
            findingContext?: components["schemas"]["FindingContext"] | null;
            /** @description Not blank. */
            message: string;
        };
        /**
         * @description What was changed.
         * @example {
         *       "success": true,
         *       "count": 1
         *     }
         */
        FindingsChanged: {
            /** @description How many findings were stored, when they were replaced. */
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
            /** @description Why there are none: there is no such directory. */
            error?: string | null;
            /** @description Relative paths, best first, at most ten. */
            files: string[];
            /** @description Whether more matched. */
            truncated: boolean;
        };
        /** @description A worktree with a state. */
        FullStatus: {
            /** @description The assistant's helpers that are at work. */
            activeAgents: components["schemas"]["ActiveAgent"][];
            /** @description The task that is worked on. */
            currentTaskId?: string | null;
            /** @description Always true. */
            exists: boolean;
            /** @description Whether the status was found in the output, because the state did not tell. */
            fallbackDetected: boolean;
            loop?: components["schemas"]["LoopFacts"] | null;
            /** @description Phase, corrected by what the process and its output show. */
            phase: string;
            /**
             * Format: int32
             * @description The recorded process.
             */
            pid: number | null;
            /** @description Whether there is a plan. */
            planExists: boolean;
            /** @description Whether it lives. */
            processRunning: boolean;
            /** @description The state as it was written. */
            raw: Record<string, never>;
            /** @description Always true. */
            stateExists: boolean;
            /** @description Status, corrected likewise. */
            status: string;
            taskProgress?: components["schemas"]["TaskProgress"] | null;
            /** @description Timestamp of the state. */
            timestamp?: string | null;
            /** @description Absolute. */
            worktreeDir: string;
        };
        /** @description What is asked, and of which repository. */
        GitRequest: {
            /** @description `status`, `branch`, `commit`, `push`, `pull`, `branch-diff` or `sync-status`. */
            action: string;
            /** @description For `branch-diff`: a branch of `origin`, `main` when none is given. */
            baseBranch?: string | null;
            /**
             * @description For `branch`: the branch to switch to, made when it is new. Characters outside
             *     `[A-Za-z0-9_/-]` become `-`.
             */
            branchName?: string | null;
            /** @description For `commit`. */
            message?: string | null;
            /** @description Directory inside the sandbox; `~` is the home directory. */
            repoPath: string;
        };
        /**
         * @description The user at the code host.
         * @example {
         *       "login": "octo-dev"
         *     }
         */
        GitUser: {
            login: string;
        };
        /**
         * @description That it is gone.
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
         * @description The last commit of a pull request.
         * @example {
         *       "sha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
         *     }
         */
        HeadSha: {
            sha: string;
        };
        /**
         * @description What a client finds on the port.
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
            /** @description Id of this installation. */
            gatewayId: string;
            /** @description Host name. */
            machineName: string;
            /** @description Whether set-up is complete. */
            onboardingCompleted: boolean;
            /**
             * Format: int32
             * @description Port that is really held.
             */
            port: number;
            /** @description Always `ok`. */
            status: string;
            /** @description Desktop version. */
            version: string;
        };
        /** @description Details for troubleshooting. */
        HealthDebug: {
            errorCode?: string | null;
            /** @description Executables of that name anywhere. */
            foundAt?: string[] | null;
            /** @description Files of that name that may not be executed. */
            nonExecutableAt?: string[] | null;
            /** @description Path that the user set. */
            overrideUsed?: string | null;
            platform?: string | null;
            /** @description PATH that was searched, at most 1024 characters. */
            resolvedPath?: string | null;
            /** @description Name of the login shell. */
            shell?: string | null;
            /** @description At most 512 characters. */
            stderr?: string | null;
        };
        /**
         * @description Everything that was looked at.
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
            /** @description Rows in a fixed order; clients match on their ids. */
            checks: components["schemas"]["Check"][];
            mcpServers: components["schemas"]["McpServers"];
        };
        /**
         * @description Images to add.
         * @example {
         *       "files": [
         *         "(the bytes of screen.png)"
         *       ]
         *     }
         */
        Images: {
            /** @description PNG, JPEG, GIF or WebP, at most 10 MiB each. The name of the field does not matter. */
            files: string[];
        };
        /**
         * @description Status of a job, the desktop's record of a loop.
         * @enum {string}
         */
        JobStatus: "QUEUED" | "STARTING" | "RUNNING" | "AWAITING_USER" | "CANCEL_PENDING" | "COMPLETED" | "FAILED" | "CANCELLED" | "STOPPED" | "UNKNOWN" | "TIMED_OUT";
        /** @description What the judges said, or that they have not spoken yet. */
        Judgement: {
            /** @description As it was written, whatever its shape. */
            data: Record<string, never>;
            /** @description Always true. */
            exists: boolean;
            /** @description Always false: nothing here is made up. */
            isMock: boolean;
            /** @description Absolute. */
            worktreeDir: string;
        } | {
            /** @description Always false. */
            exists: boolean;
            /** @description Always false. */
            isMock: boolean;
            /**
             * @description What is awaited, for a person.
             * @example Awaiting LLM judges feedback
             */
            message: string;
            /** @description Absolute. */
            worktreeDir: string;
        };
        /** @description What to end: a pid, else a ticket with its repository. */
        KillBody: {
            /** Format: int32 */
            pid?: number | null;
            repoPath?: string | null;
            ticketId?: string | null;
        };
        /** @description What came of it. */
        Killed: {
            /** @example Process terminated */
            message: string;
            /** Format: int32 */
            pid?: number | null;
            success: boolean;
        };
        /** @description A ticket that is worked on. */
        LaunchAnswer: {
            alreadyRunning?: boolean;
            baseBranch?: string | null;
            branchName: string;
            logFile: string;
            parentTicketId?: string | null;
            /**
             * Format: int32
             * @description Null when no script is installed.
             */
            pid: number | null;
            /** @description Path of the ticket's text, when one was sent. */
            prdFile: string;
            success: boolean;
            ticketId: string;
            /** @example loop script not installed */
            warning?: string | null;
            worktreePath: string;
        };
        /** @description What to launch. */
        LaunchBody: {
            /** @description Branch to begin at; the remote's default one otherwise. */
            baseBranch?: string | null;
            repoPath: string;
            ticket?: components["schemas"]["LaunchTicket"] | null;
            ticketIdentifier: string;
        };
        /** @description What the page knows of the ticket. */
        LaunchTicket: {
            additionalContext?: string | null;
            /** @description Further repositories. */
            contextRepoPaths?: string[] | null;
            description?: string | null;
            identifier?: string | null;
            issueId?: string | null;
            /** @description Files that the ticket speaks of. */
            mentionedFiles?: components["schemas"]["MentionedFile"][] | null;
            title?: string | null;
            url?: string | null;
        };
        /** @description One pattern. */
        LearnedPattern: {
            /** @description Agents that it is meant for */
            applies_to: string[];
            /** @description `pattern`, `mistake`, `convention` or `insight` */
            category: string;
            /** @description `high`, `medium` or `low` */
            confidence: string;
            context: string[];
            flags: string[];
            id: string;
            /** @description The text in the file */
            raw: string;
            /** @description Name of the repository; `*` is all */
            repo: string;
            /**
             * Format: int64
             * @description How often it was learned or used
             */
            seen_count: number;
            /**
             * Format: double
             * @description Share of uses that held, 0 to 1; 0 without a use
             */
            success_rate: number;
            /** @description At most 240 characters */
            summary: string;
        };
        /**
         * @description Every pattern.
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
         * @description Outcome of a request to process all worktrees.
         * @example {
         *       "status": "processing",
         *       "worktreeCount": 3,
         *       "pid": 4242
         *     }
         */
        LearningsBatchStart: {
            /**
             * Format: int32
             * @description Process that works on it.
             */
            pid: number;
            /** @enum {string} */
            status: "processing";
            worktreeCount: number;
        } | {
            /** @description Worktrees that are done. */
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
         * @description How the processing of all worktrees stands.
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
             * @description When it ended.
             */
            completedAt?: string | null;
            /** @description Why it failed. */
            error?: string | null;
            /** @description Worktrees that are done. */
            processedWorktrees?: number | null;
            /**
             * Format: date-time
             * @description When it began.
             */
            startedAt?: string | null;
            /** @description Where it stands. */
            status: components["schemas"]["LearningsState"];
            /** @description Their pending learnings. */
            totalPending?: number | null;
            /** @description Worktrees with pending learnings. */
            worktreeCount?: number | null;
        };
        /**
         * @description Outcome of a request to extract.
         * @example {
         *       "status": "processing"
         *     }
         */
        LearningsExtractionStart: {
            /** @description Why it was skipped. */
            reason?: string | null;
            status: components["schemas"]["LearningsStartStatus"];
        };
        /**
         * @description How the extraction from a ticket's chat stands.
         * @example {
         *       "status": "completed",
         *       "ticketId": "AB-1",
         *       "activeTab": "chat",
         *       "timestamp": "2030-01-01T00:00:00.000Z",
         *       "count": 2
         *     }
         */
        LearningsExtractionStatus: {
            /** @description Tab of the page that asked. */
            activeTab?: string | null;
            /** @description New learnings. */
            count?: number | null;
            /** @description Why it failed. */
            message?: string | null;
            /** @description Where it stands. */
            status: components["schemas"]["LearningsState"];
            /** @description Ticket. */
            ticketId?: string | null;
            /**
             * Format: date-time
             * @description When that was.
             */
            timestamp?: string | null;
        };
        /**
         * @description Outcome of a request to process.
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
             * @description Its process; null when the plugin is missing.
             */
            pid?: number | null;
            /** @description Why it was skipped. */
            reason?: string | null;
            status: components["schemas"]["LearningsStartStatus"];
        };
        /**
         * @description How the processing of a worktree's learnings stands.
         * @example {
         *       "status": "completed",
         *       "timestamp": "2030-01-01T00:00:00.000Z",
         *       "processed": 3
         *     }
         */
        LearningsProcessingStatus: {
            /** @description Why it failed, or what was done. */
            message?: string | null;
            /** @description Learnings that were processed. */
            processed?: number | null;
            /** @description Where it stands. */
            status: components["schemas"]["LearningsState"];
            /**
             * Format: date-time
             * @description When that was.
             */
            timestamp?: string | null;
        };
        /**
         * @description Where the work that a request asks for stands.
         * @enum {string}
         */
        LearningsStartStatus: "processing" | "waiting" | "skipped";
        /**
         * @description Where some work stands.
         * @enum {string}
         */
        LearningsState: "none" | "waiting" | "processing" | "completed" | "error";
        /**
         * @description Uses that were recorded.
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
        /** @description A line of a file, and the lines around it, without the blanks at their ends. */
        LineAnchor: {
            /** @description The lines after it. */
            after?: string[];
            /** @description The lines before it, in their order. */
            before?: string[];
            /**
             * Format: int64
             * @description Number of the line when it was stored, from 1.
             */
            line: number;
            /** @description Its text. */
            text: string;
        };
        /** @description A pull request. */
        ListedPullRequest: {
            /** @description Login; `unknown` when the account is gone. */
            author: string;
            /** @description ISO 8601. */
            createdAt: string;
            headRefName: string;
            /** Format: int64 */
            number: number;
            /** @description `OPEN` or `MERGED`. */
            state: string;
            title: string;
            url: string;
        };
        /** @description A repository as `GET /api/gateway/repos` lists it. */
        ListedRepo: components["schemas"]["ManagedRepo"] & {
            /** @description Branch that the remote's HEAD names, else the one checked out; left out when unknown. */
            defaultBranch?: string | null;
            /** @description `<org>/<repo>` of its remote `origin`; left out when it has none. */
            fullName?: string | null;
            /** @description Base name of the path. */
            name: string;
        };
        /** @description The end of a log, in one of its formats. */
        LogTail: {
            /** @description Always true. */
            exists: boolean;
            /**
             * @description Always `jsonl`.
             * @example jsonl
             */
            format: string;
            /** @description The last records. */
            lines: string[];
            /** @description Lines of this answer. */
            returnedLines: number;
            /** @description Lines of the log. */
            totalLines: number;
        } | {
            /** @description The last lines. */
            content: string;
            /** @description Always true. */
            exists: boolean;
            /**
             * @description Always `text`.
             * @example text
             */
            format: string;
            /** @description Lines of this answer. */
            returnedLines: number;
            /** @description Lines of the log. */
            totalLines: number;
        } | {
            /** @description Empty. */
            content: string;
            /** @description Always false. */
            exists: boolean;
            /**
             * @description Always `text`.
             * @example text
             */
            format: string;
            /** @description Always 0. */
            lines: number;
        };
        /** @description A loop that was ended. */
        LoopEnded: {
            message: string;
            success: boolean;
        };
        /** @description The loop that works, or worked last. */
        LoopFacts: {
            /** @description Its command. */
            command: string;
            /** @description Id of the loop. */
            loopId: string;
            /** @description Its place among the loops that wait, from 1. */
            queuePlace?: number | null;
            spend?: components["schemas"]["Spend"] | null;
            /** @description Where it is at this moment. */
            status: components["schemas"]["JobStatus"];
            /**
             * @description What it does while it runs: `working`, `waiting-for-model`, `waiting-for-limit` or `stuck`, since when, and
             *     for which program or until when it waits.
             */
            stillness?: Record<string, never> | null;
        };
        /**
         * @description What the control plane sends. The desktop reads it member by member, because a wrong type is
         *     answered with the member's name; this form is for writing.
         */
        LoopLaunchBody: {
            /** @description Peers. */
            additionalRepos?: components["schemas"]["RepoRef"][];
            /** @description Agents in force at launch. */
            agents?: components["schemas"]["AgentDefinition"][];
            /** @description Origin for callbacks; desktops use their configured one. */
            apiBaseUrl: string;
            /** @description Documents. */
            artifacts: components["schemas"]["Artifact"][];
            /** @description Names worktree and branch. */
            artifactSlug?: string | null;
            /** @description Command name. */
            command: string;
            committer?: components["schemas"]["Committer"] | null;
            harness?: components["schemas"]["Harness"] | null;
            /** @description Path of a local clone. */
            localRepoPath?: string | null;
            /** @description Runner token for callbacks. */
            loopgateAuthToken: string;
            /** @description Id of the loop. */
            loopId: string;
            /**
             * Format: double
             * @description What the loop may spend; left out when its organization sets no limit.
             */
            maxSpendUsd?: number | null;
            /** @description Its branch. */
            parentBranchName?: string | null;
            /** @description Loop whose work is continued. */
            parentLoopId?: string | null;
            /** @description Its assistant session. */
            parentSessionId?: string | null;
            /** @description The document that the loop is about. */
            primaryArtifactId?: string | null;
            /** @description Wish in plain words. */
            prompt?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description Critic gates of its repositories. */
            repoConfigs?: components["schemas"]["RepoConfig"][];
            /** @description Prefix for support files in the object store. */
            s3StateKey?: string | null;
            /** @description Appended to the requirements of a PLAN. */
            userContext?: string | null;
        };
        /** @description A loop that runs, or waits for a place or for approval. */
        LoopStarted: {
            loopId: string;
            /**
             * Format: int32
             * @description Null while it waits or is being prepared.
             */
            pid: number | null;
            /** @description Its place among those that wait, from 1. */
            queuePlace?: number | null;
            success: boolean;
            /** @description Null for a loop without a worktree, and without a pid. */
            worktreePath: string | null;
        };
        /** @description An entry of `repos.json`. */
        ManagedRepo: {
            /** @description ISO 8601 with milliseconds. */
            addedAt?: string;
            /** @description What is known of running it; members that nobody here knows survive a rewrite. */
            deployment?: Record<string, never> | null;
            /** @description Text of the owner. */
            description?: string | null;
            /** @description Path; below the home directory it begins with `~`. */
            path: string;
        };
        /** @description Which message was answered on the code host. */
        MarkResponded: {
            /** @description The assistant's last message when it is missing. */
            messageId?: string | null;
            /** @description True when it is missing. */
            responded?: boolean | null;
        };
        /**
         * @description How to sign in.
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
            /** @description Always empty: it leads old clients to their browser sign-in. */
            apiKey: string;
            authType: string;
            providers: components["schemas"]["McpServers"];
            /** @description The expected URL, when it is one. */
            serverUrl: string | null;
        };
        /** @description Whether a provider reaches the expected MCP server. */
        McpRecord: {
            available: boolean;
            /** @description ISO 8601. */
            checkedAt: string;
            /** @description Why nothing is known, or why the server does not count. */
            error: string | null;
            /** @description Repeats `available` for old clients. */
            loopgateAvailable: boolean;
            /** @description The URL as the provider has it. */
            matchedUrl: string | null;
            /** @description Name that the provider gives the server. */
            serverName: string | null;
        };
        /** @description What is known of the expected MCP server, a provider. */
        McpServers: {
            assistant: components["schemas"]["McpRecord"];
            reviewer: components["schemas"]["McpRecord"];
        };
        /** @description A file that a ticket speaks of. */
        MentionedFile: {
            /** @description Within that repository. */
            filePath: string;
            repoPath: string;
        };
        /**
         * @description Who wrote it.
         * @enum {string}
         */
        MessageSource: "assistant" | "default";
        /** @description Tokens of one model. */
        ModelTokens: {
            /**
             * Format: int64
             * @description Tokens written to the cache.
             */
            cacheCreation?: number;
            /**
             * Format: int64
             * @description Tokens read from the cache.
             */
            cacheRead?: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            input: number;
            /**
             * Format: int64
             * @description Output tokens.
             */
            output: number;
        };
        /** @description A message to add. */
        NewMessage: {
            /** @description Not empty. */
            content: string;
            id: string;
            role: components["schemas"]["ChatRole"];
            sender?: components["schemas"]["ProviderId"] | null;
            timestamp: string;
        };
        /** @description A session to note. One that is known keeps what is not said. */
        NoteSession: {
            artifactId?: string | null;
            baseBranch?: string | null;
            contextRepoPaths?: string[] | null;
            loopId?: string | null;
            parentTicketId?: string | null;
            /**
             * Format: int64
             * @description A process that works on it. Shown, never signalled.
             */
            pid?: number | null;
            repoPath: string;
            ticketId: string;
            worktreePath: string;
        };
        /** @description No worktree; closed, because another answer holds its members and more. */
        NotFound: {
            /** @description Always false. */
            exists: boolean;
            /** @description What is missing, for a person. */
            message: string;
            /** @description Always null. */
            phase: string | null;
            /** @description Always null. */
            status: string | null;
        };
        /**
         * @description The pull request that the branch has now.
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
             * @description Absent when the code host did not name it.
             */
            number?: number | null;
            success: boolean;
            /** @description Absent when the code host did not name it. */
            url?: string | null;
        };
        /**
         * @description A pull request to open.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "title": "Add a dark theme",
         *       "body": "Follows the system's setting.",
         *       "ticketUrl": "https://tickets.example.com/AB-1"
         *     }
         */
        OpenPullRequest: {
            /** @description Markdown. */
            body?: string | null;
            /** @description Path of the clone; its branch is sent to `origin` first. */
            repoPath: string;
            /** @description Page of the ticket; named below the text. */
            ticketUrl?: string | null;
            title: string;
        };
        /**
         * @description Identifier of an operation of the gateway.
         * @enum {string}
         */
        OperationId: "orchestrator_launch" | "orchestrator_loop" | "orchestrator_loop_kill" | "orchestrator_plan_loop" | "orchestrator_status" | "orchestrator_kill" | "orchestrator_chat" | "orchestrator_comment_chat" | "orchestrator_commit_message" | "orchestrator_sessions" | "orchestrator_plan" | "orchestrator_judges" | "orchestrator_logs" | "orchestrator_chat_history" | "terminal_chat" | "ticket_chat" | "run_viewer_chat" | "reviewer_review" | "reviewer_argue" | "git_action" | "git_pr" | "git_branch_worktree" | "health_check" | "repos_config" | "deploy" | "learnings" | "filesystem" | "binary_paths_settings";
        /** @description What is beyond the list. */
        PageInfo: {
            /** @description Always null: there is no way to ask for more. */
            endCursor: string | null;
            hasNextPage: boolean;
        };
        /**
         * @description How much waits to be processed.
         * @example {
         *       "totalCount": 7,
         *       "worktreeCount": 3
         *     }
         */
        PendingLearnings: {
            totalCount: number;
            /** @description Worktrees that have any. */
            worktreeCount: number;
        };
        /**
         * @description That it was made.
         * @example {
         *       "success": true,
         *       "output": "https://github.com/acme/shop/pull/42#discussion_r1001",
         *       "placement": "line"
         *     }
         */
        PlacedAnswer: {
            /** @description What the code-host program printed. */
            output: string;
            /** @description `line`, `file` or `conversation`. */
            placement: string;
            success: boolean;
        };
        /** @description A plan as pages show it. */
        PlanAnswer: {
            /** @description Markdown. */
            content: string;
            /** @description Always true. */
            exists: boolean;
            /** @description Always true. */
            planExists: boolean;
            /** @description The plan as it was written. */
            raw: Record<string, never>;
            /** @description Absolute. */
            worktreeDir: string;
        };
        /** @description It was taken back. */
        PlanCancelled: {
            cancelled: boolean;
            /** @description `process-unknown`, or `process-still-running`. */
            warning?: string | null;
        };
        /** @description Noted. */
        PlanConfirmed: {
            ok: boolean;
            worktreeDir: string;
        };
        /** @description The repository that a plan is about. */
        PlannedRepo: {
            /** @example main */
            branch: string;
            /**
             * @description `<org>/<repo>` of its remote; empty when unknown.
             * @example acme/shop
             */
            fullName: string;
        };
        /** @description What is known here. */
        PlanPrepared: {
            repo: components["schemas"]["PlannedRepo"];
            repoPath: string;
            /** @description The ticket's worktree, which may not be there yet. */
            worktreeDir: string;
        };
        /** @description What is to be planned. */
        PreparePlan: {
            /** @description Branch to start from; what is checked out otherwise. */
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
            /** @description Start when the extraction that runs has ended. */
            waitForExtraction?: boolean;
        };
        /**
         * @description Id of a provider: `assistant`, `reviewer`, or one that the settings add. It names files, so it holds
         *     nothing but lower-case letters, digits and hyphens, and begins with a letter.
         * @example assistant
         */
        ProviderId: string;
        /** @description `pull`; closed, because other answers hold its members and more. */
        Pulled: {
            message: string;
            success: boolean;
        };
        /** @description Something that was said. */
        PullRequestComment: {
            author: components["schemas"]["CommentAuthor"];
            body: string;
            /** @description Only the beginning of the text is there. */
            bodyTruncated: boolean;
            createdAt: string;
            /**
             * Format: int64
             * @description Its number, 0 for a review's text; only for a clone's pull request.
             */
            databaseId?: number | null;
            id: string;
            /** @description Number of what it answers. */
            inReplyToId: string | null;
            /** @description Whether it belongs to a review; only for a clone's pull request. */
            isReview?: boolean | null;
            /** @description `issue` in the conversation, `review` in a review or on a line, `review_reply` in answer. */
            kind: string;
            /** Format: int64 */
            line: number | null;
            path: string | null;
            /** @description Its number; null for a review's text. */
            providerCommentId: string | null;
            providerNodeId: string;
            providerUrl: string | null;
            /** @description Whether its thread is settled. */
            resolved: boolean | null;
            stale: boolean;
            threadId: string | null;
            updatedAt: string | null;
            /** @description Its place on the web, or nothing; only for a clone's pull request. */
            url?: string | null;
        };
        /**
         * @description What was said about a pull request.
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
            /** @description Repository and branch, each percent-encoded, with `::` between. */
            branchId: string;
            budget: components["schemas"]["Budget"];
            /** @description Newest first. */
            comments: components["schemas"]["PullRequestComment"][];
            mixedProjection: boolean;
            /** Format: int32 */
            prNumber: number;
            /** @description When the code host was asked; ISO 8601. */
            providerProofedAt: string;
            prUrl: string;
            stale: boolean;
            /** @description `synced_empty`, `populated` or `over_limit_truncated`. */
            state: string;
        };
        /** @description A file. */
        PullRequestFile: {
            /** Format: int64 */
            additions: number;
            /** Format: int64 */
            deletions: number;
            filename: string;
            /** @description Its path before. */
            previous_filename?: string | null;
            /** @description `added`, `modified`, `removed`, `renamed`, `copied`, `changed` or `unchanged`. */
            status?: string | null;
        };
        /**
         * @description The files that a pull request changes.
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
            /** @description In the code host's order. */
            files: components["schemas"]["PullRequestFile"][];
        };
        /**
         * @description Pull requests, the newest first.
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
            /** @description Whether there are more. */
            hasMore: boolean;
            pageInfo: components["schemas"]["PageInfo"];
            /** @description At most 50. */
            prs: components["schemas"]["ListedPullRequest"][];
            /** @description Whether there are more. */
            truncated: boolean;
        };
        /** @description A verdict. */
        PullRequestReview: {
            author: string;
            /** @description `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `PENDING` or `DISMISSED`. */
            state: string;
            /** @description ISO 8601; null while it is being written. */
            submittedAt: string | null;
        };
        /**
         * @description Verdicts, summed up.
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
            /** @description Authors whose last verdict is an approval. A later comment takes none back. */
            approvalCount: number;
            /** @description Authors whose last verdict asks for changes. */
            changesRequestedCount: number;
            /** @description The code host's conclusion: `APPROVED`, `CHANGES_REQUESTED`, `REVIEW_REQUIRED` or null. */
            reviewDecision: string | null;
            /** @description The latest one of each author. */
            reviews: components["schemas"]["PullRequestReview"][];
        };
        /** @description `push` */
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
         * @description Result of a new detection.
         * @example {
         *       "redetected": false
         *     }
         */
        Redetected: {
            config?: components["schemas"]["Deployment"] | null;
            /** @description Whether a way to run it was found and stored. */
            redetected: boolean;
        };
        /** @description What was removed. */
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
            /** @description Also with uncommitted changes, or when git cannot. */
            force?: boolean | null;
            /** @description Directory inside the sandbox. */
            worktreePath: string;
        };
        /**
         * @description A run to remove.
         * @example {
         *       "runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"
         *     }
         */
        RemoveRun: {
            /** @description As it was answered. */
            runDir: string;
        };
        /**
         * @description Something to say.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "prNumber": 1,
         *       "body": "It is the colour of the logo."
         *     }
         */
        ReplyToPullRequest: {
            /** @description Markdown. */
            body: string;
            /**
             * Format: int64
             * @description Number of the comment on a line that is answered.
             */
            commentId?: number | null;
            /**
             * Format: int64
             * @description Number of the pull request.
             */
            prNumber: number;
            /** @description Path of the clone. */
            repoPath: string;
            /** @description Whether it is a review that asks for changes. */
            requestChanges?: boolean | null;
        };
        /** @description Critic gates of one repository. */
        RepoConfig: {
            /** @description Written to the worktree's settings as it is. */
            criticGates: Record<string, never>;
            /** @description `<org>/<repo>`. */
            repoFullName: string;
        };
        /**
         * @description Path of a repository's clone.
         * @example {
         *       "path": "/home/sam/src/shop"
         *     }
         */
        RepoPath: {
            /** @description Absolute; null when no managed repository has that name. */
            path: string | null;
        };
        /** @description A repository with the branch that a loop starts from. */
        RepoRef: {
            /** @description Branch to start from; empty for the repository's default branch. */
            branch?: string;
            /** @description `<org>/<repo>`. */
            fullName: string;
        };
        /**
         * @description Answer of `GET /api/gateway/repos`.
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
            /** @description The repositories. */
            repos: components["schemas"]["ListedRepo"][];
            /** @description Their settings. */
            settings: components["schemas"]["ReposSettings"];
        };
        /** @description Settings of `repos.json`. */
        ReposSettings: {
            /** @description Where worktrees are made. */
            worktreeParentDir?: string | null;
            /** @description Whether the owner agreed to it. */
            worktreeParentDirConfirmed?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        /** @description A review that was started. */
        ReviewAnswer: {
            /** @description When it ended. */
            completedAt?: string | null;
            /** @description What was asked for. */
            config: components["schemas"]["ReviewConfig"];
            /**
             * Format: int32
             * @description The exit code of its program.
             */
            exitCode?: number | null;
            /** @description The text of its log, its end. */
            log: string;
            /**
             * Format: int64
             * @description Bytes of the whole log.
             */
            logSize: number;
            /**
             * Format: int32
             * @description The pid of its program.
             */
            pid?: number | null;
            /** @description Whether its program runs. */
            processRunning: boolean;
            /** @description Who reviews. */
            provider: components["schemas"]["ProviderId"];
            /** @description The program's session. */
            sessionId?: string | null;
            /** @description When it was started. */
            startedAt: string;
            /** @description How far it is. */
            status: components["schemas"]["ReviewStatus"];
        };
        /**
         * @description What to review.
         * @example {
         *       "repoPath": "~/src/shop",
         *       "provider": "reviewer",
         *       "branchName": "feature/cache",
         *       "baseBranch": "main"
         *     }
         */
        ReviewBody: {
            /** @description What the changes are compared with; `main` when it is missing. */
            baseBranch?: string | null;
            /** @description The branch that is reviewed; needed when the ticket has no worktree. */
            branchName?: string | null;
            /** @description Hash of the commit, in the mode `commit`. */
            commit?: string | null;
            /** @description What is to be looked at. */
            instructions?: string | null;
            /** @description The model; the provider's default when it is missing. */
            model?: string | null;
            /** @description Who reviews; the reviewer when it is missing or unknown. */
            provider?: string | null;
            /** @description How long the model may think, in the program's words; `medium` when it is missing. */
            reasoningEffort?: string | null;
            /** @description Path of the repository. */
            repoPath: string;
            /** @description Which changes: `uncommitted`, `commit`, or anything else for those since the base branch. */
            reviewMode?: string | null;
            /** @description `true` reviews the repository itself instead of the ticket's worktree. */
            useBaseRepo?: boolean | null;
        };
        /** @description What a review was asked for. */
        ReviewConfig: {
            /** @description The branch that the changes are compared with. */
            baseBranch: string;
            /** @description The commit, in the mode `commit`. */
            commit?: string | null;
            /** @description What the person wants looked at. */
            instructions?: string | null;
            /** @description The model. */
            model: string;
            /** @description How long the model may think, in the program's words. */
            reasoningEffort: string;
            /** @description Which changes it is about. */
            reviewMode: components["schemas"]["ReviewMode"];
        };
        /**
         * @description Whether the reviewer can be asked.
         * @example {
         *       "available": true,
         *       "version": "0.169.0"
         *     }
         */
        ReviewerAvailability: {
            /** @description Whether its program runs. */
            available: boolean;
            /** @description Its version, `unknown` when it does not say; only when it runs. */
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
            /** @description Absolute paths of at most 10 files of at most 10 MiB that the message is about, such as uploaded images. */
            attachments?: string[] | null;
            /** @description `review` goes on in the session of the review. */
            chatContextId?: string | null;
            /** @description The model; the provider's default when it is missing. */
            model?: string | null;
            /** @description The whole prompt. */
            prompt: string;
            /** @description Path of the repository. */
            repoPath: string;
        };
        /**
         * @description One remark of a review. It is read leniently: a member of another type counts as absent. Members that are
         *     not known here survive.
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
            /** @description Whether it was posted as a comment on the pull request. */
            commented?: boolean;
            /** @description File it points at. */
            file?: string | null;
            /** @description Its text as it is posted. */
            humanizedBody?: string | null;
            /**
             * Format: int64
             * @description Line it points at, from 1.
             */
            line?: number | null;
            /** @description Its title, and the details on the lines that follow. */
            message?: string;
            /** @description Whether the text at its line is gone from the file. Never stored. */
            outdated?: boolean;
            /** @description P0 to P3. */
            priority?: string | null;
            /** @description How bad it is: `critical`, `high`, `medium` or `low`, or a word of the client. */
            severity?: string;
            /** @description What to do about it. */
            suggestion?: string | null;
        };
        /**
         * @description What the review of one provider found, as it is stored on disk. Members that are not known here survive.
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
            /** @description Whether the person declined the change. */
            declined?: boolean | null;
            /** @description Why. */
            declineReason?: string | null;
            /** @description In the order of the review. */
            findings?: components["schemas"]["ReviewFinding"][];
            /** @description Which model reviewed; `unknown` when the client did not say. */
            model?: string | null;
            /** @description Whose review it was. */
            provider?: string | null;
        };
        /**
         * @description Which changes a review is about.
         * @enum {string}
         */
        ReviewMode: "uncommitted" | "base" | "commit";
        /** @description A review, or why there is none. */
        ReviewOrReason: components["schemas"]["ReviewAnswer"] | {
            /** @description Why not. */
            message: string;
        };
        /**
         * @description How far a review is.
         * @enum {string}
         */
        ReviewStatus: "running" | "completed" | "failed" | "stopped";
        /**
         * @description How far a review is.
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
            /** @description The ticket's worktree. */
            worktreeDir: string;
        };
        /**
         * @description How much harm an operation can do.
         * @enum {string}
         */
        RiskTier: "none" | "low" | "medium" | "high";
        /** @description One go of the assistant. */
        Run: components["schemas"]["ModelTokens"] & {
            /**
             * Format: double
             * @description What it cost, when the assistant said so.
             */
            costUsd?: number | null;
            /**
             * Format: int64
             * @description Counts from 1 within the loop.
             */
            run: number;
            /**
             * Format: int64
             * @description Turns in it.
             */
            turns: number;
        };
        /**
         * @description A run to unpack.
         * @example {
         *       "file": "(the bytes of run.zip)"
         *     }
         */
        RunArchive: {
            /**
             * Format: binary
             * @description A zip file of at most 200 MiB. The name of the field does not matter.
             */
            file: string;
        };
        /**
         * @description What a run holds.
         * @example {
         *       "files": [
         *         "plan.json",
         *         "logs/loop.log"
         *       ]
         *     }
         */
        RunFiles: {
            /** @description Relative paths, in order. */
            files: string[];
        };
        /**
         * @description That it was removed.
         * @example {
         *       "success": true
         *     }
         */
        RunRemoved: {
            success: boolean;
        };
        /**
         * @description How far the start of a program is.
         * @enum {string}
         */
        RunStatus: "spawning" | "running";
        /**
         * @description A question about a run.
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
            /** @description Absolute paths of at most 10 files of at most 10 MiB that the message is about, such as uploaded images. */
            attachments?: string[] | null;
            /** @description The MCP server whose tools may be used. */
            expectedMcpUrl?: string | null;
            fileContext?: components["schemas"]["FileContext"] | null;
            /** @description Not blank. */
            message: string;
            /** @description Who answers; the assistant when it is missing or unknown. It may change within a chat. */
            provider?: string | null;
            /** @description Directory of the run; without one no file is read. */
            runDir?: string | null;
        };
        /**
         * @description That it was said.
         * @example {
         *       "success": true,
         *       "message": "Comment posted successfully",
         *       "output": "https://github.com/acme/shop/pull/42#issuecomment-2001"
         *     }
         */
        SaidAnswer: {
            message: string;
            /** @description What the code-host program printed. */
            output: string;
            success: boolean;
        };
        /** @description Work on a ticket. */
        SessionEntry: components["schemas"]["NoteSession"] & {
            /** @description ISO 8601. */
            lastAccessedAt: string;
            /** @description ISO 8601. */
            startedAt: string;
        };
        /** @description The sessions whose worktree is there. */
        SessionList: {
            sessions: components["schemas"]["SessionEntry"][];
        };
        /**
         * @description Paths to set; null clears one.
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
        /** @description A history, and whether the reviewer remembers the ticket. */
        ShownHistory: components["schemas"]["ChatHistory"] & {
            /** @description Whether the reviewer has a session about a review of this ticket. */
            reviewerSessionExists: boolean;
        };
        /**
         * @description Where a work directory was found.
         * @enum {string}
         */
        Source: "session" | "worktree";
        /** @description Everything that a loop has used so far. */
        Spend: {
            /** @default null */
            cost: components["schemas"]["Cost"] | null;
            /**
             * @description The newest runs, at most 20, the oldest of them first.
             * @default []
             */
            recentRuns: components["schemas"]["Run"][];
            /**
             * @description The newest turns, at most 20, the oldest of them first.
             * @default []
             */
            recentTurns: components["schemas"]["Turn"][];
            /**
             * Format: int64
             * @description Runs of the assistant that have ended.
             * @default 0
             */
            runs: number;
            /**
             * @description Totals.
             * @default {
             *       "inputTokens": 0,
             *       "outputTokens": 0,
             *       "cacheCreationInputTokens": 0,
             *       "cacheReadInputTokens": 0
             *     }
             */
            tokens: components["schemas"]["TokenUsage"];
            /**
             * @description Totals of each model.
             * @default {}
             */
            tokensByModel: {
                [key: string]: components["schemas"]["ModelTokens"];
            };
            /**
             * Format: int64
             * @description Answers of models.
             * @default 0
             */
            turns: number;
        };
        /** @description A worktree without a state. */
        Starting: {
            /** @description Always true. */
            exists: boolean;
            loop?: components["schemas"]["LoopFacts"] | null;
            /** @description What is going on, for a person. */
            message: string;
            /** @description Always `Initializing`. */
            phase: string;
            /** @description Always false. */
            stateExists: boolean;
            /** @description Always `STARTING`. */
            status: string;
        };
        /** @description `status`: where HEAD is and what changed. */
        StatusAnswer: {
            /** @description The branch; `HEAD` when it is detached. */
            currentBranch: string;
            files: components["schemas"]["StatusFiles"];
            hasChanges: boolean;
        };
        /**
         * @description Changed paths, relative to the root of the working tree, in git's order. A path may be in
         *     several lists. An untracked directory ends with a slash. In a name that is not UTF-8, `U+FFFD`
         *     stands for what cannot be shown.
         */
        StatusFiles: {
            /** @description Added, or not known to git. */
            created: string[];
            deleted: string[];
            /** @description Changed, renamed (the new name), or in conflict. */
            modified: string[];
            /** @description Changed in the index. */
            staged: string[];
        };
        /**
         * @description What a stop did.
         * @example {
         *       "stopped": true,
         *       "pid": 4242
         *     }
         */
        StopAnswer: {
            /** @description Why nothing was done. */
            message?: string | null;
            /**
             * Format: int32
             * @description Its pid.
             */
            pid?: number | null;
            /** @description Whether a program is being ended, or was gone already. */
            stopped: boolean;
        };
        /**
         * @description Which review to end.
         * @example {
         *       "repo": "~/src/shop",
         *       "provider": "reviewer"
         *     }
         */
        StopBody: {
            /** @description Who reviews; the reviewer when it is missing or unknown. */
            provider?: string | null;
            /** @description Path of the repository. */
            repo: string;
        };
        /**
         * @description Done.
         * @example {
         *       "success": true
         *     }
         */
        SuccessResponse: {
            success: boolean;
        };
        /** @description `branch`: the branch that is checked out now. */
        Switched: {
            /** @description The name after unusual characters became `-`. */
            branchName: string;
            message: string;
            success: boolean;
        };
        /** @description `sync-status`: how far the branch is from `main`, or `master`, of `origin`. */
        SyncAnswer: {
            /** Format: int64 */
            aheadBy: number;
            /** Format: int64 */
            behindBy: number;
            /** @description The branch; `HEAD` when it is detached. */
            currentBranch: string;
            isUpToDate: boolean;
            /** @description `origin/main` or `origin/master`; null when the remote has neither. */
            trackingBranch: string | null;
        };
        /** @description How far a plan's tasks are. */
        TaskProgress: {
            /** @description Done tasks. */
            completed: number;
            /** @description Open tasks. */
            pending: number;
            /** @description Both. */
            total: number;
        };
        /**
         * @description Worktree to tear down.
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
             * @description `pid` of the answer of `deploy`.
             */
            pid?: number | null;
            /**
             * Format: int32
             * @description Its port, when none is stored.
             */
            port?: number | null;
        };
        /**
         * @description A message of the terminal.
         * @example {
         *       "message": "@reviewer Which port does the shop listen on?"
         *     }
         */
        TerminalMessage: {
            /** @description Absolute paths of at most 10 files of at most 10 MiB that the message is about, such as uploaded images. */
            attachments?: string[] | null;
            /** @description The MCP server whose tools may be used. */
            expectedMcpUrl?: string | null;
            /** @description Not blank. One that begins with `@reviewer ` is for the reviewer, every other for the assistant. */
            message: string;
        };
        /** @description A ticket, as its tracker shows it. */
        TicketContext: {
            description?: string | null;
            /** @description Not empty, as the other texts but the description. */
            identifier: string;
            title: string;
            url: string;
        };
        /**
         * @description Members of a body that is about the worktree of a ticket.
         * @example {
         *       "ticketId": "AB-1",
         *       "repoPath": "~/src/shop"
         *     }
         */
        TicketMembers: {
            /** @description The clone that it belongs to, inside the sandbox. */
            repoPath: string;
            /** @description The ticket. */
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
            /** @description Absolute paths of at most 10 files of at most 10 MiB that the message is about, such as uploaded images. */
            attachments?: string[] | null;
            /** @description The MCP server whose tools may be used. */
            expectedMcpUrl?: string | null;
            /** @description Not blank. */
            message: string;
            /** @description Who answers; the assistant when it is missing or unknown. It may change within a chat. */
            provider?: string | null;
            /** @description Path of the repository that it is about; without one no file is read. */
            repoPath?: string | null;
            /** @description The ticket itself. */
            ticketContext: components["schemas"]["TicketContext"];
            /** @description Chooses the history. */
            ticketId: string;
        };
        /** @description How a ticket stands. */
        TicketStatus: components["schemas"]["FullStatus"] | components["schemas"]["Starting"] | components["schemas"]["NotFound"];
        /** @description Tokens of a run, as `output` and `error` events carry them. */
        TokenUsage: {
            /**
             * Format: int64
             * @description Tokens written to the cache.
             */
            cacheCreationInputTokens?: number;
            /**
             * Format: int64
             * @description Tokens read from the cache.
             */
            cacheReadInputTokens?: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Output tokens.
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
         * @description Result of a teardown.
         * @example {
         *       "success": true
         *     }
         */
        TornDown: {
            error?: string | null;
            success: boolean;
        };
        /** @description One answer of a model. */
        Turn: components["schemas"]["ModelTokens"] & {
            /** @description Who answered. */
            model: string;
            /**
             * Format: int64
             * @description Counts from 1 within the loop.
             */
            turn: number;
        };
        /** @description How many tickets wait for the person. */
        UnreadCount: {
            count: number;
        };
        /**
         * @description Settings to change.
         * @example {
         *       "worktreeParentDir": "~/src/worktrees",
         *       "worktreeParentDirConfirmed": true
         *     }
         */
        UpdateRepos: {
            /** @description Where worktrees are made; inside the sandbox. */
            worktreeParentDir?: string | null;
            /** @description Whether the owner agreed to it. */
            worktreeParentDirConfirmed?: boolean | null;
        };
        /**
         * @description The images that were saved, in the order in which they came.
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
        /** @description One of them. */
        UploadedFile: {
            /** @description Path and query of a GET that answers it. */
            apiUrl: string;
            /** @description As the sender called it. */
            originalName: string;
            /** @description Absolute. */
            path: string;
            /** @description As it is called on disk. */
            savedName: string;
            /**
             * Format: int64
             * @description Bytes.
             */
            size: number;
        };
        /** @description A learning that helped. */
        UsedLearning: {
            /** @description What it says, as its pattern does. */
            summary: string;
        };
        /**
         * @description A verdict, and why.
         * @example {
         *       "verdict": "approve",
         *       "reason": "The fix is needed and complete."
         *     }
         */
        Verdict: {
            /** @description Not blank. */
            reason: string;
            /** @description The verdict. */
            verdict: components["schemas"]["VerdictKind"];
        };
        /**
         * @description A verdict, if there is one.
         * @example {
         *       "verdict": {
         *         "verdict": "approve",
         *         "reason": "The fix is needed and complete."
         *       }
         *     }
         */
        VerdictBody: {
            /** @description Why the provider gave no answer. */
            error?: string | null;
            verdict: components["schemas"]["Verdict"] | null;
        };
        /**
         * @description What a reviewer makes of a change as a whole.
         * @enum {string}
         */
        VerdictKind: "approve" | "needs_attention" | "decline";
        /**
         * @description The desktop's version.
         * @example {
         *       "version": "0.13.18",
         *       "commits": []
         *     }
         */
        Version: {
            /** @description Always empty in a release. */
            commits: Record<string, never>[];
            version: string;
        };
        /** @description Always empty here. */
        Versions: Record<string, never>;
        /** @description A request that is held. */
        WaitingRequest: {
            /** @description What it does, in the words of its body. */
            action?: string | null;
            /** @description ISO 8601. */
            createdAt: string;
            /** @description Directories that it is about, where they really are. */
            directories: string[];
            /** Format: uuid */
            id: string;
            /** @description Who asks: the origin of a page, or `cloud-socket`. */
            location: string;
            /** @description Id of the loop that it is to start. */
            loopId?: string | null;
            method: string;
            operationId: components["schemas"]["OperationId"];
            path: string;
            /** @description Without the values of sensitive members. */
            query?: string | null;
            reason: string;
            riskTier: components["schemas"]["RiskTier"];
            /** @description ISO 8601: when the last of those who ask gives up. */
            waitsUntil: string;
        };
        /**
         * @description What waits for the owner.
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
         *           "reason": "git_action is of the medium tier, and requests above low ask first"
         *         }
         *       ],
         *       "command": "loopgate approvals"
         *     }
         */
        WaitingRequests: {
            /**
             * @description Command on this machine that lists them too; followed by `approve` or `deny` and an id, or the
             *     last eight characters of one, it decides.
             */
            command: string;
            /** @description What is wrong with the rules and policies that the owner has set. */
            problems?: string[];
            /** @description Newest first. */
            waiting: components["schemas"]["WaitingRequest"][];
        };
        /**
         * @description Where a ticket is worked on.
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
            /** @description Absolute; null when there is none. */
            path: string | null;
            /** @description The project's `CLAUDE.md`, when it has changes that are not committed. */
            pendingClaudeMd: string | null;
            source?: components["schemas"]["Source"] | null;
        };
        /** @description A worktree. */
        WorktreeAnswer: {
            /** @description Empty when it is on no branch. */
            branch: string;
            path: string;
            /** @description The ticket in its name. */
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
            /** @description The requests that are held */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingRequests"];
                };
            };
            /** @description Asked over the link */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It was started */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployStarted"];
                };
            };
            /** @description A member is missing, or no start command is stored or detected */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "No deployment configuration detected for this repository",
                     *       "code": "invalid_request"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description No such worktree */
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
            /** @description It was not started */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Whether something accepts connections on its port */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExistingDeploy"];
                };
            };
            /** @description A member is missing */
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
            /** @description Outside the sandbox */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The result, also when nothing was found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detected"];
                };
            };
            /** @description No repository given */
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
            /** @description Outside the sandbox */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The last URL of this machine in the log, else that of the stored port */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployInfo"];
                };
            };
            /** @description No repository given */
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
            /** @description Outside the sandbox */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The result, also when it does not answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployHealth"];
                };
            };
            /** @description No URL given */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It is terminated, now or before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployKilled"];
                };
            };
            /** @description No pid given */
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
            /** @description A process that no deploy started */
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
            /** @description It does not end */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "Failed to kill process: it does not end",
                     *       "code": "operation_failed"
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The result, also when nothing was found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Redetected"];
                };
            };
            /** @description No repository given */
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
            /** @description Outside the sandbox */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description `pid` of the answer of `deploy`
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
                 * @description Ticket
                 * @example AB-1
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The status, also when it was never started */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployStatus"];
                };
            };
            /** @description No repository given */
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
            /** @description Outside the sandbox */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Whether nothing of it is left */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TornDown"];
                };
            };
            /** @description A member is missing, or there is nothing to stop */
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
            /** @description Outside the sandbox */
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
            /** @description The record of the run cannot be used */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Directory; `~` when it is missing
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
            /** @description Its folders, at most 2000 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Directories"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description It cannot be read */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Piece of a path, in any case, that reaches into the file's name
                 * @example theme
                 */
                query?: string;
                /**
                 * @description Path of the repository
                 * @example ~/src/shop
                 */
                repo: string;
                /**
                 * @description Ticket; required unless `base` is `true`
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
            /** @description The best matches, also when there is no such directory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundFiles"];
                };
            };
            /** @description No repository or no ticket given */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Done; the shape follows from the action */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
                };
            };
            /** @description Something is missing or not valid */
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
            /** @description Outside the sandbox */
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
            /** @description No such directory */
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
            /** @description Git or one of its hooks said no */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Whole name of the branch
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
            /** @description No name or no branch given */
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
            /** @description Git could not tell */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description What there is; nothing where no repository is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BranchesAnswer"];
                };
            };
            /** @description No path given */
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
            /** @description Outside the sandbox */
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
            /** @description No such directory */
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
            /** @description Git could not be asked */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Both sides */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiffAnswer"];
                };
            };
            /** @description Something is missing or not valid, or the file has no changes */
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
            /** @description Outside the sandbox or the repository */
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
            /** @description No such repository */
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
            /** @description A side is larger than 5 MiB */
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
            /** @description Git could not tell */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It is there */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedAnswer"];
                };
            };
            /** @description A member is missing, or no branch is checked out */
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
            /** @description Outside the sandbox */
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
            /** @description No such directory */
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
            /** @description Git or the code host said no */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Branch that the caller takes it for
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
                 * @description Number of the pull request, beside a path
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
            /** @description Newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestComments"];
                };
            };
            /** @description Something is missing or no name or number */
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
            /** @description The code-host program is not logged in */
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
            /** @description Outside the sandbox, or the branch of another repository */
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
            /** @description No such directory or pull request */
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
            /** @description The clone does not come from the code host */
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
            /** @description The code host gives no answer now; `reason` tells why */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Number of the pull request, beside a path
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
            /** @description All of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestFiles"];
                };
            };
            /** @description Something is missing or no name or number */
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
            /** @description Outside the sandbox */
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
            /** @description No such directory */
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
            /** @description The code host said no */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Its hash */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeadSha"];
                };
            };
            /** @description No path or no number */
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
            /** @description Outside the sandbox */
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
            /** @description No such directory */
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
            /** @description The code host said no */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It was made */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlacedAnswer"];
                };
            };
            /** @description A member is missing */
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
            /** @description Outside the sandbox */
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
            /** @description No such directory */
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
            /** @description The code host said no */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description `open`, which is the default, or `merged`
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
            /** @description The newest ones */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestList"];
                };
            };
            /** @description No path, or another state */
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
            /** @description Outside the sandbox */
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
            /** @description No such directory */
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
            /** @description The code host said no */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It was said */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SaidAnswer"];
                };
            };
            /** @description A member is missing */
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
            /** @description Outside the sandbox */
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
            /** @description No such directory */
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
            /** @description The code host said no */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description What the reviewers think */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestReviews"];
                };
            };
            /** @description Something is missing or no name or number */
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
            /** @description No such pull request */
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
            /** @description The code host said no */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description No name given */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The login */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GitUser"];
                };
            };
            /** @description Nobody, or the program cannot tell */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description What was removed and what was not */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CleanedUp"];
                };
            };
            /** @description No worktree parent is set, or it cannot be read */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It is gone, or was not there */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gone"];
                };
            };
            /** @description No path given, or force on something that is no worktree */
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
            /** @description Outside the sandbox */
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
            /** @description It has uncommitted changes */
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
            /** @description Git refused */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description MCP server to look for
                 * @example https://mcp.example.com/mcp
                 */
                expectedMcpUrl?: string;
                /**
                 * @description Adds a row that compares the desktop's version
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
            /** @description The rows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthReport"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The patterns, in the order of their file */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description MCP server that is meant
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
            /** @description By the browser */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpAuth"];
                };
            };
            /** @description Asked over the link */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description One range of bytes
                 * @example bytes=0-7
                 */
                range?: string | null;
            };
            path: {
                /**
                 * @description Ticket, then path of the file, with slashes
                 * @example AB-1/screen.png
                 */
                attachmentPath: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, with the type of its ending */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example (the bytes of screen.png) */
                    "*/*": number[];
                };
            };
            /** @description The range that was asked for */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example (the first eight bytes) */
                    "*/*": number[];
                };
            };
            /** @description No repository or no file given */
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
            /** @description Outside the sandbox, or outside the ticket's attachments */
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
            /** @description No such file */
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
            /** @description The file has no such bytes */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": "The file has no such bytes",
                     *       "code": "invalid_request",
                     *       "size": 67
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It cannot be read */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Whose chat */
                provider?: components["schemas"]["ProviderId"];
                /** @description Path of the repository */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The history, empty when there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownHistory"];
                };
            };
            /** @description No repository, or an unknown provider */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Whose chat */
                provider?: components["schemas"]["ProviderId"];
                /** @description Path of the repository */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Ticket */
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
            /** @description Kept */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedToHistory"];
                };
            };
            /** @description The body breaks a rule, no repository, or an unknown provider */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Place of the one message to remove, from 0 */
                index?: number;
                /** @description Whose chat */
                provider?: components["schemas"]["ProviderId"];
                /** @description Path of the repository */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed, or there was nothing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovedFromHistory"];
                };
            };
            /** @description No repository, an unknown provider, or an index that is none */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Ticket */
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
            /** @description One event a line, `done` last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description No message, no repository, or an unknown provider */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The message cannot be kept */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /** @description Review comment */
                commentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The history, empty when there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatHistory"];
                };
            };
            /** @description No ticket or no repository */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /** @description Review comment */
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
            /** @description One event a line, `done` last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description No ticket, no repository, or no message */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Neither worktree nor repository is there */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The message cannot be kept */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /** @description Review comment */
                commentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forgotten, or there was nothing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description No ticket or no repository */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /** @description Review comment */
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
            /** @description Noted; an unknown message changes nothing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description No ticket, no repository, or no JSON */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Path of the repository */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A message, a plain one when nothing better is known */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommitMessage"];
                };
            };
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It runs, or learnings are turned off */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsExtractionStart"];
                };
            };
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No worktree, or no chat */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Path of the repository */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Ticket, or slug or id of a loop */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Their report, or that there is none yet */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Judgement"];
                };
            };
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The report cannot be read, or is no JSON */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It has ended, now or before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Killed"];
                };
            };
            /** @description Neither a pid nor a ticket */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox, or a process that Loopgate did not start */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The recorded pid cannot be read, or the process does not end */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It runs, now or before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LaunchAnswer"];
                };
            };
            /** @description No ticket or no repository */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description A path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It is being launched */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It could not be launched */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Path of the repository */
                repo: string;
            };
            header?: never;
            path: {
                /**
                 * @description Ticket
                 * @example AB-1
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its status, also when there was none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsExtractionStatus"];
                };
            };
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Lines at most, 1 to 10000; 100 when it is missing or something else */
                lines?: number;
                /** @description Path of the repository */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Ticket, or slug or id of a loop */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last lines, also when there are none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogTail"];
                };
            };
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It runs, is being prepared, or waits in line */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopStarted"];
                };
            };
            /** @description The body breaks a rule */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description A path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No such repository, and it could not be cloned */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It runs already, or another loop has the worktree */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No API origin, or the control plane cannot be reached */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It was asked to end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopEnded"];
                };
            };
            /** @description No loop named */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Nothing of this loop runs */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It is being taken up, or is about to wait */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description How many wait */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Ticket */
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
            /** @description Taken back; a warning says when its process is not known to be gone */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanCancelled"];
                };
            };
            /** @description No repository or no loop */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox, or a process that Loopgate did not start */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The control plane failed, or the process cannot be ended */
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
            /** @description The control plane cannot be reached; what ran here was ended */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No key for the control plane */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Ticket */
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
            /** @description Noted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanConfirmed"];
                };
            };
            /** @description No repository, or an id that is none */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It cannot be written */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Ticket */
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
            /** @description Its repository and its worktree; nothing is written */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanPrepared"];
                };
            };
            /** @description No repository */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Ticket */
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
            /** @description Noted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanConfirmed"];
                };
            };
            /** @description No repository, or an id that is none */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It cannot be written */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Ticket */
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
            /** @description Its repository and its worktree; nothing is written */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanPrepared"];
                };
            };
            /** @description No repository */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Path of the repository */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Ticket, or slug or id of a loop */
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
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No worktree, or no plan yet */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Its status, also when there was none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsBatchStatus"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It runs, ran already, or there is nothing to do */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsBatchStart"];
                };
            };
            /** @description The self-learning plugin is missing */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Path of the repository */
                repo: string;
                /**
                 * @description Ticket
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
            /** @description Its status, also when nothing was processed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsProcessingStatus"];
                };
            };
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It runs, waits for the extraction, or there is nothing to do */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningsProcessingStart"];
                };
            };
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The program does not start */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Recorded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningUsesRecorded"];
                };
            };
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No worktree */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description No sandbox is set */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Noted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description The body breaks a rule */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description A path outside the sandbox */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox is set */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Ticket */
                ticketId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forgotten, or never known */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description No ticket named */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No sandbox is set */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description How many */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnreadCount"];
                };
            };
            /** @description No sandbox is set */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Directory that holds `.loopgate/work` */
                workDir: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What its state says */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DirectoryStatus"];
                };
            };
            /** @description No directory given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                /** @description Path of the repository */
                repo: string;
            };
            header?: never;
            path: {
                /** @description Ticket, or slug or id of a loop */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its status, also when there is no worktree */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TicketStatus"];
                };
            };
            /** @description No repository given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
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
            /** @description Saved */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Uploaded"];
                };
            };
            /** @description No repository, no form, no image, or one that is not taken */
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
            /** @description Outside the sandbox */
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
            /** @description They cannot be saved */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Added */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Added"];
                };
            };
            /** @description No path, no such directory, or already there */
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
            /** @description Outside the sandbox */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description No path given, or not in the list */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Changed */
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
            /** @description Outside the sandbox */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
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
            /** @description One event a line, `done` last */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Whether it runs, and which version */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewerAvailability"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
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
            /** @description One event a line, `done` last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description No prompt or no repository */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /**
                 * @description Finding
                 * @example finding-0
                 */
                findingId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The history, empty when there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatHistory"];
                };
            };
            /** @description No ticket or no repository */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /**
                 * @description Finding
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
            /** @description One event a line, `done` last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description No ticket, no repository, or no message */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /**
                 * @description Finding
                 * @example finding-0
                 */
                findingId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forgotten, or there was nothing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description No ticket or no repository */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            header?: never;
            path: {
                /**
                 * @description Finding
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
            /** @description Stored; an unknown id changes nothing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description No ticket, no repository, or a message that is none */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
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
            /** @description The pairs, in the order of the first list; those of the provider follow */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Duplicates"];
                };
            };
            /** @description A member is missing, or an entry of a list is no finding */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
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
            /** @description The findings; none when there is no log */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExtractedFindings"];
                };
            };
            /** @description A member is missing */
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
            /** @description Outside the sandbox */
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
            /** @description The provider that was asked gave no usable answer */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Whose review; the reviewer's when it is missing
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
                 * @description Ticket
                 * @example SHOP-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The findings; none when none are stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewFindings"];
                };
            };
            /** @description No repository, or an unknown provider */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Whose review; the reviewer's when it is missing
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
                 * @description Ticket
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
            /** @description Stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindingsChanged"];
                };
            };
            /** @description No repository, an unknown provider, no such finding, or nothing to change */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
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
            /** @description The verdict, or why there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerdictBody"];
                };
            };
            /** @description A member is missing, or the provider is unknown */
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
            /** @description Outside the sandbox */
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
            /** @description The provider cannot be asked */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket, `pr-<number>` for a pull request
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
            /** @description One event a line, `done` last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description No repository, no branch for a worktree that is missing, or no pull request for the assistant */
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
            /** @description Outside the sandbox */
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
            /** @description A review by the same provider, or a loop, is at work there */
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
            /** @description There is no worktree */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Who reviewed
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
                 * @description Ticket
                 * @example pr-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The review, or that there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewStatusAnswer"];
                };
            };
            /** @description No repository */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Who reviewed
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
                 * @description Ticket
                 * @example pr-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forgotten, or there was nothing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description No repository, or an unknown provider */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
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
            /** @description It is being ended, or was not running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopAnswer"];
                };
            };
            /** @description No repository, or no program is known */
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
            /** @description Outside the sandbox, or a process that Loopgate did not start */
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
            /** @description There is no review */
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
            /** @description Its state cannot be read or written */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Who reviewed
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
                 * @description Ticket
                 * @example pr-7
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiscardAnswer"];
                };
            };
            /** @description No repository, or an unknown provider */
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
            /** @description Outside the sandbox */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The history, empty when there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatHistory"];
                };
            };
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description One event a line, `done` last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description No message */
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
            /** @description Outside the sandbox */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Forgotten, or there was nothing */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description As it was answered
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
            /** @description Its files, at most 20000 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunFiles"];
                };
            };
            /** @description No directory of a run */
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
            /** @description It was removed */
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
            /** @description It cannot be read */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Unpacked */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Extracted"];
                };
            };
            /** @description No form, no archive, or one that is not taken */
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
            /** @description It cannot be unpacked */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description It is gone */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunRemoved"];
                };
            };
            /** @description No directory of a run */
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
            /** @description It cannot be removed */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The paths */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BinaryPaths"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Not an object, an unknown program, or a path that cannot be used */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The history, empty when there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatHistory"];
                };
            };
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description One event a line, `done` last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description No message */
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
            /** @description No directory to work in, or the message cannot be stored */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Forgotten, or there was nothing */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
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
            /** @description The history, empty when there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatHistory"];
                };
            };
            /** @description No ticket */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description One event a line, `done` last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ChatEvent"];
                };
            };
            /** @description No ticket, no message, or nothing about the ticket */
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
            /** @description Outside the sandbox */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
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
            /** @description Forgotten, or there was nothing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessResponse"];
                };
            };
            /** @description No ticket */
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
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
                 * @description Ticket
                 * @example AB-1
                 */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its path, also when there is none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkDirectory"];
                };
            };
            /** @description No sandbox is set */
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
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
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
            /** @description The session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangeAnswer"];
                };
            };
            /** @description No Origin, or no challenge token */
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
            /** @description Not from loopback, or the origin is not allowed */
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
            /** @description The body did not come in time */
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
            /** @description More than 4096 bytes */
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
            /** @description A body that any page could have sent */
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
            /** @description Too many exchanges of this origin */
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
            /** @description The control plane gave no usable answer */
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
            /** @description No API key or no API origin */
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
            /** @description The control plane did not answer in time */
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
            /** @description A gateway is here */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Called by a name that is not ours */
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
