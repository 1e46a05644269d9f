import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Returns the port in an environment variable, or `fallback`. */
export function readPort(variable: string, fallback: number): number {
  const text = process.env[variable];
  if (!text) return fallback;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new Error(`${variable} must be a port from 1 to 65535, not "${text}".`);
  }
  return port;
}

/** Returns a port of 127.0.0.1 that is free now. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("No port is free.");
  return address.port;
}

/** Throws a readable error that names the port and `variable` if 127.0.0.1:`port` can't be used. */
export async function requireFreePort(port: number, variable: string): Promise<void> {
  const code = await listenError(port);
  if (code === null) return;
  const reason = code === "EADDRINUSE" ? "in use by another program" : `not available (${code})`;
  const other = port === 65_535 ? port - 10 : port + 10;
  throw new Error(
    `Port ${port} is ${reason}. Stop that program, or choose another port: ${variable}=${other}.`,
  );
}

/** Returns whether something accepts connections at 127.0.0.1:`port`. */
export function isPortOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const settle = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, settle(false)).once("connect", settle(true));
    socket.once("error", settle(false));
  });
}

/** Tries to listen on a port; returns the error code, or null if the port is free. */
function listenError(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () =>
      server.close(() => resolve(null)),
    );
  });
}
