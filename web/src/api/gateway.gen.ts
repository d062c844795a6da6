// Generated from docs/openapi/gateway.json by `npm run generate`. Do not edit.

export interface paths {
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
         * @description Answers when its process runs and its job is recorded; with a clone and a set-up script before
         *     that, this can take minutes.
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
         * @description The first member that is wrong answers, and nothing is stored.
         */
        patch: operations["set_binary_paths"];
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
            agentId: string;
            agentName: string;
            agentType: string;
            /** @description ISO 8601, or empty. */
            startedAt: string;
        };
        /** @description The repository that was added. */
        Added: {
            repo: components["schemas"]["ListedRepo"];
            success: boolean;
        };
        /** @description A repository to add. */
        AddRepo: {
            /** @description Text of the owner. */
            description?: string | null;
            /** @description Directory inside the sandbox; `~` is the home directory. */
            path: string;
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
        /** @description The paths that are set, by `assistant`, `codeHost`, `reviewer`, `python3` and `git`. */
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
        /** @description Branches and worktrees of a repository. */
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
        /** @description How its branch stands. */
        BranchStatus: {
            /** @description Whether it was merged; only told of one that the remote has no more. */
            merged: boolean;
            /** @description Whether the remote has no such branch. */
            remoteMissing: boolean;
        };
        /** @description Where a branch is checked out. */
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
        /** @description What this desktop can do; which programs it has is told only to who is signed in. */
        Capabilities: {
            commandSigning: boolean;
            tools: components["schemas"]["Tools"];
            versions: components["schemas"]["Versions"];
        };
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
        /** @description What became of the worktrees, as paths. */
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
        /** @description A remark to make. */
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
        /** @description `commit`: the new commit. */
        Committed: {
            /** @description Short hash. */
            commit: string;
            message: string;
            success: boolean;
        };
        /** @description Whose name stands in the commits. */
        Committer: {
            /** @description E-mail address. */
            email: string;
            /** @description Name. */
            name: string;
        };
        /** @description Both sides. */
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
        /** @description The file, and what it is held against. */
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
        /** @description Folders, repositories first. */
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
            isRunning: boolean;
            /** Format: double */
            iteration?: number | null;
            lastUpdate?: string | null;
            phase?: string | null;
            reason?: string | null;
            status?: string | null;
        };
        /** @description That it was done. */
        Done: {
            success: boolean;
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
        /** @description What a page gets. */
        ExchangeAnswer: {
            /** @description ISO 8601, UTC, milliseconds. Use never prolongs it. */
            expiresAt: string;
            /** @description 64 hex characters, for the header `X-Desktop-Session-Token` together with `Origin`. */
            sessionToken: string;
        };
        /** @description What a page sends. */
        ExchangeRequest: {
            /** @description Challenge token of the control plane, good for one exchange. */
            challengeToken: string;
        };
        /** @description Where a run was unpacked. */
        Extracted: {
            runDir: string;
        };
        /** @description The best matches. */
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
            activeAgents: components["schemas"]["ActiveAgent"][];
            currentTaskId?: string | null;
            exists: boolean;
            /** @description Whether the status was found in the output, because the state did not tell. */
            fallbackDetected: boolean;
            phase: string;
            /** Format: int32 */
            pid: number | null;
            planExists: boolean;
            processRunning: boolean;
            /** @description The state as it was written. */
            raw: Record<string, never>;
            stateExists: boolean;
            status: string;
            taskProgress?: components["schemas"]["TaskProgress"] | null;
            timestamp?: string | null;
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
        /** @description The user at the code host. */
        GitUser: {
            login: string;
        };
        /** @description That it is gone. */
        Gone: {
            message: string;
            success: boolean;
        };
        /**
         * @description Provider that runs a loop.
         * @enum {string}
         */
        Harness: "assistant" | "reviewer";
        /** @description The last commit of a pull request. */
        HeadSha: {
            sha: string;
        };
        /** @description What a client finds on the port. */
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
        /** @description Facts for whoever has to find out why. */
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
        /** @description Everything that was looked at. */
        HealthReport: {
            allRequiredPassed: boolean;
            /** @description Rows in a fixed order; clients match on their ids. */
            checks: components["schemas"]["Check"][];
            mcpServers: components["schemas"]["McpServers"];
        };
        /** @description Images to add. */
        Images: {
            /** @description PNG, JPEG, GIF or WebP, at most 10 MiB each. The name of the field does not matter. */
            files: string[];
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
            exists: boolean;
            /** @example jsonl */
            format: string;
            lines: string[];
            returned_lines: number;
            total_lines: number;
        } | {
            content: string;
            exists: boolean;
            /** @example text */
            format: string;
            returned_lines: number;
            total_lines: number;
        } | {
            content: string;
            exists: boolean;
            /** @example text */
            format: string;
            lines: number;
        };
        /** @description A loop that was ended. */
        LoopEnded: {
            message: string;
            success: boolean;
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
            /** @description Prefix for support files in the object store. */
            s3StateKey?: string | null;
            /** @description Appended to the requirements of a PLAN. */
            userContext?: string | null;
        };
        /** @description A loop that runs. */
        LoopStarted: {
            loopId: string;
            /** Format: int32 */
            pid: number;
            success: boolean;
            /** @description Null for a loop without a worktree. */
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
        /** @description How to sign in. */
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
        /** @description No worktree. */
        NotFound: {
            exists: boolean;
            message: string;
            phase: string | null;
            status: string | null;
        };
        /** @description The pull request that the branch has now. */
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
        /** @description A pull request to open. */
        OpenPullRequest: {
            /** @description Markdown. */
            body?: string | null;
            /** @description Path of the clone; its branch is sent to `origin` first. */
            repoPath: string;
            /** @description Page of the ticket; named below the text. */
            ticketUrl?: string | null;
            title: string;
        };
        /** @description What is beyond the list. */
        PageInfo: {
            /** @description Always null: there is no way to ask for more. */
            endCursor: string | null;
            hasNextPage: boolean;
        };
        /** @description That it was made. */
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
            exists: boolean;
            planExists: boolean;
            /** @description The plan as it was written. */
            raw: Record<string, never>;
            worktreeDir: string;
        };
        /** @description `pull` */
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
        /** @description What was said about a pull request. */
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
        /** @description The files that a pull request changes. */
        PullRequestFiles: {
            /** @description In the code host's order. */
            files: components["schemas"]["PullRequestFile"][];
        };
        /** @description Pull requests, the newest first. */
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
        /** @description Verdicts, summed up. */
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
        /** @description The worktree to remove. */
        RemoveRequest: {
            /** @description Also with uncommitted changes, or when git cannot. */
            force?: boolean | null;
            /** @description Directory inside the sandbox. */
            worktreePath: string;
        };
        /** @description A run to remove. */
        RemoveRun: {
            /** @description As it was answered. */
            runDir: string;
        };
        /** @description Something to say. */
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
        /** @description Where a repository's clone lies. */
        RepoPath: {
            /** @description Absolute; null when no managed repository has that name. */
            path: string | null;
        };
        /** @description A repository with the branch that a loop starts from. */
        RepoRef: {
            /** @description Branch to start from. */
            branch?: string;
            /** @description `<org>/<repo>`. */
            fullName: string;
        };
        /** @description Answer of `GET /api/gateway/repos`. */
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
        /** @description A run to unpack. */
        RunArchive: {
            /**
             * Format: binary
             * @description A zip file of at most 200 MiB. The name of the field does not matter.
             */
            file: string;
        };
        /** @description What a run holds. */
        RunFiles: {
            /** @description Relative paths, in order. */
            files: string[];
        };
        /** @description That it was removed. */
        RunRemoved: {
            success: boolean;
        };
        /** @description That it was said. */
        SaidAnswer: {
            message: string;
            /** @description What the code-host program printed. */
            output: string;
            success: boolean;
        };
        /** @description Paths to set; null clears one. */
        SetBinaryPaths: {
            assistant?: string | null;
            codeHost?: string | null;
            git?: string | null;
            python3?: string | null;
            reviewer?: string | null;
        };
        /**
         * @description What told of a work directory.
         * @enum {string}
         */
        Source: "session" | "worktree";
        /** @description A worktree without a state. */
        Starting: {
            exists: boolean;
            message: string;
            phase: string;
            stateExists: boolean;
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
        /** @description How a ticket stands. */
        TicketStatus: components["schemas"]["FullStatus"] | components["schemas"]["Starting"] | components["schemas"]["NotFound"];
        Tools: {
            assistant: boolean;
            codeHost: boolean;
            git: boolean;
            python3: boolean;
            reviewer: boolean;
        };
        /** @description Settings to change. */
        UpdateRepos: {
            /** @description Where worktrees are made; inside the sandbox. */
            worktreeParentDir?: string | null;
            /** @description Whether the owner agreed to it. */
            worktreeParentDirConfirmed?: boolean | null;
        };
        /** @description The images that were saved, in the order in which they came. */
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
        /** @description The desktop's version. */
        Version: {
            /** @description Always empty in a release. */
            commits: Record<string, never>[];
            version: string;
        };
        /** @description Always empty here. */
        Versions: Record<string, never>;
        /** @description Where a ticket is worked on. */
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
            /** @description The ticket that its name tells of. */
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
    list_directories: {
        parameters: {
            query?: {
                /** @description Directory; `~` when it is missing */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It cannot be read */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    search_files: {
        parameters: {
            query: {
                /** @description `true` searches the repository itself */
                base?: string;
                /** @description Piece of a path, in any case, that reaches into the file's name */
                query?: string;
                /** @description Path of the repository */
                repo: string;
                /** @description Ticket; required unless `base` is `true` */
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
            /** @description The directory cannot be read */
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
            /** @description No such directory */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Git or one of its hooks said no */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    git_branch_worktree: {
        parameters: {
            query: {
                /** @description Whole name of the branch */
                headBranch: string;
                /** @description `<org>/<repo>` */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Git could not tell */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    git_branches: {
        parameters: {
            query: {
                /** @description Path of the repository */
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
            /** @description No such directory */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Git could not be asked */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox or the repository */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No such repository */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description A side is larger than 5 MiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Git could not tell */
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
            /** @description No such directory */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Git or the code host said no */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    pull_request_comments: {
        parameters: {
            query: {
                /** @description Branch that the caller takes it for */
                branchId?: string;
                /** @description Number of the pull request */
                number?: string;
                /** @description Owner of the repository */
                owner?: string;
                /** @description Number of the pull request, beside a path */
                pr?: string;
                /** @description Name of the repository, or path of a clone */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code-host program is not logged in */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox, or the branch of another repository */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No such directory or pull request */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The clone does not come from the code host */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host gives no answer now; `reason` tells why */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    pull_request_files: {
        parameters: {
            query: {
                /** @description Number of the pull request */
                number?: string;
                /** @description Owner of the repository */
                owner?: string;
                /** @description Number of the pull request, beside a path */
                pr?: string;
                /** @description Name of the repository, or path of a clone */
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
            /** @description No such directory */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host said no */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    pull_request_head: {
        parameters: {
            query: {
                /** @description Number of the pull request */
                pr: string;
                /** @description Path of the clone */
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
            /** @description No such directory */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host said no */
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
            /** @description No such directory */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host said no */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    list_pull_requests: {
        parameters: {
            query: {
                /** @description Path of the clone */
                repo: string;
                /** @description `open`, which is the default, or `merged` */
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
            /** @description No such directory */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host said no */
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
            /** @description No such directory */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host said no */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    pull_request_reviews: {
        parameters: {
            query: {
                /** @description Number of the pull request */
                number: string;
                /** @description Owner of the repository */
                owner: string;
                /** @description Name of the repository */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No such pull request */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The code host said no */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    git_repo_path: {
        parameters: {
            query: {
                /** @description `<org>/<repo>` */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
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
            /** @description It has uncommitted changes */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Git refused */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    health_check: {
        parameters: {
            query?: {
                /** @description MCP server to look for */
                expectedMcpUrl?: string;
                /** @description Adds a row that compares the desktop's version */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    mcp_auth: {
        parameters: {
            query?: {
                /** @description MCP server that is meant */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
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
                content?: never;
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    read_attachment: {
        parameters: {
            query: {
                /** @description Path of the repository */
                repo: string;
            };
            header?: {
                /** @description One range of bytes */
                range?: string | null;
            };
            path: {
                /** @description Ticket, then path of the file, with slashes */
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
                    "application/octet-stream": number[];
                };
            };
            /** @description The range that was asked for */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": number[];
                };
            };
            /** @description No repository or no file given */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Outside the sandbox, or outside the ticket's attachments */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No such file */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The file has no such bytes */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It cannot be read */
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
            /** @description It runs */
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
            /** @description It is being prepared */
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
            /** @description How it stands, also when there is no worktree */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    upload_images: {
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
            /** @description The ticket has no worktree */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description They cannot be saved */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    remove_repo: {
        parameters: {
            query: {
                /** @description Directory of the repository */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    run_files: {
        parameters: {
            query: {
                /** @description As it was answered */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It was removed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It cannot be read */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It cannot be unpacked */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description It cannot be removed */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
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
                /** @description Ticket */
                ticketId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where it lies, also when there is none */
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Refused or failed: credential, approval, body size, or the route's own reasons */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The control plane refused the challenge */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not from loopback, or the origin is not allowed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description More than 4096 bytes */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Too many exchanges of this origin */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The control plane gave no usable answer */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description No API key or no API origin */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The control plane did not answer in time */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
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
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
}
