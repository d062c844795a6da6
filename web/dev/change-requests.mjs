// Change requests of the mock server: one for each state, and further ones that have not been started.

const minutesAgo = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();

const APPROVAL = {
  kind: "approval",
  id: "7f",
  command: "loopgate approve 7f",
  waitsUntil: minutesAgo(-20),
};

const REACHED = ["request", "plan", "execute", "review", "pull_request"];
// Groups: the parameter that selects one, and its name.
const GROUPS = {
  state: ({ state }) => [state, state],
  repository: ({ document }) => [document.repo.fullName, document.repo.fullName],
  person: ({ user }) => [user.email, `${user.firstName} ${user.lastName}`],
};

// State, stage, attention, details and deployment of a change request.
const STATES = [
  ["plan_ready", "plan", "plan", { questions: 2 }],
  ["question", "execute", "question", { code: "AWAITING_USER" }],
  ["waiting_for_approval", "execute", "approval", { activity: APPROVAL }],
  ["changes_requested", "review", "findings", {}],
  ["delivery_failed", "execute", "delivery", {}],
  ["limit_reached", "execute", "limit", { code: "SPENDING_LIMIT" }],
  ["machine_offline", "plan", "machine_offline", {}],
  ["failed", "plan", "failure", { code: "PROCESS_FAILED" }],
  ["running", "execute", null, {}],
  ["queued", "execute", null, { activity: { kind: "queue", place: 2, waiting: 4 } }],
  ["pull_request_open", "pull_request", null, {}, "running"],
  ["stopped", "plan", null, {}],
];

/** Returns a document without its text and its links to other documents. */
const record = ({ id, slug, type, title, status, repo, currentVersion, userId, ...times }) => ({
  ...{ id, slug, type, title, status, repo, currentVersion, userId },
  createdAt: times.createdAt,
  updatedAt: times.updatedAt,
});

/** State, stage and attention of a change request whose newest loop this is. */
function standingOf({ status, command }) {
  const isPlan = command === "PLAN";
  const standing = (state, attention = null) => ({
    ...{ state, attention },
    stage: isPlan ? "plan" : "execute",
  });
  switch (status) {
    case "COMPLETED":
      return isPlan ? standing("plan_ready", "plan") : standing("done");
    case "CANCELLED":
      return standing("stopped");
    case "FAILED":
      return standing("failed", "failure");
    default:
      return standing(status === "RUNNING" ? "running" : "starting");
  }
}

/** The first one consists of the documents and loops of the fixtures. `further`: number of change requests without a loop. */
export function changeRequests({ me, plan, documents, loops }, opened, further = 0) {
  const feature = documents.find(({ slug }) => slug === "feature-1");
  const numbered = (n) => String(n).padStart(12, "0");
  const entry = (n, [state, stage, attention, details, deployment = null]) => ({
    document: {
      ...record(feature),
      id: `01980000-0000-7000-b000-${numbered(n)}`,
      slug: `feature-${100 + n}`,
      title: n === 0 ? feature.title : `Change ${n}: ${state.replaceAll("_", " ")}`,
    },
    stage,
    // Delivered without a review.
    stages: [
      ...REACHED.slice(0, REACHED.indexOf(stage) + 1).filter(
        (name) => name !== "review" || stage === "review",
      ),
      ...(deployment ? ["deploy"] : []),
    ],
    tasks: stage === "execute" ? { completed: 3, total: 7, current: "T-4" } : null,
    deployment,
    state,
    attention,
    details,
    loopId: null,
    command: null,
    user:
      n % 2 === 0
        ? me
        : { ...me, id: "2", firstName: "Ben", lastName: "Lindqvist", email: "ben@example.org" },
    cost: n === 0 ? 0.42 : null,
    changedAt: minutesAgo(n + 1),
    archivedAt: null,
    isUnread: true,
    snoozedUntil: null,
  });
  let rows = [
    ...STATES.map((standing, n) => entry(n, standing)),
    ...Array.from({ length: further }, (_, n) =>
      entry(STATES.length + n, ["not_started", "request", null, {}]),
    ),
  ];
  rows[0].document = record(feature);
  let deleted = [];
  const isNamed = (name) => (document) => [document.slug, document.id].includes(name);
  /** Finds a change request by any of its documents. */
  const find = (name) => {
    const row = rows.find(({ document }) => isNamed(name)(document));
    const source = documents.find(isNamed(name))?.source;
    return row ?? (source && find(source.slug));
  };
  /** Adds the change request that begins with a document. */
  const add = (document) => {
    const row = entry(rows.length, ["running", "request", null, {}]);
    rows = [{ ...row, document: record(document), user: me, isUnread: false }, ...rows];
  };
  const first = rows[0];
  const detail = (row) => {
    const isFirst = row === first;
    const isDelivered = row.stage === "pull_request";
    const executed = loops.filter(
      ({ record }) => record.command === "EXECUTE" && record.completedAt,
    );
    const own = loops.filter(({ record }) => record.documentId === row.document.id);
    const shown = isFirst ? loops : isDelivered ? executed.slice(0, 1) : own;
    const records = shown.map(({ record }) => record);
    const derived = documents.filter(({ source }) => source?.id === row.document.id);
    return {
      ...row,
      ...(shown === own && own.length > 0 && standingOf(records[0])),
      loopId: records[0]?.id ?? null,
      plan: derived.length > 0 ? record(derived.at(-1)) : null,
      documents: derived.map(record),
      loops: records,
      pullRequests: isDelivered ? opened.records(records[0].id) : [],
    };
  };

  const matching = (query) => {
    const states = (query.get("state") ?? "").split(",").filter(Boolean);
    const text = (query.get("text") ?? "").toLowerCase();
    const is = (name) => query.get(name) === "true";
    return rows.filter(
      (row) =>
        (row.archivedAt !== null) === is("archived") &&
        (states.length === 0 || states.includes(row.state)) &&
        (!is("attention") || (row.attention && !(row.snoozedUntil > new Date().toISOString()))) &&
        (!query.get("repo") || row.document.repo.fullName === query.get("repo")) &&
        (!query.get("person") || row.user.email === query.get("person")) &&
        row.document.title.toLowerCase().includes(text),
    );
  };

  const list = (query) => {
    const is = (name) => query.get(name) === "true";
    const selected = matching(query);
    const before = query.get("beforeId");
    const start = before ? selected.findIndex(({ document }) => document.id === before) + 1 : 0;
    const data = selected.slice(start, start + Number(query.get("limit") ?? 50));
    return { success: true, data, ...(is("count") && { total: selected.length }) };
  };

  const groups = (query) => {
    const found = new Map();
    for (const row of matching(query)) {
      const [value, name] = GROUPS[query.get("by")](row);
      found.set(value, { value, name, count: (found.get(value)?.count ?? 0) + 1 });
    }
    return [...found.values()];
  };

  /** Removes a change request from the list, unless its loop is running. */
  const remove = (slug) => {
    const row = find(slug);
    if (row?.state !== "running") {
      rows = rows.filter((other) => other !== row);
      deleted.push(row);
    }
    return row;
  };
  const restore = (slug) => {
    const row = deleted.find(({ document }) => document.slug === slug);
    deleted = deleted.filter((other) => other !== row);
    rows = [...rows, row].sort((a, b) => b.changedAt.localeCompare(a.changedAt));
    return row;
  };

  const history = (row) => {
    const user = { ...me, avatarUrl: null };
    const { document } = row;
    const entry = (minutes, who, happening) => ({
      at: minutesAgo(minutes),
      user: who,
      ...happening,
    });
    const written = (of, version, loopId = null) => ({
      kind: "version",
      document: { id: of.id, slug: of.slug, title: of.title, type: of.type },
      version,
      loopId,
    });
    const [first] = detail(row).loops;
    const started = first && { loopId: first.id, command: first.command, version: 1 };
    return [
      ...(first
        ? [
            entry(3, null, {
              kind: "question",
              loopId: first.id,
              message: "Which of the two addresses should the old links lead to?",
            }),
            entry(3.5, user, {
              kind: "message",
              loopId: first.id,
              messageId: crypto.randomUUID(),
              text: "Keep the redirects of the shop, too.",
              delivery: "delivered",
              deliveredAt: minutesAgo(3.4),
              reason: null,
            }),
            entry(4, user, {
              kind: "loop_started",
              ...started,
              reason: "request",
              message: "Keep the old addresses",
            }),
            entry(5, user, written(plan, 2)),
          ]
        : []),
      entry(60, user, written(document, 1)),
    ];
  };

  const update = (slug, changes) => {
    const row = find(slug);
    if (row) Object.assign(row, changes);
    return row;
  };
  return { list, groups, history, find, add, detail, update, remove, restore };
}
