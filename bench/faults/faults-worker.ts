import type { LocalEnv } from "../../local/env.ts";
import { addFault } from "../../local/faults.ts";
import worker from "../../local/worker.ts";
import { MediaIndex as BaseMediaIndex } from "../../src/index.ts";

export * from "../../local/worker.ts";

/** A part of an ingest, as `MediaIndex` stores it. */
interface Part {
  status: string;
  dispatches: number;
  dueAt: number;
  failure?: object;
}

/** The index's object, which can end the waits of its ingests. */
export class MediaIndex extends BaseMediaIndex {
  /** Dispatches the parts that wait for a limit to pass, or for a retry. */
  async endWaits(): Promise<void> {
    const { sql } = this.ctx.storage;
    const rows = sql.exec<{ id: string; state: string }>(
      "SELECT asset_id AS id, state FROM assets",
    );
    for (const { id, state } of rows.toArray()) {
      const ingest = JSON.parse(state) as { parts?: Part[] };
      const waiting = (ingest.parts ?? []).filter(
        ({ status, dispatches, failure }) =>
          status === "dispatched" && (dispatches === 0 || failure !== undefined),
      );
      if (waiting.length === 0) continue;
      for (const part of waiting) part.dueAt = 0;
      const stored = JSON.stringify(ingest);
      sql.exec("UPDATE assets SET state = ?, due_at = 0 WHERE asset_id = ?", stored, id);
    }
    await this.alarm();
  }
}

/**
 * The local Worker with more paths. `POST /faults?target=…&fault=…&times=…` injects a fault,
 * `DELETE /faults?target=…` removes those of a target, `POST /waits?index=…` ends the waits of an
 * index's ingests.
 */
export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    const parameter = (name: string) => searchParams.get(name) ?? "";
    const target = parameter("target");
    if (pathname === "/faults" && request.method === "POST") {
      await addFault(env, target, parameter("fault") as never, Number(parameter("times")));
    } else if (pathname === "/faults") await env.FAULTS.getByName("faults").clear(target);
    else if (pathname === "/waits") {
      const indexId = await env.DB.prepare("SELECT index_id FROM indices WHERE name = ?")
        .bind(parameter("index"))
        .first<string>("index_id");
      const object = env.MEDIA_INDEX.getByName(indexId ?? "");
      await (object as unknown as { endWaits(): Promise<void> }).endWaits();
    } else return worker.fetch(request, env, ctx);
    return new Response(null, { status: 204 });
  },
} satisfies ExportedHandler<Env & LocalEnv>;
