import { readArguments, USAGE, type Arguments } from "./arguments.ts";
import { tryPlants } from "./plants/tryPlants.ts";
import { runOnce } from "./runOnce.ts";

/** Whether the run, or each run with a planted bug, ended as it should. */
async function run({ plants, ...options }: Arguments): Promise<boolean> {
  return plants.length > 0 ? tryPlants(plants, options, runOnce) : (await runOnce(options)).length === 0;
}

function readOrExplain(args: string[]): Arguments | undefined {
  try {
    if (!args.includes("--help")) return readArguments(args);
    console.log(USAGE);
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exitCode = 2;
  }
  return undefined;
}

const given = readOrExplain(process.argv.slice(2));
if (given) process.exitCode = (await run(given)) ? 0 : 1;
