import { flushCompileCache, registerHooks } from "node:module";
import { plantInto, urlOf } from "../plants/plant.ts";
import { findPlant } from "../plants/plants.ts";

/* Loaded into a process before its own code: the process runs with the bug that CRASH_PLANT names, or not at all. */

/** The code of its role is loaded by then. */
const LOADED_MS = 5_000;

const name = process.env["CRASH_PLANT"];
if (name !== undefined) {
  const plant = findPlant(name);
  const url = urlOf(plant);
  // otherwise only a process that ends by itself writes the cache, and faults kill most
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
