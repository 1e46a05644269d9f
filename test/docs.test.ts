import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../src/app.ts";

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
    const paths = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
    expect(paths).toContain("/console/swagger-ui/swagger-ui-bundle.js");
    for (const path of paths) {
      expect(path).toMatch(/^\/console\//);
      const response = await get(path);
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
      expect(response.headers.get("content-type")).toMatch(/javascript|css|svg/);
      expect((await response.bytes()).length).toBeGreaterThan(100);
    }
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style=|\son\w+=/);
  });

  it("loads this service's OpenAPI document and no external validator", async () => {
    const script = await (await get("/console/reference.js")).text();
    expect(script).toContain('url: "/openapi.json"');
    expect(script).toContain("validatorUrl: null");
  });

  it("shows every operation under a tag", () => {
    for (const [path, item] of Object.entries(openApiDocument().paths ?? {})) {
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
