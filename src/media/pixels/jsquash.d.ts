/** What the declarations of `@jsquash/jpeg` lack: modules that are imported, and plain arrays. */
declare module "@jsquash/jpeg/codec/dec/mozjpeg_dec.js" {
  interface Decoder {
    decode(
      jpeg: Uint8Array,
      keepsOrientation: boolean,
    ): { data: Uint8ClampedArray; width: number; height: number } | null;
  }
  export default function createDecoder(options: object): Promise<Decoder>;
}
declare module "@jsquash/jpeg/encode.js" {
  export function init(module: WebAssembly.Module, options: object): Promise<void>;
  export default function encode(
    image: { data: Uint8ClampedArray; width: number; height: number },
    options: object,
  ): Promise<ArrayBuffer>;
}
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
