import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import wabt from "wabt";

const FOLDER = join(import.meta.dirname, "../../local");

/** Set UPDATE_WASM=1 to write the file. */
it("vector-dots.wasm is compiled from the current source", async () => {
  const source = await readFile(join(FOLDER, "vector-dots.wat"), "utf8");
  const module = (await wabt()).parseWat("vector-dots.wat", source, { simd: true });
  module.validate();
  const compiled = Buffer.from(module.toBinary({}).buffer);
  const file = join(FOLDER, "vector-dots.wasm");
  if (process.env["UPDATE_WASM"]) await writeFile(file, compiled);
  expect(compiled.equals(await readFile(file))).toBe(true);
});
