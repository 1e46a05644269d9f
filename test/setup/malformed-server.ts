import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { serveOnLoopback, type LoopbackServer } from "../../tools/stack/loopback.ts";
import { png } from "../support/image-headers.ts";

/** The first bytes of a JPEG. */
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);
const BOMB_BYTES = 64 * 1024 ** 2;

type Behaviour = (socket: Socket, url: URL) => unknown;

/** Continuations of slow bodies that wait for `/next`, by id. */
const waiting = new Map<string, () => void>();
/** Requested paths by id. */
const requested = new Map<string, string[]>();

/**
 * Starts a server that sends malformed and hostile responses, written byte by byte. Each path is
 * one behaviour. With `?id=`, `/requested` lists the paths that were requested with that id, and
 * `/next` lets `/steps` send one more byte.
 */
export async function startMalformedServer(): Promise<LoopbackServer> {
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
      respond(socket, new URL(target, "http://malformed.test"));
    });
  });
  return {
    ...(await serveOnLoopback(server)),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function respond(socket: Socket, url: URL): void {
  const id = url.searchParams.get("id");
  const [, behaviour = ""] = url.pathname.split("/");
  if (id !== null && !["requested", "next"].includes(behaviour)) {
    requested.set(id, [...(requested.get(id) ?? []), url.pathname]);
  }
  (BEHAVIOURS[behaviour] ?? BEHAVIOURS["bytes"])!(socket, url);
}

const BEHAVIOURS: Record<string, Behaviour> = {
  bytes: (socket) => sendResponse(socket, "200 OK", {}, JPEG),
  requested: (socket, { searchParams }) =>
    sendResponse(
      socket,
      "200 OK",
      { "content-type": "application/json" },
      JSON.stringify(requested.get(searchParams.get("id")!) ?? []),
    ),
  /** Redirects `/hop/3` to `/hop/2`, and so on. */
  hop: (socket, { pathname, search }) => {
    const remainingHops = Number(pathname.split("/")[2]);
    if (remainingHops === 0) return sendResponse(socket, "200 OK", {}, JPEG);
    const statuses = ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"];
    const location = `${remainingHops % 2 ? "" : "/hop/"}${remainingHops - 1}${search}`;
    return sendResponse(
      socket,
      statuses[remainingHops % statuses.length]!,
      { location },
      "elsewhere",
    );
  },
  loop: (socket, { pathname, search }) =>
    sendResponse(socket, "302 Found", { location: pathname + search }, ""),
  to: (socket, { searchParams }) =>
    sendResponse(socket, "302 Found", { location: searchParams.get("url") ?? "" }, ""),
  /** Closes the connection of the first two requests with an id; then like `to`. */
  "fails-twice": (socket, url) => {
    const requests = requested.get(url.searchParams.get("id")!)!;
    return requests.length <= 2 ? socket.destroy() : BEHAVIOURS["to"]!(socket, url);
  },
  nowhere: (socket) => sendResponse(socket, "302 Found", {}, "nowhere"),
  silent: () => undefined,
  stalled: (socket) => sendHead(socket, "200 OK", { "content-length": "9" }).write(JPEG),
  steps: async (socket, { searchParams }) => {
    const id = searchParams.get("id")!;
    const next = () => new Promise<void>((resolve) => waiting.set(id, resolve));
    await next();
    sendHead(socket, "200 OK", { connection: "close" });
    for (; !socket.destroyed; await next()) socket.write("x");
  },
  next: async (socket, { searchParams }) => {
    const id = searchParams.get("id")!;
    while (!waiting.has(id)) await new Promise((resolve) => setTimeout(resolve, 1));
    waiting.get(id)!();
    waiting.delete(id);
    sendResponse(socket, "200 OK", {}, "");
  },
  endless: (socket) => {
    sendHead(socket, "200 OK", { "transfer-encoding": "chunked" });
    writeForever(socket, Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(0x10000), CRLF]));
  },
  "endless-head": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    writeForever(socket, Buffer.from(`x-more: ${"x".repeat(1000)}\r\n`.repeat(64)));
  },
  "no-http": (socket) => socket.end("220 mail.example ESMTP\r\n"),
  "cut-length": (socket) => sendHead(socket, "200 OK", { "content-length": "1000" }).end(JPEG),
  "cut-chunk": (socket) =>
    sendHead(socket, "200 OK", { "transfer-encoding": "chunked" }).end("64\r\nabc"),
  "cut-chunks": (socket) =>
    sendHead(socket, "200 OK", { "transfer-encoding": "chunked" }).end("3\r\nabc\r\n"),
  "cut-gzip": (socket) => {
    const bytes = gzipSync(Buffer.alloc(1000, "x")).subarray(0, -12);
    sendResponse(socket, "200 OK", { "content-encoding": "gzip" }, bytes);
  },
  "no-gzip": (socket) => sendResponse(socket, "200 OK", { "content-encoding": "gzip" }, JPEG),
  /** A part of a file that nobody has asked for. */
  part: (socket) =>
    sendResponse(socket, "206 Partial Content", { "content-range": "bytes 0-3/1000" }, JPEG),
  "part-without-range": (socket) => sendResponse(socket, "206 Partial Content", {}, JPEG),
  /** All of a file, named as a range. */
  "whole-range": (socket) =>
    sendResponse(socket, "206 Partial Content", { "content-range": "bytes 0-3/4" }, JPEG),
  /** Sends more bytes than the content-length. */
  "too-short": (socket) =>
    sendHead(socket, "200 OK", { "content-length": "4" }).end("x".repeat(99)),
  "too-long": (socket) =>
    sendHead(socket, "200 OK", { "content-length": String(1024 ** 4) }).write("x"),
  gzip: (socket) => sendResponse(socket, "200 OK", { "content-encoding": "gzip" }, bombs.gzip()),
  "decompression-bomb": (socket) => sendResponse(socket, "200 OK", {}, png(30_000, 30_000)),
  br: (socket) => sendResponse(socket, "200 OK", { "content-encoding": "br" }, bombs.br()),
  "gzip-twice": (socket) =>
    sendResponse(socket, "200 OK", { "content-encoding": "gzip, gzip" }, gzipSync(bombs.gzip())),
  /** Answers DNS over HTTPS from `ZONE`. */
  "dns-query": (socket, { searchParams }) => {
    const [name, type] = [searchParams.get("name")!, searchParams.get("type")!];
    const body = JSON.stringify({ Status: 0, ...ZONE[`${name} ${type}`] });
    sendResponse(socket, "200 OK", { "content-type": "application/dns-json" }, body);
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
  "a.example AAAA": {
    Answer: [{ name: "a.example", type: 28, data: "2606:2800:0220:1::0001" }],
  },
  "inside.example A": { Answer: [{ name: "inside.example", type: 1, data: "10.0.0.1" }] },
};

const bombs = {
  gzip: () => gzipSync(makeBomb()),
  br: () => brotliCompressSync(makeBomb()),
};

/** Returns 64 MB that begin like a JPEG. */
function makeBomb(): Buffer {
  const bytes = Buffer.alloc(BOMB_BYTES);
  JPEG.copy(bytes);
  return bytes;
}

function sendHead(socket: Socket, status: string, headers: Record<string, string>): Socket {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`);
  return socket;
}

function sendResponse(
  socket: Socket,
  status: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
): void {
  const length = String(Buffer.byteLength(body));
  sendHead(socket, status, { ...headers, "content-length": length }).write(body);
}

/** Writes until the peer closes the connection. */
function writeForever(socket: Socket, bytes: Buffer): void {
  while (!socket.destroyed && socket.write(bytes));
  if (!socket.destroyed) socket.once("drain", () => writeForever(socket, bytes));
}
