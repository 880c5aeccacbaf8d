import { readFileSync } from "node:fs";
import { typeFromFileName } from "../../../events/mediaTypes.ts";
import { readFile } from "../../../services/reading/read.ts";

/*
 * Reads one file twice, the second time with warm code, and prints time and memory. It runs in its own process, because the bench measures
 * the whole process.
 */

const [path = ""] = process.argv.slice(2);
const file = { name: path, mime_type: typeFromFileName(path) ?? "", bytes: readFileSync(path) };
const read = async (): Promise<{ ms: number; characters: number }> => {
  const start = performance.now();
  const { markdown } = await readFile(file);
  return { ms: performance.now() - start, characters: markdown.length };
};
const { characters } = await read();
const peak_mib = process.resourceUsage().maxRSS / 1_024;
const { ms } = await read();
console.log(JSON.stringify({ characters, warm_ms: ms, peak_mib }));
