/** Error response of the control plane or a gateway, or the lack of a response. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;
  /** Payload of a typed conflict, for example the id of the conflicting loop. */
  readonly data: Record<string, unknown>;

  constructor(status: number, body: unknown) {
    const fields = record(body);
    super(text(fields.error) ?? defaultMessage(status));
    this.status = status;
    this.data = record(fields.data);
    this.details = record(fields.details);
    this.code = text(fields.code) ?? text(this.data.error) ?? `http_${status}`;
  }

  static unreachable(cause: unknown): ApiError {
    const error = new ApiError(0, { code: "unreachable" });
    error.cause = cause;
    return error;
  }
}

/** Returns the HTTP status of an error response of the control plane or a gateway; 0 without a response. */
export function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  return typeof status === "number" ? status : undefined;
}

/** Returns the message to show for any thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) {
    if (typeof error.data.message === "string") return error.data.message;
    // The contract fixes the texts of these errors, which do not name the machine.
    if (error.details.category === "compute_target_offline")
      return `Machine ${text(error.details.machineName) ?? "of the loop"} is offline. Run \`loopgate up\` there, then try again.`;
    if (error.details.category === "compute_target_unavailable")
      return "No machine is online. Run `loopgate up` on the machine that has the repository, then try again.";
  }
  return error instanceof Error ? error.message : "Something went wrong.";
}

/**
 * Returns the e-mail address of the signed-in person whose session a link would replace; `undefined` for any
 * other error. The request can be repeated with `replacesSession`.
 */
export function presentUserOf(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.code !== "already_signed_in") return undefined;
  return text(error.data.email) ?? "another user";
}

function defaultMessage(status: number): string {
  if (status === 0)
    return "Loopgate is not responding. Check that it is still running in your terminal.";
  return `The server returned status ${status} without an error message.`;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
