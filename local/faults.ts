import type { LocalEnv } from "./env.ts";
import { Scripts } from "./scripts.ts";

/** Makes a call late. */
type Slow = `slow:${number}`;
/** A documented failure of Workers AI, a late answer, or an answer that doesn't have its shape. */
export type AiFault = "3036" | "3040" | "3007" | "5007" | "malformed" | Slow;
/** As `AiFault`, of Media Transformations. */
export type MediaFault = "9412" | "9504" | "9523" | "malformed" | Slow;
/** As `AiFault`, of the Images binding. */
export type ImagesFault = "9412" | "9422" | "9523" | Slow;
type Fault = AiFault | MediaFault | ImagesFault;

/**
 * Failures that tests asked for, by model or binding, in the order they were asked for; and what they
 * wrote for chat models to say.
 */
export class Faults extends Scripts {
  constructor(ctx: DurableObjectState, env: LocalEnv) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS pending (seq INTEGER PRIMARY KEY, place TEXT, fault TEXT, times INTEGER)",
    );
  }

  add(place: string, fault: Fault, times: number): void {
    this.ctx.storage.sql.exec(
      "INSERT INTO pending (place, fault, times) VALUES (?, ?, ?)",
      place,
      fault,
      times,
    );
  }

  /** The next fault of this place, used up once; null where none is left. */
  take(place: string): Fault | null {
    const { sql } = this.ctx.storage;
    const [next] = sql
      .exec<{ seq: number; fault: Fault }>(
        "SELECT seq, fault FROM pending WHERE place = ? ORDER BY seq LIMIT 1",
        place,
      )
      .toArray();
    if (!next) return null;
    sql.exec("UPDATE pending SET times = times - 1 WHERE seq = ?", next.seq);
    sql.exec("DELETE FROM pending WHERE times <= 0");
    return next.fault;
  }
}

/** Makes the next `times` calls of `place` fail. */
export async function addFault(
  { FAULTS }: Pick<LocalEnv, "FAULTS">,
  place: string,
  fault: Fault,
  times: number,
): Promise<void> {
  await FAULTS.getByName("faults").add(place, fault, times);
}

/** The next fault of `place`: `malformed` or a code. Waits where it is a delay, and returns null. */
export async function takeFault(
  { FAULTS }: Pick<LocalEnv, "FAULTS">,
  place: string,
): Promise<string | null> {
  const fault = await FAULTS.getByName("faults").take(place);
  if (!fault?.startsWith("slow:")) return fault;
  await scheduler.wait(Number(fault.slice("slow:".length)));
  return null;
}
