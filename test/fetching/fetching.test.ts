import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { download } from "../../src/fetching/download.ts";
import { fetchWithRedirects } from "../../src/fetching/guarded-fetch.ts";
import { resolveName } from "../../src/fetching/public-url.ts";
import { postWebhook } from "../../src/fetching/webhook.ts";
import { fetchPage } from "../../src/platforms/web.ts";
import { PUBLIC_URLS, BLOCKED_URLS } from "../support/addresses.ts";
import { type Client, newClient } from "../support/client.ts";

const ORIGIN = inject("malformedOrigin");
const KIB = 1024;
const signal = new AbortController().signal;

const pathUrl = (path: string) => `${ORIGIN}${path}`;
const redirectUrl = (url: string) => pathUrl(`/to?url=${encodeURIComponent(url)}`);
const errorWithCode = (code: string) => expect.objectContaining({ code });

/** Downloads a path, and returns the number of bytes. */
async function downloadedBytes(
  path: string,
  maxBytes = 100 * KIB,
  timeouts?: Timeouts,
): Promise<number> {
  let bytes = 0;
  for await (const chunk of download(pathUrl(path), env.FETCH_ALLOW, maxBytes, timeouts)) {
    bytes += chunk.length;
    expect(bytes).toBeLessThanOrEqual(maxBytes);
  }
  return bytes;
}

type Timeouts = Parameters<typeof download>[3];

async function requestedPaths(id: string): Promise<string[]> {
  return (await fetch(pathUrl(`/requested?id=${id}`))).json();
}

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("the runtime's URL parser", () => {
  it.each(Object.entries(BLOCKED_URLS))("blocks %s", async (_, urls) => {
    for (const url of urls) {
      const path = `/index/a/image?image_url=${encodeURIComponent(url)}`;
      const issues = await client.issues("POST", path);
      expect([url, issues]).toEqual([
        url,
        [[["query", "image_url"], expect.stringMatching(/^(value_error|url_parsing)$/)]],
      ]);
    }
    expect((await client.json("GET", "/index/a")).total).toBe(0);
  });

  it("connects to the host that was checked", () => {
    for (const [url, host] of PUBLIC_URLS) expect(new URL(url).host).toBe(host);
  });
});

describe("a redirect", () => {
  it("is followed five times, relative or not, but not six times", async () => {
    const id = crypto.randomUUID();
    expect(await downloadedBytes(`/hop/${LIMITS.redirectCount}?id=${id}`)).toBe(4);
    await expect(downloadedBytes(`/hop/${LIMITS.redirectCount + 1}?id=${id}-6`)).rejects.toEqual(
      errorWithCode("download_refused"),
    );
    expect(await requestedPaths(id)).toEqual([5, 4, 3, 2, 1, 0].map((hops) => `/hop/${hops}`));
    expect(await requestedPaths(`${id}-6`)).toEqual(
      [6, 5, 4, 3, 2, 1].map((hops) => `/hop/${hops}`),
    );
  });

  it("loop is ended", async () => {
    const id = crypto.randomUUID();
    await expect(downloadedBytes(`/loop?id=${id}`)).rejects.toEqual(
      errorWithCode("download_refused"),
    );
    expect(await requestedPaths(id)).toHaveLength(LIMITS.redirectCount + 1);
  });

  it("without a location is handled like any other response", async () => {
    await expect(downloadedBytes("/nowhere")).rejects.toEqual(errorWithCode("download_refused"));
  });

  const targets = Object.entries(BLOCKED_URLS).map(([reason, urls]): [string, string[]] => [
    reason,
    // URLs that a `Location` header can contain, and that lead to another origin.
    urls.filter((url) => {
      const target = URL.parse(url, ORIGIN);
      const isElsewhere = target === null || (URL.canParse(url) && target.origin !== ORIGIN);
      return isElsewhere && /^[\x21-\x7e]+$/.test(url);
    }),
  ]);
  it.each(targets)("isn't followed to %s", async (_, urls) => {
    expect(urls.length).toBeGreaterThan(4);
    for (const url of urls) {
      const outcome = fetchWithRedirects(redirectUrl(url), env.FETCH_ALLOW, signal);
      await expect(outcome, url).rejects.toEqual(errorWithCode("blocked_address"));
    }
  });

  it("is checked after other redirects, and also for web pages", async () => {
    const inside = redirectUrl(
      redirectUrl(redirectUrl(redirectUrl(redirectUrl("http://169.254.169.254/")))),
    );
    await expect(fetchWithRedirects(inside, env.FETCH_ALLOW, signal)).rejects.toEqual(
      errorWithCode("blocked_address"),
    );
    await expect(fetchPage(env.FETCH_ALLOW, inside)).rejects.toEqual(
      errorWithCode("blocked_address"),
    );
  });

  it("to a blocked address fails the asset", async () => {
    const url = encodeURIComponent(redirectUrl("http://[::ffff:169.254.169.254]/latest/"));
    const asset = await client.json("POST", `/index/a/image?image_url=${url}`);
    const { error } = await client.waitForAsset("a", asset);
    expect(error.code).toBe("blocked_address");
  });
});

describe("a host name", () => {
  const resolvers: [string, string[]][] = [
    ["10.0.0.1.nip.io", ["10.0.0.1"]],
    ["a public and a private address", ["93.184.216.34", "127.0.0.1"]],
    ["a private IPv6 address", ["93.184.216.34", "[::1]"]],
    ["an IPv4-mapped address", ["[::ffff:7f00:1]"]],
    ["a metadata service", ["169.254.169.254"]],
    ["a malformed address", ["example"]],
  ];
  it.each(resolvers)("that resolves to %s isn't fetched", async (_, addresses) => {
    const resolve = async () => addresses;
    const url = "http://media.example/a.mp4";
    for (const start of [url, redirectUrl(url)]) {
      const outcome = fetchWithRedirects(start, env.FETCH_ALLOW, signal, {}, resolve);
      await expect(outcome).rejects.toEqual(errorWithCode("blocked_address"));
    }
    const message = { url, id: "1", payload: "{}", secrets: [] };
    const outcome = await postWebhook(message, "", 0, undefined, resolve);
    expect(outcome).toMatchObject({ statusCode: null, error: expect.stringContaining("private") });
  });

  it("without an address isn't fetched, and the error is transient", async () => {
    const nowhere = async () => [];
    const outcome = fetchWithRedirects("http://media.example/", "", signal, {}, nowhere);
    await expect(outcome).rejects.toThrow("no address");
  });

  it("isn't resolved if it is an address or exempt", async () => {
    const names: string[] = [];
    const resolve = async (name: string) => {
      names.push(name);
      return ["127.0.0.1"];
    };
    await fetchWithRedirects(pathUrl("/bytes"), env.FETCH_ALLOW, signal, {}, resolve);
    await fetchWithRedirects(
      redirectUrl("http://sub.media.example/"),
      env.FETCH_ALLOW,
      signal,
      {},
      resolve,
    ).catch(() => undefined);
    expect(names).toEqual(["sub.media.example"]);
  });

  it("is resolved over HTTPS, to IPv4 and IPv6", async () => {
    const resolve = (name: string) => resolveName(name, signal, pathUrl("/dns-query"));
    expect(await resolve("a.example")).toEqual(["93.184.216.34", "[2606:2800:220:1::1]"]);
    expect(await resolve("inside.example")).toEqual(["10.0.0.1"]);
    expect(await resolve("nothing.example")).toEqual([]);
    await expect(resolveName("a.example", signal, pathUrl("/bytes"))).rejects.toThrow();
  });
});

describe("a response body", () => {
  it.each(["/endless", "/gzip", "/br", "/too-long"])(
    "is limited, whatever its headers say: %s",
    async (path) => {
      await expect(downloadedBytes(path)).rejects.toEqual(errorWithCode("download_refused"));
    },
  );

  it.each(["/cut-length", "/cut-chunk", "/cut-chunks", "/cut-gzip", "/no-gzip"])(
    "that ends early is an error: %s",
    async (path) => {
      await expect(downloadedBytes(path)).rejects.toEqual(errorWithCode("download_failed"));
    },
  );

  it.each(["/endless-head", "/no-http"])(
    "isn't read if the response isn't HTTP: %s",
    async (path) => {
      await expect(downloadedBytes(path)).rejects.toEqual(errorWithCode("download_failed"));
    },
  );

  it.each(["/part", "/part-without-range"])(
    "that is a part of the file is an error: %s",
    async (path) => {
      await expect(downloadedBytes(path)).rejects.toEqual(errorWithCode("download_failed"));
    },
  );

  it("that is a range with all of the file is the file", async () => {
    expect(await downloadedBytes("/whole-range")).toBe(4);
  });

  it("that was compressed twice is decompressed once", async () => {
    expect(await downloadedBytes("/gzip-twice")).toBeLessThan(KIB);
  });

  it("ends at its Content-Length", async () => {
    expect(await downloadedBytes("/too-short")).toBe(4);
  });

  it.each(["/endless", "/gzip"])("of a web page is read up to the limit: %s", async (path) => {
    const { bytes } = await fetchPage(env.FETCH_ALLOW, pathUrl(path));
    expect(bytes.length).toBeLessThanOrEqual(LIMITS.webPageBytes);
  });

  it.each(["/silent", "/stalled"])("that stalls times out: %s", async (path) => {
    const timeouts = { fetchMs: 3_600_000, fetchIdleMs: 50 };
    await expect(downloadedBytes(path, KIB, timeouts)).rejects.toEqual(
      errorWithCode("download_failed"),
    );
  });

  it("may pauseMs between two bytes up to the idle limit", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const steps = slowBody();
    for (let i = 0; i < 4; i++) expect(await steps.after(LIMITS.fetchIdleMs - 1)).toBe("x");
    const next = steps.body.next();
    vi.advanceTimersByTime(LIMITS.fetchIdleMs);
    await expect(next).rejects.toEqual(errorWithCode("download_failed"));
  });

  it("that never pauses too long is ended at the total time limit", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const steps = slowBody();
    const pauseMs = 25_000;
    for (let ms = pauseMs; ms < LIMITS.fetchMs; ms += pauseMs) {
      expect(await steps.after(pauseMs)).toBe("x");
    }
    await expect(steps.after(pauseMs)).rejects.toEqual(errorWithCode("download_failed"));
  });
});

/** Downloads a body whose bytes are sent one by one, by `after`. */
function slowBody() {
  const id = crypto.randomUUID();
  const body = download(pathUrl(`/steps?id=${id}`), env.FETCH_ALLOW, 100 * KIB);
  return {
    body,
    async after(ms: number): Promise<string> {
      const next = body.next();
      vi.advanceTimersByTime(ms);
      await Promise.race([fetch(pathUrl(`/next?id=${id}`)).then((r) => r.text()), next]);
      const { value } = await next;
      return new TextDecoder().decode(value ?? undefined);
    },
  };
}
