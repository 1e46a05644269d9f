/** What the declarations of `@jsquash/jpeg` lack: modules that are imported, and plain arrays. */
declare module "@jsquash/jpeg/decode.js" {
  export function init(module: WebAssembly.Module, options: object): Promise<void>;
  export default function decode(
    jpeg: Uint8Array,
  ): Promise<{ data: Uint8ClampedArray; width: number; height: number }>;
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
