import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { Problem } from "../problem.ts";
import {
  checkSource,
  openLocalSandbox,
  typeOfSource,
  type LocalSandbox,
  type ScriptType,
} from "../workflows/loadScript.ts";

/** A definition in a file. */
export interface LocalDefinition {
  file: string;
  type: ScriptType;
  /** Of its `meta`, otherwise of the file. */
  name: string;
  source: string;
  lint: { message: string; line: number; column: number }[];
}

const isDefinition = (name: string): boolean => /\.[jt]s$/.test(name) && !/\.d\.ts$|\.test\.[jt]s$/.test(name);

/** The files of definitions that a path names: a file, or those of a folder. Throws Problem. */
function definitionFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter(isDefinition).toSorted();
  if (names.length === 0) throw new Problem(`${path} has no definitions`, "add a file such as refund.ts");
  return names.map((name) => join(path, name));
}

async function readAll({ checker }: LocalSandbox, path: string): Promise<LocalDefinition[]> {
  const found: LocalDefinition[] = [];
  for (const file of definitionFiles(path)) {
    const source = readFileSync(file, "utf8");
    const type = typeOfSource(source);
    const checked = await checkSource(checker, file, source, type);
    const name = checked.name ?? basename(file).replace(/\.[jt]s$/, "");
    const twin = found.find((each) => each.type === type && each.name === name);
    if (twin) throw new Problem(`${file} and ${twin.file} are both the ${type} ${name}`, "give one another meta.name");
    found.push({ file, type, name, source, lint: checked.meta.workflow?.lint ?? [] });
  }
  return found;
}

/** Reads and checks definitions. Throws Problem for the first that could not be saved, and for two of one name. */
export async function readDefinitions(path: string): Promise<LocalDefinition[]> {
  const sandbox = openLocalSandbox();
  try {
    return await readAll(sandbox, path);
  } finally {
    await sandbox.close();
  }
}

/** What was changed, in words: lines outside of the first and the last difference are equal. */
export function describeChange(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return `from line ${start + 1}: ${old.length - start - end} lines removed, ${now.length - start - end} added`;
}
