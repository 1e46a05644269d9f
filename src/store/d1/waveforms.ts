import { isAudioOnly } from "../../asset-kind.ts";
import type { AssetId } from "../../ids.ts";
import type { Asset, JsonObject } from "../../types.ts";
import { technicalFactsOf } from "../../working-copy.ts";
import { firstValue, sql } from "../sql.ts";

/** Returns the amplitudes of sound without pictures; null if they aren't known, and for others. */
export async function getWaveform(db: D1Database, assetId: AssetId): Promise<number[] | null> {
  const stored = sql`SELECT waveform FROM assets WHERE asset_id = ${assetId}`;
  const text = await firstValue<string | null>(db, stored);
  return text === null ? null : JSON.parse(text);
}

/** Returns the facts of an asset's file with its waveform, which lists of assets leave out. */
export async function getTechnical(db: D1Database, asset: Asset): Promise<JsonObject> {
  const waveform = isAudioOnly(asset) ? await getWaveform(db, asset.assetId) : null;
  return { ...technicalFactsOf(asset), ...(waveform && { waveform }) };
}
