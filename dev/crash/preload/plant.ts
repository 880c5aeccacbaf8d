import { registerHooks } from "node:module";
import { findPlant, plantInto, urlOf } from "../plants/plants.ts";

/* Loaded into a process before its own code: the process runs with the bug that CRASH_PLANT names, or not at all. */

const name = process.env["CRASH_PLANT"];
if (name !== undefined) {
  const plant = findPlant(name);
  const url = urlOf(plant);
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
