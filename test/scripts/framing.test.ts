import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withRestarts } from "../../bench/restarting.ts";

const HOST = "Host: sightline.test\r\n";
/** What a second request looks like that is hidden in the first. */
const HIDDEN = `GET /smuggled HTTP/1.1\r\n${HOST}\r\n`;
const LAST = `GET /health HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;

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
}, 120_000);

afterAll(async () => {
  done.resolve();
  await running;
}, 60_000);

/** Sends the bytes and, once something has come back, a last request; resolves to all that came. */
async function exchange(text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answers = "";
  let isLast = false;
  socket.on("data", (chunk) => {
    answers += chunk.toString("latin1");
    if (!isLast) socket.write(LAST);
    isLast = true;
  });
  socket.on("error", () => socket.destroy());
  socket.write(Buffer.from(text, "latin1"));
  await once(socket, "close");
  return answers;
}

function statusesOf(answers: string): string[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!);
}

describe("one request has one answer", () => {
  it.each<[string, string]>([
    [
      "a length and chunks",
      post(
        `Content-Length: ${HIDDEN.length + 5}\r\nTransfer-Encoding: chunked`,
        `0\r\n\r\n${HIDDEN}`,
      ),
    ],
    [
      "chunks and a length",
      post("Transfer-Encoding: chunked\r\nContent-Length: 4", `0\r\n\r\n${HIDDEN}`),
    ],
    ["two lengths", post(`Content-Length: 0\r\nContent-Length: ${HIDDEN.length}`, HIDDEN)],
    ["a list of lengths", post(`Content-Length: 0, ${HIDDEN.length}`, HIDDEN)],
    ["a length with a sign", post(`Content-Length: +${HIDDEN.length}`, HIDDEN)],
    ["a hexadecimal length", post(`Content-Length: 0x${HIDDEN.length.toString(16)}`, HIDDEN)],
    ["a space before the colon", post(`Content-Length : ${HIDDEN.length}`, HIDDEN)],
    ["another encoding", post("Transfer-Encoding: xchunked", HIDDEN)],
    ["a list of encodings", post("Transfer-Encoding: chunked, identity", `0\r\n\r\n${HIDDEN}`)],
    ["a folded length", post(`Content-Length:\r\n ${HIDDEN.length}`, HIDDEN)],
    ["a folded encoding", get("X-A: b\r\n Transfer-Encoding: chunked")],
    ["a bare carriage return", get("X-A: b\rTransfer-Encoding: chunked")],
    ["a NUL", get("X-A: b\0c")],
    ["a body where none belongs", `${get(`Content-Length: ${HIDDEN.length}`)}${HIDDEN}`],
    ["two hosts", `GET /health HTTP/1.1\r\n${HOST}${HOST}\r\n`],
  ])("with %s", async (_, text) => {
    const answers = await exchange(text);
    expect(answers).not.toContain("/smuggled");
    expect(statusesOf(answers).length).toBeGreaterThan(0);
    expect(statusesOf(answers).length).toBeLessThan(3);
  });

  it("and two that follow each other have two", async () => {
    const answers = await exchange(get("X-A: b") + HIDDEN);
    expect(statusesOf(answers).slice(0, 2)).toEqual(["200", "404"]);
    expect(answers).toContain("/smuggled");
  });
});

it("what isn't ASCII, or folded, is no request id", async () => {
  for (const id of ["\xe9\xff", "a\r\n b", "a\tb"]) {
    const answers = await exchange(get(`X-Request-Id: ${id}`));
    for (const [, answered] of answers.matchAll(/^x-request-id: (.*)\r$/gim)) {
      expect(answered).toMatch(/^[0-9a-f-]{36}$/);
    }
  }
});
