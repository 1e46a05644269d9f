import { globSync, readFileSync } from "node:fs";
import { parse } from "node:path";
import { expect, it } from "vitest";

it.each(["wrangler.toml", "local/wrangler.toml"])(
  "every HTML page of the console is served without the Worker (%s)",
  (file) => {
    const [, list] = /^run_worker_first = (.*)$/m.exec(readFileSync(file, "utf8"))!;
    const rules: string[] = JSON.parse(list!);
    const pages = globSync("console/*.html").map((page) => parse(page).name);
    expect(pages).toContain("docs");
    for (const page of pages) expect(rules).toContain(page === "index" ? "!/" : `!/${page}`);
  },
);
