import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { expect, it } from "vitest";
import openapi from "../../../openapi.json" with { type: "json" };
import packageJson from "../../../package.json" with { type: "json" };
import { LIMITS, SEARCH } from "../../../src/config.ts";
import { DEFAULT_PAGE_SIZE } from "../../../src/http/pagination.ts";

const pathOf = (file: string) => join(import.meta.dirname, "../../..", file);
const read = (file: string) => readFileSync(pathOf(file), "utf8");
const page = read("console/docs.html");
const { vars } = parse(read("wrangler.toml")) as { vars: Record<string, string> };

/** Bytes and seconds in the largest unit, as the page says them. */
const UNITS: [unit: string, size: number][] = [
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
];

it.each([
  ["page", DEFAULT_PAGE_SIZE],
  ["page_max", LIMITS.pageSize],
  ["top_k", SEARCH.defaultTopK],
  ["top_k_max", LIMITS.topK],
  ["query", LIMITS.queryCharacters],
  ["upload_bytes", LIMITS.uploadBytes],
  ["video_seconds", LIMITS.videoSeconds],
  ["image_bytes", LIMITS.imageBytes],
  ["json_bytes", LIMITS.jsonBytes],
  ["key_rate", Number(vars["KEY_RATE"])],
  ["account_rate", Number(vars["ACCOUNT_RATE"])],
])("The guide at /docs says what the limit %s is", (name, limit) => {
  const [, value, text] = new RegExp(`value="(\\d+)" data-limit="${name}">([^<]+)<`).exec(page)!;
  expect(Number(value)).toBe(limit);
  const [unit, size] = UNITS.find(([, bytes]) => name.endsWith("_bytes") && limit >= bytes) ?? [];
  const expected = size
    ? `${limit / size} ${unit}`
    : name.endsWith("_seconds")
      ? `${limit / 3600} hours`
      : limit.toLocaleString("en-US");
  expect(text).toBe(expected);
});

it("Each step of the guide at /docs has code for curl, TypeScript and Python", () => {
  const groups = page.split('class="code-tabs"').slice(1);
  expect(groups).toHaveLength(6);
  for (const group of groups) {
    const [code] = group.split("</div>");
    const languages = [...code!.matchAll(/data-language="(\w+)"/g)].map(([, language]) => language);
    expect(languages).toEqual(["curl", "TypeScript", "Python"]);
  }
});

it("Every request of the guide at /docs is an operation of the contract", () => {
  const shapes = new Set(
    Object.keys(openapi.paths).map((path) => path.replaceAll(/\{\w+\}/g, "{}")),
  );
  const requests = [...page.matchAll(/(?:\$URL|\{URL\})(\/[^"?\s]*)/g)].map(([, path]) => path!);
  expect(requests.length).toBeGreaterThanOrEqual(12);
  for (const path of requests) {
    expect(shapes).toContain(path.replaceAll(/\$\w+|\{\w+\}/g, "{}"));
  }
});

it("Every page and script that the guide at /docs names exists", () => {
  const pages = [...page.matchAll(/docs\/[\w-]+\.md/g)].map(([path]) => path);
  expect(pages.length).toBeGreaterThan(5);
  for (const path of pages) {
    expect({ path, exists: existsSync(pathOf(path)) }).toEqual({
      path,
      exists: true,
    });
  }
  for (const [, script] of page.matchAll(/npm run (?:--silent )?(\w+)/g)) {
    expect(Object.keys(packageJson.scripts)).toContain(script);
  }
});
