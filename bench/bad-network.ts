import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that breaks. */
export interface BadNetwork {
  /** Of this end of it. */
  origin: string;
  /** Resolves once so many bytes, of all connections, have gone to the server. */
  after: (bytes: number) => Promise<void>;
  /** Ends every connection, in the middle of whatever it carries. */
  cut: () => void;
  sent: () => number;
  close: () => Promise<void>;
}

/** TCP over loopback, to `port`. */
export async function startBadNetwork(port: number): Promise<BadNetwork> {
  const sockets = new Set<Socket>();
  const waiting: { bytes: number; go: () => void }[] = [];
  let sent = 0;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined); // it closes
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    client.on("data", (bytes) => {
      sent += bytes.length;
      for (const one of waiting) if (sent >= one.bytes) one.go();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    origin: `http://127.0.0.1:${own}`,
    after: (bytes) => new Promise((go) => void waiting.push({ bytes, go })),
    cut,
    sent: () => sent,
    close: async () => {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
