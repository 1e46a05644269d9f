import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

/** Requests a static asset, which is served without the Worker. */
const get = (path: string) => env.ASSETS.fetch(new URL(path, "https://sightline.test"));

/** Lists the paths that a page or a module loads. */
function loadedPaths(path: string, text: string): string[] {
  const inPage = text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g);
  const inModule = text.matchAll(/(?:from |import |import\()"(\.[^"]+)"/g);
  return [...inPage, ...inModule].map(
    ([, target]) => new URL(target!, `https://sightline.test${path}`).pathname,
  );
}

describe("GET /", () => {
  it("returns a page of which every script, style and imported module is served", async () => {
    const paths = new Set(["/"]);
    for (const path of paths) {
      const response = await get(path);
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
      expect(response.headers.get("content-type")).toMatch(/html|javascript|css|svg/);
      for (const loaded of loadedPaths(path, await response.text())) paths.add(loaded);
    }
    expect(paths).toContain("/console/uploads/uploads.js");
    expect(paths).toContain("/console/packages/eventsource-parser/index.js");
  });
});
