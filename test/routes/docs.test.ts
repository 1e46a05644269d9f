import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import document from "../../openapi.json" with { type: "json" };
import { Client } from "../support/client.ts";
import { fillExamples, findRecords, pathOf } from "../support/console-modules.ts";
import { createSampleIndex, type SampleIndex } from "../support/sample-index.ts";

/** Requests a static asset, which is served without the Worker. */
const get = (path: string, method = "GET") =>
  env.ASSETS.fetch(new URL(path, "https://sightline.test"), { method });

/** The directives of a Content-Security-Policy, by name. */
function policyOf(response: Response): Record<string, string[]> {
  const policy = response.headers.get("content-security-policy") ?? "";
  return Object.fromEntries(
    policy.split(";").map((directive) => {
      const [name, ...values] = directive.trim().split(" ");
      return [name!, values];
    }),
  );
}

describe("GET /docs", () => {
  it("returns a page without a key, whose scripts and styles all exist on this origin", async () => {
    const page = await get("/docs");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await page.text();
    const paths = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path]) => path!);
    expect(paths).toContain("/console/packages/swagger-ui/swagger-ui-bundle.js");
    for (const path of paths) {
      if (path === "/" || path === "/openapi.json") continue;
      expect(path).toMatch(/^\/console\//);
      const response = await get(path);
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
      expect(response.headers.get("content-type")).toMatch(/javascript|css|svg/);
      expect((await response.bytes()).length).toBeGreaterThan(100);
    }
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style=|\son\w+=/);
  });

  it("loads this service's OpenAPI document and no external validator", async () => {
    const guide = await (await get("/console/reference/guide.js")).text();
    expect(guide).toContain('fetch("/openapi.json")');
    const reference = await (await get("/console/reference/reference.js")).text();
    expect(reference).toContain("validatorUrl: null");
  });

  it("has the committed OpenAPI document, which `npm run openapi` makes", async () => {
    const response = await exports.default.fetch("https://sightline.test/openapi.json");
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await response.json()).toEqual(document);
  });

  it("shows every operation under a tag", () => {
    for (const [path, item] of Object.entries(document.paths)) {
      for (const operation of Object.values(item as Record<string, { tags?: string[] }>)) {
        expect({ path, tags: operation.tags }).toEqual({
          path,
          tags: [expect.stringMatching(/^[A-Z]/)],
        });
      }
    }
  });

  it("supports HEAD", async () => {
    const head = await get("/docs", "HEAD");
    expect({ status: head.status, body: await head.text() }).toEqual({ status: 200, body: "" });
  });

  it("has the console's headers, except data: images and trusted types in the CSP", async () => {
    const [page, console] = await Promise.all([get("/docs"), get("/")]);
    const { "img-src": images, ...rest } = policyOf(page);
    const {
      "img-src": _,
      "require-trusted-types-for": enforced,
      "trusted-types": types,
      ...others
    } = policyOf(console);
    expect({ images, enforced, types }).toEqual({
      images: ["'self'", "data:"],
      enforced: ["'script'"],
      types: ["'none'"],
    });
    expect(rest).toEqual(others);
    expect(rest["script-src"]).toEqual(["'self'"]);
    for (const name of [
      "cross-origin-opener-policy",
      "cross-origin-resource-policy",
      "permissions-policy",
      "referrer-policy",
      "x-content-type-options",
      "x-frame-options",
    ]) {
      expect(page.headers.get(name)).toBe(console.headers.get(name) ?? "missing");
    }
  });
});

describe("The forms of /docs", () => {
  let sample: SampleIndex;
  beforeAll(async () => {
    sample = await createSampleIndex();
    const settings = { webhook_url: "https://hooks.example/sightline" };
    const empty = { index_name: "empty", settings };
    await sample.client.json("POST", "/index", { json: empty });
  });

  it("send GET requests that succeed, as they are filled in for an account with an index", async () => {
    const { client, video, words, boats } = sample;
    const boat = { name: "Boats", query: "boat" };
    const watch = await client.json("POST", "/index/trip/watches", { json: boat });
    await client.send("POST", "/index/trip/uploads", {
      headers: { "tus-resumable": "1.0.0", "upload-length": "10" },
    });

    const { names, records } = await findRecords(
      (target) => client.json("GET", pathOf(target)),
      "",
    );
    expect(names.toSorted()).toEqual(["empty", "trip"]);
    expect(records).toMatchObject({
      index_name: { index_name: "trip" },
      webhook_index_name: { index_name: "empty" },
      video_id: { video_id: video.video_id },
      image_id: { image_id: expect.toBeOneOf([words.image_id, boats.image_id]) },
      watch_id: { watch_id: watch.watch_id },
    });
    const sent: string[] = [];
    for (const [path, { get: operation }] of Object.entries(
      fillExamples(document, records).paths,
    )) {
      if (!operation) continue;
      const query = new URLSearchParams();
      let target = path;
      for (const { in: place, name, required, example, schema } of operation.parameters ?? []) {
        const value = example ?? schema.example ?? (required ? "lighthouse" : undefined);
        if (place === "path") target = target.replace(`{${name}}`, String(value));
        else if (value !== undefined) query.set(name, String(value));
      }
      const response = await client.send("GET", `${target}?${query.toString()}`);
      await response.body?.cancel();
      expect({ target, status: response.status }).toEqual({ target, status: 200 });
      sent.push(path);
    }
    expect(sent.length).toBeGreaterThan(20);
  });

  it("are filled in for the index that is chosen, and from what the API key may read", async () => {
    const { client } = sample;
    const { api_key: key } = await client.json("POST", "/keys", {
      json: { name: "reader", scopes: ["read"] },
    });
    const reader = new Client(key);
    const { records } = await findRecords((target) => reader.json("GET", pathOf(target)), "empty");
    expect(records).toEqual({
      index_name: expect.objectContaining({ index_name: "empty" }),
      webhook_index_name: expect.objectContaining({ index_name: "empty" }),
      video_id: undefined,
      image_id: undefined,
      upload_id: undefined,
      watch_id: undefined,
      job_id: expect.objectContaining({ job_id: expect.stringMatching(/^job_/) }),
    });
  });
});
