import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Caches compiled code between starts: a role then loads in 0.75 s of processor time instead of 1.25 (two cores).
enableCompileCache(fileURLToPath(new URL(".runtime/compiled", import.meta.url)));
const { runProgram } = await import("./cli/program.ts");
await runProgram(process.argv.slice(2));
