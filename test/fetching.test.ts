import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { LIMITS } from "../src/config.ts";
import { fetchPage } from "../src/fetching/page.ts";
import { download } from "../src/fetching/download.ts";
import { follow } from "../src/fetching/follow.ts";
import { resolveName } from "../src/fetching/resolve.ts";
import { postWebhook } from "../src/fetching/webhook.ts";
import { PUBLIC, REFUSED } from "./addresses.ts";
import { type Client, newClient } from "./client.ts";

const ORIGIN = inject("hostileOrigin");
const KIB = 1024;
const signal = new AbortController().signal;

const at = (path: string) => `${ORIGIN}${path}`;
const to = (url: string) => at(`/to?url=${encodeURIComponent(url)}`);
const refusal = (code: string) => expect.objectContaining({ code });

/** How many bytes come. */
async function bytesOf(path: string, maxBytes = 100 * KIB, patience?: Patience): Promise<number> {
  let bytes = 0;
  for await (const chunk of download(at(path), env.FETCH_ALLOW, maxBytes, patience)) {
    bytes += chunk.length;
    expect(bytes).toBeLessThanOrEqual(maxBytes);
  }
  return bytes;
}

type Patience = Parameters<typeof download>[3];

async function asked(id: string): Promise<string[]> {
  return (await fetch(at(`/asked?id=${id}`))).json();
}

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("the runtime's own URL parser", () => {
  it.each(Object.entries(REFUSED))("lets nothing through: %s", async (_, urls) => {
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

  it("asks whom we think it asks", () => {
    for (const [url, host] of PUBLIC) expect(new URL(url).host).toBe(host);
  });
});

describe("a redirect", () => {
  it("is followed five times, relative or not, and not six", async () => {
    const id = crypto.randomUUID();
    expect(await bytesOf(`/hop/${LIMITS.redirects}?id=${id}`)).toBe(4);
    await expect(bytesOf(`/hop/${LIMITS.redirects + 1}?id=${id}-6`)).rejects.toEqual(
      refusal("download_refused"),
    );
    expect(await asked(id)).toEqual([5, 4, 3, 2, 1, 0].map((left) => `/hop/${left}`));
    expect(await asked(`${id}-6`)).toEqual([6, 5, 4, 3, 2, 1].map((left) => `/hop/${left}`));
  });

  it("in a circle ends", async () => {
    const id = crypto.randomUUID();
    await expect(bytesOf(`/loop?id=${id}`)).rejects.toEqual(refusal("download_refused"));
    expect(await asked(id)).toHaveLength(LIMITS.redirects + 1);
  });

  it("that names no place is an answer like others", async () => {
    await expect(bytesOf("/nowhere")).rejects.toEqual(refusal("download_refused"));
  });

  const targets = Object.entries(REFUSED).map(([why, urls]): [string, string[]] => [
    why,
    // What a `Location` can hold, and means another place.
    urls.filter((url) => {
      const led = URL.parse(url, ORIGIN);
      const isElsewhere = led === null || (URL.canParse(url) && led.origin !== ORIGIN);
      return isElsewhere && /^[\x21-\x7e]+$/.test(url);
    }),
  ]);
  it.each(targets)("leads nowhere private: %s", async (_, urls) => {
    expect(urls.length).toBeGreaterThan(4);
    for (const url of urls) {
      const outcome = follow(to(url), env.FETCH_ALLOW, signal);
      await expect(outcome, url).rejects.toEqual(refusal("blocked_address"));
    }
  });

  it("after others is checked likewise, and for what isn't downloads", async () => {
    const inside = to(to(to(to(to("http://169.254.169.254/")))));
    await expect(follow(inside, env.FETCH_ALLOW, signal)).rejects.toEqual(
      refusal("blocked_address"),
    );
    await expect(fetchPage(env.FETCH_ALLOW, inside)).rejects.toEqual(refusal("blocked_address"));
  });

  it("fails the asset that it was for", async () => {
    const url = encodeURIComponent(to("http://[::ffff:169.254.169.254]/latest/"));
    const asset = await client.json("POST", `/index/a/image?image_url=${url}`);
    const { error } = await client.settled("a", asset);
    expect(error.code).toBe("blocked_address");
  });
});

describe("a name", () => {
  const resolvers: [string, string[]][] = [
    ["10.0.0.1.nip.io", ["10.0.0.1"]],
    ["one of both", ["93.184.216.34", "127.0.0.1"]],
    ["the wrong IPv6", ["93.184.216.34", "[::1]"]],
    ["a mapped address", ["[::ffff:7f00:1]"]],
    ["a metadata service", ["169.254.169.254"]],
    ["something unreadable", ["example"]],
  ];
  it.each(resolvers)("that leads to %s is not asked", async (_, addresses) => {
    const resolve = async () => addresses;
    const url = "http://media.example/a.mp4";
    for (const start of [url, to(url)]) {
      const outcome = follow(start, env.FETCH_ALLOW, signal, {}, resolve);
      await expect(outcome).rejects.toEqual(refusal("blocked_address"));
    }
    const message = { url, id: "1", payload: "{}", secrets: [] };
    const outcome = await postWebhook(message, "", 0, undefined, resolve);
    expect(outcome).toMatchObject({ status: null, problem: expect.stringContaining("private") });
  });

  it("without an address is not asked, which may pass", async () => {
    const nowhere = async () => [];
    const outcome = follow("http://media.example/", "", signal, {}, nowhere);
    await expect(outcome).rejects.toThrow("no address");
  });

  it("is not looked up where it is an address, or exempt", async () => {
    const names: string[] = [];
    const resolve = async (name: string) => {
      names.push(name);
      return ["127.0.0.1"];
    };
    await follow(at("/bytes"), env.FETCH_ALLOW, signal, {}, resolve);
    await follow(to("http://sub.media.example/"), env.FETCH_ALLOW, signal, {}, resolve).catch(
      () => undefined,
    );
    expect(names).toEqual(["sub.media.example"]);
  });

  it("is looked up over HTTPS, both kinds of address", async () => {
    const ask = (name: string) => resolveName(name, signal, at("/dns-query"));
    expect(await ask("a.example")).toEqual(["93.184.216.34", "[2606:2800:220:1::1]"]);
    expect(await ask("inside.example")).toEqual(["10.0.0.1"]);
    expect(await ask("nothing.example")).toEqual([]);
    await expect(resolveName("a.example", signal, at("/bytes"))).rejects.toThrow();
  });
});

describe("a body", () => {
  it.each(["/endless", "/gzip", "/br", "/too-long"])(
    "ends at the limit, whatever it says of itself: %s",
    async (path) => {
      await expect(bytesOf(path)).rejects.toEqual(refusal("download_refused"));
    },
  );

  it.each(["/cut-length", "/cut-chunk", "/cut-chunks", "/cut-gzip", "/no-gzip"])(
    "that ends early is not taken for whole: %s",
    async (path) => {
      await expect(bytesOf(path)).rejects.toEqual(refusal("download_failed"));
    },
  );

  it.each(["/endless-head", "/no-http"])("doesn't come from what isn't HTTP: %s", async (path) => {
    await expect(bytesOf(path)).rejects.toEqual(refusal("download_failed"));
  });

  it("that was compressed twice comes as it is", async () => {
    expect(await bytesOf("/gzip-twice")).toBeLessThan(KIB);
  });

  it("is as long as it says, and not longer", async () => {
    expect(await bytesOf("/too-short")).toBe(4);
  });

  it.each(["/endless", "/gzip"])("of a page is read so far: %s", async (path) => {
    const { bytes } = await fetchPage(env.FETCH_ALLOW, at(path));
    expect(bytes.length).toBeLessThanOrEqual(LIMITS.pageBytes);
  });

  it.each(["/silent", "/stalled"])(
    "that doesn't come is waited for only so long: %s",
    async (path) => {
      const patience = { fetchMs: 3_600_000, fetchIdleMs: 50 };
      await expect(bytesOf(path, KIB, patience)).rejects.toEqual(refusal("download_failed"));
    },
  );

  it("may take its time between two bytes, and not too much of it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const steps = slowBody();
    for (let i = 0; i < 4; i++) expect(await steps.after(LIMITS.fetchIdleMs - 1)).toBe("x");
    const next = steps.body.next();
    vi.advanceTimersByTime(LIMITS.fetchIdleMs);
    await expect(next).rejects.toEqual(refusal("download_failed"));
  });

  it("that drips is over when its time is", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const steps = slowBody();
    const pause = 25_000;
    for (let ms = pause; ms < LIMITS.fetchMs; ms += pause) {
      expect(await steps.after(pause)).toBe("x");
    }
    await expect(steps.after(pause)).rejects.toEqual(refusal("download_failed"));
  });
});

/** One whose bytes come when the test lets them. */
function slowBody() {
  const id = crypto.randomUUID();
  const body = download(at(`/steps?id=${id}`), env.FETCH_ALLOW, 100 * KIB);
  return {
    body,
    async after(ms: number): Promise<string> {
      const next = body.next();
      vi.advanceTimersByTime(ms);
      await Promise.race([fetch(at(`/next?id=${id}`)).then((r) => r.text()), next]);
      const { value } = await next;
      return new TextDecoder().decode(value ?? undefined);
    },
  };
}
