import {
  AVCOL_PRI_UNSPECIFIED,
  AVCOL_SPC_UNSPECIFIED,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_SMPTE2084,
  type AVColorPrimaries,
  type AVColorSpace,
  type AVColorTransferCharacteristic,
} from "node-av/constants";

/** What a stream or a frame says of its colours. */
export interface TaggedColours {
  width: number;
  height: number;
  colorSpace: AVColorSpace;
  colorPrimaries: AVColorPrimaries;
  colorTrc: AVColorTransferCharacteristic;
}

/** Sides from which a video without tags is high definition, and so BT.709. */
const HIGH_DEFINITION = { width: 1_280, height: 720 };
/** Brightness of white in nits (BT.2408), and the brightest light that is shown, in whites. */
const [WHITE_NITS, PEAK] = [203, 5];

/** Tells whether the colours are of a high dynamic range: PQ or HLG. */
export function isHighDynamicRange({ colorTrc }: Pick<TaggedColours, "colorTrc">): boolean {
  return colorTrc === AVCOL_TRC_SMPTE2084 || colorTrc === AVCOL_TRC_ARIB_STD_B67;
}

/** Returns FFmpeg filters that tag the colours of a video as a player takes them. */
export function toTagFilters(colours: TaggedColours): string[] {
  const { width, height, colorSpace, colorPrimaries } = colours;
  if (isHighDynamicRange(colours)) {
    return [
      ...(colorSpace === AVCOL_SPC_UNSPECIFIED ? ["setparams=colorspace=bt2020nc"] : []),
      ...(colorPrimaries === AVCOL_PRI_UNSPECIFIED ? ["setparams=color_primaries=bt2020"] : []),
    ];
  }
  const isHigh = width >= HIGH_DEFINITION.width || height >= HIGH_DEFINITION.height;
  return isHigh && colorSpace === AVCOL_SPC_UNSPECIFIED ? ["setparams=colorspace=bt709"] : [];
}

/** Returns FFmpeg filters that map light of a high dynamic range to BT.709, tagged so. */
export function toToneFilters(colours: Pick<TaggedColours, "colorTrc">): string[] {
  if (!isHighDynamicRange(colours)) return [];
  return [
    `zscale=primaries=bt709:transfer=linear:npl=${WHITE_NITS}`,
    "format=gbrpf32le",
    `tonemap=mobius:peak=${PEAK}:desat=0`,
    "zscale=primaries=bt709:transfer=bt709:matrix=bt709:range=tv",
    "format=yuv444p",
    "setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709",
  ];
}
