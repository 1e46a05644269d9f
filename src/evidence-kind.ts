/** Kinds of evidence: the image, what is said, text in the image, the caption. */
export const EVIDENCE_KINDS = ["visual", "speech", "text", "caption"] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];
