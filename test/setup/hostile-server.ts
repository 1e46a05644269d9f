import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { listenOnLoopback, type LoopbackServer } from "../../scripts/stack/loopback.ts";
import { png } from "../picture-headers.ts";

/** A JPEG by its first bytes. */
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);
const BOMB_BYTES = 64 * 1024 ** 2;

type Answer = (socket: Socket, url: URL) => unknown;

/** How connections are kept to what `/next` lets a slow body send. */
const waiting = new Map<string, () => void>();
const asked = new Map<string, string[]>();

/**
 * A server that keeps to nothing: what it sends is written by hand. Each path is a trick; `?id=` has `/asked` tell
 * what was asked under that id, and `/next` lets `/steps` send one more byte.
 */
export async function startHostileServer(): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (!text.includes("\r\n\r\n")) return;
      const target = text.split(" ")[1] ?? "/";
      text = "";
      answer(socket, new URL(target, "http://hostile.test"));
    });
  });
  return {
    ...(await listenOnLoopback(server)),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function answer(socket: Socket, url: URL): void {
  const id = url.searchParams.get("id");
  const [, trick = ""] = url.pathname.split("/");
  if (id !== null && !["asked", "next"].includes(trick)) {
    asked.set(id, [...(asked.get(id) ?? []), url.pathname]);
  }
  (TRICKS[trick] ?? TRICKS["bytes"])!(socket, url);
}

const TRICKS: Record<string, Answer> = {
  bytes: (socket) => whole(socket, "200 OK", {}, JPEG),
  asked: (socket, { searchParams }) =>
    whole(
      socket,
      "200 OK",
      { "content-type": "application/json" },
      JSON.stringify(asked.get(searchParams.get("id")!) ?? []),
    ),
  /** `/hop/3` leads to `/hop/2`, and so on. */
  hop: (socket, { pathname, search }) => {
    const left = Number(pathname.split("/")[2]);
    if (left === 0) return whole(socket, "200 OK", {}, JPEG);
    const statuses = ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"];
    const location = `${left % 2 ? "" : "/hop/"}${left - 1}${search}`;
    return whole(socket, statuses[left % statuses.length]!, { location }, "elsewhere");
  },
  loop: (socket, { pathname, search }) =>
    whole(socket, "302 Found", { location: pathname + search }, ""),
  to: (socket, { searchParams }) =>
    whole(socket, "302 Found", { location: searchParams.get("url") ?? "" }, ""),
  nowhere: (socket) => whole(socket, "302 Found", {}, "nowhere"),
  silent: () => undefined,
  stalled: (socket) => head(socket, "200 OK", { "content-length": "9" }).write(JPEG),
  steps: async (socket, { searchParams }) => {
    const id = searchParams.get("id")!;
    const next = () => new Promise<void>((resolve) => waiting.set(id, resolve));
    await next();
    head(socket, "200 OK", { connection: "close" });
    for (; !socket.destroyed; await next()) socket.write("x");
  },
  next: async (socket, { searchParams }) => {
    const id = searchParams.get("id")!;
    while (!waiting.has(id)) await new Promise((resolve) => setTimeout(resolve, 1));
    waiting.get(id)!();
    waiting.delete(id);
    whole(socket, "200 OK", {}, "");
  },
  endless: (socket) => {
    head(socket, "200 OK", { "transfer-encoding": "chunked" });
    pour(socket, Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(0x10000), CRLF]));
  },
  "endless-head": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    pour(socket, Buffer.from(`x-more: ${"x".repeat(1000)}\r\n`.repeat(64)));
  },
  "no-http": (socket) => socket.end("220 mail.example ESMTP\r\n"),
  "cut-length": (socket) => head(socket, "200 OK", { "content-length": "1000" }).end(JPEG),
  "cut-chunk": (socket) =>
    head(socket, "200 OK", { "transfer-encoding": "chunked" }).end("64\r\nabc"),
  "cut-chunks": (socket) =>
    head(socket, "200 OK", { "transfer-encoding": "chunked" }).end("3\r\nabc\r\n"),
  "cut-gzip": (socket) => {
    const bytes = gzipSync(Buffer.alloc(1000, "x")).subarray(0, -12);
    whole(socket, "200 OK", { "content-encoding": "gzip" }, bytes);
  },
  "no-gzip": (socket) => whole(socket, "200 OK", { "content-encoding": "gzip" }, JPEG),
  /** More than it says. */
  "too-short": (socket) => head(socket, "200 OK", { "content-length": "4" }).end("x".repeat(99)),
  "too-long": (socket) =>
    head(socket, "200 OK", { "content-length": String(1024 ** 4) }).write("x"),
  gzip: (socket) => whole(socket, "200 OK", { "content-encoding": "gzip" }, bombs.gzip()),
  "picture-bomb": (socket) => whole(socket, "200 OK", {}, png(30_000, 30_000)),
  br: (socket) => whole(socket, "200 OK", { "content-encoding": "br" }, bombs.br()),
  "gzip-twice": (socket) =>
    whole(socket, "200 OK", { "content-encoding": "gzip, gzip" }, gzipSync(bombs.gzip())),
  /** DNS over HTTPS: addresses by name. */
  "dns-query": (socket, { searchParams }) => {
    const [name, type] = [searchParams.get("name")!, searchParams.get("type")!];
    const body = JSON.stringify({ Status: 0, ...ZONE[`${name} ${type}`] });
    whole(socket, "200 OK", { "content-type": "application/dns-json" }, body);
  },
};

const CRLF = Buffer.from("\r\n");

const ZONE: Record<string, { Answer: { name: string; type: number; data: string }[] }> = {
  "a.example A": {
    Answer: [
      { name: "a.example", type: 5, data: "b.example." },
      { name: "b.example", type: 1, data: "93.184.216.34" },
    ],
  },
  "a.example AAAA": { Answer: [{ name: "a.example", type: 28, data: "2606:2800:0220:1::0001" }] },
  "inside.example A": { Answer: [{ name: "inside.example", type: 1, data: "10.0.0.1" }] },
};

const bombs = {
  gzip: () => gzipSync(bomb()),
  br: () => brotliCompressSync(bomb()),
};

/** Begins as a JPEG does. */
function bomb(): Buffer {
  const bytes = Buffer.alloc(BOMB_BYTES);
  JPEG.copy(bytes);
  return bytes;
}

function head(socket: Socket, status: string, headers: Record<string, string>): Socket {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`);
  return socket;
}

function whole(
  socket: Socket,
  status: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
): void {
  const length = String(Buffer.byteLength(body));
  head(socket, status, { ...headers, "content-length": length }).write(body);
}

/** Until the other side has had enough. */
function pour(socket: Socket, bytes: Buffer): void {
  while (!socket.destroyed && socket.write(bytes));
  if (!socket.destroyed) socket.once("drain", () => pour(socket, bytes));
}
