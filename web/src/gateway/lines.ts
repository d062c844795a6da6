/**
 * Yields the JSON objects of a response with one object per line. Without a limit for silence: the connection is one to
 * this machine, which reports its end.
 */
export async function* readLines<Line>(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Line, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines) if (line.trim() !== "") yield JSON.parse(line) as Line;
      if (done) return;
    }
  } finally {
    // Closes the connection when the caller stops early. Fails if the connection is already lost.
    await reader.cancel().catch(() => undefined);
  }
}
