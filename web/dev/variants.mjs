// Variants of the responses of the mock server, for tests of the states of pages: `VARIANT=empty`, `many` or `hostile`.

const LISTS = new Set([
  ...[
    "agents",
    "data",
    "documents",
    "entries",
    "loops",
    "proposals",
    "pullRequests",
    "repos",
    "repositories",
  ],
  ...["versions", "waiting", "byCommand", "byDay", "byUser"],
]);
const COUNTS = new Set(["total", "totalLoops"]);
const MANY = 1_000;

// A word of 300 letters from right to left, and what must stay text.
const WORD = "אבגדהוזחטי".repeat(30);
const HOSTILE = `${WORD} <img src=https://attacker.example/i.png onerror="alert(1)"><script>alert(1)</script>`;
// Not a label with an event handler: Mermaid parses labels as HTML in its sandboxed frame, whose policy reports it.
const MARKDOWN = `# ${HOSTILE}

${HOSTILE} [link](javascript:alert(1)) ![image](https://attacker.example/i.png) <iframe src="https://attacker.example/">

- [ ] Q-001: ${HOSTILE} **[Recommended: ${HOSTILE}]**

\`\`\`mermaid
flowchart LR
  A["alert(1)"] --> B["${WORD}"]
  click A "javascript:alert(1)"
  style B fill:url(https://attacker.example/i.svg)
\`\`\`

\`\`\`ts
${HOSTILE}
\`\`\`
`;
const TEXTS = new Set([
  ...[
    "title",
    "prompt",
    "promptExcerpt",
    "message",
    "error",
    "firstName",
    "lastName",
    "name",
    "machineName",
  ],
  ...[
    "ownerName",
    "description",
    "subject",
    "reason",
    "location",
    "branch",
    "branchName",
    "baseBranch",
    "chunk",
  ],
  ...[
    "summary",
    "output",
    "author",
    "changeNote",
    "prTitle",
    "remediation",
    "userName",
    "label",
    "stderr",
  ],
]);
const MARKDOWN_TEXTS = new Set(["content"]);

/** Replaces the members of a response, including those of its members. */
function replaced(value, replace, key = "") {
  const own = replace(key, value);
  if (Array.isArray(own)) return own.map((item) => replaced(item, replace));
  if (own === null || typeof own !== "object" || own instanceof Date) return own;
  return Object.fromEntries(
    Object.entries(own).map(([name, member]) => [name, replaced(member, replace, name)]),
  );
}

/** Returns a copy of a record with a number in the members that identify it. */
function numbered(item, n) {
  if (item === null || typeof item !== "object" || n === 0) return item;
  const { id, fullName, slug, url } = item;
  return {
    ...item,
    ...(id && { id: `${String(id).slice(0, -12)}${String(n).padStart(12, "0")}` }),
    ...(fullName && { fullName: `${fullName}-${n}` }),
    ...(slug && { slug: `${slug}-${n}` }),
    ...(url && { url: `${url}-${n}` }),
  };
}

const VARIANTS = {
  empty: (key, value) => {
    if (LISTS.has(key) && Array.isArray(value)) return [];
    return COUNTS.has(key) ? 0 : value;
  },
  many: (key, value) =>
    LISTS.has(key) && Array.isArray(value) && value.length > 0
      ? Array.from({ length: Math.max(MANY, value.length) }, (_, n) =>
          n < value.length ? value[n] : numbered(value[n % value.length], n),
        )
      : value,
  hostile: (key, value) => {
    if (typeof value !== "string") return value;
    if (MARKDOWN_TEXTS.has(key)) return MARKDOWN;
    return TEXTS.has(key) ? HOSTILE : value;
  },
};

/** Returns a function that changes a response into the variant. Pages of a list remain pages. */
export function variant(name = "") {
  const replace = VARIANTS[name];
  if (!replace) return (body) => body;
  return (body) =>
    name === "many" && body !== null && typeof body === "object" && "total" in body
      ? body
      : replaced(body, replace);
}
