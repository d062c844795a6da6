"""Hooks of schemathesis for the control plane: credentials, ids of existing records, and a check of the
responses."""

import json
import os
import uuid

import schemathesis

from values import each, known_of, number_of

MADE = json.loads(os.environ["LOOPGATE_KNOWN"])
SESSION = MADE["session"]
LOOPS = [runner["id"] for runner in MADE["runners"]]
# Number of runners whose token is refreshed; the tokens of the others stay valid for reports.
REFRESHED = 2
NONE = "00000000-0000-4000-8000-000000000000"
KNOWN = {
    "id": [*LOOPS[:3], *MADE["targets"], NONE],
    "loopId": LOOPS,
    "documentId": [*MADE["documents"], NONE],
    "computeTargetId": [*MADE["targets"], NONE],
    "idOrSlug": [MADE["documents"][0], *MADE["agents"], *MADE["tickets"], NONE, "none"],
    "version": ["1", "2", "0", "99"],
    "fullName": [MADE["repository"], "acme/none", "acme"],
    "sourceRepo": [MADE["repository"], ""],
    "branch": ["main", "none", "--all"],
    "command": ["plan", "execute", "PLAN", "EXECUTE", "none"],
    "status": ["RUNNING", "COMPLETED", "none"],
    "owner": ["acme"],
    "key": ["mermaid-enhancements", "none", f"loops/{LOOPS[0]}/plan.md", "../other"],
    "origin": [MADE["origin"], "https://example.com"],
}
known = known_of(KNOWN)

TIME = "2030-01-01T00:00:00.000Z"
TOKENS = {"input": 10, "output": 5}
SUCCESS = {
    "status": "success", "fullName": MADE["repository"], "prUrl": "https://github.com/acme/shop/pull/7",
    "prNumber": 7, "branchName": "a-cart", "baseBranch": "main", "hasChanges": True,
}
# Events of runners. The OpenAPI document only defines that an event is an object.
EVENTS = [
    {"type": "started", "sessionId": "s", "timestamp": TIME},
    {"type": "output", "chunk": "A line.\n", "tokenUsage": {"inputTokens": 1, "outputTokens": 1}},
    {"type": "output", "data": {"chunk": "A line.\n", "timestamp": TIME}},
    {"type": "progress", "percent": 50, "stage": "plan", "timestamp": TIME},
    {"type": "tool_call", "tool": "Read", "status": "start", "input": {}, "timestamp": TIME},
    {"type": "artifact_created", "artifactId": "a", "artifactType": "PLAN", "timestamp": TIME},
    {"type": "support_bundle_uploaded", "keys": ["k"], "files": [{"name": "n", "key": "k"}], "timestamp": TIME},
    {"type": "error", "code": "PROCESS_FAILED", "message": "m", "logTail": "t", "timestamp": TIME},
    {"type": "error", "code": "CANCELLED", "message": "m", "timestamp": TIME},
    {"type": "cancelled", "reason": "r", "timestamp": TIME},
    {"type": "completed", "result": {"exitCode": 0, "prUrl": SUCCESS["prUrl"], "prNumber": 7,
                                     "branchName": "a-cart"}, "tokensUsed": TOKENS, "timestamp": TIME},
    {"type": "completed", "result": {}, "tokensUsed": TOKENS, "warnings": ["w"], "timestamp": TIME,
     "tokensByModel": {"default": TOKENS}, "results": [SUCCESS]},
]
FROM_A_RUNNER = {
    "/loops/{id}/events", "/loops/{id}/heartbeat", "/loops/{id}/refresh-token", "/loops/{id}/github-token",
    "/loops/{id}/upload-artifacts", "/loops/{id}/upload-urls", "/loops/{id}/download-urls",
}


def changed(value, number, given):
    """Returns the value with one of its members, at any depth, replaced by `given`."""
    if not isinstance(value, dict) or not value:
        return given
    name = sorted(value)[number % len(value)]
    return {**value, name: changed(value[name], number // len(value), given)}


def event_of(body):
    """Replaces three of four bodies by an event of a runner; two of the three contain a value of the body."""
    number = number_of(body)
    if number % 4 == 0:
        return body
    event = EVENTS[number // 4 % len(EVENTS)]
    if number % 2 == 0 or not isinstance(body, dict) or not body:
        return event
    return changed(event, number // 64, next(iter(body.values())))


@schemathesis.hook
def map_query(context, query):
    # With `stream`, a command returns an endless stream of events.
    return {name: value for name, value in (each(query, known) or {}).items() if name != "stream"}


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    # Known ids are not deleted, because later requests need them.
    return path_parameters if context.operation.method.upper() == "DELETE" else each(path_parameters, known)


@schemathesis.hook
def map_body(context, body):
    return event_of(body) if context.operation.label == "POST /loops/{id}/events" else each(body, known)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Sends requests of runners with a runner's token, and all others with the owner's session."""
    headers = case.headers
    if case.operation.method.upper() == "POST" and case.operation.path in FROM_A_RUNNER:
        number = number_of(case.body)
        others = len(LOOPS) - REFRESHED
        is_refresh = case.operation.path.endswith("refresh-token")
        runner = MADE["runners"][others + number % REFRESHED if is_refresh else number % others]
        case.path_parameters["id"] = runner["id"]
        headers["Authorization"] = f"Bearer {runner['token']}"
        if number % 8 != 0:
            headers["x-loop-event-nonce"] = str(uuid.uuid4())
        return
    headers["Cookie"] = SESSION["cookie"]
    headers["X-Session-Key"] = SESSION["key"]
    headers["Origin"] = MADE["origin"]


@schemathesis.check
def named_server_errors(context, response, case):
    """Checks that a server error has a specific code."""
    if response.status_code >= 500:
        body = response.json()
        assert body.get("code") not in (None, "internal_error"), f"no reason is given: {body}"
