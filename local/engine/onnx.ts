// ONNX Runtime sends telemetry unless this is set before it is loaded.
process.env.ORT_DISABLE_TELEMETRY = "1";
const { InferenceSession, Tensor } = await import("onnxruntime-node");
export { Tensor };

/** Options of the sessions of large models. */
export const SESSION_OPTIONS = {
  executionProviders: ["cpu"],
  intraOpNumThreads: 2,
  enableCpuMemArena: false,
};

/** Opens a small network with named inputs and outputs, for one thread: a second spins for it. */
export function openSession(path: string) {
  return InferenceSession.create(path, { ...SESSION_OPTIONS, intraOpNumThreads: 1 });
}

export type Network = Awaited<ReturnType<typeof loadNetwork>>;

/** Opens a network with one input and one output from an `.onnx` file. */
export async function loadNetwork(path: string) {
  const session = await openSession(path);
  const [input, output] = [session.inputNames[0], session.outputNames[0]];
  if (input === undefined || output === undefined)
    throw new Error(`${path} has no input or output.`);
  return {
    /** Runs the network on `planes`, [1, 3, height, width]; returns the output and its shape. */
    async run(planes: Float32Array, height: number, width: number) {
      const tensor = new Tensor("float32", planes, [1, 3, height, width]);
      const result = (await session.run({ [input]: tensor }))[output];
      if (!(result?.data instanceof Float32Array))
        throw new Error(`${path} returned no float32 tensor.`);
      return { data: result.data, dims: result.dims };
    },
  };
}
