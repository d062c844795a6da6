// Generated from docs/openapi/control-plane.json by `npm run generate`. Do not edit.

export interface paths {
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Agents of the organization, newest first. */
        get: operations["agents_list"];
        put?: never;
        /** Makes an agent with its first version. */
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
        /** One agent with its prompt. */
        get: operations["agents_get"];
        put?: never;
        post?: never;
        /** Removes an agent with its versions. Loops that have it keep it. */
        delete: operations["agents_delete"];
        options?: never;
        head?: never;
        /** Changes an agent; another name or prompt is a new version. */
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
        /** Every version of an agent, newest first. */
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
        /** One version of an agent with its prompt. */
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
        /** Starts the loop. The dispatch goes on in the background: when it fails, the loop fails, not this answer. */
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
         * Takes over the agents that a bootstrap wrote for a repository: all of them, or none. The same request
         *     again changes nothing.
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
        /** Keys of the whole organization for administrators, own ones for others; newest first. */
        get: operations["api_keys_list"];
        put?: never;
        /** Makes a key and shows its secret once. */
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
        /** Revokes a key at once, also for a desktop that is connected with it. */
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
        /** The audit log of the organization, newest first. */
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
        /** How people sign in here; a sign-in page shows what there is. */
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
        /** Takes the browser back, and sends it to the sign-in page with a one-time token. */
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
        /** Sends the browser to the provider. */
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
        /** Makes another organization of the person the one that the session is about when a request names none. */
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
         * Changes the password, and ends every other session of the person. The first password makes a local
         *     account with the person's e-mail address.
         */
        put: operations["auth_change_password"];
        post?: never;
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
         * Trades the password of a local account for a session: a cookie, and the key that goes with it.
         *     Every refusal has one text; after ten of them an address waits for 15 minutes (429).
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
        /** Trades the token of a one-time link for a session: a cookie, and the key that goes with it. */
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
        /** Ends the session at once, with the streams that it opened. */
        post: operations["auth_sign_out"];
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
        /** Own desktops and those shared with the organization: online first, then the one changed last. */
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
        /** Changes a desktop of one's own. */
        put: operations["compute_targets_update"];
        post?: never;
        /** Forgets a desktop of one's own, revokes the key that is bound to it, and closes its connection. Its loops stay. */
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
        /** Commands of a desktop, newest first, at most 100. */
        get: operations["commands_list"];
        put?: never;
        /**
         * Sends a request to a desktop; one that is not connected gets it when it connects again within 15 minutes. A signed
         *     one reaches it at once or never.
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
        /** Status of a command. */
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
         * Asks the desktop to end a command; one that is not connected hears it when it connects again. The
         *     command has ended with its own `done` event.
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
        /** Events of a command in their order, as a list or as server-sent events until the last one. */
        get: operations["commands_events"];
        put?: never;
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
        /** The last check of a desktop; `null` when there is none, or the desktop has changed since. */
        get: operations["health_checks_get"];
        /** Keeps a check of a desktop in place of the last one. */
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
        /** Says that a desktop of one's own is there. */
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
         * The whole body for the desktop's gateway, with the token of the loop. Given out once a command, and only to the
         *     desktop itself, by the key that is bound to it.
         */
        post: operations["execution_credentials_create"];
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
        /** Shares a desktop of one's own with the organization, or takes it back. */
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
        /** Makes a challenge for the page that asks. Never cached, also when it is refused. */
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
         * Verifies a challenge for the desktop whose owner it was made for. It is used up first, so a
         *     failing attempt burns it too.
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
        /** Registers a desktop that does not connect; one that does is registered by its hello. */
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
         * Desktops going on and off line, as server-sent events `{"targetId", "isOnline"}`: first where
         *     each one stands, then every change.
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
         * Trades an attempt for a key that is bound to the desktop's public key. Using the attempt up and
         *     making the key are one transaction, so a failure of the storage can be tried again.
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
        /** Makes an attempt for the person who asks. */
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
        /** Documents of the organization, the one changed last first. */
        get: operations["documents_list"];
        put?: never;
        /** Makes a document with its first version. */
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
        /** One document with its text, its versions, the plan made from it, its loops and pull requests. */
        get: operations["documents_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Renames a document, or sets its status. */
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
         * Starts a loop about a document. The dispatch goes on in the background: when it fails, the
         *     loop fails, not this answer.
         */
        post: operations["documents_run_loop"];
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
        /** Versions of a document, newest first. */
        get: operations["documents_versions"];
        put?: never;
        /** Appends a version. A plan that people have changed has no plan object any more. */
        post: operations["documents_create_version"];
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
        /** Where the switches of the organization stand. */
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
        /** Turns a switch on or off for the whole organization. */
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
        /** Answers while the process lives. */
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
        /** Answers while the database does. */
        get: operations["health_database"];
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
        /** The open invitations, newest first. */
        get: operations["invitations_list"];
        put?: never;
        /** Invites somebody. Nothing is sent: hand the URL to the person. */
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
        /** Takes an open invitation back. */
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
         * Accepts an invitation: with a new local account, with the one that has the invited address, or, without
         *     a password, as the person who is signed in. Begins a session in the organization.
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
        /** Shows an invitation to whoever has its token. */
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
        /** Loops of the organization, newest first. */
        get: operations["loops_list"];
        put?: never;
        /** Makes the record of a loop; nothing is launched. */
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
        /** One loop. Its own runner token sees only the status. */
        get: operations["loops_get"];
        put?: never;
        post?: never;
        /** Stops a loop; the same as cancelling it. */
        delete: operations["loops_delete"];
        options?: never;
        head?: never;
        /** Notes what came of a loop that is run by hand. */
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
        /** Stops a loop. */
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
        /** Lists the objects below a prefix, and signs one GET for each. */
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
        /** All events of a loop, a page of them, or those after a known one. */
        get: operations["loops_events"];
        put?: never;
        /** Takes one event in: `{"type", …}` or `{"type", "data": {…}}`. */
        post: operations["runner_event"];
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
        /** Makes a token for each repository of a loop. */
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
         * Says that the loop's desktop is alive. A loop that was given up for its silence runs again. When
         *     the loop's token is not accepted any more, the desktop asks with the key that is bound to it, and
         *     gets a new one.
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
         * Takes in an event of a loop that is run by hand: `output`, `progress`, `completed`, `error` or `cancelled`, in the
         *     forms of a runner's events.
         */
        post: operations["loops_manual_event"];
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
         * Exchanges the token in force for a new one. The same token and `Idempotency-Key` get the same
         *     answer until the next exchange.
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
        /** Makes a child of an ended loop and launches it. */
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
        /** How the connection to a loop's runner is; for administrators. */
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
         * Events of a loop as they are stored, as server-sent events: everything from the beginning, or
         *     from `Last-Event-ID` on. Each `data` is a stored event; the stream closes after the loop's end.
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
         * Keeps what a run has made until its loop completes. Members are merged, so two uploads at once
         *     lose nothing.
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
        /** Signs one PUT for each key. */
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
         * What the loops of documents have come to: for each document the active one, the last that completed and the last
         *     that failed, of its own or of a document that was made from it.
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
        /** What the loops of the organization have used; for administrators. */
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
        /** The person who asks. */
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
        /** All members, inactive ones included, oldest first. */
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
        /** Changes the role of a member, or deactivates it. The last administrator stays one (409). */
        patch: operations["members_update"];
        trace?: never;
    };
    "/organization/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The settings. */
        get: operations["organization_organization_settings"];
        /** Replaces the settings; what is left out has its default again. */
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
        /** The organizations to which the signed-in person belongs, in the order in which it joined. */
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
        /** One's own keys; for a desktop of one's own, those of everybody who may send commands to it. */
        get: operations["public_keys_list"];
        put?: never;
        /** Registers a key of one's own, and asks the connected desktops to have it authorized. */
        post: operations["public_keys_register"];
        /** Removes a key of one's own, and has the connected desktops forget it. */
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
        /** Lists the repositories that loops may touch. */
        get: operations["repositories_list"];
        put?: never;
        /**
         * Puts a repository on the list, or replaces its branches. The list counts only while the organization has no
         *     installation at the code host.
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
        /** Takes a repository from the list. Loops that run go on. */
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
        /** The living sessions of the person, in all its organizations, newest first. */
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
        /** Ends a session of the person at once, with the streams that it opened. */
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
        /** The preference of the caller. Without a choice it is a desktop when one is online. */
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
        /** Reads a file. */
        get: operations["storage_get"];
        /** Keeps a file of at most 50 MiB. */
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
        /** Tickets of the organization, the one changed last first. */
        get: operations["tickets_list"];
        put?: never;
        /** Makes a ticket, open. */
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
        /** One ticket with its text, its plan, loops and pull requests. */
        get: operations["tickets_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Changes a ticket. Loops that run go on with what they were given. */
        patch: operations["tickets_update"];
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Accepts an invitation with an account. */
        AcceptInvitation: {
            /** @description At most 100 characters. */
            firstName?: string | null;
            /** @description At most 100 characters. */
            lastName?: string | null;
            /**
             * Format: password
             * @description Of the account with the invited address, or of the one to be made: 12 to 256 characters. Left out
             *     to accept as the person who is signed in.
             */
            password?: string | null;
            /** @description The token. */
            token: string;
        };
        /** @description An agent with its prompt. */
        AgentDetail: components["schemas"]["AgentSummary"] & {
            /** @description The bootstrap that wrote it. */
            bootstrapRunId?: string | null;
            /** @description Who made it. */
            createdBy: components["schemas"]["PersonName"];
            /** @description Its prompt. */
            prompt: string;
        };
        /** @description Agents of an organization. */
        AgentList: {
            /** @description Newest first. */
            agents: components["schemas"]["AgentSummary"][];
            /**
             * Format: int64
             * @description How many there are, whatever the limit.
             */
            total: number;
        };
        /** @description An agent without its prompt. */
        AgentSummary: {
            /** @description ISO 8601. */
            createdAt: string;
            /**
             * Format: int64
             * @description Number of its newest version, from 1.
             */
            currentVersion: number;
            /** @description What it is for. */
            description?: string | null;
            /** @description Whether loops get it. */
            enabled: boolean;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Name for people. */
            name: string;
            /** @description What it is an expert in. */
            role: string;
            /** @description Names the agent in its organization, and its file on a desktop. */
            slug: string;
            /** @description Its repository, `<org>/<repo>`; empty for all of the organization. */
            sourceRepo: string;
            /** @description ISO 8601. */
            updatedAt: string;
        };
        /** @description A version of an agent. */
        AgentVersionDetail: components["schemas"]["AgentVersionSummary"] & {
            /** @description The prompt at that time. */
            prompt: string;
        };
        /** @description Versions of an agent. */
        AgentVersions: {
            /** @description Newest first. */
            versions: components["schemas"]["AgentVersionSummary"][];
        };
        /** @description A version of an agent without its prompt. */
        AgentVersionSummary: {
            /** @description Who changed it. */
            changedBy: components["schemas"]["PersonName"];
            /** @description What was changed, and why. */
            changeNote?: string | null;
            /** @description ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description The agent's name at that time. */
            name: string;
            /**
             * Format: int64
             * @description Its number, from 1.
             */
            version: number;
        };
        /** @description The repositories. */
        AllowedRepositories: {
            /** @description By name. */
            repositories: components["schemas"]["AllowedRepository"][];
        };
        /** @description A repository that loops may touch. */
        AllowedRepository: {
            /** @description All its branches; `null` when they are not known. */
            branches?: string[] | null;
            /** @description `owner/name`. */
            fullName: string;
            /** @description What makes it known. */
            source: components["schemas"]["RepositorySource"];
        };
        /** @description A repository for the list. */
        AllowRepository: {
            /** @description All its branches, at most 1000; left out when loops may name any. */
            branches?: string[] | null;
            /** @description `owner/name`. */
            fullName: string;
        };
        /** @description A key, never its secret. */
        ApiKeyRecord: {
            /** @description ISO 8601. */
            createdAt: string;
            /** @description ISO 8601. */
            expiresAt?: string | null;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description What every key begins with. */
            keyPrefix: string;
            /** @description ISO 8601. */
            lastUsedAt?: string | null;
            /** @description Its name. */
            name: string;
            /**
             * Format: uuid
             * @description Its organization.
             */
            organizationId: string;
            /** @description ISO 8601. */
            revokedAt?: string | null;
            /** @description What it may be used for. */
            scopes: components["schemas"]["Scope"][];
            /**
             * Format: uuid
             * @description Its owner.
             */
            userId: string;
        };
        /**
         * @description Kind of an artifact.
         * @enum {string}
         */
        ArtifactType: "PRD" | "IMPLEMENTATION_PLAN" | "FEATURE";
        /**
         * @description How an attempt to enable or update plugins went.
         * @enum {string}
         */
        AttemptOutcome: "success" | "failed" | "timeout" | "skipped";
        /** @description What the page sends. */
        AttemptRequest: {
            /** @description Accepted and ignored. */
            platform?: string | null;
            /** @description Origin of the page. */
            webAppOrigin: string;
        };
        /**
         * @description What was done.
         * @enum {string}
         */
        AuditAction: "sign_in" | "sign_in_failed" | "sign_out" | "session_revoked" | "password_changed" | "organization_selected" | "key_created" | "key_revoked" | "desktop_key_issued" | "invitation_created" | "invitation_revoked" | "invitation_accepted" | "member_joined" | "member_role_changed" | "member_deactivated" | "member_activated" | "agent_created" | "agent_updated" | "agent_deleted" | "target_registered" | "target_sharing_changed" | "target_removed" | "repository_allowed" | "repository_forbidden" | "browser_key_registered" | "browser_key_removed" | "organization_settings_set" | "feature_flag_set";
        /** @description An act. */
        AuditEntry: {
            /** @description What was done. */
            action: components["schemas"]["AuditAction"];
            /** @description Where the request came from. */
            address?: string | null;
            /** @description ISO 8601. */
            at: string;
            /** @description More about it. */
            details: Record<string, never>;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The API key that was used, if one was.
             */
            keyId?: string | null;
            /** @description Id or name of what it was done to. */
            subject: string;
            /**
             * Format: uuid
             * @description Who did it; null when nobody was signed in.
             */
            userId?: string | null;
        };
        /** @description A page of the log. */
        AuditPage: {
            /** @description Newest first. */
            entries: components["schemas"]["AuditEntry"][];
            /**
             * Format: uuid
             * @description `before` of the next page; null on the last one.
             */
            nextBefore?: string | null;
        };
        /**
         * @description How thoroughly.
         * @enum {string}
         */
        BootstrapDepth: "quick" | "medium" | "deep";
        /** @description What may be chosen. */
        BootstrapOptions: {
            depth?: components["schemas"]["BootstrapDepth"] | null;
        };
        /** @description A repository to get to know. */
        BootstrapRepository: {
            /** @description `owner/name`. */
            fullName: string;
        };
        /** @description How a loop is stopped. */
        CancelLoop: {
            userIntentSignature?: components["schemas"]["UserIntentSignature"] | null;
        };
        /** @description What asking for an end answers. */
        CancelRequested: {
            /** @description `false` when the command had ended before. */
            cancelRequested: boolean;
            /** @description Status of the command. It has ended when this is a final status, and not before. */
            status: components["schemas"]["CommandStatus"];
        };
        /** @description A challenge for the gateway. */
        Challenge: {
            /** @description To be posted to the gateway's `/gateway-auth/exchange`. */
            challengeToken: string;
            /** @description ISO 8601; one minute from now. */
            expiresAt: string;
        };
        /** @description What the page sends. */
        ChallengeRequest: {
            /** @description Origin of the page. */
            origin: string;
        };
        /** @description A new password. */
        ChangePassword: {
            /**
             * Format: password
             * @description The present one; left out while there is none.
             */
            currentPassword?: string | null;
            /**
             * Format: password
             * @description 12 to 256 characters.
             */
            newPassword: string;
        };
        /** @description What the desktop sends. */
        ClaimRequest: {
            /**
             * Format: uuid
             * @description Stable id of the installation.
             */
            gatewayId: string;
            /** @description Older name of the same member. */
            gatewayPublicKey?: string | null;
            /** @description Ed25519 public key, SPKI PEM. */
            gatewayPublicKeyPem?: string | null;
            /** @description The attempt. */
            onboardingAttemptId: string;
            /** @description Origin for which the attempt was made. */
            webAppOrigin: string;
        };
        /** @description The desktop's key. */
        ClaimResponse: {
            /** @description The key itself; shown this once. */
            apiKey: string;
            /**
             * Format: uuid
             * @description The installation to which it is bound.
             */
            gatewayId: string;
            /** @description `DESKTOP_MANAGED`. */
            source: string;
        };
        /** @description A command that was made. */
        CommandCreated: {
            /**
             * Format: uuid
             * @description Id.
             */
            commandId: string;
            /** @description It had been made before. */
            deduped?: boolean | null;
            /** @description Its status. */
            status: components["schemas"]["CommandStatus"];
        };
        /** @description An event of a command. */
        CommandEventRecord: {
            /**
             * Format: uuid
             * @description The command.
             */
            commandId: string;
            /** @description ISO 8601. */
            createdAt: string;
            /** @description Its content. */
            data: unknown;
            /** @description Its kind. */
            eventType: components["schemas"]["EventType"];
            /**
             * Format: int64
             * @description From 1, without gaps.
             */
            sequence: number;
        };
        /** @description A command. */
        CommandRecord: {
            /**
             * Format: uuid
             * @description Id.
             */
            commandId: string;
            /**
             * Format: uuid
             * @description The desktop.
             */
            computeTargetId: string;
            /** @description ISO 8601. */
            createdAt: string;
            /** @description Why it failed. */
            error?: string | null;
            /** @description ISO 8601. */
            finishedAt?: string | null;
            /** @description As it was given. */
            idempotencyKey?: string | null;
            /**
             * Format: int64
             * @description Number of its last event.
             */
            lastSequenceAcked: number;
            /** @description Its operation. */
            operationId: string;
            /** @description ISO 8601. */
            startedAt?: string | null;
            /** @description Its status. */
            status: components["schemas"]["CommandStatus"];
        };
        /**
         * @description Status of a command.
         * @enum {string}
         */
        CommandStatus: "queued" | "accepted" | "running" | "done" | "failed" | "cancelled" | "expired";
        /** @description Use of one command. */
        CommandUsage: {
            /** @description The command. */
            command: components["schemas"]["LoopCommand"];
            /**
             * Format: double
             * @description US dollars.
             */
            estimatedCost: number;
            /**
             * Format: int64
             * @description Number of loops.
             */
            loopCount: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            tokensInput: number;
            /**
             * Format: int64
             * @description Output tokens.
             */
            tokensOutput: number;
        };
        /**
         * @description Where loops run.
         * @enum {string}
         */
        ComputeMode: "LOCAL" | "CLOUD";
        /** @description The preference. */
        ComputePreference: {
            /**
             * Format: uuid
             * @description The preferred desktop.
             */
            computeTargetId?: string | null;
            /** @description Whether the person has chosen it. */
            isExplicit: boolean;
            /** @description On a desktop or in a cloud; this installation has no cloud. */
            preferredComputeMode: components["schemas"]["ComputeMode"];
            selectedHarness?: components["schemas"]["Harness"] | null;
        };
        /** @description A desktop. */
        ComputeTarget: {
            /**
             * Format: int64
             * @description Commands that run.
             */
            activeCommands?: number | null;
            /**
             * @description Open object: versions, limits, what the desktop supports, and `gatewayPort`, where pages on its
             *     machine reach its gateway.
             */
            capabilities: {
                [key: string]: unknown;
            };
            /** @description ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Stable id of the installation.
             */
            gatewayId?: string | null;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Whether it is connected. */
            isOnline: boolean;
            /** @description Whether all members of the organization may send work to it. */
            isSharedWithOrg: boolean;
            /** @description ISO 8601. */
            lastSeenAt: string;
            /** @description Host name. */
            machineName: string;
            /**
             * Format: uuid
             * @description Its organization.
             */
            organizationId: string;
            /** @description Set for desktops of other users. */
            ownerName?: string | null;
            /** @description `darwin`, `linux` or `win32`. */
            platform: string;
            /**
             * Format: int64
             * @description Commands that wait.
             */
            queueDepth?: number | null;
            /** @description How it is protected. */
            security: components["schemas"]["TargetSecurity"];
            /** @description Which provider runs its loops. */
            selectedHarness: components["schemas"]["Harness"];
            /** @description What the control plane does for it. */
            serverCapabilities?: components["schemas"]["ServerCapabilities"];
            /** @description `online`, `degraded` or `paused`, as it said itself. */
            state?: string | null;
            /** @description Operation ids that it serves. */
            supportedOperations: string[];
            /** @description ISO 8601. */
            updatedAt: string;
            /**
             * Format: uuid
             * @description Its owner.
             */
            userId: string;
        };
        /** @description A document that is handed along. */
        ContextRef: {
            /** @description `full` or `summary`. */
            include: string;
            /**
             * Format: uuid
             * @description Id of the document.
             */
            sourceId: string;
            /** @description `DOCUMENT`. */
            sourceType?: string | null;
        };
        /** @description An agent to be made. */
        CreateAgent: {
            /** @description The bootstrap that wrote it. */
            bootstrapRunId?: string | null;
            /** @description Note of its first version, at most 500 characters. */
            changeNote?: string | null;
            /** @description What it is for, at most 500 characters. */
            description?: string | null;
            /** @description Name for people, 1 to 200 characters. */
            name: string;
            /** @description Prompt, at least one character. */
            prompt: string;
            /** @description What it is an expert in, 1 to 100 characters with a letter or digit among them; unique in its repository. */
            role: string;
            /** @description Its repository, `<org>/<repo>`; all of the organization when left out. */
            sourceRepo?: string;
        };
        /** @description A key to be made. */
        CreateApiKey: {
            /** @description ISO 8601. */
            expiresAt?: string | null;
            /** @description 1 to 100 characters. */
            name?: string;
            /**
             * @description Exactly what the key may be used for; `read`, `write` and `delete` when left out. `admin` can
             *     only be granted by administrators.
             */
            scopes?: components["schemas"]["Scope"][] | null;
        };
        /** @description A command to be made. */
        CreateCommand: {
            /** @description Shown with the question. */
            approvalReason?: string | null;
            /** @description Body of the request. */
            body?: unknown;
            /**
             * Format: uuid
             * @description Only together with a signature.
             */
            commandId?: string | null;
            /** @description Headers for the gateway. */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Makes repeated requests one command; 1 to 200 characters. */
            idempotencyKey?: string | null;
            /** @description Commands with equal keys run one after the other. */
            lockKey?: string | null;
            /** @description `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
            method: string;
            /** @description Operation of the path. */
            operationId: string;
            /** @description Below `/api/gateway/`. */
            path: string;
            /** @description Fingerprint of the browser key. */
            publicKeyFingerprint?: string | null;
            /** @description Query of the request. */
            query?: {
                [key: string]: components["schemas"]["QueryValue"];
            } | null;
            /** @description Asks the user of the desktop first. */
            requiresApproval?: boolean | null;
            /** @description Signature of a browser key. */
            signature?: string | null;
            /** @description The exact text that was signed. */
            signaturePayload?: string | null;
            /** @description Informational. */
            streaming?: boolean | null;
            /**
             * Format: int64
             * @description Limit of the execution in milliseconds.
             */
            timeoutMs?: number | null;
        };
        /** @description A new key, with its secret. */
        CreatedApiKey: components["schemas"]["ApiKeyRecord"] & {
            /** @description The key itself; shown this once. */
            plaintext: string;
        };
        /** @description A new invitation, with what its reader needs. */
        CreatedInvitation: components["schemas"]["Invitation"] & {
            /** @description The secret; shown this once. */
            token: string;
            /** @description Page on which the invited person accepts. It carries the token. */
            url: string;
        };
        /** @description A document to be made. */
        CreateDocument: {
            /** @description Markdown, at least one character. */
            content: string;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description 1 to 200 characters. */
            title: string;
            /** @description Its kind. */
            type: components["schemas"]["DocumentKind"];
        };
        /** @description Somebody to be invited. */
        CreateInvitation: {
            /** @description E-mail address; the name of the account that the person makes. */
            email: string;
            /** @description Role in the organization. */
            role: components["schemas"]["Role"];
        };
        /** @description A loop to be made. */
        CreateLoop: {
            /** @description Peers, at most 5. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
            /** @description What it does. */
            command: components["schemas"]["LoopCommand"];
            /** @description Documents handed along. */
            contextRefs?: components["schemas"]["ContextRef"][] | null;
            /** @description Id or slug of the document that it is about. */
            documentId?: string | null;
            harness?: components["schemas"]["Harness"] | null;
            /** @description At most 100 000 characters. */
            prompt?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
        };
        /** @description A ticket to be made. */
        CreateTicket: {
            /** @description The peers, at most 5. */
            additionalRepos?: components["schemas"]["RepoRef"][];
            /** @description Markdown, at least one character. */
            body: string;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description 1 to 200 characters. */
            title: string;
        };
        /** @description The text of a new version. */
        CreateVersion: {
            /** @description Markdown, at least one character. */
            content: string;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_AgentDetail: {
            /** @description An agent with its prompt. */
            data: components["schemas"]["AgentSummary"] & {
                /** @description The bootstrap that wrote it. */
                bootstrapRunId?: string | null;
                /** @description Who made it. */
                createdBy: components["schemas"]["PersonName"];
                /** @description Its prompt. */
                prompt: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_AgentList: {
            /** @description Agents of an organization. */
            data: {
                /** @description Newest first. */
                agents: components["schemas"]["AgentSummary"][];
                /**
                 * Format: int64
                 * @description How many there are, whatever the limit.
                 */
                total: number;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_AgentVersionDetail: {
            /** @description A version of an agent. */
            data: components["schemas"]["AgentVersionSummary"] & {
                /** @description The prompt at that time. */
                prompt: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_AgentVersions: {
            /** @description Versions of an agent. */
            data: {
                /** @description Newest first. */
                versions: components["schemas"]["AgentVersionSummary"][];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_AllowedRepositories: {
            /** @description The repositories. */
            data: {
                /** @description By name. */
                repositories: components["schemas"]["AllowedRepository"][];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_AllowedRepository: {
            /** @description A repository that loops may touch. */
            data: {
                /** @description All its branches; `null` when they are not known. */
                branches?: string[] | null;
                /** @description `owner/name`. */
                fullName: string;
                /** @description What makes it known. */
                source: components["schemas"]["RepositorySource"];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_AuditPage: {
            /** @description A page of the log. */
            data: {
                /** @description Newest first. */
                entries: components["schemas"]["AuditEntry"][];
                /**
                 * Format: uuid
                 * @description `before` of the next page; null on the last one.
                 */
                nextBefore?: string | null;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_CancelRequested: {
            /** @description What asking for an end answers. */
            data: {
                /** @description `false` when the command had ended before. */
                cancelRequested: boolean;
                /** @description Status of the command. It has ended when this is a final status, and not before. */
                status: components["schemas"]["CommandStatus"];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Challenge: {
            /** @description A challenge for the gateway. */
            data: {
                /** @description To be posted to the gateway's `/gateway-auth/exchange`. */
                challengeToken: string;
                /** @description ISO 8601; one minute from now. */
                expiresAt: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_CommandCreated: {
            /** @description A command that was made. */
            data: {
                /**
                 * Format: uuid
                 * @description Id.
                 */
                commandId: string;
                /** @description It had been made before. */
                deduped?: boolean | null;
                /** @description Its status. */
                status: components["schemas"]["CommandStatus"];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_CommandRecord: {
            /** @description A command. */
            data: {
                /**
                 * Format: uuid
                 * @description Id.
                 */
                commandId: string;
                /**
                 * Format: uuid
                 * @description The desktop.
                 */
                computeTargetId: string;
                /** @description ISO 8601. */
                createdAt: string;
                /** @description Why it failed. */
                error?: string | null;
                /** @description ISO 8601. */
                finishedAt?: string | null;
                /** @description As it was given. */
                idempotencyKey?: string | null;
                /**
                 * Format: int64
                 * @description Number of its last event.
                 */
                lastSequenceAcked: number;
                /** @description Its operation. */
                operationId: string;
                /** @description ISO 8601. */
                startedAt?: string | null;
                /** @description Its status. */
                status: components["schemas"]["CommandStatus"];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_ComputePreference: {
            /** @description The preference. */
            data: {
                /**
                 * Format: uuid
                 * @description The preferred desktop.
                 */
                computeTargetId?: string | null;
                /** @description Whether the person has chosen it. */
                isExplicit: boolean;
                /** @description On a desktop or in a cloud; this installation has no cloud. */
                preferredComputeMode: components["schemas"]["ComputeMode"];
                selectedHarness?: components["schemas"]["Harness"] | null;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_ComputeTarget: {
            /** @description A desktop. */
            data: {
                /**
                 * Format: int64
                 * @description Commands that run.
                 */
                activeCommands?: number | null;
                /**
                 * @description Open object: versions, limits, what the desktop supports, and `gatewayPort`, where pages on its
                 *     machine reach its gateway.
                 */
                capabilities: {
                    [key: string]: unknown;
                };
                /** @description ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Stable id of the installation.
                 */
                gatewayId?: string | null;
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description Whether it is connected. */
                isOnline: boolean;
                /** @description Whether all members of the organization may send work to it. */
                isSharedWithOrg: boolean;
                /** @description ISO 8601. */
                lastSeenAt: string;
                /** @description Host name. */
                machineName: string;
                /**
                 * Format: uuid
                 * @description Its organization.
                 */
                organizationId: string;
                /** @description Set for desktops of other users. */
                ownerName?: string | null;
                /** @description `darwin`, `linux` or `win32`. */
                platform: string;
                /**
                 * Format: int64
                 * @description Commands that wait.
                 */
                queueDepth?: number | null;
                /** @description How it is protected. */
                security: components["schemas"]["TargetSecurity"];
                /** @description Which provider runs its loops. */
                selectedHarness: components["schemas"]["Harness"];
                /** @description What the control plane does for it. */
                serverCapabilities?: components["schemas"]["ServerCapabilities"];
                /** @description `online`, `degraded` or `paused`, as it said itself. */
                state?: string | null;
                /** @description Operation ids that it serves. */
                supportedOperations: string[];
                /** @description ISO 8601. */
                updatedAt: string;
                /**
                 * Format: uuid
                 * @description Its owner.
                 */
                userId: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_CreatedApiKey: {
            /** @description A new key, with its secret. */
            data: components["schemas"]["ApiKeyRecord"] & {
                /** @description The key itself; shown this once. */
                plaintext: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_CreatedInvitation: {
            /** @description A new invitation, with what its reader needs. */
            data: components["schemas"]["Invitation"] & {
                /** @description The secret; shown this once. */
                token: string;
                /** @description Page on which the invited person accepts. It carries the token. */
                url: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_DeleteResponse: {
            /** @description Answer of a deletion. */
            data: {
                /** @description Always `true`. */
                deleted: boolean;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_DocumentDetail: {
            /** @description A document with its text and what has come of it. */
            data: components["schemas"]["DocumentRecord"] & {
                /** @description The present text. */
                content: string;
                /** @description Loops about it, newest first. */
                loops: components["schemas"]["LoopRecord"][];
                plan?: components["schemas"]["LoopDocument"] | null;
                /** @description Pull requests of those loops, newest first. */
                pullRequests: components["schemas"]["PullRequest"][];
                /** @description The whole plan object of the present text, when there is one. */
                raw?: {
                    [key: string]: unknown;
                } | null;
                source?: components["schemas"]["LoopDocument"] | null;
                /** @description All versions, newest first. */
                versions: components["schemas"]["DocumentVersion"][];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_EventList: {
            /** @description All events or an increment as a list, a page as a page. */
            data: components["schemas"]["StoredEvent"][] | components["schemas"]["EventPage"];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_ExecutionCredentials: {
            /** @description The body for the desktop's gateway. */
            data: {
                /** @description The loop. */
                loopId: string;
            } & {
                [key: string]: unknown;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_FeatureFlags: {
            /** @description Where the switches stand. */
            data: {
                /** @description By key. */
                flags: {
                    [key: string]: boolean;
                };
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_GithubTokens: {
            /** @description A token for each repository, good for an hour. */
            data: {
                /** @description For the peers. */
                additionalRepoTokens: components["schemas"]["RepoToken"][];
                /** @description For the primary repository. */
                token: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_HashMap_String_DocumentSummary: {
            data: {
                [key: string]: {
                    activeLoop?: components["schemas"]["DocumentLoop"] | null;
                    latestCompleted?: components["schemas"]["DocumentLoop"] | null;
                    latestFailed?: components["schemas"]["DocumentLoop"] | null;
                };
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Heartbeat: {
            /** @description What a heartbeat came to. */
            data: {
                /** @description `false` when the last one is younger than four and a half minutes. */
                bumped: boolean;
                /** @description End of the new token, ISO 8601. */
                expiresAt?: string | null;
                /**
                 * Format: uuid
                 * @description Slot of the new token.
                 */
                jti?: string | null;
                /**
                 * @description The token of the request is replaced: the loop had been given up, or its desktop asked with its
                 *     own key.
                 */
                revived?: boolean | null;
                /** @description The new token, with `revived` only. */
                token?: string | null;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_HeartbeatResponse: {
            /** @description Whether a heartbeat was noted. */
            data: {
                /** @description Always `true`. */
                ok: boolean;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_IngestReport: {
            /** @description What a roster did. */
            data: {
                /** @description Each role of the request. */
                agents: components["schemas"]["IngestedAgent"][];
                /** @description How many agents were made. */
                created: number;
                /** @description How many were the same. */
                unchanged: number;
                /** @description How many have a new version. */
                updated: number;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_InvitationPreview: {
            /** @description What an invitation offers. */
            data: {
                /** @description Who is invited. */
                email: string;
                /** @description ISO 8601. */
                expiresAt: string;
                /** @description Name of the organization. */
                organizationName: string;
                /** @description Role in the organization. */
                role: components["schemas"]["Role"];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_LoopDetail: {
            /** @description A loop with what only its own page shows. */
            data: components["schemas"]["LoopRecord"] & {
                /**
                 * @description What its desktop told about the end of its process: `stderrTail`, `logTail`, `exitCode`, `exitSignal`,
                 *     `elapsedMs`, `abortReason`, `spawnMeta`, …
                 */
                diagnostics?: {
                    [key: string]: unknown;
                } | null;
                /** @description Branch of the primary repository. */
                primaryBranch?: string | null;
                primaryPullRequest?: components["schemas"]["SuccessEntry"] | null;
                producedDocument?: components["schemas"]["LoopDocument"] | null;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_LoopStarted: {
            /** @description Id and status, the answer of everything that starts a loop. */
            data: {
                /**
                 * Format: uuid
                 * @description Id.
                 */
                loopId: string;
                /** @description Its status. */
                status: components["schemas"]["LoopStatus"];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Me: {
            /** @description The person who asks. */
            data: {
                /** @description Picture. */
                avatarUrl?: string | null;
                /** @description Where pages of the code host are opened, when not at `https://github.com`. */
                codeHostUrl?: string | null;
                /** @description E-mail address. */
                email: string;
                /** @description First name. */
                firstName?: string | null;
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description Last name. */
                lastName?: string | null;
                /** @description The organization that the request is about. */
                organization: components["schemas"]["OrganizationView"];
                /** @description What the person may do. */
                role: components["schemas"]["Role"];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Member: {
            /** @description A member. */
            data: {
                /** @description Whether the member may sign in, and its keys count. */
                active: boolean;
                /** @description Picture. */
                avatarUrl?: string | null;
                /** @description ISO 8601. */
                createdAt: string;
                /** @description E-mail address. */
                email: string;
                /** @description First name. */
                firstName?: string | null;
                /**
                 * Format: uuid
                 * @description Id of the user.
                 */
                id: string;
                /** @description Last name. */
                lastName?: string | null;
                /** @description Role in the organization. */
                role: components["schemas"]["Role"];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Option_HealthCheckSnapshot: {
            data: null | {
                /** @description Whether everything that loops need is as it must be. */
                allRequiredPassed: boolean;
                /** @description ISO 8601. */
                checkedAt: string;
                /**
                 * Format: uuid
                 * @description The desktop.
                 */
                computeTargetId: string;
                /** @description ISO 8601. */
                createdAt: string;
                /** @description The server that was looked for. */
                expectedMcpUrl?: string | null;
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description The newest version that is known. */
                latestVersion?: string | null;
                /**
                 * Format: uuid
                 * @description Organization of the desktop.
                 */
                organizationId: string;
                /** @description Whether plugins are updated by themselves. */
                pluginAutoUpdateEnabled?: boolean | null;
                /** @description What is not. */
                requiredFailureIds: string[];
                /** @description What it found. */
                result: components["schemas"]["HealthCheckResult"];
                /**
                 * Format: int32
                 * @description Version of this shape.
                 */
                schemaVersion: number;
                /** @description ISO 8601. */
                updatedAt: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_OrganizationSettings: {
            /** @description Settings of an organization. */
            data: {
                /**
                 * Format: int64
                 * @description Loops of one person that may be active at once, from 1; 10 when left out.
                 * @default null
                 */
                maxConcurrentLoops: number | null;
                /**
                 * @description What loops may spend.
                 * @default {}
                 */
                spendingLimits: components["schemas"]["SpendingLimits"];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_PasswordChanged: {
            /** @description What changing a password answers. */
            data: {
                /** @description Name of the account. */
                signInEmail: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_PublicKeyRecord: {
            /** @description A key. */
            data: {
                /** @description ISO 8601. */
                createdAt: string;
                /** @description `lg:` and 22 characters. */
                fingerprint: string;
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /**
                 * Format: uuid
                 * @description Their organization.
                 */
                organizationId: string;
                /** @description Raw Ed25519 key, standard base64. */
                publicKeyBase64: string;
                /**
                 * Format: uuid
                 * @description Its owner.
                 */
                userId: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_PublicKeyRemoved: {
            /** @description Whether a key was removed. */
            data: {
                /** @description `false` when there was no such key. */
                deleted: boolean;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_ReceivedView: {
            /** @description Whether an event was taken in. */
            data: {
                /** @description The loop has ended; nothing was changed. */
                ignored?: boolean | null;
                /** @description Always `true`. */
                received: boolean;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_RefreshResponse: {
            /** @description A new token. */
            data: {
                /** @description ISO 8601. */
                expiresAt: string;
                /**
                 * Format: uuid
                 * @description Its slot.
                 */
                jti: string;
                /** @description The token. */
                token: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_RegisteredTarget: {
            /** @description A desktop that is registered. */
            data: {
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description Always `true`. */
                isOnline: boolean;
                /** @description Host name. */
                machineName: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_RuntimeView: {
            /** @description How the connection to a loop's runner is, for administrators. The token itself is in no answer. */
            data: {
                /**
                 * Format: uuid
                 * @description Slot of the token in force.
                 */
                activeTokenJti?: string | null;
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description When the runner was heard of, ISO 8601. */
                lastRunnerHeartbeatAt?: string | null;
                /** @description What the runner can do. */
                runnerCapabilities: components["schemas"]["RunnerCapabilities"];
                /** @description Its status. */
                status: components["schemas"]["LoopStatus"];
                /** @description End of the runner's token, ISO 8601. */
                tokenExpiresAt?: string | null;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_SharedTarget: {
            /** @description Whether a desktop is shared. */
            data: {
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description Whether all members of the organization may send work to it. */
                isSharedWithOrg: boolean;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_SignedIn: {
            /** @description A person who has just signed in. */
            data: components["schemas"]["Me"] & {
                /** @description To be sent as `X-Session-Key` with every request; the session cookie counts only beside it. */
                sessionKey: string;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_SignedUrls: {
            /** @description Keys and their URLs. */
            data: {
                /** @description One for each key. */
                urls: components["schemas"]["SignedUrl"][];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_SignInMethods: {
            /** @description How people sign in here. */
            data: {
                /** @description Name of the OpenID provider at `/auth/oidc/start`, when there is one. */
                oidc?: string | null;
                /** @description Whether there are local accounts, with e-mail address and password. */
                password: boolean;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_SignOutResponse: {
            /** @description What signing out answers. */
            data: {
                /** @description Always `true`. */
                signedOut: boolean;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_StoredObject: {
            /** @description Whether the file was kept. */
            data: {
                /** @description Always `true`. */
                stored: boolean;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_TicketDetail: {
            /** @description A ticket with its text and what has come of it. */
            data: components["schemas"]["TicketRecord"] & {
                /** @description Markdown. */
                body: string;
                /** @description Its document; loops are started from it. */
                document: components["schemas"]["LoopDocument"];
                /** @description Loops about it or its plan, newest first. */
                loops: components["schemas"]["LoopRecord"][];
                plan?: components["schemas"]["LoopDocument"] | null;
                /** @description Pull requests of those loops, newest first. */
                pullRequests: components["schemas"]["PullRequest"][];
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_UploadResponse: {
            /** @description Whether the upload was kept. */
            data: {
                /** @description Always `true`. */
                stored: boolean;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Usage: {
            /** @description Use of an organization. */
            data: {
                /** @description By command. */
                byCommand: components["schemas"]["CommandUsage"][];
                /** @description By day, the earliest first; days without loops are left out. */
                byDay: components["schemas"]["DayUsage"][];
                /** @description By person. */
                byUser: components["schemas"]["UserUsage"][];
                /**
                 * Format: int64
                 * @description Tokens written to the assistant's cache, where the models tell.
                 */
                totalCacheCreationTokens: number;
                /**
                 * Format: int64
                 * @description Tokens read from it.
                 */
                totalCacheReadTokens: number;
                /**
                 * Format: double
                 * @description US dollars.
                 */
                totalEstimatedCost: number;
                /**
                 * Format: int64
                 * @description Number of loops.
                 */
                totalLoops: number;
                /**
                 * Format: int64
                 * @description Input tokens.
                 */
                totalTokensInput: number;
                /**
                 * Format: int64
                 * @description Output tokens.
                 */
                totalTokensOutput: number;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_ApiKeyRecord: {
            data: {
                /** @description ISO 8601. */
                createdAt: string;
                /** @description ISO 8601. */
                expiresAt?: string | null;
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description What every key begins with. */
                keyPrefix: string;
                /** @description ISO 8601. */
                lastUsedAt?: string | null;
                /** @description Its name. */
                name: string;
                /**
                 * Format: uuid
                 * @description Its organization.
                 */
                organizationId: string;
                /** @description ISO 8601. */
                revokedAt?: string | null;
                /** @description What it may be used for. */
                scopes: components["schemas"]["Scope"][];
                /**
                 * Format: uuid
                 * @description Its owner.
                 */
                userId: string;
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_CommandEventRecord: {
            data: {
                /**
                 * Format: uuid
                 * @description The command.
                 */
                commandId: string;
                /** @description ISO 8601. */
                createdAt: string;
                /** @description Its content. */
                data: unknown;
                /** @description Its kind. */
                eventType: components["schemas"]["EventType"];
                /**
                 * Format: int64
                 * @description From 1, without gaps.
                 */
                sequence: number;
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_CommandRecord: {
            data: {
                /**
                 * Format: uuid
                 * @description Id.
                 */
                commandId: string;
                /**
                 * Format: uuid
                 * @description The desktop.
                 */
                computeTargetId: string;
                /** @description ISO 8601. */
                createdAt: string;
                /** @description Why it failed. */
                error?: string | null;
                /** @description ISO 8601. */
                finishedAt?: string | null;
                /** @description As it was given. */
                idempotencyKey?: string | null;
                /**
                 * Format: int64
                 * @description Number of its last event.
                 */
                lastSequenceAcked: number;
                /** @description Its operation. */
                operationId: string;
                /** @description ISO 8601. */
                startedAt?: string | null;
                /** @description Its status. */
                status: components["schemas"]["CommandStatus"];
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_ComputeTarget: {
            data: {
                /**
                 * Format: int64
                 * @description Commands that run.
                 */
                activeCommands?: number | null;
                /**
                 * @description Open object: versions, limits, what the desktop supports, and `gatewayPort`, where pages on its
                 *     machine reach its gateway.
                 */
                capabilities: {
                    [key: string]: unknown;
                };
                /** @description ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Stable id of the installation.
                 */
                gatewayId?: string | null;
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description Whether it is connected. */
                isOnline: boolean;
                /** @description Whether all members of the organization may send work to it. */
                isSharedWithOrg: boolean;
                /** @description ISO 8601. */
                lastSeenAt: string;
                /** @description Host name. */
                machineName: string;
                /**
                 * Format: uuid
                 * @description Its organization.
                 */
                organizationId: string;
                /** @description Set for desktops of other users. */
                ownerName?: string | null;
                /** @description `darwin`, `linux` or `win32`. */
                platform: string;
                /**
                 * Format: int64
                 * @description Commands that wait.
                 */
                queueDepth?: number | null;
                /** @description How it is protected. */
                security: components["schemas"]["TargetSecurity"];
                /** @description Which provider runs its loops. */
                selectedHarness: components["schemas"]["Harness"];
                /** @description What the control plane does for it. */
                serverCapabilities?: components["schemas"]["ServerCapabilities"];
                /** @description `online`, `degraded` or `paused`, as it said itself. */
                state?: string | null;
                /** @description Operation ids that it serves. */
                supportedOperations: string[];
                /** @description ISO 8601. */
                updatedAt: string;
                /**
                 * Format: uuid
                 * @description Its owner.
                 */
                userId: string;
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_DocumentRecord: {
            data: {
                /** @description ISO 8601. */
                createdAt: string;
                /**
                 * Format: int64
                 * @description Number of the present version, from 1.
                 */
                currentVersion: number;
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                repo?: components["schemas"]["RepoRef"] | null;
                /** @description Slug, for example `plan-7`; unique in the organization. */
                slug: string;
                /**
                 * Format: uuid
                 * @description The document from which it was made.
                 */
                sourceDocumentId?: string | null;
                /** @description Its status. */
                status: components["schemas"]["DocumentStatus"];
                /** @description Title. */
                title: string;
                /** @description Kind. */
                type: components["schemas"]["ArtifactType"];
                /** @description ISO 8601. */
                updatedAt: string;
                /**
                 * Format: uuid
                 * @description Who made it.
                 */
                userId: string;
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_DocumentVersion: {
            data: {
                /** @description Markdown. */
                content: string;
                /** @description ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description The loop that wrote it.
                 */
                loopId?: string | null;
                /** @description The whole plan object, when the text was taken from one. */
                raw?: {
                    [key: string]: unknown;
                } | null;
                /**
                 * Format: int64
                 * @description From 1.
                 */
                version: number;
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_Invitation: {
            data: {
                /** @description ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description User who invited.
                 */
                createdBy: string;
                /** @description Who is invited. */
                email: string;
                /** @description ISO 8601; seven days later. */
                expiresAt: string;
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description Role in the organization. */
                role: components["schemas"]["Role"];
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_ListedPublicKey: {
            data: (components["schemas"]["PublicKeyRecord"] & {
                /** @description E-mail address of its owner. */
                ownerEmail: string;
                /** @description Name of its owner. */
                ownerName: string;
                targetContext?: components["schemas"]["KeyTargetContext"] | null;
            })[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_LoopRecord: {
            data: {
                /** @description The peers. */
                additionalRepos?: components["schemas"]["RepoRef"][] | null;
                /** @description Names worktree and branch. */
                artifactSlug?: string | null;
                /** @description Branch of the work. */
                branchName?: string | null;
                /** @description What it does. */
                command: components["schemas"]["LoopCommand"];
                /** @description ISO 8601. */
                completedAt?: string | null;
                computeTarget?: components["schemas"]["LoopTarget"] | null;
                /**
                 * Format: uuid
                 * @description The desktop that runs it.
                 */
                computeTargetId?: string | null;
                /** @description Id of the desktop command that launched it. */
                containerId?: string | null;
                /** @description Documents handed along. */
                contextRefs?: {
                    [key: string]: unknown;
                }[] | null;
                /** @description ISO 8601. */
                createdAt: string;
                document?: components["schemas"]["LoopDocument"] | null;
                /**
                 * Format: uuid
                 * @description What it is about.
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
                 * @description US dollars.
                 */
                estimatedCost?: number | null;
                /** @description Which provider runs it. */
                harness: components["schemas"]["Harness"];
                /**
                 * Format: uuid
                 * @description Id.
                 */
                id: string;
                /** @description Open object: `warnings`, `verdict`, `apiKeySource`, and what the runner uploaded. */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * Format: uuid
                 * @description Its organization.
                 */
                organizationId: string;
                /**
                 * Format: uuid
                 * @description The loop whose work it continues.
                 */
                parentLoopId?: string | null;
                /**
                 * Format: int64
                 * @description Its number.
                 */
                prNumber?: number | null;
                /** @description The wish. */
                prompt?: string | null;
                /** @description Pull request of the primary repository. */
                prUrl?: string | null;
                repo?: components["schemas"]["RepoRef"] | null;
                /** @description The outcome of each repository, for v1 and v2 completions. */
                results?: components["schemas"]["ResultEntry"][] | null;
                /** @description Where its files are in the object store. */
                s3StateKey?: string | null;
                /** @description The assistant's session. */
                sessionId?: string | null;
                /** @description ISO 8601. */
                startedAt?: string | null;
                /** @description Its status. */
                status: components["schemas"]["LoopStatus"];
                /** @description Tokens a model. */
                tokensByModel?: {
                    [key: string]: components["schemas"]["ModelTokens"];
                } | null;
                /**
                 * Format: int64
                 * @description Input tokens so far.
                 */
                tokensInput: number;
                /**
                 * Format: int64
                 * @description Output tokens so far.
                 */
                tokensOutput: number;
                /** @description ISO 8601. */
                updatedAt: string;
                /** @description What the runner uploaded: `plan`, `executionResult`, `verdict`, … */
                uploadedArtifacts?: {
                    [key: string]: unknown;
                } | null;
                user?: components["schemas"]["LoopUser"] | null;
                /**
                 * Format: uuid
                 * @description Who started it.
                 */
                userId: string;
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_Member: {
            data: {
                /** @description Whether the member may sign in, and its keys count. */
                active: boolean;
                /** @description Picture. */
                avatarUrl?: string | null;
                /** @description ISO 8601. */
                createdAt: string;
                /** @description E-mail address. */
                email: string;
                /** @description First name. */
                firstName?: string | null;
                /**
                 * Format: uuid
                 * @description Id of the user.
                 */
                id: string;
                /** @description Last name. */
                lastName?: string | null;
                /** @description Role in the organization. */
                role: components["schemas"]["Role"];
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_Membership: {
            data: {
                /**
                 * Format: uuid
                 * @description Id of the organization.
                 */
                id: string;
                /** @description Name. */
                name: string;
                /** @description Role of the person there. */
                role: components["schemas"]["Role"];
                /** @description First segment of the web app's paths, and value of `X-Org-Slug`. */
                slug: string;
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_SessionRecord: {
            data: {
                /** @description Where the sign-in came from. */
                address?: string | null;
                /** @description ISO 8601. */
                createdAt: string;
                /** @description Whether this request came with it. */
                current: boolean;
                /** @description ISO 8601; use moves it. */
                expiresAt: string;
                /** @description Names the session; signs nobody in. */
                id: string;
                /** @description ISO 8601; up to five minutes late. */
                lastUsedAt: string;
                /** @description What the browser calls itself. */
                userAgent?: string | null;
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_Vec_TicketRecord: {
            data: {
                /** @description The peers. */
                additionalRepos: components["schemas"]["RepoRef"][];
                /** @description ISO 8601. */
                createdAt: string;
                /**
                 * Format: uuid
                 * @description Id; also that of its document.
                 */
                id: string;
                repo?: components["schemas"]["RepoRef"] | null;
                /** @description `ticket-7`; unique in the organization, and the ticket id of the gateway's routes. */
                slug: string;
                /** @description Whether its work is still wanted. */
                state: components["schemas"]["TicketState"];
                /** @description Title. */
                title: string;
                /** @description ISO 8601. */
                updatedAt: string;
                /**
                 * Format: uuid
                 * @description Who made it.
                 */
                userId: string;
            }[];
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description `{"success": true, "data": …}`. */
        Data_VerifyResponse: {
            /** @description A challenge that is good. */
            data: {
                /** @description ISO 8601. */
                challengeExpiresAt: string;
                /** @description Always `true`. */
                ok: boolean;
                /**
                 * Format: int64
                 * @description Seconds that the gateway's session may live.
                 */
                sessionTtlSeconds: number;
            };
            /**
             * @description Always `true`.
             * @example true
             */
            success: boolean;
        };
        /** @description Use of the loops that were made on one day. */
        DayUsage: {
            /** @description In UTC, for example `2026-11-27`. */
            day: string;
            /**
             * Format: double
             * @description US dollars.
             */
            estimatedCost: number;
            /**
             * Format: int64
             * @description Number of loops.
             */
            loopCount: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            tokensInput: number;
            /**
             * Format: int64
             * @description Output tokens.
             */
            tokensOutput: number;
        };
        /** @description Answer of a deletion. */
        DeleteResponse: {
            /** @description Always `true`. */
            deleted: boolean;
        };
        /** @description A document with its text and what has come of it. */
        DocumentDetail: components["schemas"]["DocumentRecord"] & {
            /** @description The present text. */
            content: string;
            /** @description Loops about it, newest first. */
            loops: components["schemas"]["LoopRecord"][];
            plan?: components["schemas"]["LoopDocument"] | null;
            /** @description Pull requests of those loops, newest first. */
            pullRequests: components["schemas"]["PullRequest"][];
            /** @description The whole plan object of the present text, when there is one. */
            raw?: {
                [key: string]: unknown;
            } | null;
            source?: components["schemas"]["LoopDocument"] | null;
            /** @description All versions, newest first. */
            versions: components["schemas"]["DocumentVersion"][];
        };
        /**
         * @description Kinds of documents that people write; plans come from loops.
         * @enum {string}
         */
        DocumentKind: "FEATURE" | "PRD";
        /** @description One of these loops. */
        DocumentLoop: {
            childSubtype?: components["schemas"]["ArtifactType"] | null;
            /** @description What it does. */
            command: components["schemas"]["LoopCommand"];
            /** @description ISO 8601. */
            completedAt?: string | null;
            /** @description ISO 8601. */
            failedAt?: string | null;
            /** @description Whether it is about the document in question itself. */
            isDirectLoop: boolean;
            /** @description Whether a desktop runs it. */
            isLocal: boolean;
            /**
             * Format: uuid
             * @description Id.
             */
            loopId: string;
            /** @description ISO 8601. */
            startedAt?: string | null;
            /** @description Its status. */
            status: components["schemas"]["LoopStatus"];
            /** @description ISO 8601. */
            updatedAt: string;
            user?: components["schemas"]["LoopUser"] | null;
        };
        /** @description A document without its text. */
        DocumentRecord: {
            /** @description ISO 8601. */
            createdAt: string;
            /**
             * Format: int64
             * @description Number of the present version, from 1.
             */
            currentVersion: number;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description Slug, for example `plan-7`; unique in the organization. */
            slug: string;
            /**
             * Format: uuid
             * @description The document from which it was made.
             */
            sourceDocumentId?: string | null;
            /** @description Its status. */
            status: components["schemas"]["DocumentStatus"];
            /** @description Title. */
            title: string;
            /** @description Kind. */
            type: components["schemas"]["ArtifactType"];
            /** @description ISO 8601. */
            updatedAt: string;
            /**
             * Format: uuid
             * @description Who made it.
             */
            userId: string;
        };
        /**
         * @description Status of a document.
         * @enum {string}
         */
        DocumentStatus: "DRAFT" | "IN_REVIEW" | "CHANGES_REQUESTED" | "APPROVED" | "EXECUTED" | "OBSOLETE";
        /** @description Loops of one document and of the documents that were made from it. */
        DocumentSummary: {
            activeLoop?: components["schemas"]["DocumentLoop"] | null;
            latestCompleted?: components["schemas"]["DocumentLoop"] | null;
            latestFailed?: components["schemas"]["DocumentLoop"] | null;
        };
        /** @description One state of a document's text. */
        DocumentVersion: {
            /** @description Markdown. */
            content: string;
            /** @description ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description The loop that wrote it.
             */
            loopId?: string | null;
            /** @description The whole plan object, when the text was taken from one. */
            raw?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description From 1.
             */
            version: number;
        };
        /** @description Files that are to be downloaded. */
        DownloadUrls: {
            /** @description Within the loop's or its parent's prefix. */
            prefix: string;
        };
        /** @description All events or an increment as a list, a page as a page. */
        EventList: components["schemas"]["StoredEvent"][] | components["schemas"]["EventPage"];
        /** @description A page of events. */
        EventPage: {
            /** @description The events. */
            data: components["schemas"]["StoredEvent"][];
            /**
             * Format: int64
             * @description Number of events that fit, on all pages.
             */
            total: number;
        };
        /**
         * @description Kind of a command's event.
         * @enum {string}
         */
        EventType: "status" | "chunk" | "result" | "error" | "done";
        /** @description The body for the desktop's gateway. */
        ExecutionCredentials: {
            /** @description The loop. */
            loopId: string;
        } & {
            [key: string]: unknown;
        };
        /** @description For which command. */
        ExecutionCredentialsRequest: {
            /**
             * Format: uuid
             * @description The signed command that the desktop has received.
             */
            commandId: string;
        };
        /** @description Body of every failure, except those of the desktop's onboarding. */
        Failure: {
            /** @description Stable identifier of the case. */
            code: string;
            /** @description The conflicting resource, for a conflict that a client can resolve. */
            data?: Record<string, never> | null;
            /** @description Members that the case lists; `issues` for a body that does not fit. */
            details?: Record<string, never> | null;
            /** @description What went wrong, for a person. */
            error: string;
            /**
             * @description Always `false`.
             * @example false
             */
            success: boolean;
        };
        /** @description Where the switches stand. */
        FeatureFlags: {
            /** @description By key. */
            flags: {
                [key: string]: boolean;
            };
        };
        /** @description Peers for which tokens are wanted. */
        GithubTokenRequest: {
            /** @description Some of the loop's peers, at most 5; all when left out. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
        };
        /** @description A token for each repository, good for an hour. */
        GithubTokens: {
            /** @description For the peers. */
            additionalRepoTokens: components["schemas"]["RepoToken"][];
            /** @description For the primary repository. */
            token: string;
        };
        /**
         * @description Provider that runs a loop.
         * @enum {string}
         */
        Harness: "assistant" | "reviewer";
        /** @description One check. */
        HealthCheckEntry: {
            /** @description For whoever helps. */
            debug?: string | null;
            /** @description Whether plugins were to be enabled. */
            enableAttempted?: boolean | null;
            enableOutcome?: components["schemas"]["AttemptOutcome"] | null;
            /** @description Which plugins. */
            enablePluginIds?: string[] | null;
            /** @description What is wrong. */
            error?: string | null;
            /** @description What is checked. */
            id: string;
            /** @description The same for a person. */
            label: string;
            /** @description Whether it is as it must be. */
            passed: boolean;
            /** @description What to do. */
            remediation?: string | null;
            /** @description Where a person finds help. */
            remediationLinks?: components["schemas"]["RemediationLink"][] | null;
            /** @description Whether loops need it. */
            required: boolean;
            /** @description Whether plugins were to be updated. */
            updateAttempted?: boolean | null;
            updateOutcome?: components["schemas"]["AttemptOutcome"] | null;
            /** @description Which plugins. */
            updatePluginIds?: string[] | null;
            /** @description Version that was found. */
            version?: string | null;
        };
        /** @description What a check found. */
        HealthCheckResult: {
            /** @description Whether everything that loops need is as it must be. */
            allRequiredPassed: boolean;
            /** @description At most 100. */
            checks: components["schemas"]["HealthCheckEntry"][];
            /** @description By program: `assistant`, `reviewer`. */
            mcpServers?: {
                [key: string]: components["schemas"]["McpServerCheck"];
            } | null;
        };
        /** @description The last check of a desktop. */
        HealthCheckSnapshot: {
            /** @description Whether everything that loops need is as it must be. */
            allRequiredPassed: boolean;
            /** @description ISO 8601. */
            checkedAt: string;
            /**
             * Format: uuid
             * @description The desktop.
             */
            computeTargetId: string;
            /** @description ISO 8601. */
            createdAt: string;
            /** @description The server that was looked for. */
            expectedMcpUrl?: string | null;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description The newest version that is known. */
            latestVersion?: string | null;
            /**
             * Format: uuid
             * @description Organization of the desktop.
             */
            organizationId: string;
            /** @description Whether plugins are updated by themselves. */
            pluginAutoUpdateEnabled?: boolean | null;
            /** @description What is not. */
            requiredFailureIds: string[];
            /** @description What it found. */
            result: components["schemas"]["HealthCheckResult"];
            /**
             * Format: int32
             * @description Version of this shape.
             */
            schemaVersion: number;
            /** @description ISO 8601. */
            updatedAt: string;
        };
        /** @description What a heartbeat came to. */
        Heartbeat: {
            /** @description `false` when the last one is younger than four and a half minutes. */
            bumped: boolean;
            /** @description End of the new token, ISO 8601. */
            expiresAt?: string | null;
            /**
             * Format: uuid
             * @description Slot of the new token.
             */
            jti?: string | null;
            /**
             * @description The token of the request is replaced: the loop had been given up, or its desktop asked with its
             *     own key.
             */
            revived?: boolean | null;
            /** @description The new token, with `revived` only. */
            token?: string | null;
        };
        /** @description Whether a heartbeat was noted. */
        HeartbeatResponse: {
            /** @description Always `true`. */
            ok: boolean;
        };
        /** @description A file or directory that was not delivered. */
        HeldBackFile: {
            /** @description Path in the repository; a directory ends with a slash. */
            path: string;
            /** @description Why. */
            reason: components["schemas"]["HeldBackReason"];
        };
        /**
         * @description Why something is held back.
         * @enum {string}
         */
        HeldBackReason: "secret" | "generated";
        /** @description An agent after a roster was taken over. */
        IngestedAgent: components["schemas"]["AgentSummary"] & {
            /** @description What the roster did to it. */
            status: components["schemas"]["RosterOutcome"];
        };
        /** @description What a roster did. */
        IngestReport: {
            /** @description Each role of the request. */
            agents: components["schemas"]["IngestedAgent"][];
            /** @description How many agents were made. */
            created: number;
            /** @description How many were the same. */
            unchanged: number;
            /** @description How many have a new version. */
            updated: number;
        };
        /** @description An open invitation. */
        Invitation: {
            /** @description ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description User who invited.
             */
            createdBy: string;
            /** @description Who is invited. */
            email: string;
            /** @description ISO 8601; seven days later. */
            expiresAt: string;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Role in the organization. */
            role: components["schemas"]["Role"];
        };
        /** @description What an invitation offers. */
        InvitationPreview: {
            /** @description Who is invited. */
            email: string;
            /** @description ISO 8601. */
            expiresAt: string;
            /** @description Name of the organization. */
            organizationName: string;
            /** @description Role in the organization. */
            role: components["schemas"]["Role"];
        };
        /** @description The token of an invitation. */
        InvitationToken: {
            /** @description The token. */
            token: string;
        };
        /** @description The desktop that a list is about. */
        KeyTargetContext: {
            /** @description `owned_target`. */
            access: string;
            /**
             * Format: uuid
             * @description Its id.
             */
            computeTargetId: string;
            /**
             * Format: uuid
             * @description Stable id of its installation.
             */
            gatewayId?: string | null;
        };
        /** @description A key with its owner. */
        ListedPublicKey: components["schemas"]["PublicKeyRecord"] & {
            /** @description E-mail address of its owner. */
            ownerEmail: string;
            /** @description Name of its owner. */
            ownerName: string;
            targetContext?: components["schemas"]["KeyTargetContext"] | null;
        };
        /**
         * @description A loop command.
         * @enum {string}
         */
        LoopCommand: "PLAN" | "EXECUTE" | "REQUEST_CHANGES" | "REQUEST_PRD_CHANGES" | "GENERATE_PRD" | "DECOMPOSE" | "EVALUATE_PRD" | "EVALUATE_FEATURE" | "EVALUATE_PLAN" | "EVALUATE_CODE" | "BOOTSTRAP" | "CODE_REVIEW" | "CHAT" | "EXPLORE" | "MANUAL";
        /** @description A loop with what only its own page shows. */
        LoopDetail: components["schemas"]["LoopRecord"] & {
            /**
             * @description What its desktop told about the end of its process: `stderrTail`, `logTail`, `exitCode`, `exitSignal`,
             *     `elapsedMs`, `abortReason`, `spawnMeta`, …
             */
            diagnostics?: {
                [key: string]: unknown;
            } | null;
            /** @description Branch of the primary repository. */
            primaryBranch?: string | null;
            primaryPullRequest?: components["schemas"]["SuccessEntry"] | null;
            producedDocument?: components["schemas"]["LoopDocument"] | null;
        };
        /** @description The document that a loop is about. */
        LoopDocument: {
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Slug, for example `feature-3`. */
            slug: string;
            /** @description Title. */
            title: string;
            /** @description Kind. */
            type: components["schemas"]["ArtifactType"];
        };
        /** @description Why a loop did not end well. */
        LoopError: {
            /** @description One of the loop error codes, for example `PROCESS_FAILED`. */
            code: string;
            /** @description For a person. */
            message: string;
            /** @description Further facts, for example `{"subcode": …}`. */
            result?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A loop. */
        LoopRecord: {
            /** @description The peers. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
            /** @description Names worktree and branch. */
            artifactSlug?: string | null;
            /** @description Branch of the work. */
            branchName?: string | null;
            /** @description What it does. */
            command: components["schemas"]["LoopCommand"];
            /** @description ISO 8601. */
            completedAt?: string | null;
            computeTarget?: components["schemas"]["LoopTarget"] | null;
            /**
             * Format: uuid
             * @description The desktop that runs it.
             */
            computeTargetId?: string | null;
            /** @description Id of the desktop command that launched it. */
            containerId?: string | null;
            /** @description Documents handed along. */
            contextRefs?: {
                [key: string]: unknown;
            }[] | null;
            /** @description ISO 8601. */
            createdAt: string;
            document?: components["schemas"]["LoopDocument"] | null;
            /**
             * Format: uuid
             * @description What it is about.
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
             * @description US dollars.
             */
            estimatedCost?: number | null;
            /** @description Which provider runs it. */
            harness: components["schemas"]["Harness"];
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Open object: `warnings`, `verdict`, `apiKeySource`, and what the runner uploaded. */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @description Its organization.
             */
            organizationId: string;
            /**
             * Format: uuid
             * @description The loop whose work it continues.
             */
            parentLoopId?: string | null;
            /**
             * Format: int64
             * @description Its number.
             */
            prNumber?: number | null;
            /** @description The wish. */
            prompt?: string | null;
            /** @description Pull request of the primary repository. */
            prUrl?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description The outcome of each repository, for v1 and v2 completions. */
            results?: components["schemas"]["ResultEntry"][] | null;
            /** @description Where its files are in the object store. */
            s3StateKey?: string | null;
            /** @description The assistant's session. */
            sessionId?: string | null;
            /** @description ISO 8601. */
            startedAt?: string | null;
            /** @description Its status. */
            status: components["schemas"]["LoopStatus"];
            /** @description Tokens a model. */
            tokensByModel?: {
                [key: string]: components["schemas"]["ModelTokens"];
            } | null;
            /**
             * Format: int64
             * @description Input tokens so far.
             */
            tokensInput: number;
            /**
             * Format: int64
             * @description Output tokens so far.
             */
            tokensOutput: number;
            /** @description ISO 8601. */
            updatedAt: string;
            /** @description What the runner uploaded: `plan`, `executionResult`, `verdict`, … */
            uploadedArtifacts?: {
                [key: string]: unknown;
            } | null;
            user?: components["schemas"]["LoopUser"] | null;
            /**
             * Format: uuid
             * @description Who started it.
             */
            userId: string;
        };
        /** @description Id and status, the answer of everything that starts a loop. */
        LoopStarted: {
            /**
             * Format: uuid
             * @description Id.
             */
            loopId: string;
            /** @description Its status. */
            status: components["schemas"]["LoopStatus"];
        };
        /**
         * @description Status of a loop in the control plane.
         * @enum {string}
         */
        LoopStatus: "PENDING" | "CLAIMED" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED" | "TIMED_OUT" | "AWAITING_USER";
        /** @description The desktop that runs a loop. */
        LoopTarget: {
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Whether it is connected. */
            isOnline: boolean;
            /** @description Host name. */
            machineName: string;
        };
        /** @description The person behind a loop. */
        LoopUser: {
            /** @description Picture. */
            avatarUrl?: string | null;
            /** @description E-mail address. */
            email: string;
            /** @description First name. */
            firstName?: string | null;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Last name. */
            lastName?: string | null;
        };
        /** @description Whether a program has a server of the Model Context Protocol that was looked for. */
        McpServerCheck: {
            /** @description Whether it is there. */
            available: boolean;
            /** @description ISO 8601. */
            checkedAt: string;
            /** @description What is wrong. */
            error?: string | null;
            /** @description The URL by which it was found. */
            matchedUrl?: string | null;
            /** @description Its name. */
            serverName?: string | null;
        };
        /** @description The person who asks. */
        Me: {
            /** @description Picture. */
            avatarUrl?: string | null;
            /** @description Where pages of the code host are opened, when not at `https://github.com`. */
            codeHostUrl?: string | null;
            /** @description E-mail address. */
            email: string;
            /** @description First name. */
            firstName?: string | null;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Last name. */
            lastName?: string | null;
            /** @description The organization that the request is about. */
            organization: components["schemas"]["OrganizationView"];
            /** @description What the person may do. */
            role: components["schemas"]["Role"];
        };
        /** @description A member. */
        Member: {
            /** @description Whether the member may sign in, and its keys count. */
            active: boolean;
            /** @description Picture. */
            avatarUrl?: string | null;
            /** @description ISO 8601. */
            createdAt: string;
            /** @description E-mail address. */
            email: string;
            /** @description First name. */
            firstName?: string | null;
            /**
             * Format: uuid
             * @description Id of the user.
             */
            id: string;
            /** @description Last name. */
            lastName?: string | null;
            /** @description Role in the organization. */
            role: components["schemas"]["Role"];
        };
        /** @description An organization of the person. */
        Membership: {
            /**
             * Format: uuid
             * @description Id of the organization.
             */
            id: string;
            /** @description Name. */
            name: string;
            /** @description Role of the person there. */
            role: components["schemas"]["Role"];
            /** @description First segment of the web app's paths, and value of `X-Org-Slug`. */
            slug: string;
        };
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
        /** @description A one-time permission. */
        OnboardingAttempt: {
            /** @description ISO 8601. */
            expiresAt: string;
            /** @description 43 characters; the desktop's only credential. */
            onboardingAttemptId: string;
        };
        /** @description Body of a failure of these routes. */
        OnboardingFailure: {
            /** @description Stable identifier of the case. */
            code: string;
            /** @description Whether the same request may succeed later. */
            retryable: boolean;
        };
        /** @description Settings of an organization. */
        OrganizationSettings: {
            /**
             * Format: int64
             * @description Loops of one person that may be active at once, from 1; 10 when left out.
             * @default null
             */
            maxConcurrentLoops: number | null;
            /**
             * @description What loops may spend.
             * @default {}
             */
            spendingLimits: components["schemas"]["SpendingLimits"];
        };
        /** @description An organization. */
        OrganizationView: {
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Name. */
            name: string;
            /** @description First segment of the web app's paths. */
            slug: string;
        };
        /** @description What changing a password answers. */
        PasswordChanged: {
            /** @description Name of the account. */
            signInEmail: string;
        };
        /** @description E-mail address and password of a local account. */
        PasswordSignIn: {
            /** @description The address under which the account was made. */
            email: string;
            /**
             * Format: password
             * @description The password.
             */
            password: string;
        };
        /** @description Who did something. */
        PersonName: {
            /** @description Null when not known. */
            firstName?: string | null;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Null when not known. */
            lastName?: string | null;
        };
        /** @description A key. */
        PublicKeyRecord: {
            /** @description ISO 8601. */
            createdAt: string;
            /** @description `lg:` and 22 characters. */
            fingerprint: string;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /**
             * Format: uuid
             * @description Their organization.
             */
            organizationId: string;
            /** @description Raw Ed25519 key, standard base64. */
            publicKeyBase64: string;
            /**
             * Format: uuid
             * @description Its owner.
             */
            userId: string;
        };
        /** @description Whether a key was removed. */
        PublicKeyRemoved: {
            /** @description `false` when there was no such key. */
            deleted: boolean;
        };
        /** @description A pull request that a loop opened. */
        PullRequest: {
            /** @description Branch that it goes into. */
            baseBranch: string;
            /** @description Branch of the work. */
            branchName: string;
            /** @description ISO 8601. */
            createdAt: string;
            /** @description `<org>/<repo>`. */
            fullName: string;
            /**
             * Format: uuid
             * @description The loop that opened it.
             */
            loopId: string;
            /**
             * Format: int64
             * @description Number.
             */
            number: number;
            /** @description Title. */
            title: string;
            /** @description URL. */
            url: string;
        };
        /** @description A check that was made. */
        PutHealthCheck: {
            /** @description The server that was looked for. */
            expectedMcpUrl?: string | null;
            /** @description The newest version that is known. */
            latestVersion?: string | null;
            /** @description Whether plugins are updated by themselves. */
            pluginAutoUpdateEnabled?: boolean | null;
            /** @description What it found. */
            result: components["schemas"]["HealthCheckResult"];
        };
        /** @description Value of a query parameter. */
        QueryValue: string | string[];
        /** @description Whether an event was taken in. */
        ReceivedView: {
            /** @description The loop has ended; nothing was changed. */
            ignored?: boolean | null;
            /** @description Always `true`. */
            received: boolean;
        };
        /** @description A new token. */
        RefreshResponse: {
            /** @description ISO 8601. */
            expiresAt: string;
            /**
             * Format: uuid
             * @description Its slot.
             */
            jti: string;
            /** @description The token. */
            token: string;
        };
        /** @description A desktop that is registered. */
        RegisteredTarget: {
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Always `true`. */
            isOnline: boolean;
            /** @description Host name. */
            machineName: string;
        };
        /** @description A key to be registered. */
        RegisterPublicKey: {
            /** @description `lg:` and 22 characters. */
            fingerprint: string;
            /** @description Raw Ed25519 key, standard base64. */
            publicKeyBase64: string;
        };
        /** @description What a desktop says of itself. */
        RegisterTarget: {
            /** @description Open object. */
            capabilities?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: uuid
             * @description Stable id of the installation.
             */
            gatewayId?: string | null;
            /** @description 1 to 120 characters. */
            machineName: string;
            /** @description 1 to 80 characters. */
            platform: string;
            /** @description At most 120 characters. */
            pluginVersion?: string | null;
            /** @description Operation ids that it serves. */
            supportedOperations: string[];
        };
        /** @description Where a person finds help. */
        RemediationLink: {
            /** @description Text. */
            label: string;
            /** @description An https URL. */
            url: string;
        };
        /** @description A repository with the branch that a loop starts from. */
        RepoRef: {
            /** @description Branch to start from; empty for the repository's default branch. */
            branch?: string;
            /** @description `<org>/<repo>`. */
            fullName: string;
        };
        /**
         * @description What makes a repository known.
         * @enum {string}
         */
        RepositorySource: "installation" | "list" | "machine";
        /** @description The token for one repository. */
        RepoToken: {
            /** @description `owner/name`. */
            fullName: string;
            /** @description Reaches this repository only. */
            token: string;
        };
        /** @description What became of one repository. */
        ResultEntry: (components["schemas"]["SuccessEntry"] & {
            /** @enum {string} */
            status: "success";
        }) | {
            /** @description `<org>/<repo>`. */
            fullName: string;
            /** @description For example `no_changes`. */
            reason: string;
            /** @enum {string} */
            status: "skipped";
        } | {
            /** @description What went wrong, cleaned of secrets. */
            error: string;
            /** @description `<org>/<repo>`. */
            fullName: string;
            /** @enum {string} */
            status: "failed";
        };
        /** @description How a loop is taken up again. */
        ResumeLoop: {
            /**
             * Format: uuid
             * @description The desktop; left out, the best one that is online.
             */
            computeTargetId?: string | null;
            /** @description Instead of the earlier wish. */
            prompt?: string | null;
        };
        /**
         * @description Role of a member.
         * @enum {string}
         */
        Role: "org:admin" | "org:member";
        /** @description The agents of one repository. */
        Roster: {
            /** @description 1 to 100; of two with the same role the last one counts. */
            agents: components["schemas"]["RosterAgent"][];
            /** @description The run that wrote them. */
            bootstrapRunId: string;
            /** @description Its critic gates. */
            criticGates?: Record<string, never> | null;
            /** @description Their repository, `<org>/<repo>`. */
            sourceRepo: string;
        };
        /** @description One agent of a roster. */
        RosterAgent: {
            /** @description What it is for, at most 500 characters. */
            description?: string | null;
            /** @description Name for people, 1 to 200 characters. */
            name: string;
            /** @description Prompt, at least one character. */
            prompt: string;
            /** @description Role, 1 to 100 characters. */
            role: string;
        };
        /**
         * @description What a roster did to an agent.
         * @enum {string}
         */
        RosterOutcome: "created" | "updated" | "unchanged";
        /**
         * @description Commands that can be started from a document.
         * @enum {string}
         */
        RunCommand: "plan" | "execute" | "request_changes" | "request_prd_changes" | "decompose" | "evaluate_prd" | "generate_prd" | "evaluate_plan" | "evaluate_code" | "evaluate_feature" | "code_review";
        /** @description What is to be run. */
        RunLoop: {
            /** @description Peers, at most 5; left out, those of the ticket or of the earlier loops are taken. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
            /** @description Runs on another desktop than the work that is continued. */
            backendOverride?: boolean | null;
            /** @description The command. */
            command: components["schemas"]["RunCommand"];
            /**
             * Format: uuid
             * @description The desktop; left out, the best one that is online. `null` asks for a cloud.
             */
            computeTargetId?: string | null;
            /** @description The wish in plain words; at most 100 000 characters. */
            prompt?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
            userIntentSignature?: components["schemas"]["UserIntentSignature"] | null;
        };
        /** @description What a runner can do. */
        RunnerCapabilities: {
            /**
             * @description It says that it is alive.
             * @default false
             */
            loopRunnerHeartbeatSupported: boolean;
            /**
             * @description It exchanges its token before the end.
             * @default false
             */
            loopRunnerRefreshSupported: boolean;
        };
        /** @description How the connection to a loop's runner is, for administrators. The token itself is in no answer. */
        RuntimeView: {
            /**
             * Format: uuid
             * @description Slot of the token in force.
             */
            activeTokenJti?: string | null;
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description When the runner was heard of, ISO 8601. */
            lastRunnerHeartbeatAt?: string | null;
            /** @description What the runner can do. */
            runnerCapabilities: components["schemas"]["RunnerCapabilities"];
            /** @description Its status. */
            status: components["schemas"]["LoopStatus"];
            /** @description End of the runner's token, ISO 8601. */
            tokenExpiresAt?: string | null;
        };
        /**
         * @description What a key may be used for. No scope includes another.
         * @enum {string}
         */
        Scope: "read" | "write" | "delete" | "admin";
        /** @description The organization that a session is to be about. */
        SelectOrganization: {
            /** @description Slug of the organization. */
            slug: string;
        };
        /** @description What the control plane can do for this connection; only literal `true` counts. */
        ServerCapabilities: {
            /** @description Session synchronisation. */
            agentSessionSync?: boolean;
            /** @description Signed commands. */
            computeTargetSigning?: boolean;
        };
        /** @description A browser that is signed in. */
        SessionRecord: {
            /** @description Where the sign-in came from. */
            address?: string | null;
            /** @description ISO 8601. */
            createdAt: string;
            /** @description Whether this request came with it. */
            current: boolean;
            /** @description ISO 8601; use moves it. */
            expiresAt: string;
            /** @description Names the session; signs nobody in. */
            id: string;
            /** @description ISO 8601; up to five minutes late. */
            lastUsedAt: string;
            /** @description What the browser calls itself. */
            userAgent?: string | null;
        };
        /** @description What is preferred from now on. */
        SetComputePreference: {
            /**
             * Format: uuid
             * @description The preferred desktop; left out for any.
             */
            computeTargetId?: string | null;
            /** @description On a desktop or in a cloud. */
            mode: components["schemas"]["ComputeMode"];
            selectedHarness?: components["schemas"]["Harness"] | null;
        };
        /** @description Where a switch is to stand. */
        SetFlag: {
            /** @description On or off. */
            enabled: boolean;
        };
        /** @description Whether a desktop is shared. */
        SharedTarget: {
            /**
             * Format: uuid
             * @description Id.
             */
            id: string;
            /** @description Whether all members of the organization may send work to it. */
            isSharedWithOrg: boolean;
        };
        /** @description Whether a desktop is shared. */
        ShareTarget: {
            /** @description Whether all members of the organization may send work to it. */
            isSharedWithOrg: boolean;
        };
        /** @description A person who has just signed in. */
        SignedIn: components["schemas"]["Me"] & {
            /** @description To be sent as `X-Session-Key` with every request; the session cookie counts only beside it. */
            sessionKey: string;
        };
        /** @description A key and its URL. */
        SignedUrl: {
            /** @description The key. */
            key: string;
            /** @description Good for two hours. */
            url: string;
        };
        /** @description Keys and their URLs. */
        SignedUrls: {
            /** @description One for each key. */
            urls: components["schemas"]["SignedUrl"][];
        };
        /** @description A one-time sign-in link. */
        SignInLink: {
            /** @description The token of the link. */
            token: string;
        };
        /** @description How people sign in here. */
        SignInMethods: {
            /** @description Name of the OpenID provider at `/auth/oidc/start`, when there is one. */
            oidc?: string | null;
            /** @description Whether there are local accounts, with e-mail address and password. */
            password: boolean;
        };
        /** @description What signing out answers. */
        SignOutResponse: {
            /** @description Always `true`. */
            signedOut: boolean;
        };
        /** @description US dollars that loops may spend; no limit where one is left out. */
        SpendingLimits: {
            /**
             * Format: double
             * @description All loops of the organization on a day, in UTC.
             * @default null
             */
            perDayUsd: number | null;
            /**
             * Format: double
             * @description One loop.
             * @default null
             */
            perLoopUsd: number | null;
            /**
             * Format: double
             * @description All loops of the organization in a month, in UTC.
             * @default null
             */
            perMonthUsd: number | null;
        };
        /** @description Which repositories are to be known. */
        StartBootstrap: {
            /**
             * Format: uuid
             * @description The desktop; left out, the only one that is online.
             */
            computeTargetId?: string | null;
            options?: components["schemas"]["BootstrapOptions"] | null;
            /** @description 1 to 50. */
            repos: components["schemas"]["BootstrapRepository"][];
        };
        /** @description An event as it is stored, in flat form. */
        StoredEvent: {
            /**
             * Format: uuid
             * @description Id of the row; the stream sends it as the event's id.
             */
            id: string;
            /**
             * Format: int64
             * @description Position within the loop, from 1, without gaps.
             */
            sequence: number;
            /** @description ISO 8601. */
            storedAt: string;
            /**
             * @description `started`, `output`, `progress`, `tool_call`, `artifact_created`, `support_bundle_uploaded`,
             *     `completed`, `error`, `cancelled`; internal ones: `tokens_cleared`, `token_refreshed`.
             */
            type: string;
        } & {
            [key: string]: unknown;
        };
        /** @description Whether the file was kept. */
        StoredObject: {
            /** @description Always `true`. */
            stored: boolean;
        };
        /** @description A repository whose changes are in a pull request. */
        SuccessEntry: {
            /** @description Branch that it goes into. */
            baseBranch: string;
            /** @description Branch that was pushed. */
            branchName: string;
            /** @description Full hash of the pushed commit. */
            commitSha?: string | null;
            /** @description `<org>/<repo>`. */
            fullName: string;
            /** @description The code host's id of the pull request. */
            githubId?: string | null;
            /** @description Whether there are changes. */
            hasChanges: boolean;
            /** @description What was not delivered: secrets, dependencies, build output. */
            heldBack?: components["schemas"]["HeldBackFile"][];
            /**
             * Format: int64
             * @description Number of the pull request.
             */
            prNumber: number;
            /** @description Title of the pull request. */
            prTitle?: string | null;
            /** @description `https://github.com/<fullName>/pull/<prNumber>`. */
            prUrl: string;
            tests?: components["schemas"]["TestEvidence"] | null;
        };
        /** @description Documents whose loops are wanted. */
        SummariesQuery: {
            /** @description 1 to 100 ids. */
            documentIds: string[];
        };
        /** @description How a desktop is protected. */
        TargetSecurity: {
            /** @description `BOUND_DESKTOP_MANAGED_KEY`, `NO_BOUND_MANAGED_KEY` or `MISSING_GATEWAY_ID`. */
            reason: string;
            /** @description `protected` or `legacy_manual`. */
            status: string;
            /** @description Whether it can be bettered from here. */
            upgradeSupported: boolean;
        };
        /** @description Numbers of tests. */
        TestCounts: {
            /**
             * Format: int64
             * @description Tests that failed.
             */
            failed: number;
            /**
             * Format: int64
             * @description Tests that passed.
             */
            passed: number;
            /**
             * Format: int64
             * @description Tests that were skipped.
             */
            skipped: number;
        };
        /** @description The tests of one repository, before and after a loop. */
        TestEvidence: {
            base?: components["schemas"]["TestRun"] | null;
            /** @description The command that was run, or that would be. */
            command?: string | null;
            /** @description Changes that make tests say less. Told, not judged. */
            flags?: components["schemas"]["TestFlag"][];
            head?: components["schemas"]["TestRun"] | null;
            /**
             * @description Names of tests that fail at the head and not at the base. Where the output names no tests, the command
             *     counts as the one test.
             */
            newFailures?: string[];
            /** @description Why the tests were not run, or not to their end, and what to do; for a person. */
            note?: string | null;
            /** @description What it comes to. */
            outcome: components["schemas"]["TestOutcome"];
        };
        /** @description A change that makes tests say less. */
        TestFlag: {
            /** @description The test, the line or the numbers. */
            detail: string;
            /** @description What was changed. */
            kind: components["schemas"]["TestFlagKind"];
            /** @description The file, where one is known. */
            path?: string | null;
        };
        /**
         * @description How tests were changed to say less.
         * @enum {string}
         */
        TestFlagKind: "file-deleted" | "test-removed" | "test-skipped" | "assertions-removed" | "command-changed";
        /**
         * @description What the tests come to.
         * @enum {string}
         */
        TestOutcome: "passed" | "failed-before" | "new-failures" | "not-run" | "inconclusive";
        /** @description One run of a test command in a clean worktree. */
        TestRun: {
            /** @description Full hash of the commit. */
            commit: string;
            counts?: components["schemas"]["TestCounts"] | null;
            /**
             * Format: int64
             * @description How long it took, in milliseconds.
             */
            durationMs: number;
            /** @description Why it could not be run to its end. */
            error?: string | null;
            /**
             * Format: int32
             * @description Exit code of the command; none when it did not end by itself.
             */
            exitCode?: number | null;
            /** @description Name of the log in the loop's work directory. */
            log: string;
        };
        /** @description A ticket with its text and what has come of it. */
        TicketDetail: components["schemas"]["TicketRecord"] & {
            /** @description Markdown. */
            body: string;
            /** @description Its document; loops are started from it. */
            document: components["schemas"]["LoopDocument"];
            /** @description Loops about it or its plan, newest first. */
            loops: components["schemas"]["LoopRecord"][];
            plan?: components["schemas"]["LoopDocument"] | null;
            /** @description Pull requests of those loops, newest first. */
            pullRequests: components["schemas"]["PullRequest"][];
        };
        /** @description A ticket without its text. */
        TicketRecord: {
            /** @description The peers. */
            additionalRepos: components["schemas"]["RepoRef"][];
            /** @description ISO 8601. */
            createdAt: string;
            /**
             * Format: uuid
             * @description Id; also that of its document.
             */
            id: string;
            repo?: components["schemas"]["RepoRef"] | null;
            /** @description `ticket-7`; unique in the organization, and the ticket id of the gateway's routes. */
            slug: string;
            /** @description Whether its work is still wanted. */
            state: components["schemas"]["TicketState"];
            /** @description Title. */
            title: string;
            /** @description ISO 8601. */
            updatedAt: string;
            /**
             * Format: uuid
             * @description Who made it.
             */
            userId: string;
        };
        /**
         * @description Whether a ticket's work is still wanted.
         * @enum {string}
         */
        TicketState: "open" | "closed";
        /** @description What is to change in an agent; what is left out stays. */
        UpdateAgent: {
            /** @description What is changed and why, at most 500 characters. Required with a name or a prompt. */
            changeNote?: string | null;
            /** @description What it is for, at most 500 characters; empty removes it. */
            description?: string | null;
            /** @description Whether loops get it. */
            enabled?: boolean | null;
            /** @description Name for people, 1 to 200 characters. */
            name?: string | null;
            /** @description Prompt, at least one character. */
            prompt?: string | null;
        };
        /** @description What is to be changed. */
        UpdateDocument: {
            status?: components["schemas"]["DocumentStatus"] | null;
            /** @description 1 to 200 characters. */
            title?: string | null;
        };
        /** @description What a person notes of a loop. Members that are left out stay as they are. */
        UpdateLoop: {
            /** @description Branch of the work. */
            branchName?: string | null;
            /** @description URL of the pull request, `http` or `https`, at most 2048 characters. */
            prUrl?: string | null;
            /** @description What was done, at most 10 000 characters; `summary` in the loop's metadata. */
            summary?: string | null;
        };
        /** @description What changes in a member; what is left out stays. */
        UpdateMember: {
            /** @description `false` ends the member's sessions and connections at once, and its keys count no longer. */
            active?: boolean | null;
            role?: components["schemas"]["Role"] | null;
        };
        /** @description What is to be changed; at least one member. */
        UpdateTarget: {
            /**
             * @description Open object.
             * @default null
             */
            capabilities: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: uuid
             * @description Stable id of the installation.
             * @default null
             */
            gatewayId: string | null;
            /**
             * @description 1 to 120 characters.
             * @default null
             */
            machineName: string | null;
            /**
             * @description 1 to 80 characters.
             * @default null
             */
            platform: string | null;
            /** @default null */
            selectedHarness: components["schemas"]["Harness"] | null;
            /**
             * @description Operation ids that it serves.
             * @default null
             */
            supportedOperations: string[] | null;
        };
        /** @description What is to be changed; what is left out stays. */
        UpdateTicket: {
            /** @description Other peers, at most 5. */
            additionalRepos?: components["schemas"]["RepoRef"][] | null;
            /** @description Markdown; a new version of the document. */
            body?: string | null;
            repo?: components["schemas"]["RepoRef"] | null;
            state?: components["schemas"]["TicketState"] | null;
            /** @description 1 to 200 characters. */
            title?: string | null;
        };
        /** @description What a run has made. */
        UploadArtifacts: {
            /** @description `plan`, `prd`, `executionResult`, `verdict`, … as JSON. */
            artifacts: {
                [key: string]: unknown;
            };
            /** @description Merged into the loop's metadata. */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description Whether the upload was kept. */
        UploadResponse: {
            /** @description Always `true`. */
            stored: boolean;
        };
        /** @description Files that are to be uploaded. */
        UploadUrls: {
            /** @description Keys that may be compressed. */
            gzipKeys?: string[];
            /** @description 1 to 500 keys below `<orgId>/loops/<loopId>/`. */
            keys: string[];
        };
        /** @description Use of an organization. */
        Usage: {
            /** @description By command. */
            byCommand: components["schemas"]["CommandUsage"][];
            /** @description By day, the earliest first; days without loops are left out. */
            byDay: components["schemas"]["DayUsage"][];
            /** @description By person. */
            byUser: components["schemas"]["UserUsage"][];
            /**
             * Format: int64
             * @description Tokens written to the assistant's cache, where the models tell.
             */
            totalCacheCreationTokens: number;
            /**
             * Format: int64
             * @description Tokens read from it.
             */
            totalCacheReadTokens: number;
            /**
             * Format: double
             * @description US dollars.
             */
            totalEstimatedCost: number;
            /**
             * Format: int64
             * @description Number of loops.
             */
            totalLoops: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            totalTokensInput: number;
            /**
             * Format: int64
             * @description Output tokens.
             */
            totalTokensOutput: number;
        };
        /** @description What a person signed instead of a whole command: the wish to start or end a loop. */
        UserIntentSignature: {
            /** @description The wish. */
            body: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @description UUID of version 7, chosen by the browser.
             */
            commandId: string;
            /** @description Fingerprint of the browser key. */
            publicKeyFingerprint: string;
            /** @description Ed25519, standard base64. */
            signature: string;
            /** @description The exact text that was signed. */
            signaturePayload: string;
        };
        /** @description Use of one person. */
        UserUsage: {
            /**
             * Format: double
             * @description US dollars.
             */
            estimatedCost: number;
            /**
             * Format: int64
             * @description Number of loops.
             */
            loopCount: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            tokensInput: number;
            /**
             * Format: int64
             * @description Output tokens.
             */
            tokensOutput: number;
            /** @description Picture. */
            userAvatarUrl?: string | null;
            /** @description E-mail address. */
            userEmail: string;
            /**
             * Format: uuid
             * @description Id.
             */
            userId: string;
            /** @description Name. */
            userName?: string | null;
        };
        /** @description What the gateway sends. */
        VerifyRequest: {
            /** @description The challenge. */
            challengeToken: string;
            /** @description Origin of the page that brought it. */
            requestOrigin: string;
            /** @description Program that brought it. */
            userAgent?: string | null;
        };
        /** @description A challenge that is good. */
        VerifyResponse: {
            /** @description ISO 8601. */
            challengeExpiresAt: string;
            /** @description Always `true`. */
            ok: boolean;
            /**
             * Format: int64
             * @description Seconds that the gateway's session may live.
             */
            sessionTtlSeconds: number;
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
    agents_list: {
        parameters: {
            query?: {
                /** @description Only those that loops get, or do not get. */
                enabled?: boolean;
                /** @description How many at most; all when left out. */
                limit?: number;
                /** @description How many are left out at the beginning. */
                offset?: number;
                /** @description Only those with this in their name or role, whatever its case; at most 200 characters. */
                search?: string;
                /** @description Only those of this repository; empty for those of the whole organization. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Only this action. */
                action?: components["schemas"]["AuditAction"];
                /** @description Only rows older than this one: `nextBefore` of the page before. */
                before?: string;
                /** @description 1 to 200; 50 when left out. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description The authorization code. */
                code?: string;
                /** @description What went wrong instead. */
                error?: string;
                /** @description The state of the sign-in. */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the sign-in page, with `token` or `error`. */
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
                /** @description Token of an invitation that is to be accepted. */
                invitation?: string;
                /** @description Path of the page to go on to, for example `/home/loops`. */
                returnTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the provider, or to the sign-in page with `error`. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Only those after it. */
                afterSequence?: number;
                /** @description Answers with server-sent events. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                    "text/plain": string;
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                    "text/plain": string;
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Only this kind. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                    "application/json": components["schemas"]["Data_Vec_DocumentVersion"];
                };
            };
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Id of a loop; only those that come after it in the list. Costs the same however far down the list it is. */
                after?: string;
                /** @description Only this command. */
                command?: components["schemas"]["LoopCommand"];
                /** @description Id or slug of a document. */
                documentId?: string;
                /** @description 1 to 200; 50 when left out. */
                limit?: number;
                /** @description How many to leave out. */
                offset?: number;
                /** @description Only this status. */
                status?: components["schemas"]["LoopStatus"];
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
                    "application/json": components["schemas"]["Data_Vec_LoopRecord"];
                };
            };
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description 1 to 500; 100 for a page, 500 for an increment. */
                limit?: number;
                /** @description For a page. */
                offset?: number;
                /** @description ISO 8601; answers what was stored after it. */
                since?: string;
                /** @description Id of the last event of that instant that is known. */
                sinceId?: string;
                /** @description For a page: `asc` or `desc`. */
                sort?: string;
                /** @description Only this type. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description One UUID per event, kept over all its tries */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
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
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
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
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
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
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Id of the last event that was read */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Only this command. */
                command?: components["schemas"]["LoopCommand"];
                /** @description ISO 8601 date or instant; those made until then. */
                endDate?: string;
                /** @description ISO 8601 date or instant; those made since. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description A desktop of one's own. */
                computeTargetId?: string;
                /** @description Stable id of its installation. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Its fingerprint. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Unix seconds. */
                exp: number;
                /** @description `GET` or `PUT`. */
                method: string;
                /** @description Base64url. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Unix seconds. */
                exp: number;
                /** @description `GET` or `PUT`. */
                method: string;
                /** @description Base64url. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
                /** @description Only those in this state. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
            /** @description The request does not fit. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No credential, or one that is not accepted. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not allowed. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Unknown, or another organization's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description In conflict with the present state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Failed here. */
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
