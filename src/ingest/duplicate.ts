import type { Asset, JsonObject } from "../types.ts";

export interface Companions {
  metadata: JsonObject;
  hasTranscript: boolean;
}

/** Something that came with a request and wasn't taken, and what to do about it. */
export interface NotTaken {
  code: "metadata_not_taken" | "transcript_not_taken";
  message: string;
}

/**
 * Returns a warning for each companion of a duplicate that wasn't taken, since the existing asset
 * stays as it is: other metadata, and a transcript.
 */
export function duplicateWarnings(
  { assetId, assetType, metadata }: Pick<Asset, "assetId" | "assetType" | "metadata">,
  companions: Companions,
): NotTaken[] {
  const path = `${assetType}/${assetId}`;
  const text = JSON.stringify(companions.metadata);
  const warnings: NotTaken[] = [];
  if (text !== "{}" && text !== JSON.stringify(metadata)) {
    const message = `The file is here as ${assetId}, with its own metadata. Use PATCH …/${path}.`;
    warnings.push({ code: "metadata_not_taken", message });
  }
  if (companions.hasTranscript) {
    const message = `The file is here as ${assetId}. Send the transcript to …/${path}/transcript.`;
    warnings.push({ code: "transcript_not_taken", message });
  }
  return warnings;
}
