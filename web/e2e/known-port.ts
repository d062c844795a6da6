/**
 * Makes a gateway that listens on any port answer on one where pages look for it.
 *
 * Everything passes unchanged but the Host header: a gateway answers to its own address only.
 */
import { once } from "node:events";
import http from "node:http";

/** The ports where a page looks, the last one first: the others may belong to a person's own gateway. */
const PORTS = [19435, 19434, 19433, 19432];

export interface KnownPort {
  port: number;
  close: () => Promise<void>;
}

export async function onKnownPort(gatewayPort: number): Promise<KnownPort> {
  const server = http.createServer((request, response) => {
    const { method, url: path, headers } = request;
    const onward = http.request(
      {
        host: "127.0.0.1",
        port: gatewayPort,
        method,
        path,
        headers: { ...headers, host: `127.0.0.1:${gatewayPort}` },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  const port = await firstFree(server);
  return {
    port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function firstFree(server: http.Server): Promise<number> {
  for (const port of PORTS) {
    const bound = await new Promise<boolean>((resolve) => {
      const taken = () => resolve(false);
      server.once("error", taken);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", taken);
        resolve(true);
      });
    });
    if (bound) return port;
  }
  throw new Error(`the ports ${PORTS.join(", ")} are all taken`);
}
