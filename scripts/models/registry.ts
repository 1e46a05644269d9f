import { readFile } from "node:fs/promises";
import { z } from "zod";
import { plain } from "../demo/terminal.ts";

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
  ability: z.enum(["speech", "pictures", "captions"]),
  about: z.string(),
  licence: z.string(),
  from: Source,
  files: z.array(File).min(1),
});
const Registry = z.record(z.string().regex(/^[a-z\d][\w.-]*$/), Model);

/** A file of a model: where in its folder, and what it must be. */
export type ModelFile = z.infer<typeof File>;

/** `from` is the address of the folder that has `files`, of one revision for ever. */
export type Model = z.infer<typeof Model> & { name: string };

/** Throws a sentence where the file is missing or says something else than models. */
export async function readRegistry(path: string): Promise<Model[]> {
  try {
    const models = Registry.parse(JSON.parse(await readFile(path, "utf8")));
    return Object.entries(models).map(([name, model]) => Object.assign(model, { name }));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new Error(`${path} is no list of models: ${plain(why)}`, { cause });
  }
}

/** Bytes of all its files. */
export function modelBytes({ files }: Model): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
