/** Judgments that figures need, as the API says in `is_enough`. */
const MIN_JUDGMENTS = 30;

const CALIBRATIONS = {
  own: "Scores of this index are fitted to its judgments.",
  fitted: "Scores are the general ones of this service, fitted to its models.",
  borrowed:
    "Scores are general ones that were fitted to other models than this service has: they put results in order, but aren't exact.",
};

/**
 * Says in words which calibration an index uses: `state` is that of the API, `setting` the setting
 * `calibration`, which may be absent.
 */
export function calibrationText(state, setting) {
  const text = CALIBRATIONS[state];
  if (state === "own") return text;
  return setting === "general"
    ? `${text} Fitting them to the judgments of this index is turned off.`
    : `${text} They are fitted to the judgments of this index once 50 or more show that it helps.`;
}

/** Formats a share, rounded: 0.745 → "75 %". */
export function share(value) {
  return `${Math.round(value * 100)} %`;
}

/** Formats an interval of shares: (0.61, 0.84) → "61–84 %". */
export function interval({ low, high }) {
  return `${Math.round(low * 100)}–${share(high)}`;
}

/** Returns the rows of the table of precision: threshold, judgments, precision, its interval. */
export function precisionRows(precision) {
  return precision.map(({ threshold, judgments, precision: value, ...ends }) => [
    `from ${share(threshold)}`,
    judgments.toLocaleString("en"),
    value === null ? "–" : share(value),
    value === null ? "–" : interval(ends),
  ]);
}

/** Returns the rows of the table of points: mean score, judgments, relevant share, its interval. */
export function pointRows(bins) {
  return bins.map(({ judgments, predicted, observed, ...ends }) => [
    share(predicted),
    judgments.toLocaleString("en"),
    share(observed),
    interval(ends),
  ]);
}

const COLUMNS = ["judgments", "predicted", "observed", "low", "high"];

/** Formats the points of the diagram as CSV (RFC 4180). */
export function formatPoints(bins) {
  const lines = [COLUMNS, ...bins.map((bin) => COLUMNS.map((name) => bin[name]))];
  return `${lines.map((row) => row.join(",")).join("\r\n")}\r\n`;
}

/** Names the calibration error and nDCG@10 with their values. */
export function summaryFacts({ calibration_error: error, ndcg_at_10: ndcg }) {
  const queries = ndcg && `${ndcg.queries} ${ndcg.queries === 1 ? "query" : "queries"}`;
  return [
    ["Calibration error", error ? `${share(error.value)} (${interval(error)})` : "–"],
    ["nDCG@10", ndcg ? `${ndcg.value.toFixed(2)} (${queries})` : "–"],
  ];
}

/** Says how many judgments figures need, and how many there are. */
export function requirementText(judgments) {
  const have = judgments === 1 ? "There is 1" : `There are ${judgments.toLocaleString("en")}`;
  return `Figures need ${MIN_JUDGMENTS} judgments of moments that a search finds. ${have} so far.`;
}
