/**
 * Client of the gateway on this machine.
 *
 * Finds the port of the gateway, exchanges a challenge of the control plane for a session, and keeps
 * the session in memory only. Concurrent callers share one exchange. After a 401 the session is
 * renewed once.
 */
import type { GatewayHealth, GatewaySession } from "@/api/types";

import type { Operation } from "./operations";

// A port without a listener refuses at once; only a busy gateway needs time.
const PROBE_TIMEOUT_MS = 5_000;
const CALL_TIMEOUT_MS = 10_000;
// A code host may need long to merge.
const CHANGE_TIMEOUT_MS = 60_000;
// A session is renewed this long before it expires, so that it is valid for the whole call.
const EXPIRY_MARGIN_MS = 30_000;

/**
 * `absent`: no response. `unknown`: no response to a change, which may have been made. `refused`: the gateway rejects this
 * account. `failed`: another error.
 */
export type GatewayProblem = "absent" | "unknown" | "refused" | "failed";

/** Returns the error for a change without a response. */
export const unknownChange = (cause: unknown): GatewayError =>
  new GatewayError(
    "unknown",
    "The gateway has not responded. The change may have been made: check it before you try again.",
    { cause },
  );

export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly problem: GatewayProblem;
  /** HTTP status of the response to an operation. */
  readonly status: number | undefined;
  /** Code of that response, which is stable for each kind of error. */
  readonly code: string | undefined;

  constructor(
    problem: GatewayProblem,
    message: string,
    {
      status,
      code,
      ...options
    }: ErrorOptions & { status?: number; code?: string | undefined } = {},
  ) {
    super(message, options);
    this.problem = problem;
    this.status = status;
    this.code = code;
  }
}

/** A gateway that is registered with the control plane. */
export interface KnownGateway {
  id: string;
  /** Port that the desktop reported. Absent for desktops that report none. */
  port?: number;
}

export interface LocalGatewayOptions {
  /** Requests a challenge for this page's origin from the control plane. */
  challenge: () => Promise<string>;
  /** Gateways of the user's desktops. If there are any, no other gateway is contacted. */
  knownGateways: () => Promise<readonly KnownGateway[]>;
  /** Ports to which this page may connect. */
  ports: readonly number[];
  fetch?: typeof fetch;
  now?: () => number;
}

/** A gateway that responds on this machine. */
interface Listener {
  origin: string;
  gatewayId: string;
}

interface Session extends Listener {
  token: string;
  expiresAt: number;
}

export class LocalGateway {
  readonly #options: LocalGatewayOptions;
  readonly #fetch: typeof fetch;
  readonly #now: () => number;
  #session: Session | undefined;
  #exchange: Promise<Session> | undefined;

  constructor(options: LocalGatewayOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#now = options.now ?? Date.now;
  }

  /**
   * Returns the response to an operation. With `gatewayId`, only that gateway may carry it out: the gateway of another
   * machine counts as absent.
   */
  async request<Result>(
    operation: Operation<Result>,
    signal?: AbortSignal,
    gatewayId?: string,
  ): Promise<Result> {
    const response = await this.#respond(operation, signal, gatewayId);
    return (await response.json()) as Result;
  }

  /** Like `request`, for an operation whose response is a stream. Its time limit ends when the response begins. */
  async open(
    operation: Operation<unknown>,
    signal?: AbortSignal,
    gatewayId?: string,
  ): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#respond(operation, signal, gatewayId);
    if (body === null) throw new GatewayError("failed", "The gateway sent no response.");
    return body;
  }

  async #respond(
    operation: Operation<unknown>,
    signal: AbortSignal | undefined,
    gatewayId: string | undefined,
  ): Promise<Response> {
    const session = async () => {
      const current = await this.#currentSession();
      if (gatewayId === undefined || current.gatewayId === gatewayId) return current;
      throw new GatewayError("absent", "The gateway of that machine is not on this machine.");
    };
    const attempt = async () => {
      const response = await this.#call(await session(), operation, signal);
      return response.ok ? response : await refusalOf(response);
    };
    let result = await attempt();
    // A restarted gateway has lost its sessions. A second refusal is final.
    if (result instanceof GatewayError && result.problem === "refused") {
      this.#session = undefined;
      result = await attempt();
    }
    if (result instanceof GatewayError) throw result;
    return result;
  }

  #call(
    { origin, token }: Session,
    { method, path, body, isChange, isStream, timeoutMs }: Operation<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const limit = timeoutMs ?? (isChange ? CHANGE_TIMEOUT_MS : CALL_TIMEOUT_MS);
    const opening = new AbortController();
    const timer = isStream && setTimeout(() => opening.abort(), limit);
    const timeout = isStream ? opening.signal : AbortSignal.timeout(limit);
    const response = this.#fetch(origin + path, {
      method,
      headers: {
        "X-Desktop-Session-Token": token,
        ...(body && { "Content-Type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    }).finally(() => {
      if (timer) clearTimeout(timer);
    });
    return response.catch((error: unknown) => {
      // A page that no longer needs the response says nothing about the gateway.
      if (signal?.aborted) throw error;
      this.#session = undefined;
      if (isChange) throw unknownChange(error);
      throw new GatewayError("absent", "The gateway is not responding.", { cause: error });
    });
  }

  #currentSession(): Promise<Session> {
    if (this.#session && this.#session.expiresAt - EXPIRY_MARGIN_MS > this.#now()) {
      return Promise.resolve(this.#session);
    }
    this.#exchange ??= this.#open().finally(() => {
      this.#exchange = undefined;
    });
    return this.#exchange;
  }

  /** Opens a session at the first gateway that accepts a challenge. */
  async #open(): Promise<Session> {
    const gateways = await this.#probe();
    if (gateways.length === 0) {
      throw new GatewayError("absent", "No gateway responded on this machine.");
    }
    let lastError: unknown;
    for (const gateway of gateways) {
      try {
        this.#session = await this.#exchangeChallenge(gateway);
        return this.#session;
      } catch (error) {
        lastError = error;
      }
    }
    throw lastError;
  }

  /** Returns the gateways that respond: on the reported ports, else on the others that the page may connect to. */
  async #probe(): Promise<Listener[]> {
    const known = await this.#options.knownGateways();
    const { ports } = this.#options;
    const isReported = (port: number) => known.some((gateway) => gateway.port === port);
    const reported = await this.#responding(ports.filter(isReported), known);
    // The gateway has bound another port since the desktop reported it, or it reports none.
    if (reported.length > 0) return reported;
    return this.#responding(
      ports.filter((port) => !isReported(port)),
      known,
    );
  }

  async #responding(ports: readonly number[], known: readonly KnownGateway[]): Promise<Listener[]> {
    const probes = await Promise.all(
      ports.map(async (port) => {
        const origin = `http://127.0.0.1:${port}`;
        return { origin, gatewayId: (await this.#health(origin))?.gatewayId };
      }),
    );
    const ids = known.map(({ id }) => id);
    return probes.filter(
      (probe): probe is Listener =>
        probe.gatewayId !== undefined && (ids.length === 0 || ids.includes(probe.gatewayId)),
    );
  }

  async #health(origin: string): Promise<GatewayHealth | undefined> {
    try {
      const response = await this.#fetch(`${origin}/health`, {
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      const health = (await response.json()) as GatewayHealth;
      return response.ok && health.status === "ok" ? health : undefined;
    } catch {
      return undefined;
    }
  }

  async #exchangeChallenge({ origin, gatewayId }: Listener): Promise<Session> {
    // A challenge is consumed even by a failed verification: each gateway needs a new one.
    const challengeToken = await this.#options.challenge();
    const response = await this.#fetch(`${origin}/gateway-auth/exchange`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ challengeToken }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    if (!response.ok) throw new GatewayError("refused", (await errorOf(response)).message);
    const { sessionToken, expiresAt } = (await response.json()) as GatewaySession;
    return { origin, gatewayId, token: sessionToken, expiresAt: Date.parse(expiresAt) };
  }
}

/** Returns the error of an unsuccessful response: "refused" if the session has ended. */
async function refusalOf(response: Response): Promise<GatewayError> {
  const { status } = response;
  const { message, code } = await errorOf(response);
  // The code host's program also has a 401, for an account that is not signed in.
  const isSessionEnded = status === 401 && message === "unauthorized";
  return new GatewayError(isSessionEnded ? "refused" : "failed", message, { status, code });
}

async function errorOf(response: Response): Promise<{ message: string; code: string | undefined }> {
  const body = (await response.json().catch(() => ({}))) as { error?: unknown; code?: unknown };
  return {
    message:
      typeof body.error === "string"
        ? body.error
        : `The gateway returned status ${response.status}.`,
    code: typeof body.code === "string" ? body.code : undefined,
  };
}
