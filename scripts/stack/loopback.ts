import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { Server } from "node:net";

export interface LoopbackServer {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  /** `127.0.0.1:<port>`, as `FETCH_ALLOW` names it. */
  host: string;
  close(): Promise<void>;
}

/** An HTTP server on a free port of 127.0.0.1. */
export async function startLoopback(answer: RequestListener): Promise<LoopbackServer> {
  const server = createServer(answer);
  return {
    ...(await listenOnLoopback(server)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Has a server listen on a free port of 127.0.0.1; where that is. */
export async function listenOnLoopback(
  server: Server,
): Promise<Pick<LoopbackServer, "origin" | "host">> {
  server.listen({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  const host = `127.0.0.1:${address.port}`;
  return { origin: `http://${host}`, host };
}
