/** Sound without pictures is a video, too. */
const VIDEO = new Set(
  "mp4 m4v mov mkv webm avi mpg mpeg ts mts 3gp ogv mp3 m4a m4b wav flac ogg oga opus aac".split(
    " ",
  ),
);
const IMAGE = new Set(
  (
    "jpg jpeg png webp gif heic heif hif avif tif tiff bmp jp2 j2k jpx jxl psd " +
    "dng cr2 nef arw raf"
  ).split(" "),
);
const TRANSCRIPT = new Set(["srt", "vtt"]);

/** Returns "video", "image" or null for a file or URL, by its MIME type or its extension. */
export function mediaType({ name, type = "" }) {
  const [topLevelType] = type.split("/");
  if (topLevelType === "video" || topLevelType === "image") return topLevelType;
  if (topLevelType === "audio") return "video";
  const extension = extensionOf(name);
  if (VIDEO.has(extension)) return "video";
  return IMAGE.has(extension) ? "image" : null;
}

/**
 * Sorts dropped files into media, each with the transcript of the same name, and returns a sentence
 * for each file that can't be added.
 */
export function sortFiles(files) {
  const transcripts = new Map();
  for (const file of files) {
    if (TRANSCRIPT.has(extensionOf(file.name))) transcripts.set(stemOf(file.name), file);
  }
  const media = [];
  const rejected = [];
  for (const file of files) {
    if (TRANSCRIPT.has(extensionOf(file.name))) continue;
    const type = mediaType(file);
    if (type === null) {
      rejected.push(`${file.name} is neither a video, sound nor an image, and wasn't added.`);
      continue;
    }
    const transcript = type === "video" ? transcripts.get(stemOf(file.name)) : undefined;
    if (transcript) transcripts.delete(stemOf(file.name));
    media.push({ file, type, transcript });
  }
  for (const { name } of transcripts.values()) {
    rejected.push(`${name} has no video of the same name: drop both files together.`);
  }
  return { media, rejected };
}

function extensionOf(name) {
  return /\.(\w+)$/.exec(name)?.[1].toLowerCase() ?? "";
}

function stemOf(name) {
  return name.replace(/\.\w+$/, "").toLowerCase();
}
