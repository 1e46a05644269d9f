const VIDEO = new Set("mp4 m4v mov mkv webm avi mpg mpeg ts mts 3gp ogv".split(" "));
const IMAGE = new Set("jpg jpeg png webp gif avif heic heif bmp tif tiff svg".split(" "));
const TRANSCRIPT = new Set(["srt", "vtt"]);

/** "video", "image" or null, of a file or an address, by what it is said to be. */
export function mediaType({ name, type = "" }) {
  const [said] = type.split("/");
  if (said === "video" || said === "image") return said;
  const ending = endingOf(name);
  if (VIDEO.has(ending)) return "video";
  return IMAGE.has(ending) ? "image" : null;
}

/**
 * What to add of files that came together: media, each with the transcript that bears its name, and
 * a sentence for each file that can't be added.
 */
export function sortFiles(files) {
  const transcripts = new Map();
  for (const file of files) {
    if (TRANSCRIPT.has(endingOf(file.name))) transcripts.set(stemOf(file.name), file);
  }
  const media = [];
  const refused = [];
  for (const file of files) {
    if (TRANSCRIPT.has(endingOf(file.name))) continue;
    const type = mediaType(file);
    if (type === null) {
      refused.push(`${file.name} is neither a video nor an image, so it was left out.`);
      continue;
    }
    const transcript = type === "video" ? transcripts.get(stemOf(file.name)) : undefined;
    if (transcript) transcripts.delete(stemOf(file.name));
    media.push({ file, type, transcript });
  }
  for (const { name } of transcripts.values()) {
    refused.push(`${name} has no video of the same name beside it: drop the two together.`);
  }
  return { media, refused };
}

function endingOf(name) {
  return /\.(\w+)$/.exec(name)?.[1].toLowerCase() ?? "";
}

function stemOf(name) {
  return name.replace(/\.\w+$/, "").toLowerCase();
}
