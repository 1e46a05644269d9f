import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withRestarts } from "../../bench/service-restarts.ts";

const HOST = "Host: sightline.test\r\n";
/** A second request that is smuggled in the first. */
const SMUGGLED = `GET /smuggled HTTP/1.1\r\n${HOST}\r\n`;
const LAST_REQUEST = `GET /health HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;

const post = (headers: string, body: string) =>
  `POST /init HTTP/1.1\r\n${HOST}${headers}\r\n\r\n${body}`;
const get = (headers: string) => `GET /health HTTP/1.1\r\n${HOST}${headers}\r\n\r\n`;

let port: number;
const done = Promise.withResolvers<void>();
let running: Promise<void>;

beforeAll(async () => {
  const ready = Promise.withResolvers<void>();
  const options = { log: () => {}, signal: new AbortController().signal };
  running = withRestarts(options, async (start) => {
    const service = await start();
    port = Number(new URL(service.url).port);
    ready.resolve();
    await done.promise;
    await service.stop();
  });
  await Promise.race([ready.promise, running]);
});

afterAll(async () => {
  done.resolve();
  await running;
});

/** Sends bytes and, after the first response, a last request; resolves to all responses. */
async function exchange(text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let responses = "";
  let isLast = false;
  socket.on("data", (chunk) => {
    responses += chunk.toString("latin1");
    if (!isLast) socket.write(LAST_REQUEST);
    isLast = true;
  });
  socket.on("error", () => socket.destroy());
  socket.write(Buffer.from(text, "latin1"));
  await once(socket, "close");
  return responses;
}

function listStatuses(responses: string): string[] {
  return [...responses.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!);
}

describe("a request with ambiguous framing", () => {
  it.each<[string, string]>([
    [
      "a length and chunks",
      post(
        `Content-Length: ${SMUGGLED.length + 5}\r\nTransfer-Encoding: chunked`,
        `0\r\n\r\n${SMUGGLED}`,
      ),
    ],
    [
      "chunks and a length",
      post("Transfer-Encoding: chunked\r\nContent-Length: 4", `0\r\n\r\n${SMUGGLED}`),
    ],
    ["two lengths", post(`Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}`, SMUGGLED)],
    ["a list of lengths", post(`Content-Length: 0, ${SMUGGLED.length}`, SMUGGLED)],
    ["a length with a sign", post(`Content-Length: +${SMUGGLED.length}`, SMUGGLED)],
    ["a hexadecimal length", post(`Content-Length: 0x${SMUGGLED.length.toString(16)}`, SMUGGLED)],
    ["a space before the colon", post(`Content-Length : ${SMUGGLED.length}`, SMUGGLED)],
    ["another encoding", post("Transfer-Encoding: xchunked", SMUGGLED)],
    ["a list of encodings", post("Transfer-Encoding: chunked, identity", `0\r\n\r\n${SMUGGLED}`)],
    ["a folded length", post(`Content-Length:\r\n ${SMUGGLED.length}`, SMUGGLED)],
    ["a folded encoding", get("X-A: b\r\n Transfer-Encoding: chunked")],
    ["a bare carriage return", get("X-A: b\rTransfer-Encoding: chunked")],
    ["a NUL", get("X-A: b\0c")],
    ["a body on a GET", `${get(`Content-Length: ${SMUGGLED.length}`)}${SMUGGLED}`],
    ["two hosts", `GET /health HTTP/1.1\r\n${HOST}${HOST}\r\n`],
  ])("does not smuggle a second request: %s", async (_, text) => {
    const responses = await exchange(text);
    expect(responses).not.toContain("/smuggled");
    expect(listStatuses(responses).length).toBeGreaterThan(0);
    expect(listStatuses(responses).length).toBeLessThan(3);
  });
});

describe("two pipelined requests", () => {
  it("get two responses", async () => {
    const responses = await exchange(get("X-A: b") + SMUGGLED);
    expect(listStatuses(responses).slice(0, 2)).toEqual(["200", "404"]);
    expect(responses).toContain("/smuggled");
  });
});

it("a request id that isn't printable ASCII, or is folded, is replaced", async () => {
  for (const id of ["\xe9\xff", "a\r\n b", "a\tb"]) {
    const responses = await exchange(get(`X-Request-Id: ${id}`));
    for (const [, requestId] of responses.matchAll(/^x-request-id: (.*)\r$/gim)) {
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    }
  }
});
