import { LocalVectorize } from "../local-vectorize.ts";

type QueryBody = VectorizeQueryOptions & { vector?: number[]; vectorId?: string };

/** Operations of the service by path, each with the body of its request. */
const OPERATIONS: Record<string, (index: VectorizeService, body: string) => Promise<unknown>> = {
  "/info": (index) => index.describe(),
  "/query": (index, body) => {
    const { vector, vectorId, ...options } = JSON.parse(body) as QueryBody;
    return vector ? index.query(vector, options) : index.queryById(vectorId ?? "", options);
  },
  "/insert": (index, body) => index.insert(parseLines(body)),
  "/upsert": (index, body) => index.upsert(parseLines(body)),
  "/getByIds": (index, body) => index.getByIds(parseIds(body)),
  "/deleteByIds": (index, body) => index.deleteByIds(parseIds(body)),
};
const ERROR = /^[A-Z_]+_ERROR(?: \(code = (\d+)\))?: (.*)$/s;

/** Vectorize for the runtime's client of an index (workerd, `vectorize-api`, version 2). */
export class VectorizeService extends LocalVectorize {
  override async fetch(request: Request): Promise<Response> {
    const operation = OPERATIONS[new URL(request.url).pathname];
    if (!operation) return Response.json({ error: "no such operation" }, { status: 404 });
    try {
      return Response.json(await operation(this, await request.text()));
    } catch (error) {
      const { message } = error as Error;
      const [, code, text = message] = ERROR.exec(message) ?? [];
      return Response.json({ error: text, ...(code && { code: Number(code) }) }, { status: 400 });
    }
  }
}

/** Parses vectors, one a line. */
function parseLines(body: string): VectorizeVector[] {
  return body.split("\n").map((line) => JSON.parse(line) as VectorizeVector);
}

function parseIds(body: string): string[] {
  return (JSON.parse(body) as { ids: string[] }).ids;
}
