import { AppError } from "../errors.ts";
import type { ConvertedFile } from "../media/converter.ts";
import { getObject, headObject, sourceKey } from "../store/r2/object-keys.ts";
import type { AssetRef } from "../types.ts";

/** Opens the source file of an asset for the decoder. Throws `source_missing`. */
export async function convertedFile(bucket: R2Bucket, asset: AssetRef): Promise<ConvertedFile> {
  const key = sourceKey(asset);
  const head = await headObject(bucket, key);
  if (!head) throw sourceMissing();
  const name = new TextEncoder().encode(`${key} ${head.etag}`);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", name));
  return {
    id: Buffer.from(hash).toString("hex"),
    sizeBytes: head.size,
    async read(offset, length) {
      const object = await getObject(bucket, key, { offset, length });
      if (!object) throw sourceMissing();
      return object.body;
    },
  };
}

function sourceMissing(): AppError {
  return new AppError("source_missing", "The stored file is gone; send it again.");
}
