import { readFile } from "node:fs/promises";
import * as z from "zod";
import { sanitizeLine } from "../../tools/terminal.ts";

const Path = z
  .string()
  .regex(/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/)
  .refine((path) => !path.endsWith(".part"));
const File = z.strictObject({
  path: Path,
  bytes: z.int().positive(),
  sha256: z.string().regex(/^[\da-f]{64}$/),
});
const Source = z
  .url({ protocol: /^https?$/ })
  .refine((url) => /^https:\/\/|^http:\/\/127\.0\.0\.1[:/]/.test(url) && url.endsWith("/"), {
    message: "https, with a slash at the end",
  });
const Model = z.strictObject({
  capability: z.enum(["speech", "embeddings", "captions"]),
  description: z.string(),
  licence: z.string(),
  baseUrl: Source,
  files: z.array(File).min(1),
});
const Registry = z.record(z.string().regex(/^[a-z\d][\w.-]*$/), Model);

/** A file of a model: its path in the folder, size and hash. */
export type ModelFile = z.infer<typeof File>;

/** A model; `baseUrl` is the folder of its files at a pinned revision. */
export type Model = z.infer<typeof Model> & { name: string };

/** Reads a list of models. Throws a readable error if it is missing or invalid. */
export async function readRegistry(path: string): Promise<Model[]> {
  try {
    const models = Registry.parse(JSON.parse(await readFile(path, "utf8")));
    return Object.entries(models).map(([name, model]) => Object.assign(model, { name }));
  } catch (cause) {
    const message = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new Error(`${path} is not a list of models: ${sanitizeLine(message)}`, { cause });
  }
}

/** Returns the total size of the files. */
export function modelBytes({ files }: Model): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
