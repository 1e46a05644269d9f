/**
 * Files that `npm test` leaves to `npm run test:all`, by project: they start programs, browsers and
 * deployments, or wait for them. A file that isn't listed runs in `npm test`.
 */
const SLOW: Record<string, readonly string[]> = {
  unit: [
    "test/unit/tools/{hostile-searches,hostile-text,deployment-calibration}.test.ts",
    "test/unit/search/watch-scores.test.ts",
  ],
  worker: [
    "test/{queues/platform-limits,queues/outages,lifecycle/deletion-stores}.test.ts",
    "test/{routes/imports,routes/tus-recovery,routes/large-answers}.test.ts",
    "test/{store/fill-database,search/copy-detection,client/uploads}.test.ts",
    "test/{ingest/archive-attacks,ingest/conversion,ingest/playback-copy}.test.ts",
    "test/{metering/quota-concurrency,media/decompression-bombs,local/images}.test.ts",
    "test/ingest/{archive-refusals,archived-copies,audio-only,clocks,frames}.test.ts",
    "test/ingest/{speech-recognition,storyboard,transcript-cut-off}.test.ts",
    "test/{http/received-bytes,http/tenants,durable/object-calls,store/mirror}.test.ts",
    "test/{lifecycle/missing-segments,lifecycle/repair-stops,models/model-limits}.test.ts",
    "test/{media/image-formats,routes/partial-search,routes/search-across}.test.ts",
  ],
  lag: ["test/lag/*.test.ts"],
  node: [
    "test/scripts/{calibrate,calibration,client-package,command-line,deploy}.test.ts",
    "test/scripts/{deploy-migrations,generated-clients,hostile-service,identical-images}.test.ts",
    "test/scripts/{imports-restart,isolate-memory,key-limits,leaked-keys}.test.ts",
    "test/scripts/{migrations,models,package,rehearse,relevance,several-indices}.test.ts",
    "test/scripts/{smoke,smoke-run,tutorial,uploads-restart,watch-commands,wrangler-dev}.test.ts",
    "test/scripts/setup-decoder.test.ts",
    "test/engine/{captioner,conversion,decoder,hostile-files,image-routes,media}.test.ts",
    "test/engine/{installed-models,joint-space}.test.ts",
    "test/engine/{joint-space-training,masks,recordings,retrieval,search-bench,speech}.test.ts",
    "test/engine/{vad,word-recall}.test.ts",
  ],
  browser: [
    "test/browser/{account,administration,audio-only,composed-search,errors,folders}.test.ts",
    "test/browser/{index-names,judgments,keyboard,large-upload,library-changes}.test.ts",
    "test/browser/{narrowed-search,playback-copy,result-views,results-first,search}.test.ts",
    "test/browser/{search-form,sign-in-link,transcript,views,watches}.test.ts",
  ],
};

/** The files of a project in a mode: `quick` has all but the slow ones, `rest` only those. */
export function filesOf(
  mode: string,
  project: string,
  { include, exclude = [] }: { include: string[]; exclude?: string[] },
): { include: string[]; exclude: string[] } {
  const slow = [...(SLOW[project] ?? [])];
  if (mode === "rest") return { include: slow, exclude };
  return { include, exclude: mode === "quick" ? [...exclude, ...slow] : exclude };
}
