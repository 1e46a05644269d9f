import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy whose connections can be cut. */
export interface UnreliableNetwork {
  /** Origin of the proxy: `http://127.0.0.1:<port>`. */
  origin: string;
  /** Resolves once this many bytes, of all connections, have been sent to the server. */
  afterSent: (bytes: number) => Promise<void>;
  /** Closes every connection, whatever is in flight. */
  disconnectAll: () => void;
  /** Bytes sent to the server so far, of all connections. */
  sentBytes: () => number;
  close: () => Promise<void>;
}

/** Starts a TCP proxy on 127.0.0.1 that forwards to `port`. */
export async function startUnreliableNetwork(port: number): Promise<UnreliableNetwork> {
  const sockets = new Set<Socket>();
  const waiters: { bytes: number; resolve: () => void }[] = [];
  let sent = 0;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined); // "close" follows
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    client.on("data", (bytes) => {
      sent += bytes.length;
      for (const waiter of waiters) if (sent >= waiter.bytes) waiter.resolve();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: proxyPort } = server.address() as AddressInfo;
  const disconnectAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    origin: `http://127.0.0.1:${proxyPort}`,
    afterSent: (bytes) => new Promise((resolve) => void waiters.push({ bytes, resolve })),
    disconnectAll,
    sentBytes: () => sent,
    close: async () => {
      disconnectAll();
      server.close();
      await once(server, "close");
    },
  };
}
