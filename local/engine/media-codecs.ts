/** FFmpeg's decoders of the codecs that docs/formats.md lists. No other one is ever opened. */
const VIDEO_DECODERS =
  "h264 hevc libdav1d vp8 vp9 prores mpeg1video mpeg2video mpeg4 msmpeg4v1 msmpeg4v2 msmpeg4 h263 " +
  "h263p h263i flv vp6 vp6a vp6f wmv1 wmv2 wmv3 vc1 theora mjpeg dvvideo dnxhd jpeg2000 rv10 rv20 " +
  "rv30 rv40 svq1 svq3 cinepak qtrle huffyuv ffvhuff ffv1 rawvideo";
const AUDIO_DECODERS =
  "aac aac_latm mp1 mp2 mp3float ac3 eac3 dca opus vorbis flac alac wavpack ape mpc7 mpc8 amrnb " +
  "amrwb qcelp wmav1 wmav2 wmapro wmalossless wmavoice cook sipr real_144 real_288 atrac3 ralf " +
  "nellymoser speex gsm gsm_ms qdm2 s302m dsd_lsbf dsd_msbf dsd_lsbf_planar dsd_msbf_planar " +
  "adpcm_ms adpcm_ima_wav adpcm_ima_qt adpcm_swf adpcm_yamaha pcm_alaw pcm_mulaw pcm_bluray " +
  "pcm_dvd pcm_lxf pcm_s8 pcm_u8 pcm_s8_planar pcm_s16le pcm_s16be pcm_s16le_planar " +
  "pcm_s16be_planar pcm_u16le pcm_u16be pcm_s24le pcm_s24be pcm_s24le_planar pcm_u24le pcm_u24be " +
  "pcm_s32le pcm_s32be pcm_s32le_planar pcm_u32le pcm_u32be pcm_f32le pcm_f32be pcm_f64le pcm_f64be";

/** Value of FFmpeg's option `codec_whitelist`. */
export const CODECS = `${VIDEO_DECODERS} ${AUDIO_DECODERS}`.replaceAll(" ", ",");
