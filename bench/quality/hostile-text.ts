import { SEARCH_FUNCTIONS, TEXT_FUNCTIONS } from "../../tools/hostile-text/functions.ts";
import { type Growth, MAX_RATIO, measureGrowth } from "../../tools/hostile-text/growth.ts";
import { round, type Suite } from "../../tools/suite.ts";

/** Time for which a request may hold the isolate that it shares with others. */
const MAX_MS = 200;

export const suite: Suite = {
  summary: "time of parsers and other functions of text for hostile input, as it doubles",
  run({ log, signal }) {
    const rows = [...SEARCH_FUNCTIONS, ...TEXT_FUNCTIONS].map((tested) => {
      signal.throwIfAborted();
      log(tested.name);
      return summarize(tested.maxCharacters, [
        ...measureGrowth(tested, tested.maxCharacters, { runs: 3 }),
      ]);
    });
    const problems = rows.flatMap((row) => row.problems);
    for (const { function: name, shape, characters, ms, ratio } of problems) {
      log(`${name}, ${shape}: ${Math.round(ms)} ms for ${characters}, × ${round(ratio)} for twice`);
    }
    return Promise.resolve({
      table: rows.map((row) => ({ ...row, problems: row.problems.length })),
      json: { functions: rows, max_ratio: MAX_RATIO, max_ms: MAX_MS },
      problems: problems.length,
    });
  },
};

function summarize(maxCharacters: number, growths: Growth[]) {
  const slowest = growths.reduce((a, b) => (b.ms > a.ms ? b : a));
  const steepest = growths.reduce((a, b) => (b.ratio > a.ratio ? b : a));
  return {
    function: slowest.function,
    characters: maxCharacters,
    slowest_ms: round(slowest.ms, 1),
    slowest_shape: slowest.shape,
    highest_ratio: round(steepest.ratio),
    problems: growths.filter(({ ms, ratio }) => ms > MAX_MS || ratio > MAX_RATIO),
  };
}
