import type { TypeCheck, TypedScript } from "#http/base/typeChecker.ts";
import { launch } from "../../processes/launch.ts";
import { supervise } from "../../processes/supervise.ts";
import { cpuTimeMs } from "../../readers/cpuTime.ts";
import type { TypesReport } from "./messages.ts";

/** The compiler and its libraries take 160 MB. Malicious types could take any amount. */
const MAX_RESIDENT_BYTES = 600_000_000;
const HEAP_MIB = 384;
/** CPU milliseconds of one check, including the start of the process (1 to 4 s). A check usually takes 0.1 s. */
const MAX_CPU_MS = 10_000;
/** Wall-clock milliseconds of one check; more than the CPU limit, because machines may be busy. */
const MAX_CLOCK_MS = 60_000;
const CHECK_MS = 250;
const TOO_COMPLEX = "The types of this source take too long, or too much memory, to be checked.";
const NOT_FOLLOWED = "The compiler cannot follow this source: it nests too deep.";

interface RunningProcess {
  id: number;
  cpuBefore: number;
  began: number;
  resolve(check: TypeCheck): void;
}

/** A process that checks the types of one script at a time. It has no credentials and reads no file but its program. */
export function startTypesProcess() {
  let running: RunningProcess | undefined;
  let nextId = 0;
  function settle(check: TypeCheck): void {
    running?.resolve(check);
    running = undefined;
  }

  const child = launch({
    program: "roles/scriptTypes.ts",
    readable: ["infra/sandbox/types", "infra/processes", "examples/workflow.d.ts"],
    heap: HEAP_MIB,
  });
  const { gone, end, isAlive, send } = supervise(child, {
    maxBytes: MAX_RESIDENT_BYTES,
    isBusy: () => running !== undefined,
    onGone() {
      clearInterval(timeCheck);
      settle({ errors: [], unchecked: TOO_COMPLEX });
    },
  });
  const timeCheck = setInterval(() => {
    if (!running) return;
    const isOver = cpuTimeMs(child.pid ?? 0) - running.cpuBefore > MAX_CPU_MS;
    if (isOver || performance.now() - running.began > MAX_CLOCK_MS) end();
  }, CHECK_MS);
  child.on("message", (report: TypesReport) => {
    if (report.id !== running?.id) return;
    if ("faults" in report) settle({ errors: report.faults, unchecked: null });
    else settle({ errors: [], unchecked: NOT_FOLLOWED });
  });

  return {
    gone,
    end,
    isAlive,
    running: (): number => (running ? 1 : 0),
    check(script: TypedScript): Promise<TypeCheck> {
      const id = nextId++;
      return new Promise((resolve) => {
        running = { id, cpuBefore: cpuTimeMs(child.pid ?? 0), began: performance.now(), resolve };
        if (isAlive()) void send({ id, script });
        else settle({ errors: [], unchecked: TOO_COMPLEX });
      });
    },
  };
}
