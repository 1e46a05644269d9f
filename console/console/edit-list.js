import { Timecode } from "./timecode.js";

/** One hour, where editors have programmes begin. */
const PROGRAMME_START_SECONDS = 3600;
const EVENT = /^\d+\s+(\S+)\s+(\S+)\s+C\s/;

/**
 * Joins the edit lists (CMX 3600) of several videos into one, in the order of `moments`, hard cuts
 * from the first hour on. `sources` maps an asset id to `{ fps, edl }`, the video's frame rate or
 * null and its list from the API; it gives the reel, the track and the clip's name. Programme times
 * count in the frame rate of the first video. Images and videos without a source are left out.
 */
export function joinEditLists(title, moments, sources) {
  const events = moments.filter(({ start_seconds: start, asset_id: id }) => {
    return start !== null && sources.has(id);
  });
  const programme = new Timecode(sources.get(events[0]?.asset_id)?.fps ?? null);
  let recordIn = programme.frameAt(PROGRAMME_START_SECONDS);
  const lines = events.flatMap(({ asset_id: id, start_seconds: start, end_seconds: end }, i) => {
    const { fps, edl } = sources.get(id);
    const source = new Timecode(fps);
    const sourceIn = source.toFrame(start);
    const sourceOut = Math.max(sourceIn + 1, source.toFrame(end));
    const frames = Math.round(((sourceOut - sourceIn) * programme.fps) / source.fps);
    const recordOut = recordIn + Math.max(1, frames);
    const times = [
      ...[sourceIn, sourceOut].map((frame) => source.format(frame)),
      ...[recordIn, recordOut].map((frame) => programme.format(frame)),
    ];
    recordIn = recordOut;
    const { reel, track, clip } = readSource(edl);
    const number = String(i + 1).padStart(3, "0");
    const event = `${number}  ${reel.padEnd(8)} ${track.padEnd(5)} C        ${times.join(" ")}`;
    const name = `* FROM CLIP NAME: ${clip}`;
    if (source.fps === programme.fps) return [event, name];
    return [event, name, `* SOURCE FRAME RATE: ${Number(source.fps.toFixed(3))}`];
  });
  const mode = programme.dropped > 0 ? "DROP FRAME" : "NON-DROP FRAME";
  return [`TITLE: ${toOneLine(title).slice(0, 70)}`, `FCM: ${mode}`, "", ...lines, ""].join("\r\n");
}

/** Returns whether the videos of a list have different frame rates. */
export function hasMixedRates(sources) {
  return new Set([...sources.values()].map(({ fps }) => new Timecode(fps).fps)).size > 1;
}

/** Reads reel, track and clip name of the first event of an edit list. */
function readSource(edl) {
  const lines = edl.split(/\r?\n/);
  const [, reel, track] = lines.map((line) => EVENT.exec(line)).find(Boolean) ?? ["", "AX", "V"];
  const name = lines.find((line) => line.startsWith("* FROM CLIP NAME: "));
  return { reel, track, clip: name?.slice("* FROM CLIP NAME: ".length) ?? "" };
}

function toOneLine(text) {
  return text.replaceAll(/[\r\n]+/g, " ").trim();
}
