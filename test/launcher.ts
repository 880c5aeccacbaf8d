import { readFileSync } from "node:fs";

const launcher = readFileSync(new URL("../svc.mjs", import.meta.url), "utf8");

/** The flags of Node with which the launcher starts the service, and its settings of the allocator. */
export const LAUNCHER = {
  flags: [...launcher.matchAll(/"(--[a-z-]+=\d+)"/g)].map(([, flag]) => flag!),
  env: Object.fromEntries([...launcher.matchAll(/(MALLOC_\w+): "(\d+)"/g)].map(([, name, value]) => [name!, value!])),
};
