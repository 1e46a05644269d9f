import { addAsset, type AddOptions } from "./add-asset.ts";
import { Collection } from "./collection.ts";
import type { AddedAsset, Asset } from "./types.ts";

export interface NewImage {
  /** The file, or else `image_url`. */
  image_file?: Blob;
  image_url?: string;
  metadata?: Record<string, unknown>;
  /**
   * Whether the file is sent by tus, which continues after a break. Default: above 50 MiB. In one
   * request, Node holds the whole file in memory.
   */
  resumable?: boolean;
}

/** The images of an index. */
export class Images extends Collection<Asset> {
  /**
   * Adds an image.
   * @example
   * const { asset_id } = await index.images.add({ image_url: "https://example.com/boat.jpg" });
   */
  add(image: NewImage, options: AddOptions = {}): Promise<AddedAsset> {
    const { image_file: file, image_url: url, ...others } = image;
    const asset = { type: this.type, file, url, ...others };
    return addAsset(this.transport, this.indexPath, asset, options);
  }
}
