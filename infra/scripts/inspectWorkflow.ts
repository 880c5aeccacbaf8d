import type { Program } from "acorn";
import { ScriptFailed, type Inspected } from "#services/scripting/runner.ts";
import { lint, mayCatch, stepPlaces } from "./lint.ts";
import type { VmOptions } from "./vm.ts";
import { createCodeCache } from "./workflows/guestCode.ts";
import { createSeat, StepEnd } from "./workflows/stepVm.ts";

interface Said {
  meta: unknown;
  runs: boolean;
  steps: { name: string; callable: boolean; settings: unknown }[] | null;
}

/** What reads a program and recurses may come to its end; then it has found nothing. */
function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Evaluates a workflow as it is saved, and reads its code. Throws ScriptFailed. */
export async function inspectWorkflow(
  program: Program,
  js: string,
  { wasm, cpu_ms }: VmOptions,
): Promise<Pick<Inspected, "meta" | "executes" | "workflow">> {
  const said = await createSeat({ wasm, cpu_ms }, createCodeCache(0))
    .inspect(js)
    .catch((error: unknown) => {
      if (error instanceof StepEnd) throw new ScriptFailed(error.message, error.failed.line);
      throw error;
    });
  const { meta, runs, steps } = JSON.parse(said) as Said;
  const places = orElse(() => stepPlaces(program, js), {});
  const names = (steps ?? []).map(({ name }) => name);
  return {
    meta,
    executes: false,
    workflow: {
      runs,
      steps: steps?.map((step) => ({ ...step, place: places[step.name] ?? null })) ?? null,
      lint: orElse(() => lint(program, js, names), []),
      catches: orElse(() => mayCatch(program), true),
    },
  };
}
