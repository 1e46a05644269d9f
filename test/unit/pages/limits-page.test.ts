import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as config from "../../../src/config.ts";
import { ERRORS } from "../../../src/errors.ts";
import * as parameters from "../../../src/parameters.ts";
import { PROJECT } from "../../../tools/stack/local-state.ts";

const page = readFileSync(join(PROJECT, "docs/limits.md"), "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) =>
    line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim()),
  );

const UNITS = {
  Bytes: [
    [1024 ** 3, "GiB"],
    [1024 ** 2, "MiB"],
    [1024, "KiB"],
  ],
  Ms: [
    [86_400_000, "days"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1000, "s"],
  ],
  Seconds: [
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ],
} as const;

/** Formats a figure of `src/config.ts` in the largest unit of its name that divides it. */
function format(name: string, value: number): string {
  const kind = (["Bytes", "Ms", "Seconds"] as const).find((suffix) =>
    name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase()).endsWith(suffix),
  );
  if (!kind) return value.toLocaleString("en");
  const [size, unit] = UNITS[kind].find(
    ([each, label]) => value % each === 0 && (label !== "days" || value > each),
  ) ?? [1, "bytes"];
  return `${(value / size).toLocaleString("en")} ${unit}`;
}

const names = rows.flatMap(([, , name = ""]) => /^`([A-Z_]+)\.(\w+)`$/.exec(name)?.slice(1) ?? []);

it("the page on limits has the figures of src/config.ts", () => {
  const groups: Record<string, unknown> = { ...config, ...parameters };
  let count = 0;
  for (const [, figure, name = ""] of rows) {
    const [, group, key] = /^`([A-Z_]+)\.(\w+)`$/.exec(name) ?? [];
    if (!group || !key) continue;
    const value = Object.entries(groups[group] ?? {}).find(([each]) => each === key)?.[1];
    expect({ name, figure }).toEqual({ name, figure: format(key, value) });
    count++;
  }
  expect(count).toBeGreaterThan(30);
});

it("the page on limits has each limit of an account", () => {
  for (const name of Object.keys(config.ACCOUNT_LIMITS)) expect(names).toContain(name);
});

it("the page on limits has the rates of wrangler.toml", () => {
  const settings = readFileSync(join(PROJECT, "wrangler.toml"), "utf8");
  for (const [name, setting] of [
    ["requests_per_minute", "KEY_RATE"],
    ["account_requests_per_minute", "ACCOUNT_RATE"],
  ]) {
    const figure = rows.find(([, , each]) => each === `\`${name}\``)?.[1];
    const value = new RegExp(`^${setting} = "(\\d+)"`, "m").exec(settings)?.[1];
    expect({ name, figure: figure?.replaceAll(",", "") }).toEqual({ name, figure: value });
  }
});

it("the page on limits has each error code, with its status", () => {
  const statuses = Object.fromEntries(
    rows.flatMap(([codes = "", status]) =>
      [...codes.matchAll(/`([a-z_]+)`/g)].map(([, code]) => [code, status]),
    ),
  );
  for (const [code, { status }] of Object.entries(ERRORS)) {
    expect({ code, status: statuses[code] }).toEqual({ code, status: `${status}` });
  }
});
