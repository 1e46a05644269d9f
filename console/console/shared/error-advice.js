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

/** Returns a sentence that says what to do; null if the error's message says so itself. */
export function adviceOf({ code }) {
  return ADVICE[code] ?? null;
}
