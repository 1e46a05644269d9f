import { type Member, placePicture, placeText } from "./towers.ts";
import type { SpaceWeights } from "./weights.ts";
import { readWords } from "./words.ts";

/** Where pictures and texts lie in a space; vectors have length 1. */
export interface Places {
  ofPicture(features: Float32Array): number[];
  ofText(text: string, sentence: Float32Array): number[];
}

export function createPlaces({ about, members }: SpaceWeights): Places {
  const rows = new Map(about.vocabulary.map((word, row) => [word, row]));
  const share = 1 / Math.sqrt(members.length);
  // The members' vectors side by side: a cosine of these is the mean of the members' cosines.
  const placeInAll = (place: (member: Member) => Float32Array) =>
    members.flatMap((member) => Array.from(place(member), (value) => value * share));
  return {
    ofPicture: (features) => placeInAll((member) => placePicture(member, features)),
    ofText(text, sentence) {
      const words = readWords(text).flatMap((word) => rows.get(word) ?? []);
      return placeInAll((member) => placeText(member, sentence, words));
    },
  };
}
