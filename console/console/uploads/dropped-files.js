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
/** Files that systems put into folders. */
const HIDDEN = /^(\.|thumbs\.db$|desktop\.ini$)/i;
/** Types that a browser gives to texts and documents. */
const DOCUMENT =
  /^(text|font)\/|^application\/(pdf|json|xml|zip|gzip|rtf|msword|javascript|vnd\.(ms-(excel|powerpoint)|o))/;

/**
 * Guesses by its MIME type or its extension whether a file or URL is a "video" or an "image"; null
 * if that is unknown.
 */
export function mediaType({ name, type = "" }) {
  const [topLevelType] = type.split("/");
  if (topLevelType === "video" || topLevelType === "image") return topLevelType;
  if (topLevelType === "audio") return "video";
  const extension = extensionOf(name);
  if (VIDEO.has(extension)) return "video";
  return IMAGE.has(extension) ? "image" : null;
}

/**
 * Lists the files of a drop, those of its folders included, as `{ file, path }`. Must be called
 * during the event.
 */
export async function listDropped({ items, files }) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some(({ isDirectory }) => isDirectory)) return listChosen(files);
  const listed = [];
  for (const entry of entries) await walk(entry, listed);
  return listed;
}

/** Lists files that were chosen, one by one or as a folder. */
export function listChosen(files) {
  const listed = [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
  return listed.filter(({ path }) => !path.includes("/") || !isHidden(path));
}

async function walk(entry, listed) {
  if (isHidden(entry.name)) return;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    listed.push({ file, path: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = entry.createReader();
  const readBatch = () => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  for (let batch = await readBatch(); batch.length > 0; batch = await readBatch()) {
    for (const child of batch) await walk(child, listed);
  }
}

function isHidden(path) {
  return path.split("/").some((name) => HIDDEN.test(name));
}

/**
 * Sorts listed files into media, each with the transcript of the same name, and `transcripts` without
 * media. Returns a sentence for each file that can't be added. The service decides about a file whose
 * type is null.
 */
export function sortFiles(files) {
  const transcripts = new Map();
  for (const { file, path } of files) {
    if (TRANSCRIPT.has(extensionOf(path))) transcripts.set(stemOf(path), { file, path });
  }
  const media = [];
  const rejected = [];
  for (const { file, path } of files) {
    if (TRANSCRIPT.has(extensionOf(path))) continue;
    const type = mediaType(file);
    if (type === null && DOCUMENT.test(file.type)) {
      rejected.push(`${path} is neither a video, sound nor an image, and wasn't added.`);
      continue;
    }
    const transcript = type === "image" ? undefined : transcripts.get(stemOf(path))?.file;
    if (transcript) transcripts.delete(stemOf(path));
    media.push({ file, path, type, transcript });
  }
  return { media, rejected, transcripts: [...transcripts.values()] };
}

function extensionOf(name) {
  return /\.(\w+)$/.exec(name)?.[1].toLowerCase() ?? "";
}

/** Returns a name or path in lower case, without its extension. */
export function stemOf(name) {
  return name.replace(/\.\w+$/, "").toLowerCase();
}
