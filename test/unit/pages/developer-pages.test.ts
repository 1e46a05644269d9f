import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PROJECT } from "../../../tools/stack/local-state.ts";

const read = (path: string) => readFileSync(join(PROJECT, path), "utf8");

it("the table of layers on the page of the architecture has each folder of src/ once", () => {
  const [, table = ""] = /^## Layers$(.*?)^## /ms.exec(read("docs/architecture.md")) ?? [];
  const named = [...table.matchAll(/^\| (?:\d|ground) \| `([^`]+)`/gm)].flatMap(([, names = ""]) =>
    names.split(" "),
  );
  const folders = readdirSync(join(PROJECT, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const files = new Set(["config", "errors", "ids", "types", "messages", "app", "index"]);
  expect(named.filter((name) => !files.has(name)).toSorted()).toEqual(folders.toSorted());
});

it("README, tutorial and deployment ask for the Node version of package.json", () => {
  const { engines } = JSON.parse(read("package.json"));
  for (const page of ["README.md", "docs/tutorial.md", "docs/deploy.md"]) {
    const [, version] = /\bNode (\S+ or later) with npm\b/.exec(read(page)) ?? [];
    expect({ page, version }).toEqual({ page, version: `${engines.node.slice(2)} or later` });
  }
});
