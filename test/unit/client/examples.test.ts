import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";

const CLIENT = join(import.meta.dirname, "../../../client");

/** A public method of an exported class, with its doc comment. */
interface Method {
  name: string;
  comment: string;
}

const METHOD =
  /(?:^ {2}\/\*\*(?<comment>(?:(?!\*\/)[^])*?)\*\/\n)?(?:^ {2}\/\/ .*\n)*^ {2}(?:async )?\*?(?<name>[a-z]\w*|\[Symbol\.\w+\])(?:<.*?>)?\(/gm;

/** Lists the public methods of the exported classes of a module. */
function listMethods(file: string): Method[] {
  const text = readFileSync(file, "utf8");
  const classes = text.matchAll(/^export (?:abstract )?class (?<name>\w+)[^]*?^}$/gm);
  return [...classes].flatMap((found) =>
    [...found[0].matchAll(METHOD)]
      .filter((method) => method.groups!.name !== "constructor")
      .map(({ groups }) => ({
        name: `${found.groups!.name}.${groups!.name}`,
        comment: groups!.comment ?? "",
      })),
  );
}

/** Returns the sentences and the example of a doc comment. */
function splitComment(comment: string): [sentences: string, example: string] {
  const lines = comment.split("\n").map((line) => line.replace(/^ {3}\* ?/, ""));
  const [sentences, example = ""] = lines.join("\n").split("@example\n");
  return [sentences!.trim(), example.trim()];
}

const methods = globSync(join(CLIENT, "src/*.ts")).flatMap(listMethods);

/** What the examples take for granted. */
const PREAMBLE = `
import type { Health, Sightline } from "../../src/index.ts";
import type { StoredCopies } from "../../src/node.ts";
import type { EventParser } from "../../src/server-sent-events.ts";
import type { Transport } from "../../src/transport.ts";

declare const sightline: Sightline;
declare const transport: Transport;
declare const copies: StoredCopies;
declare const parser: EventParser;
declare const file: File;
declare const signal: AbortSignal;
declare const videoId: string, imageId: string, segmentId: string, jobId: string;
declare const keyId: string, sourceId: string, uploadId: string, watchId: string;
const index = sightline.index("trip");
export type Known = Health;
`;

/** Examples by the name of the file to which they are written. */
const FILES: Record<string, string[]> = {
  "examples.ts": methods.map(({ comment }) => splitComment(comment)[1]),
  "wrong.ts": ["await index.serch();"],
};

/** Returns what one run of the compiler says about the examples, which are a function each. */
function compileExamples(): string {
  const folder = mkdtempSync(join(CLIENT, "dist/examples-"));
  for (const [name, examples] of Object.entries(FILES)) {
    const functions = examples.map((text, i) => `export async function f${i}() {\n${text}\n}\n`);
    writeFileSync(join(folder, name), PREAMBLE + functions.join(""));
  }
  const config = {
    extends: "../../tsconfig.json",
    compilerOptions: { noEmit: true, rootDir: "../..", noUnusedLocals: false },
    files: Object.keys(FILES),
    include: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  try {
    const compiler = join(CLIENT, "node_modules/typescript/bin/tsc");
    return execFileSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the doc comments of the client", () => {
  let errors: string[];
  beforeAll(() => {
    errors = compileExamples().trim().split("\n");
  });

  it("are found for the methods of every resource", () => {
    const names = methods.map(({ name }) => name);
    expect(names).toContain("SightlineIndex.search");
    expect(names).toContain("Collection.list");
    expect(names).toContain("Page.[Symbol.asyncIterator]");
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(methods)("$name has a sentence and an example", ({ name, comment }) => {
    const [sentences, example] = splitComment(comment);
    expect(sentences).toMatch(/^[A-Z][^]*\.$/);
    expect(example).toContain(name.split(".")[1]!.replace(/^\[.*|^then$/, "await"));
  });

  it("have examples that compile", () => {
    expect(errors.filter((error) => !error.includes("wrong.ts"))).toEqual([]);
  });

  it("with a wrong example don't compile", () => {
    expect(errors).toEqual([expect.stringMatching(/wrong\.ts.*serch/)]);
  });
});
