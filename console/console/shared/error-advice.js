const LATER = "The cause may pass: try again later.";
const REPORT = "Try again. If it fails again, report it with the id of the asset.";
const OPERATOR = "Ask the operator of the service.";

/** What to do, for the errors whose messages only say what is wrong: docs/formats.md. */
const ADVICE = {
  no_video_track: "Sound without pictures is taken now: retry.",
  unreadable_frame: "Check the file for damage there, then add it again.",
  too_complex: "Save it smaller, or in another format.",
  nothing_indexed: "It has no picture, text or speech to search. Delete it.",
  download_refused: "Check that the URL opens without a login.",
  download_failed: LATER,
  media_not_available: "Upload the file instead.",
  original_removed: "Delete it, or upload the file.",
  limit_reached: "Try again tomorrow (UTC).",
  cost_limit_reached: "It continues after midnight (UTC).",
  account_full: "Delete videos or images, then try again.",
  deployment_full: OPERATOR,
  model_not_found: OPERATOR,
  model_request_rejected: OPERATOR,
  model_output_unreadable: LATER,
  upstream_failed: LATER,
  upstream_unavailable: LATER,
  upstream_timeout: LATER,
  attempts_exhausted: REPORT,
  internal: REPORT,
};

/** Sentence about a model that didn't answer, with its id. */
const MODEL_FAILURE = /The model (\S+) [^.]*\.\s*/;
const ADD_TRANSCRIPT =
  "To find what is said, open it and add a transcript: “Write one” or “Upload a file…”.";

/** Whether a warning is that the speech of a video wasn't recognised. */
export function isSpeechWarning({ message }) {
  return /whisper/.test(MODEL_FAILURE.exec(message)?.[1] ?? "");
}

/** Begins a text with a capital letter. */
export function sentenceOf(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Says in plain words what a failure or a warning is: without the ids of models. */
export function plainMessage(failure) {
  const { code, message } = failure;
  const [found] = MODEL_FAILURE.exec(message) ?? [];
  if (found === undefined) return message;
  const isMissing = code === "model_not_found";
  if (!isSpeechWarning(failure)) {
    const state = isMissing ? "The service lacks a model for it" : "The model for it didn't answer";
    return message.replace(found, `${state}. `).trim();
  }
  const [command] = /`[^`]+`/.exec(message.replace(found, "")) ?? [];
  const cause = isMissing ? "this service has no speech recogniser" : "the recogniser failed";
  const remedy = command ? ` Or run ${command}, then repair the index under “Health”.` : "";
  return `Speech isn't recognised: ${cause}. ${ADD_TRANSCRIPT}${remedy}`;
}

/** Returns a sentence that says what to do; null if the error's message says so itself. */
export function adviceOf({ code }) {
  return ADVICE[code] ?? null;
}
