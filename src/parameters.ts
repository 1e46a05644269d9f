/** Image signatures for copy detection (src/media/pixels/image-signature.ts). */
export const SIGNATURE = {
  side: 96, // pixels each way of the luma image that a signature is computed from
  thumbnailSide: 24, // pixels
  hashBits: 20, // of each of the two hashes of an area
  maxHashMatches: 20_000, // rows read for one query
  maxCandidates: 128, // images compared for one query
  minCopySimilarity: 0.93, // from which two images are copies of each other
} as const;

/** Sampling many small frames of a video in one operation (src/media/shots/contact-sheet.ts). */
export const CONTACT_SHEET = {
  maxFrames: 96, // on one sheet
  maxSeconds: 60, // of video that the FRAMES binding takes in one operation
  maxClips: 2, // per sheet; where more are needed, only key packets are decoded
  bitratePackets: 200, // packets that the bitrate is estimated from
} as const;

/** Tiles of the storyboard of a video (src/ingest/storyboard.ts). Sides are in pixels. */
export const STORYBOARD_TILES = {
  maxTiles: 100,
  maxColumns: 10,
  minIntervalMs: 1000,
  longSide: 160,
  minShortSide: 16,
  quality: 65, // of the JPEG, of 100
} as const;

/** Shots and segments (src/media/shots/detect-shots.ts, src/ingest/segmentation.ts). */
export const SHOTS = {
  windowSeconds: 47, // analysed by one message: with the overlap, one contact sheet
  overlapSeconds: 1, // into the next window, so that a transition is detected to its end
  refinementRounds: 3, // one contact sheet each
  minShotSeconds: 1, // shorter shots are merged with a neighbour
  minMergeCorrelation: 0.92, // of neighbouring shots that are merged, if also
  minMergeDetailCorrelation: 0.85, // the correlation of their high-pass images is as high as this
  maxSegmentSeconds: 20, // longer shots are split at pauses, into segments of about
  targetSegmentSeconds: 10,
  splitTolerance: 0.25, // by which a boundary may move, as a share of a segment's length
  // Luma distance of two frames to split a shot between them, also relative to its usual distance.
  splitChange: { minLumaDistance: 4, minRatio: 4 },
  frameOperationsPerHour: 900, // of FRAMES, with keyframes; short shots are merged to stay below
  minKeyframeShare: 0.6, // of these operations, however many small contact sheets were needed
  minFrameOperations: 120, // allowed to every video, however short
} as const;

/** Segments of sound without pictures (src/ingest/segmentation.ts). */
export const AUDIO_SEGMENTS = { minSeconds: 5, maxSeconds: 30 } as const;

/** Waveforms of sound without pictures (src/media/waveform.ts). */
export const WAVEFORM = {
  peaks: 1000, // amplitudes in a waveform
  maxCellMs: 100, // in which an amplitude is measured: short enough to find pauses of speech
  minPauseMs: 250, // shorter ones are articulation, not pauses (Goldman-Eisler, 1968)
  pauseShare: 0.1, // amplitude of a pause beside the loud ones: −20 dB
  loudQuantile: 0.95, // of the amplitudes, which is loud
} as const;

/** Content-based copy detection in videos (src/search/copy-detection.ts). */
export const COPY_DETECTION = {
  referenceFramesPerSecond: 2, // stored, and sampled for shot detection
  thumbnailSide: 16, // pixels, of a reference frame
  maxFrameSignatures: 4, // per segment, beside that of its keyframe
  maxDistinctCorrelation: 0.9, // of a frame with those that have a signature, to get its own
  queryFramesPerSecond: 4,
  maxContactSheets: 4, // of a query clip
  maxLookupFrames: 6, // query frames whose hashes are looked up
  maxLookupCorrelation: 0.98, // of two looked-up query frames; of more similar ones, one will do
  minMatchSimilarity: 0.8, // of a stored frame that votes for its video
  maxVideos: 5, // that are aligned, by the most similar votes; of each of them:
  maxFrameMatches: 24, // votes that predict where the copy is
  maxRegisteredMatches: 4, // votes that are registered to find the crop
  rangeMarginSeconds: 8, // on both sides of the range that the votes predict
  maxReferenceSeconds: 3600, // of a video that are read and compared: about 30 MB
  mergeGapSeconds: 60, // ranges closer than this are read as one; longer than a window
  minCopySimilarity: 0.85, // from which a time range is a copy of the query
} as const;

/** Quotes of an answer without a language model. */
export const QUOTES = {
  maxSentences: 3,
  /** Share of a question's terms that a sentence in its words has. */
  minTermCoverage: 0.8,
  /** Share of the best sentence's coverage that others beside it have. */
  minRelativeCoverage: 0.9,
} as const;

/** Conversion of videos that can't be read as they are, by the decoder (docs/formats.md). */
export const CONVERSION = {
  partMs: 60_000, // of a video, converted by one message
  partBytes: 40 * 1024 ** 2, // of a piece as it comes; an encoder of 4 Mbit/s makes 30 MiB
  copyBytes: 24 * 1024 ** 3, // of 12 hours at 4 Mbit/s
  longSide: 1280, // pixels of the working copy
  shortSide: 720,
  defaultFps: 25, // of a video that states none
  timeoutMs: 600_000, // of a call: the decoder ends a piece after 8
} as const;

/** Watches: queries that announce each new segment which matches (docs/events.md#watches). */
export const WATCHES = {
  minProbability: 0.9, // of a match, by default
  eventMatches: 20, // in an event, which says how many there are
  announcedMatches: 500, // read at a time
  previewDepth: 2000, // segments with the terms of a query that a watch or a preview reads
} as const;

/** Searches with `all` and `none` (docs/search.md#all-and-none). */
export const LOGIC = {
  maxScopeSeconds: 3600,
  candidateDepth: 300, // hits requested from each channel for what has to be there
  maxCandidates: 300, // segments that are ranked: the likeliest, or those added last
  maxScored: 600, // segments that are scored for them, neighbours included
  maxNeighbours: 100, // of one segment, the nearest
  labelMissRate: 0.5, // of detectors, for things that they name in other segments of the index
} as const;

/** Counts of what is in an index, or of what a query finds (src/search/aggregate.ts). */
export const AGGREGATE = {
  defaultTop: 20,
  maxTop: 100, // groups that are returned
  defaultTopP: 0.5, // lowest score of a hit that is counted
  maxGroups: 10_000, // counted of each database, the largest ones
  vectorDepth: 500, // segments read of each vector channel
  fullTextDepth: 5000, // segments read of the full text
  deadlineMs: 30_000,
  maxFacets: 8, // of a search
  facetValues: 20,
} as const;

/** Judgments of an index (docs/search.md#judgments). */
export const JUDGMENTS = {
  maxCount: 10_000,
} as const;

/** Segments that a search takes as examples of what is right and what is wrong, of each. */
export const FEEDBACK = {
  maxSegments: 20,
  /** Segments that a search leaves out since they were passed over, at most. */
  maxSkipped: 80,
  /** Weights of their mean directions beside the query, which has 1. */
  weights: { relevant: 0.75, irrelevant: 0.5 },
  /** The same if what was passed over is left out: what ranks next is near as it is. */
  residualWeights: { relevant: 0.2, irrelevant: 0.05 },
} as const;

/** Searches for several moments in order (src/search/search-sequence.ts). */
export const SEQUENCES = {
  defaultWithinSeconds: 60, // between the end of a step and the start of the next
  maxWithinSeconds: 3600,
  deepenedVideos: 80, // searched once more for a step: two filters of Vectorize
  chainsPerVideo: 100, // hits in one video
  concurrency: 2, // steps searched at the same time: each needs several connections
} as const;

/** A search or an answer over several indices (src/search/index-group.ts). */
export const INDEX_GROUP = {
  maxIndices: 20, // a Worker makes 10,000 calls: a search makes up to 20 of an index
  timeoutMs: 10_000, // of an index, for each call of its database or vectors
  maxSearches: 100, // indices times what each is searched for: the query, conditions, steps
} as const;

/** Searches of one account at once in an isolate. */
export const SEARCH_TURNS = {
  maxUnits: 20, // single searches: of one index, for one thing
  maxMs: 5000, // after which one counts as broken off
  sharedMs: 1000, // for which another account's search makes those of an account run singly
  maxAccounts: 1000, // in an isolate; of more, the one that searched longest ago starts anew
} as const;
