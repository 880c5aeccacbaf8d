import { readArguments } from "./arguments.ts";
import { tryPlants } from "./plants/tryPlants.ts";
import { runOnce } from "./runOnce.ts";

const { plants, ...options } = readArguments(process.argv.slice(2));
const isGood = plants.length > 0 ? await tryPlants(plants, options, runOnce) : (await runOnce(options)).length === 0;
process.exitCode = isGood ? 0 : 1;
