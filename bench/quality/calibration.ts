import { join } from "node:path";
import { JOINT_SPACE_FILE } from "../../local/engine/joint-space/space.ts";
import type { JudgedQuery } from "../../tools/calibration/judgments.ts";
import { loadPhotoVectors } from "../../tools/calibration/photo-vectors.ts";
import { ARCHIVE_CONTENTS, LABELLED_CONTENTS } from "../../tools/calibration/sized-archive.ts";
import { type ArchiveResults, judgeArchives } from "../../tools/memory-search/judge-archive.ts";
import { ndcg } from "../../tools/ndcg.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { binForecasts, calibrationError } from "../../tools/reliability.ts";
import { round, type Suite } from "../../tools/suite.ts";
import { shuffle } from "../../tools/training/random.ts";
import { readQueriesAboutNothing } from "../search/queries-about-nothing.ts";

/** Photos that are asked for without being in an archive. */
const ABSENT = 200;
/** Hits of a query that count. */
const FIRST = 10;
const LIKELY = 0.5;

const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
const percent = (share: number) => round(100 * share, 1);

const isLikely = ({ hits }: JudgedQuery) => hits.some(({ score }) => score >= LIKELY);

function measure({ contents, segments, queries, aboutNothing }: ArchiveResults) {
  const answerable = queries.filter(({ relevantCount }) => relevantCount > 0);
  const unanswerable = queries.filter(({ relevantCount }) => relevantCount === 0);
  const share = (some: JudgedQuery[]) => percent(mean(some.map((one) => Number(isLikely(one)))));
  const gains = answerable.map(({ hits, relevantCount }) => {
    return ndcg(
      hits.map(({ isRight }) => isRight),
      relevantCount,
    );
  });
  const bins = binForecasts(queries.flatMap(({ hits }) => hits.slice(0, FIRST)));
  return {
    contents,
    segments,
    queries: queries.length,
    error: round(calibrationError(bins), 3),
    ndcg10: percent(mean(gains)),
    /** Percent of the queries that have a hit of .5 or more, though no segment is relevant. */
    unanswerable: unanswerable.length,
    unanswerable_at_half: share(unanswerable),
    about_nothing: aboutNothing.length,
    about_nothing_at_half: share(aboutNothing),
    bins,
  };
}

export const suite: Suite = {
  summary: "whether scores are probabilities in archives of --sizes segments; nDCG@10",
  async run({ dataDir, sizes, log, signal }) {
    const folders = ["photos", "photos-train"].map((name) => join(dataDir, name));
    const vectors = await loadPhotoVectors(folders, JOINT_SPACE_FILE, log);
    const captions = vectors.photos.map((photo) => photo.captions);
    const known = shuffle(vectors.starts[1]!, createRandom(1));
    const photos = {
      captions,
      labelsOf: vectors.labelsOf,
      targets: known.slice(ABSENT),
      absent: known.slice(0, ABSENT),
      others: [...captions.keys()].slice(vectors.starts[1]),
    };
    const listOthers = await readQueriesAboutNothing(photos);
    const rows = [];
    for (const contents of [...ARCHIVE_CONTENTS, ...LABELLED_CONTENTS]) {
      for (const size of sizes) {
        const about = { contents, size };
        const results = await judgeArchives(photos, vectors, about, { signal, listOthers });
        const row = measure(results);
        log(JSON.stringify({ ...row, bins: undefined }));
        rows.push(row);
      }
    }
    return {
      table: rows.map((row) => ({ ...row, bins: row.bins.length })),
      json: { archives: rows },
    };
  },
};
