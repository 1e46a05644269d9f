import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../src/app.ts";

/** As assets are given out: without the Worker. */
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
  it("is a page that needs no key, all of whose parts are ours and there", async () => {
    const page = await get("/docs");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await page.text();
    const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, place]) => place!);
    expect(parts).toContain("/console/swagger-ui/swagger-ui-bundle.js");
    for (const part of parts) {
      expect(part).toMatch(/^\/console\//);
      const response = await get(part);
      expect({ part, status: response.status }).toEqual({ part, status: 200 });
      expect(response.headers.get("content-type")).toMatch(/javascript|css|svg/);
      expect((await response.bytes()).length).toBeGreaterThan(100);
    }
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style=|\son\w+=/);
  });

  it("shows the contract of this service, and asks nobody else", async () => {
    const script = await (await get("/console/reference.js")).text();
    expect(script).toContain('url: "/openapi.json"');
    expect(script).toContain("validatorUrl: null");
  });

  it("has every operation in a group", () => {
    for (const [path, item] of Object.entries(openApiDocument().paths ?? {})) {
      for (const operation of Object.values(item as Record<string, { tags?: string[] }>)) {
        expect({ path, tags: operation.tags }).toEqual({
          path,
          tags: [expect.stringMatching(/^[A-Z]/)],
        });
      }
    }
  });

  it("answers HEAD", async () => {
    const head = await get("/docs", "HEAD");
    expect({ status: head.status, body: await head.text() }).toEqual({ status: 200, body: "" });
  });

  it("has the console's headers, but for pictures in its style and types that it doesn't know", async () => {
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
