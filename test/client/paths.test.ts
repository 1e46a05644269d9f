import { describe, expect, it } from "vitest";
import { formatPath } from "../../client/src/api-path.ts";
import { Sightline, ValidationError } from "../../client/src/index.ts";
import { matchesOperation } from "../../tools/openapi.ts";
import { OPERATIONS } from "../support/contract.ts";

const REFUSED = ["", ".", "..", "\ud800"];
const ENCODED = ["../..", "%2e%2e", "a/b", "a?b", "a#b", "..\\", "a\tb", "...", " ", "日本"];

describe("a path of the API", () => {
  it.each(REFUSED)("is refused with the segment %j", (segment) => {
    expect(() => formatPath(["index", segment, "video", "x"])).toThrow(ValidationError);
    expect(() => formatPath(["index", "a", "video", segment])).toThrow(ValidationError);
  });

  it("is refused with a segment that isn't text, such as a list", () => {
    const list = [".."] as unknown as string;
    expect(() => formatPath(["index", "a", "video", list])).toThrow(ValidationError);
  });

  it.each(ENCODED)("keeps its segments with %j", (segment) => {
    const path = formatPath(["index", segment, "video", segment]);
    expect(new URL(path, "https://a.example").pathname).toBe(path);
    expect(path.split("/").map(decodeURIComponent)).toEqual([
      "",
      "index",
      segment,
      "video",
      segment,
    ]);
  });
});

/** Returns a client, and the method and path of each request that it has sent. */
function recordingClient() {
  const sent: string[] = [];
  const fetch = (url: string, { method }: RequestInit) => {
    sent.push(`${method} ${url.slice("https://a.example".length).split("?")[0]}`);
    return Promise.resolve(Response.json({ detail: "" }, { status: 404 }));
  };
  const options = { url: "https://a.example", apiKey: "k", maxRetries: 0, fetch };
  return { client: new Sightline(options), sent };
}

type Callable = Record<string, (...given: unknown[]) => unknown>;

/** Calls every method of an object with `text` for each argument, and reads what it returns. */
async function callAll(target: object, text: string): Promise<void> {
  for (let type = Object.getPrototypeOf(target); type !== Object.prototype;) {
    for (const name of Object.getOwnPropertyNames(type)) {
      if (name === "constructor" || name === "pathOf" || name === "index") continue;
      for (const given of [[text], [text, text], [[text]], [{ query: "a" }], [text, "vtt"]]) {
        try {
          const result = (target as Callable)[name]!(...given) as object;
          if (Symbol.asyncIterator in result) {
            for await (const _ of result as AsyncIterable<unknown>) break;
          } else await Promise.resolve(result);
        } catch {
          // Every response is an error.
        }
      }
    }
    type = Object.getPrototypeOf(type);
  }
}

async function requestsWith(indexName: string, text: string): Promise<string[]> {
  const { client, sent } = recordingClient();
  const index = client.index(indexName);
  const { videos, images, imports, sources, uploads, webhook } = index;
  const parts = [videos, images, imports, sources, uploads, webhook, index];
  for (const target of [...parts, client.indices, client.jobs, client.keys]) {
    await callAll(target, text);
  }
  return sent;
}

const ofOperation = (request: string) => {
  const [method, path] = request.split(" ") as [string, string];
  return OPERATIONS.some((one) => one.method === method && matchesOperation(one, path));
};

it.each(REFUSED)("no method of the client sends a request about %j", async (segment) => {
  expect((await requestsWith(segment, "x")).filter(isBelowIndex)).toEqual([]);
  const sent = await requestsWith("a", segment);
  expect(sent.filter((request) => !ofOperation(request))).toEqual([]);
  expect(sent.filter((request) => /^(DELETE|PATCH) /.test(request))).toEqual([]);
});

/** Whether a request is one below an index: none should be sent for the refused name. */
function isBelowIndex(request: string): boolean {
  return / \/index\/.+\//.test(request);
}

it.each(ENCODED)("every request of the client about %j is one of the API", async (segment) => {
  const sent = await requestsWith(segment, segment);
  expect(sent.length).toBeGreaterThan(30);
  expect(sent.filter((request) => !ofOperation(request))).toEqual([]);
});
