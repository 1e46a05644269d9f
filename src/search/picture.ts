import { SIGNATURE } from "../config.ts";
import { AppError } from "../errors.ts";
import type { IndexId } from "../ids.ts";
import { decodePicture } from "../media/pictures.ts";
import { greyPixels } from "../media/pixels.ts";
import { querySignatures } from "../media/signature.ts";
import { describePicture } from "../models/describe.ts";
import { embedInPictureSpace, hasPictureSpace } from "../models/embed-picture.ts";
import { embedText } from "../models/embed-text.ts";
import { findSignatures, type SignatureMatch } from "../store/signatures.ts";
import { mix } from "./channels.ts";
import type { Likeness, Same } from "./likeness.ts";
import { unlessOut } from "./outage.ts";

/**
 * What a picture is like: the very same one in the index by its signature, others by its place in the
 * picture space, or, where there is none, by its caption. Throws `unreadable_image`.
 */
export async function likenessOfPicture(
  env: Env,
  indexId: IndexId,
  bytes: Uint8Array,
): Promise<Likeness> {
  const open = async () => new Blob([bytes]).stream();
  const { jpeg } = await decodePicture(env.IMAGES, open);
  const [looks, meaning, same] = await Promise.all([
    hasPictureSpace(env) ? unlessOut("looks", () => lookOf(env, [jpeg])) : null,
    hasPictureSpace(env) ? null : unlessOut("meaning", () => meaningOf(env, jpeg)),
    findSame(env, indexId, jpeg),
  ]);
  return toLikeness(looks, meaning, same);
}

/** Of something that isn't stored. */
export function toLikeness(
  looks: number[] | AppError | null,
  meaning: number[] | AppError | null,
  same: Same[],
): Likeness {
  const outage = [looks, meaning].find((one) => one instanceof AppError) ?? null;
  return {
    looks: looks instanceof AppError ? null : looks,
    meaning: meaning instanceof AppError ? null : meaning,
    same,
    outage,
    except: { segmentId: null, assetId: null },
  };
}

/** Where the very same picture is, edited or not, the likest first. */
async function findSame(env: Env, indexId: IndexId, jpeg: Uint8Array): Promise<Same[]> {
  const pixels = await greyPixels(env.IMAGES, new Blob([jpeg]).stream());
  const query = querySignatures(pixels);
  const found = await findSignatures(env.DB, indexId, query, SIGNATURE.candidates);
  return bestOfEach(found.filter(({ similarity }) => similarity >= SIGNATURE.same));
}

/** Of matches, the best first, the first of each segment. */
export function bestOfEach(matches: SignatureMatch[]): Same[] {
  const best = new Map<string, Same>();
  for (const { segmentId, similarity } of matches) {
    if (!best.has(segmentId)) best.set(segmentId, { segmentId, similarity, span: null });
  }
  return [...best.values()];
}

/** The middle of pictures' places in the picture space. */
export async function lookOf(env: Env, jpegs: Uint8Array[]): Promise<number[]> {
  const images = jpegs.map((image) => ({ image }));
  return mix((await embedInPictureSpace(env, images)).vectors);
}

async function meaningOf(env: Env, jpeg: Uint8Array): Promise<number[]> {
  const { caption, labels } = await describePicture(env.AI, jpeg);
  return (await embedText(env.AI, [`${caption} ${labels.join(", ")}`.trim()]))[0]!;
}
