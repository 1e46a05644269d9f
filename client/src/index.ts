export type { AddOptions } from "./add-asset.ts";
export type { GroupQuestion, ImageQuestion, Question, VideoQuestion } from "./answers.ts";
export type { AssetChange } from "./collection.ts";
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  IngestFailedError,
  JobFailedError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  SightlineError,
  ValidationError,
} from "./errors.ts";
export type { NewImage } from "./images.ts";
export type { EventOptions } from "./index-events.ts";
export { toIndexName } from "./index-name.ts";
export type { JobWaitOptions } from "./jobs.ts";
export type { NodesPage, Page, PageResult } from "./page.ts";
export type { components, paths } from "./schema.ts";
export type {
  GroupSearchRequest,
  ImageSearchRequest,
  SearchRequest,
  VideoSearchRequest,
} from "./search.ts";
export { Sightline } from "./sightline.ts";
export type { SightlineIndex } from "./sightline-index.ts";
export type { Fetch } from "./redirects.ts";
export type { SightlineOptions } from "./transport.ts";
export type * from "./types.ts";
export type { UploadOptions } from "./upload.ts";
export type { NewVideo } from "./videos.ts";
export type { WaitOptions } from "./wait-until-ready.ts";
export type { NewWatch, WatchChange, WatchPreview } from "./watches.ts";
