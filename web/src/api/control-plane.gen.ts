// Generated from docs/openapi/control-plane.json by `npm run generate`. Do not edit.

export interface paths {
    "/agent-proposals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the pending proposals. */
        get: operations["agent_proposals_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-proposals/{id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accepts a proposal: creates and changes its agents. Returns 409 when it was decided before. */
        post: operations["agent_proposals_accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-proposals/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rejects a proposal. Returns 409 when it was decided before. */
        post: operations["agent_proposals_reject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the agents of the organization, newest first. */
        get: operations["agents_list"];
        put?: never;
        /** Creates an agent with its first version. */
        post: operations["agents_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{idOrSlug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns an agent with its prompt. */
        get: operations["agents_get"];
        put?: never;
        post?: never;
        /** Deletes an agent with its versions. Loops that already received it are not affected. */
        delete: operations["agents_delete"];
        options?: never;
        head?: never;
        /** Changes an agent. A changed name or prompt creates a new version. */
        patch: operations["agents_update"];
        trace?: never;
    };
    "/agents/{idOrSlug}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the versions of an agent, newest first. */
        get: operations["agents_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{idOrSlug}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one version of an agent with its prompt. */
        get: operations["agents_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/bootstrap/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a BOOTSTRAP loop. The launch continues in the background: a launch failure fails the loop, not this
         *     request.
         */
        post: operations["bootstrap_start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/bulk-ingest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates or updates the agents of a BOOTSTRAP run for a repository in one transaction. Idempotent:
         *     repeating the request changes nothing.
         */
        post: operations["agents_bulk_ingest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists API keys, newest first: those of the organization for administrators, the caller's own for other
         *     users.
         */
        get: operations["api_keys_list"];
        put?: never;
        /** Creates an API key. The response contains its secret, which cannot be retrieved again. */
        post: operations["api_keys_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes an API key and closes the connections that use it immediately. */
        delete: operations["api_keys_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the audit log of the organization, newest first. */
        get: operations["audit_log_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/methods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the sign-in methods, for the sign-in page. */
        get: operations["auth_methods"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Completes a sign-in and redirects the browser to the sign-in page with a one-time token. */
        get: operations["oidc_callback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Starts a sign-in and redirects the browser to the provider. */
        get: operations["oidc_start"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/organization": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Selects the organization that the session uses for requests without `X-Org-Slug`. Returns 403 when the
         *     user is not a member.
         */
        put: operations["organizations_select"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Changes the password and revokes all other sessions of the user. Setting the first password creates a
         *     local account with the user's e-mail address.
         */
        put: operations["auth_change_password"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sets a new password with the link of an administrator, ends all sessions of the person, and starts a new
         *     one. Returns 410 with `password_reset_invalid` when the link was used, replaced or has expired, and 409 with
         *     `already_signed_in` when another person is signed in.
         */
        post: operations["auth_reset_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchanges the password of a local account for a session: a cookie and a session key. All refusals have the
         *     same text, so that they do not reveal which accounts exist. After ten refusals an IP address is rejected
         *     for 15 minutes with 429.
         */
        post: operations["auth_password_sign_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sign-in-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchanges the token of a one-time link for a session: a cookie and a session key. Returns 401 with
         *     `sign_in_link_invalid` when the link was used, has expired, or belongs to a sign-in that another browser
         *     started, and 409 with `already_signed_in` when another user is signed in.
         */
        post: operations["auth_sign_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revokes the session and closes its streams immediately. */
        post: operations["auth_sign_out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/change-requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the change requests of the organization, most recently changed first. With `attention`, those that need a
         *     person.
         */
        get: operations["change_requests_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/change-requests/{idOrSlug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the change request of a document, with all documents, loops and pull requests. */
        get: operations["change_requests_get"];
        put?: never;
        post?: never;
        /**
         * Deletes a change request with its documents. Its loops remain. The author and administrators can undo this within an
         *     hour. Returns 409 while one of its loops is active.
         */
        delete: operations["change_requests_delete"];
        options?: never;
        head?: never;
        /** Archives a change request, or returns it to the lists. */
        patch: operations["change_requests_update"];
        trace?: never;
    };
    "/change-requests/{idOrSlug}/comments/{commentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Creates a comment of the caller, or changes it. It is a draft until a review contains it. The client chooses the id. */
        put: operations["change_requests_store_comment"];
        post?: never;
        /** Deletes a comment of the caller that is not sent yet. */
        delete: operations["change_requests_delete_comment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/change-requests/{idOrSlug}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns what happened to a change request, newest first: texts, loops, decisions, requests to persons, pull requests. */
        get: operations["change_requests_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/change-requests/{idOrSlug}/mark": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Notes for the caller that the state of a change request was seen, and until when it is snoozed. */
        put: operations["change_requests_mark"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/change-requests/{idOrSlug}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undoes the deletion of a change request. */
        post: operations["change_requests_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/change-requests/{idOrSlug}/reviews": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the comments on the changes of a change request: those of the caller that are not sent yet, and all reviews. */
        get: operations["change_requests_change_reviews"];
        put?: never;
        /** Finishes a review without starting a loop: its comments are notes, or were posted to a pull request. */
        post: operations["change_requests_finish_review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/change-requests/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the groups of a list: for each value of `by`, how many change requests there are on all pages. */
        get: operations["change_requests_groups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/change-requests/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the views of the list that the caller has saved. */
        get: operations["change_requests_views"];
        /** Replaces the views of the list that the caller has saved. */
        put: operations["change_requests_set_views"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the caller's desktops and those shared with the organization: connected ones first, then by time of
         *     change.
         */
        get: operations["compute_targets_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Changes a desktop of the caller. */
        put: operations["compute_targets_update"];
        post?: never;
        /** Removes a desktop of the caller, revokes its bound API key, and closes its connection. Its loops are kept. */
        delete: operations["compute_targets_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the commands of a desktop, newest first, at most 100: all for its owner, the own ones for members to
         *     whom the owner grants commands.
         */
        get: operations["commands_list"];
        put?: never;
        /**
         * Sends a request to a desktop. An unsigned command for a desktop that is not connected is delivered when it
         *     reconnects within 15 minutes. A signed command is delivered immediately or expires.
         */
        post: operations["commands_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/commands/{command_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the status of a command. */
        get: operations["commands_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/commands/{command_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Requests cancellation of a command. The request is persisted and resent when the desktop reconnects. The
         *     command has ended when its `done` event arrives.
         */
        post: operations["commands_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/commands/{command_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the events of a command in order: as a list, or as server-sent events until the terminal event. */
        get: operations["commands_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/deployments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Replaces the deployments of a desktop, which pages show at the change requests of their loops. Only the desktop itself
         *     reports them: it authenticates with the API key that is bound to its public key.
         */
        put: operations["compute_targets_report_deployments"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/health-check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the latest health check of a desktop; `null` without one, or when the desktop has changed since. */
        get: operations["health_checks_get"];
        /** Replaces the health check of a desktop of the caller. */
        put: operations["health_checks_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Marks a desktop of the caller as online. For desktops without a link. */
        post: operations["compute_targets_heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/loops/{loop_id}/execution-credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Returns the request body for the desktop's gateway, including the runner token. It is released once per
         *     command, and only to the desktop itself, which authenticates with the API key that is bound to its public
         *     key.
         */
        post: operations["execution_credentials_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/pull-requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stores the standing of pull requests that loops of a desktop opened, and returns those that are open. Only the desktop
         *     itself reports them: it authenticates with the API key that is bound to its public key.
         */
        post: operations["pull_requests_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/{id}/sharing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Shares a desktop of the caller with the organization, or stops sharing it. */
        patch: operations["compute_targets_share"];
        trace?: never;
    };
    "/compute-targets/local-auth/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Issues a challenge for the signed-in page. Responses are never cached, including errors. */
        post: operations["local_auth_challenge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/local-auth/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verifies a challenge for the desktop that the API key belongs to. The challenge is consumed before its
         *     claims are checked, so that a failed attempt invalidates it too.
         */
        post: operations["local_auth_verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Registers a desktop that does not use the link. Desktops with a link are registered by their `hello`
         *     frame. Returns 409 with `too_many_desktops` when the caller has 100 others.
         */
        post: operations["compute_targets_register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compute-targets/status-stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Streams the online status of desktops as server-sent events `{"targetId", "isOnline"}`: the current status
         *     of each desktop first, then every change.
         */
        get: operations["compute_targets_status_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/bootstrap/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchanges an attempt for an API key that is bound to the desktop's public key. Consuming the attempt and
         *     issuing the key are one transaction, so the desktop can retry after a storage failure.
         */
        post: operations["onboarding_claim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/onboarding-attempt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Creates an onboarding attempt for the signed-in user. */
        post: operations["onboarding_attempt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the documents of the organization, most recently changed first. */
        get: operations["documents_list"];
        put?: never;
        /**
         * Creates a document with its first version. With the header `Idempotency-Key`, a repeated request within 24 hours
         *     returns the document of the first one.
         */
        post: operations["documents_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{idOrSlug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a document with its text, versions, plan, loops and pull requests. */
        get: operations["documents_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Changes the title or the status of a document. */
        patch: operations["documents_update"];
        trace?: never;
    };
    "/documents/{idOrSlug}/run-loop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a loop on a document. The launch continues in the background: a launch failure fails the loop, not
         *     this request. With the header `Idempotency-Key`, a repeated request within 24 hours returns the loop of the
         *     first one.
         */
        post: operations["documents_run_loop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{idOrSlug}/run-loop/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Returns what a start with this body would run, so that a browser can compare it with what it displays and
         *     sign it. Reserves the number of the plan, but starts nothing.
         */
        post: operations["documents_preview_loop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{idOrSlug}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the versions of a document without their texts, newest first. */
        get: operations["documents_versions"];
        put?: never;
        /** Appends a version to a document. A plan edited by a user has no structured plan object, only the text. */
        post: operations["documents_create_version"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{idOrSlug}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a version of a document with its text. */
        get: operations["documents_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/run-loop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates a document and starts a loop on it in one transaction, so that a refused start leaves no document behind.
         *     Not for desktops that accept only signed commands, because a signature names the document. With the header
         *     `Idempotency-Key`, a repeated request within 24 hours returns the loop of the first one.
         */
        post: operations["documents_run_new"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/feature-flags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the feature flags of the organization. */
        get: operations["feature_flags_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/feature-flags/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Sets a feature flag for the whole organization. */
        put: operations["feature_flags_set"];
        post?: never;
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
         * Returns 200 while the process serves requests. Does not use the database, so that a database outage does
         *     not make an orchestrator restart the process.
         */
        get: operations["health_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/db": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns 200 while the database answers, 503 otherwise. */
        get: operations["health_database"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns 200 while the process serves requests, like `GET /health`. */
        get: operations["health_live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns 200 while new requests should be sent to this instance; 503 with the reason when it shuts down, the database
         *     cannot be written, or this version cannot use its schema.
         */
        get: operations["health_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the open invitations, newest first. */
        get: operations["invitations_list"];
        put?: never;
        /** Creates an invitation. No e-mail is sent: the administrator passes the URL on. */
        post: operations["invitations_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes an open invitation. */
        delete: operations["invitations_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accepts an invitation and starts a session in the organization. Uses a new local account, the existing
         *     account with the invited address, or, without a password, the signed-in user. Returns 409 with
         *     `already_signed_in` when another person is signed in.
         */
        post: operations["invitations_accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Returns the content of an invitation. The token is the only credential. */
        post: operations["invitations_preview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the loops of the organization, newest first. */
        get: operations["loops_list"];
        put?: never;
        /**
         * Creates a loop without launching it. With the header `Idempotency-Key`, a repeated request within 24 hours returns
         *     the loop of the first one.
         */
        post: operations["loops_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a loop. A runner token sees only the status. */
        get: operations["loops_get"];
        put?: never;
        post?: never;
        /** Cancels a loop; same as `POST /loops/{id}/cancel`. */
        delete: operations["loops_delete"];
        options?: never;
        head?: never;
        /** Records the results of a MANUAL loop. Returns 403 for a loop with another command. */
        patch: operations["loops_update_loop"];
        trace?: never;
    };
    "/loops/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels a loop. Returns 409 when it has a terminal status. */
        post: operations["loops_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/download-urls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lists the objects with a prefix, and returns a signed download URL (GET) for each. */
        post: operations["runner_download_urls"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the events of a loop: the first 500, a page, those after a given event, or a range that ends at a position.
         *     Large arguments and results of tool calls are shortened.
         */
        get: operations["loops_events"];
        put?: never;
        /**
         * Stores an event of the loop: `{"type", …}` or `{"type", "data": {…}}`. The nonce is the idempotency key: a
         *     repeated event is acknowledged, but not stored again.
         */
        post: operations["runner_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/events/{sequence}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one event of a loop, with the complete arguments and result of a tool call: up to 256 KiB for each text. */
        get: operations["loops_event"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/findings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Stores how many findings about the changes of a loop wait for a decision. While there are some, and no later loop has
         *     started, the change request needs a person. The findings are files on the machine, which reports their number when a
         *     review has ended. Pages report it after a decision.
         */
        put: operations["loops_report_open_findings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/github-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Creates a token for each repository of the loop. Returns 410 when the loop has finished. */
        post: operations["runner_github_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Records a heartbeat of the loop's runner. A loop that timed out for missing heartbeats returns to RUNNING.
         *     When the runner token is no longer accepted, the desktop authenticates with its bound API key and receives
         *     a new runner token.
         */
        post: operations["runner_heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/manual-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accepts an event of a MANUAL loop: `output`, `progress`, `completed`, `error` or `cancelled`, with the
         *     same members as a runner's events. Returns 403 for a loop with another command.
         */
        post: operations["loops_manual_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a message to the assistant of a running loop, which receives it within its session. Only the user who started the
         *     loop may send messages. With the header `Idempotency-Key`, a repeated request returns the message of the first one.
         *     Returns 409 when the assistant does not run.
         */
        post: operations["loops_send_loop_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/refresh-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchanges the current runner token for a new one. Repeating the request with the same token and
         *     `Idempotency-Key` returns the same response until the next exchange.
         */
        post: operations["runner_refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resumes a finished loop: creates a child loop with the same inputs and launches it. With the header
         *     `Idempotency-Key`, a repeated request within 24 hours returns the loop of the first one.
         */
        post: operations["loops_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/runtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the connection state of a loop's runner; for administrators. */
        get: operations["loops_loop_runtime"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Streams the events of a loop as server-sent events, from the beginning or after `Last-Event-ID`. Each
         *     `data` field is one stored event. The stream closes when the loop has finished and all events were sent.
         */
        get: operations["loops_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/upload-artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stores artifacts of a run until the loop completes. Members are merged into those of earlier uploads.
         *     Returns 413 when the loop exceeds its size limits.
         */
        post: operations["runner_upload_artifacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/{id}/upload-urls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Returns a signed upload URL (PUT) for each key. */
        post: operations["runner_upload_urls"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Summarizes the loops of documents: for each document the active loop, the last completed and the last
         *     failed one, including loops of documents that were derived from it.
         */
        post: operations["loops_loop_summaries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/loops/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the usage of the organization; for administrators. */
        get: operations["loops_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the current user and its organization. */
        get: operations["auth_me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists all members, including inactive ones, oldest first. */
        get: operations["members_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/members/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Changes the role of a member, or deactivates it. Returns 409 for the last administrator. */
        patch: operations["members_update"];
        trace?: never;
    };
    "/members/{id}/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates a link with which a member sets a new password, and revokes earlier links of the member. Returns
         *     409 for a person who also belongs to another organization, or signs in at the OpenID provider.
         */
        post: operations["members_reset_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organization/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Streams the names of lists that have changed, as server-sent events: each `data` field is one `ListChanges`. Events are
         *     not stored: a client that connects again reads its lists again.
         */
        get: operations["organization_list_changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organization/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the settings of the organization. */
        get: operations["organization_organization_settings"];
        /** Replaces the settings; absent members are reset to their defaults. */
        put: operations["organization_set_organization_settings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organizations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the organizations of the signed-in user in the order in which the user joined them. */
        get: operations["organizations_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/public-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the browser keys of the caller, or, for a desktop of the caller, of all users who may send commands
         *     to it.
         */
        get: operations["public_keys_list"];
        put?: never;
        /**
         * Registers a browser key of the caller, and has the connected desktops request its authorization by their
         *     owners.
         */
        post: operations["public_keys_register"];
        /** Removes a browser key of the caller, and has the connected desktops revoke it. */
        delete: operations["public_keys_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the repositories that loops may access. */
        get: operations["repositories_list"];
        put?: never;
        /**
         * Adds a repository to the list of allowed repositories, or replaces its branches. The list is used only
         *     while the organization has no installation at the code host.
         */
        post: operations["repositories_allow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{owner}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Removes a repository from the list of allowed repositories. Running loops are not affected. */
        delete: operations["repositories_forbid"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the unexpired sessions of the user in all organizations, newest first. */
        get: operations["sessions_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes a session of the user and closes its streams immediately. */
        delete: operations["sessions_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/compute-preference": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the preference of the caller. Without a choice, the mode is `LOCAL` when a desktop is online. */
        get: operations["compute_preference_get"];
        /** Sets the preference of the caller. */
        put: operations["compute_preference_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/storage/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a stored file. The signature in the URL is the only credential. */
        get: operations["storage_get"];
        /** Stores a file of at most 50 MiB. The signature in the URL is the only credential. */
        put: operations["storage_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the tickets of the organization, most recently changed first. */
        get: operations["tickets_list"];
        put?: never;
        /** Creates an open ticket. */
        post: operations["tickets_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tickets/{idOrSlug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a ticket with its text, plan, loops and pull requests. */
        get: operations["tickets_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Changes a ticket. Running loops keep their inputs. */
        patch: operations["tickets_update"];
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description Reason why a loop was aborted.
         * @enum {string}
         */
        AbortReason: "cancelled" | "process-exit" | "ghost-loop";
        /** @description Request to accept an invitation. */
        AcceptInvitation: {
            /** @description First name, at most 100 characters. */
            firstName?: string | null;
            /** @description Last name, at most 100 characters. */
            lastName?: string | null;
            /**
             * Format: password
             * @description Password of the account with the invited address, or of the account to create: 12 to 256 characters.
             *     Absent to accept as the signed-in user.
             */
            password?: string | null;
            /** @description Whether to end the session of another person in this browser. */
            replacesSession?: boolean;
            /** @description Secret token from the invitation's URL. */
            token: string;
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
        /** @description An agent with its prompt. */
        AgentDetail: components["schemas"]["AgentSummary"] & {
            /** @description Id of the BOOTSTRAP run that created or last changed it. */
            bootstrapRunId?: string | null;
            /** @description User who created the agent. */
            createdBy: components["schemas"]["UserName"];
            /** @description Prompt of the current version. */
            prompt: string;
        };
        /** @description A page of the organization's agents. */
        AgentList: {
            /** @description Agents of this page, newest first. */
            agents: components["schemas"]["AgentSummary"][];
            /**
             * Format: int64
             * @description Number of matching agents, ignoring `limit` and `offset`.
             */
            total: number;
        };
        /** @description Agents that a loop proposed for a repository. */
        AgentProposal: {
            /** @description Agents with their prompts. An agent replaces the one with the same role. */
            agents: components["schemas"]["RosterAgent"][];
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /** @description Critic gates of the repository; null when they stay unchanged. */
            criticGates?: Record<string, never> | null;
            /**
             * Format: uuid
             * @description Id of the proposal.
             */
            id: string;
            /**
             * Format: uuid
             * @description Loop that created the agents.
             */
            loopId: string;
            /** @description Name of the user who started the loop. */
            proposedBy: string;
            /** @description Repository of the agents, `<org>/<repo>`. */
            sourceRepo: string;
        };
        /** @description Proposals without a decision. */
        AgentProposals: {
            /** @description Pending proposals, newest first, at most 100. */
            proposals: components["schemas"]["AgentProposal"][];
        };
        /** @description An agent without its prompt. */
        AgentSummary: {
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /**
             * Format: int64
             * @description Number of the current version, from 1.
             */
            currentVersion: number;
            /** @description Purpose of the agent. */
            description?: string | null;
            /** @description Whether loops receive the agent. */
            enabled: boolean;
            /**
             * Format: uuid
             * @description Id of the agent.
             */
            id: string;
            name: string;
            /** @description Area of expertise of the agent. */
            role: string;
            /** @description Unique name in the organization; also the name of the agent's file on a desktop. */
            slug: string;
            /** @description Repository of the agent, `<org>/<repo>`; empty for all repositories of the organization. */
            sourceRepo: string;
            /** @description Time of the last change, ISO 8601. */
            updatedAt: string;
        };
        /** @description A version of an agent with its prompt. */
        AgentVersionDetail: components["schemas"]["AgentVersionSummary"] & {
            /** @description Prompt of the agent in this version. */
            prompt: string;
        };
        /** @description All versions of an agent. */
        AgentVersions: {
            /** @description All versions, newest first. */
            versions: components["schemas"]["AgentVersionSummary"][];
        };
        /** @description A version of an agent without its prompt. */
        AgentVersionSummary: {
            /** @description User who made the change. */
            changedBy: components["schemas"]["UserName"];
            /** @description Description of the change. */
            changeNote?: string | null;
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Id of the version.
             */
            id: string;
            /** @description Name of the agent in this version. */
            name: string;
            /**
             * Format: int64
             * @description Version number, from 1.
             */
            version: number;
        };
        /** @description Repositories that loops may access. */
        AllowedRepositories: {
            /** @description Repositories in the order of their names. */
            repositories: components["schemas"]["AllowedRepository"][];
        };
        /** @description A repository that loops may use. */
        AllowedRepository: {
            /** @description All branches of the repository; `null` when they are not known. */
            branches?: string[] | null;
            /** @description Full name in the form `owner/name`. */
            fullName: string;
            /** @description Reason why the repository is allowed. */
            source: components["schemas"]["RepositorySource"];
        };
        /** @description Request to allow a repository. */
        AllowRepository: {
            /** @description Branches that loops may use, at most 1000; absent for all. */
            branches?: string[] | null;
            /** @description Full name of the repository, `owner/name`. */
            fullName: string;
        };
        /** @description An API key without its secret. */
        ApiKeyRecord: {
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /** @description Expiry, ISO 8601; null when it does not expire. */
            expiresAt?: string | null;
            /**
             * Format: uuid
             * @description Id of the key.
             */
            id: string;
            /** @description Prefix of every API key. */
            keyPrefix: string;
            /** @description Time of the last use, ISO 8601. */
            lastUsedAt?: string | null;
            /** @description Name that the owner chose. */
            name: string;
            /**
             * Format: uuid
             * @description Organization of the key.
             */
            organizationId: string;
            /** @description Time of the revocation, ISO 8601; null for a valid key. */
            revokedAt?: string | null;
            /** @description Scopes that the key grants. */
            scopes: components["schemas"]["Scope"][];
            /**
             * Format: uuid
             * @description Id of the owner.
             */
            userId: string;
        };
        /** @description Decision about the start of a loop. */
        ApprovalDecision: {
            /** @description Id of the approval. */
            id: string;
            /** @description How the wait ended. */
            outcome: components["schemas"]["ApprovalOutcome"];
        };
        /** @description The end of the wait for an approval. */
        ApprovalDecisionEvent: {
            /** @description The decision. */
            approvalDecision: components["schemas"]["ApprovalDecision"];
            /** @description Message for the user. */
            chunk?: string | null;
        };
        /** @description Request for the approval of a loop. */
        ApprovalDetails: {
            /** @description Command line that approves the loop. */
            command: string;
            /** @description Id that the decision refers to. */
            id: string;
            /** @description Expiration of the request, ISO 8601. */
            waitsUntil: string;
        };
        /**
         * @description How the wait for an approval ended.
         * @enum {string}
         */
        ApprovalOutcome: "approved" | "denied" | "expired" | "outdated";
        /** @description A pending approval. */
        ApprovalRequestEvent: {
            /** @description The approval. */
            approval: components["schemas"]["ApprovalDetails"];
            /** @description Message for the user. */
            chunk?: string | null;
        };
        /** @description The changes that a user approves. */
        ApprovedChanges: {
            /** @description Approved commit of each repository, by name. A repository at another commit is not delivered. */
            heads: {
                [key: string]: string;
            };
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
        /** @description An uploaded artifact. */
        ArtifactCreated: {
            /** @description Id of the artifact. */
            artifactId?: string | null;
            /** @description Type of the artifact. */
            artifactType?: string | null;
        };
        /**
         * @description Type of a document that is passed to a loop.
         * @enum {string}
         */
        ArtifactType: "PRD" | "IMPLEMENTATION_PLAN" | "FEATURE";
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
         * @description Outcome of an attempt to enable or update plugins.
         * @enum {string}
         */
        AttemptOutcome: "success" | "failed" | "timeout" | "skipped";
        /** @description Request for an onboarding attempt. */
        AttemptRequest: {
            /** @description Accepted for compatibility and ignored. */
            platform?: string | null;
            /** @description Origin of the page, for example `https://loopgate.example.com`. */
            webAppOrigin: string;
        };
        /**
         * @description What a change request needs from a person.
         * @enum {string}
         */
        Attention: "plan" | "question" | "blocked" | "approval" | "delivery" | "changes" | "findings" | "checks" | "conflicts" | "comments" | "limit" | "machine_offline" | "failure";
        /**
         * @description A security-relevant action in the audit log.
         * @enum {string}
         */
        AuditAction: "sign_in" | "sign_in_failed" | "sign_out" | "session_revoked" | "password_changed" | "password_reset_created" | "sign_in_link_created" | "organization_created" | "organization_selected" | "key_created" | "key_revoked" | "desktop_permitted" | "desktop_key_issued" | "invitation_created" | "invitation_revoked" | "invitation_accepted" | "member_joined" | "member_role_changed" | "member_deactivated" | "member_activated" | "agent_created" | "agent_updated" | "agent_deleted" | "critic_gates_set" | "agents_proposed" | "agent_proposal_accepted" | "agent_proposal_rejected" | "loop_started" | "loop_cancelled" | "loop_message_sent" | "manual_loop_recorded" | "document_created" | "document_updated" | "document_version_added" | "document_deleted" | "document_restored" | "command_sent" | "command_cancelled" | "compute_preference_set" | "target_registered" | "target_updated" | "approval_policies_reported" | "target_sharing_changed" | "target_removed" | "repository_allowed" | "repository_forbidden" | "browser_key_registered" | "browser_key_removed" | "organization_settings_set" | "feature_flag_set";
        /** @description An entry of the audit log. */
        AuditEntry: {
            /** @description The action that was performed. */
            action: components["schemas"]["AuditAction"];
            /** @description IP address of the client. */
            address?: string | null;
            /** @description Time of the action, ISO 8601. */
            at: string;
            /** @description Further values; their names depend on `action`. */
            details: Record<string, never>;
            /**
             * Format: uuid
             * @description Id of the entry; ascending in time.
             */
            id: string;
            /**
             * Format: uuid
             * @description API key that authenticated the request; null for a session.
             */
            keyId?: string | null;
            /** @description Id or name of the affected object. */
            subject: string;
            /**
             * Format: uuid
             * @description User who performed it; null for an action without a signed-in user, for example a failed sign-in.
             */
            userId?: string | null;
        };
        /** @description A page of the log. */
        AuditPage: {
            /** @description Entries of this page, newest first. */
            entries: components["schemas"]["AuditEntry"][];
            /**
             * Format: uuid
             * @description Value for `before` to get the next page; null on the last page.
             */
            nextBefore?: string | null;
        };
        /** @description A repository to explore. */
        BootstrapRepository: {
            /** @description Full name of the repository, `owner/name`. */
            fullName: string;
        };
        /** @description Content of a `cancelled` event. */
        Cancelled: {
            /** @description Reason, if one was given. */
            reason?: string | null;
        };
        /** @description Options of a cancellation. */
        CancelLoop: {
            userIntentSignature?: components["schemas"]["UserIntentSignature"] | null;
        };
        /** @description Result of a cancellation request. */
        CancelRequested: {
            /** @description `false` when the command had already reached a terminal status. */
            cancelRequested: boolean;
            /** @description Status of the command. The command has ended only once this is a terminal status. */
            status: components["schemas"]["CommandStatus"];
        };
        /** @description A one-time challenge for the gateway. */
        Challenge: {
            /** @description Signed token to be posted to the gateway's `/gateway-auth/exchange`. */
            challengeToken: string;
            /** @description Expiry, ISO 8601; one minute after the request. */
            expiresAt: string;
        };
        /** @description Request for a challenge. */
        ChallengeRequest: {
            /** @description Origin of the page, for example `https://loopgate.example.com`. */
            origin: string;
        };
        /** @description Request to change the password. */
        ChangePassword: {
            /**
             * Format: password
             * @description Current password; required when the account has one.
             */
            currentPassword?: string | null;
            /**
             * Format: password
             * @description New password, 12 to 256 characters.
             */
            newPassword: string;
        };
        /** @description A change request with its documents, loops and pull requests. */
        ChangeRequestDetail: components["schemas"]["ChangeRequestRecord"] & {
            /** @description Documents derived from the first one, oldest first. */
            documents: components["schemas"]["DocumentRecord"][];
            /** @description Newest 100 loops on its documents, newest first. */
            loops: components["schemas"]["LoopRecord"][];
            plan?: components["schemas"]["DocumentRecord"] | null;
            /** @description Pull requests of the loops, newest first. */
            pullRequests: components["schemas"]["PullRequest"][];
        };
        /** @description A group of a list. */
        ChangeRequestGroup: {
            /**
             * Format: int64
             * @description Number of its change requests.
             */
            count: number;
            /** @description Name of the group: of the person, of the repository, or of the state. */
            name: string;
            /** @description Value of the parameter that selects the group: `state`, `repo` or `person`. */
            value: string;
        };
        /** @description What a user notes about a change request. Absent members are reset. */
        ChangeRequestMark: {
            /** @description Whether the user has seen the current state. */
            seen?: boolean;
            /** @description Time until which the user does not want to be reminded, ISO 8601. */
            snoozedUntil?: string | null;
        };
        /** @description A page of change requests. */
        ChangeRequestPage: {
            /** @description The change requests, most recently changed first. */
            data: components["schemas"]["ChangeRequestRecord"][];
            /** @description Always `true` in a successful response. */
            success: boolean;
            /**
             * Format: int64
             * @description Number of change requests on all pages; absent unless the query asks for it.
             */
            total?: number | null;
        };
        /** @description A change request: what a person asked for, and the state of the work on it. */
        ChangeRequestRecord: {
            /** @description Time at which it was archived, ISO 8601; null otherwise. */
            archivedAt?: string | null;
            attention?: components["schemas"]["Attention"] | null;
            /** @description Time of the last change of the state, ISO 8601. */
            changedAt: string;
            command?: components["schemas"]["LoopCommand"] | null;
            /**
             * Format: double
             * @description Cost of all loops in US dollars, as far as it is known; null without a report.
             */
            cost?: number | null;
            deployment?: components["schemas"]["DeploymentState"] | null;
            /** @description What the state is about. */
            details: components["schemas"]["StateDetails"];
            /** @description The document that the change request begins with. */
            document: components["schemas"]["DocumentRecord"];
            /** @description Whether the caller has not seen the current state. */
            isUnread: boolean;
            /**
             * Format: uuid
             * @description Id of the loop that determines the state; null before the first loop.
             */
            loopId?: string | null;
            /** @description Time until which the caller does not want to be reminded, ISO 8601; null otherwise. */
            snoozedUntil?: string | null;
            /** @description Stage of the work. */
            stage: components["schemas"]["ChangeStage"];
            /** @description Stages that the work has reached, in their order; a review only if there was one. */
            stages: components["schemas"]["ChangeStage"][];
            /** @description State of the work. */
            state: components["schemas"]["ChangeState"];
            tasks?: components["schemas"]["TaskCounts"] | null;
            user?: components["schemas"]["LoopUser"] | null;
        };
        /** @description A finished review. */
        ChangeReview: {
            /** @description The comments in the order of their numbers. */
            comments: components["schemas"]["SubmittedComment"][];
            /** @description Time of the review, ISO 8601. */
            createdAt: string;
            /** @description Reviewed commit of each repository, by name. */
            heads: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Id of the review.
             */
            id: string;
            /** @description Result of the review. */
            kind: components["schemas"]["ReviewKind"];
            /**
             * Format: uuid
             * @description Id of the loop that answers the comments; null without one.
             */
            loopId?: string | null;
            loopStatus?: components["schemas"]["LoopStatus"] | null;
            /** @description What the author says about the change as a whole; null without it. */
            summary?: string | null;
            user?: components["schemas"]["LoopUser"] | null;
        };
        /** @description Comments on the changes of a change request. */
        ChangeReviews: {
            /** @description Comments of the caller that are not sent yet, oldest first. */
            drafts: components["schemas"]["CommentDraft"][];
            /** @description Newest 50 reviews of all users, newest first. */
            reviews: components["schemas"]["ChangeReview"][];
        };
        /**
         * @description Stage of a change request.
         * @enum {string}
         */
        ChangeStage: "request" | "plan" | "execute" | "review" | "pull_request" | "deploy";
        /**
         * @description State of a change request.
         * @enum {string}
         */
        ChangeState: "not_started" | "starting" | "machine_offline" | "waiting_for_approval" | "queued" | "waiting_for_limit" | "running" | "stalled" | "question" | "plan_ready" | "changes_ready" | "comments_unanswered" | "findings_open" | "changes_requested" | "reviewed" | "pull_request_open" | "checks_failing" | "conflicting" | "merged" | "closed" | "done" | "limit_reached" | "delivery_failed" | "blocked" | "failed" | "stopped";
        /** @description Request to claim an attempt. */
        ClaimRequest: {
            /**
             * Format: uuid
             * @description Stable id of the Loopgate installation.
             */
            gatewayId: string;
            /** @description Former name of `gatewayPublicKeyPem`. */
            gatewayPublicKey?: string | null;
            /** @description Ed25519 public key of the installation, SPKI in PEM format. */
            gatewayPublicKeyPem?: string | null;
            /** @description Secret of the attempt. */
            onboardingAttemptId: string;
            /** @description Origin that the attempt was created for. */
            webAppOrigin: string;
        };
        /** @description API key for the desktop. */
        ClaimResponse: {
            /** @description API key in plain text; it cannot be retrieved again. */
            apiKey: string;
            /**
             * Format: uuid
             * @description Installation that the key is bound to.
             */
            gatewayId: string;
            /** @description Source of the key; always `DESKTOP_MANAGED`. */
            source: string;
        };
        /** @description A created or deduplicated command. */
        CommandCreated: {
            /**
             * Format: uuid
             * @description Id of the command.
             */
            commandId: string;
            /** @description `true` when an earlier request with the same idempotency key created the command; absent otherwise. */
            deduped?: boolean | null;
            /** @description Current status of the command. */
            status: components["schemas"]["CommandStatus"];
        };
        /** @description Event that the desktop reported for a command. */
        CommandEventRecord: {
            /**
             * Format: uuid
             * @description Id of the command.
             */
            commandId: string;
            /** @description Time of receipt, ISO 8601. */
            createdAt: string;
            /** @description Content; its members depend on `eventType`. */
            data: unknown;
            /** @description Kind of the event. */
            eventType: components["schemas"]["EventType"];
            /**
             * Format: int64
             * @description Position within the command, from 1, without gaps.
             */
            sequence: number;
        };
        /** @description State of a command. */
        CommandRecord: {
            /**
             * Format: uuid
             * @description Id of the command.
             */
            commandId: string;
            /**
             * Format: uuid
             * @description Id of the desktop.
             */
            computeTargetId: string;
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /** @description Reason of the failure; absent unless the command failed. */
            error?: string | null;
            /** @description Time of the terminal event, ISO 8601; absent before. */
            finishedAt?: string | null;
            /** @description Idempotency key of the request that created it; absent without one. */
            idempotencyKey?: string | null;
            /**
             * Format: int64
             * @description Sequence number of the last event that was stored.
             */
            lastSequenceAcked: number;
            /** @description Operation that the command requests. */
            operationId: string;
            /** @description Start of the execution, ISO 8601; absent before. */
            startedAt?: string | null;
            /** @description Current status of the command. */
            status: components["schemas"]["CommandStatus"];
        };
        /**
         * @description Status of a desktop command.
         * @enum {string}
         */
        CommandStatus: "queued" | "accepted" | "running" | "done" | "failed" | "cancelled" | "expired";
        /** @description Usage of one command. */
        CommandUsage: {
            /** @description Command of the loops. */
            command: components["schemas"]["LoopCommand"];
            /**
             * Format: double
             * @description Estimated cost in US dollars.
             */
            estimatedCost: number;
            /**
             * Format: int64
             * @description Number of loops in this group.
             */
            loopCount: number;
            /**
             * Format: int64
             * @description Number of input tokens.
             */
            tokensInput: number;
            /**
             * Format: int64
             * @description Number of output tokens.
             */
            tokensOutput: number;
        };
        /** @description How a loop answered a comment. */
        CommentAnswer: {
            /** @description Commit that contains the change, set by the runtime; absent when the work was not committed. */
            commit?: string | null;
            /** @description What was changed; absent without an explanation. */
            note?: string | null;
            /** @enum {string} */
            status: "done";
        } | {
            /** @description Why not. */
            reason: string;
            /** @enum {string} */
            status: "declined";
        };
        /** @description A comment that its author has not sent yet. */
        CommentDraft: components["schemas"]["CommentPlace"] & {
            /** @description Text of the comment. */
            body: string;
            /** @description Time at which the comment was created, ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Id of the comment.
             */
            id: string;
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
        /** @description What a comment is about: lines of a file, or the file. */
        CommentPlace: {
            lines?: components["schemas"]["CommentLines"] | null;
            /** @description Path of the file in the repository. */
            path: string;
            /** @description Name of the repository, as the list of the changes has it. */
            repository: string;
        };
        /**
         * @description Side of a comparison.
         * @enum {string}
         */
        CommentSide: "old" | "new";
        /** @description The text of a comment, and what it is about. */
        CommentText: components["schemas"]["CommentPlace"] & {
            /** @description Text of the comment, at most 10,000 characters. */
            body: string;
        };
        /** @description Author and committer identity for commits. */
        Committer: {
            /** @description Email address, as in git's `user.email`. */
            email: string;
            /** @description Name, as in git's `user.name`. */
            name: string;
        };
        /** @description Payload of a `completed` event. */
        Completed: {
            /** @description Source of the assistant's API key, as it reports it; absent when it does not. */
            apiKeySource?: string | null;
            /** @description Answers to the comments of the review that the loop received; absent without a review. */
            commentAnswers?: components["schemas"]["NumberedAnswer"][] | null;
            cost?: components["schemas"]["Cost"] | null;
            /**
             * @description Outcome of the loop; an open object (`exitCode`, `subtype`, `prUrl`, `prNumber`, `branchName`,
             *     `has_changes`, `sessionId`, `verdict`, …).
             */
            result?: Record<string, never>;
            /** @description Schema v2 only: one entry per repository, the primary first. */
            results?: components["schemas"]["ResultEntry"][] | null;
            /** @description Tokens by model name; absent when unknown. */
            tokensByModel?: Record<string, never> | null;
            /** @description Total tokens of the loop. */
            tokensUsed?: components["schemas"]["TokensUsed"];
            /** @description Problems that did not fail the loop. */
            warnings?: string[];
        };
        /**
         * @description Where a user's loops run.
         * @enum {string}
         */
        ComputeMode: "LOCAL" | "CLOUD";
        /** @description Preferred place of execution. */
        ComputePreference: {
            /**
             * Format: uuid
             * @description Id of the preferred desktop; absent without one.
             */
            computeTargetId?: string | null;
            /** @description Whether the user chose the mode explicitly. */
            isExplicit: boolean;
            /** @description `LOCAL` for a desktop, `CLOUD` otherwise. This installation has no cloud runners. */
            preferredComputeMode: components["schemas"]["ComputeMode"];
            selectedHarness?: components["schemas"]["Harness"] | null;
        };
        /** @description A desktop as its users see it. */
        ComputeTarget: {
            /**
             * Format: int64
             * @description Number of running commands.
             */
            activeCommands?: number | null;
            /**
             * @description Open object: versions, limits and features of the desktop, and `gatewayPort`, the loopback port of its
             *     gateway for pages on the same machine.
             */
            capabilities: {
                [key: string]: unknown;
            };
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Stable id of the Loopgate installation; absent when unknown.
             */
            gatewayId?: string | null;
            /** @description Whether members can also send commands to it, such as reading changes and switching branches. */
            grantsCommands: boolean;
            /**
             * Format: uuid
             * @description Id of the desktop.
             */
            id: string;
            /** @description Whether the desktop is connected. */
            isOnline: boolean;
            /** @description Whether all members of the organization can run loops on it. */
            isSharedWithOrg: boolean;
            /** @description Time of the last message from the desktop, ISO 8601. */
            lastSeenAt: string;
            /** @description Host name of the machine; `name (2)` for the second desktop of the owner with that name. */
            machineName: string;
            /**
             * Format: uuid
             * @description Organization of the desktop.
             */
            organizationId: string;
            /** @description Name of the owner; present only for desktops of other users. */
            ownerName?: string | null;
            /** @description Operating system: `darwin`, `linux` or `win32`. */
            platform: string;
            /**
             * Format: int64
             * @description Number of queued commands.
             */
            queueDepth?: number | null;
            /** @description Authentication strength of the desktop. */
            security: components["schemas"]["TargetSecurity"];
            /** @description Harness that runs its loops. */
            selectedHarness: components["schemas"]["Harness"];
            /** @description Features that the control plane offers to this desktop. */
            serverCapabilities?: components["schemas"]["ServerCapabilities"];
            /** @description State that the desktop reported: `online`, `degraded` or `paused`. */
            state?: string | null;
            /** @description Ids of the supported gateway operations. */
            supportedOperations: string[];
            /** @description Time of the last change, ISO 8601. */
            updatedAt: string;
            /**
             * Format: uuid
             * @description Id of the owner.
             */
            userId: string;
        };
        /** @description A document provided as context. */
        ContextRef: {
            /** @description Extent of the content: `full` or `summary`. */
            include: string;
            /**
             * Format: uuid
             * @description Id of the document.
             */
            sourceId: string;
            /** @description Kind of the source; always `DOCUMENT`. */
            sourceType?: string | null;
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
        /** @description Members of an agent to create. */
        CreateAgent: {
            /** @description Id of the BOOTSTRAP run that created it. */
            bootstrapRunId?: string | null;
            /** @description Change note of the first version, at most 500 characters. */
            changeNote?: string | null;
            /** @description Purpose of the agent, at most 500 characters. */
            description?: string | null;
            /** @description Display name, 1 to 200 characters. */
            name: string;
            /** @description Prompt, at least one character. */
            prompt: string;
            /** @description Area of expertise, 1 to 100 characters with at least one letter or digit; unique in its repository. */
            role: string;
            /** @description Repository of the agent, `<org>/<repo>`; empty or absent for all repositories of the organization. */
            sourceRepo?: string;
        };
        /** @description API key to create. */
        CreateApiKey: {
            /** @description Expiry, ISO 8601; does not expire when absent. */
            expiresAt?: string | null;
            /** @description Name, 1 to 100 characters. */
            name?: string;
            /**
             * @description Scopes to grant, at least one; `read`, `write` and `delete` by default. Only administrators can grant
             *     `admin`.
             */
            scopes?: components["schemas"]["Scope"][] | null;
        };
        /** @description A request to send to the desktop's gateway. */
        CreateCommand: {
            /** @description Reason that is shown with the approval request. */
            approvalReason?: string | null;
            /** @description JSON body of the request. */
            body?: unknown;
            /**
             * Format: uuid
             * @description Id chosen by the client; allowed only for a signed command.
             */
            commandId?: string | null;
            /** @description Additional headers for the gateway. */
            headers?: {
                [key: string]: string;
            } | null;
            /**
             * @description Deduplicates retries: a second request with the same key returns the first command. 1 to 200
             *     characters.
             */
            idempotencyKey?: string | null;
            /** @description Commands with the same key run one at a time. */
            lockKey?: string | null;
            /** @description `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
            method: string;
            /** @description Operation of the route, as approval policies and the activity log name it. */
            operationId: string;
            /** @description Path at the gateway; must start with `/api/gateway/`. */
            path: string;
            /** @description Fingerprint of the browser key that signed. */
            publicKeyFingerprint?: string | null;
            /** @description Query parameters of the request. */
            query?: {
                [key: string]: components["schemas"]["QueryValue"];
            } | null;
            /** @description Whether the owner of the desktop must approve the command first. */
            requiresApproval?: boolean | null;
            /** @description Signature by the browser key over `signaturePayload`. */
            signature?: string | null;
            /** @description The exact text that was signed. */
            signaturePayload?: string | null;
            /** @description Whether the response is streamed; informational. */
            streaming?: boolean | null;
            /**
             * Format: int64
             * @description Time limit of the execution on the desktop, in milliseconds.
             */
            timeoutMs?: number | null;
        };
        /** @description A new API key with its secret. */
        CreatedApiKey: components["schemas"]["ApiKeyRecord"] & {
            /** @description API key in plain text; it cannot be retrieved again. */
            plaintext: string;
        };
        /** @description A new invitation with its secret. */
        CreatedInvitation: components["schemas"]["Invitation"] & {
            /** @description Secret token; it cannot be retrieved again. */
            token: string;
            /** @description URL of the page that accepts the invitation; contains the token. */
            url: string;
        };
        /** @description Request to create a document. */
        CreateDocument: {
            /** @description Images and texts for its loops: at most 10, with 10 MiB in total. */
            attachments?: components["schemas"]["NewAttachment"][];
            /** @description Text in Markdown, at least one character. */
            content: string;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description Title, 1 to 200 characters. */
            title: string;
            /** @description Kind of the document. */
            type: components["schemas"]["DocumentKind"];
        };
        /** @description Request to create an invitation. */
        CreateInvitation: {
            /** @description E-mail address of the invited user; also the name of the local account. */
            email: string;
            /** @description Role in the organization. */
            role: components["schemas"]["Role"];
        };
        /** @description Request to create a loop. */
        CreateLoop: {
            /** @description Peer repositories, at most 5. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
            /** @description Command that the loop carries out. */
            command: components["schemas"]["LoopCommand"];
            /** @description Documents provided as context. */
            contextRefs?: components["schemas"]["ContextRef"][] | null;
            /** @description Id or slug of the document that the loop works on. */
            documentId?: string | null;
            harness?: components["schemas"]["Harness"] | null;
            /** @description Prompt, at most 100,000 characters. */
            prompt?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
        };
        /** @description Request to create a ticket. */
        CreateTicket: {
            /** @description Peer repositories, at most 5. */
            additionalRepos?: components["schemas"]["RepoRef"][];
            /** @description Change request in Markdown, at least one character. */
            body: string;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description Title, 1 to 200 characters. */
            title: string;
        };
        /** @description Text of a new version. */
        CreateVersion: {
            /** @description Text in Markdown, at least one character. */
            content: string;
            /**
             * Format: int64
             * @description Version that the text is derived from. The request is refused when another one is current. Without it, the
             *     text replaces any version.
             */
            version?: number | null;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_AgentDetail: {
            /** @description An agent with its prompt. */
            data: components["schemas"]["AgentSummary"] & {
                /** @description Id of the BOOTSTRAP run that created or last changed it. */
                bootstrapRunId?: string | null;
                /** @description User who created the agent. */
                createdBy: components["schemas"]["UserName"];
                /** @description Prompt of the current version. */
                prompt: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_AgentList: {
            /** @description A page of the organization's agents. */
            data: {
                /** @description Agents of this page, newest first. */
                agents: components["schemas"]["AgentSummary"][];
                /**
                 * Format: int64
                 * @description Number of matching agents, ignoring `limit` and `offset`.
                 */
                total: number;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_AgentProposals: {
            /** @description Proposals without a decision. */
            data: {
                /** @description Pending proposals, newest first, at most 100. */
                proposals: components["schemas"]["AgentProposal"][];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_AgentVersionDetail: {
            /** @description A version of an agent with its prompt. */
            data: components["schemas"]["AgentVersionSummary"] & {
                /** @description Prompt of the agent in this version. */
                prompt: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_AgentVersions: {
            /** @description All versions of an agent. */
            data: {
                /** @description All versions, newest first. */
                versions: components["schemas"]["AgentVersionSummary"][];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_AllowedRepositories: {
            /** @description Repositories that loops may access. */
            data: {
                /** @description Repositories in the order of their names. */
                repositories: components["schemas"]["AllowedRepository"][];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_AllowedRepository: {
            /** @description A repository that loops may use. */
            data: {
                /** @description All branches of the repository; `null` when they are not known. */
                branches?: string[] | null;
                /** @description Full name in the form `owner/name`. */
                fullName: string;
                /** @description Reason why the repository is allowed. */
                source: components["schemas"]["RepositorySource"];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_AuditPage: {
            /** @description A page of the log. */
            data: {
                /** @description Entries of this page, newest first. */
                entries: components["schemas"]["AuditEntry"][];
                /**
                 * Format: uuid
                 * @description Value for `before` to get the next page; null on the last page.
                 */
                nextBefore?: string | null;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_CancelRequested: {
            /** @description Result of a cancellation request. */
            data: {
                /** @description `false` when the command had already reached a terminal status. */
                cancelRequested: boolean;
                /** @description Status of the command. The command has ended only once this is a terminal status. */
                status: components["schemas"]["CommandStatus"];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Challenge: {
            /** @description A one-time challenge for the gateway. */
            data: {
                /** @description Signed token to be posted to the gateway's `/gateway-auth/exchange`. */
                challengeToken: string;
                /** @description Expiry, ISO 8601; one minute after the request. */
                expiresAt: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_ChangeRequestDetail: {
            /** @description A change request with its documents, loops and pull requests. */
            data: components["schemas"]["ChangeRequestRecord"] & {
                /** @description Documents derived from the first one, oldest first. */
                documents: components["schemas"]["DocumentRecord"][];
                /** @description Newest 100 loops on its documents, newest first. */
                loops: components["schemas"]["LoopRecord"][];
                plan?: components["schemas"]["DocumentRecord"] | null;
                /** @description Pull requests of the loops, newest first. */
                pullRequests: components["schemas"]["PullRequest"][];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_ChangeReviews: {
            /** @description Comments on the changes of a change request. */
            data: {
                /** @description Comments of the caller that are not sent yet, oldest first. */
                drafts: components["schemas"]["CommentDraft"][];
                /** @description Newest 50 reviews of all users, newest first. */
                reviews: components["schemas"]["ChangeReview"][];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_CommandCreated: {
            /** @description A created or deduplicated command. */
            data: {
                /**
                 * Format: uuid
                 * @description Id of the command.
                 */
                commandId: string;
                /** @description `true` when an earlier request with the same idempotency key created the command; absent otherwise. */
                deduped?: boolean | null;
                /** @description Current status of the command. */
                status: components["schemas"]["CommandStatus"];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_CommandRecord: {
            /** @description State of a command. */
            data: {
                /**
                 * Format: uuid
                 * @description Id of the command.
                 */
                commandId: string;
                /**
                 * Format: uuid
                 * @description Id of the desktop.
                 */
                computeTargetId: string;
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /** @description Reason of the failure; absent unless the command failed. */
                error?: string | null;
                /** @description Time of the terminal event, ISO 8601; absent before. */
                finishedAt?: string | null;
                /** @description Idempotency key of the request that created it; absent without one. */
                idempotencyKey?: string | null;
                /**
                 * Format: int64
                 * @description Sequence number of the last event that was stored.
                 */
                lastSequenceAcked: number;
                /** @description Operation that the command requests. */
                operationId: string;
                /** @description Start of the execution, ISO 8601; absent before. */
                startedAt?: string | null;
                /** @description Current status of the command. */
                status: components["schemas"]["CommandStatus"];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_CommentDraft: {
            /** @description A comment that its author has not sent yet. */
            data: components["schemas"]["CommentPlace"] & {
                /** @description Text of the comment. */
                body: string;
                /** @description Time at which the comment was created, ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Id of the comment.
                 */
                id: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_ComputePreference: {
            /** @description Preferred place of execution. */
            data: {
                /**
                 * Format: uuid
                 * @description Id of the preferred desktop; absent without one.
                 */
                computeTargetId?: string | null;
                /** @description Whether the user chose the mode explicitly. */
                isExplicit: boolean;
                /** @description `LOCAL` for a desktop, `CLOUD` otherwise. This installation has no cloud runners. */
                preferredComputeMode: components["schemas"]["ComputeMode"];
                selectedHarness?: components["schemas"]["Harness"] | null;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_ComputeTarget: {
            /** @description A desktop as its users see it. */
            data: {
                /**
                 * Format: int64
                 * @description Number of running commands.
                 */
                activeCommands?: number | null;
                /**
                 * @description Open object: versions, limits and features of the desktop, and `gatewayPort`, the loopback port of its
                 *     gateway for pages on the same machine.
                 */
                capabilities: {
                    [key: string]: unknown;
                };
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Stable id of the Loopgate installation; absent when unknown.
                 */
                gatewayId?: string | null;
                /** @description Whether members can also send commands to it, such as reading changes and switching branches. */
                grantsCommands: boolean;
                /**
                 * Format: uuid
                 * @description Id of the desktop.
                 */
                id: string;
                /** @description Whether the desktop is connected. */
                isOnline: boolean;
                /** @description Whether all members of the organization can run loops on it. */
                isSharedWithOrg: boolean;
                /** @description Time of the last message from the desktop, ISO 8601. */
                lastSeenAt: string;
                /** @description Host name of the machine; `name (2)` for the second desktop of the owner with that name. */
                machineName: string;
                /**
                 * Format: uuid
                 * @description Organization of the desktop.
                 */
                organizationId: string;
                /** @description Name of the owner; present only for desktops of other users. */
                ownerName?: string | null;
                /** @description Operating system: `darwin`, `linux` or `win32`. */
                platform: string;
                /**
                 * Format: int64
                 * @description Number of queued commands.
                 */
                queueDepth?: number | null;
                /** @description Authentication strength of the desktop. */
                security: components["schemas"]["TargetSecurity"];
                /** @description Harness that runs its loops. */
                selectedHarness: components["schemas"]["Harness"];
                /** @description Features that the control plane offers to this desktop. */
                serverCapabilities?: components["schemas"]["ServerCapabilities"];
                /** @description State that the desktop reported: `online`, `degraded` or `paused`. */
                state?: string | null;
                /** @description Ids of the supported gateway operations. */
                supportedOperations: string[];
                /** @description Time of the last change, ISO 8601. */
                updatedAt: string;
                /**
                 * Format: uuid
                 * @description Id of the owner.
                 */
                userId: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_CreatedApiKey: {
            /** @description A new API key with its secret. */
            data: components["schemas"]["ApiKeyRecord"] & {
                /** @description API key in plain text; it cannot be retrieved again. */
                plaintext: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_CreatedInvitation: {
            /** @description A new invitation with its secret. */
            data: components["schemas"]["Invitation"] & {
                /** @description Secret token; it cannot be retrieved again. */
                token: string;
                /** @description URL of the page that accepts the invitation; contains the token. */
                url: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_DeletedChangeRequest: {
            /** @description A deletion that can be undone. */
            data: {
                /** @description Time until which it can be restored, ISO 8601. */
                restorableUntil: string;
                /** @description Slug of the document that it begins with. */
                slug: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_DeleteResponse: {
            /** @description Response to a deletion. */
            data: {
                /** @description Always `true`; failures have another status. */
                deleted: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_DocumentDetail: {
            /** @description A document with its text, loops and pull requests. */
            data: components["schemas"]["DocumentRecord"] & {
                /** @description Files that its user added. */
                attachments: components["schemas"]["DocumentAttachment"][];
                /** @description Current text in Markdown. */
                content: string;
                /** @description Loops on the document, newest first. */
                loops: components["schemas"]["LoopRecord"][];
                plan?: components["schemas"]["LoopDocument"] | null;
                /** @description Pull requests of those loops, newest first. */
                pullRequests: components["schemas"]["PullRequest"][];
                /** @description Complete plan object of the current text; null without one. */
                raw?: {
                    [key: string]: unknown;
                } | null;
                source?: components["schemas"]["LoopDocument"] | null;
                /** @description Newest 200 versions, newest first. */
                versions: components["schemas"]["DocumentVersionRecord"][];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_DocumentVersion: {
            /** @description A version of a document's text. */
            data: {
                /** @description Text of the version in Markdown. */
                content: string;
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Id of the loop that created the version; null for a user's.
                 */
                loopId?: string | null;
                /** @description Complete plan object, for a text that comes from one. */
                raw?: {
                    [key: string]: unknown;
                } | null;
                /**
                 * Format: int64
                 * @description Version number, from 1.
                 */
                version: number;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_EventList: {
            /**
             * @description A range when `tail`, `before`, `text` or `about` is given; else a page when `type`, `limit`, `offset` or `sort` is
             *     given without `after` and `since`; else a list.
             */
            data: components["schemas"]["StoredEvent"][] | components["schemas"]["EventPage"] | components["schemas"]["EventRange"];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_ExecutionCredentials: {
            /** @description Body of the desktop's request to its own gateway. */
            data: {
                /** @description Id of the loop. */
                loopId: string;
            } & {
                [key: string]: unknown;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_FeatureFlags: {
            /** @description Feature flags of the organization. */
            data: {
                /** @description Values by key; contains every known flag. */
                flags: {
                    [key: string]: boolean;
                };
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_GithubTokens: {
            /** @description Tokens for the repositories of a loop, each valid for one hour. */
            data: {
                /** @description Tokens for the peer repositories. */
                additionalRepoTokens: components["schemas"]["RepoToken"][];
                /** @description Token for the primary repository. */
                token: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_HashMap_String_DocumentSummary: {
            data: {
                [key: string]: {
                    activeLoop?: components["schemas"]["DocumentLoop"] | null;
                    latestCompleted?: components["schemas"]["DocumentLoop"] | null;
                    latestFailed?: components["schemas"]["DocumentLoop"] | null;
                };
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Heartbeat: {
            /** @description Response to a runner's heartbeat. */
            data: {
                /**
                 * @description `false` when the previous heartbeat is younger than four and a half minutes and was therefore not
                 *     updated.
                 */
                bumped: boolean;
                /** @description Expiry of the new token, ISO 8601. */
                expiresAt?: string | null;
                /**
                 * Format: uuid
                 * @description Token slot (`jti`) of the new token.
                 */
                jti?: string | null;
                /**
                 * @description `true` when a new token was issued: the loop had timed out, or the desktop authenticated with its API
                 *     key. Absent otherwise.
                 */
                revived?: boolean | null;
                /** @description New runner token; present only with `revived`. */
                token?: string | null;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_HeartbeatResponse: {
            /** @description Response to a desktop's heartbeat. */
            data: {
                /** @description Always `true`; failures have an error status. */
                ok: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_IngestReport: {
            /** @description Result of ingesting a roster. */
            data: {
                /** @description One entry for each role of the request. */
                agents: components["schemas"]["IngestedAgent"][];
                /** @description Number of created agents. */
                created: number;
                /** @description Number of unchanged agents. */
                unchanged: number;
                /** @description Number of agents with a new version. */
                updated: number;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_InvitationPreview: {
            /** @description Content of an invitation, shown before it is accepted. */
            data: {
                /** @description E-mail address of the invited user. */
                email: string;
                /** @description Expiry of the invitation, ISO 8601. */
                expiresAt: string;
                /** @description Name of the organization. */
                organizationName: string;
                /** @description Role in the organization. */
                role: components["schemas"]["Role"];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_LaunchPreview: {
            /** @description What a start on a document would run, for the user to judge and sign. */
            data: {
                /**
                 * Format: uuid
                 * @description Id of the document that the loop would work on.
                 */
                documentId: string;
                /** @description The launch request without what is assigned at the launch. */
                launch: components["schemas"]["LaunchContent"];
                /**
                 * Format: int64
                 * @description Current version of that document.
                 */
                version: number;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_LoopDetail: {
            /** @description A loop with its large values. */
            data: components["schemas"]["LoopRecord"] & components["schemas"]["SelectedOptions"] & {
                /** @description Documents provided as context. */
                contextRefs?: {
                    [key: string]: unknown;
                }[] | null;
                /**
                 * @description Diagnostics of the desktop about the end of the process: `stderrTail`, `logTail`, `exitCode`,
                 *     `exitSignal`, `elapsedMs`, `abortReason`, `spawnMeta`, ….
                 */
                diagnostics?: {
                    [key: string]: unknown;
                } | null;
                /** @description Open object: `warnings`, `verdict`, `apiKeySource`, and metadata uploaded by the runner. */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Branch of the primary repository. */
                primaryBranch?: string | null;
                primaryPullRequest?: components["schemas"]["SuccessEntry"] | null;
                producedDocument?: components["schemas"]["LoopDocument"] | null;
                /** @description Request in natural language. */
                prompt?: string | null;
                /** @description Result for each repository; null for completions in the oldest format. */
                results?: components["schemas"]["ResultEntry"][] | null;
                /** @description Number of tokens by model. */
                tokensByModel?: {
                    [key: string]: components["schemas"]["ModelTokens"];
                } | null;
                /** @description Artifacts uploaded by the runner: `plan`, `executionResult`, `verdict`, …. */
                uploadedArtifacts?: {
                    [key: string]: unknown;
                } | null;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_LoopStarted: {
            /** @description Response of every request that starts a loop. */
            data: {
                /**
                 * Format: uuid
                 * @description Id of the loop.
                 */
                loopId: string;
                /** @description Status of the loop at the time of the response. */
                status: components["schemas"]["LoopStatus"];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Me: {
            /** @description The user who is signed in. */
            data: {
                /** @description URL of the profile picture. */
                avatarUrl?: string | null;
                /** @description Base URL of the code host; absent for `https://github.com`. */
                codeHostUrl?: string | null;
                demonstration?: components["schemas"]["Demonstration"] | null;
                /** @description E-mail address of the user. */
                email: string;
                firstName?: string | null;
                /**
                 * Format: uuid
                 * @description Id of the user.
                 */
                id: string;
                lastName?: string | null;
                /** @description Organization that the request acts in. */
                organization: components["schemas"]["OrganizationView"];
                /** @description Role of the user in this organization. */
                role: components["schemas"]["Role"];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Member: {
            /** @description A member of the organization. */
            data: {
                /** @description Whether the member can sign in and its API keys are accepted. */
                active: boolean;
                /** @description URL of the profile picture. */
                avatarUrl?: string | null;
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /** @description E-mail address of the member. */
                email: string;
                firstName?: string | null;
                /**
                 * Format: uuid
                 * @description Id of the user.
                 */
                id: string;
                lastName?: string | null;
                /** @description Role in the organization. */
                role: components["schemas"]["Role"];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_OpenFindings: {
            /** @description How many findings of reviews wait for a decision. */
            data: {
                /**
                 * Format: int32
                 * @description Number of findings that are neither declined nor sent to a loop; at most 10,000.
                 */
                count: number;
                /**
                 * @description Name of the repository with the reviewed changes, as the list of the loop's changes names it.
                 * @example acme/shop
                 */
                repository: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Option_HealthCheckSnapshot: {
            data: null | {
                /** @description Whether all required checks passed. */
                allRequiredPassed: boolean;
                /** @description Time of the check, ISO 8601. */
                checkedAt: string;
                /**
                 * Format: uuid
                 * @description Id of the desktop.
                 */
                computeTargetId: string;
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /** @description URL of the MCP server that was searched for. */
                expectedMcpUrl?: string | null;
                /**
                 * Format: uuid
                 * @description Id of the snapshot.
                 */
                id: string;
                /** @description Newest available version of Loopgate. */
                latestVersion?: string | null;
                /**
                 * Format: uuid
                 * @description Organization of the desktop.
                 */
                organizationId: string;
                /** @description Whether plugins are updated automatically. */
                pluginAutoUpdateEnabled?: boolean | null;
                /** @description Ids of the required checks that failed. */
                requiredFailureIds: string[];
                /** @description Result of the check. */
                result: components["schemas"]["HealthCheckResult"];
                /**
                 * Format: int32
                 * @description Version of this schema.
                 */
                schemaVersion: number;
                /** @description Time of the last change, ISO 8601. */
                updatedAt: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_OrganizationSettings: {
            /** @description Settings of an organization. */
            data: {
                /**
                 * @description Whether a person has to approve the changes of an EXECUTE before it opens pull requests.
                 * @default false
                 */
                holdPullRequests: boolean;
                /**
                 * Format: int64
                 * @description Active loops per user, at least 1. Defaults to 10.
                 * @default null
                 */
                maxConcurrentLoops: number | null;
                /**
                 * @description Spending limits for loops, in US dollars.
                 * @default {}
                 */
                spendingLimits: components["schemas"]["SpendingLimits"];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_PasswordChanged: {
            /** @description Result of a password change. */
            data: {
                /** @description E-mail address to sign in with. */
                signInEmail: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_PasswordResetLink: {
            /** @description A link with which a member sets a new password. */
            data: {
                /** @description Expiry of the link, ISO 8601. */
                expiresAt: string;
                /** @description URL to give to the member. It is valid once, and shown only in this response. */
                url: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_ProposalRejected: {
            /** @description Result of a rejection. */
            data: {
                /** @description Always `true`; failures have an error status. */
                rejected: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_PublicKeyRecord: {
            /** @description A registered browser key. */
            data: {
                /** @description Registration time, ISO 8601. */
                createdAt: string;
                /** @description Fingerprint: `lg:` followed by 22 characters. */
                fingerprint: string;
                /**
                 * Format: uuid
                 * @description Id of the key.
                 */
                id: string;
                /**
                 * Format: uuid
                 * @description Organization of the owner.
                 */
                organizationId: string;
                /** @description Raw Ed25519 public key, standard base64. */
                publicKeyBase64: string;
                /**
                 * Format: uuid
                 * @description Id of the owner.
                 */
                userId: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_PublicKeyRemoved: {
            /** @description Result of removing a browser key. */
            data: {
                /** @description `false` when the caller had no such key. */
                deleted: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_ReceivedView: {
            /** @description Acknowledgement of an event. */
            data: {
                /** @description `true` when the loop has ended without its runner: the runner must stop. Absent otherwise. */
                ended?: boolean | null;
                /**
                 * @description `true` when the event was dropped, because the loop has finished or has too many events; absent
                 *     otherwise.
                 */
                ignored?: boolean | null;
                /** @description Always `true`; failures have an error status. */
                received: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_RefreshResponse: {
            /** @description A new runner token. */
            data: {
                /** @description Expiry of the token, ISO 8601. */
                expiresAt: string;
                /**
                 * Format: uuid
                 * @description Token slot (`jti`) of the token.
                 */
                jti: string;
                /** @description Runner token; replaces the previous one. */
                token: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_RegisteredTarget: {
            /** @description Result of registering a desktop. */
            data: {
                /**
                 * Format: uuid
                 * @description Id of the desktop.
                 */
                id: string;
                /** @description Always `true` after a registration. */
                isOnline: boolean;
                /** @description Host name of the machine. */
                machineName: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_RuntimeView: {
            /** @description Connection state of a loop's runner, for administrators. Never contains the token itself. */
            data: {
                /**
                 * Format: uuid
                 * @description Token slot (`jti`) of the current token.
                 */
                activeTokenJti?: string | null;
                /**
                 * Format: uuid
                 * @description Id of the loop.
                 */
                id: string;
                /** @description Time of the last heartbeat, ISO 8601. */
                lastRunnerHeartbeatAt?: string | null;
                /** @description Capabilities of the runner. */
                runnerCapabilities: components["schemas"]["RunnerCapabilities"];
                /** @description Current status of the loop. */
                status: components["schemas"]["LoopStatus"];
                /** @description Expiry of the runner token, ISO 8601. */
                tokenExpiresAt?: string | null;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_SentMessage: {
            /** @description A stored message. Events of the loop with its id report the message and its delivery. */
            data: {
                /**
                 * Format: uuid
                 * @description Id of the message.
                 */
                messageId: string;
                /** @description Time at which the message was stored, ISO 8601. */
                sentAt: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_SharedTarget: {
            /** @description Sharing of a desktop. */
            data: {
                /** @description Whether members can also send commands to it. */
                grantsCommands: boolean;
                /**
                 * Format: uuid
                 * @description Id of the desktop.
                 */
                id: string;
                /** @description Whether all members of the organization can run loops on it. */
                isSharedWithOrg: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_SignedIn: {
            /** @description Response to a successful sign-in. */
            data: components["schemas"]["Me"] & {
                /** @description Value for the `X-Session-Key` header of every request. The session cookie alone does not authenticate. */
                sessionKey: string;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_SignedUrls: {
            /** @description Signed URLs of several objects. */
            data: {
                /** @description One entry for each key. */
                urls: components["schemas"]["SignedUrl"][];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_SignInMethods: {
            /** @description Sign-in methods of this installation. */
            data: {
                /** @description Name of the OpenID provider behind `/auth/oidc/start`; absent without one. */
                oidc?: string | null;
                /** @description Whether local accounts (e-mail address and password) exist. */
                password: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_SignOutResponse: {
            /** @description Result of a sign-out. */
            data: {
                /** @description Always `true`; failures have an error status. */
                signedOut: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_StoredDeployments: {
            /** @description Response to a stored report. */
            data: {
                /** @description Number of the reported deployments. */
                count: number;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_StoredEvent: {
            /** @description A stored event in flat form. */
            data: components["schemas"]["EventBody"] & {
                /**
                 * Format: uuid
                 * @description Id of the event; also the `id` field on the stream.
                 */
                id: string;
                /**
                 * Format: int64
                 * @description Position within the loop, from 1, without gaps.
                 */
                sequence: number;
                /** @description Time of receipt, ISO 8601. */
                storedAt: string;
                /** @description Time of the event according to its source, ISO 8601; absent from some events of the control plane. */
                timestamp?: string | null;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_StoredObject: {
            /** @description Result of an upload. */
            data: {
                /** @description Always `true`; failures have an error status. */
                stored: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_TicketDetail: {
            /** @description A ticket with its text, plan, loops and pull requests. */
            data: components["schemas"]["TicketRecord"] & {
                /** @description Text of the ticket, in Markdown. */
                body: string;
                /** @description Feature document of the ticket, from which loops are started. */
                document: components["schemas"]["LoopDocument"];
                /** @description Latest 50 loops of the ticket's document and its plan, newest first. */
                loops: components["schemas"]["LoopRecord"][];
                plan?: components["schemas"]["LoopDocument"] | null;
                /** @description Pull requests of the document and its plan, newest first. */
                pullRequests: components["schemas"]["PullRequest"][];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_UploadResponse: {
            /** @description Result of an upload. */
            data: {
                /** @description Always `true`; failures have an error status. */
                stored: boolean;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Usage: {
            /** @description Usage of an organization. */
            data: {
                /** @description Usage grouped by command. */
                byCommand: components["schemas"]["CommandUsage"][];
                /** @description Usage by day, earliest first; days without loops are omitted. */
                byDay: components["schemas"]["DayUsage"][];
                /** @description Usage grouped by user. */
                byUser: components["schemas"]["UserUsage"][];
                /**
                 * Format: int64
                 * @description Tokens written to the prompt cache, as far as the harness reports them.
                 */
                totalCacheCreationTokens: number;
                /**
                 * Format: int64
                 * @description Tokens read from the prompt cache.
                 */
                totalCacheReadTokens: number;
                /**
                 * Format: double
                 * @description Estimated cost in US dollars.
                 */
                totalEstimatedCost: number;
                /**
                 * Format: int64
                 * @description Number of all counted loops.
                 */
                totalLoops: number;
                /**
                 * Format: int64
                 * @description Number of input tokens.
                 */
                totalTokensInput: number;
                /**
                 * Format: int64
                 * @description Number of output tokens.
                 */
                totalTokensOutput: number;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_ApiKeyRecord: {
            data: {
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /** @description Expiry, ISO 8601; null when it does not expire. */
                expiresAt?: string | null;
                /**
                 * Format: uuid
                 * @description Id of the key.
                 */
                id: string;
                /** @description Prefix of every API key. */
                keyPrefix: string;
                /** @description Time of the last use, ISO 8601. */
                lastUsedAt?: string | null;
                /** @description Name that the owner chose. */
                name: string;
                /**
                 * Format: uuid
                 * @description Organization of the key.
                 */
                organizationId: string;
                /** @description Time of the revocation, ISO 8601; null for a valid key. */
                revokedAt?: string | null;
                /** @description Scopes that the key grants. */
                scopes: components["schemas"]["Scope"][];
                /**
                 * Format: uuid
                 * @description Id of the owner.
                 */
                userId: string;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_ChangeRequestGroup: {
            data: {
                /**
                 * Format: int64
                 * @description Number of its change requests.
                 */
                count: number;
                /** @description Name of the group: of the person, of the repository, or of the state. */
                name: string;
                /** @description Value of the parameter that selects the group: `state`, `repo` or `person`. */
                value: string;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_CommandEventRecord: {
            data: {
                /**
                 * Format: uuid
                 * @description Id of the command.
                 */
                commandId: string;
                /** @description Time of receipt, ISO 8601. */
                createdAt: string;
                /** @description Content; its members depend on `eventType`. */
                data: unknown;
                /** @description Kind of the event. */
                eventType: components["schemas"]["EventType"];
                /**
                 * Format: int64
                 * @description Position within the command, from 1, without gaps.
                 */
                sequence: number;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_CommandRecord: {
            data: {
                /**
                 * Format: uuid
                 * @description Id of the command.
                 */
                commandId: string;
                /**
                 * Format: uuid
                 * @description Id of the desktop.
                 */
                computeTargetId: string;
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /** @description Reason of the failure; absent unless the command failed. */
                error?: string | null;
                /** @description Time of the terminal event, ISO 8601; absent before. */
                finishedAt?: string | null;
                /** @description Idempotency key of the request that created it; absent without one. */
                idempotencyKey?: string | null;
                /**
                 * Format: int64
                 * @description Sequence number of the last event that was stored.
                 */
                lastSequenceAcked: number;
                /** @description Operation that the command requests. */
                operationId: string;
                /** @description Start of the execution, ISO 8601; absent before. */
                startedAt?: string | null;
                /** @description Current status of the command. */
                status: components["schemas"]["CommandStatus"];
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_ComputeTarget: {
            data: {
                /**
                 * Format: int64
                 * @description Number of running commands.
                 */
                activeCommands?: number | null;
                /**
                 * @description Open object: versions, limits and features of the desktop, and `gatewayPort`, the loopback port of its
                 *     gateway for pages on the same machine.
                 */
                capabilities: {
                    [key: string]: unknown;
                };
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Stable id of the Loopgate installation; absent when unknown.
                 */
                gatewayId?: string | null;
                /** @description Whether members can also send commands to it, such as reading changes and switching branches. */
                grantsCommands: boolean;
                /**
                 * Format: uuid
                 * @description Id of the desktop.
                 */
                id: string;
                /** @description Whether the desktop is connected. */
                isOnline: boolean;
                /** @description Whether all members of the organization can run loops on it. */
                isSharedWithOrg: boolean;
                /** @description Time of the last message from the desktop, ISO 8601. */
                lastSeenAt: string;
                /** @description Host name of the machine; `name (2)` for the second desktop of the owner with that name. */
                machineName: string;
                /**
                 * Format: uuid
                 * @description Organization of the desktop.
                 */
                organizationId: string;
                /** @description Name of the owner; present only for desktops of other users. */
                ownerName?: string | null;
                /** @description Operating system: `darwin`, `linux` or `win32`. */
                platform: string;
                /**
                 * Format: int64
                 * @description Number of queued commands.
                 */
                queueDepth?: number | null;
                /** @description Authentication strength of the desktop. */
                security: components["schemas"]["TargetSecurity"];
                /** @description Harness that runs its loops. */
                selectedHarness: components["schemas"]["Harness"];
                /** @description Features that the control plane offers to this desktop. */
                serverCapabilities?: components["schemas"]["ServerCapabilities"];
                /** @description State that the desktop reported: `online`, `degraded` or `paused`. */
                state?: string | null;
                /** @description Ids of the supported gateway operations. */
                supportedOperations: string[];
                /** @description Time of the last change, ISO 8601. */
                updatedAt: string;
                /**
                 * Format: uuid
                 * @description Id of the owner.
                 */
                userId: string;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_DocumentRecord: {
            data: {
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /**
                 * Format: int64
                 * @description Number of the current version, from 1.
                 */
                currentVersion: number;
                /**
                 * Format: uuid
                 * @description Id of the document.
                 */
                id: string;
                repo?: components["schemas"]["RepoRef"] | null;
                /** @description Slug, for example `plan-7`; unique in the organization. */
                slug: string;
                /**
                 * Format: uuid
                 * @description Id of the document that it was derived from.
                 */
                sourceDocumentId?: string | null;
                /** @description Status of the document. */
                status: components["schemas"]["DocumentStatus"];
                title: string;
                /** @description Kind of the document. */
                type: components["schemas"]["ArtifactType"];
                /** @description Time of the last change, ISO 8601. */
                updatedAt: string;
                /**
                 * Format: uuid
                 * @description User who created it.
                 */
                userId: string;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_DocumentVersionRecord: {
            data: {
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Id of the loop that created the version; null for a user's.
                 */
                loopId?: string | null;
                /**
                 * Format: int64
                 * @description Version number, from 1.
                 */
                version: number;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_HistoryEntry: {
            data: (components["schemas"]["Happening"] & {
                /** @description Time, ISO 8601. */
                at: string;
                user?: components["schemas"]["LoopUser"] | null;
            })[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_Invitation: {
            data: {
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Id of the administrator who created it.
                 */
                createdBy: string;
                /** @description E-mail address of the invited user. */
                email: string;
                /** @description Expiry, ISO 8601; seven days after creation. */
                expiresAt: string;
                /**
                 * Format: uuid
                 * @description Id of the invitation.
                 */
                id: string;
                /** @description Role in the organization. */
                role: components["schemas"]["Role"];
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_ListedPublicKey: {
            data: (components["schemas"]["PublicKeyRecord"] & {
                /** @description E-mail address of the owner. */
                ownerEmail: string;
                /** @description Full name of the owner. */
                ownerName: string;
                targetContext?: components["schemas"]["KeyTargetContext"] | null;
            })[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_Member: {
            data: {
                /** @description Whether the member can sign in and its API keys are accepted. */
                active: boolean;
                /** @description URL of the profile picture. */
                avatarUrl?: string | null;
                /** @description Creation time, ISO 8601. */
                createdAt: string;
                /** @description E-mail address of the member. */
                email: string;
                firstName?: string | null;
                /**
                 * Format: uuid
                 * @description Id of the user.
                 */
                id: string;
                lastName?: string | null;
                /** @description Role in the organization. */
                role: components["schemas"]["Role"];
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_Membership: {
            data: {
                /**
                 * Format: uuid
                 * @description Id of the organization.
                 */
                id: string;
                /** @description Display name of the organization. */
                name: string;
                /** @description Role of the user in the organization. */
                role: components["schemas"]["Role"];
                /** @description First segment of the web app's paths, and value of the `X-Org-Slug` header. */
                slug: string;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_SavedView: {
            data: {
                /** @description Name, 1 to 60 characters, unique. */
                name: string;
                /** @description Search and grouping, as in the address of the page, at most 300 characters. */
                search: string;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_SessionRecord: {
            data: {
                /** @description IP address at sign-in. */
                address?: string | null;
                /** @description Time of the sign-in, ISO 8601. */
                createdAt: string;
                /** @description Whether this request used the session. */
                current: boolean;
                /** @description Expiry, ISO 8601; each use extends it. */
                expiresAt: string;
                /** @description Hash of the session id. It identifies the session, but does not authenticate. */
                id: string;
                /** @description Time of the last use, ISO 8601; up to five minutes behind. */
                lastUsedAt: string;
                /** @description `User-Agent` header at sign-in. */
                userAgent?: string | null;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_Vec_TicketRecord: {
            data: {
                /** @description Peer repositories of the ticket's loops. */
                additionalRepos: components["schemas"]["RepoRef"][];
                /** @description Creation time in ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Id of the ticket and of its document.
                 */
                id: string;
                repo?: components["schemas"]["RepoRef"] | null;
                /** @description Slug such as `ticket-7`; unique in the organization, and the ticket id in the gateway's routes. */
                slug: string;
                /** @description Whether the ticket is open or closed. */
                state: components["schemas"]["TicketState"];
                /** @description Title of the ticket's document. */
                title: string;
                /** @description Time of the last change in ISO 8601. */
                updatedAt: string;
                /**
                 * Format: uuid
                 * @description Id of the user who created the ticket.
                 */
                userId: string;
            }[];
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_VerifyResponse: {
            /** @description Result of a successful verification. */
            data: {
                /** @description Expiry of the challenge, ISO 8601. */
                challengeExpiresAt: string;
                /** @description Always `true`; failures have an error status. */
                ok: boolean;
                /**
                 * Format: int64
                 * @description Lifetime of the gateway's session, in seconds.
                 */
                sessionTtlSeconds: number;
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Response envelope `{"success": true, "data": …}`. */
        Data_WatchedPullRequests: {
            /** @description What a desktop has to watch. */
            data: {
                /** @description Newest 50 pull requests of the desktop's loops that are not known to be merged or closed. */
                open: components["schemas"]["WatchedPullRequest"][];
            };
            /**
             * @description Always `true` in a successful response.
             * @example true
             */
            success: boolean;
        };
        /** @description Usage of the loops created on one day. */
        DayUsage: {
            /** @description Day in UTC, for example `2026-11-27`. */
            day: string;
            /**
             * Format: double
             * @description Estimated cost in US dollars.
             */
            estimatedCost: number;
            /**
             * Format: int64
             * @description Number of loops in this group.
             */
            loopCount: number;
            /**
             * Format: int64
             * @description Number of input tokens.
             */
            tokensInput: number;
            /**
             * Format: int64
             * @description Number of output tokens.
             */
            tokensOutput: number;
        };
        /** @description A deletion that can be undone. */
        DeletedChangeRequest: {
            /** @description Time until which it can be restored, ISO 8601. */
            restorableUntil: string;
            /** @description Slug of the document that it begins with. */
            slug: string;
        };
        /** @description Response to a deletion. */
        DeleteResponse: {
            /** @description Always `true`; failures have another status. */
            deleted: boolean;
        };
        /** @description The change that the scripted model of the demonstration implements. The page of a new change request contains it. */
        Demonstration: {
            /** @description Full name of the repository, `<org>/<repo>`. */
            repository: string;
            /** @description Text of the request. */
            request: string;
        };
        /** @description Report of a desktop about the deployment of a loop's worktree. */
        DeploymentReport: {
            /**
             * Format: uuid
             * @description The newest loop that worked in the worktree.
             */
            loopId: string;
            /** @description State of the deployment. */
            state: components["schemas"]["DeploymentState"];
        };
        /**
         * @description State of a deployment.
         * @enum {string}
         */
        DeploymentState: "starting" | "running" | "failed";
        /** @description A file of a document. */
        DocumentAttachment: {
            /** @description File name as uploaded. */
            filename: string;
            /**
             * Format: uuid
             * @description Id of the file.
             */
            id: string;
            /** @description Media type, for example `image/png`. */
            mimeType: string;
            /** @description SHA-256 of the content, in hexadecimal digits. */
            sha256: string;
            /**
             * Format: int64
             * @description Size in bytes.
             */
            sizeBytes: number;
        };
        /** @description A document with its text, loops and pull requests. */
        DocumentDetail: components["schemas"]["DocumentRecord"] & {
            /** @description Files that its user added. */
            attachments: components["schemas"]["DocumentAttachment"][];
            /** @description Current text in Markdown. */
            content: string;
            /** @description Loops on the document, newest first. */
            loops: components["schemas"]["LoopRecord"][];
            plan?: components["schemas"]["LoopDocument"] | null;
            /** @description Pull requests of those loops, newest first. */
            pullRequests: components["schemas"]["PullRequest"][];
            /** @description Complete plan object of the current text; null without one. */
            raw?: {
                [key: string]: unknown;
            } | null;
            source?: components["schemas"]["LoopDocument"] | null;
            /** @description Newest 200 versions, newest first. */
            versions: components["schemas"]["DocumentVersionRecord"][];
        };
        /**
         * @description Kinds of documents that users create. Plans are created by loops only.
         * @enum {string}
         */
        DocumentKind: "FEATURE" | "PRD";
        /** @description A loop in a summary. */
        DocumentLoop: {
            childSubtype?: components["schemas"]["ArtifactType"] | null;
            /** @description Command of the loop. */
            command: components["schemas"]["LoopCommand"];
            /** @description Completion time, ISO 8601; null unless completed. */
            completedAt?: string | null;
            /** @description Failure time, ISO 8601; null unless failed or timed out. */
            failedAt?: string | null;
            /** @description Whether the loop works on the summarized document itself. */
            isDirectLoop: boolean;
            /** @description Whether a desktop runs the loop. */
            isLocal: boolean;
            /**
             * Format: uuid
             * @description Id of the loop.
             */
            loopId: string;
            /** @description Start time, ISO 8601. */
            startedAt?: string | null;
            /** @description Status of the loop. */
            status: components["schemas"]["LoopStatus"];
            /** @description Time of the last change, ISO 8601. */
            updatedAt: string;
            user?: components["schemas"]["LoopUser"] | null;
        };
        /** @description A document without its text. */
        DocumentRecord: {
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /**
             * Format: int64
             * @description Number of the current version, from 1.
             */
            currentVersion: number;
            /**
             * Format: uuid
             * @description Id of the document.
             */
            id: string;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description Slug, for example `plan-7`; unique in the organization. */
            slug: string;
            /**
             * Format: uuid
             * @description Id of the document that it was derived from.
             */
            sourceDocumentId?: string | null;
            /** @description Status of the document. */
            status: components["schemas"]["DocumentStatus"];
            title: string;
            /** @description Kind of the document. */
            type: components["schemas"]["ArtifactType"];
            /** @description Time of the last change, ISO 8601. */
            updatedAt: string;
            /**
             * Format: uuid
             * @description User who created it.
             */
            userId: string;
        };
        /**
         * @description Status of a document.
         * @enum {string}
         */
        DocumentStatus: "DRAFT" | "IN_REVIEW" | "CHANGES_REQUESTED" | "APPROVED" | "EXECUTED" | "OBSOLETE";
        /** @description Loops of one document and of the documents derived from it. */
        DocumentSummary: {
            activeLoop?: components["schemas"]["DocumentLoop"] | null;
            latestCompleted?: components["schemas"]["DocumentLoop"] | null;
            latestFailed?: components["schemas"]["DocumentLoop"] | null;
        };
        /** @description A version of a document's text. */
        DocumentVersion: {
            /** @description Text of the version in Markdown. */
            content: string;
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Id of the loop that created the version; null for a user's.
             */
            loopId?: string | null;
            /** @description Complete plan object, for a text that comes from one. */
            raw?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description Version number, from 1.
             */
            version: number;
        };
        /** @description A version of a document without its text. */
        DocumentVersionRecord: {
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Id of the loop that created the version; null for a user's.
             */
            loopId?: string | null;
            /**
             * Format: int64
             * @description Version number, from 1.
             */
            version: number;
        };
        /** @description Request for download URLs of files. */
        DownloadUrls: {
            /** @description Key prefix; must be within the prefix of the loop or of its parent. */
            prefix: string;
        };
        /** @description A commit of a loop that a remote had before the loop's delivery. */
        EarlyPush: {
            /** @description Full hash of the commit. */
            commit: string;
            /** @description Full name of the branch or tag, for example `refs/heads/main`. */
            ref: string;
            /** @description Name of the remote, or the URL that it is pushed to. */
            remote: string;
        };
        /** @description Payload of an `error` event, including diagnostics of version 2. */
        ErrorEvent: {
            abortReason?: components["schemas"]["AbortReason"] | null;
            /** @description Source of the assistant's API key, as it reports it; absent when it does not. */
            apiKeySource?: string | null;
            /** @description Branch of the loop's worktree; absent without one. */
            branchName?: string | null;
            /** @description Error code of the loop, for example `PROCESS_FAILED`. */
            code?: string;
            /** @description Answers to the comments of the review that the loop received; absent without a review. */
            commentAnswers?: components["schemas"]["NumberedAnswer"][] | null;
            cost?: components["schemas"]["Cost"] | null;
            /** @description Version of the diagnostic members, `"2"`; absent from older desktops. */
            diagnosticsVersion?: string | null;
            /**
             * Format: int64
             * @description Milliseconds since the process was started.
             */
            elapsedMs?: number | null;
            /** @description Signal that terminated the process, for example `SIGKILL`. */
            exitSignal?: string | null;
            /** @description Last lines of the loop's log; absent without a log. */
            logTail?: string | null;
            /** @description Error message for the user. */
            message?: string;
            /** @description Why the control plane timed the loop out; absent from runners. */
            reaper?: Record<string, never> | null;
            /** @description `{"subcode": …}` of a verified failure marker, or `{"repo": …}` of a failed peer. */
            result?: Record<string, never> | null;
            /** @description One entry per repository that received a part of the work, the primary first. */
            results?: components["schemas"]["ResultEntry"][] | null;
            /** @description Session id of the assistant; absent when unknown. */
            sessionId?: string | null;
            /** @description End of the assistant's standard error without ANSI sequences, at most 4096 bytes and 50 lines. */
            stderrTail?: string | null;
            /** @description Tokens by model name; absent when unknown. */
            tokensByModel?: Record<string, never> | null;
            tokenUsage?: components["schemas"]["TokenUsage"] | null;
            /** @description Additional problems that did not cause the failure. */
            warnings?: string[];
        };
        /** @description What an event reports. */
        EventBody: (components["schemas"]["Started"] & {
            /** @enum {string} */
            type: "started";
        }) | (components["schemas"]["ProgressEvent"] & {
            /** @enum {string} */
            type: "progress";
        }) | (components["schemas"]["OutputEvent"] & {
            /** @enum {string} */
            type: "output";
        }) | (components["schemas"]["ToolCallEvent"] & {
            /** @enum {string} */
            type: "tool_call";
        }) | (components["schemas"]["LoopUsageReport"] & {
            /** @enum {string} */
            type: "usage";
        }) | (components["schemas"]["QuestionEvent"] & {
            /** @enum {string} */
            type: "question";
        }) | (components["schemas"]["LimitEvent"] & {
            /** @enum {string} */
            type: "limit";
        }) | (components["schemas"]["ApprovalRequestEvent"] & {
            /** @enum {string} */
            type: "approval";
        }) | (components["schemas"]["ApprovalDecisionEvent"] & {
            /** @enum {string} */
            type: "approval_decision";
        }) | (components["schemas"]["QueueEvent"] & {
            /** @enum {string} */
            type: "queue";
        }) | (components["schemas"]["StallEvent"] & {
            /** @enum {string} */
            type: "stall";
        }) | (components["schemas"]["MessageEvent"] & {
            /** @enum {string} */
            type: "message";
        }) | (components["schemas"]["MessageDeliveryEvent"] & {
            /** @enum {string} */
            type: "message_delivery";
        }) | (components["schemas"]["ArtifactCreated"] & {
            /** @enum {string} */
            type: "artifact_created";
        }) | (components["schemas"]["SupportBundleUploaded"] & {
            /** @enum {string} */
            type: "support_bundle_uploaded";
        }) | (components["schemas"]["Completed"] & {
            /** @enum {string} */
            type: "completed";
        }) | (components["schemas"]["ErrorEvent"] & {
            /** @enum {string} */
            type: "error";
        }) | (components["schemas"]["Cancelled"] & {
            /** @enum {string} */
            type: "cancelled";
        }) | (components["schemas"]["TokensCleared"] & {
            /** @enum {string} */
            type: "tokens_cleared";
        }) | (components["schemas"]["TokenRefreshed"] & {
            /** @enum {string} */
            type: "token_refreshed";
        }) | (components["schemas"]["ReapReversed"] & {
            /** @enum {string} */
            type: "reap_reversed";
        }) | (components["schemas"]["Unreadable"] & {
            /** @enum {string} */
            type: "unreadable";
        });
        /**
         * @description A range when `tail`, `before`, `text` or `about` is given; else a page when `type`, `limit`, `offset` or `sort` is
         *     given without `after` and `since`; else a list.
         */
        EventList: components["schemas"]["StoredEvent"][] | components["schemas"]["EventPage"] | components["schemas"]["EventRange"];
        /** @description A page of a loop's events. */
        EventPage: {
            /** @description Events of this page. */
            data: components["schemas"]["StoredEvent"][];
            /**
             * Format: int64
             * @description Number of matching events on all pages.
             */
            total: number;
        };
        /** @description Consecutive events, or those that match a search. */
        EventRange: {
            /**
             * Format: int64
             * @description Value of `before` for the preceding range; absent if there are no earlier events.
             */
            before?: number | null;
            /** @description The events, oldest first. */
            events: components["schemas"]["StoredEvent"][];
            /**
             * Format: int64
             * @description Sequence number of the loop's last event; 0 without events.
             */
            lastSequence: number;
        };
        /**
         * @description Type of a command's event.
         * @enum {string}
         */
        EventType: "status" | "chunk" | "result" | "error" | "done";
        /** @description Body of the desktop's request to its own gateway. */
        ExecutionCredentials: {
            /** @description Id of the loop. */
            loopId: string;
        } & {
            [key: string]: unknown;
        };
        /** @description Request for the execution credentials of a command. */
        ExecutionCredentialsRequest: {
            /**
             * Format: uuid
             * @description Id of the signed command that the desktop received.
             */
            commandId: string;
        };
        /**
         * @description Depth of the exploration.
         * @enum {string}
         */
        ExplorationDepth: "quick" | "medium" | "deep";
        /** @description Options of the exploration. */
        ExplorationOptions: {
            depth?: components["schemas"]["ExplorationDepth"] | null;
        };
        /** @description Body of every error response, except those of the desktop onboarding. */
        Failure: {
            /** @description Stable identifier of the error, for programs. */
            code: string;
            /** @description The conflicting resource, when the client can resolve the conflict. */
            data?: Record<string, never> | null;
            /** @description Details of the error by name, for example `issues` of an invalid request body. */
            details?: Record<string, never> | null;
            /** @description Description of the error for people; its wording may change. */
            error: string;
            /**
             * @description Always `false` in an error response.
             * @example false
             */
            success: boolean;
        };
        /** @description Feature flags of the organization. */
        FeatureFlags: {
            /** @description Values by key; contains every known flag. */
            flags: {
                [key: string]: boolean;
            };
        };
        /** @description Selects the peer repositories to create tokens for. */
        GithubTokenRequest: {
            /** @description Peer repositories of the loop, at most 5; all of them by default. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
        };
        /** @description Tokens for the repositories of a loop, each valid for one hour. */
        GithubTokens: {
            /** @description Tokens for the peer repositories. */
            additionalRepoTokens: components["schemas"]["RepoToken"][];
            /** @description Token for the primary repository. */
            token: string;
        };
        /** @description What happened. */
        Happening: {
            /** @description The document. */
            document: components["schemas"]["LoopDocument"];
            /** @enum {string} */
            kind: "version";
            /**
             * Format: uuid
             * @description Loop that wrote it; null for a person.
             */
            loopId?: string | null;
            /**
             * Format: int64
             * @description Number of the version, from 1.
             */
            version: number;
        } | {
            command: components["schemas"]["LoopCommand"];
            /** @enum {string} */
            kind: "loop_started";
            /** Format: uuid */
            loopId: string;
            /** @description First 200 characters of the message; null without one. */
            message?: string | null;
            reason: components["schemas"]["StartReason"];
            /**
             * Format: int64
             * @description Version of the document that the loop works on; null without a document.
             */
            version?: number | null;
        } | {
            /** @description Error code; null without an error. */
            code?: string | null;
            command: components["schemas"]["LoopCommand"];
            /** @enum {string} */
            kind: "loop_ended";
            /** Format: uuid */
            loopId: string;
            status: components["schemas"]["LoopStatus"];
        } | {
            /** @enum {string} */
            kind: "loop_cancelled";
            /** Format: uuid */
            loopId: string;
        } | {
            /** @enum {string} */
            kind: "approval_requested";
            /** Format: uuid */
            loopId: string;
            /** @description Message with the reason. */
            message?: string | null;
        } | {
            /** @enum {string} */
            kind: "approval_decided";
            /** Format: uuid */
            loopId: string;
            outcome: components["schemas"]["ApprovalOutcome"];
        } | {
            /** @enum {string} */
            kind: "question";
            /** Format: uuid */
            loopId: string;
            message: string;
        } | {
            /** @description Time at which the assistant received the message, ISO 8601; null if it has not, or if the time is not known. */
            deliveredAt?: string | null;
            delivery: components["schemas"]["MessageState"];
            /** @enum {string} */
            kind: "message";
            /** Format: uuid */
            loopId: string;
            messageId: string;
            /** @description Why the machine refused the message; null if it did not. */
            reason?: string | null;
            text: string;
        } | {
            /**
             * Format: int64
             * @description Number of its comments.
             */
            comments: number;
            /** @enum {string} */
            kind: "changes_reviewed";
            /**
             * Format: uuid
             * @description Loop that answers the comments, or opens the pull requests; null without one.
             */
            loopId?: string | null;
            /** @description Result of the review. */
            review: components["schemas"]["ReviewKind"];
            /** @description What the person says about the change as a whole; null without it. */
            summary?: string | null;
        } | {
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
            /** @enum {string} */
            kind: "pull_request";
            /** Format: int64 */
            number: number;
            url: string;
        } | {
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
            /** @enum {string} */
            kind: "pull_request_settled";
            /** @description Login of the account that merged it; null otherwise. */
            mergedBy?: string | null;
            /** Format: int64 */
            number: number;
            /** @description `merged` or `closed`. */
            state: components["schemas"]["PullRequestState"];
            url: string;
        } | {
            /** @enum {string} */
            kind: "changed";
        } | {
            /** @enum {string} */
            kind: "archived";
        } | {
            /** @enum {string} */
            kind: "unarchived";
        } | {
            /** @enum {string} */
            kind: "deleted";
        } | {
            /** @enum {string} */
            kind: "restored";
        };
        /**
         * @description Provider that runs a loop.
         * @enum {string}
         */
        Harness: "assistant" | "reviewer";
        /** @description Result of one check. */
        HealthCheckEntry: {
            /** @description Diagnostic details for support. */
            debug?: string | null;
            /** @description Whether enabling plugins was attempted. */
            enableAttempted?: boolean | null;
            enableOutcome?: components["schemas"]["AttemptOutcome"] | null;
            /** @description Ids of the plugins to enable. */
            enablePluginIds?: string[] | null;
            /** @description Reason of the failure; absent when the check passed. */
            error?: string | null;
            /** @description Stable id of the check. */
            id: string;
            /** @description Name of the check for display. */
            label: string;
            passed: boolean;
            /** @description Instructions to fix the failure. */
            remediation?: string | null;
            /** @description Links to instructions for a failed check. */
            remediationLinks?: components["schemas"]["RemediationLink"][] | null;
            /** @description Whether loops cannot run unless this check passes. */
            required: boolean;
            /** @description Whether updating plugins was attempted. */
            updateAttempted?: boolean | null;
            updateOutcome?: components["schemas"]["AttemptOutcome"] | null;
            /** @description Ids of the plugins to update. */
            updatePluginIds?: string[] | null;
            /** @description Detected version of the program. */
            version?: string | null;
        };
        /** @description Result of a health check. */
        HealthCheckResult: {
            /** @description Whether all required checks passed. */
            allRequiredPassed: boolean;
            /** @description Individual checks, at most 100. */
            checks: components["schemas"]["HealthCheckEntry"][];
            /** @description MCP server checks by program: `assistant`, `reviewer`. */
            mcpServers?: {
                [key: string]: components["schemas"]["McpServerCheck"];
            } | null;
        };
        /** @description Latest health check of a desktop. */
        HealthCheckSnapshot: {
            /** @description Whether all required checks passed. */
            allRequiredPassed: boolean;
            /** @description Time of the check, ISO 8601. */
            checkedAt: string;
            /**
             * Format: uuid
             * @description Id of the desktop.
             */
            computeTargetId: string;
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /** @description URL of the MCP server that was searched for. */
            expectedMcpUrl?: string | null;
            /**
             * Format: uuid
             * @description Id of the snapshot.
             */
            id: string;
            /** @description Newest available version of Loopgate. */
            latestVersion?: string | null;
            /**
             * Format: uuid
             * @description Organization of the desktop.
             */
            organizationId: string;
            /** @description Whether plugins are updated automatically. */
            pluginAutoUpdateEnabled?: boolean | null;
            /** @description Ids of the required checks that failed. */
            requiredFailureIds: string[];
            /** @description Result of the check. */
            result: components["schemas"]["HealthCheckResult"];
            /**
             * Format: int32
             * @description Version of this schema.
             */
            schemaVersion: number;
            /** @description Time of the last change, ISO 8601. */
            updatedAt: string;
        };
        /** @description Response to a runner's heartbeat. */
        Heartbeat: {
            /**
             * @description `false` when the previous heartbeat is younger than four and a half minutes and was therefore not
             *     updated.
             */
            bumped: boolean;
            /** @description Expiry of the new token, ISO 8601. */
            expiresAt?: string | null;
            /**
             * Format: uuid
             * @description Token slot (`jti`) of the new token.
             */
            jti?: string | null;
            /**
             * @description `true` when a new token was issued: the loop had timed out, or the desktop authenticated with its API
             *     key. Absent otherwise.
             */
            revived?: boolean | null;
            /** @description New runner token; present only with `revived`. */
            token?: string | null;
        };
        /** @description Response to a desktop's heartbeat. */
        HeartbeatResponse: {
            /** @description Always `true`; failures have an error status. */
            ok: boolean;
        };
        /** @description A file or directory that is excluded from delivery. */
        HeldBackFile: {
            /** @description Path relative to the repository; a directory ends with a slash. */
            path: string;
            /** @description Reason for the exclusion. */
            reason: components["schemas"]["HeldBackReason"];
        };
        /**
         * @description Reason why a file is excluded from delivery.
         * @enum {string}
         */
        HeldBackReason: "secret" | "generated";
        /** @description A repository whose changes wait for a person's approval. */
        HeldEntry: {
            /** @description Base branch of the pull request. */
            baseBranch: string;
            /** @description Branch with the changes, as pushed. */
            branchName: string;
            /** @description Full hash of the pushed commit. */
            commitSha: string;
            /** @description Commits of the loop that were pushed before its delivery. */
            earlyPushes?: components["schemas"]["EarlyPush"][];
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
            /** @description Files excluded from the commit: secrets, dependencies and build output. */
            heldBack?: components["schemas"]["HeldBackFile"][];
            tests?: components["schemas"]["TestEvidence"] | null;
            /** @description Work of the loop that the branch does not contain. */
            undelivered?: components["schemas"]["UndeliveredWork"][];
        };
        /** @description An entry of the history. */
        HistoryEntry: components["schemas"]["Happening"] & {
            /** @description Time, ISO 8601. */
            at: string;
            user?: components["schemas"]["LoopUser"] | null;
        };
        /** @description An agent with the outcome of the ingestion. */
        IngestedAgent: components["schemas"]["AgentSummary"] & {
            /** @description Outcome for this agent. */
            status: components["schemas"]["RosterOutcome"];
        };
        /** @description Result of ingesting a roster. */
        IngestReport: {
            /** @description One entry for each role of the request. */
            agents: components["schemas"]["IngestedAgent"][];
            /** @description Number of created agents. */
            created: number;
            /** @description Number of unchanged agents. */
            unchanged: number;
            /** @description Number of agents with a new version. */
            updated: number;
        };
        /** @description An invitation that was not accepted yet. */
        Invitation: {
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Id of the administrator who created it.
             */
            createdBy: string;
            /** @description E-mail address of the invited user. */
            email: string;
            /** @description Expiry, ISO 8601; seven days after creation. */
            expiresAt: string;
            /**
             * Format: uuid
             * @description Id of the invitation.
             */
            id: string;
            /** @description Role in the organization. */
            role: components["schemas"]["Role"];
        };
        /** @description Content of an invitation, shown before it is accepted. */
        InvitationPreview: {
            /** @description E-mail address of the invited user. */
            email: string;
            /** @description Expiry of the invitation, ISO 8601. */
            expiresAt: string;
            /** @description Name of the organization. */
            organizationName: string;
            /** @description Role in the organization. */
            role: components["schemas"]["Role"];
        };
        /** @description Token of an invitation. */
        InvitationToken: {
            /** @description Secret token from the invitation's URL. */
            token: string;
        };
        /** @description Desktop that the list was requested for. */
        KeyTargetContext: {
            /** @description Always `owned_target`; only owners can list. */
            access: string;
            /**
             * Format: uuid
             * @description Id of the desktop.
             */
            computeTargetId: string;
            /**
             * Format: uuid
             * @description Stable id of the Loopgate installation; absent when unknown.
             */
            gatewayId?: string | null;
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
            /** @description Whether the loop uses and records learnings; absent otherwise. */
            selfLearning?: boolean;
            /** @description Text appended to the requirements of a PLAN loop; absent without one. */
            userContext?: string | null;
        };
        /** @description What a start on a document would run, for the user to judge and sign. */
        LaunchPreview: {
            /**
             * Format: uuid
             * @description Id of the document that the loop would work on.
             */
            documentId: string;
            /** @description The launch request without what is assigned at the launch. */
            launch: components["schemas"]["LaunchContent"];
            /**
             * Format: int64
             * @description Current version of that document.
             */
            version: number;
        };
        /** @description A usage limit that the loop waits for. */
        LimitEvent: {
            /** @description Message of the loop's driver, with the time of the reset. */
            text: string;
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
        /** @description Content of an event. */
        ListChanges: {
            /** @description Lists that may have changed since the last event. */
            lists: components["schemas"]["ListName"][];
        };
        /** @description A browser key with its owner. */
        ListedPublicKey: components["schemas"]["PublicKeyRecord"] & {
            /** @description E-mail address of the owner. */
            ownerEmail: string;
            /** @description Full name of the owner. */
            ownerName: string;
            targetContext?: components["schemas"]["KeyTargetContext"] | null;
        };
        /**
         * @description A list of the organization.
         * @enum {string}
         */
        ListName: "change-requests" | "loops" | "compute-targets";
        /** @description What a loop waits for. */
        LoopActivity: (components["schemas"]["ApprovalDetails"] & {
            /** @enum {string} */
            kind: "approval";
        }) | (components["schemas"]["QueuePlace"] & {
            /** @enum {string} */
            kind: "queue";
        }) | {
            /** @enum {string} */
            kind: "usage_limit";
            /** @description Time of the reset, ISO 8601; absent when unknown. */
            until?: string | null;
        } | {
            /** @description Command line of the inactive program; absent when the model does not respond. */
            command?: string | null;
            /** @enum {string} */
            kind: "stuck";
        };
        /**
         * @description Command of a loop; determines inputs, runner and outputs.
         * @enum {string}
         */
        LoopCommand: "PLAN" | "EXECUTE" | "REQUEST_CHANGES" | "REQUEST_PRD_CHANGES" | "GENERATE_PRD" | "DECOMPOSE" | "EVALUATE_PRD" | "EVALUATE_FEATURE" | "EVALUATE_PLAN" | "EVALUATE_CODE" | "BOOTSTRAP" | "CODE_REVIEW" | "CHAT" | "EXPLORE" | "MANUAL";
        /** @description A loop with its large values. */
        LoopDetail: components["schemas"]["LoopRecord"] & components["schemas"]["SelectedOptions"] & {
            /** @description Documents provided as context. */
            contextRefs?: {
                [key: string]: unknown;
            }[] | null;
            /**
             * @description Diagnostics of the desktop about the end of the process: `stderrTail`, `logTail`, `exitCode`,
             *     `exitSignal`, `elapsedMs`, `abortReason`, `spawnMeta`, ….
             */
            diagnostics?: {
                [key: string]: unknown;
            } | null;
            /** @description Open object: `warnings`, `verdict`, `apiKeySource`, and metadata uploaded by the runner. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description Branch of the primary repository. */
            primaryBranch?: string | null;
            primaryPullRequest?: components["schemas"]["SuccessEntry"] | null;
            producedDocument?: components["schemas"]["LoopDocument"] | null;
            /** @description Request in natural language. */
            prompt?: string | null;
            /** @description Result for each repository; null for completions in the oldest format. */
            results?: components["schemas"]["ResultEntry"][] | null;
            /** @description Number of tokens by model. */
            tokensByModel?: {
                [key: string]: components["schemas"]["ModelTokens"];
            } | null;
            /** @description Artifacts uploaded by the runner: `plan`, `executionResult`, `verdict`, …. */
            uploadedArtifacts?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description Document that a loop works on. */
        LoopDocument: {
            /**
             * Format: uuid
             * @description Id of the document.
             */
            id: string;
            /** @description Slug, for example `feature-3`. */
            slug: string;
            title: string;
            /** @description Type of the document. */
            type: components["schemas"]["ArtifactType"];
        };
        /** @description Reason why a loop did not complete successfully. */
        LoopError: {
            /** @description Error code, for example `PROCESS_FAILED`. */
            code: string;
            /** @description Message for the user. */
            message: string;
            /** @description Further values, for example `{"subcode": …}`. */
            result?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A page of loops. */
        LoopPage: {
            /** @description The loops, newest first. */
            data: components["schemas"]["LoopRecord"][];
            /** @description Always `true` in a successful response. */
            success: boolean;
            /**
             * Format: int64
             * @description Number of loops on all pages; absent unless the query asks for it.
             */
            total?: number | null;
        };
        /** @description State of a loop, without its large values. Lists consist of these records. */
        LoopRecord: {
            /** @description Peer repositories of the loop. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
            /** @description Source of the assistant's API key, as it reported it; `none` for a subscription. */
            apiKeySource?: string | null;
            /** @description Slug that names worktree and branch. */
            artifactSlug?: string | null;
            /** @description Name of the branch with the work. */
            branchName?: string | null;
            /** @description Command that it carries out. */
            command: components["schemas"]["LoopCommand"];
            /** @description Time of the terminal status, ISO 8601; null before. */
            completedAt?: string | null;
            computeTarget?: components["schemas"]["LoopTarget"] | null;
            /**
             * Format: uuid
             * @description Id of the desktop that runs it.
             */
            computeTargetId?: string | null;
            /** @description Id of the command that launched it. */
            containerId?: string | null;
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            document?: components["schemas"]["LoopDocument"] | null;
            /**
             * Format: uuid
             * @description Id of the document that it works on.
             */
            documentId?: string | null;
            /**
             * Format: int64
             * @description Version of the document at the start.
             */
            documentVersion?: number | null;
            error?: components["schemas"]["LoopError"] | null;
            /**
             * Format: double
             * @description Estimated cost in US dollars.
             */
            estimatedCost?: number | null;
            /** @description Harness that runs it. */
            harness: components["schemas"]["Harness"];
            /**
             * Format: uuid
             * @description Id of the loop.
             */
            id: string;
            /**
             * Format: uuid
             * @description Organization of the loop.
             */
            organizationId: string;
            /**
             * Format: uuid
             * @description Loop whose work it continues.
             */
            parentLoopId?: string | null;
            /**
             * Format: int64
             * @description Number of the primary repository's pull request.
             */
            prNumber?: number | null;
            /** @description First 200 characters of the prompt. */
            promptExcerpt?: string | null;
            /** @description URL of the primary repository's pull request. */
            prUrl?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
            /**
             * Format: double
             * @description Cost in US dollars that the assistant reported; null without a report.
             */
            reportedCost?: number | null;
            /** @description Key prefix of its files in the object store. */
            s3StateKey?: string | null;
            /** @description Id of the assistant's session. */
            sessionId?: string | null;
            /** @description Start time, ISO 8601; null before the start. */
            startedAt?: string | null;
            /** @description Current status of the loop. */
            status: components["schemas"]["LoopStatus"];
            tasks?: components["schemas"]["TaskCounts"] | null;
            /**
             * Format: int64
             * @description Number of input tokens so far.
             */
            tokensInput: number;
            /**
             * Format: int64
             * @description Number of output tokens so far.
             */
            tokensOutput: number;
            /** @description Time of the last change, ISO 8601. */
            updatedAt: string;
            user?: components["schemas"]["LoopUser"] | null;
            /**
             * Format: uuid
             * @description Id of the user who started it.
             */
            userId: string;
        };
        /** @description Response of every request that starts a loop. */
        LoopStarted: {
            /**
             * Format: uuid
             * @description Id of the loop.
             */
            loopId: string;
            /** @description Status of the loop at the time of the response. */
            status: components["schemas"]["LoopStatus"];
        };
        /**
         * @description Status of a loop in the control plane.
         * @enum {string}
         */
        LoopStatus: "PENDING" | "CLAIMED" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED" | "TIMED_OUT" | "AWAITING_USER";
        /** @description Desktop that runs a loop. */
        LoopTarget: {
            /**
             * Format: uuid
             * @description Id of the desktop.
             */
            id: string;
            /** @description Whether the desktop is connected. */
            isOnline: boolean;
            /** @description Host name of the machine. */
            machineName: string;
        };
        /** @description Tokens and costs of a loop so far. */
        LoopUsageReport: {
            cost?: components["schemas"]["Cost"] | null;
            /** @description Runs of the assistant that ended since the last event with any. */
            runs?: components["schemas"]["Run"][];
            tokenUsage?: components["schemas"]["TokenUsage"] | null;
            /** @description The model's responses since the last event with any. */
            turns?: components["schemas"]["Turn"][];
        };
        /** @description User who started a loop. */
        LoopUser: {
            /** @description URL of the profile picture. */
            avatarUrl?: string | null;
            /** @description E-mail address of the user. */
            email: string;
            firstName?: string | null;
            /**
             * Format: uuid
             * @description Id of the user.
             */
            id: string;
            lastName?: string | null;
        };
        /** @description Whether a program is configured with the expected MCP server. */
        McpServerCheck: {
            /** @description Whether the program has the server. */
            available: boolean;
            /** @description Time of the check, ISO 8601. */
            checkedAt: string;
            /** @description Reason why the server could not be checked. */
            error?: string | null;
            /** @description Configured URL that matched the expected one. */
            matchedUrl?: string | null;
            /** @description Name of the server in the program's configuration. */
            serverName?: string | null;
        };
        /** @description The user who is signed in. */
        Me: {
            /** @description URL of the profile picture. */
            avatarUrl?: string | null;
            /** @description Base URL of the code host; absent for `https://github.com`. */
            codeHostUrl?: string | null;
            demonstration?: components["schemas"]["Demonstration"] | null;
            /** @description E-mail address of the user. */
            email: string;
            firstName?: string | null;
            /**
             * Format: uuid
             * @description Id of the user.
             */
            id: string;
            lastName?: string | null;
            /** @description Organization that the request acts in. */
            organization: components["schemas"]["OrganizationView"];
            /** @description Role of the user in this organization. */
            role: components["schemas"]["Role"];
        };
        /** @description A member of the organization. */
        Member: {
            /** @description Whether the member can sign in and its API keys are accepted. */
            active: boolean;
            /** @description URL of the profile picture. */
            avatarUrl?: string | null;
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /** @description E-mail address of the member. */
            email: string;
            firstName?: string | null;
            /**
             * Format: uuid
             * @description Id of the user.
             */
            id: string;
            lastName?: string | null;
            /** @description Role in the organization. */
            role: components["schemas"]["Role"];
        };
        /** @description Membership of the user in an organization. */
        Membership: {
            /**
             * Format: uuid
             * @description Id of the organization.
             */
            id: string;
            /** @description Display name of the organization. */
            name: string;
            /** @description Role of the user in the organization. */
            role: components["schemas"]["Role"];
            /** @description First segment of the web app's paths, and value of the `X-Org-Slug` header. */
            slug: string;
        };
        /** @description Whether a message has reached the assistant. A message without this event when its loop has ended was not delivered. */
        MessageDeliveryEvent: {
            /** @description Time of the delivery, ISO 8601; absent if it was not delivered. */
            deliveredAt?: string | null;
            /** @description Whether the assistant has received the message in its session. */
            isDelivered: boolean;
            /** @description Id of the message. */
            messageId: string;
            /** @description Why the message cannot be delivered; absent if it was. */
            reason?: string | null;
        };
        /** @description A message of a person to the running loop. */
        MessageEvent: {
            /** @description Id of the message. */
            messageId: string;
            /** @description The message, as plain text. */
            text: string;
            /** @description Id of the user who sent it. */
            userId: string;
            /** @description Name of the user who sent it. */
            userName: string;
        };
        /**
         * @description Whether the assistant has received a message.
         * @enum {string}
         */
        MessageState: "pending" | "delivered" | "not_delivered";
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
        /** @description A file to store with a new document. */
        NewAttachment: {
            /** @description Content in base64. */
            content: string;
            /** @description File name, 1 to 200 characters. */
            filename: string;
            /** @description `image/png`, `image/jpeg`, `image/gif`, `image/webp` or `text/plain`. */
            mimeType: string;
        };
        /** @description The answer to one comment of a review. */
        NumberedAnswer: components["schemas"]["CommentAnswer"] & {
            /**
             * Format: int32
             * @description Number of the comment.
             */
            number: number;
        };
        /** @description A one-time permission to connect a desktop. */
        OnboardingAttempt: {
            /** @description Expiry, ISO 8601; one hour after creation. */
            expiresAt: string;
            /** @description Secret of 43 characters; the only credential of the desktop for the claim. */
            onboardingAttemptId: string;
        };
        /** @description Body of an error response of these routes. */
        OnboardingFailure: {
            /** @description Stable code of the error. */
            code: string;
            /** @description Whether a retry of the same request can succeed. */
            retryable: boolean;
        };
        /** @description How many findings of reviews wait for a decision. */
        OpenFindings: {
            /**
             * Format: int32
             * @description Number of findings that are neither declined nor sent to a loop; at most 10,000.
             */
            count: number;
            /**
             * @description Name of the repository with the reviewed changes, as the list of the loop's changes names it.
             * @example acme/shop
             */
            repository: string;
        };
        /** @description Settings of an organization. */
        OrganizationSettings: {
            /**
             * @description Whether a person has to approve the changes of an EXECUTE before it opens pull requests.
             * @default false
             */
            holdPullRequests: boolean;
            /**
             * Format: int64
             * @description Active loops per user, at least 1. Defaults to 10.
             * @default null
             */
            maxConcurrentLoops: number | null;
            /**
             * @description Spending limits for loops, in US dollars.
             * @default {}
             */
            spendingLimits: components["schemas"]["SpendingLimits"];
        };
        /** @description Organization of the current user. */
        OrganizationView: {
            /**
             * Format: uuid
             * @description Id of the organization.
             */
            id: string;
            /** @description Display name of the organization. */
            name: string;
            /** @description First segment of the web app's paths. */
            slug: string;
        };
        /** @description Content of an `output` event. */
        OutputEvent: components["schemas"]["LoopUsageReport"] & {
            /** @description The text. Without a role, the lines of a log. */
            chunk: string;
            /** @description Id of the tool call that started the subagent whose text this is. */
            parentId?: string | null;
            role?: components["schemas"]["OutputRole"] | null;
        };
        /**
         * @description Author of a text.
         * @enum {string}
         */
        OutputRole: "assistant" | "thinking" | "prompt" | "control" | "note" | "error";
        /** @description Result of a password change. */
        PasswordChanged: {
            /** @description E-mail address to sign in with. */
            signInEmail: string;
        };
        /** @description A link with which a member sets a new password. */
        PasswordResetLink: {
            /** @description Expiry of the link, ISO 8601. */
            expiresAt: string;
            /** @description URL to give to the member. It is valid once, and shown only in this response. */
            url: string;
        };
        /** @description Credentials of a local account. */
        PasswordSignIn: {
            /** @description E-mail address of the account. */
            email: string;
            /**
             * Format: password
             * @description Password of the account.
             */
            password: string;
        };
        /** @description Content of a `progress` event. */
        ProgressEvent: {
            /**
             * Format: double
             * @description Completed part in percent.
             */
            percent?: number | null;
            /** @description Name of the phase. */
            stage?: string | null;
            tasks?: components["schemas"]["TaskCounts"] | null;
        };
        /** @description Result of a rejection. */
        ProposalRejected: {
            /** @description Always `true`; failures have an error status. */
            rejected: boolean;
        };
        /** @description A registered browser key. */
        PublicKeyRecord: {
            /** @description Registration time, ISO 8601. */
            createdAt: string;
            /** @description Fingerprint: `lg:` followed by 22 characters. */
            fingerprint: string;
            /**
             * Format: uuid
             * @description Id of the key.
             */
            id: string;
            /**
             * Format: uuid
             * @description Organization of the owner.
             */
            organizationId: string;
            /** @description Raw Ed25519 public key, standard base64. */
            publicKeyBase64: string;
            /**
             * Format: uuid
             * @description Id of the owner.
             */
            userId: string;
        };
        /** @description Result of removing a browser key. */
        PublicKeyRemoved: {
            /** @description `false` when the caller had no such key. */
            deleted: boolean;
        };
        /** @description A pull request that a loop opened. */
        PullRequest: {
            /** @description Branch to merge into. */
            baseBranch: string;
            /** @description Name of the branch with the work. */
            branchName: string;
            /** @description Creation time, ISO 8601. */
            createdAt: string;
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
            /**
             * Format: uuid
             * @description Id of the loop that opened it.
             */
            loopId: string;
            /**
             * Format: int64
             * @description Number at the code host.
             */
            number: number;
            /** @description Time of that report, ISO 8601. */
            reportedAt?: string | null;
            standing?: components["schemas"]["ReportedStanding"] | null;
            /** @description Title of the pull request. */
            title: string;
            /** @description URL of its page at the code host. */
            url: string;
        };
        /** @description Report of a desktop about a pull request. */
        PullRequestReport: components["schemas"]["ReportedStanding"] & {
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
            /**
             * Format: int64
             * @description Number of the pull request.
             */
            number: number;
        };
        /**
         * @description State of a pull request.
         * @enum {string}
         */
        PullRequestState: "open" | "merged" | "closed";
        /** @description Health check to store. */
        PutHealthCheck: {
            /** @description URL of the MCP server that was searched for. */
            expectedMcpUrl?: string | null;
            /** @description Newest available version of Loopgate. */
            latestVersion?: string | null;
            /** @description Whether plugins are updated automatically. */
            pluginAutoUpdateEnabled?: boolean | null;
            /** @description Result of the check. */
            result: components["schemas"]["HealthCheckResult"];
        };
        /** @description Value of a query parameter. */
        QueryValue: string | string[];
        /** @description A question to the user. */
        QuestionEvent: {
            /** @description The question. */
            text: string;
        };
        /** @description A change of a loop's position in the queue of its desktop. */
        QueueEvent: {
            /** @description Message for the user. */
            chunk?: string | null;
            /** @description The position. */
            queue: components["schemas"]["QueuePlace"];
        };
        /** @description Position in a queue. */
        QueuePlace: {
            /**
             * Format: int64
             * @description Position, from 1.
             */
            place: number;
            /**
             * Format: int64
             * @description Length of the queue.
             */
            waiting: number;
        };
        /** @description Content of a `reap_reversed` event: none. */
        ReapReversed: Record<string, never>;
        /** @description Acknowledgement of an event. */
        ReceivedView: {
            /** @description `true` when the loop has ended without its runner: the runner must stop. Absent otherwise. */
            ended?: boolean | null;
            /**
             * @description `true` when the event was dropped, because the loop has finished or has too many events; absent
             *     otherwise.
             */
            ignored?: boolean | null;
            /** @description Always `true`; failures have an error status. */
            received: boolean;
        };
        /** @description A new runner token. */
        RefreshResponse: {
            /** @description Expiry of the token, ISO 8601. */
            expiresAt: string;
            /**
             * Format: uuid
             * @description Token slot (`jti`) of the token.
             */
            jti: string;
            /** @description Runner token; replaces the previous one. */
            token: string;
        };
        /** @description Result of registering a desktop. */
        RegisteredTarget: {
            /**
             * Format: uuid
             * @description Id of the desktop.
             */
            id: string;
            /** @description Always `true` after a registration. */
            isOnline: boolean;
            /** @description Host name of the machine. */
            machineName: string;
        };
        /** @description Browser key to register. */
        RegisterPublicKey: {
            /** @description Fingerprint of the key: `lg:` followed by 22 characters. */
            fingerprint: string;
            /** @description Raw Ed25519 public key, standard base64. */
            publicKeyBase64: string;
        };
        /** @description Description of a desktop by itself. */
        RegisterTarget: {
            /** @description Versions, limits and features; open object. */
            capabilities?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: uuid
             * @description Stable id of the Loopgate installation; distinguishes machines with the same host name. It is displayed
             *     only if the API key is bound to it.
             */
            gatewayId?: string | null;
            /** @description Host name, 1 to 120 characters. */
            machineName: string;
            /** @description Operating system, 1 to 80 characters. */
            platform: string;
            /** @description Version of the plugins, at most 120 characters; stored in `capabilities`. */
            pluginVersion?: string | null;
            /** @description Ids of the supported gateway operations. */
            supportedOperations: string[];
        };
        /** @description Link to instructions for a failed check. */
        RemediationLink: {
            /** @description Text of the link. */
            label: string;
            /** @description Target; must start with `https://`. */
            url: string;
        };
        /** @description Critic gates of one repository. */
        RepoConfig: {
            /** @description Critic gates, written to the worktree's settings unchanged. */
            criticGates: Record<string, never>;
            /** @description Full name of the repository, `<org>/<repo>`. */
            repoFullName: string;
        };
        /** @description A repository and the branch from which a loop starts. */
        RepoRef: {
            /** @description Branch to start from; empty for the repository's default branch. */
            branch?: string;
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
        };
        /** @description All deployments of a desktop. */
        ReportedDeployments: {
            /** @description At most 100. Those of loops of other desktops are ignored. Deployments that are not among them have ended. */
            deployments: components["schemas"]["DeploymentReport"][];
        };
        /** @description What a desktop has read at the code host. */
        ReportedPullRequests: {
            /** @description At most 100. Those that no loop of the desktop opened are ignored. */
            pullRequests: components["schemas"]["PullRequestReport"][];
        };
        /** @description Standing of a pull request, as far as it determines the state of its change request. */
        ReportedStanding: {
            /**
             * Format: int64
             * @description Number of failed checks of the head commit.
             */
            failingChecks: number;
            /** @description Whether it conflicts with the base branch. */
            hasConflicts: boolean;
            /** @description Whether it is marked as not ready for review. */
            isDraft: boolean;
            /** @description Time of the newest comment or review of another account than the desktop's, ISO 8601; absent without one. */
            lastCommentAt?: string | null;
            /** @description Login of the account that merged it; absent otherwise. */
            mergedBy?: string | null;
            /**
             * Format: int64
             * @description Number of its checks that are not completed.
             */
            pendingChecks: number;
            reviewDecision?: components["schemas"]["ReviewDecision"] | null;
            /** @description Time at which it was merged or closed, ISO 8601; absent while it is open. */
            settledAt?: string | null;
            /** @description Whether it is open, merged or closed. */
            state: components["schemas"]["PullRequestState"];
            /**
             * Format: int64
             * @description Number of unresolved threads.
             */
            unresolvedThreads: number;
        };
        /**
         * @description The reason why a repository is allowed.
         * @enum {string}
         */
        RepositorySource: "installation" | "list" | "machine";
        /** @description Token for one repository. */
        RepoToken: {
            /** @description Full name of the repository, `owner/name`. */
            fullName: string;
            /** @description Token that gives access to this repository only. */
            token: string;
        };
        /** @description Request to set a new password with a link. */
        ResetPassword: {
            /**
             * Format: password
             * @description New password, 12 to 256 characters.
             */
            password: string;
            /** @description Whether to end the session of another person in this browser. */
            replacesSession?: boolean;
            /** @description Token from the link's query. */
            token: string;
        };
        /** @description Delivery result of one repository. */
        ResultEntry: (components["schemas"]["SuccessEntry"] & {
            /** @enum {string} */
            status: "success";
        }) | (components["schemas"]["HeldEntry"] & {
            /** @enum {string} */
            status: "held";
        }) | {
            /** @description Commits of the loop that were pushed before its delivery. */
            earlyPushes?: components["schemas"]["EarlyPush"][];
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
            /** @description Machine-readable reason, for example `no_changes`. */
            reason: string;
            /** @enum {string} */
            status: "skipped";
            /** @description Work of the loop that exists elsewhere. */
            undelivered?: components["schemas"]["UndeliveredWork"][];
        } | {
            /** @description Commits of the loop that were pushed before its delivery. */
            earlyPushes?: components["schemas"]["EarlyPush"][];
            /** @description Error message with secrets redacted. */
            error: string;
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
            /** @enum {string} */
            status: "failed";
            /** @description Work of the loop that exists elsewhere. */
            undelivered?: components["schemas"]["UndeliveredWork"][];
        };
        /** @description Options for resuming a loop. */
        ResumeLoop: {
            /**
             * Format: uuid
             * @description Id of the desktop; by default chosen among the desktops that are online.
             */
            computeTargetId?: string | null;
            /** @description Prompt that replaces the previous one. */
            prompt?: string | null;
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
        /**
         * @description Decision of the reviewers of a pull request.
         * @enum {string}
         */
        ReviewDecision: "approved" | "changes_requested" | "review_required";
        /**
         * @description Result of a review of changes.
         * @enum {string}
         */
        ReviewKind: "request_changes" | "approve" | "comment";
        /** @description What a user sends at the end of a review. */
        ReviewSubmission: {
            /** @description Ids of drafts of the user in the order of their numbers, at most 200. */
            commentIds: string[];
            /** @description Reviewed commit of each repository, by name. */
            heads?: {
                [key: string]: string;
            };
            /** @description What the user says about the change as a whole, at most 10,000 characters. */
            summary?: string | null;
        };
        /**
         * @description Role of a member in an organization.
         * @enum {string}
         */
        Role: "org:admin" | "org:member";
        /** @description Agents for one repository. */
        Roster: {
            /** @description Agents, 1 to 100; the last one of those with the same role is used. */
            agents: components["schemas"]["RosterAgent"][];
            /** @description Id of the run that created them. */
            bootstrapRunId: string;
            /** @description Critic gates of the repository. */
            criticGates?: Record<string, never> | null;
            /** @description Repository of the agents, `<org>/<repo>`. */
            sourceRepo: string;
        };
        /** @description An agent of a roster. */
        RosterAgent: {
            /** @description Purpose of the agent, at most 500 characters. */
            description?: string | null;
            /** @description Display name, 1 to 200 characters. */
            name: string;
            /** @description Prompt, at least one character. */
            prompt: string;
            /** @description Area of expertise, 1 to 100 characters. */
            role: string;
        };
        /**
         * @description Effect of a roster on an agent.
         * @enum {string}
         */
        RosterOutcome: "created" | "updated" | "unchanged";
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
         * @description Commands that can be started on a document.
         * @enum {string}
         */
        RunCommand: "plan" | "execute" | "request_changes" | "request_prd_changes" | "decompose" | "evaluate_prd" | "generate_prd" | "evaluate_plan" | "evaluate_code" | "evaluate_feature" | "code_review";
        /** @description Request to run a loop on a document. */
        RunLoop: {
            /** @description Peer repositories, at most 5; by default those of the ticket or of the earlier loops. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
            /**
             * @description Slugs of the agents for the loop; by default those of the loop whose work is continued, else all that apply to its
             *     repositories.
             */
            agents?: string[] | null;
            approve?: components["schemas"]["ApprovedChanges"] | null;
            /** @description Allows another desktop than that of the parent loop, whose worktree is then not available. */
            backendOverride?: boolean | null;
            /** @description Command to run on the document. */
            command: components["schemas"]["RunCommand"];
            /**
             * Format: uuid
             * @description Id of the desktop; by default chosen among the desktops that are online. `null` requests a cloud
             *     runner.
             */
            computeTargetId?: string | null;
            launch?: components["schemas"]["SignedLaunch"] | null;
            /**
             * Format: double
             * @description Spending limit of the loop in US dollars, in addition to those of the organization and the desktop; by default
             *     that of the loop whose work is continued.
             */
            maxSpendUsd?: number | null;
            /**
             * @description Model of the assistant, for example `opus`; by default that of the loop whose work is continued, else of the
             *     desktop's settings.
             */
            model?: string | null;
            /** @description Additional request in natural language, at most 100,000 characters. */
            prompt?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
            review?: components["schemas"]["ReviewSubmission"] | null;
            /**
             * @description Whether the loop uses the learnings of earlier loops on its repository; by default that of the loop whose work is
             *     continued, else no.
             */
            selfLearning?: boolean | null;
            userIntentSignature?: components["schemas"]["UserIntentSignature"] | null;
            /**
             * Format: int64
             * @description Version of the document that the user has read: of the plan for EXECUTE, REQUEST_CHANGES and
             *     EVALUATE_PLAN. The start is refused when another one is current. May be left out only by the author of
             *     the current version.
             */
            version?: number | null;
            /** @description Allows EXECUTE on a document without a plan: the loop plans and implements it. */
            withoutPlan?: boolean | null;
        };
        /** @description Capabilities of a runner. */
        RunnerCapabilities: {
            /**
             * @description Whether it sends heartbeats.
             * @default false
             */
            loopRunnerHeartbeatSupported: boolean;
            /**
             * @description Whether it refreshes its token before the expiry.
             * @default false
             */
            loopRunnerRefreshSupported: boolean;
        };
        /** @description Request to create a document and to start a loop on it. */
        RunNewDocument: {
            /** @description The document to create. */
            document: components["schemas"]["CreateDocument"];
            /** @description The loop to start on it. */
            run: components["schemas"]["RunLoop"];
        };
        /** @description Connection state of a loop's runner, for administrators. Never contains the token itself. */
        RuntimeView: {
            /**
             * Format: uuid
             * @description Token slot (`jti`) of the current token.
             */
            activeTokenJti?: string | null;
            /**
             * Format: uuid
             * @description Id of the loop.
             */
            id: string;
            /** @description Time of the last heartbeat, ISO 8601. */
            lastRunnerHeartbeatAt?: string | null;
            /** @description Capabilities of the runner. */
            runnerCapabilities: components["schemas"]["RunnerCapabilities"];
            /** @description Current status of the loop. */
            status: components["schemas"]["LoopStatus"];
            /** @description Expiry of the runner token, ISO 8601. */
            tokenExpiresAt?: string | null;
        };
        /** @description A search with a name. */
        SavedView: {
            /** @description Name, 1 to 60 characters, unique. */
            name: string;
            /** @description Search and grouping, as in the address of the page, at most 300 characters. */
            search: string;
        };
        /**
         * @description Scope of an API key. No scope includes another.
         * @enum {string}
         */
        Scope: "read" | "write" | "delete" | "admin";
        /** @description What a user selects for a loop. Loops that continue its work inherit it. */
        SelectedOptions: {
            /** @description Slugs of the organization's agents that the loop gets; all that apply to its repositories if absent. */
            agents?: string[] | null;
            /**
             * Format: double
             * @description Spending limit in US dollars, in addition to those of the organization and the desktop.
             */
            maxSpendUsd?: number | null;
            /** @description Model of the assistant. */
            model?: string | null;
            /** @description Whether the loop uses learnings; no if absent. */
            selfLearning?: boolean | null;
        };
        /** @description Request to select an organization. */
        SelectOrganization: {
            /** @description Slug of the organization. */
            slug: string;
        };
        /** @description A message to a running loop. */
        SendMessage: {
            /** @description The message as plain text, 1 to 10,000 bytes. */
            text: string;
            userIntentSignature?: components["schemas"]["UserIntentSignature"] | null;
        };
        /** @description A stored message. Events of the loop with its id report the message and its delivery. */
        SentMessage: {
            /**
             * Format: uuid
             * @description Id of the message.
             */
            messageId: string;
            /** @description Time at which the message was stored, ISO 8601. */
            sentAt: string;
        };
        /** @description Capabilities that the control plane offers on this connection; only a literal `true` enables one. */
        ServerCapabilities: {
            /** @description Whether the server accepts agent sessions for synchronization. */
            agentSessionSync?: boolean;
            /** @description Whether the server relays signed commands. */
            computeTargetSigning?: boolean;
        };
        /** @description A browser in which the user is signed in. */
        SessionRecord: {
            /** @description IP address at sign-in. */
            address?: string | null;
            /** @description Time of the sign-in, ISO 8601. */
            createdAt: string;
            /** @description Whether this request used the session. */
            current: boolean;
            /** @description Expiry, ISO 8601; each use extends it. */
            expiresAt: string;
            /** @description Hash of the session id. It identifies the session, but does not authenticate. */
            id: string;
            /** @description Time of the last use, ISO 8601; up to five minutes behind. */
            lastUsedAt: string;
            /** @description `User-Agent` header at sign-in. */
            userAgent?: string | null;
        };
        /** @description New preference of the caller. */
        SetComputePreference: {
            /**
             * Format: uuid
             * @description Id of the preferred desktop; absent for none in particular.
             */
            computeTargetId?: string | null;
            /** @description `LOCAL` for a desktop, `CLOUD` otherwise. */
            mode: components["schemas"]["ComputeMode"];
            selectedHarness?: components["schemas"]["Harness"] | null;
        };
        /** @description New value of a feature flag. */
        SetFlag: {
            /** @description Whether the feature is on. */
            enabled: boolean;
        };
        /** @description Views of the list. */
        SetSavedViews: {
            /** @description All views of the user in their order, at most 50. */
            views: components["schemas"]["SavedView"][];
        };
        /** @description Sharing of a desktop. */
        SharedTarget: {
            /** @description Whether members can also send commands to it. */
            grantsCommands: boolean;
            /**
             * Format: uuid
             * @description Id of the desktop.
             */
            id: string;
            /** @description Whether all members of the organization can run loops on it. */
            isSharedWithOrg: boolean;
        };
        /** @description Request to share a desktop or to stop sharing it. */
        ShareTarget: {
            /** @description Whether members can also send commands to it; `false` when absent. Requires `isSharedWithOrg`. */
            grantsCommands?: boolean;
            /** @description Whether all members of the organization can run loops on it. */
            isSharedWithOrg: boolean;
        };
        /** @description Response to a successful sign-in. */
        SignedIn: components["schemas"]["Me"] & {
            /** @description Value for the `X-Session-Key` header of every request. The session cookie alone does not authenticate. */
            sessionKey: string;
        };
        /** @description What a signature of the start of a loop covers besides the request: all of [`LaunchContent`]. */
        SignedLaunch: {
            /** @description Digest of each member of the content, see [`launch_digests`]. */
            digests: {
                [key: string]: string;
            };
            /**
             * Format: double
             * @description Highest spending limit in US dollars; absent when the content had none. Not a digest, because the
             *     organization's budget decreases while other loops run.
             */
            maxSpendUsd?: number | null;
        };
        /** @description Signed URL of an object. */
        SignedUrl: {
            /** @description Key of the object. */
            key: string;
            /** @description Signed URL, valid for two hours. */
            url: string;
        };
        /** @description Signed URLs of several objects. */
        SignedUrls: {
            /** @description One entry for each key. */
            urls: components["schemas"]["SignedUrl"][];
        };
        /** @description A one-time sign-in link. */
        SignInLink: {
            /** @description Whether the user agreed to end the session of another user in this browser. */
            replacesSession?: boolean;
            /** @description Token from the link's query. */
            token: string;
        };
        /** @description Sign-in methods of this installation. */
        SignInMethods: {
            /** @description Name of the OpenID provider behind `/auth/oidc/start`; absent without one. */
            oidc?: string | null;
            /** @description Whether local accounts (e-mail address and password) exist. */
            password: boolean;
        };
        /** @description Result of a sign-out. */
        SignOutResponse: {
            /** @description Always `true`; failures have an error status. */
            signedOut: boolean;
        };
        /** @description Spending limits in US dollars. An absent member means no limit. */
        SpendingLimits: {
            /**
             * Format: double
             * @description Limit for all loops of the organization per day (UTC).
             * @default null
             */
            perDayUsd: number | null;
            /**
             * Format: double
             * @description Limit for one loop.
             * @default null
             */
            perLoopUsd: number | null;
            /**
             * Format: double
             * @description Limit for all loops of the organization per calendar month (UTC).
             * @default null
             */
            perMonthUsd: number | null;
        };
        /** @description A change of a loop's activity. */
        StallEvent: {
            /** @description Message for the user. */
            chunk?: string | null;
            /** @description The activity. */
            stall: components["schemas"]["StallState"];
        };
        /**
         * @description Kind of a loop's activity.
         * @enum {string}
         */
        StallKind: "working" | "waiting-for-model" | "waiting-for-limit" | "stuck";
        /** @description Activity of a loop. */
        StallState: {
            /** @description Program that is inactive, if there is one. */
            command?: string | null;
            /** @description Time of the last activity, ISO 8601. */
            since?: string | null;
            /** @description Kind of activity. */
            state: components["schemas"]["StallKind"];
            /** @description Time at which the usage limit resets, ISO 8601. */
            until?: string | null;
        };
        /** @description Request to start a BOOTSTRAP loop. */
        StartBootstrap: {
            /**
             * Format: uuid
             * @description Id of the desktop that runs the loop. Optional when exactly one desktop is online.
             */
            computeTargetId?: string | null;
            options?: components["schemas"]["ExplorationOptions"] | null;
            /** @description Repositories to explore, 1 to 50. */
            repos: components["schemas"]["BootstrapRepository"][];
        };
        /** @description Content of a `started` event. */
        Started: {
            /** @description Default branch of the repository, if the request named no branch. */
            baseBranch?: string | null;
            /** @description Session id of the assistant, if the runner knows it. */
            sessionId?: string | null;
        };
        /**
         * @description Why a person started a loop.
         * @enum {string}
         */
        StartReason: "request" | "continuation" | "review" | "approval";
        /** @description What a state is about. */
        StateDetails: {
            activity?: components["schemas"]["LoopActivity"] | null;
            /** @description Error code of the loop; absent unless it ended with an error. */
            code?: string | null;
            /**
             * Format: int64
             * @description Number of failed checks of the open pull requests; absent unless one has failed.
             */
            failingChecks?: number | null;
            /**
             * Format: int64
             * @description Number of findings of reviews without a decision; absent in other states.
             */
            findings?: number | null;
            /** @description Number of open questions of the plan; absent without any. */
            questions?: number | null;
            /**
             * Format: int64
             * @description Number of comments of a review without an answer; absent in other states.
             */
            unanswered?: number | null;
        };
        /** @description Response to a stored report. */
        StoredDeployments: {
            /** @description Number of the reported deployments. */
            count: number;
        };
        /** @description A stored event in flat form. */
        StoredEvent: components["schemas"]["EventBody"] & {
            /**
             * Format: uuid
             * @description Id of the event; also the `id` field on the stream.
             */
            id: string;
            /**
             * Format: int64
             * @description Position within the loop, from 1, without gaps.
             */
            sequence: number;
            /** @description Time of receipt, ISO 8601. */
            storedAt: string;
            /** @description Time of the event according to its source, ISO 8601; absent from some events of the control plane. */
            timestamp?: string | null;
        };
        /** @description Result of an upload. */
        StoredObject: {
            /** @description Always `true`; failures have an error status. */
            stored: boolean;
        };
        /** @description A comment of a review. */
        SubmittedComment: components["schemas"]["ReviewComment"] & {
            answer?: components["schemas"]["CommentAnswer"] | null;
            /**
             * Format: uuid
             * @description Id of the comment.
             */
            id: string;
        };
        /** @description A repository whose changes are in a pull request. */
        SuccessEntry: {
            /** @description Base branch of the pull request. */
            baseBranch: string;
            /** @description Head branch of the pull request, as pushed. */
            branchName: string;
            /** @description Full hash of the pushed commit; absent when unknown. */
            commitSha?: string | null;
            /** @description Commits of the loop that were pushed before its delivery. */
            earlyPushes?: components["schemas"]["EarlyPush"][];
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
            /** @description Id of the pull request at the code host; absent when unknown. */
            githubId?: string | null;
            /** @description Whether the branch has changes against its base. */
            hasChanges: boolean;
            /** @description Files excluded from the commit: secrets, dependencies and build output. */
            heldBack?: components["schemas"]["HeldBackFile"][];
            /**
             * Format: int64
             * @description Number of the pull request in its repository.
             */
            prNumber: number;
            /** @description Full name of the repository of the pull request, when `fullName` is a fork of it; absent when they are the same. */
            prRepository?: string | null;
            /** @description Title of the pull request; absent when unknown. */
            prTitle?: string | null;
            /**
             * @description URL of the pull request: `https://github.com/<repository>/pull/<prNumber>`, with `prRepository` or `fullName`.
             *     Instead of `https://github.com`, also the base URL of the code host that the control plane is configured for.
             */
            prUrl: string;
            tests?: components["schemas"]["TestEvidence"] | null;
            /** @description Work of the loop that the pull request does not contain. */
            undelivered?: components["schemas"]["UndeliveredWork"][];
        };
        /** @description Documents to summarize the loops of. */
        SummariesQuery: {
            /** @description Ids of 1 to 100 documents. */
            documentIds: string[];
        };
        /** @description Uploaded files for support. */
        SupportBundleUploaded: {
            /** @description The files, if the runner reports them. */
            files?: components["schemas"]["UploadedSupportFile"][];
            /** @description Keys of the files in the storage. */
            keys: string[];
        };
        /** @description Authentication strength of a desktop. */
        TargetSecurity: {
            /** @description Reason of the status: `BOUND_DESKTOP_MANAGED_KEY`, `NO_BOUND_MANAGED_KEY` or `MISSING_GATEWAY_ID`. */
            reason: string;
            /** @description `protected` with a bound key, `legacy_manual` otherwise. */
            status: string;
            /** @description Whether the control plane can upgrade the desktop; always `false`. */
            upgradeSupported: boolean;
        };
        /** @description Tasks of a plan. */
        TaskCounts: {
            /**
             * Format: int64
             * @description Number of completed tasks.
             */
            completed: number;
            /** @description Id of the first pending task; absent when all are completed. */
            current?: string | null;
            /**
             * Format: int64
             * @description Number of all tasks.
             */
            total: number;
        };
        /** @description Test counts as reported by the test program. */
        TestCounts: {
            /**
             * Format: int64
             * @description Number of tests that failed.
             */
            failed: number;
            /**
             * Format: int64
             * @description Number of tests that passed.
             */
            passed: number;
            /**
             * Format: int64
             * @description Number of tests that were skipped.
             */
            skipped: number;
        };
        /** @description Test results of one repository at the base and at the head of a loop's work. */
        TestEvidence: {
            base?: components["schemas"]["TestRun"] | null;
            /** @description Test command that was run or would have been run; absent when none is known. */
            command?: string | null;
            /**
             * @description Diffs of the files that `flags` name, from base to head; without files whose diff is too long, see
             *     [`MAX_DIFF_BYTES`].
             */
            diffs?: components["schemas"]["TestFileDiff"][];
            /** @description Changes that may weaken the tests. Reported to the user, without effect on the outcome. */
            flags?: components["schemas"]["TestFlag"][];
            head?: components["schemas"]["TestRun"] | null;
            /**
             * @description Names of tests that fail at the head but not at the base. The command counts as one test when its
             *     output names no tests.
             */
            newFailures?: string[];
            /** @description Reason why the tests were not run or not completed, and a remedy; written for the user. */
            note?: string | null;
            /** @description Comparison of the two runs. */
            outcome: components["schemas"]["TestOutcome"];
        };
        /** @description Diff of a file with tests. */
        TestFileDiff: {
            /** @description Diff in git's unified format. */
            diff: string;
            /** @description Path of the file, as in the flags. */
            path: string;
        };
        /** @description A change that may weaken the tests. */
        TestFlag: {
            /** @description Name of the test, text of the line, or the counts. */
            detail: string;
            /** @description Kind of the change. */
            kind: components["schemas"]["TestFlagKind"];
            /** @description Path of the changed file; absent when unknown. */
            path?: string | null;
        };
        /**
         * @description Kind of a change that may weaken tests.
         * @enum {string}
         */
        TestFlagKind: "file-deleted" | "test-removed" | "test-skipped" | "assertions-removed" | "command-changed";
        /**
         * @description Outcome of the comparison of base and head.
         * @enum {string}
         */
        TestOutcome: "passed" | "failed-before" | "new-failures" | "not-run" | "inconclusive";
        /** @description One run of a test command in a clean worktree. */
        TestRun: {
            /** @description Full hash of the tested commit. */
            commit: string;
            counts?: components["schemas"]["TestCounts"] | null;
            /**
             * Format: int64
             * @description Duration of the run in milliseconds.
             */
            durationMs: number;
            /** @description Reason why the run was not completed; absent when it was. */
            error?: string | null;
            /**
             * Format: int32
             * @description Exit code of the command; absent when it was terminated or not started.
             */
            exitCode?: number | null;
            /** @description File name of the log in the loop's work directory. */
            log: string;
            /**
             * @description End of the output of a run that did not pass, without terminal sequences, at most [`MAX_OUTPUT_BYTES`]; absent
             *     otherwise.
             */
            output?: string | null;
        };
        /** @description A ticket with its text, plan, loops and pull requests. */
        TicketDetail: components["schemas"]["TicketRecord"] & {
            /** @description Text of the ticket, in Markdown. */
            body: string;
            /** @description Feature document of the ticket, from which loops are started. */
            document: components["schemas"]["LoopDocument"];
            /** @description Latest 50 loops of the ticket's document and its plan, newest first. */
            loops: components["schemas"]["LoopRecord"][];
            plan?: components["schemas"]["LoopDocument"] | null;
            /** @description Pull requests of the document and its plan, newest first. */
            pullRequests: components["schemas"]["PullRequest"][];
        };
        /** @description A ticket without its text. */
        TicketRecord: {
            /** @description Peer repositories of the ticket's loops. */
            additionalRepos: components["schemas"]["RepoRef"][];
            /** @description Creation time in ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Id of the ticket and of its document.
             */
            id: string;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description Slug such as `ticket-7`; unique in the organization, and the ticket id in the gateway's routes. */
            slug: string;
            /** @description Whether the ticket is open or closed. */
            state: components["schemas"]["TicketState"];
            /** @description Title of the ticket's document. */
            title: string;
            /** @description Time of the last change in ISO 8601. */
            updatedAt: string;
            /**
             * Format: uuid
             * @description Id of the user who created the ticket.
             */
            userId: string;
        };
        /**
         * @description State of a ticket.
         * @enum {string}
         */
        TicketState: "open" | "closed";
        /** @description Content of a `token_refreshed` event. */
        TokenRefreshed: {
            /**
             * Format: int64
             * @description Expiration of the new token, in seconds since the epoch.
             */
            exp?: number | null;
            /** @description Idempotency key of the request. */
            idempotencyKey?: string | null;
            /** @description Slot of the new token. */
            newJti?: string | null;
            /** @description Slot of the previous token. */
            prevJti?: string | null;
            /** @description Address of the runner. */
            requesterIp?: string | null;
            /** @description Program of the runner. */
            requesterUa?: string | null;
        };
        /** @description Content of a `tokens_cleared` event. */
        TokensCleared: {
            /** @description Terminal status of the loop. */
            status?: string | null;
        };
        /** @description Token counts in the form of the `completed` event. */
        TokensUsed: {
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
            input: number;
            /** @description Model names in the order of their first use. */
            models?: string[];
            /**
             * Format: int64
             * @description Number of output tokens.
             */
            output: number;
            /**
             * Format: int64
             * @description Number of model responses (turns).
             */
            turns?: number;
        };
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
        /** @description Content of a `tool_call` event. */
        ToolCallEvent: (components["schemas"]["ToolStart"] & {
            /** @enum {string} */
            status: "start";
        }) | (components["schemas"]["ToolEnd"] & {
            /** @enum {string} */
            status: "end";
        });
        /**
         * @description What a tool works on.
         * @enum {string}
         */
        ToolCategory: "command" | "file" | "agent" | "other";
        /** @description End of a tool call. */
        ToolEnd: {
            /** @description Id of the call. */
            callId?: string | null;
            category?: components["schemas"]["ToolCategory"] | null;
            /**
             * Format: int64
             * @description Milliseconds between the times at which the desktop read start and end of the call.
             */
            durationMs?: number | null;
            /**
             * Format: int64
             * @description Exit code of a command; absent if unknown.
             */
            exitCode?: number | null;
            /** @description Whether the call failed. */
            isError?: boolean;
            /** @description Whether the call serves the loop itself. */
            isInternal?: boolean;
            /** @description Whether `output` lacks parts, which the event alone contains. */
            isShortened?: boolean;
            /** @description Result. A text, from a runner that reports `size`. */
            output?: unknown;
            /**
             * Format: int64
             * @description Size of the complete result in bytes.
             */
            size?: number | null;
            /** @description Name of the tool. */
            tool: string;
        };
        /** @description Start of a tool call. */
        ToolStart: {
            /** @description Id of the call, which its end repeats. */
            callId?: string | null;
            category?: components["schemas"]["ToolCategory"] | null;
            /** @description Arguments in the tool's own format. */
            input?: unknown;
            /** @description Whether the call serves the loop itself, for example by writing its state. */
            isInternal?: boolean;
            /** @description Whether `input` lacks parts, which the event alone contains. */
            isShortened?: boolean;
            /** @description Id of the tool call that started the subagent whose call this is. */
            parentId?: string | null;
            /** @description The part of the arguments that describes the call: a command line, a path, or a pattern. */
            summary?: string | null;
            /** @description Name of the tool. */
            tool: string;
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
        /**
         * @description Place of work that is not delivered.
         * @enum {string}
         */
        UndeliveredPlace: "ignored" | "stash" | "branch" | "detached" | "worktree" | "submodule" | "outside";
        /** @description Work of a loop that its delivery does not contain. */
        UndeliveredWork: {
            /**
             * @description What excludes it: an ignore rule as `<file>:<line>:<pattern>`, the message of a stash, or the number of commits and
             *     of changed files; absent when the place says it all.
             */
            detail?: string | null;
            /** @description Path of a file, relative to the repository or absolute outside of it; name of a branch; hash of a commit. */
            name: string;
            /** @description Where the work is. */
            place: components["schemas"]["UndeliveredPlace"];
        };
        /** @description An event that this version cannot read. */
        Unreadable: {
            /** @description Type under which it is stored. */
            kind: string;
        };
        /** @description Changes to an agent. Absent members remain unchanged. */
        UpdateAgent: {
            /** @description Description of the change, at most 500 characters. Required with `name` or `prompt`. */
            changeNote?: string | null;
            /** @description Purpose of the agent, at most 500 characters; an empty text removes it. */
            description?: string | null;
            /** @description Whether loops receive the agent. */
            enabled?: boolean | null;
            /** @description Display name, 1 to 200 characters. */
            name?: string | null;
            /** @description Prompt, at least one character. */
            prompt?: string | null;
        };
        /** @description Changes to a change request. */
        UpdateChangeRequest: {
            /** @description Whether it is hidden from the lists. */
            archived: boolean;
        };
        /** @description Changes to a document. Absent members remain unchanged. */
        UpdateDocument: {
            status?: components["schemas"]["DocumentStatus"] | null;
            /** @description Title, 1 to 200 characters. */
            title?: string | null;
        };
        /** @description Results that the user records for a loop. Absent members remain unchanged. */
        UpdateLoop: {
            /** @description Name of the branch with the work. */
            branchName?: string | null;
            /** @description URL of the pull request, `http` or `https`, at most 2048 characters. */
            prUrl?: string | null;
            /** @description Description of the work, at most 10,000 characters; stored as `summary` in the loop's metadata. */
            summary?: string | null;
        };
        /** @description Changes to a member. Absent members of this object remain unchanged. */
        UpdateMember: {
            /**
             * @description `false` deactivates the member: sessions and connections are closed immediately, and API keys are
             *     rejected.
             */
            active?: boolean | null;
            role?: components["schemas"]["Role"] | null;
        };
        /** @description Changes to a desktop; at least one member is required. */
        UpdateTarget: {
            /**
             * @description Versions, limits and features; open object.
             * @default null
             */
            capabilities: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: uuid
             * @description Stable id of the Loopgate installation.
             * @default null
             */
            gatewayId: string | null;
            /**
             * @description Host name, 1 to 120 characters.
             * @default null
             */
            machineName: string | null;
            /**
             * @description Operating system, 1 to 80 characters.
             * @default null
             */
            platform: string | null;
            /** @default null */
            selectedHarness: components["schemas"]["Harness"] | null;
            /**
             * @description Ids of the supported gateway operations.
             * @default null
             */
            supportedOperations: string[] | null;
        };
        /** @description Changes to a ticket. Absent members remain unchanged. */
        UpdateTicket: {
            /** @description New peer repositories, at most 5. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
            /** @description Change request in Markdown; stored as a new version of the document. */
            body?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
            state?: components["schemas"]["TicketState"] | null;
            /** @description Title, 1 to 200 characters. */
            title?: string | null;
        };
        /** @description Artifacts of a run. */
        UploadArtifacts: {
            /** @description JSON artifacts by name: `plan`, `prd`, `executionResult`, `verdict`, …. */
            artifacts: {
                [key: string]: unknown;
            };
            /** @description Members to merge into the loop's metadata. */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A file for support. */
        UploadedSupportFile: {
            /** @description Key in the storage. */
            key: string;
            /** @description Name of the file. */
            name: string;
            /**
             * Format: int64
             * @description Size in bytes; absent if unknown.
             */
            sizeBytes?: number | null;
        };
        /** @description Result of an upload. */
        UploadResponse: {
            /** @description Always `true`; failures have an error status. */
            stored: boolean;
        };
        /** @description Request for upload URLs of files. */
        UploadUrls: {
            /** @description Keys whose content may be gzip-compressed; a subset of `keys`. */
            gzipKeys?: string[];
            /** @description 1 to 500 object keys with the prefix `<orgId>/loops/<loopId>/`. */
            keys: string[];
        };
        /** @description Usage of an organization. */
        Usage: {
            /** @description Usage grouped by command. */
            byCommand: components["schemas"]["CommandUsage"][];
            /** @description Usage by day, earliest first; days without loops are omitted. */
            byDay: components["schemas"]["DayUsage"][];
            /** @description Usage grouped by user. */
            byUser: components["schemas"]["UserUsage"][];
            /**
             * Format: int64
             * @description Tokens written to the prompt cache, as far as the harness reports them.
             */
            totalCacheCreationTokens: number;
            /**
             * Format: int64
             * @description Tokens read from the prompt cache.
             */
            totalCacheReadTokens: number;
            /**
             * Format: double
             * @description Estimated cost in US dollars.
             */
            totalEstimatedCost: number;
            /**
             * Format: int64
             * @description Number of all counted loops.
             */
            totalLoops: number;
            /**
             * Format: int64
             * @description Number of input tokens.
             */
            totalTokensInput: number;
            /**
             * Format: int64
             * @description Number of output tokens.
             */
            totalTokensOutput: number;
        };
        /**
         * @description A signed intent: the user signs the essential members of a launch or cancellation instead of the whole
         *     command.
         */
        UserIntentSignature: {
            /** @description The signed intent as JSON object. */
            body: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @description Id of the command; a UUIDv7 chosen by the browser.
             */
            commandId: string;
            /** @description Fingerprint of the browser key. */
            publicKeyFingerprint: string;
            /** @description Ed25519 signature, standard base64. */
            signature: string;
            /** @description The exact text that was signed. */
            signaturePayload: string;
        };
        /** @description User who performed a change. */
        UserName: {
            /** @description First name; null when unknown. */
            firstName?: string | null;
            /**
             * Format: uuid
             * @description Id of the user.
             */
            id: string;
            /** @description Last name; null when unknown. */
            lastName?: string | null;
        };
        /** @description Usage of one user. */
        UserUsage: {
            /**
             * Format: double
             * @description Estimated cost in US dollars.
             */
            estimatedCost: number;
            /**
             * Format: int64
             * @description Number of loops in this group.
             */
            loopCount: number;
            /**
             * Format: int64
             * @description Number of input tokens.
             */
            tokensInput: number;
            /**
             * Format: int64
             * @description Number of output tokens.
             */
            tokensOutput: number;
            /** @description URL of the profile picture. */
            userAvatarUrl?: string | null;
            /** @description E-mail address of the user. */
            userEmail: string;
            /**
             * Format: uuid
             * @description Id of the user.
             */
            userId: string;
            /** @description Full name; null when unknown. */
            userName?: string | null;
        };
        /** @description Request of a gateway to verify a challenge. */
        VerifyRequest: {
            /** @description Challenge token that the page presented. */
            challengeToken: string;
            /** @description Origin of the page, from the `Origin` header at the gateway. */
            requestOrigin: string;
            /** @description `User-Agent` header of the page, at most 512 characters. */
            userAgent?: string | null;
        };
        /** @description Result of a successful verification. */
        VerifyResponse: {
            /** @description Expiry of the challenge, ISO 8601. */
            challengeExpiresAt: string;
            /** @description Always `true`; failures have an error status. */
            ok: boolean;
            /**
             * Format: int64
             * @description Lifetime of the gateway's session, in seconds.
             */
            sessionTtlSeconds: number;
        };
        /** @description A pull request whose standing a desktop reports. */
        WatchedPullRequest: {
            /** @description Full name of the repository, `<org>/<repo>`. */
            fullName: string;
            /**
             * Format: int64
             * @description Number of the pull request.
             */
            number: number;
        };
        /** @description What a desktop has to watch. */
        WatchedPullRequests: {
            /** @description Newest 50 pull requests of the desktop's loops that are not known to be merged or closed. */
            open: components["schemas"]["WatchedPullRequest"][];
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
    agent_proposals_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AgentProposals"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agent_proposals_accept: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_IngestReport"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agent_proposals_reject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ProposalRejected"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agents_list: {
        parameters: {
            query?: {
                /** @description Returns only agents that loops receive (`true`) or do not receive (`false`). */
                enabled?: boolean;
                /** @description Maximum number of agents; unlimited by default. */
                limit?: number;
                /** @description Number of agents to skip. */
                offset?: number;
                /** @description Returns only agents with this text in name or role, case-insensitive; at most 200 characters. */
                search?: string;
                /** @description Returns only agents of this repository; an empty value selects those of the whole organization. */
                sourceRepo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AgentList"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agents_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAgent"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AgentDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agents_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AgentDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agents_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DeleteResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agents_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAgent"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AgentDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agents_versions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AgentVersions"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agents_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AgentVersionDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    bootstrap_start: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartBootstrap"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LoopStarted"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    agents_bulk_ingest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Roster"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_IngestReport"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    api_keys_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_ApiKeyRecord"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    api_keys_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKey"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_CreatedApiKey"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    api_keys_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DeleteResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    audit_log_list: {
        parameters: {
            query?: {
                /** @description Returns only entries with this action. */
                action?: components["schemas"]["AuditAction"];
                /** @description Returns only entries older than this one: `nextBefore` of the previous page. */
                before?: string;
                /** @description Entries per page, 1 to 200; 50 by default. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AuditPage"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    auth_methods: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SignInMethods"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    oidc_callback: {
        parameters: {
            query?: {
                /** @description Authorization code; absent after an error. */
                code?: string;
                /** @description OAuth 2.0 error code; absent on success. */
                error?: string;
                /** @description `state` parameter of the authorization request. */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirect to the sign-in page with `token` or `error`. */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    oidc_start: {
        parameters: {
            query?: {
                /** @description Token of an invitation to accept. */
                invitation?: string;
                /** @description Path of the page to open after the sign-in, for example `/home/loops`. */
                returnTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirect to the provider, or to the sign-in page with `error`. */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    organizations_select: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SelectOrganization"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Me"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    auth_change_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePassword"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_PasswordChanged"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    auth_reset_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResetPassword"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SignedIn"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    auth_password_sign_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordSignIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SignedIn"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    auth_sign_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInLink"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SignedIn"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    auth_sign_out: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SignOutResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_list: {
        parameters: {
            query?: {
                /** @description Returns archived change requests instead of the others. */
                archived?: boolean;
                /** @description Returns only change requests that need a person, and that the caller has not snoozed. */
                attention?: boolean;
                /** @description Returns only change requests that changed before this time: `changedAt` of the last row of the previous page. */
                before?: string;
                /** @description Id of the document of that row, the tie-break of equal times. */
                beforeId?: string;
                /** @description Whether to count the change requests of all pages. */
                count?: boolean;
                /** @description Rows per page, 1 to 200; 50 by default. */
                limit?: number;
                /** @description Returns only change requests of the caller. */
                mine?: boolean;
                /** @description Returns only change requests of this user: an id or an e-mail address. */
                person?: string;
                /** @description Returns only change requests of this repository, `<org>/<repo>`; those without a repository if it is empty. */
                repo?: string;
                /** @description Returns only change requests in one of these states, separated by commas. */
                state?: components["schemas"]["ChangeState"][];
                /**
                 * @description Returns only change requests whose title, slug or repository contains this text, at most 200 characters.
                 *     Not case-sensitive.
                 */
                text?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeRequestPage"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ChangeRequestDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DeletedChangeRequest"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateChangeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ChangeRequestDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_store_comment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                commentId: string;
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommentText"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_CommentDraft"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_delete_comment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                commentId: string;
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DeleteResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_history: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_HistoryEntry"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_mark: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeRequestMark"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ChangeRequestDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_restore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ChangeRequestDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_change_reviews: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ChangeReviews"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_finish_review: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReviewSubmission"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ChangeReviews"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_groups: {
        parameters: {
            query: {
                /** @description Returns archived change requests instead of the others. */
                archived?: boolean;
                /** @description Returns only change requests that need a person, and that the caller has not snoozed. */
                attention?: boolean;
                /** @description Returns only change requests that changed before this time: `changedAt` of the last row of the previous page. */
                before?: string;
                /** @description Id of the document of that row, the tie-break of equal times. */
                beforeId?: string;
                /** @description What the list is grouped by. */
                by: "state" | "repository" | "person";
                /** @description Whether to count the change requests of all pages. */
                count?: boolean;
                /** @description Rows per page, 1 to 200; 50 by default. */
                limit?: number;
                /** @description Returns only change requests of the caller. */
                mine?: boolean;
                /** @description Returns only change requests of this user: an id or an e-mail address. */
                person?: string;
                /** @description Returns only change requests of this repository, `<org>/<repo>`; those without a repository if it is empty. */
                repo?: string;
                /** @description Returns only change requests in one of these states, separated by commas. */
                state?: components["schemas"]["ChangeState"][];
                /**
                 * @description Returns only change requests whose title, slug or repository contains this text, at most 200 characters.
                 *     Not case-sensitive.
                 */
                text?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_ChangeRequestGroup"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_views: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_SavedView"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    change_requests_set_views: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetSavedViews"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_SavedView"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_targets_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_ComputeTarget"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_targets_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTarget"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ComputeTarget"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_targets_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DeleteResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    commands_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_CommandRecord"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    commands_create: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCommand"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_CommandCreated"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    commands_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                command_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_CommandRecord"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    commands_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                command_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_CancelRequested"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    commands_events: {
        parameters: {
            query?: {
                /** @description Returns only events with a higher sequence number. */
                afterSequence?: number;
                /** @description Answers with server-sent events instead of a list. */
                stream?: boolean;
            };
            header?: never;
            path: {
                command_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_CommandEventRecord"];
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Missing or invalid credential. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                    "text/plain": string;
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or of another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                    "text/plain": string;
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_targets_report_deployments: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportedDeployments"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_StoredDeployments"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    health_checks_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Option_HealthCheckSnapshot"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    health_checks_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutHealthCheck"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Option_HealthCheckSnapshot"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_targets_heartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_HeartbeatResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    execution_credentials_create: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                loop_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecutionCredentialsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ExecutionCredentials"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    pull_requests_report: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportedPullRequests"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_WatchedPullRequests"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_targets_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShareTarget"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SharedTarget"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    local_auth_challenge: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChallengeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Challenge"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    local_auth_verify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_VerifyResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_targets_register: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisterTarget"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_RegisteredTarget"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_targets_status_stream: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    onboarding_claim: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OnboardingFailure"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimResponse"];
                };
            };
        };
    };
    onboarding_attempt: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AttemptRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OnboardingFailure"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OnboardingAttempt"];
                };
            };
        };
    };
    documents_list: {
        parameters: {
            query?: {
                /** @description Returns only documents that changed before this time: `updatedAt` of the last row of the previous page. */
                before?: string;
                /** @description Id of that row, the tie-break of equal times. */
                beforeId?: string;
                /** @description Rows per page, 1 to 200; 50 by default. */
                limit?: number;
                /** @description Returns only documents of this kind. */
                type?: components["schemas"]["ArtifactType"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_DocumentRecord"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    documents_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDocument"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DocumentDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    documents_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DocumentDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    documents_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateDocument"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DocumentDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    documents_run_loop: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunLoop"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LoopStarted"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    documents_preview_loop: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunLoop"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LaunchPreview"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    documents_versions: {
        parameters: {
            query?: {
                /** @description Returns only versions older than this one: the last one of the previous page. */
                before?: number;
                /** @description Rows per page, 1 to 200; 50 by default. */
                limit?: number;
            };
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_DocumentVersionRecord"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    documents_create_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateVersion"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DocumentDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    documents_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DocumentVersion"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    documents_run_new: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunNewDocument"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LoopStarted"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    feature_flags_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_FeatureFlags"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    feature_flags_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetFlag"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_FeatureFlags"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    health_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    health_database: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    health_live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    health_ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    invitations_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_Invitation"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    invitations_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInvitation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_CreatedInvitation"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    invitations_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DeleteResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    invitations_accept: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptInvitation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SignedIn"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    invitations_preview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationToken"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_InvitationPreview"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_list: {
        parameters: {
            query?: {
                /**
                 * @description Id of a loop: returns only loops after it in the list. Unlike `offset`, the cost does not grow with
                 *     the position.
                 */
                after?: string;
                /** @description Returns only loops with one of these commands, separated by commas. */
                command?: components["schemas"]["LoopCommand"][];
                /** @description Whether to count the loops of all pages. */
                count?: boolean;
                /** @description Returns only loops of this document (id or slug). */
                documentId?: string;
                /** @description Loops per page, 1 to 200; 50 by default. */
                limit?: number;
                /** @description Number of loops to skip. */
                offset?: number;
                /** @description Returns only loops in one of these statuses, separated by commas. */
                status?: components["schemas"]["LoopStatus"][];
                /**
                 * @description Returns only loops whose document title, prompt excerpt, repository or branch contains this text, at most
                 *     200 characters. Not case-sensitive.
                 */
                text?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopPage"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateLoop"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LoopStarted"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LoopDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LoopDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_update_loop: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateLoop"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LoopDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CancelLoop"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LoopDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    runner_download_urls: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DownloadUrls"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SignedUrls"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_events: {
        parameters: {
            query?: {
                /** @description Returns a range with the last events about this subject. */
                about?: "errors" | "commands" | "files";
                /** @description Returns only events after the one with this sequence number, oldest first. */
                after?: number;
                /** @description Returns a range with the last events before the one with this sequence number. */
                before?: number;
                /**
                 * @description Maximum number of events, 1 to 500; 100 for a page, else 500. A response ends earlier when its events are
                 *     larger than 8 MiB.
                 */
                limit?: number;
                /** @description Number of events to skip; ignored with `after` and `since`. */
                offset?: number;
                /** @description Returns only events received after this time, ISO 8601. */
                since?: string;
                /** @description Together with `since`: id of the last known event received at exactly that time. */
                sinceId?: string;
                /** @description Order by sequence, `asc` (default) or `desc`; ignored with `after` and `since`. */
                sort?: string;
                /** @description Returns a range with the last events, at most this number, 1 to 500. */
                tail?: number;
                /**
                 * @description Returns a range with the last events that contain this text, also in complete arguments and results of tool calls.
                 *     Case is ignored.
                 */
                text?: string;
                /** @description Returns only events of this type. */
                type?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_EventList"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    runner_event: {
        parameters: {
            query?: never;
            header: {
                /** @description Idempotency key of the event: one UUID per event, the same for all retries */
                "x-loop-event-nonce": string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ReceivedView"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_event: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                /** @description Position of the event within the loop */
                sequence: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_StoredEvent"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_report_open_findings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenFindings"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_OpenFindings"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    runner_github_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GithubTokenRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_GithubTokens"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    runner_heartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Heartbeat"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_manual_event: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ReceivedView"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_send_loop_message: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessage"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SentMessage"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    runner_refresh: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_RefreshResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_resume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ResumeLoop"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_LoopStarted"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_loop_runtime: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_RuntimeView"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_stream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the last event that the client received */
                "Last-Event-ID"?: string | null;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    runner_upload_artifacts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UploadArtifacts"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_UploadResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    runner_upload_urls: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UploadUrls"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_SignedUrls"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_loop_summaries: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SummariesQuery"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_HashMap_String_DocumentSummary"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    loops_usage: {
        parameters: {
            query?: {
                /** @description Counts only loops with this command. */
                command?: components["schemas"]["LoopCommand"];
                /** @description Last day, ISO 8601 date or timestamp. */
                endDate?: string;
                /**
                 * @description First day, ISO 8601 date or timestamp. Days are those of the creation of loops, in UTC, and count
                 *     completely.
                 */
                startDate?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Usage"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    auth_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Me"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    members_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_Member"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    members_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateMember"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Member"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    members_reset_password: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_PasswordResetLink"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    organization_list_changes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ListChanges"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    organization_organization_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_OrganizationSettings"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    organization_set_organization_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrganizationSettings"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_OrganizationSettings"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    organizations_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_Membership"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    public_keys_list: {
        parameters: {
            query?: {
                /** @description Id of a desktop that the caller owns. */
                computeTargetId?: string;
                /** @description Expected installation id of that desktop; only together with `computeTargetId`. */
                gatewayId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_ListedPublicKey"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    public_keys_register: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisterPublicKey"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_PublicKeyRecord"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    public_keys_delete: {
        parameters: {
            query?: {
                /** @description Fingerprint of the key. */
                fingerprint?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_PublicKeyRemoved"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    repositories_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AllowedRepositories"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    repositories_allow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AllowRepository"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_AllowedRepository"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    repositories_forbid: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                owner: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DeleteResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    sessions_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_SessionRecord"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    sessions_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_DeleteResponse"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_preference_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ComputePreference"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compute_preference_set: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetComputePreference"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_ComputePreference"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    storage_get: {
        parameters: {
            query: {
                /** @description Expiry, in seconds since the Unix epoch. */
                exp: number;
                /** @description Signed method, `GET` or `PUT`. */
                method: string;
                /** @description Signature in base64url without padding. */
                sig: string;
            };
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": number[];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    storage_put: {
        parameters: {
            query: {
                /** @description Expiry, in seconds since the Unix epoch. */
                exp: number;
                /** @description Signed method, `GET` or `PUT`. */
                method: string;
                /** @description Signature in base64url without padding. */
                sig: string;
            };
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": number[];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_StoredObject"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    tickets_list: {
        parameters: {
            query?: {
                /** @description Returns only tickets that changed before this time: `updatedAt` of the last row of the previous page. */
                before?: string;
                /** @description Id of that row, the tie-break of equal times. */
                beforeId?: string;
                /** @description Rows per page, 1 to 200; 50 by default. */
                limit?: number;
                /** @description Returns only tickets in this state. */
                state?: components["schemas"]["TicketState"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_Vec_TicketRecord"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    tickets_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTicket"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_TicketDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    tickets_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_TicketDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    tickets_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTicket"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Data_TicketDetail"];
                };
            };
            /** @description The request is invalid; `code` and `details` say why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Credentials are missing, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The caller lacks the required role or scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The resource does not exist, or belongs to another organization. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state of the resource. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Internal error; `details.requestId` identifies its log entry. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
}
