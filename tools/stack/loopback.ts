import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { Server } from "node:net";

export interface LoopbackServer {
  /** Origin: `http://127.0.0.1:<port>`. */
  origin: string;
  /** Host and port: `127.0.0.1:<port>`, the format of `FETCH_ALLOW`. */
  host: string;
  close(): Promise<void>;
}

/** Starts an HTTP server on a free port of 127.0.0.1. */
export async function startLoopback(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(listener);
  server.keepAliveTimeout = 0; // clients close idle connections: no request meets a closing one
  return {
    ...(await serveOnLoopback(server)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Makes a server listen on a free port of 127.0.0.1; returns its address. */
export async function serveOnLoopback(
  server: Server,
): Promise<Pick<LoopbackServer, "origin" | "host">> {
  server.listen({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  const host = `127.0.0.1:${address.port}`;
  return { origin: `http://${host}`, host };
}
