// Events of the loops of the mock server, and the reads of the control plane: tail, ranges, search, complete values.

const VALUE_LIMIT = 1_000;
const RANGE_BYTES = 200_000;

const calls = (tool, category, callId, input, output, more = {}) => [
  {
    type: "tool_call",
    status: "start",
    tool,
    category,
    callId,
    input,
    summary: Object.values(input)[0],
    ...(more.parentId && { parentId: more.parentId }),
    ...(more.isInternal && { isInternal: true }),
  },
  {
    type: "tool_call",
    status: "end",
    tool,
    category,
    callId,
    output,
    size: output.length,
    durationMs: 1_240,
    ...(category === "command" && { exitCode: more.isError ? 1 : 0 }),
    ...more,
  },
];
const says = (chunk, role = "assistant") => ({ type: "output", role, chunk });

const TASK = calls("Task", "agent", "c4", { description: "Find the callers" }, "One caller.");

/** What an assistant does, as the events of a loop. */
export const SCRIPT = [
  {
    type: "progress",
    percent: 25,
    stage: "build",
    tasks: { completed: 1, total: 4, current: "T-2" },
  },
  says("# Change a plan\n\nRead .loopgate/work/prompt.md", "prompt"),
  says("I'll read the repository first."),
  ...calls("Read", "file", "c1", { file_path: "package.json" }, '{ "name": "shop-cli" }'),
  ...calls("Glob", "file", "c2", { pattern: "src/**/*.ts" }, "src/cli.ts\nsrc/store.ts"),
  says("Thinking...", "thinking"),
  says(
    "The entry point looks the command up in a **table**. The flag has to be handled before that look-up,\nelse `--version` would be reported as an unknown command.",
  ),
  ...calls(
    "Bash",
    "command",
    "c3",
    { command: "npm test -- --run cli" },
    "AssertionError\n".repeat(200),
    {
      isError: true,
    },
  ),
  TASK[0],
  ...calls("Grep", "file", "c5", { pattern: "lookUp\\(" }, "src/cli.ts:12", { parentId: "c4" }),
  TASK[1],
  ...calls(
    "Bash",
    "command",
    "c6",
    { command: "npm test -- --run cli" },
    "Test Files 3 passed (3)",
  ),
  ...calls("Write", "file", "c7", { file_path: ".loopgate/work/plan.json" }, "ok", {
    isInternal: true,
  }),
  says("<promise>COMPLETE</promise>", "control"),
  says("Turn complete", "note"),
];

/** Returns the events of a loop that repeats the script. */
export function repeated(count, last, at) {
  const events = Array.from({ length: count }, (_, n) => {
    const round = Math.floor(n / SCRIPT.length);
    const { callId, parentId, ...event } = SCRIPT[n % SCRIPT.length];
    return {
      ...event,
      ...(callId && { callId: `${callId}-${round}` }),
      ...(parentId && { parentId: `${parentId}-${round}` }),
      timestamp: at(n),
    };
  });
  return [
    { type: "started", timestamp: at(0) },
    ...events,
    ...(last ? [{ ...last, timestamp: at(count) }] : []),
  ];
}

/** Stores an event. */
export function store(events, event) {
  const sequence = events.length + 1;
  const at = new Date().toISOString();
  // The ids of the server are in ascending order.
  const id = `e${String(sequence).padStart(8, "0")}`;
  const stored = { timestamp: at, storedAt: at, ...event, sequence, id };
  events.push(stored);
  return stored;
}

/** Returns an event as lists contain it: large values are shortened. */
export function listed(event) {
  const short = { ...event };
  for (const name of ["input", "output"]) {
    if (event.type !== "tool_call" || (JSON.stringify(event[name]) ?? "").length <= VALUE_LIMIT)
      continue;
    short[name] = typeof event[name] === "string" ? event[name].slice(0, 300) : null;
    short.isShortened = true;
  }
  return short;
}

/** Responds to a request for events. */
export function readEvents(events, query) {
  const number = (name) => (query.has(name) ? Number(query.get(name)) : undefined);
  const [tail, before, after, limit] = ["tail", "before", "after", "limit"].map(number);
  const text = query.get("text")?.toLowerCase();
  const about = query.get("about");
  if (after !== undefined) return events.slice(after, after + (limit ?? 500)).map(listed);
  if (tail === undefined && before === undefined && !text && !about) {
    const matching = events.filter(({ type }) => !query.has("type") || type === query.get("type"));
    if (query.get("sort") === "desc") matching.reverse();
    return { data: matching.slice(0, limit ?? 100).map(listed), total: matching.length };
  }
  // Backwards, without a copy: a log may have a million events.
  let index = before === undefined ? events.length : Math.max(0, before - 1);
  const next = () => {
    while (index > 0) if (matches(events[--index], text, about)) return events[index];
    return undefined;
  };
  const selected = [];
  let bytes = 0;
  let event = next();
  while (event && selected.length < (tail ?? limit ?? 100) && bytes < RANGE_BYTES) {
    selected.unshift(listed(event));
    bytes += JSON.stringify(selected[0]).length;
    event = next();
  }
  const first = selected[0]?.sequence;
  return {
    events: selected,
    lastSequence: events.length,
    ...(event && { before: first }),
  };
}

function matches(event, text, about) {
  const { type, category, role } = event;
  const isAbout = {
    errors: type === "error" || role === "error" || event.isError === true,
    commands: category === "command",
    files: category === "file",
  };
  if (about && !isAbout[about]) return false;
  const seen = [event.chunk, event.tool, event.summary, event.message, event.output].join("\n");
  return !text || seen.toLowerCase().includes(text);
}
