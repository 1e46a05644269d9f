import type { AssetRef } from "../types.ts";
import { recordBytesOf } from "./d1/object-bytes.ts";
import { assetPrefix, listObjects, sourceKey } from "./r2/object-keys.ts";

/** Counts the objects of an asset again. Charges made meanwhile stay as they are. */
export async function recountBytes(env: Pick<Env, "DB" | "MEDIA">, asset: AssetRef): Promise<void> {
  const now = Date.now();
  const objects = await listObjects(env.MEDIA, assetPrefix(asset));
  const derived = objects.filter(({ key }) => key !== sourceKey(asset)); // its row counts that
  const bytes = derived.reduce((sum, { size }) => sum + size, 0);
  await recordBytesOf(env.DB, asset, bytes, now);
}
