/** The part of `libheif-js` that the engine uses. */
declare module "libheif-js/wasm-bundle.js" {
  interface Target {
    width: number;
    height: number;
    data: Uint8ClampedArray;
  }

  interface HeifImage {
    get_width(): number;
    get_height(): number;
    is_primary(): boolean;
    /** Fills `target.data` with RGBA pixels. Passes null if the image can't be decoded. */
    display(target: Target, callback: (target: Target | null) => void): void;
  }

  const libheif: {
    HeifDecoder: new () => {
      /** Returns the images of a file without its tiles, thumbnails and depth maps. */
      decode(bytes: Uint8Array): HeifImage[];
    };
  };
  export default libheif;
}
