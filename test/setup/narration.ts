/** The sentences of `speech.mp4`, and the second at which each begins. */
export const NARRATION = [
  { start: 0.5, text: "The old carpenter built this house alone." },
  { start: 5, text: "Every window looks toward the river." },
] as const;
