// Change requests of the mock server: one for each state, and further ones that have not been started.

const minutesAgo = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();

const APPROVAL = {
  kind: "approval",
  id: "7f",
  command: "loopgate approve 7f",
  waitsUntil: minutesAgo(-20),
};

// State, stage, attention and details of a change request.
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
  ["pull_request_open", "pull_request", null, {}],
  ["stopped", "plan", null, {}],
];

/** Returns a document without its text and its links to other documents. */
const record = ({ id, slug, type, title, status, repo, currentVersion, userId, ...times }) => ({
  ...{ id, slug, type, title, status, repo, currentVersion, userId },
  createdAt: times.createdAt,
  updatedAt: times.updatedAt,
});

/** The first one consists of the documents and loops of the fixtures. `further`: number of change requests without a loop. */
export function changeRequests({ me, plan, documents, loops }, further = 0) {
  const feature = documents.find(({ slug }) => slug === "feature-1");
  const numbered = (n) => String(n).padStart(12, "0");
  const entry = (n, [state, stage, attention, details]) => ({
    document: {
      ...record(feature),
      id: `01980000-0000-7000-b000-${numbered(n)}`,
      slug: `feature-${100 + n}`,
      title: n === 0 ? feature.title : `Change ${n}: ${state.replaceAll("_", " ")}`,
    },
    stage,
    state,
    attention,
    details,
    loopId: null,
    command: null,
    user: me.user ?? null,
    cost: n === 0 ? 0.42 : null,
    changedAt: minutesAgo(n + 1),
    archivedAt: null,
    isUnread: true,
    snoozedUntil: null,
  });
  const rows = [
    ...STATES.map((standing, n) => entry(n, standing)),
    ...Array.from({ length: further }, (_, n) =>
      entry(STATES.length + n, ["not_started", "request", null, {}]),
    ),
  ];
  rows[0].document = record(feature);
  const find = (slug) => rows.find(({ document }) => [document.slug, document.id].includes(slug));
  const detail = (row) => {
    const isFirst = row === rows[0];
    const records = isFirst ? loops.map(({ record }) => record) : [];
    return {
      ...row,
      loopId: records[0]?.id ?? null,
      plan: isFirst ? record(plan) : null,
      documents: isFirst ? [record(plan)] : [],
      loops: records,
      pullRequests: [],
    };
  };

  const list = (query) => {
    const states = (query.get("state") ?? "").split(",").filter(Boolean);
    const text = (query.get("text") ?? "").toLowerCase();
    const is = (name) => query.get(name) === "true";
    const matching = rows.filter(
      (row) =>
        (row.archivedAt !== null) === is("archived") &&
        (states.length === 0 || states.includes(row.state)) &&
        (!is("attention") || (row.attention && !(row.snoozedUntil > new Date().toISOString()))) &&
        (!query.get("repo") || row.document.repo.fullName === query.get("repo")) &&
        row.document.title.toLowerCase().includes(text),
    );
    const before = query.get("beforeId");
    const start = before ? matching.findIndex(({ document }) => document.id === before) + 1 : 0;
    const data = matching.slice(start, start + Number(query.get("limit") ?? 50));
    return { success: true, data, ...(is("count") && { total: matching.length }) };
  };

  const update = (slug, changes) => {
    const row = find(slug);
    if (row) Object.assign(row, changes);
    return row;
  };
  return { list, find, detail, update };
}
