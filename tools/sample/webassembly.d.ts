/** Parts of WebAssembly that Node has but `@types/node` doesn't declare. */
declare namespace WebAssembly {
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: object): Promise<Instance>;
}
