import type { Program } from "acorn";
import { ScriptError, type ScriptInspection } from "#services/scripting/runner.ts";
import { lintWorkflow } from "./lintWorkflow.ts";
import { mayCatchSignals, mayRaceCalls } from "./mayCatchSignals.ts";
import type { ScriptVmOptions } from "./scriptVm.ts";
import { stepPositions } from "./stepPositions.ts";
import { createCodeCache } from "./workflows/bytecode.ts";
import { AttemptFailure } from "./workflows/attemptFailure.ts";
import { createStepVm } from "./workflows/stepVm.ts";

/** Result of `inspect` in sharedGuest.ts. */
interface Exports {
  meta: unknown;
  runs: boolean;
  steps: { name: string; callable: boolean; settings: unknown }[] | null;
}

/** Returns `otherwise` if reading a program overflows the stack, because it recurses. */
function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Evaluates a workflow when it is saved, and reads its code. Throws ScriptError. */
export async function inspectWorkflow(
  program: Program,
  js: string,
  { wasm, cpu_ms }: ScriptVmOptions,
): Promise<Pick<ScriptInspection, "meta" | "executes" | "workflow">> {
  const json = await createStepVm({ wasm, cpu_ms }, createCodeCache(0))
    .inspect(js)
    .catch((error: unknown) => {
      if (error instanceof AttemptFailure)
        throw new ScriptError(error.message, error.details.line, error.details.column);
      throw error;
    });
  const { meta, runs, steps } = JSON.parse(json) as Exports;
  const positions = orElse(() => stepPositions(program, js), {});
  const names = (steps ?? []).map(({ name }) => name);
  // schemas take time to load, and processes that only run scripts do not need them
  const { findWrongOptions } = await import("./wrongOptions.ts");
  return {
    meta,
    executes: false,
    workflow: {
      runs,
      steps: steps?.map((step) => ({ ...step, place: positions[step.name] ?? null })) ?? null,
      lint: orElse(() => lintWorkflow(program, js, names), []),
      wrong_options: orElse(() => findWrongOptions(program, js), []),
      // a tick whose answers wait for their turn cannot run steps ahead
      catches: orElse(() => mayCatchSignals(program) || mayRaceCalls(program), true),
      ordered: orElse(() => mayRaceCalls(program), true),
    },
  };
}
