import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { stemOf } from "../uploads/dropped-files.js";
import { replaceTranscript } from "./transcript-files.js";

/**
 * Adds a transcript to a video that is ready, unless one was uploaded for it. Resolves to a sentence
 * about the outcome.
 */
export async function addTranscript(index, { asset_id: id, title }, file) {
  const { transcript } = await api("GET", indexPath(index, ["video", id]));
  if (transcript?.source === "upload") {
    return `“${title}” has an uploaded transcript already, which stays: ${file.name} wasn't added.`;
  }
  await replaceTranscript(indexPath(index, ["video", id, "transcript"]), file, () => {});
  return `The transcript was added to “${title}”.`;
}

/** Adds a transcript, `{ file, path }`, to the video of its name. Resolves as `addTranscript`. */
export async function addByName(index, { file, path }) {
  const found = findByName(await listVideos(index), path);
  if (found.length === 0) {
    return `${file.name} has no video of the same name, neither here nor in this index.`;
  }
  if (found.length > 1) {
    return `${found.length} videos have the name of ${file.name}: open the right one to add it.`;
  }
  const [video] = found;
  if (video.state !== "ready") {
    return `“${video.title}” isn't ready: add ${file.name} again when it is.`;
  }
  return await addTranscript(index, video, file);
}

/** Returns the videos that a transcript has the name of; if any, those in its folder only. */
export function findByName(videos, path) {
  const folder = path.split("/").slice(0, -1).join("/");
  const stem = stemOf(path.split("/").at(-1));
  const named = videos.filter(({ title }) => stemOf(title) === stem);
  const beside = named.filter(({ technical }) => (technical?.folder ?? "") === folder);
  return beside.length > 0 ? beside : named;
}

async function listVideos(index) {
  const videos = [];
  let cursor;
  do {
    const page = await api("GET", indexPath(index, [], { limit: 100, cursor }));
    videos.push(...page.assets.filter(({ asset_type: type }) => type === "video"));
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return videos;
}
