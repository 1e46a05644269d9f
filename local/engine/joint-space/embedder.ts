import { type EnsembleMember, embedImage, embedSentence, tokenizeWords } from "./towers.ts";
import type { SpaceWeights } from "./weights.ts";

/** Embeds images and texts in the joint space as unit vectors. */
export interface JointEmbedder {
  embedImage(features: Float32Array): number[];
  embedText(text: string, sentence: Float32Array): number[];
}

export function createJointEmbedder({ about, members }: SpaceWeights): JointEmbedder {
  const rows = new Map(about.vocabulary.map((word, row) => [word, row]));
  const scale = 1 / Math.sqrt(members.length);
  // Concatenates the members' vectors: the cosine of the results is the mean of the cosines.
  const concatMembers = (embed: (member: EnsembleMember) => Float32Array) =>
    members.flatMap((member) => Array.from(embed(member), (value) => value * scale));
  return {
    embedImage: (features) => concatMembers((member) => embedImage(member, features)),
    embedText(text, sentence) {
      const words = tokenizeWords(text).flatMap((word) => rows.get(word) ?? []);
      return concatMembers((member) => embedSentence(member, sentence, words));
    },
  };
}
