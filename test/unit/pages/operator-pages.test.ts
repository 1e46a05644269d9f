import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { expect, it } from "vitest";
import { PROJECT } from "../../../tools/stack/local-state.ts";

const read = (path: string) => readFileSync(join(PROJECT, path), "utf8");
const settings = read("docs/deploy.md");
const config = parse(read("wrangler.toml"));
const sources = globSync("src/**/*.ts", { cwd: PROJECT }).map(read).join("\n");

/** The cells of each row of the page whose first cell has a name. */
const rows = settings
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.slice(2, -2).split(" | "));
const defaults = new Map(
  rows.flatMap(([names = "", value = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => [name!, value] as const),
  ),
);

it("the page on deployment has each variable of wrangler.toml with its default", () => {
  const documented = Object.keys(config["vars"]!).map((name) => {
    const [, text = ""] = /^`?([^`( ]*)`?/.exec(defaults.get(name) ?? "missing")!;
    return [name, text === "–" ? "" : text];
  });
  const expected = Object.entries(config["vars"]!).map(([name, value]) => {
    return [name, typeof value === "string" ? value : JSON.stringify(value)];
  });
  expect(documented).toEqual(expected);
});

it("the page on deployment has each secret that the service reads", () => {
  const declared = sources.matchAll(/\b([A-Z]+(?:_[A-Z]+)*_(?:KEY|TOKEN|SECRETS))\??: string/g);
  const names = [...declared].map(([, name]) => name!);
  expect(names).toContain("YOUTUBE_API_KEY");
  expect(names.filter((name) => !defaults.get(name)?.startsWith("secret"))).toEqual([]);
});

it("the page on deployment has each binding of wrangler.toml", () => {
  const bindings = [...read("wrangler.toml").matchAll(/^(?:binding|name) = "([A-Z_\d]+)"/gm)];
  expect(bindings.length).toBeGreaterThan(14);
  expect(bindings.map(([, name]) => name!).filter((name) => !defaults.has(name))).toEqual([]);
});

it("the page on operation has exactly the log events of the service", () => {
  const names = [...sources.matchAll(/"([a-z]+\.[a-z]+(?:_[a-z]+)*)"/g)].map(([, name]) => name!);
  const areas = new Set(
    [...sources.matchAll(/\blog\(\s*"\w+",\s*"(\w+)\./g)].map(([, area]) => area),
  );
  const logged = new Set(
    names.filter((name) => areas.has(name.split(".")[0]) && name !== "webhook.test"),
  );
  const rows = read("docs/operate.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const documented = rows.flatMap((row) =>
    [...row.split(" | ")[0]!.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, name]) => name!),
  );
  expect(logged.size).toBeGreaterThan(40);
  expect(documented.toSorted()).toEqual([...logged].toSorted());
});
