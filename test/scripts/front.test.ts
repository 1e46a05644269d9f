import { once } from "node:events";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createFront } from "../../tools/stack/front.ts";

const MAX_BODY_BYTES = 1000;

const servers: Server[] = [];
let port: number;
let requests: { url: string; bytes: number; isComplete: boolean }[] = [];
let lines: string[] = [];
/** URLs of responses that were closed before their end. */
let closedUrls: string[] = [];

/** A stand-in for the runtime that records requests and answers with their host and body size. */
const runtime = createServer((request, response) => {
  const seen = { url: request.url ?? "", bytes: 0, isComplete: false };
  requests.push(seen);
  response.on("close", () => response.writableFinished || closedUrls.push(seen.url));
  request.on("data", (chunk: Buffer) => (seen.bytes += chunk.length));
  request.on("end", () => {
    seen.isComplete = true;
    if (seen.url === "/events") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n"); // stays open
    } else response.end(JSON.stringify({ host: request.headers.host, bytes: seen.bytes }));
  });
});

beforeAll(async () => {
  const listen = async (server: Server) => {
    servers.push(server.listen(0, "127.0.0.1"));
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const runtimePort = await listen(runtime);
  const onRequest = (line: string) => void lines.push(line);
  port = await listen(createFront({ runtimePort, maxBodyBytes: MAX_BODY_BYTES, onRequest }));
});

beforeEach(() => {
  requests = [];
  closedUrls = [];
  lines = [];
});

afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

const send = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);

/** Sends a path as it is, which `fetch` would normalise. */
async function sendRaw(path: string): Promise<number | undefined> {
  const call = httpRequest({ host: "127.0.0.1", port, path }).end();
  const [response] = (await once(call, "response")) as [{ statusCode?: number }];
  return response.statusCode;
}

describe("the front of the local stack", () => {
  it("forwards a request with its host and body", async () => {
    const body = "x".repeat(MAX_BODY_BYTES);
    const response = await send("/index?limit=1", { method: "POST", body });
    expect(await response.json()).toEqual({ host: `127.0.0.1:${port}`, bytes: MAX_BODY_BYTES });
    expect(requests[0]!.url).toBe("/index?limit=1");
  });

  it("refuses a declared body over the limit before it is sent", async () => {
    const response = await send("/index/a/video", { method: "POST", body: "x".repeat(1001) });
    expect(response.status).toBe(413);
    expect(await response.text()).toContain("MAX_BODY_MB");
    expect(requests).toEqual([]);
  });

  it("refuses a body of unknown length once it exceeds the limit", async () => {
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(400));
      },
    });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const status = await send("/index/a/video", init).then(
      (response) => response.status,
      () => "closed",
    );
    expect([413, "closed"]).toContain(status);
    expect(requests.every(({ isComplete }) => !isComplete)).toBe(true);
  });

  it("passes on the parts of a stream as they come, and that the client has gone", async () => {
    const controller = new AbortController();
    const response = await send("/events", { signal: controller.signal });
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("data: 1\n\n");
    expect(closedUrls).not.toContain("/events");
    controller.abort();
    await expect.poll(() => closedUrls).toContain("/events");
  });

  it.each([
    "/cdn-cgi/local/scheduled",
    "/cdn-cgi/local/r2/public/media/key",
    "/cdn-cgi/mf/scheduled",
    "//cdn-cgi/local/scheduled",
    "/%63dn-cgi/local/scheduled",
    "/CDN-CGI/local/scheduled",
    "/x/../cdn-cgi/local/scheduled",
    "/__cf_local/stream",
  ])("hides the runtime's own path %s", async (path) => {
    expect(await sendRaw(path)).toBe(404);
    expect(requests).toEqual([]);
  });

  it("refuses a malformed URL", async () => {
    expect(await sendRaw("http://[")).toBe(400);
  });

  it("logs 499 for a client that goes away in the middle of its upload", async () => {
    const options = { host: "127.0.0.1", port, path: "/index/a/video", method: "POST" };
    const upload = httpRequest(options).on("error", () => undefined);
    upload.write("x".repeat(100));
    await expect.poll(() => requests.length).toBe(1);
    upload.destroy();
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toMatch(/^499 POST \/index\/a\/video \d+ ms$/);
  });

  it("logs neither queries nor the tokens of media URLs", async () => {
    await (await send("/index/a/answer?query=secret")).text();
    await (await send("/media/secret-token/film.mp4")).text();
    await expect.poll(() => lines.length).toBe(2);
    expect(lines[0]).toMatch(/^200 GET \/index\/a\/answer \d+ ms$/);
    expect(lines[1]).toMatch(/^200 GET \/media\/… \d+ ms$/);
  });
});
