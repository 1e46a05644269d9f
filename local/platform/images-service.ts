import { WorkerEntrypoint } from "cloudflare:workers";
import type { LocalEnv } from "../env.ts";
import { localImages } from "../local-images.ts";

type ImagesEnv = LocalEnv & Pick<Env, "IMAGES">;
type Transform = ImageTransform & { imageIndex: number };

const ERROR = /^IMAGES_TRANSFORM_(ERROR (\d+): .*)$/s;

/** Images for the runtime's client of `env.IMAGES` (workerd, `images-api`): info and transform. */
export class ImagesService extends WorkerEntrypoint<ImagesEnv> {
  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    try {
      const form = await request.formData();
      return await (pathname === "/info" ? this.#info(form) : this.#transform(form));
    } catch (error) {
      const { message } = error as Error;
      const [, text = message, code] = ERROR.exec(message) ?? [];
      const headers = code ? { "cf-images-binding": `err=${code}` } : {};
      return new Response(text, { status: 500, headers });
    }
  }

  async #info(form: FormData): Promise<Response> {
    const info = await localImages(this.env).info(readImage(form));
    const { format } = info;
    if (!("width" in info)) return Response.json({ format });
    const { width, height, fileSize } = info;
    return Response.json({ format, width, height, file_size: fileSize });
  }

  async #transform(form: FormData): Promise<Response> {
    let transformer = localImages(this.env).input(readImage(form));
    const transforms = JSON.parse(readText(form, "transforms")) as Transform[];
    for (const { imageIndex: _, ...transform } of transforms) {
      transformer = transformer.transform(transform);
    }
    const format = readText(form, "output_format") as ImageOutputOptions["format"];
    return (await transformer.output({ format })).response();
  }
}

function readImage(form: FormData): ReadableStream<Uint8Array> {
  const image: unknown = form.get("image");
  if (image instanceof File) return image.stream();
  throw new Error("the form has no image");
}

function readText(form: FormData, name: string): string {
  const value = form.get(name);
  if (typeof value === "string") return value;
  throw new Error(`the form has no ${name}`);
}
