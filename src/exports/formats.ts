import { formatChapters, formatVttChapters, refuseChapters } from "./chapters.ts";
import type { CutList } from "./cut-list.ts";
import { formatEdl, formatMarkerCsv, formatMarkerEdl, refuseTimecode } from "./edl.ts";
import { formatFcpxml, refuseFcpxml } from "./fcpxml.ts";
import { formatOtio } from "./otio.ts";
import { formatPremiereXml } from "./premiere-xml.ts";

/** How a cut list is written. */
interface ExportFormat {
  extension: string;
  /** Media type. */
  type: string;
  format: (list: CutList) => string;
  /** How a file begins. */
  example: string;
  /** Returns why the format can't say a list, as a sentence; null if it can. */
  refuse?: (list: CutList) => string | null;
  /** Whether it says where media are. */
  hasMedia?: true;
  /** Whether it counts frames as timecode does. */
  isCounted?: true;
}

const edl = {
  extension: "edl",
  type: "text/plain",
  refuse: refuseTimecode,
  isCounted: true,
  example: "TITLE: Harbour\r\nFCM: NON-DROP FRAME\r\n",
} as const;
const OTIO = "application/vnd.pixar.opentimelineio+json";
const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const xml = { type: "application/xml", hasMedia: true, example: XML } as const;

/** Formats of a cut list, by the names that requests have. */
const EXPORT_FORMATS = {
  edl: { ...edl, format: formatEdl },
  fcpxml: { ...xml, extension: "fcpxml", format: formatFcpxml, refuse: refuseFcpxml },
  premiere_xml: { ...xml, extension: "xml", format: formatPremiereXml, refuse: refuseTimecode },
  otio: {
    extension: "otio",
    type: OTIO,
    format: formatOtio,
    hasMedia: true,
    example: '{"OTIO_SCHEMA": "Timeline.1", "name": "Harbour"}',
  },
  markers_csv: {
    ...edl,
    extension: "csv",
    type: "text/csv",
    format: formatMarkerCsv,
    example: "#,Reel,V,C,Dur,Source In,Source Out,Record In,Record Out,Name,Source FPS",
  },
  markers_edl: { ...edl, format: formatMarkerEdl },
  chapters: {
    extension: "txt",
    type: "text/plain",
    format: formatChapters,
    refuse: refuseChapters,
    example: "0:00 Dawn\n1:05 The ferry leaves\n",
  },
  chapters_vtt: {
    extension: "vtt",
    type: "text/vtt",
    format: formatVttChapters,
    example: "WEBVTT\n\n00:00:00.000 --> 00:01:05.000\nDawn\n",
  },
} satisfies Record<string, ExportFormat>;

export type ExportFormatName = keyof typeof EXPORT_FORMATS;
export const EXPORT_FORMAT_NAMES = Object.keys(EXPORT_FORMATS) as ExportFormatName[];

/** Returns the format with a name. */
export function exportFormat(name: ExportFormatName): ExportFormat {
  return EXPORT_FORMATS[name];
}
