/**
 * The way from the page to the gateway on this machine.
 *
 * Finds it on its ports, proves to it that the page's user owns the desktop, and keeps the session
 * in memory only. Parallel callers share one exchange; a refused session is renewed once.
 */
import type {
  GatewayHealth,
  GatewayRepos,
  GatewaySession,
  ListedRepo,
  WaitingRequests,
} from "@/api/types";

/** Ports that a gateway binds by itself, the preferred one first. */
export const GATEWAY_PORTS = [19432, 19433, 19434, 19435] as const;
const PROBE_TIMEOUT_MS = 1_500;
const CALL_TIMEOUT_MS = 10_000;
/** A session counts as expired this long before it is. */
const EXPIRY_MARGIN_MS = 30_000;

/** Why no answer of the gateway can be had; each has its own advice. */
export type GatewayProblem = "absent" | "refused" | "failed";

export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly problem: GatewayProblem;

  constructor(problem: GatewayProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

/** A gateway as the control plane knows it. */
export interface KnownGateway {
  id: string;
  /** Its port on its machine, where the desktop said so. */
  port?: number;
}

export interface LocalGatewayOptions {
  /** Asks the control plane for a challenge that names this page's origin. */
  challenge: () => Promise<string>;
  /** Gateways of the user's desktops. When any is known, no other gateway is asked. */
  knownGateways: () => Promise<readonly KnownGateway[]>;
  fetch?: typeof fetch;
  now?: () => number;
}

interface Session {
  origin: string;
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

  async repositories(signal?: AbortSignal): Promise<ListedRepo[]> {
    const response = await this.#get("/api/gateway/repos", signal);
    return ((await response.json()) as GatewayRepos).repos;
  }

  /** What waits for the owner's decision. */
  async approvals(signal?: AbortSignal): Promise<WaitingRequests> {
    const response = await this.#get("/api/gateway/approvals", signal);
    return (await response.json()) as WaitingRequests;
  }

  async #get(path: string, signal: AbortSignal | undefined): Promise<Response> {
    let response = await this.#call(await this.#currentSession(), path, signal);
    if (response.status === 401) {
      this.#session = undefined;
      response = await this.#call(await this.#currentSession(), path, signal);
    }
    if (!response.ok) {
      const problem = response.status === 401 ? "refused" : "failed";
      throw new GatewayError(problem, await errorText(response));
    }
    return response;
  }

  #call(session: Session, path: string, signal: AbortSignal | undefined): Promise<Response> {
    const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
    return this.#fetch(session.origin + path, {
      headers: { "X-Desktop-Session-Token": session.token },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    }).catch((error: unknown) => {
      this.#session = undefined;
      throw new GatewayError("absent", "The gateway stopped answering.", { cause: error });
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

  /** Tries the gateways that answer until one accepts the challenge. */
  async #open(): Promise<Session> {
    const found = await this.#probe();
    if (found.length === 0) {
      throw new GatewayError("absent", "No gateway answers on this machine.");
    }
    let refusal: unknown;
    for (const origin of found) {
      try {
        this.#session = await this.#trade(origin);
        return this.#session;
      } catch (error) {
        refusal = error;
      }
    }
    throw refusal;
  }

  /** Origins of the gateways that answer: where the desktops said that they are, else elsewhere. */
  async #probe(): Promise<string[]> {
    const known = await this.#options.knownGateways();
    const named = await this.#answering(
      known.flatMap(({ port }) => port ?? []),
      known,
    );
    return named.length > 0 ? named : this.#answering(GATEWAY_PORTS, known);
  }

  async #answering(ports: readonly number[], known: readonly KnownGateway[]): Promise<string[]> {
    const answers = await Promise.all(
      [...new Set(ports)].map(async (port) => {
        const origin = `http://127.0.0.1:${port}`;
        return { origin, health: await this.#health(origin) };
      }),
    );
    const ids = known.map(({ id }) => id);
    return answers
      .filter(({ health }) => health && (ids.length === 0 || ids.includes(health.gatewayId)))
      .map(({ origin }) => origin);
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

  /** A challenge is good for one try, so every gateway gets a fresh one. */
  async #trade(origin: string): Promise<Session> {
    const challengeToken = await this.#options.challenge();
    const response = await this.#fetch(`${origin}/gateway-auth/exchange`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ challengeToken }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    if (!response.ok) throw new GatewayError("refused", await errorText(response));
    const { sessionToken, expiresAt } = (await response.json()) as GatewaySession;
    return { origin, token: sessionToken, expiresAt: Date.parse(expiresAt) };
  }
}

async function errorText(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as { error?: unknown };
  return typeof body.error === "string" ? body.error : `The gateway answered ${response.status}.`;
}
