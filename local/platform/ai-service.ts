import * as z from "zod";
import { LocalAI } from "../local-ai.ts";

const Run = z.object({
  inputs: z.unknown(),
  options: z.object({ rejectIfBusy: z.boolean().optional() }).default({}),
});
const MODEL_HEADER = "cf-consn-model-id";
const ERROR = /^(\d+): (.*)$/s;

/** Workers AI for the runtime's client of `env.AI` (workerd, `ai-api`): `POST /run`. */
export class AiService extends LocalAI {
  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname !== "/run") return new Response(`no ${pathname}`, { status: 404 });
    const { inputs, options } = Run.parse(await request.json());
    const { rejectIfBusy = false } = options;
    const model = request.headers.get(MODEL_HEADER) ?? "";
    try {
      const { signal } = request;
      const output = await this.run(model, inputs, { rejectIfBusy, signal });
      if (!(output instanceof ReadableStream)) return Response.json(output);
      return new Response(output, { headers: { "content-type": "text/event-stream" } });
    } catch (error) {
      const { name, message } = error as Error;
      const [, code, description] = ERROR.exec(message) ?? [];
      return Response.json({ internalCode: Number(code), description, name }, { status: 500 });
    }
  }
}
