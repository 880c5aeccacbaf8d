import { flushCompileCache, registerHooks } from "node:module";
import { plantInto, urlOf } from "../plants/plant.ts";
import { findPlant } from "../plants/plants.ts";

/* Preloaded into a process: it runs with the bug that CRASH_PLANT names, or not at all. */

/** Time after which the role's code is loaded. */
const LOADED_MS = 5_000;

const name = process.env["CRASH_PLANT"];
if (name !== undefined) {
  const plant = findPlant(name);
  const url = urlOf(plant);
  // otherwise only a process that exits by itself writes the cache, and faults kill most processes
  setTimeout(flushCompileCache, LOADED_MS).unref();
  registerHooks({
    load(loaded, context, nextLoad) {
      const result = nextLoad(loaded, context);
      if (loaded !== url) return result;
      const { source = "" } = result;
      const text = typeof source === "string" ? source : new TextDecoder().decode(source ?? undefined);
      return { ...result, source: plantInto(text, plant) };
    },
  });
}
