// ONNX Runtime reports its use to its maker unless it finds this when it is loaded.
process.env.ORT_DISABLE_TELEMETRY = "1";
const { InferenceSession, Tensor } = await import("onnxruntime-node");
export { Tensor };

/** How every network is run. */
export const SESSION_OPTIONS = {
  executionProviders: ["cpu"],
  intraOpNumThreads: 2,
  enableCpuMemArena: false,
};

/** A network with any inputs and outputs, by name. */
export function openSession(path: string, threads = SESSION_OPTIONS.intraOpNumThreads) {
  return InferenceSession.create(path, { ...SESSION_OPTIONS, intraOpNumThreads: threads });
}

export type Network = Awaited<ReturnType<typeof loadNetwork>>;

/** A network from an `.onnx` file, on the CPU. It has one input and one output. */
export async function loadNetwork(path: string) {
  const session = await openSession(path);
  const [input, output] = [session.inputNames[0], session.outputNames[0]];
  if (input === undefined || output === undefined) throw new Error(`${path} is no network.`);
  return {
    /** `planes` as [1, 3, height, width]; returns the numbers and their shape. */
    async run(planes: Float32Array, height: number, width: number) {
      const tensor = new Tensor("float32", planes, [1, 3, height, width]);
      const result = (await session.run({ [input]: tensor }))[output];
      if (!(result?.data instanceof Float32Array)) throw new Error(`${path} gave no numbers.`);
      return { data: result.data, dims: result.dims };
    },
  };
}
