import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { AppError, traceOf } from "../../src/errors.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, fixtureUrl, type Json, newClient } from "../support/client.ts";
import { waitFor, waitUntil } from "../support/wait.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

/** Part of all user data and secrets in these tests, and of nothing else. */
const MARK = "zyxquartz";
const LEVELS = ["debug", "info", "log", "warn", "error"] as const;

let client: Client;
let image: Json;
let lines: string[];
beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "logged" } });
  const form = { image_file: await fixture("words.jpg") };
  image = await client.json("POST", "/index/logged/image", { form });
  await client.waitForAsset("logged", image);
});

beforeEach(() => {
  lines = [];
  for (const level of LEVELS) {
    vi.spyOn(console, level).mockImplementation((...args) => {
      lines.push(args.map(formatArgument).join(" "));
    });
  }
});

afterEach(() => {
  const text = lines.join("\n");
  expect(text.toLowerCase()).not.toContain(MARK);
  expect(text).not.toMatch(/eyJ[\w-]{8}/); // API keys and media tokens
  expect(text).not.toContain("whsec_");
  vi.restoreAllMocks();
});

const events = () => lines.map((line) => JSON.parse(line).event as string);

describe("the log contains no user data", () => {
  it("from adding, searching, asking about and deleting an image", async () => {
    const json = {
      index_name: `${MARK}-index`,
      description: MARK,
      metadata: { [MARK]: MARK },
      settings: { webhook_url: `${new WebhookReceiver().url}/${MARK}?token=${MARK}` },
    };
    await client.json("POST", "/index", { json });
    const index = `/index/${json.index_name}`;
    const file = new File([await fixture("boats.jpg")], `${MARK}.jpg`);
    const form = { image_file: file, metadata_str: JSON.stringify({ [MARK]: MARK }) };
    const added = await client.json("POST", `${index}/image`, { form });
    await client.waitForAsset(json.index_name, added);
    await client.json("PATCH", `${index}/image/${added.asset_id}`, { json: { title: MARK } });
    const search = { query: `${MARK} "${MARK}"`, filter: { [MARK]: MARK }, use_boxes: true };
    await client.json("POST", `${index}/search`, { json: search });
    const queued = await client.json("POST", `${index}/search`, {
      json: { query: MARK, queue_job: true },
    });
    await client.waitForJob(queued.job_id);
    const question = `query=${MARK}&system_prompt=${MARK}&language=en`;
    await client.json("GET", `${index}/answer?${question}`);
    await (await client.send("GET", `${index}/answer_vqa?${question}&stream=true`)).text();
    await client.send("DELETE", `${index}/image/${added.asset_id}`);
    const { job_id } = await client.json("DELETE", index);
    await client.waitForJob(job_id);
    await waitFor(() => expect(events()).toContain("job.succeeded"));
    expect(events()).toContain("ingest.step_done");
  });

  it("from invalid files and URLs that can't be fetched", async () => {
    const transcript = `${MARK} \0 ${MARK}`;
    const video_file = new File([MARK], `${MARK}.mp4`);
    const path = "/index/logged/video";
    for (const call of [
      { form: { video_file, transcript, metadata_str: `{"${MARK}": ${MARK}` } },
      { form: { video_file } },
      { body: `--x\r\n${MARK}`, headers: { "content-type": "multipart/form-data; boundary=x" } },
    ]) {
      expect((await client.send("POST", path, call)).status).toBeGreaterThanOrEqual(400);
    }
    for (const url of [
      fixtureUrl(`${MARK}.mp4`).replace("http://", `http://${MARK}:${MARK}@`),
      `http://${MARK}.invalid/${MARK}?key=${MARK}`,
      fixtureUrl("words.jpg"),
    ]) {
      const response = await client.send(
        "POST",
        `${path}?video_url=${encodeURIComponent(`${url}#${MARK}`)}`,
      );
      if (response.status !== 200) continue;
      const added: Json = await response.json();
      await waitUntil(() => lines.some((line) => line.includes(added.asset_id)));
      await client.send("DELETE", `${path}/${added.asset_id}`);
    }
  });

  it("from imports that are rejected or fail", async () => {
    for (const [path, json] of [
      ["videonet/url", { url: `http://127.0.0.1:1/${MARK}` }],
      ["videonet/url", { url: fixtureUrl(`${MARK}.html`) }],
      ["videonet/search", { query: MARK }],
      ["videonet/playlist", { playlist_id: MARK }],
      ["photonet/profile", { username: `${MARK}@${MARK}.invalid` }],
      ["photonet/profile", { username: MARK, platform: "instagram" }],
    ] as const) {
      await client.send("POST", `/index/logged/${path}`, { json });
    }
    const failed = () => events().filter((event) => event === "job.failed");
    await waitFor(() => expect(failed().length).toBeGreaterThan(1));
  });

  it("from a failed webhook delivery", async () => {
    const receiver = new WebhookReceiver();
    await receiver.plan({ status: 500 }, "break");
    const json = { settings: { webhook_url: receiver.url } };
    await client.json("PATCH", "/index/logged", { json });
    await client.json("POST", "/index/logged/webhook/test");
    await waitFor(() => expect(events()).toContain("webhook.delivery_failed"));
    await client.json("PATCH", "/index/logged", { json: { settings: {} } });
  });

  it("from failing models", async () => {
    const model = "@cf/baai/bge-m3";
    await localAi().inject(model, "3040", 1);
    await client.send("POST", "/index/logged/search", { json: { query: `${MARK} first` } });
    await localAi().inject(model, "malformed", 1);
    await client.send("POST", "/index/logged/search", { json: { query: `${MARK} second` } });
    expect(events()).toContain("search.channel_unavailable");
  });
});

describe("an error of a binding that quotes user data is neither logged nor returned", () => {
  const throwQuoting = (...args: unknown[]): never => {
    throw new Error(`3010: can't read ${JSON.stringify(args)}`);
  };
  const failing = <T extends object>(binding: T, methods: string[]): T =>
    new Proxy(binding, {
      get: (target, name) => {
        if (methods.includes(String(name))) return throwQuoting;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  /** Fails for values with the mark, with an error like D1's. */
  const quotingDb = new Proxy(env.DB, {
    get: (target, name) => {
      if (name !== "prepare") return Reflect.get(target, name).bind(target);
      return (sql: string) => {
        const statement = target.prepare(sql);
        const bind = (...values: unknown[]) => {
          if (!JSON.stringify(values).includes(MARK)) return statement.bind(...values);
          throw new Error(`D1_ERROR: near "${values.join()}": syntax error: SQLITE_ERROR`);
        };
        return new Proxy(statement, {
          get: (inner, method) =>
            method === "bind" ? bind : Reflect.get(inner, method).bind(inner),
        });
      };
    },
  });

  const quotingIndex = {
    getByName: () => ({ batch: throwQuoting, querySegments: throwQuoting }),
  } as unknown as Env["INDEX_DATABASE"];

  const search = { query: `${MARK} words`, filter: { [MARK]: MARK } };
  const newQuery = (word: string) => ({ query: `${MARK} ${word}` });
  const CASES: [string, Partial<Env>, string, string, object?][] = [
    [
      "an index's database",
      { INDEX_DATABASE: quotingIndex },
      "POST",
      "/index/logged/search",
      search,
    ],
    ["D1, in a title", { DB: quotingDb }, "PATCH", "IMAGE", { title: MARK }],
    ["D1, in a key's name", { DB: quotingDb }, "POST", "/keys", { name: MARK }],
    ["D1, in an account's name", { DB: quotingDb }, "POST", "/init", { name: MARK }],
    ["models", { AI: failing(env.AI, ["run"]) }, "POST", "/index/logged/search", newQuery("a")],
    [
      "models, in an answer",
      { AI: failing(env.AI, ["run"]) },
      "GET",
      `/index/logged/answer?query=${MARK}+answered`,
    ],
    [
      "Vectorize",
      { TEXT_VECTORS_1: failing(env.TEXT_VECTORS_1, ["query"]) },
      "POST",
      "/index/logged/search",
      newQuery("b"),
    ],
    [
      "a queue",
      { JOBS: failing(env.JOBS, ["send"]) },
      "POST",
      "/index/logged/search",
      { ...search, queue_job: true },
    ],
    [
      "R2",
      { MEDIA: failing(env.MEDIA, ["put", "createMultipartUpload"]) },
      "POST",
      "/index/logged/image",
    ],
    [
      "a Durable Object",
      { MEDIA_INDEX: failing(env.MEDIA_INDEX, ["getByName"]) },
      "POST",
      "/index/logged/image",
    ],
  ];

  it.each(CASES)("from %s", async (_, bindings, method, path, json) => {
    const form = new FormData();
    form.append("image_file", new File([await fixture("clock.jpg")], `${MARK}.jpg`));
    form.append("metadata_str", JSON.stringify({ [MARK]: MARK }));
    const url = `https://a.example${path.replace("IMAGE", `/index/logged/image/${image.asset_id}`)}`;
    const headers = {
      "x-api-key": client.key,
      ...(json && { "content-type": "application/json" }),
    };
    const body = json ? JSON.stringify(json) : method === "POST" ? form : null;
    const ctx = createExecutionContext();
    const request = new Request(url, { method, headers, body });
    const response = await app.fetch(request, { ...env, ...bindings }, ctx);
    const text = await response.text();
    await waitOnExecutionContext(ctx);
    if (response.status >= 500) expect(text).not.toContain(MARK);
    expect(lines.length).toBeGreaterThan(0);
    expect(text).not.toContain("can't read");
  });
});

describe("the trace of an error", () => {
  const detail = `near "${MARK}"`;

  it.each<[string, unknown, RegExp]>([
    [
      "of an AppError",
      new AppError("not_found", `There is no index named "${MARK}".`),
      /^not_found$/,
    ],
    [
      "of an AppError with a cause",
      new AppError("upstream_failed", MARK, { cause: new TypeError(`fetch of ${MARK} failed`) }),
      /^upstream_failed <- TypeError at /,
    ],
    [
      "of D1",
      new Error(`D1_ERROR: ${detail}: syntax error: SQLITE_ERROR`),
      /^Error D1_ERROR SQLITE_ERROR at /,
    ],
    ["of a model", new Error(`3040: out of capacity for "${MARK}"`), /^Error 3040 at /],
    [
      "of Vectorize",
      new Error(`VECTOR_QUERY_ERROR (code = 40006): ${detail}`),
      /^Error VECTOR_QUERY_ERROR 40006 at /,
    ],
    ["of JSON.parse", errorOf(() => JSON.parse(MARK)), /^SyntaxError/],
    [
      "whose message looks like a stack",
      new Error(`a\n    at ${MARK} (${MARK}.ts:1:1)`),
      /^Error at /,
    ],
    ["with a long name", Object.assign(new Error("x"), { name: MARK.repeat(9) }), /^Error/],
    ["that is a string", MARK, /^string$/],
    ["that is undefined", undefined, /^undefined$/],
  ])("%s has only codes and a throw site", (_, error, expected) => {
    const trace = traceOf(error);
    expect(trace).toMatch(expected);
    expect(trace).not.toContain(MARK);
  });

  it("has the function and the line of the throw site", () => {
    function failing(): never {
      throw new RangeError(MARK);
    }
    expect(traceOf(errorOf(failing))).toMatch(/^RangeError at failing logs\.test\.ts:\d+$/);
  });

  function errorOf(act: () => unknown): unknown {
    try {
      return act();
    } catch (error) {
      return error;
    }
  }
});

function formatArgument(value: unknown): string {
  if (value instanceof Error) return `${value.stack}`;
  return typeof value === "string" ? value : JSON.stringify(value);
}
