import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { Decoder } from "../../src/durable/decoder.ts";
import { requestDecoder } from "../../src/media/decoder.ts";
import { fixture } from "../support/client.ts";

/** Options with which a container was started, and the requests that came to its port. */
interface Seen {
  started: unknown[];
  requests: [port: number, path: string][];
}

/** Stands in for the runtime's container: what listens in it is the engine. */
function containerOf(seen: Seen, startError: Error | null) {
  const respond = (port: number, input: RequestInfo, init?: RequestInit) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    seen.requests.push([port, pathname]);
    return fetch(env.DECODER_URL + pathname + search, init);
  };
  const exited = startError ? Promise.reject(startError) : new Promise(() => {});
  exited.catch(() => {}); // the object may look at it later
  return {
    running: false,
    start(options: unknown) {
      seen.started.push(options);
      this.running = startError === null;
    },
    monitor: () => exited,
    getTcpPort(port: number) {
      return {
        fetch: (input: RequestInfo, init?: RequestInit) =>
          startError ? Promise.reject(startError) : respond(port, input, init),
      };
    },
  };
}

/** Sends an image to the object `Decoder` whose container starts, or fails with an error. */
async function decodeImage(seen: Seen, startError: Error | null = null) {
  const image = await (await fixture("words.tif")).arrayBuffer();
  const stub = env.MODEL_LIMITER.getByName(crypto.randomUUID());
  return runInDurableObject(stub, async (_, state) => {
    Object.defineProperty(state, "container", { value: containerOf(seen, startError) });
    const decoder = new Decoder(state as ConstructorParameters<typeof Decoder>[0], env);
    const DECODER = {
      getByName: () => ({
        fetch: (input: unknown, init: unknown) =>
          decoder.fetch(new Request(input as string, init as RequestInit)),
      }),
    };
    const request = { method: "POST", body: new Blob([image]), fileId: null, timeoutMs: 30_000 };
    const response = await requestDecoder({ ...env, DECODER }, "media/image?side=64", request);
    const jpeg = Buffer.from(await response.arrayBuffer());
    return { status: response.status, start: jpeg.subarray(0, 2).toString("hex") };
  });
}

it("a container without internet is started for a request, and gets it at its port", async () => {
  const seen: Seen = { started: [], requests: [] };
  expect(await decodeImage(seen)).toEqual({ status: 200, start: "ffd8" });
  expect(seen.started).toEqual([
    {
      enableInternet: false,
      env: { ENGINE_HOST: "0.0.0.0", ENGINE_PORT: "8080", ENGINE_OPEN: "true" },
    },
  ]);
  expect(seen.requests.at(-1)).toEqual([8080, "/media/image"]);
  expect(new Set(seen.requests.map(([port]) => port))).toEqual(new Set([8080]));
});

it.each([
  "There is no container instance that can be provided to this durable object",
  "You are requesting too many containers per second",
  "Container exited with unexpected exit code: 1",
])("a container that doesn't start (%s) is a decoder that is away", async (message) => {
  const seen: Seen = { started: [], requests: [] };
  await expect(decodeImage(seen, new Error(message))).rejects.toMatchObject({
    code: "upstream_unavailable",
  });
  expect(seen.requests).toEqual([]);
});
