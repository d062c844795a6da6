/**
 * Answers of the model that a test gives itself. A server between the real assistant and the model of a demo: what the
 * test does not answer, the script of the demo answers.
 */
import { once } from "node:events";
import { readlink, rename, writeFile } from "node:fs/promises";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

import { test as withDemo } from "./demo";

/** A request of the assistant, or of one of its sub-agents. */
interface ModelRequest {
  /** Texts of the user, among them the prompt. */
  prompt: string;
  /** Output of the tools. */
  results: string;
  /** Number of earlier answers in the conversation. */
  turn: number;
}

/** A text, or a shell command that the assistant runs. */
type ModelAnswer = { text: string } | { command: string };

/** Returns undefined to let the script answer. The assistant waits for a promise. */
type AnswerModel = (
  request: ModelRequest,
) => ModelAnswer | undefined | Promise<ModelAnswer | undefined>;

interface Block {
  type: string;
  text?: string;
  content?: string | Block[];
}

interface MessagesBody {
  model: string;
  stream?: boolean;
  tools?: object[];
  messages: { role: string; content: string | Block[] }[];
}

const toBlocks = (content: string | Block[] = []): Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

const textOf = (blocks: Block[]): string => blocks.map(({ text = "" }) => text).join("\n");

function readRequest({ messages }: MessagesBody): ModelRequest {
  const blocks = messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => toBlocks(content));
  const results = blocks.filter(({ type }) => type === "tool_result");
  return {
    prompt: textOf(blocks),
    results: results.map(({ content }) => textOf(toBlocks(content))).join("\n"),
    // One answer may be several messages, for example a text and the use of a tool.
    turn: messages.filter(
      ({ role }, index) => role === "assistant" && messages[index - 1]?.role !== "assistant",
    ).length,
  };
}

/** Returns the events of the Messages API that stream an answer. */
function streamOf(model: string, answer: ModelAnswer): string {
  const usage = { input_tokens: 100, output_tokens: 20 };
  const id = crypto.randomUUID();
  const isText = "text" in answer;
  const block = isText
    ? { type: "text", text: "" }
    : { type: "tool_use", id: `toolu_${id}`, name: "Bash", input: {} };
  const delta = isText
    ? { type: "text_delta", text: answer.text }
    : {
        type: "input_json_delta",
        partial_json: JSON.stringify({ command: answer.command, description: "Run a command" }),
      };
  const message = {
    ...{ id: `msg_${id}`, type: "message", role: "assistant", model, content: [], usage },
    ...{ stop_reason: null, stop_sequence: null },
  };
  const end = { stop_reason: isText ? "end_turn" : "tool_use", stop_sequence: null };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: end, usage },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

class TestModel {
  /** Answers the requests of the assistant. */
  answer: AnswerModel = () => undefined;

  private readonly server = http.createServer((request, response) => {
    answerOrForward(request, response, this.answer).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });

  /** `home`: home directory of the demo's programs. */
  async start(home: string): Promise<void> {
    await once(this.server.listen(0, "127.0.0.1"), "listening");
    const { port } = this.server.address() as AddressInfo;
    const assistant = join(home, "bin", "claude");
    // The address of the demo's model becomes the beginning of the path, by which requests are forwarded.
    const script = `#!/bin/sh
export ANTHROPIC_BASE_URL="http://127.0.0.1:${port}/\${ANTHROPIC_BASE_URL#http://}"
exec '${await readlink(assistant)}' "$@"
`;
    await writeFile(`${assistant}-scripted`, script, { mode: 0o755 });
    await rename(`${assistant}-scripted`, assistant);
  }

  /** Delays all further answers until the returned function is called, then lets the script answer. */
  hold(): () => void {
    let release: (value: undefined) => void;
    const held = new Promise<undefined>((resolve) => (release = resolve));
    this.answer = () => held;
    return () => release(undefined);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

export const test = withDemo.extend<{ model: TestModel }>({
  model: async ({ demo }, use) => {
    const model = new TestModel();
    await model.start(demo.ready.home);
    await use(model);
    model.stop();
  },
});

async function answerOrForward(
  request: IncomingMessage,
  response: ServerResponse,
  answerModel: AnswerModel,
): Promise<void> {
  const body = await buffer(request);
  const [, host = "", path = ""] = /^\/([^/]+)(.*)$/.exec(request.url ?? "") ?? [];
  if (/^\/v1\/messages(\?|$)/.test(path)) {
    const read = JSON.parse(body.toString()) as MessagesBody;
    // Requests without tools are for titles and summaries.
    const isAnswerable = read.stream === true && (read.tools ?? []).length > 0;
    const answer = isAnswerable ? await answerModel(readRequest(read)) : undefined;
    if (answer) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(streamOf(read.model, answer));
      return;
    }
  }
  const { method = "GET" } = request;
  const headers = { ...request.headers, host };
  const forwarded = http.request(`http://${host}${path}`, { method, headers }).end(body);
  const [answered] = (await once(forwarded, "response")) as [IncomingMessage];
  response.writeHead(answered.statusCode ?? 502, answered.headers);
  answered.pipe(response);
}
