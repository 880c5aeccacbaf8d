import { openScripts } from "../../../infra/sandbox/openScripts.ts";
import { progress } from "../tools/progress.ts";

const COLD = 5;
const WARM = 1_000;
const js = "export const execute = async (args) => ({ sum: args.a + args.b });";

const call = (runner: ReturnType<typeof openScripts>): Promise<string> =>
  runner.run({
    organization_id: "bench",
    js,
    args: { a: 1, b: 2 },
    meta: { vars: {} },
    host: {
      fetch: () => Promise.reject(new Error("none")),
      secret: () => Promise.reject(new Error("none")),
    },
    signal: new AbortController().signal,
  });

const timeCall = async (call: () => Promise<string>): Promise<number> => {
  const start = performance.now();
  if ((await call()) !== '{"sum":3}') throw new Error("the script returned a wrong result");
  return performance.now() - start;
};

/** Milliseconds of sequential calls of a scripted tool: cold (its process must be started first) and warm (the process is running). */
export const measureScripts = async (): Promise<{ cold: number[]; warm: number[] }> => {
  const cold: number[] = [];
  for (let n = 0; n < COLD; n++) {
    progress(`a cold call, ${n + 1} of ${COLD}`);
    const runner = openScripts({ processes: 1 });
    cold.push(await timeCall(() => call(runner)));
    await runner.close();
  }
  progress("warm calls");
  const runner = openScripts({ processes: 1 });
  const warm: number[] = [];
  for (let n = 0; n < 2 * WARM; n++) {
    const duration = await timeCall(() => call(runner));
    // The first half warms up.
    if (n >= WARM) warm.push(duration);
  }
  await runner.close();
  return { cold, warm };
};
