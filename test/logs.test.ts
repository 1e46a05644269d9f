import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../src/app.ts";
import { AppError, traceOf } from "../src/errors.ts";
import { type Client, fixture, fixtureUrl, type Json, newClient } from "./client.ts";
import { localAi } from "./local/bindings.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

/** In everything that is said, shown, asked or kept secret here, and in nothing else. */
const MARK = "zyxquartz";
const LEVELS = ["debug", "info", "log", "warn", "error"] as const;

let client: Client;
let image: Json;
let lines: string[];

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "kept" } });
  const form = { image_file: await fixture("words.jpg") };
  image = await client.json("POST", "/index/kept/image", { form });
  await client.settled("kept", image);
}, 60_000);

beforeEach(() => {
  lines = [];
  for (const level of LEVELS) {
    vi.spyOn(console, level).mockImplementation((...said) => {
      lines.push(said.map(shown).join(" "));
    });
  }
});

afterEach(() => {
  const text = lines.join("\n");
  expect(text.toLowerCase()).not.toContain(MARK);
  expect(text).not.toMatch(/eyJ[\w-]{8}/); // keys and tokens of media
  expect(text).not.toContain("whsec_");
  vi.restoreAllMocks();
});

const events = () => lines.map((line) => JSON.parse(line).event as string);

describe("the log of what goes well, and of what goes wrong, tells nothing that people sent:", () => {
  it("an upload, what is asked of it, and its end", async () => {
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
    await client.settled(json.index_name, added);
    await client.json("PATCH", `${index}/image/${added.asset_id}`, { json: { title: MARK } });
    const search = { query: `${MARK} "${MARK}"`, filter: { [MARK]: MARK }, use_boxes: true };
    await client.json("POST", `${index}/search`, { json: search });
    const queued = await client.json("POST", `${index}/search`, {
      json: { query: MARK, queue_job: true },
    });
    await client.finished(queued.job_id);
    const question = `query=${MARK}&system_prompt=${MARK}&language=en`;
    await client.json("GET", `${index}/answer?${question}`);
    await (await client.send("GET", `${index}/answer_vqa?${question}&stream=true`)).text();
    await client.send("DELETE", `${index}/image/${added.asset_id}`);
    const { job_id } = await client.json("DELETE", index);
    await client.finished(job_id);
    await vi.waitFor(() => expect(events()).toContain("job.done"));
    expect(events()).toContain("ingest.step_done");
  }, 60_000);

  it("files that are refused, and ones that can't be had", async () => {
    const transcript = `${MARK} \0 ${MARK}`;
    const video_file = new File([MARK], `${MARK}.mp4`);
    const path = "/index/kept/video";
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
      const asked = await client.send(
        "POST",
        `${path}?video_url=${encodeURIComponent(`${url}#${MARK}`)}`,
      );
      if (asked.status !== 200) continue;
      const added: Json = await asked.json();
      await vi.waitUntil(() => lines.some((line) => line.includes(added.asset_id)), 20_000);
      await client.send("DELETE", `${path}/${added.asset_id}`);
    }
  }, 60_000);

  it("imports that are refused or fail", async () => {
    for (const [path, json] of [
      ["videonet/url", { url: `http://127.0.0.1:1/${MARK}` }],
      ["videonet/url", { url: fixtureUrl(`${MARK}.html`) }],
      ["videonet/search", { query: MARK }],
      ["videonet/playlist", { playlist_id: MARK }],
      ["photonet/profile", { username: `${MARK}@${MARK}.invalid` }],
      ["photonet/profile", { username: MARK, platform: "flickr" }],
    ] as const) {
      await client.send("POST", `/index/kept/${path}`, { json });
    }
    const failed = () => events().filter((event) => event === "job.failed");
    await vi.waitFor(() => expect(failed().length).toBeGreaterThan(1), 20_000);
  }, 60_000);

  it("a webhook that isn't taken", async () => {
    const receiver = new WebhookReceiver();
    await receiver.plan({ status: 500 }, "break");
    const json = { settings: { webhook_url: receiver.url } };
    await client.json("PATCH", "/index/kept", { json });
    await client.json("POST", "/index/kept/webhook/test");
    await vi.waitFor(() => expect(events()).toContain("webhook.not_delivered"), 10_000);
    await client.json("PATCH", "/index/kept", { json: { settings: {} } });
  });

  it("a model that is out of order", async () => {
    const model = "@cf/baai/bge-m3";
    await localAi().inject(model, "3040", 1);
    await client.send("POST", "/index/kept/search", { json: { query: `${MARK} unheard of` } });
    await localAi().inject(model, "malformed", 1);
    await client.send("POST", "/index/kept/search", { json: { query: `${MARK} never heard` } });
    expect(events()).toContain("search.without_channel");
  });
});

describe("what quotes to us what we asked of it is not quoted, to nobody:", () => {
  const quoting = (sent: unknown) => new Error(`3010: can't read ${JSON.stringify(sent)}`);
  const throws = (...sent: unknown[]): never => {
    throw quoting(sent);
  };
  const broken = <T extends object>(binding: T, methods: string[]): T =>
    new Proxy(binding, {
      get: (target, name) => {
        if (methods.includes(String(name))) return throws;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  /** Fails of what is marked, and says it as D1 does. */
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
          get: (own, method) => (method === "bind" ? bind : Reflect.get(own, method).bind(own)),
        });
      };
    },
  });

  const search = { query: `${MARK} words`, filter: { [MARK]: MARK } };
  const unheard = (word: string) => ({ query: `${MARK} ${word}` });
  const CASES: [string, Partial<Env>, string, string, object?][] = [
    ["D1, of a search", { DB: quotingDb }, "POST", "/index/kept/search", search],
    ["D1, of a title", { DB: quotingDb }, "PATCH", "IMAGE", { title: MARK }],
    ["D1, of a key's name", { DB: quotingDb }, "POST", "/keys", { name: MARK }],
    ["D1, of a name", { DB: quotingDb }, "POST", "/init", { name: MARK }],
    ["models", { AI: broken(env.AI, ["run"]) }, "POST", "/index/kept/search", unheard("a")],
    [
      "models, of an answer",
      { AI: broken(env.AI, ["run"]) },
      "GET",
      `/index/kept/answer?query=${MARK}`,
    ],
    [
      "Vectorize",
      { TEXT_VECTORS: broken(env.TEXT_VECTORS, ["query"]) },
      "POST",
      "/index/kept/search",
      unheard("b"),
    ],
    [
      "a queue",
      { JOBS: broken(env.JOBS, ["send"]) },
      "POST",
      "/index/kept/search",
      { ...search, queue_job: true },
    ],
    [
      "R2",
      { MEDIA: broken(env.MEDIA, ["put", "createMultipartUpload"]) },
      "POST",
      "/index/kept/image",
    ],
    [
      "an object",
      { MEDIA_INDEX: broken(env.MEDIA_INDEX, ["getByName"]) },
      "POST",
      "/index/kept/image",
    ],
  ];

  it.each(CASES)("%s", async (_, bindings, method, path, json) => {
    const form = new FormData();
    form.append("image_file", new File([await fixture("clock.jpg")], `${MARK}.jpg`));
    form.append("metadata_str", JSON.stringify({ [MARK]: MARK }));
    const url = `https://a.example${path.replace("IMAGE", `/index/kept/image/${image.asset_id}`)}`;
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
  const said = `near "${MARK}"`;

  it.each<[string, unknown, RegExp]>([
    ["ours", new AppError("not_found", `There is no index named "${MARK}".`), /^not_found$/],
    [
      "ours with a cause",
      new AppError("upstream_failed", MARK, { cause: new TypeError(`fetch of ${MARK} failed`) }),
      /^upstream_failed <- TypeError at /,
    ],
    [
      "D1's",
      new Error(`D1_ERROR: ${said}: syntax error: SQLITE_ERROR`),
      /^Error D1_ERROR SQLITE_ERROR at /,
    ],
    ["a model's", new Error(`3040: out of capacity for "${MARK}"`), /^Error 3040 at /],
    [
      "Vectorize's",
      new Error(`VECTOR_QUERY_ERROR (code = 40006): ${said}`),
      /^Error VECTOR_QUERY_ERROR 40006 at /,
    ],
    ["JSON's", errorOf(() => JSON.parse(MARK)), /^SyntaxError/],
    [
      "one with lines like a stack's",
      new Error(`a\n    at ${MARK} (${MARK}.ts:1:1)`),
      /^Error at /,
    ],
    ["one with an odd name", Object.assign(new Error("x"), { name: MARK.repeat(9) }), /^Error/],
    ["a text", MARK, /^string$/],
    ["nothing", undefined, /^undefined$/],
  ])("%s tells no more than codes and a place", (_, error, expected) => {
    const trace = traceOf(error);
    expect(trace).toMatch(expected);
    expect(trace).not.toContain(MARK);
  });

  it("names the function and the line", () => {
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

function shown(value: unknown): string {
  return value instanceof Error
    ? `${value.stack}`
    : typeof value === "string"
      ? value
      : JSON.stringify(value);
}
